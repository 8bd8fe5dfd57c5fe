//! The recurring payments pages: list, calendar and one payment stream.

mod calendar;
pub(super) mod detail;
pub(super) mod feed;
mod forms;
mod ical;
mod list;
pub(super) mod manage;

use axum::extract::RawQuery;
use base::StreamId;
use maud::{Markup, html};
use service::insights::recurring::{Frequency, Kind};
use service::ledger::Direction;

use super::errors::{PageError, PageResult};
use super::person::Person;
use super::urls;

pub(super) async fn get(person: Person, RawQuery(query): RawQuery) -> PageResult {
    let pairs = query.and_then(|it| urls::parse_pairs(&it)).unwrap_or_default();
    let given = |name: &str| {
        let found = pairs.iter().find(|(it, _)| it == name);
        found.map_or("", |(_, value)| value.as_str())
    };
    match given("view") {
        "calendar" => calendar::page(&person, given("month")).await,
        _ => match given("show") {
            "ended" => list::page(&person, true).await,
            "dismissed" => list::dismissed(&person).await,
            _ => list::page(&person, false).await,
        },
    }
}

fn tabs(calendar: bool) -> Markup {
    let current = |it: bool| it.then_some("page");
    html! {
        ul.tabs {
            li { a href="/recurring" aria-current=[current(!calendar)] { "List" } }
            li { a href="/recurring?view=calendar" aria-current=[current(calendar)] { "Calendar" } }
        }
    }
}

fn how_often(frequency: Frequency) -> &'static str {
    match frequency {
        Frequency::Weekly => "Every week",
        Frequency::Biweekly => "Every two weeks",
        Frequency::SemiMonthly => "Twice a month",
        Frequency::Monthly => "Every month",
        Frequency::Quarterly => "Every quarter",
        Frequency::SemiAnnually => "Twice a year",
        Frequency::Annually => "Every year",
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Income => "Income",
        Kind::Subscription => "Subscription",
        Kind::Bill => "Bill",
        Kind::Transfer => "Transfer",
        Kind::Other => "Other",
    }
}

/// Parses the id in a path. A malformed id gets the same page as an unknown one.
fn parse(id: &str) -> Result<StreamId, PageError> {
    StreamId::parse(id).map_err(|_| PageError::not_found())
}

/// The amount with the sign of its direction; streams store it unsigned.
fn signed(direction: Direction, minor: i64) -> i64 {
    match direction {
        Direction::Inflow => minor,
        Direction::Outflow => minor.saturating_neg(),
    }
}
