//! The transactions of a bulk edit: what the edit changes of each one, and the journal from which it is undone.

use base::category::Category;
use base::{AccountId, EditId, Timestamp, TransactionId, UserId};
use db::{Tx, params};
use serde::{Deserialize, Serialize};

use super::{BulkChange, EditField};
use crate::classify::overrides::{self, TransferMark, Visibility};
use crate::ledger::annotations::{Tags, checked_note};
use crate::ledger::transactions::TransactionState;
use crate::{Error, Result};

/// What a bulk edit can change of a transaction, as it is stored. Its field names are stored in the journal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RowSnapshot {
    category: Option<String>,
    visibility: Option<String>,
    transfer: Option<String>,
    note: Option<String>,
    tags: Option<String>,
    /// When the name or the category was overridden. None without an override.
    fixed_at: Option<i64>,
}

/// A transaction with its present values.
pub(super) struct CurrentRow {
    pub(super) account: AccountId,
    pub(super) state: TransactionState,
    pub(super) values: RowSnapshot,
}

impl RowSnapshot {
    /// The values after a change.
    pub(super) fn changed_by(&self, change: &BulkChange, now: Timestamp) -> Result<RowSnapshot> {
        let mut after = self.clone();
        if let Some(category) = change.category {
            after.category = Some(category.detailed().to_owned());
        }
        if let Some(visibility) = change.visibility {
            after.visibility = Some(visibility.as_str().to_owned());
        }
        if let Some(transfer) = change.transfer {
            after.transfer = transfer.map(|it| it.as_str().to_owned());
        }
        if let Some(note) = &change.note {
            after.note = checked_note(note)?;
        }
        if !change.add_tags.is_empty() || !change.remove_tags.is_empty() {
            let tags = Tags::read(self.tags.as_deref()).without(&change.remove_tags);
            after.tags = tags.with(&change.add_tags)?.stored();
        }
        if !after.has_same_override(self) {
            after.fixed_at = Some(now.as_microsecond());
        }
        Ok(after)
    }

    /// Whether a field has the same value.
    pub(super) fn equals_in(&self, other: &RowSnapshot, field: EditField) -> bool {
        match field {
            EditField::Category => self.category == other.category,
            EditField::Visibility => self.visibility == other.visibility,
            EditField::Transfer => self.transfer == other.transfer,
            EditField::Note => self.note == other.note,
            EditField::Tags => self.tags == other.tags,
        }
    }

    /// These values with those of a field from others.
    pub(super) fn with_field_of(mut self, other: &RowSnapshot, field: EditField) -> RowSnapshot {
        match field {
            EditField::Category => self.category.clone_from(&other.category),
            EditField::Visibility => self.visibility.clone_from(&other.visibility),
            EditField::Transfer => self.transfer.clone_from(&other.transfer),
            EditField::Note => self.note.clone_from(&other.note),
            EditField::Tags => self.tags.clone_from(&other.tags),
        }
        self
    }

    /// These values with the time of the override from before an edit, unless it was written again after the edit.
    pub(super) fn with_time_before(mut self, before: &RowSnapshot, after: &RowSnapshot) -> Self {
        if self.fixed_at == after.fixed_at && before.fixed_at.is_some() {
            self.fixed_at = before.fixed_at;
        }
        self
    }

    pub(super) fn has_same_annotation(&self, other: &RowSnapshot) -> bool {
        self.note == other.note && self.tags == other.tags
    }

    fn has_same_override(&self, other: &RowSnapshot) -> bool {
        self.category == other.category
            && self.visibility == other.visibility
            && self.transfer == other.transfer
    }
}

/// The present values of a transaction, on a hidden account too. None if it is gone.
pub(super) fn find(tx: &mut Tx<'_>, user: UserId, id: TransactionId) -> Result<Option<CurrentRow>> {
    let read = |row: &db::Row<'_>| {
        let visibility: Option<Visibility> = row.get(5)?;
        let transfer: Option<TransferMark> = row.get(6)?;
        let category = row.optional_word(4, "category", Category::parse)?;
        Ok(CurrentRow {
            account: row.get(0)?,
            state: row.get(1)?,
            values: RowSnapshot {
                note: row.get(2)?,
                tags: row.get(3)?,
                category: category.map(|it| it.detailed().to_owned()),
                visibility: visibility.map(|it| it.as_str().to_owned()),
                transfer: transfer.map(|it| it.as_str().to_owned()),
                fixed_at: row.get(7)?,
            },
        })
    };
    Ok(tx.first(FIND, params![user, id], read)?)
}

/// Stores the values of a transaction that differ.
pub(super) fn write(
    tx: &mut Tx<'_>,
    user: UserId,
    (id, stamp): (TransactionId, Timestamp),
    (from, to): (&RowSnapshot, &RowSnapshot),
) -> Result<()> {
    if !from.has_same_annotation(to) {
        tx.execute(ANNOTATE, params![user, id, &to.note, &to.tags, stamp])?;
    }
    if !from.has_same_override(to) {
        // An override that the edit created goes again when the edit is undone.
        let fixed_at = to.fixed_at.or(from.fixed_at).unwrap_or_default();
        let values = params![user, id, &to.category, &to.visibility, &to.transfer, fixed_at];
        tx.execute(OVERRIDE, values)?;
        overrides::delete_if_empty(tx, user, id)?;
    }
    Ok(())
}

/// Adds a transaction to the journal of an edit.
pub(super) fn record(
    tx: &mut Tx<'_>,
    user: UserId,
    (edit, id): (EditId, TransactionId),
    (before, after): (&RowSnapshot, &RowSnapshot),
) -> Result<()> {
    let json = |it: &RowSnapshot| {
        serde_json::to_string(it).map_err(|error| Error::internal(error.to_string()))
    };
    tx.execute(RECORD, params![user, edit, id, &json(before)?, &json(after)?])?;
    Ok(())
}

/// A transaction in the journal of an edit.
pub(super) struct JournalRow {
    pub(super) id: TransactionId,
    pub(super) before: RowSnapshot,
    pub(super) after: RowSnapshot,
}

/// The journal of an edit.
pub(super) fn journal(tx: &mut Tx<'_>, user: UserId, edit: EditId) -> Result<Vec<JournalRow>> {
    let rows = tx.all(JOURNAL, params![user, edit], |row| {
        Ok((row.get(0)?, row.get::<String>(1)?, row.get::<String>(2)?))
    })?;
    let read = |text: &str| {
        let unreadable = |_| Error::internal("the journal of a bulk edit cannot be read");
        serde_json::from_str::<RowSnapshot>(text).map_err(unreadable)
    };
    let row = |(id, before, after): (TransactionId, String, String)| {
        Ok(JournalRow { id, before: read(&before)?, after: read(&after)? })
    };
    rows.into_iter().map(row).collect()
}

const FIND: &str =
    "select t.account_id, t.state, t.note, t.tags, f.category, f.visibility, f.transfer, f.fixed_at
    from transactions t left join transaction_fixes f on f.user_id = t.user_id and f.transaction_id = t.id
    where t.user_id = $1 and t.id = $2 and t.state <> 'removed'";
const ANNOTATE: &str = "update transactions set note = $3, tags = $4, updated_at = $5
    where user_id = $1 and id = $2";
const OVERRIDE: &str =
    "insert into transaction_fixes (user_id, transaction_id, category, visibility, transfer, fixed_at)
    values ($1, $2, $3, $4, $5, $6) on conflict (user_id, transaction_id) do update set
    category = excluded.category, visibility = excluded.visibility, transfer = excluded.transfer,
    fixed_at = excluded.fixed_at";
const RECORD: &str =
    "insert into bulk_edit_rows (user_id, edit_id, transaction_id, old_values, new_values)
    values ($1, $2, $3, $4, $5)";
const JOURNAL: &str = "select transaction_id, old_values, new_values from bulk_edit_rows
    where user_id = $1 and edit_id = $2 order by transaction_id";

pub(super) const STATEMENTS: &[&str] = &[FIND, ANNOTATE, OVERRIDE, RECORD, JOURNAL];
