//! Insights that are computed from transactions: recurring streams, income, scores and card benefits.

pub mod benefits;
mod household_ledger;
pub mod income;
pub mod pipeline;
pub mod recurring;
pub mod scores;
pub mod transaction_detail;

pub(crate) fn statements() -> Vec<&'static str> {
    [
        &benefits::statements(),
        &household_ledger::statements(),
        income::STATEMENTS,
        &pipeline::statements(),
        &recurring::statements(),
        scores::STATEMENTS,
        transaction_detail::STATEMENTS,
    ]
    .concat()
}
