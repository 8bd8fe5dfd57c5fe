//! The endpoint of spending.

use service::Result;
use service::insights::spending::{self, Compare, GroupBy, Query};
use wire::v1::{Scope, Spending};

use super::parameters::{ACCOUNT_ID, date, one_of};
use super::transactions::{CATEGORY, category};
use super::{Answer, Call, Endpoint, Parameter, Shape, Takes, Verb};

const GROUPS: Parameter = Parameter {
    name: "limit",
    takes: Takes::Whole { least: 1, most: 100, default: 50 },
    description: "Maximum number of groups; the rest is summed up in `other`. Months are always all listed.",
    example: "50",
};

pub(super) const GET: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/spending",
    tag: "Spending",
    summary: "Spending by category, merchant, account or month",
    description: "Spending is money out of deposit accounts and cards, with refunds subtracted in the category of \
        the purchase. Transfers between own accounts and debt payments towards a linked account are left out; \
        hidden accounts too, unless `account_id` names the account. `income` is what GET /income counts as income; money in that is neither income, \
        transfer nor refund is `unclassified`. Every page and endpoint uses these definitions.",
    scopes: &[Scope::TransactionsRead],
    query: &[
        date(
            "start_date",
            "The first posting date, inclusive; by default the first day of the month of `end_date`.",
        ),
        date(
            "end_date",
            "The last posting date, inclusive; by default today in the person's time zone. At most 3,660 days after \
             `start_date`.",
        ),
        one_of(
            "group_by",
            &["category", "merchant", "account", "month"],
            "What to group by; category by default.",
        ),
        one_of(
            "compare",
            &["previous_period", "previous_year"],
            "Also compute an earlier period: the same days a year before, or the period before. A period that \
                begins on the first of a month is compared with as many whole months before, up to the same day.",
        ),
        ACCOUNT_ID,
        CATEGORY,
        GROUPS,
    ],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<Spending>("Spending"),
    handle: |call| Box::pin(get(call)),
};

async fn get(call: Call) -> Result<Answer> {
    let query = &call.query;
    let query = Query {
        start_on: query.date("start_date")?,
        end_on: query.date("end_date")?,
        group_by: query.text("group_by")?.and_then(GroupBy::parse).unwrap_or_default(),
        compare: query.text("compare")?.and_then(Compare::parse),
        account_id: query.id("account_id")?,
        category_tier1: category(query.text("category_tier1")?)?,
        limit: query.whole(&GROUPS)? as usize,
    };
    Answer::data(&spending::get(&call.app, &call.caller, &query).await?)
}
