//! Moves the transactions of some imports into another account, where files of two accounts went into one.

use base::{AccountId, Currency, Date, ImportId, Timestamp, TransactionId, UserId};
use db::{Tx, params};
use webhooks::outbox;
use wire::v1::Event;

use crate::ingest::imports;
use crate::ingest::manual::{self, NewAccount};
use crate::ledger::{accounts, stamps};
use crate::platform::audit::{self, Note};
use crate::platform::{dirty_queue, person_lock};
use crate::{App, Caller, Error, Result};

/// How many imports of an account are offered, the newest first.
const IMPORTS_MAX: i64 = 200;

/// An import whose transactions are in an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountImport {
    pub id: ImportId,
    /// The file's name, if it came from a file.
    pub name: Option<String>,
    pub imported_at: Timestamp,
    pub transactions: i64,
    pub first_on: Date,
    pub last_on: Date,
}

/// The account that receives the transactions.
#[derive(Debug, Clone)]
pub enum Destination {
    /// A new account of the same kind and currency, with this name.
    New(String),
    Existing(AccountId),
}

/// The receiving account, and how many transactions it received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedTransactions {
    pub into: AccountId,
    pub count: usize,
}

/// The imports whose transactions are in an account, newest first.
pub async fn list_imports(
    app: &App,
    caller: &Caller,
    account: AccountId,
) -> Result<Vec<AccountImport>> {
    caller.require_owner("account")?;
    let values = params![caller.user, account, IMPORTS_MAX];
    let read = |row: &db::Row<'_>| {
        Ok(AccountImport {
            id: row.get(0)?,
            name: row.get(1)?,
            imported_at: row.get(2)?,
            transactions: row.get(3)?,
            first_on: row.get(4)?,
            last_on: row.get(5)?,
        })
    };
    Ok(app.db.all(IMPORTS, values, read).await?)
}

/// Moves the transactions of these imports out of an account. Balances that files reported stay where they are, because it
/// is not known which file each came from.
pub async fn move_imports(
    app: &App,
    caller: &Caller,
    from: AccountId,
    imports: Vec<ImportId>,
    destination: Destination,
) -> Result<MovedTransactions> {
    caller.require_owner("account")?;
    if imports.is_empty() {
        return Err(Error::invalid("import", "choose at least one import"));
    }
    let account = accounts::get(app, caller, from).await?;
    let (mine, caller) = (app.clone(), caller.clone());
    let write = move |tx: &mut Tx<'_>| {
        tx.allow_long_statements()?;
        if !person_lock::lock(tx, caller.user)? {
            return Err(Error::NotFound("user"));
        }
        let into = match &destination {
            Destination::Existing(id) => check_destination(tx, &caller, &account, *id)?,
            Destination::New(name) => {
                let (kind, currency) = (account.kind, account.currency);
                let new = NewAccount { name: name.clone(), kind, currency, balance_minor: None };
                manual::create_account_in(tx, &mine, &caller, &new)?
            }
        };
        let moving = Moving { user: caller.user, from, into };
        let moved = moving.move_all(tx, mine.clock.now(), &imports)?;
        if moved.is_empty() {
            return Err(Error::invalid(
                "import",
                "these imports have no transactions in this account",
            ));
        }
        outbox::append(&mine.webhooks, tx, caller.user, &moving.events(&moved))?;
        let count = moved.len();
        let details =
            format!("Moved {count} transactions from {} to another account", account.name);
        let note = Note::new(&caller, "account.split", details).about(into);
        audit::note(tx, caller.user, mine.clock.now(), note)?;
        dirty_queue::mark_all_dirty(tx, caller.user)?;
        Ok(MovedTransactions { into, count })
    };
    app.db.write(write).await
}

/// An account of the same currency that no bank syncs.
fn check_destination(
    tx: &mut Tx<'_>,
    caller: &Caller,
    from: &accounts::Account,
    id: AccountId,
) -> Result<AccountId> {
    let found = tx.first(DESTINATION, params![caller.user, id], |row| row.get(0))?;
    let currency: Currency = found.ok_or(Error::NotFound("account"))?;
    if id == from.id || currency != from.currency {
        let message = "choose another account with the same currency";
        return Err(Error::invalid("into", message));
    }
    Ok(id)
}

struct Moving {
    user: UserId,
    from: AccountId,
    into: AccountId,
}

impl Moving {
    fn move_all(
        &self,
        tx: &mut Tx<'_>,
        now: Timestamp,
        imports: &[ImportId],
    ) -> Result<Vec<TransactionId>> {
        // The removal is stamped before the move: a key that sees only the old account gets the removal, and a key that
        // sees both accounts ends with the transaction in the new one.
        let removed_at = stamps::next(tx, self.user, now)?;
        let moved_at = stamps::next(tx, self.user, now)?;
        let mut moved = Vec::new();
        for import in imports {
            let rows = params![self.user, self.from, *import];
            moved.extend(tx.all(TRANSACTIONS, rows, |row| row.get::<TransactionId>(0))?);
            tx.execute(RECORD_REMOVALS, params![self.user, self.from, *import, removed_at])?;
            let values = params![self.user, self.from, *import, self.into, moved_at];
            tx.execute(MOVE_TRANSACTIONS, values)?;
            let values = params![self.user, self.from, *import, self.into];
            tx.execute(MOVE_TRADES, values)?;
            tx.execute(ADD_IMPORT_ACCOUNT, params![self.user, *import, self.into])?;
            tx.execute(REMOVE_IMPORT_ACCOUNT, params![self.user, *import, self.from])?;
        }
        // Files named the old account in several ways, and the next file asks which account it belongs to.
        imports::forget_links(tx, self.user, self.from)?;
        accounts::recount(tx, self.user, self.from)?;
        accounts::recount(tx, self.user, self.into)?;
        Ok(moved)
    }

    fn events(&self, moved: &[TransactionId]) -> Vec<Event> {
        let mut events = Vec::new();
        for (account, removed) in [(self.from, true), (self.into, false)] {
            for chunk in moved.chunks(Event::IDS_MAX) {
                events.push(Event::TransactionsUpdated {
                    account_id: account.to_string(),
                    transaction_ids: chunk.iter().map(ToString::to_string).collect(),
                    count: chunk.len(),
                    removed,
                });
            }
        }
        events
    }
}

const IMPORTS: &str =
    "select i.id, i.name, i.imported_at, t.count, t.first_on, t.last_on from imports i join
    (select import_id, cast(count(*) as bigint) as count, min(posted_on) as first_on, max(posted_on) as last_on
        from transactions where user_id = $1 and account_id = $2 and state <> 'removed' group by import_id) t
    on t.import_id = i.id where i.user_id = $1 and i.name is not null order by i.id desc limit $3";
const DESTINATION: &str = "select a.currency from accounts a
    join connections c on c.user_id = a.user_id and c.id = a.connection_id
    where a.user_id = $1 and a.id = $2 and c.source in ('manual', 'file')";
const TRANSACTIONS: &str = "select id from transactions
    where user_id = $1 and account_id = $2 and import_id = $3 and state <> 'removed' order by id";
const RECORD_REMOVALS: &str =
    "insert into transaction_removals (user_id, removed_at, id, account_id)
    select user_id, cast($4 as bigint), id, account_id from transactions
    where user_id = $1 and account_id = $2 and import_id = $3 and state <> 'removed'";
const MOVE_TRANSACTIONS: &str = "update transactions set account_id = $4, updated_at = $5
    where user_id = $1 and account_id = $2 and import_id = $3";
const MOVE_TRADES: &str = "update trades set account_id = $4
    where user_id = $1 and account_id = $2 and import_id = $3";
const ADD_IMPORT_ACCOUNT: &str = "insert into import_accounts (user_id, import_id, account_id)
    values ($1, $2, $3) on conflict (user_id, import_id, account_id) do nothing";
const REMOVE_IMPORT_ACCOUNT: &str = "delete from import_accounts
    where user_id = $1 and import_id = $2 and account_id = $3";

pub(crate) const STATEMENTS: &[&str] = &[
    IMPORTS,
    DESTINATION,
    TRANSACTIONS,
    RECORD_REMOVALS,
    MOVE_TRANSACTIONS,
    MOVE_TRADES,
    ADD_IMPORT_ACCOUNT,
    REMOVE_IMPORT_ACCOUNT,
];
