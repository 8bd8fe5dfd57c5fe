//! What is computed from the ledger: recurring streams, income, scores and card benefits.

pub mod benefits;
pub mod income;
pub mod pipeline;
pub mod recurring;
pub mod scores;
pub mod transaction_detail;
