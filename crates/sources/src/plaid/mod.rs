//! Plaid: a person signs in to a bank on Plaid's own page, and Plaid hands over accounts, transactions, holdings and
//! liabilities. Requests are made only as far as the chosen accounts need them, because most of them are billed.

mod accounts;
mod client;
mod drafts;
mod error;
mod investments;
mod keys;
mod liabilities;
mod link;
mod numbers;
mod provide;
mod state;
mod sync;
mod transactions;
mod webhook;

pub use keys::{Environment, Keys};
pub use provide::Plaid;
