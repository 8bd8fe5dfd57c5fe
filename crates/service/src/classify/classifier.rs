//! The classifier: who is at the other end of a transaction, and its category.
//!
//! The person's override of a transaction comes first, then their rules, then the account, the source and our tables.

use std::collections::HashMap;

use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, Money, TransactionId, UserId};
use calc::enrich::{
    CategorySource, CleanedDescriptor, Enriched, History, Sample, TransactionFacts,
    TransactionOverride, clean, enrich,
};
use calc::income::is_own_transfer;
use calc::transfers::TransferKind;
use db::{Tx, params};

use super::overrides::{self, TransferMark};
use super::recompute::Recompute;
use super::rules::{self, RuleSet};
use crate::Result;

/// A transaction to classify, as the source gave it. Its description is passed separately.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClassifierInput<'a> {
    /// None for a transaction that is not stored yet.
    pub(crate) id: Option<TransactionId>,
    pub(crate) account: AccountId,
    pub(crate) amount: Money,
    pub(crate) counterparty: Option<&'a str>,
    pub(crate) category: Option<Category>,
}

/// A person's rules and overrides, and the history that is learned from their overrides.
pub(crate) struct Classifier {
    rules: RuleSet,
    overrides: HashMap<TransactionId, TransactionOverride>,
    transfer_marks: HashMap<TransactionId, TransferMark>,
    history: History,
}

impl Classifier {
    pub(crate) fn load(tx: &mut Tx<'_>, user: UserId) -> Result<Classifier> {
        let overrides = overrides::all(tx, user)?;
        let rules = rules::load(tx, user)?;
        let history = if overrides.is_empty() { History::empty() } else { history(tx, user)? };
        let transfer_marks = overrides::transfer_marks(tx, user)?;
        Ok(Classifier { rules, overrides, transfer_marks, history })
    }

    /// Whether a rule or the person may hide a transaction.
    pub(crate) fn may_hide(&self) -> bool {
        self.rules.rules.iter().any(|it| it.hides)
            || self.overrides.values().any(|it| it.hidden.is_some())
    }

    /// The person's choice whether a transaction is a transfer by itself.
    pub(super) fn transfer_mark(&self, id: TransactionId) -> Option<TransferMark> {
        self.transfer_marks.get(&id).copied()
    }

    /// The transactions that the person marked as no transfer.
    pub(super) fn not_transfers(&self) -> impl Iterator<Item = TransactionId> {
        let marks = self.transfer_marks.iter();
        marks.filter(|(_, mark)| **mark == TransferMark::NoTransfer).map(|(id, _)| *id)
    }

    /// Whether the history was trained on the person's override of this transaction.
    pub(crate) fn learned_from(&self, id: TransactionId) -> bool {
        self.overrides.get(&id).is_some_and(|it| it.category.is_some())
    }

    /// Classifies a transaction on a stored account. `transfer` is the kind of transfer that it is one leg of.
    pub(crate) fn classify(
        &self,
        run: &Recompute,
        input: &ClassifierInput<'_>,
        cleaned: &CleanedDescriptor,
        transfer: Option<TransferKind>,
    ) -> Enriched {
        let account = run.account(input.account);
        let kind = account.map_or(AccountKind::Other, |it| it.kind);
        let subtype = account.and_then(|it| it.subtype.as_deref());
        self.classify_on((kind, subtype), input, cleaned, transfer)
    }

    /// Classifies a transaction on an account of this kind and subtype, which may not be stored yet.
    pub(crate) fn classify_on(
        &self,
        (account_kind, account_subtype): (AccountKind, Option<&str>),
        input: &ClassifierInput<'_>,
        cleaned: &CleanedDescriptor,
        transfer: Option<TransferKind>,
    ) -> Enriched {
        let facts = TransactionFacts {
            account: input.account,
            inflow: input.amount.minor() > 0,
            amount_minor: input.amount.minor().saturating_abs(),
            currency: input.amount.currency(),
            account_kind,
            account_subtype,
            source_counterparty: input.counterparty,
            source_category: input.category,
            transfer,
            imported_at_ms: input.id.map(stored_at_ms),
            user_override: input.id.and_then(|it| self.overrides.get(&it)),
        };
        let mut enriched = enrich(cleaned, &facts, &self.rules.rules, &self.history);
        let mark = input.id.and_then(|it| self.transfer_mark(it));
        if mark == Some(TransferMark::NoTransfer) {
            forget_own_transfer(&mut enriched);
        }
        enriched
    }
}

/// Removes a category that says that the other side is an account of the person, unless they chose it. Without one, money
/// out counts as spending and money in as unclassified.
fn forget_own_transfer(enriched: &mut Enriched) {
    let is_chosen = matches!(enriched.category_source, CategorySource::User | CategorySource::Rule);
    if !is_chosen && enriched.category.is_some_and(is_own_transfer) {
        (enriched.category, enriched.category_source) = (None, CategorySource::None);
    }
}

/// Trains on the categories that the person gave to transactions.
fn history(tx: &mut Tx<'_>, user: UserId) -> Result<History> {
    let rows = tx.all(SAMPLES, params![user], |row| {
        // The joins are outer ones so that both engines begin with the few overrides; the transaction may be gone.
        let description: Option<&str> = row.get(0)?;
        let category = row.word(1, "category", Category::parse)?;
        let amount_minor: Option<i64> = row.get(2)?;
        let kind = row.optional_word(3, "account kind", AccountKind::parse)?;
        let key = description.map(|it| clean(it).key);
        Ok((key, category, amount_minor.unwrap_or(0), kind.unwrap_or(AccountKind::Other)))
    })?;
    let samples = rows.iter().filter_map(|(key, category, amount_minor, account_kind)| {
        let sample = Sample {
            key: key.as_deref()?,
            inflow: *amount_minor > 0,
            amount_minor: amount_minor.saturating_abs(),
            account_kind: *account_kind,
        };
        Some((sample, *category))
    });
    Ok(History::train(samples))
}

/// The moment a transaction was stored, in milliseconds since 1970: ids are UUIDv7, which begin with it.
pub(crate) fn stored_at_ms(id: TransactionId) -> i64 {
    let time = id.as_bytes().iter().take(6);
    time.fold(0, |so_far, byte| so_far << 8 | i64::from(*byte))
}

const SAMPLES: &str =
    "select t.description, f.category, t.amount_minor, a.kind from transaction_fixes f
    left join transactions t on t.user_id = f.user_id and t.id = f.transaction_id
    left join accounts a on a.user_id = t.user_id and a.id = t.account_id
    where f.user_id = $1 and f.category is not null";

pub(super) const STATEMENTS: &[&str] = &[SAMPLES];
