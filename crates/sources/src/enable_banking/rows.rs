//! Converts the transactions of a bank into drafts, with ids that stay the same from sync to sync.

use std::collections::{BTreeMap, BTreeSet};

use base::draft::TransactionDraft;
use base::{Currency, Date, Money};
use xxhash_rust::xxh3::xxh3_64;

use super::transactions::{Amount, Transaction};
use crate::plausibility::{is_implausible_amount, is_plausible_date};
use crate::sepa;
use crate::unique_ids::deduplicate_ids;

/// The drafts of an account's transactions, and how many could not be read. `pending_before` are the pending ones of
/// the sync before, which a booked one may settle.
pub(super) fn drafts(
    rows: &[Transaction],
    currency: Currency,
    pending_before: &BTreeSet<String>,
) -> (Vec<TransactionDraft>, usize) {
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        let Some(mut draft) = draft(row, currency) else { continue };
        if draft.pending {
            draft.external_id = Some(pending_id(row, &draft, &mut alike));
        } else {
            draft.external_id = booked_id(row, &draft);
            let mut settled = references(row).map(named_pending);
            draft.settles = settled.find(|it| pending_before.contains(it));
        }
        all.push(draft);
    }
    let rejected = rows.len() - all.len();
    deduplicate_ids(&mut all);
    all.sort_by(|a, b| (a.posted_on, &a.external_id).cmp(&(b.posted_on, &b.external_id)));
    (all, rejected)
}

/// The ids of the pending transactions among these.
pub(super) fn pending_ids(rows: &[TransactionDraft]) -> BTreeSet<String> {
    rows.iter().filter(|it| it.pending).filter_map(|it| it.external_id.clone()).collect()
}

/// The ids that the bank gave, the reference first: only that is the same while a transaction is pending and later.
fn references(row: &Transaction) -> impl Iterator<Item = &str> {
    let ids = [&row.entry_reference, &row.transaction_id];
    ids.into_iter().filter_map(|it| it.as_deref().map(str::trim)).filter(|it| !it.is_empty())
}

fn named_pending(id: &str) -> String {
    format!("pending:{id}")
}

/// A pending transaction without an id is known by its content, and counted if there are several alike.
fn pending_id(
    row: &Transaction,
    draft: &TransactionDraft,
    alike: &mut BTreeMap<String, usize>,
) -> String {
    if let Some(id) = references(row).next() {
        return named_pending(id);
    }
    let text = xxh3_64(draft.description.as_bytes());
    let content = format!("{}:{}:{text:016x}", draft.posted_on, draft.amount.minor());
    let count = alike.entry(content.clone()).or_insert(0);
    *count += 1;
    named_pending(&format!("#{content}:{count}"))
}

/// The bank's id is not unique everywhere, so date and amount are part of it. A row without one is recognized by its
/// content. A row that is listed twice differs only in its reference, so the transaction's id goes first.
fn booked_id(row: &Transaction, draft: &TransactionDraft) -> Option<String> {
    let ids = [&row.transaction_id, &row.entry_reference];
    let mut ids = ids.into_iter().filter_map(|it| it.as_deref().map(str::trim));
    let id = ids.find(|it| !it.is_empty())?;
    Some(format!("{id}#{}:{}", draft.posted_on, draft.amount.minor()))
}

/// None for a row without a date, in another currency, or that is neither booked nor pending.
fn draft(row: &Transaction, currency: Currency) -> Option<TransactionDraft> {
    if !matches!(row.status.as_deref(), None | Some("BOOK" | "PDNG")) {
        return None;
    }
    let indicator = row.credit_debit_indicator.as_deref();
    let amount = signed(&row.transaction_amount, indicator, currency)?;
    let day = |text: &str| text.parse::<Date>().ok().filter(|it| is_plausible_date(*it));
    let dates = [&row.booking_date, &row.value_date, &row.transaction_date];
    let posted_on = dates.into_iter().filter_map(|it| it.as_deref()).find_map(day)?;
    let party = if amount.minor() < 0 { &row.creditor } else { &row.debtor };
    let name = party.as_ref().and_then(|it| it.name.as_deref()).map(str::trim);
    let name = name.filter(|it| !it.is_empty()).map(str::to_owned);
    let text = sepa::text(row.remittance_information.as_deref().unwrap_or_default());
    Some(TransactionDraft {
        external_id: None,
        pending: row.is_pending(),
        settles: None,
        posted_on,
        authorized_on: row.transaction_date.as_deref().and_then(day),
        amount,
        description: if text.is_empty() { name.clone().unwrap_or_default() } else { text },
        counterparty: name,
        counterparty_logo_url: None,
        category: None,
    })
}

/// An amount with the sign of its indicator. None in another currency, or if it cannot be.
pub(super) fn signed(
    amount: &Amount,
    indicator: Option<&str>,
    currency: Currency,
) -> Option<Money> {
    if amount.currency != currency.code() {
        return None;
    }
    let text = amount.amount.trim();
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.trim_start_matches('+')),
    };
    let minor = Money::parse(digits, currency).ok()?.minor();
    // Amounts have no sign; a bank that writes one all the same means it.
    let is_out = is_negative || indicator == Some("DBIT");
    let minor = if is_out { minor.checked_neg()? } else { minor };
    (!is_implausible_amount(minor)).then(|| Money::new(minor, currency))
}
