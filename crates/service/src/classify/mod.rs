//! Merchants, categories and transfers: how a transaction is classified, and the person's rules and overrides.

pub mod bulk_edits;
pub(crate) mod classifier;
pub(crate) mod cleaned_descriptions;
pub(crate) mod cleaned_handover;
pub mod corrections;
pub(crate) mod linked_refunds;
pub(crate) mod merchants;
pub mod overrides;
pub(crate) mod reclassify;
pub(crate) mod recompute;
pub mod refunds;
pub mod rule_matches;
pub mod rule_order;
pub mod rule_preview;
pub(crate) mod rule_snapshots;
pub mod rules;
pub mod transfers;

pub use calc::enrich::{AmountRange, CategorySource};
pub use calc::income::is_own_transfer;

pub(crate) fn statements() -> Vec<&'static str> {
    [
        &bulk_edits::statements(),
        classifier::STATEMENTS,
        linked_refunds::STATEMENTS,
        overrides::STATEMENTS,
        &reclassify::statements(),
        recompute::STATEMENTS,
        refunds::STATEMENTS,
        rule_matches::STATEMENTS,
        rule_order::STATEMENTS,
        rule_preview::STATEMENTS,
        rule_snapshots::STATEMENTS,
        rules::STATEMENTS,
        transfers::STATEMENTS,
    ]
    .concat()
}
