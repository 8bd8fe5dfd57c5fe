//! The stored rows that reclassifying looks at.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use base::category::Category;
use base::{AccountId, Currency, Date, Money, TransactionId, date_from_days};
use calc::enrich::{self, CategorySource, CleanedDescriptor, Enriched};
use calc::transfers::{Leg, LegText, Pair, TextFlags, TransferKind, TransferOverrides};
use db::{Tx, params};

use crate::Result;
use crate::classify::classifier::{Classifier, ClassifierInput};
use crate::classify::cleaned_descriptions::CleanedDescriptions;
use crate::classify::recompute::Recompute;
use crate::ledger::transactions::TransactionState;
use crate::ledger::transactions::row::{
    StoredTransaction, classification_columns, transfer_leg_columns,
};

/// A transaction with the columns that pairing looks at. There may be a hundred thousand of them, so the other columns
/// are compared while they are read, and read again for the few rows that change.
pub(super) struct LoadedRow {
    pub(super) id: TransactionId,
    pub(super) account: AccountId,
    pub(super) on_days: i64,
    pub(super) state: TransactionState,
    pub(super) amount_minor: i64,
    pub(super) currency: Currency,
    pub(super) authorized_on: Option<Date>,
    /// An index in `LoadedRows::descriptions`.
    description: usize,
    source_category: Option<Category>,
    pub(super) transfer: Option<RowTransfer>,
    /// Whether the stored classification equals the classifier's result for the stored transfer. True where it was not
    /// compared.
    pub(super) is_current: bool,
}

impl LoadedRow {
    /// Posted or hidden by a rule: money of a hidden row moved too, so the other leg is neither income nor spending.
    pub(super) fn is_posted(&self) -> bool {
        self.state.is_posted()
    }

    /// The state of the row after it was classified.
    pub(super) fn new_state(&self, enriched: &Enriched) -> TransactionState {
        TransactionState::of(self.is_posted(), enriched.hidden)
    }
}

/// The transfer that a row is stored as a leg of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowTransfer {
    /// The id of the outflow, or of the row itself if the person marked it and no other leg is known.
    pub(super) id: TransactionId,
    pub(super) kind: TransferKind,
}

impl RowTransfer {
    pub(super) fn of(pair: &Pair) -> RowTransfer {
        RowTransfer { id: pair.outflow, kind: pair.kind }
    }
}

/// A bank's description, cleaned at most once however many rows have it: banks repeat themselves, and cleaning costs
/// most.
struct Description {
    text: Arc<str>,
    cleaned: OnceCell<CleanedDescriptor>,
}

#[derive(Default)]
pub(super) struct LoadedRows {
    pub(super) rows: Vec<LoadedRow>,
    descriptions: Vec<Description>,
    description_indexes: HashMap<Arc<str>, usize>,
    cleaned_before: Arc<CleanedDescriptions>,
}

impl LoadedRows {
    /// Loads the rows of some days; or all rows, which are also compared with the classifier's result, unless the import
    /// before this recompute has just classified them.
    pub(super) fn load(
        tx: &mut Tx<'_>,
        run: &Recompute,
        (classifier, decisions): (&Classifier, &TransferOverrides),
        days: Option<(i64, i64)>,
    ) -> Result<LoadedRows> {
        let cleaned_before = Arc::clone(&run.cleaned);
        let mut loaded = LoadedRows { cleaned_before, ..LoadedRows::default() };
        let Some((from, to)) = days else {
            let compare = Some((classifier, run));
            tx.each(ROWS, params![run.user], |row| loaded.add(row, compare))?;
            return Ok(loaded);
        };
        tx.each(LEGS, params![run.user, from, to], |row| loaded.add(row, None))?;
        // The legs of a pair that the person confirmed may lie far apart.
        if !decisions.confirmed.is_empty() {
            let ids: BTreeSet<TransactionId> = loaded.rows.iter().map(|it| it.id).collect();
            for (outflow, inflow) in &decisions.confirmed {
                for (id, other) in [(outflow, inflow), (inflow, outflow)] {
                    if ids.contains(other) && !ids.contains(id) {
                        tx.each(ROW, params![run.user, *id], |row| loaded.add(row, None))?;
                    }
                }
            }
        }
        Ok(loaded)
    }

    fn add(
        &mut self,
        row: &db::Row<'_>,
        compare: Option<(&Classifier, &Recompute)>,
    ) -> db::Result<()> {
        let stored = StoredTransaction(row);
        let mut loaded = read(stored, self.index_of(stored.description()?))?;
        let compare = compare.filter(|(_, run)| !run.is_classified(loaded.id));
        if let Some((classifier, run)) = compare {
            let input = classifier_input(&loaded, stored.source_counterparty()?);
            let cleaned = self.cleaned(&loaded);
            let kind = loaded.transfer.map(|it| it.kind);
            let enriched = classifier.classify(run, &input, cleaned, kind);
            loaded.is_current = StoredClassification::read(stored)?.equals(&enriched)
                && loaded.state == loaded.new_state(&enriched);
        }
        self.rows.push(loaded);
        Ok(())
    }

    fn index_of(&mut self, description: &str) -> usize {
        if let Some(index) = self.description_indexes.get(description) {
            return *index;
        }
        let text: Arc<str> = description.into();
        self.description_indexes.insert(Arc::clone(&text), self.descriptions.len());
        self.descriptions.push(Description { text, cleaned: OnceCell::new() });
        self.descriptions.len() - 1
    }

    pub(super) fn cleaned(&self, row: &LoadedRow) -> &CleanedDescriptor {
        let description = &self.descriptions[row.description];
        let clean = || self.cleaned_before.get(&description.text).into_owned();
        description.cleaned.get_or_init(clean)
    }

    /// The posted rows, which transfers can be made of, and the index of each.
    pub(super) fn legs(&self) -> (Vec<Leg>, Vec<usize>) {
        let mut legs = Vec::with_capacity(self.rows.len());
        let mut indexes = Vec::with_capacity(self.rows.len());
        for (index, row) in self.rows.iter().enumerate().filter(|(_, row)| row.is_posted()) {
            indexes.push(index);
            legs.push(Leg {
                id: row.id,
                account: row.account,
                on: date_from_days(row.on_days),
                authorized_on: row.authorized_on,
                amount_minor: row.amount_minor,
                currency: row.currency,
            });
        }
        (legs, indexes)
    }

    /// The evidence in a row's description and category that it is a transfer.
    pub(super) fn transfer_evidence(
        &self,
        index: usize,
        classifier: &Classifier,
        run: &Recompute,
    ) -> LegText {
        let row = &self.rows[index];
        let cleaned = self.cleaned(row);
        // The counterparty that the source gave does not influence the category.
        let enriched = classifier.classify(run, &classifier_input(row, None), cleaned, None);
        LegText {
            description: self.descriptions[row.description].text.to_string(),
            category: enriched.category.filter(|_| is_evidence(&enriched)),
            merchant: cleaned.merchant.is_some_and(is_shop),
            words: TextFlags {
                transfer: cleaned.transfer_words,
                refund: cleaned.refund_words,
                person: cleaned.person,
            },
        }
    }
}

pub(super) fn classifier_input<'a>(
    row: &LoadedRow,
    source_counterparty: Option<&'a str>,
) -> ClassifierInput<'a> {
    ClassifierInput {
        id: Some(row.id),
        account: row.account,
        amount: Money::new(row.amount_minor, row.currency),
        counterparty: source_counterparty,
        category: row.source_category,
    }
}

/// The stored classification of a row, apart from its transfer.
pub(super) struct StoredClassification<'a> {
    counterparty: Option<&'a str>,
    category: Option<Category>,
    stage: Option<CategorySource>,
    merchant_key: Option<&'a str>,
}

impl<'a> StoredClassification<'a> {
    pub(super) fn read(row: StoredTransaction<'a, '_>) -> db::Result<StoredClassification<'a>> {
        Ok(StoredClassification {
            counterparty: row.counterparty()?,
            category: row.category()?,
            stage: row.category_stage()?,
            merchant_key: row.merchant_key()?,
        })
    }

    /// Whether someone who reads the transaction would see no difference.
    pub(super) fn looks_like(&self, enriched: &Enriched) -> bool {
        self.counterparty == enriched.counterparty.as_deref() && self.category == enriched.category
    }

    pub(super) fn equals(&self, enriched: &Enriched) -> bool {
        self.looks_like(enriched)
            && self.stage == Some(enriched.category_source)
            && self.merchant_key == Some(&enriched.key)
    }
}

/// Whether a category tells more about a transfer than the description, which pairing reads itself. A guess is too weak:
/// it takes a payment without a name for a purchase.
fn is_evidence(enriched: &Enriched) -> bool {
    let transfers = ["TRANSFER_IN", "TRANSFER_OUT", "LOAN_PAYMENTS"];
    let is_transfer = |it: Category| {
        transfers.contains(&it.primary()) && it.detailed() != "TRANSFER_OUT_WITHDRAWAL"
    };
    match enriched.category_source {
        CategorySource::Guess => false,
        CategorySource::Keyword | CategorySource::Structure => {
            !enriched.category.is_some_and(is_transfer)
        }
        _ => true,
    }
}

/// Whether money for a merchant is spent: at a shop or for a service, not at a bank, an employer or a payment app.
fn is_shop(merchant: &enrich::Merchant) -> bool {
    let others = ["TRANSFER_IN", "TRANSFER_OUT", "LOAN_PAYMENTS", "INCOME"];
    !merchant.is(enrich::Flag::P2p) && !others.contains(&merchant.category.primary())
}

fn read(row: StoredTransaction<'_, '_>, description: usize) -> db::Result<LoadedRow> {
    Ok(LoadedRow {
        id: row.id()?,
        account: row.account_id()?,
        on_days: row.posted_on_days()?,
        state: row.state()?,
        amount_minor: row.amount_minor()?,
        currency: row.currency()?,
        authorized_on: row.authorized_on()?,
        description,
        source_category: row.source_category()?,
        transfer: row
            .transfer_id()?
            .zip(row.transfer_kind()?)
            .map(|(id, kind)| RowTransfer { id, kind }),
        is_current: true,
    })
}

const LEGS: &str = concat!(
    "select ",
    transfer_leg_columns!(),
    " from transactions t where user_id = $1 and posted_on between $2 and $3 and state <> 'removed'"
);
const ROWS: &str = concat!(
    "select ",
    classification_columns!(),
    " from transactions t where user_id = $1 and state <> 'removed'"
);
pub(super) const ROW: &str = concat!(
    "select ",
    classification_columns!(),
    " from transactions t where user_id = $1 and id = $2 and state <> 'removed'"
);

pub(super) const STATEMENTS: &[&str] = &[LEGS, ROWS, ROW];
