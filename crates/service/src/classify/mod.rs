//! Merchants, categories and transfers: how a transaction is classified, and the person's rules and overrides.

pub mod enrichment;
pub(crate) mod recompute;
pub mod transfers;
