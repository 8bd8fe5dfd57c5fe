//! Pure calculations: no clock, no I/O, no async; the same input always gives the same result.

pub mod balances;
pub mod benefits;
pub mod enrich;
pub mod goals;
pub mod income;
pub mod investments;
pub mod ledger;
pub mod matching;
pub mod paper;
pub mod payoff;
pub mod performance;
pub mod rates;
pub mod recurring;
pub mod scores;
pub mod transfers;
