//! Spending by category, merchant or month, with a comparison.

use service::insights::spending::{self, Compare, GroupBy, Query};
use service::{Error, Result};
use wire::v1::Scope;

use crate::arguments::{Argument, CategoryChoice, Takes};
use crate::object::Object;
use crate::tool::Type::{List, Object as Record, OptionalObject, Text};
use crate::tool::{ACCOUNT_ID, Call, Kind, Needs, Tool};

pub(super) static SUMMARIZE_SPENDING: Tool = Tool {
    name: "summarize_spending",
    title: "Summarize spending",
    description: "Spending and income of some days, grouped, largest first. Transfers between own accounts and payments of \
        linked debts are left out, refunds are subtracted. By default this month.",
    needs: Needs::All(&[Scope::TransactionsRead]),
    kind: Kind::Reads,
    arguments: &[
        Argument::optional("start_date", Takes::Date, ""),
        Argument::optional("end_date", Takes::Date, ""),
        Argument::optional(
            "group_by",
            Takes::OneOf(&["category", "merchant", "account", "month"]),
            "",
        ),
        Argument::optional("compare", Takes::OneOf(&["previous_period", "previous_year"]), ""),
        ACCOUNT_ID,
        Argument::optional(
            "category",
            Takes::Text { longest: 80 },
            "A primary category, such as FOOD_AND_DRINK.",
        ),
        Argument::optional(
            "limit",
            Takes::Whole { least: 1, most: 100, default: Some(20) },
            "Groups; the rest is in other.",
        ),
    ],
    output: &[
        ("currency", Text),
        ("start_date", Text),
        ("end_date", Text),
        ("group_by", Text),
        ("totals", Record),
        ("groups", List),
        ("other", OptionalObject),
        ("comparison", OptionalObject),
        ("excluded", List),
    ],
    call: |call| Box::pin(get(call)),
};

async fn get(call: &Call<'_>) -> Result<Object> {
    let arguments = &call.arguments;
    let category_tier1 = match arguments.category("category")? {
        None => None,
        Some(CategoryChoice::Primary(word)) => Some(word.to_owned()),
        Some(CategoryChoice::Exact(word)) => {
            let primary = word.0.primary();
            let message = format!("category must be a primary category here, such as {primary}");
            return Err(Error::invalid("category", message));
        }
    };
    let query = Query {
        start_on: arguments.date("start_date")?,
        end_on: arguments.date("end_date")?,
        group_by: arguments
            .text("group_by")?
            .as_deref()
            .and_then(GroupBy::parse)
            .unwrap_or_default(),
        compare: arguments.text("compare")?.as_deref().and_then(Compare::parse),
        account_id: arguments.id("account_id")?,
        category_tier1,
        limit: arguments.whole("limit")?.unwrap_or(20) as usize,
    };
    Object::of(&spending::get(call.app, call.caller, &query).await?)
}
