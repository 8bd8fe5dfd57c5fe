//! Merchants, categories and transfers: how a transaction is classified, and the person's rules and overrides.

pub(crate) mod classifier;
pub(crate) mod cleaned_handover;
pub mod corrections;
pub(crate) mod merchants;
pub mod overrides;
pub(crate) mod reclassify;
pub(crate) mod recompute;
pub mod rule_matches;
pub mod rule_order;
pub mod rule_preview;
pub(crate) mod rule_snapshots;
pub mod rules;
pub mod transfers;

pub use calc::enrich::{AmountRange, CategorySource};

pub(crate) fn statements() -> Vec<&'static str> {
    [
        classifier::STATEMENTS,
        overrides::STATEMENTS,
        &reclassify::statements(),
        recompute::STATEMENTS,
        rule_matches::STATEMENTS,
        rule_order::STATEMENTS,
        rule_preview::STATEMENTS,
        rule_snapshots::STATEMENTS,
        rules::STATEMENTS,
        transfers::STATEMENTS,
    ]
    .concat()
}
