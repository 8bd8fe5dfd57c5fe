//! The correct labels of each transaction, to measure detection against.

use serde::Serialize;

use super::entry::Entry;
use super::statements::external_id;
use super::world::World;

/// One line of the labels file; it refers to a transaction by the ids in its statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TruthRow {
    pub generator_version: u32,
    pub account_id: String,
    pub transaction_id: String,
    pub true_merchant: String,
    pub tier1: &'static str,
    pub tier2: &'static str,
    pub stream_id: Option<String>,
    pub cadence: Option<&'static str>,
    pub transfer_pair_id: Option<String>,
    pub transfer_kind: Option<&'static str>,
    pub is_income: bool,
    /// earned, gig or passive.
    pub income_label: Option<&'static str>,
    pub refund_of: Option<String>,
    pub noise_tags: Vec<&'static str>,
}

pub(super) fn row(world: &World, entry: &Entry) -> TruthRow {
    let label = &entry.label;
    TruthRow {
        generator_version: super::GENERATOR_VERSION,
        account_id: world.identity(entry.account).external_id.clone(),
        transaction_id: external_id(world, entry),
        true_merchant: entry.merchant.clone().into_owned(),
        tier1: entry.category.primary(),
        tier2: entry.category.detailed(),
        stream_id: label.stream.clone(),
        cadence: label.cadence.map(|it| it.as_str()),
        transfer_pair_id: label.pair.clone(),
        transfer_kind: label.transfer_kind,
        is_income: label.income.is_some(),
        income_label: label.income,
        refund_of: label.refund_of.clone(),
        noise_tags: label.tags.clone(),
    }
}
