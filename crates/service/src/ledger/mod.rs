//! A person's accounts, transactions, holdings and goals, and the totals over them.

pub mod account_terms;
pub mod accounts;
pub mod annotations;
pub mod attachments;
pub mod balances;
pub(crate) mod daily_nets;
mod direction;
pub mod goals;
pub(crate) mod instruments;
pub mod investments;
pub mod net_worth;
pub mod performance;
pub mod quotes;
pub mod rates;
pub mod reference_rates;
pub mod saved_filters;
pub mod spans;
pub mod splits;
pub(crate) mod stamps;
pub(crate) mod trades;
pub mod transactions;

pub use direction::Direction;
