//! Accounts and the history of their balances.

use base::{AccountId, Date, Money};
use serde::Serialize;
use service::ledger::accounts::{self, Filter, Status};
use service::ledger::balances::{self, Range};
use service::{Error, Result};
use wire::json::{Day, Number};
use wire::v1::{self, Scope};

use crate::arguments::{Argument, Takes};
use crate::object::{Object, project};
use crate::tool::Type::{List, OptionalText, Text};
use crate::tool::{ACCOUNT_ID, CURSOR, Call, Kind, Needs, Tool};

/// The most points of a history.
const POINTS_MAX: usize = 400;
/// Up to as many days, the history has one point a day unless the caller asks for something else.
const DAILY_DAYS: i64 = 62;
const WEEKLY_DAYS: i64 = 400;

const FIELDS: &[&str] = &[
    "id",
    "name",
    "mask",
    "type",
    "subtype",
    "status",
    "connection_status",
    "hidden",
    "currency",
    "balance_available",
    "balance_current",
    "balance_limit",
    "interest_rate_percentage",
    "next_payment_due_date",
    "institution_name",
    "as_of",
];
const DEFAULT_FIELDS: &[&str] = &[
    "id",
    "name",
    "type",
    "subtype",
    "connection_status",
    "currency",
    "balance_available",
    "balance_current",
    "institution_name",
    "as_of",
];

pub(super) static LIST_ACCOUNTS: Tool = Tool {
    name: "list_accounts",
    title: "Accounts",
    description: "Linked accounts with their balances. For credit and loan accounts balance_current is what is owed, as a \
        positive number.",
    needs: Needs::All(&[Scope::AccountsRead]),
    kind: Kind::Reads,
    arguments: &[
        Argument::optional("status", Takes::OneOf(&["open", "closed", "all"]), "open by default"),
        Argument::optional("include_hidden", Takes::Bool, ""),
        Argument::optional("fields", Takes::SomeOf(FIELDS), ""),
        CURSOR,
    ],
    output: &[("accounts", List), ("next_cursor", OptionalText), ("note", Text)],
    call: |call| Box::pin(list(call)),
};

async fn list(call: &Call<'_>) -> Result<Object> {
    let status = match call.arguments.text("status")?.as_deref() {
        Some("closed") => Status::Closed,
        Some("all") => Status::All,
        _ => Status::Open,
    };
    let include_hidden = call.arguments.bool("include_hidden")?.unwrap_or(false);
    let fields = call.arguments.some_of("fields", DEFAULT_FIELDS)?;
    let found = accounts::list(call.app, call.caller, Filter { status, include_hidden }).await?;
    let mut object = Object::new();
    let write = |it: &accounts::Account| project(&v1::Account::from(it), &fields);
    call.put_list(&mut object, "accounts", &found, write)?;
    Ok(object)
}

pub(super) static GET_BALANCE_HISTORY: Tool = Tool {
    name: "get_balance_history",
    title: "Balance history",
    description: "Balances of one account over time, oldest first, at most 400 points. By default the last 30 days; longer \
        spans are sampled by week or month unless interval is given.",
    needs: Needs::All(&[Scope::AccountsRead]),
    kind: Kind::Reads,
    arguments: &[
        Argument { required: true, ..ACCOUNT_ID },
        Argument::optional("start_date", Takes::Date, ""),
        Argument::optional("end_date", Takes::Date, ""),
        Argument::optional("interval", Takes::OneOf(&["day", "week", "month"]), ""),
    ],
    output: &[
        ("account_id", Text),
        ("currency", Text),
        ("start_date", Text),
        ("end_date", Text),
        ("interval", Text),
        ("balances", List),
    ],
    call: |call| Box::pin(history(call)),
};

#[derive(Serialize)]
struct Point {
    date: Day,
    balance: Number,
    source: &'static str,
}

async fn history(call: &Call<'_>) -> Result<Object> {
    let id: Option<AccountId> = call.arguments.id("account_id")?;
    let id = call.arguments.required("account_id", id)?;
    let range = Range {
        start_on: call.arguments.date("start_date")?,
        end_on: call.arguments.date("end_date")?,
    };
    let series = balances::list(call.app, call.caller, id, range).await?;
    let days = base::days_from_date(series.end_on) - base::days_from_date(series.start_on);
    let chosen = call.arguments.text("interval")?;
    let interval = match chosen.as_deref() {
        Some(word) => word,
        None if days <= DAILY_DAYS => "day",
        None if days <= WEEKLY_DAYS => "week",
        None => "month",
    };
    let shown = v1::Balances::from(&series);
    let is_last = |index: usize| match (shown.balances.get(index), shown.balances.get(index + 1)) {
        (Some(this), Some(next)) => !is_same_period(interval, this.date.0, next.date.0),
        _ => true,
    };
    let points: Vec<Point> = series
        .days
        .iter()
        .zip(&shown.balances)
        .enumerate()
        .filter(|(index, _)| is_last(*index))
        .map(|(_, (day, shown))| Point {
            date: Day(day.on),
            balance: Money::new(day.current_minor, series.currency).into(),
            source: shown.source,
        })
        .collect();
    if points.len() > POINTS_MAX {
        let message = format!(
            "interval {interval} gives {} points, more than {POINTS_MAX}; use a longer interval or fewer days",
            points.len()
        );
        return Err(Error::invalid("interval", message));
    }
    let mut object = Object::new();
    object.put("account_id", &shown.account_id)?;
    object.put("currency", &shown.currency)?;
    object.put("start_date", &shown.start_date)?;
    object.put("end_date", &shown.end_date)?;
    object.put("interval", &interval)?;
    object.put("balances", &points)?;
    Ok(object)
}

/// Whether two days are in the same week (from Monday) or month, so that only the later one is a point.
fn is_same_period(interval: &str, one: Date, other: Date) -> bool {
    // Day 0 of the epoch is a Thursday.
    let week = |it: Date| (base::days_from_date(it) + 3).div_euclid(7);
    match interval {
        "week" => week(one) == week(other),
        "month" => (one.year(), one.month()) == (other.year(), other.month()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_begin_on_monday_and_months_on_the_first() {
        let date = |text: &str| text.parse::<Date>().unwrap();
        for (interval, one, other, same) in [
            ("day", "2026-03-02", "2026-03-02", false),
            ("week", "2026-03-01", "2026-03-02", false),
            ("week", "2026-03-02", "2026-03-08", true),
            ("month", "2026-02-28", "2026-03-01", false),
            ("month", "2026-03-01", "2026-03-31", true),
            ("month", "2025-03-31", "2026-03-31", false),
        ] {
            assert_eq!(is_same_period(interval, date(one), date(other)), same, "{one} {other}");
        }
    }
}
