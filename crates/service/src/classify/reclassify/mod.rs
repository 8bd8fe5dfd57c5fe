//! Reclassifying: pairs transfers and classifies transactions again, all of a person's or those near changed rows.

pub(super) mod pairs;
mod rows;

use std::collections::{BTreeSet, HashMap};

use base::category::Category;
use base::{Currency, Date, TransactionId, UserId, date_from_days, days_from_date};
use calc::enrich::{CleanedDescriptor, Enriched};
use calc::transfers::{Leg, Pair, PairingResult, REACH_DAYS, TransferKind, pair_in_components};
use db::{Param, Tx, params};

use self::rows::{LoadedRow, LoadedRows, ROW, RowTransfer, StoredClassification, classifier_input};
use super::classifier::Classifier;
use super::linked_refunds;
use super::overrides::TransferMark;
use super::recompute::{Recompute, RecomputeScope};
use crate::ledger::transactions::TransactionState;
use crate::ledger::transactions::row::StoredTransaction;
use crate::ledger::{accounts, rates};
use crate::platform::dirty_queue::DirtyTransaction;
use crate::platform::person_lock;
use crate::{App, Result};

/// Days that are read beyond the reach of the dirty rows. Most groups of candidates lie within them.
const MARGIN_DAYS: i64 = 10;

/// Classifies the rows in the scope of a recompute.
pub(crate) fn reclassify(tx: &mut Tx<'_>, run: &mut Recompute) -> Result<()> {
    let classifier = Classifier::load(tx, run.user)?;
    let mut decisions = pairs::decisions(tx, run)?;
    decisions.not_transfers.extend(classifier.not_transfers());
    decisions.not_transfers.extend(linked_refunds::ids(tx, run.user)?);
    let accounts = run.pairing_accounts();
    let days = match &run.scope {
        RecomputeScope::Everything => None,
        RecomputeScope::Around(dirty) => {
            let days = || dirty.iter().map(|it| it.posted_on_days);
            let (Some(first), Some(last)) = (days().min(), days().max()) else { return Ok(()) };
            Some((first - REACH_DAYS, last + REACH_DAYS))
        }
    };
    let currencies: BTreeSet<Currency> = run.accounts.iter().map(|it| it.currency).collect();
    let mut margin = REACH_DAYS + MARGIN_DAYS;
    loop {
        let read = days.map(|(first, last)| (first - margin, last + margin));
        let loaded = LoadedRows::load(tx, run, (&classifier, &decisions), read)?;
        let since = read.map(|(first, _)| date_from_days(first));
        let rates = rates::daily_in(tx, run.user, run.currency, &currencies, since)?;
        let (legs, indexes) = loaded.legs();
        let evidence = |leg: usize| loaded.transfer_evidence(indexes[leg], &classifier, run);
        let convert = |minor: i64, from: Currency, to: Currency, on: Date| {
            rates.convert_on(minor, from, to, on)
        };
        let (found, groups) = pair_in_components(&accounts, &legs, &evidence, &decisions, &convert);
        let Some(days) = days else {
            return save_all(tx, run, &classifier, &loaded, (found, AffectedRows::ALL));
        };
        let affected = affected_rows(&legs, groups, days);
        if affected.is_near_edge(days.0 - margin, days.1 + margin) {
            // A chain of candidates may continue outside of the days that were read.
            margin *= 4;
            continue;
        }
        return save_all(tx, run, &classifier, &loaded, (found, affected));
    }
}

/// Classifies the given transactions again at once, so that the person sees the effect of their correction. The rest
/// of the pipeline follows from the dirty queue.
pub(crate) fn reclassify_transactions(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
    transactions: &[TransactionId],
) -> Result<()> {
    person_lock::lock(tx, user)?;
    let mut dirty = BTreeSet::new();
    for id in transactions {
        let read = |row: &db::Row<'_>| {
            let row = StoredTransaction(row);
            Ok(DirtyTransaction {
                account: row.account_id()?,
                merchant_key: row.merchant_key()?.unwrap_or_default().to_owned(),
                posted_on_days: row.posted_on_days()?,
                amount_minor: row.amount_minor()?,
            })
        };
        dirty.extend(tx.first(ROW, params![user, *id], read)?);
    }
    let mut run = Recompute::new(tx, app, user, RecomputeScope::Around(dirty))?;
    run.corrected = transactions.iter().copied().collect();
    reclassify(tx, &mut run)?;
    run.publish_events(tx)
}

/// The rows whose transfer may change, and the days that they span.
struct AffectedRows {
    /// None for all rows.
    ids: Option<BTreeSet<TransactionId>>,
    first_days: i64,
    last_days: i64,
}

impl AffectedRows {
    const ALL: AffectedRows = AffectedRows { ids: None, first_days: i64::MIN, last_days: i64::MAX };

    fn has(&self, id: TransactionId) -> bool {
        self.ids.as_ref().is_none_or(|it| it.contains(&id))
    }

    /// Whether a row outside of the days that were read could influence them.
    fn is_near_edge(&self, read_from: i64, read_to: i64) -> bool {
        self.first_days - REACH_DAYS < read_from || self.last_days + REACH_DAYS > read_to
    }
}

/// The legs on the given days, and all legs that compete with them for partners.
fn affected_rows(legs: &[Leg], groups: Vec<Vec<usize>>, (first, last): (i64, i64)) -> AffectedRows {
    let near = |leg: &Leg| (first..=last).contains(&days_from_date(leg.on));
    let mut ids: BTreeSet<TransactionId> =
        legs.iter().filter(|it| near(it)).map(|it| it.id).collect();
    let (mut first_days, mut last_days) = (first, last);
    for group in groups {
        if !group.iter().any(|leg| near(&legs[*leg])) {
            continue;
        }
        for leg in group {
            let day = days_from_date(legs[leg].on);
            (first_days, last_days) = (first_days.min(day), last_days.max(day));
            ids.insert(legs[leg].id);
        }
    }
    AffectedRows { ids: Some(ids), first_days, last_days }
}

/// Stores the classification and the pairs of all affected rows.
fn save_all(
    tx: &mut Tx<'_>,
    run: &mut Recompute,
    classifier: &Classifier,
    loaded: &LoadedRows,
    (found, affected): (PairingResult, AffectedRows),
) -> Result<()> {
    let mut pair_of_leg: HashMap<TransactionId, &Pair> = HashMap::new();
    for pair in &found.pairs {
        pair_of_leg.insert(pair.outflow, pair);
        pair_of_leg.insert(pair.inflow, pair);
    }
    let (mut changed, mut recounted) = (BTreeSet::new(), BTreeSet::new());
    for row in &loaded.rows {
        if row.is_posted() && !affected.has(row.id) {
            continue;
        }
        let pair = pair_of_leg.get(&row.id).copied();
        let transfer = pair.map(RowTransfer::of).or_else(|| marked_transfer(classifier, row.id));
        // Dirty rows can only change the transfers around them. All else about a row was classified when it was stored,
        // and whatever influences that (an override, a rule, an account's name, our tables) makes everything dirty.
        // Corrected rows are classified now, ahead of that full recompute.
        if row.is_current && row.transfer == transfer && !run.corrected.contains(&row.id) {
            continue;
        }
        if let Some(enriched) = save(tx, run, classifier, (row, loaded.cleaned(row)), transfer)? {
            if row.state != row.new_state(&enriched) {
                recounted.insert(row.account);
            }
            changed.insert(DirtyTransaction {
                account: row.account,
                merchant_key: enriched.key,
                posted_on_days: row.on_days,
                amount_minor: row.amount_minor,
            });
        }
    }
    for account in recounted {
        accounts::recount(tx, run.user, account)?;
    }
    pairs::save(tx, run, loaded, &found, &affected)?;
    run.changed_days.extend(changed.iter().map(|it| it.posted_on_days));
    // The recurring streams of changed rows must be recomputed too.
    if let RecomputeScope::Around(dirty) = &mut run.scope {
        dirty.append(&mut changed);
    }
    Ok(())
}

/// The transfer of a transaction without another leg that the person marked as one.
fn marked_transfer(classifier: &Classifier, id: TransactionId) -> Option<RowTransfer> {
    let is_marked = classifier.transfer_mark(id) == Some(TransferMark::Transfer);
    is_marked.then_some(RowTransfer { id, kind: TransferKind::Transfer })
}

/// Stores the classification of a row if it changed, and returns it then.
fn save(
    tx: &mut Tx<'_>,
    run: &mut Recompute,
    classifier: &Classifier,
    (row, cleaned): (&LoadedRow, &CleanedDescriptor),
    transfer: Option<RowTransfer>,
) -> Result<Option<Enriched>> {
    let kind = transfer.map(|it| it.kind);
    let classified = tx.first(ROW, params![run.user, row.id], |stored| {
        let stored = StoredTransaction(stored);
        let input = classifier_input(row, stored.source_counterparty()?);
        let enriched = classifier.classify(run, &input, cleaned, kind);
        let stored = StoredClassification::read(stored)?;
        Ok((stored.equals(&enriched), stored.looks_like(&enriched), enriched))
    })?;
    let Some((is_same, looks_same, enriched)) = classified else { return Ok(None) };
    let state = row.new_state(&enriched);
    if is_same && row.transfer == transfer && row.state == state {
        return Ok(None);
    }
    let stays_transfer = row.transfer.is_some() == transfer.is_some();
    let looks_same = looks_same && stays_transfer && row.state == state;
    let updated_at = if looks_same { None } else { Some(run.stamp(tx)?) };
    tx.execute(
        SAVE,
        &[
            run.user.into(),
            row.id.into(),
            (&enriched.counterparty).into(),
            enriched.category.map(Category::detailed).into(),
            enriched.category_source.as_str().into(),
            (&enriched.key).into(),
            transfer.map(|it| it.id).into(),
            Param::Text(kind.map(TransferKind::as_str)),
            updated_at.into(),
            state.as_str().into(),
        ],
    )?;
    // To readers of lists a row that becomes hidden is removed, and changes of a hidden row do not exist.
    let is_hidden = |it: TransactionState| it == TransactionState::Hidden;
    match (looks_same, is_hidden(row.state), is_hidden(state)) {
        (true, ..) | (false, true, true) => {}
        (false, false, true) => run.hidden.entry(row.account).or_default().push(row.id),
        (false, _, false) => run.updated.entry(row.account).or_default().push(row.id),
    }
    Ok(Some(enriched))
}

const SAVE: &str = "update transactions set counterparty = $3, category = $4, category_stage = $5,
    merchant_key = $6, transfer_id = $7, transfer_kind = $8, updated_at = coalesce($9, updated_at),
    state = $10
    where user_id = $1 and id = $2";

pub(super) fn statements() -> Vec<&'static str> {
    [&[SAVE], rows::STATEMENTS, pairs::STATEMENTS].concat()
}
