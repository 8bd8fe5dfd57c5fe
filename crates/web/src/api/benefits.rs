use service::Result;
use service::insights::benefits;
use wire::v1::{BenefitSummary, ExpiringBenefits, Scope};

use super::{Answer, Call, Endpoint, Parameter, Shape, Takes, Verb};

const DAYS: Parameter = Parameter {
    name: "days",
    takes: Takes::Whole { least: 1, most: 365, default: benefits::EXPIRING_DAYS },
    description: "How many days ahead, today included.",
    example: "30",
};

pub(super) const SUMMARY: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/benefits/summary",
    tag: "Insights",
    summary: "What the person's cards give",
    description: "Every benefit of every card we recognise, in its present cycle: how much there is, how much was used \
                  and how much is left. Use is inferred from statement credits and the purchases behind them; what the \
                  bank cannot see is only counted when the person has marked it.",
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
    description: "Those with something left whose cycle ends within so many days: the soonest first, then the most left.",
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
