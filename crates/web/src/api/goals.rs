use service::Result;
use service::ledger::goals::{self, Status};
use wire::v1::{Goal, Goals, Scope};

use super::parameters::one_of;
use super::{Answer, Call, Endpoint, Shape, Verb};

pub(super) const LIST: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/goals",
    tag: "Goals",
    summary: "List goals",
    description: "Sorted by status, then by target date; goals without a date come last.",
    scopes: &[Scope::GoalsRead],
    query: &[one_of(
        "status",
        &["active", "paused", "completed", "cancelled"],
        "Only goals with this status; by default all.",
    )],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<Goals>("Goals"),
    handle: |call| Box::pin(list(call)),
};

async fn list(call: Call) -> Result<Answer> {
    let status = call.query.text("status")?.and_then(Status::parse);
    let goals = goals::list(&call.app, &call.caller, status).await?;
    Answer::data(&Goals { goals: goals.iter().map(Goal::from).collect() })
}
