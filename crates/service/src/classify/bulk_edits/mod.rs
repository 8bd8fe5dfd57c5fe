//! Bulk edits: the person changes many transactions at once, and can undo it. The journal has the values of each
//! transaction from before and after, so that undoing restores them exactly and is refused where one has changed since
//! (docs/decisions/0028-bulk-edits.md).

mod rows;

use std::collections::{BTreeMap, BTreeSet};

use base::category::Category;
use base::{AccountId, EditId, Timestamp, TransactionId, UserId};
use db::{Tx, params};
use webhooks::outbox;
use wire::v1::{Code, Event};

use self::rows::{CurrentRow, JournalRow, RowSnapshot};
use super::overrides::{TransferMark, Visibility};
use super::reclassify::reclassify_transactions;
use crate::ledger::annotations::Tags;
use crate::ledger::stamps;
use crate::ledger::transactions::TransactionState;
use crate::platform::audit::{self, Note};
use crate::platform::dirty_queue;
use crate::{App, Caller, Error, Result};

/// How many transactions one edit can change.
pub const TRANSACTIONS_MAX: usize = 5_000;
/// How many edits are kept to be undone, and listed.
const EDITS_MAX: i64 = 50;

base::words!(
    /// What a bulk edit changes.
    EditField {
        Category => "category",
        Visibility => "visibility",
        Transfer => "transfer",
        Note => "note",
        Tags => "tags",
    }
);

/// A change of many transactions. What is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BulkChange {
    pub category: Option<Category>,
    pub visibility: Option<Visibility>,
    /// An inner none removes the person's mark.
    pub transfer: Option<Option<TransferMark>>,
    /// An empty note removes it.
    pub note: Option<String>,
    pub add_tags: Tags,
    pub remove_tags: Tags,
}

impl BulkChange {
    fn fields(&self) -> Vec<EditField> {
        let changes_tags = !self.add_tags.is_empty() || !self.remove_tags.is_empty();
        let has = |field: &EditField| match field {
            EditField::Category => self.category.is_some(),
            EditField::Visibility => self.visibility.is_some(),
            EditField::Transfer => self.transfer.is_some(),
            EditField::Note => self.note.is_some(),
            EditField::Tags => changes_tags,
        };
        EditField::ALL.iter().copied().filter(has).collect()
    }

    /// The change in words, such as "category Groceries, added #work".
    fn summary(&self) -> String {
        let tags = |it: &Tags| it.iter().map(|it| format!("#{it}")).collect::<Vec<_>>().join(" ");
        let note = self.note.as_ref().map(|it| match it.trim().is_empty() {
            true => "removed the note",
            false => "set the note",
        });
        let transfer = self.transfer.map(|it| match it {
            Some(TransferMark::Transfer) => "marked as transfer",
            Some(TransferMark::NoTransfer) => "marked as no transfer",
            None => "removed the transfer mark",
        });
        let visibility = self.visibility.map(|it| match it {
            Visibility::Hidden => "hidden",
            Visibility::Shown => "shown",
        });
        let parts = [
            self.category.map(|it| format!("category {}", it.label())),
            (!self.add_tags.is_empty()).then(|| format!("added {}", tags(&self.add_tags))),
            (!self.remove_tags.is_empty()).then(|| format!("removed {}", tags(&self.remove_tags))),
            note.map(str::to_owned),
            visibility.map(str::to_owned),
            transfer.map(str::to_owned),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// A bulk edit that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkEdit {
    pub id: EditId,
    pub edited_at: Timestamp,
    /// The change in words.
    pub summary: String,
    pub row_count: i64,
    pub undone_at: Option<Timestamp>,
}

/// Changes transactions, and returns the edit by which the change can be undone.
pub async fn apply(
    app: &App,
    caller: &Caller,
    transactions: Vec<TransactionId>,
    change: BulkChange,
) -> Result<EditId> {
    caller.require_owner("transaction")?;
    let fields = change.fields();
    if fields.is_empty() {
        return Err(Error::invalid("category", "choose what to change"));
    }
    let transactions: BTreeSet<TransactionId> = transactions.into_iter().collect();
    if transactions.is_empty() || transactions.len() > TRANSACTIONS_MAX {
        let message = format!("choose 1 to {TRANSACTIONS_MAX} transactions");
        return Err(Error::invalid("transaction_ids", message));
    }
    let (mine, caller, edit) = (app.clone(), caller.clone(), app.ids.make());
    let write = move |tx: &mut Tx<'_>| {
        apply_in(&mine, tx, &caller, (edit, &transactions), (&change, &fields))
    };
    app.db.write(write).await?;
    Ok(edit)
}

fn apply_in(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    (edit, transactions): (EditId, &BTreeSet<TransactionId>),
    (change, fields): (&BulkChange, &[EditField]),
) -> Result<()> {
    let (user, now) = (caller.user, app.clock.now());
    let stamp = stamps::next(tx, user, now)?;
    let summary = change.summary();
    let words = fields.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(" ");
    let count = transactions.len();
    let values = params![user, edit, now, &summary, &words, count as i64];
    tx.execute(INSERT, values)?;
    tx.execute(DELETE_OLD, params![user, EDITS_MAX])?;
    let mut changed = ChangedRows::default();
    for id in transactions {
        let current = rows::find(tx, user, *id)?.ok_or(Error::NotFound("transaction"))?;
        let after = current.values.changed_by(change, now)?;
        rows::record(tx, user, (edit, *id), (&current.values, &after))?;
        rows::write(tx, user, (*id, stamp), (&current.values, &after))?;
        changed.add(*id, &current, &after);
    }
    let noun = if count == 1 { "transaction" } else { "transactions" };
    let details = format!("Changed {count} {noun}: {summary}");
    let note = Note::new(caller, "transaction.edit", details).about(edit);
    audit::note(tx, user, now, note)?;
    changed.publish(app, tx, user, fields)
}

/// The transactions that an edit or its undoing changed.
#[derive(Default)]
struct ChangedRows {
    ids: Vec<TransactionId>,
    /// Those whose note or tags changed and that lists show, by account.
    annotated: BTreeMap<AccountId, Vec<TransactionId>>,
}

impl ChangedRows {
    fn add(&mut self, id: TransactionId, current: &CurrentRow, after: &RowSnapshot) {
        self.ids.push(id);
        let is_shown = current.state != TransactionState::Hidden;
        if is_shown && !current.values.has_same_annotation(after) {
            self.annotated.entry(current.account).or_default().push(id);
        }
    }

    /// Classifies the transactions again if that depends on the change, and appends the events.
    fn publish(
        &self,
        app: &App,
        tx: &mut Tx<'_>,
        user: UserId,
        fields: &[EditField],
    ) -> Result<()> {
        let mut events = Vec::new();
        for (account, ids) in &self.annotated {
            events.extend(ids.chunks(Event::IDS_MAX).map(|chunk| Event::TransactionsUpdated {
                account_id: account.to_string(),
                transaction_ids: chunk.iter().map(ToString::to_string).collect(),
                count: chunk.len(),
                removed: false,
            }));
        }
        outbox::append(&app.webhooks, tx, user, &events)?;
        let is_note = |it: &EditField| matches!(it, EditField::Note | EditField::Tags);
        if !fields.iter().all(is_note) {
            reclassify_transactions(tx, app, user, &self.ids)?;
            dirty_queue::mark_all_dirty(tx, user)?;
        }
        Ok(())
    }
}

/// Undoes an edit, and returns how many transactions it restored. Transactions that were deleted since stay deleted. If
/// one has changed since in what the edit changed, nothing happens and the error says so.
pub async fn undo(app: &App, caller: &Caller, edit: EditId) -> Result<i64> {
    caller.require_owner("edit")?;
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| undo_in(&mine, tx, &caller, edit)).await
}

fn undo_in(app: &App, tx: &mut Tx<'_>, caller: &Caller, edit: EditId) -> Result<i64> {
    let (user, now) = (caller.user, app.clock.now());
    let stamp = stamps::next(tx, user, now)?;
    let read = |row: &db::Row<'_>| Ok((row.get::<String>(0)?, row.get::<Option<i64>>(1)?));
    let (words, undone_at) =
        tx.first(GET, params![user, edit], read)?.ok_or(Error::NotFound("edit"))?;
    if undone_at.is_some() {
        return Err(conflict("this edit is already undone".to_owned()));
    }
    let unknown = || Error::internal("a bulk edit has an unknown field");
    let fields = words.split_ascii_whitespace().map(|it| EditField::parse(it).ok_or_else(unknown));
    let fields = fields.collect::<Result<Vec<EditField>>>()?;
    let (mut changed, mut differing) = (ChangedRows::default(), 0);
    let journal = rows::journal(tx, user, edit)?;
    for JournalRow { id, before, after } in &journal {
        let Some(current) = rows::find(tx, user, *id)? else { continue };
        if fields.iter().any(|it| !current.values.equals_in(after, *it)) {
            differing += 1;
            continue;
        }
        let restored = fields
            .iter()
            .fold(current.values.clone(), |values, field| values.with_field_of(before, *field));
        let restored = restored.with_time_before(before, after);
        rows::write(tx, user, (*id, stamp), (&current.values, &restored))?;
        changed.add(*id, &current, &restored);
    }
    if differing > 0 {
        return Err(conflict(changed_since(differing, journal.len())));
    }
    tx.execute(SET_UNDONE, params![user, edit, now])?;
    let count = changed.ids.len();
    let noun = if count == 1 { "transaction" } else { "transactions" };
    let note = Note::new(caller, "transaction.edit_undo", format!("Restored {count} {noun}"));
    audit::note(tx, user, now, note.about(edit))?;
    changed.publish(app, tx, user, &fields)?;
    Ok(count as i64)
}

fn changed_since(differing: usize, all: usize) -> String {
    let which = match (differing, all) {
        (1, 1) => "this transaction has".to_owned(),
        (1, all) => format!("1 of the {all} transactions has"),
        (differing, all) => format!("{differing} of the {all} transactions have"),
    };
    format!("{which} changed since, so this edit cannot be undone; undo the later change first")
}

fn conflict(message: String) -> Error {
    Error::Conflict { code: Code::Conflict, message }
}

/// The edits that can be undone and those that were, newest first.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<BulkEdit>> {
    caller.require_owner("edit")?;
    let read = |row: &db::Row<'_>| {
        Ok(BulkEdit {
            id: row.get(0)?,
            edited_at: row.get(1)?,
            summary: row.get(2)?,
            row_count: row.get(3)?,
            undone_at: row.get(4)?,
        })
    };
    Ok(app.db.all(LIST, params![caller.user, EDITS_MAX], read).await?)
}

const INSERT: &str = "insert into bulk_edits (user_id, id, edited_at, summary, fields, row_count)
    values ($1, $2, $3, $4, $5, $6)";
const DELETE_OLD: &str = "delete from bulk_edits where user_id = $1 and id not in
    (select id from bulk_edits where user_id = $1 order by id desc limit $2)";
const GET: &str = "select fields, undone_at from bulk_edits where user_id = $1 and id = $2";
const SET_UNDONE: &str = "update bulk_edits set undone_at = $3 where user_id = $1 and id = $2";
const LIST: &str = "select id, edited_at, summary, row_count, undone_at from bulk_edits
    where user_id = $1 order by id desc limit $2";

pub(super) fn statements() -> Vec<&'static str> {
    [&[INSERT, DELETE_OLD, GET, SET_UNDONE, LIST], rows::STATEMENTS].concat()
}
