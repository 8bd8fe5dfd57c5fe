//! Undoes an import: deletes the rows that it added and restores the rows that it changed. Later imports stay.

use std::collections::{BTreeMap, HashMap};

use base::draft::AccountKind;
use base::{AccountId, ImportId, SecurityId, Timestamp, TransactionId, UserId};
use db::{Tx, params};
use webhooks::outbox;
use wire::json::Moment;
use wire::v1::{Code, Event};

use super::batch::lock_user;
use super::journal::{RowImage, RowKey};
use super::trades;
use crate::ledger::{accounts, stamps};
use crate::platform::audit::{self, Note};
use crate::platform::dirty_queue;
use crate::{App, Caller, Error, Result};

/// How long an import can be undone. Its journal is deleted afterwards.
pub const UNDO_DAYS: i64 = 90;

/// Whether an import of that time can still be undone.
pub(super) fn is_in_time(imported_at: Timestamp, now: Timestamp) -> bool {
    let age = now.as_microsecond() - imported_at.as_microsecond();
    age <= UNDO_DAYS * 86_400_000_000
}

/// How many rows an undo deleted and restored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UndoSummary {
    /// Transactions that were deleted, and those that were restored.
    pub removed: usize,
    pub restored: usize,
    pub accounts_removed: usize,
}

/// Undoes an import, whatever came after it. A row that a later import changed keeps that import's values, and undoing
/// the later import afterwards restores the row as it was before this one.
pub async fn undo(app: &App, caller: &Caller, import: ImportId) -> Result<UndoSummary> {
    caller.require_owner("import")?;
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| undo_in(tx, &mine, &caller, import)).await
}

fn undo_in(tx: &mut Tx<'_>, app: &App, caller: &Caller, import: ImportId) -> Result<UndoSummary> {
    let user = caller.user;
    tx.allow_long_statements()?;
    lock_user(tx, user, app.clock.now())?;
    let now = app.clock.now();
    let stamp = stamps::next(tx, user, now)?;
    let name = find_name(tx, user, import, now)?;
    let later = later_imports(tx, user, import)?;
    let mut undo = Undo {
        user,
        import,
        now,
        stamp,
        later,
        changes: BTreeMap::new(),
        new_accounts: Vec::new(),
        new_securities: Vec::new(),
        done: UndoSummary::default(),
    };
    undo.delete_transactions(tx)?;
    undo.restore_rows(tx)?;
    trades::delete(tx, user, import)?;
    undo.append_events(tx, app)?;
    undo.delete_accounts(tx)?;
    for account in undo.changes.keys() {
        forget_links(tx, user, *account)?;
    }
    tx.execute(DELETE_JOURNAL, params![user, import])?;
    tx.execute(MARK_UNDONE, params![user, import, now])?;
    let name = name.unwrap_or_else(|| "a sync of a connection".to_owned());
    let details = format!("Undid the import of {name}");
    audit::note(tx, user, now, Note::new(caller, "import.undo", details).about(import))?;
    dirty_queue::mark_all_dirty(tx, user)?;
    Ok(undo.done)
}

/// The name of an import that can be undone.
fn find_name(
    tx: &mut Tx<'_>,
    user: UserId,
    import: ImportId,
    now: Timestamp,
) -> Result<Option<String>> {
    let found = tx.first(FIND, params![user, import], |row| {
        let (name, imported_at) = (row.get::<Option<String>>(0)?, row.get::<Timestamp>(2)?);
        Ok((name, row.get::<Option<Timestamp>>(1)?, imported_at))
    })?;
    let (name, undone_at, imported_at) = found.ok_or(Error::NotFound("import"))?;
    if undone_at.is_some() {
        let message = "This import was already undone.".to_owned();
        return Err(Error::Conflict { code: Code::Conflict, message });
    }
    if !is_in_time(imported_at, now) {
        let message =
            format!("An import can be undone for {UNDO_DAYS} days, and this one is older.");
        return Err(Error::Conflict { code: Code::Conflict, message });
    }
    Ok(name)
}

/// For each row that was written after this import, the first later import that wrote it.
fn later_imports(
    tx: &mut Tx<'_>,
    user: UserId,
    import: ImportId,
) -> Result<HashMap<RowKey, ImportId>> {
    let mut later = HashMap::new();
    tx.each(LATER, params![user, import], |row| {
        if let Some(key) = RowKey::parse(row.get(0)?, row.get(1)?) {
            later.entry(key).or_insert(row.get(2)?);
        }
        Ok(())
    })?;
    Ok(later)
}

/// The changes of an account that events report.
#[derive(Default)]
struct AccountChanges {
    removed: Vec<TransactionId>,
    restored: Vec<TransactionId>,
    balance: bool,
    holdings: bool,
}

struct Undo {
    user: UserId,
    import: ImportId,
    now: Timestamp,
    /// The stamp of the transactions that it restores and deletes.
    stamp: Timestamp,
    later: HashMap<RowKey, ImportId>,
    changes: BTreeMap<AccountId, AccountChanges>,
    /// Accounts that the import created, and no later import has changed.
    new_accounts: Vec<AccountId>,
    /// Securities that the import created, and no later import has changed.
    new_securities: Vec<SecurityId>,
    done: UndoSummary,
}

impl Undo {
    /// Deletes the transactions that the import added. One that a later import has changed now belongs to that one.
    fn delete_transactions(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let added = tx.all(ADDED, params![self.user, self.import], |row| {
            Ok((row.get::<TransactionId>(0)?, row.get::<AccountId>(1)?))
        })?;
        for (id, account) in added {
            let key = RowKey::Transaction(id);
            let changes = self.changes.entry(account).or_default();
            match self.later.get(&key) {
                Some(later) => {
                    tx.execute(REASSIGN, params![self.user, id, *later])?;
                    tx.execute(DELETE_ENTRY, &entry(self.user, *later, key).params())?;
                }
                None => changes.removed.push(id),
            }
        }
        stamps::record_removal_of_import(tx, self.user, self.import, self.stamp)?;
        self.done.removed =
            tx.execute(DELETE_TRANSACTIONS, params![self.user, self.import])? as usize;
        Ok(())
    }

    /// Restores the rows that the import changed. For a row that a later import changed, that import's journal gets the
    /// older values instead.
    fn restore_rows(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let entries = tx.all(JOURNAL, params![self.user, self.import], |row| {
            let key = RowKey::parse(row.get(0)?, row.get(1)?);
            Ok((key, row.get::<Option<String>>(2)?))
        })?;
        for (key, before) in entries {
            let unknown = || Error::internal("the import journal has an entry of an unknown kind");
            let key = key.ok_or_else(unknown)?;
            match self.later.get(&key) {
                Some(later) => {
                    let entry = entry(self.user, *later, key);
                    let mut values = entry.params();
                    values.push((&before).into());
                    tx.execute(INHERIT, &values)?;
                }
                None => self.restore(tx, key, before.as_deref())?,
            }
        }
        Ok(())
    }

    fn restore(&mut self, tx: &mut Tx<'_>, key: RowKey, before: Option<&str>) -> Result<()> {
        let table = key.table();
        match (key, before) {
            (RowKey::Account(id), None) => self.new_accounts.push(id),
            (RowKey::Security(id), None) => self.new_securities.push(id),
            (_, None) => {
                tx.execute(table.delete, &key.params(self.user))?;
            }
            (_, Some(before)) => {
                let image = RowImage::read(before, table.types)?;
                let name = self.shown_name(tx, key)?;
                tx.execute(table.restore, &image.params(self.user))?;
                if let RowKey::Account(id) = key
                    && self.shown_name(tx, key)? != name
                {
                    stamps::mark_account(tx, self.user, id, self.stamp)?;
                }
            }
        }
        match key {
            RowKey::Transaction(id) => {
                tx.execute(STAMP, params![self.user, id, self.stamp])?;
                let account = tx.first(ACCOUNT_OF, params![self.user, id], |row| row.get(0))?;
                let missing =
                    || Error::internal("a transaction is missing right after it was restored");
                let of: AccountId = account.ok_or_else(missing)?;
                self.changes.entry(of).or_default().restored.push(id);
                self.done.restored += 1;
            }
            RowKey::Balance(id, _) => self.changes.entry(id).or_default().balance = true,
            RowKey::Holding(id, _) => self.changes.entry(id).or_default().holdings = true,
            RowKey::Account(id) => self.changes.entry(id).or_default().balance = true,
            RowKey::Security(_) => {}
        }
        Ok(())
    }

    /// The name of an account that its transactions show.
    fn shown_name(&self, tx: &mut Tx<'_>, key: RowKey) -> Result<Option<String>> {
        let RowKey::Account(id) = key else { return Ok(None) };
        Ok(tx.first(NAME, params![self.user, id], |row| row.get(0))?)
    }

    /// Appends events before the accounts are deleted, so that every receiver that may see them gets the events.
    fn append_events(&self, tx: &mut Tx<'_>, app: &App) -> Result<()> {
        let mut events = Vec::new();
        for (account, changes) in &self.changes {
            let account_id = account.to_string();
            for (ids, removed) in [(&changes.removed, true), (&changes.restored, false)] {
                for chunk in ids.chunks(Event::IDS_MAX) {
                    let transaction_ids: Vec<String> =
                        chunk.iter().map(ToString::to_string).collect();
                    let (account_id, count) = (account_id.clone(), chunk.len());
                    events.push(Event::TransactionsUpdated {
                        account_id,
                        transaction_ids,
                        count,
                        removed,
                    });
                }
            }
            let as_of = Moment(self.now);
            let stays = !self.new_accounts.contains(account);
            if changes.balance && stays {
                events.push(Event::BalanceUpdated { account_id: account_id.clone(), as_of });
            }
            if changes.holdings && stays {
                events.push(Event::InvestmentsUpdated { account_id, as_of });
            }
            accounts::recount(tx, self.user, *account)?;
        }
        for account in &self.new_accounts {
            events.extend(disconnected_event(tx, self.user, *account)?);
        }
        Ok(outbox::append(&app.webhooks, tx, self.user, &events)?)
    }

    /// Deletes the accounts that the import created, then its securities that no account holds.
    fn delete_accounts(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let accounts = self.new_accounts.iter().map(|it| RowKey::Account(*it));
        let securities = self.new_securities.iter().map(|it| RowKey::Security(*it));
        for account in &self.new_accounts {
            stamps::record_removal_of_account(tx, self.user, *account, self.stamp)?;
        }
        for key in accounts.chain(securities) {
            tx.execute(key.table().delete, &key.params(self.user))?;
        }
        self.done.accounts_removed = self.new_accounts.len();
        Ok(())
    }
}

/// Forgets which account the files belong to that name this account in several ways: they may be of several accounts,
/// and the next file asks.
pub(crate) fn forget_links(tx: &mut Tx<'_>, user: UserId, account: AccountId) -> Result<()> {
    tx.execute(FORGET_LINKS, params![user, account])?;
    Ok(())
}

/// The event that an account is no longer synced.
pub(crate) fn disconnected_event(
    tx: &mut Tx<'_>,
    user: UserId,
    account: AccountId,
) -> Result<Option<Event>> {
    Ok(tx.first(ACCOUNT, params![user, account], |row| {
        let kind: AccountKind = row.get(0)?;
        Ok(Event::AccountDisconnected {
            account_id: account.to_string(),
            institution_name: row.get(1)?,
            r#type: kind.as_str(),
        })
    })?)
}

/// The key of an entry in the journal of an import.
struct JournalEntry {
    user: UserId,
    import: ImportId,
    table: &'static str,
    key: String,
}

fn entry(user: UserId, import: ImportId, key: RowKey) -> JournalEntry {
    JournalEntry { user, import, table: key.table().name, key: key.key() }
}

impl JournalEntry {
    fn params(&self) -> Vec<db::Param<'_>> {
        vec![self.user.into(), self.import.into(), self.table.into(), (&self.key).into()]
    }
}

const FIND: &str =
    "select name, undone_at, imported_at from imports where user_id = $1 and id = $2";
const LATER: &str = "select what, row_key, import_id from import_journal
    where user_id = $1 and import_id > $2 order by import_id";
const ADDED: &str =
    "select id, account_id from transactions where user_id = $1 and import_id = $2 order by id";
const REASSIGN: &str = "update transactions set import_id = $3 where user_id = $1 and id = $2";
const DELETE_TRANSACTIONS: &str = "delete from transactions where user_id = $1 and import_id = $2";
const JOURNAL: &str =
    "select what, row_key, before from import_journal where user_id = $1 and import_id = $2";
const INHERIT: &str = "update import_journal set before = $5
    where user_id = $1 and import_id = $2 and what = $3 and row_key = $4";
const DELETE_ENTRY: &str = "delete from import_journal
    where user_id = $1 and import_id = $2 and what = $3 and row_key = $4";
const DELETE_JOURNAL: &str = "delete from import_journal where user_id = $1 and import_id = $2";
const MARK_UNDONE: &str = "update imports set undone_at = $3 where user_id = $1 and id = $2";
const STAMP: &str = "update transactions set updated_at = $3 where user_id = $1 and id = $2";
const ACCOUNT_OF: &str = "select account_id from transactions where user_id = $1 and id = $2";
const NAME: &str = "select coalesce(own_name, name) from accounts where user_id = $1 and id = $2";
const FORGET_LINKS: &str = "delete from account_links
    where user_id = $1 and account_id = $2 and giver = 'file' and (select count(*) from account_links
        where user_id = $1 and account_id = $2 and giver = 'file') > 1";
const ACCOUNT: &str = "select kind, institution_name from accounts where user_id = $1 and id = $2";

pub(super) const STATEMENTS: &[&str] = &[
    FIND,
    LATER,
    ADDED,
    REASSIGN,
    DELETE_TRANSACTIONS,
    JOURNAL,
    INHERIT,
    DELETE_ENTRY,
    DELETE_JOURNAL,
    MARK_UNDONE,
    STAMP,
    ACCOUNT_OF,
    NAME,
    FORGET_LINKS,
    ACCOUNT,
];
