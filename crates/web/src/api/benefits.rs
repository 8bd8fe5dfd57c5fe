//! Endpoints of card benefits.

use service::Result;
use service::insights::benefits;
use wire::v1::{BenefitSummary, ExpiringBenefits, Scope};

use super::{Answer, Call, Endpoint, Parameter, Shape, Takes, Verb};

const DAYS: Parameter = Parameter {
    name: "days",
    takes: Takes::Whole { least: 1, most: 365, default: benefits::EXPIRING_DAYS },
    description: "Days ahead, including today.",
    example: "30",
};

pub(super) const SUMMARY: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/benefits/summary",
    tag: "Insights",
    summary: "Card benefits",
    description: "All benefits of recognized cards in their current period: the amount available, used and left. \
        Use is inferred from statement credits and the purchases behind them. Benefits that the bank cannot see \
        count as used only if the person marks them.",
    scopes: &[Scope::BenefitsRead],
    query: &[],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<BenefitSummary>("BenefitSummary"),
    handle: |call| Box::pin(summary(call)),
};

pub(super) const EXPIRING: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/benefits/expiring",
    tag: "Insights",
    summary: "Benefits about to expire",
    description: "Benefits with an amount left whose period ends within the given days, sorted by end date, then by amount left.",
    scopes: &[Scope::BenefitsRead],
    query: &[DAYS],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<ExpiringBenefits>("ExpiringBenefits"),
    handle: |call| Box::pin(expiring(call)),
};

async fn summary(call: Call) -> Result<Answer> {
    Answer::data(&benefits::summary(&call.app, &call.caller).await?)
}

async fn expiring(call: Call) -> Result<Answer> {
    let days = call.query.whole(&DAYS)?;
    Answer::data(&benefits::expiring(&call.app, &call.caller, days).await?)
}
