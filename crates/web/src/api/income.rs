//! The endpoint of the income analysis.

use service::Result;
use service::insights::income;
use wire::v1::{Income, Scope};

use super::{Answer, Call, Endpoint, Shape, Verb};

pub(super) const GET: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/income",
    tag: "Insights",
    summary: "Income and its allocation",
    description: "Monthly figures over up to twelve whole months, in the person's base currency. Paychecks are \
        averaged over their schedule, so a month with three paydays counts the same as one with two. Income is \
                  expenses, debt, emergency fund, investments and the unallocated rest, to the cent. Moves between \
                  own accounts, refunds, loans and money from friends are no income.",
    scopes: &[Scope::IncomeRead],
    query: &[],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<Income>("Income"),
    handle: |call| Box::pin(get(call)),
};

async fn get(call: Call) -> Result<Answer> {
    Answer::data(&income::get(&call.app, &call.caller).await?)
}
