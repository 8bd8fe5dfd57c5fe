//! Sources of accounts and prices: parses foreign formats into drafts and quotes. Knows nothing of users or of the
//! database.

pub mod banks;
pub mod enable_banking;
pub mod exchange_rates;
pub mod files;
mod json_decimal;
pub mod jws;
pub mod market;
mod percent;
pub mod plaid;
mod plausibility;
pub mod provider;
mod sepa;
pub mod simplefin;
mod unique_ids;
