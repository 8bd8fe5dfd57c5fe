//! The endpoint of net worth over time.

use service::Result;
use service::ledger::net_worth::{self, Range};
use service::ledger::spans::Interval;
use wire::v1::{NetWorthHistory, Scope};

use super::parameters::{date, one_of};
use super::{Answer, Call, Endpoint, Shape, Verb};

pub(super) const GET: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/net-worth",
    tag: "Accounts",
    summary: "Net worth over time",
    description: "Assets less debts at the end of each day, week or month, by account type. Balances come from \
        GET /accounts/{id}/balances, at the exchange rates of each day. The last day always has a point.",
    scopes: &[Scope::AccountsRead],
    query: &[
        date("start_date", "The first day; by default a year before `end_date`."),
        date(
            "end_date",
            "The last day; by default today in the person's time zone. Later days are not known.",
        ),
        one_of(
            "interval",
            &["daily", "weekly", "monthly"],
            "A point a day (at most 1,830 days), a week, or a month (the default).",
        ),
    ],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<NetWorthHistory>("NetWorthHistory"),
    handle: |call| Box::pin(get(call)),
};

async fn get(call: Call) -> Result<Answer> {
    let query = &call.query;
    let range = Range {
        start_on: query.date("start_date")?,
        end_on: query.date("end_date")?,
        interval: query.text("interval")?.and_then(Interval::parse).unwrap_or_default(),
    };
    Answer::data(&net_worth::history(&call.app, &call.caller, range).await?)
}
