//! Insights that are computed from transactions: recurring streams, income, spending, scores and card
//! benefits.

pub mod benefits;
mod byte_reader;
mod cash_flow;
pub mod cash_left;
mod household_ledger;
pub mod income;
mod income_reports;
pub(crate) mod kept_figures;
pub mod pipeline;
pub mod recurring;
pub mod scores;
pub mod spending;
pub mod transaction_detail;

pub(crate) fn statements() -> Vec<&'static str> {
    [
        &benefits::statements(),
        &cash_flow::statements(),
        &household_ledger::statements(),
        &income::statements(),
        &pipeline::statements(),
        &recurring::statements(),
        scores::STATEMENTS,
        spending::STATEMENTS,
        transaction_detail::STATEMENTS,
    ]
    .concat()
}
