//! Taking a batch back: what it brought goes, what it changed is again as it was, and what came after it stays.

use std::collections::{BTreeMap, HashMap};

use base::draft::AccountKind;
use base::{AccountId, ImportId, SecurityId, Timestamp, TransactionId, UserId};
use db::{Tx, params};
use webhooks::outbox;
use wire::json::Moment;
use wire::v1::{Code, Event};

use super::journal::{Image, Place};
use crate::ledger::accounts;
use crate::platform::audit::{self, Note};
use crate::platform::dirty_queue;
use crate::{App, Caller, Error, Result};

/// What an undo did, in transactions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UndoSummary {
    pub removed: usize,
    pub restored: usize,
    pub accounts_removed: usize,
}

/// Takes a batch back, whatever came after it. A row that a later batch wrote keeps what that one said, and that one
/// can itself be taken back as if this had never been.
pub async fn undo(app: &App, caller: &Caller, import: ImportId) -> Result<UndoSummary> {
    caller.require_owner("import")?;
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| undo_in(tx, &mine, &caller, import)).await
}

fn undo_in(tx: &mut Tx<'_>, app: &App, caller: &Caller, import: ImportId) -> Result<UndoSummary> {
    let user = caller.user;
    tx.execute(super::LOCK, params![user, app.clock.now()])?;
    let now = app.clock.now();
    let name = find(tx, user, import)?;
    let later = later(tx, user, import)?;
    let (told, gone, unheld) = (BTreeMap::new(), Vec::new(), Vec::new());
    let mut undo =
        Undo { user, import, now, later, told, gone, unheld, done: UndoSummary::default() };
    undo.take_out(tx)?;
    undo.turn_back(tx)?;
    undo.tell(tx, app)?;
    undo.drop_new(tx)?;
    tx.execute(FORGET_JOURNAL, params![user, import])?;
    tx.execute(MARK_UNDONE, params![user, import, now])?;
    let what = name.unwrap_or_else(|| "what a connection brought".to_owned());
    let details = format!("Took an import back: {what}");
    audit::note(tx, user, now, Note::new(caller, "import.undo", details).about(import))?;
    dirty_queue::mark_all_dirty(tx, user, now)?;
    Ok(undo.done)
}

fn find(tx: &mut Tx<'_>, user: UserId, import: ImportId) -> Result<Option<String>> {
    let found = tx.first(FIND, params![user, import], |row| {
        Ok((row.get::<Option<String>>(0)?, row.get::<Option<Timestamp>>(1)?))
    })?;
    let (name, undone_at) = found.ok_or(Error::NotFound("import"))?;
    if undone_at.is_some() {
        let message = "this import was taken back already".to_owned();
        return Err(Error::Conflict { code: Code::Conflict, message });
    }
    Ok(name)
}

/// For each row that was written after this batch, the first batch that did.
fn later(tx: &mut Tx<'_>, user: UserId, import: ImportId) -> Result<HashMap<Place, ImportId>> {
    let mut later = HashMap::new();
    tx.each(LATER, params![user, import], |row| {
        if let Some(place) = Place::parse(row.get(0)?, row.get(1)?) {
            later.entry(place).or_insert(row.get(2)?);
        }
        Ok(())
    })?;
    Ok(later)
}

/// What is told of an account.
#[derive(Default)]
struct Told {
    removed: Vec<TransactionId>,
    restored: Vec<TransactionId>,
    balance: bool,
    holdings: bool,
}

struct Undo {
    user: UserId,
    import: ImportId,
    now: Timestamp,
    later: HashMap<Place, ImportId>,
    told: BTreeMap<AccountId, Told>,
    /// Accounts that were not there before, and nobody else has written to.
    gone: Vec<AccountId>,
    /// And securities.
    unheld: Vec<SecurityId>,
    done: UndoSummary,
}

impl Undo {
    /// The transactions that the batch brought. One that a later batch has changed is now that one's.
    fn take_out(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let brought = tx.all(BROUGHT, params![self.user, self.import], |row| {
            Ok((row.get::<TransactionId>(0)?, row.get::<AccountId>(1)?))
        })?;
        for (id, account) in brought {
            let place = Place::Transaction(id);
            let told = self.told.entry(account).or_default();
            match self.later.get(&place) {
                Some(heir) => {
                    tx.execute(GIVE, params![self.user, id, *heir])?;
                    tx.execute(FORGET_ROW, &row_of(self.user, *heir, place).params())?;
                }
                None => told.removed.push(id),
            }
        }
        self.done.removed = tx.execute(TAKE_OUT, params![self.user, self.import])? as usize;
        Ok(())
    }

    fn turn_back(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let kept = tx.all(JOURNAL, params![self.user, self.import], |row| {
            let place = Place::parse(row.get(0)?, row.get(1)?);
            Ok((place, row.get::<Option<String>>(2)?))
        })?;
        for (place, before) in kept {
            let Some(place) = place else { return Err(Error::internal("an unknown kept row")) };
            match self.later.get(&place) {
                Some(heir) => {
                    let row = row_of(self.user, *heir, place);
                    let mut values = row.params();
                    values.push((&before).into());
                    tx.execute(INHERIT, &values)?;
                }
                None => self.put_back(tx, place, before.as_deref())?,
            }
        }
        Ok(())
    }

    fn put_back(&mut self, tx: &mut Tx<'_>, place: Place, before: Option<&str>) -> Result<()> {
        let table = place.table();
        match (place, before) {
            (Place::Account(id), None) => self.gone.push(id),
            (Place::Security(id), None) => self.unheld.push(id),
            (_, None) => {
                tx.execute(table.drop, &place.params(self.user))?;
            }
            (_, Some(before)) => {
                if let Place::Transaction(_) = place {
                    // Its day is part of its key.
                    tx.execute(table.drop, &place.params(self.user))?;
                }
                let image = Image::read(before, table.types)?;
                tx.execute(table.put, &image.params(self.user))?;
            }
        }
        match place {
            Place::Transaction(id) => {
                tx.execute(STAMP, params![self.user, id, self.now])?;
                let of = tx.first(ACCOUNT_OF, params![self.user, id], |row| row.get(0))?;
                let of: AccountId = of.ok_or_else(|| Error::internal("a restored row is gone"))?;
                self.told.entry(of).or_default().restored.push(id);
                self.done.restored += 1;
            }
            Place::Balance(id, _) => self.told.entry(id).or_default().balance = true,
            Place::Holding(id, _) => self.told.entry(id).or_default().holdings = true,
            Place::Account(id) => self.told.entry(id).or_default().balance = true,
            Place::Security(_) => {}
        }
        Ok(())
    }

    /// Before the accounts go, so that whoever may know of them is told.
    fn tell(&self, tx: &mut Tx<'_>, app: &App) -> Result<()> {
        let mut events = Vec::new();
        for (account, told) in &self.told {
            let account_id = account.to_string();
            for (ids, removed) in [(&told.removed, true), (&told.restored, false)] {
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
            let stays = !self.gone.contains(account);
            if told.balance && stays {
                events.push(Event::BalanceUpdated { account_id: account_id.clone(), as_of });
            }
            if told.holdings && stays {
                events.push(Event::InvestmentsUpdated { account_id, as_of });
            }
            accounts::recount(tx, self.user, *account)?;
        }
        for account in &self.gone {
            events.extend(disconnected(tx, self.user, *account)?);
        }
        Ok(outbox::append(&app.webhooks, tx, self.user, &events)?)
    }

    /// Accounts with all that is in them, then the securities that nothing is held of any more.
    fn drop_new(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let accounts = self.gone.iter().map(|it| Place::Account(*it));
        for place in accounts.chain(self.unheld.iter().map(|it| Place::Security(*it))) {
            tx.execute(place.table().drop, &place.params(self.user))?;
        }
        self.done.accounts_removed = self.gone.len();
        Ok(())
    }
}

/// That an account is no longer kept up.
pub(crate) fn disconnected(
    tx: &mut Tx<'_>,
    user: UserId,
    account: AccountId,
) -> Result<Option<Event>> {
    Ok(tx.first(ACCOUNT, params![user, account], |row| {
        let kind = AccountKind::parse(row.get(0)?).unwrap_or(AccountKind::Other);
        Ok(Event::AccountDisconnected {
            account_id: account.to_string(),
            institution_name: row.get(1)?,
            r#type: kind.as_str(),
        })
    })?)
}

/// Where a batch keeps what a row was.
struct RowOf {
    user: UserId,
    import: ImportId,
    what: &'static str,
    key: String,
}

fn row_of(user: UserId, import: ImportId, place: Place) -> RowOf {
    RowOf { user, import, what: place.table().name, key: place.key() }
}

impl RowOf {
    fn params(&self) -> Vec<db::Param<'_>> {
        vec![self.user.into(), self.import.into(), self.what.into(), (&self.key).into()]
    }
}

const FIND: &str = "select name, undone_at from imports where user_id = $1 and id = $2";
const LATER: &str = "select what, row_key, import_id from import_journal
    where user_id = $1 and import_id > $2 order by import_id";
const BROUGHT: &str =
    "select id, account_id from transactions where user_id = $1 and import_id = $2 order by id";
const GIVE: &str = "update transactions set import_id = $3 where user_id = $1 and id = $2";
const TAKE_OUT: &str = "delete from transactions where user_id = $1 and import_id = $2";
const JOURNAL: &str =
    "select what, row_key, before from import_journal where user_id = $1 and import_id = $2";
const INHERIT: &str = "update import_journal set before = $5
    where user_id = $1 and import_id = $2 and what = $3 and row_key = $4";
const FORGET_ROW: &str = "delete from import_journal
    where user_id = $1 and import_id = $2 and what = $3 and row_key = $4";
const FORGET_JOURNAL: &str = "delete from import_journal where user_id = $1 and import_id = $2";
const MARK_UNDONE: &str = "update imports set undone_at = $3 where user_id = $1 and id = $2";
const STAMP: &str = "update transactions set updated_at = $3 where user_id = $1 and id = $2";
const ACCOUNT_OF: &str = "select account_id from transactions where user_id = $1 and id = $2";
const ACCOUNT: &str = "select kind, institution_name from accounts where user_id = $1 and id = $2";

pub(super) const STATEMENTS: &[&str] = &[
    FIND,
    LATER,
    BROUGHT,
    GIVE,
    TAKE_OUT,
    JOURNAL,
    INHERIT,
    FORGET_ROW,
    FORGET_JOURNAL,
    MARK_UNDONE,
    STAMP,
    ACCOUNT_OF,
    ACCOUNT,
];
