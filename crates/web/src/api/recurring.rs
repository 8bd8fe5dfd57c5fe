use service::Result;
use service::insights::recurring::{self, Filter, Status};
use service::ledger::Direction;
use wire::v1::{Recurring, Scope};

use super::parameters::{ACCOUNT_ID, one_of};
use super::{Answer, Call, Endpoint, Shape, Verb};

pub(super) const LIST: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/recurring",
    tag: "Insights",
    summary: "List recurring streams",
    description: "Paychecks, bills and subscriptions, detected from dates and amounts. Active streams come \
        first, then by next expected date. A stream keeps its id through price changes and missed payments. The \
        totals cover the active streams in the list, for an average month, in the person's base currency. Worked out anew a moment after data comes in, and once a day.",
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
