//! Endpoints of goals.

use base::GoalId;
use service::Result;
use service::ledger::goals::{self, Status};
use wire::v1::{Goal, Goals, Scope};

use super::parameters::one_of;
use super::{Answer, Call, Endpoint, Parameter, Shape, Takes, Verb};

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

pub(super) const GET: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/goals/{id}",
    tag: "Goals",
    summary: "Get a goal",
    description: "A goal by its id, with any status.",
    scopes: &[Scope::GoalsRead],
    query: &[],
    path_parameters: &[Parameter {
        name: "id",
        takes: Takes::Id("goal_"),
        description: "The goal.",
        example: "goal_01kny3v1m8f2x9q4t7r5c6b8de",
    }],
    body: None,
    answer: Shape::of::<Goal>("Goal"),
    handle: |call| Box::pin(get(call)),
};

async fn get(call: Call) -> Result<Answer> {
    let id: GoalId = call.path_id(0, "goal")?;
    let details = goals::get(&call.app, &call.caller, id).await?;
    Answer::data(&Goal::from(&details.goal))
}

async fn list(call: Call) -> Result<Answer> {
    let status = call.query.text("status")?.and_then(Status::parse);
    let goals = goals::list(&call.app, &call.caller, status).await?;
    Answer::data(&Goals { goals: goals.iter().map(Goal::from).collect() })
}
