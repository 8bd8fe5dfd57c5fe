//! Endpoints of recurring payments.

use base::StreamId;
use service::Result;
use service::insights::recurring::{self, Filter, Status};
use service::ledger::Direction;
use wire::v1::{Recurring, Scope, Stream};

use super::parameters::{ACCOUNT_ID, one_of};
use super::{Answer, Call, Endpoint, Parameter, Shape, Takes, Verb};

pub(super) const LIST: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/recurring",
    tag: "Insights",
    summary: "List recurring streams",
    description: "Paychecks, bills and subscriptions, detected from dates and amounts. Active streams come \
        first, then by next expected date. A stream keeps its id through price changes and missed payments. The \
        totals cover the active streams in the list, for an average month, in the person's base currency. Recomputed shortly after new data arrives, and once a day.",
    scopes: &[Scope::RecurringRead],
    query: &[
        one_of(
            "status",
            &["active", "ended", "all"],
            "Only active streams (the default), only ended ones, or all.",
        ),
        ACCOUNT_ID,
        one_of(
            "cash_flow_direction",
            &["inflow", "outflow"],
            "Only money in, or only money out; by default both.",
        ),
    ],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<Recurring>("Recurring"),
    handle: |call| Box::pin(list(call)),
};

pub(super) const GET: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/recurring/{id}",
    tag: "Insights",
    summary: "Get a recurring stream",
    description: "A stream by its id, active or ended, also on a hidden account.",
    scopes: &[Scope::RecurringRead],
    query: &[],
    path_parameters: &[Parameter {
        name: "id",
        takes: Takes::Id("rec_"),
        description: "The stream.",
        example: "rec_01kny3v1m8f2x9q4t7r5c6b8de",
    }],
    body: None,
    answer: Shape::of::<Stream>("Stream"),
    handle: |call| Box::pin(get(call)),
};

async fn get(call: Call) -> Result<Answer> {
    let id: StreamId = call.path_id(0, "stream")?;
    let (stream, account_name) = recurring::find(&call.app, &call.caller, id).await?;
    Answer::data(&recurring::to_wire(&stream, &account_name))
}

async fn list(call: Call) -> Result<Answer> {
    let filter = Filter {
        status: match call.query.text("status")? {
            Some("all") => None,
            Some("ended") => Some(Status::Ended),
            _ => Some(Status::Active),
        },
        account_id: call.query.id("account_id")?,
        direction: call.query.text("cash_flow_direction")?.and_then(Direction::parse),
    };
    let listed = recurring::list(&call.app, &call.caller, filter).await?;
    Answer::data(&Recurring::from(&listed))
}
