//! The change feed: every change of a person's transactions since a cursor, in the order of the commits. A client that
//! applies it to what it has (inserts or replaces added and updated rows, deletes removed ones) has what the list shows.
//!
//! A client that begins with nothing first gets the list in its own order, which is the quickest way to read it, and then
//! the changes since it began; a row that changes meanwhile comes again with them.
//!
//! A page tells of changes up to one stamp, the newest when the page begins. What is stamped up to there is committed, so
//! the statements of a page need no common snapshot of the database. A row that changes while the page is read takes a
//! later stamp, and the page may miss it; then the page says that there is more.

mod position;

use std::sync::Arc;

use base::{KeyId, TransactionId, UserId};
use db::{Param, params};
use wire::v1::{Scope, TransactionRow};

use self::position::{FeedPosition, LAST_ID};
use super::page::PageReader;
use super::query::{PreparedFilter, list_columns};
use super::row::TransactionState;
use super::visible_accounts::{ListedAccount, PersonAccounts, VisibleAccounts};
use super::{Filter, read};
use crate::platform::cursors::{self, CursorScope};
use crate::{App, Caller, Credential, Error, Result};

/// One change of the feed.
pub enum Change<'a> {
    /// The client has not seen it before.
    Added(&'a TransactionRow<'a>),
    Updated(&'a TransactionRow<'a>),
    /// It was deleted, removed by its source, or hidden by a rule or with its account.
    Removed {
        id: TransactionId,
        removed_at_micros: i64,
    },
}

/// The end of a page of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesEnd {
    pub count: usize,
    pub has_more: bool,
    /// Where to go on: now if there is more, otherwise any time later.
    pub next_cursor: String,
}

/// Calls `visit` with each change of a page, oldest first. Without a cursor the feed begins with nothing, so that its
/// whole is the list.
pub async fn changes(
    app: &App,
    caller: &Caller,
    page: cursors::Page<'_>,
    visit: impl FnMut(Change<'_>) + Send,
) -> Result<ChangesEnd> {
    caller.require(Scope::TransactionsRead)?;
    let limited_key = match &caller.credential {
        Credential::Key { id, accounts: Some(_), .. } => Some(*id),
        _ => None,
    };
    // A key that sees only some accounts has another feed than the others.
    let filter = format!("{limited_key:?}");
    let scope = CursorScope { user: caller.user, list: "transaction changes", filter: &filter };
    let opened = page.cursor.map(|it| app.cursors.open_lasting(&scope, it)).transpose()?;
    let ledger = Ledger::load(app, caller).await?;
    let position = match opened {
        Some(bytes) => FeedPosition::read(&bytes, ledger.epoch)?,
        None => FeedPosition::start(ledger.newest),
    };
    let mut reader = FeedReader { ledger: &ledger, limit: page.limit, count: 0, visit };
    let (position, has_more) = reader.read_page(app, caller, limited_key, position).await?;
    let position = position.write(ledger.epoch);
    let next_cursor = app.cursors.seal(&scope, app.clock.now(), &app.entropy, &position)?;
    Ok(ChangesEnd { count: reader.count, has_more, next_cursor })
}

/// What a page of the feed needs of the person, read in one statement.
struct Ledger {
    accounts: VisibleAccounts,
    /// The newest stamp: the page tells of changes up to it.
    newest: i64,
    epoch: i64,
    newest_removal: Option<i64>,
}

impl Ledger {
    async fn load(app: &App, caller: &Caller) -> Result<Ledger> {
        let mut accounts = Vec::new();
        let mut person = None;
        let add = |row: &db::Row<'_>| {
            person = Some((row.get(5)?, row.get(6)?, row.get(7)?));
            accounts.extend(ListedAccount::read(row)?);
            Ok(())
        };
        app.db.each(PERSON, params![caller.user], add).await?;
        let (newest, epoch, newest_removal) = person.ok_or(Error::NotFound("user"))?;
        let of_person = Arc::new(PersonAccounts::new(newest, accounts));
        let accounts = VisibleAccounts::select(of_person, caller, |_, is_hidden| !is_hidden);
        Ok(Ledger { accounts, newest, epoch, newest_removal })
    }
}

/// A row of `transaction_removals`, by its place in the feed.
type Removal = (i64, TransactionId);

struct FeedReader<'a, V> {
    ledger: &'a Ledger,
    limit: usize,
    /// Changes visited so far.
    count: usize,
    visit: V,
}

impl<V: FnMut(Change<'_>) + Send> FeedReader<'_, V> {
    /// Reads a page from a position, and returns the position after it and whether there is more.
    async fn read_page(
        &mut self,
        app: &App,
        caller: &Caller,
        limited_key: Option<KeyId>,
        position: FeedPosition,
    ) -> Result<(FeedPosition, bool)> {
        let newest = self.ledger.newest;
        let (base, after, may_miss_moved_rows) = match position {
            FeedPosition::List { until, after: last } => {
                if let Some(after) = self.read_list(app, caller, last).await? {
                    return Ok((FeedPosition::List { until, after }, true));
                }
                // Between two pages of the list a row can move to a day that was read before.
                (0, (until, LAST_ID), position != FeedPosition::start(until))
            }
            FeedPosition::Changes { base, after } => (base, after, false),
        };
        if (newest, LAST_ID) <= after && !may_miss_moved_rows {
            return Ok((FeedPosition::complete(after.0), false));
        }
        if self.count == self.limit {
            return Ok((FeedPosition::Changes { base, after }, true));
        }
        match self.read_changes(app, caller.user, limited_key, (base, after)).await? {
            Some(after) => Ok((FeedPosition::Changes { base, after }, true)),
            None => Ok((FeedPosition::complete(newest), false)),
        }
    }

    /// Reads a page of the list, and returns the last row if there are more.
    async fn read_list(
        &mut self,
        app: &App,
        caller: &Caller,
        after: (i64, TransactionId),
    ) -> Result<Option<(i64, TransactionId)>> {
        let accounts = &self.ledger.accounts;
        let filter = Filter::default();
        let filter = PreparedFilter::new(&filter, accounts.narrowed);
        let visit = |row: &TransactionRow<'_>| (self.visit)(Change::Added(row));
        let mut reader = PageReader::new(accounts, self.limit, visit);
        reader.read(app, caller, &filter, Some(after)).await?;
        self.count = reader.count;
        Ok(reader.last.filter(|_| reader.more))
    }

    /// Reads changes by their stamps. Returns the last one if there are more.
    async fn read_changes(
        &mut self,
        app: &App,
        user: UserId,
        limited_key: Option<KeyId>,
        (base, after): (i64, (i64, TransactionId)),
    ) -> Result<Option<(i64, TransactionId)>> {
        // One more than asked for tells whether there is another page.
        let limit = (self.limit - self.count) as i64 + 1;
        let newest = self.ledger.newest;
        let mut values = vec![user.into(), after.0.into(), after.1.into(), limit.into()];
        values.extend(limited_key.map(Param::from));
        let (changed, removed) = match limited_key {
            None => (CHANGED, REMOVED),
            Some(_) => (CHANGED_OF_KEY, REMOVED_OF_KEY),
        };
        let mut removals: Vec<Removal> = match self.ledger.newest_removal >= Some(after.0) {
            true => app.db.all(removed, &values, |row| Ok((row.get(0)?, row.get(1)?))).await?,
            false => Vec::new(),
        };
        removals.retain(|it| it.0 <= newest);
        let mut removals = removals.into_iter().peekable();
        let (mut last, mut more, mut changed_meanwhile) = (after, false, false);
        let each = |row: &db::Row<'_>| {
            let place: (i64, TransactionId) = (row.get(11)?, row.get(0)?);
            if place.0 > newest {
                changed_meanwhile = true;
                return Ok(());
            }
            while let Some(removal) = removals.next_if(|it| *it < place) {
                more |= !self.remove(removal, &mut last);
            }
            if self.count == self.limit {
                more = true;
                return Ok(());
            }
            self.count += 1;
            last = place;
            self.visit_row(row, base)
        };
        app.db.each(changed, &values, each).await?;
        for removal in removals {
            more |= !self.remove(removal, &mut last);
        }
        if changed_meanwhile && !more {
            return Ok(Some((newest, LAST_ID)));
        }
        Ok(more.then_some(last))
    }

    /// Tells of a removal, unless the page is full. Returns whether it did.
    fn remove(&mut self, removal: Removal, last: &mut (i64, TransactionId)) -> bool {
        if self.count == self.limit {
            return false;
        }
        self.count += 1;
        *last = removal;
        (self.visit)(Change::Removed { id: removal.1, removed_at_micros: removal.0 });
        true
    }

    fn visit_row(&mut self, row: &db::Row<'_>, base: i64) -> db::Result<()> {
        let state: TransactionState = row.get(5)?;
        let is_shown = matches!(state, TransactionState::Pending | TransactionState::Posted);
        // The accounts that are not among these are hidden: `CHANGED_OF_KEY` leaves out what a key does not see.
        match self.ledger.accounts.find(row.get(1)?).filter(|_| is_shown) {
            Some(account) => {
                let shown = read(row, account)?;
                let created_at: i64 = row.get(16)?;
                let is_new = created_at > base;
                (self.visit)(if is_new { Change::Added(&shown) } else { Change::Updated(&shown) });
            }
            None => {
                let (id, removed_at_micros) = (row.get(0)?, row.get(11)?);
                (self.visit)(Change::Removed { id, removed_at_micros });
            }
        }
        Ok(())
    }
}

/// The columns of `ACCOUNTS`, and the stamps; one row without an account for a person who has none.
const PERSON: &str =
    "select a.id, coalesce(a.own_name, a.name), a.hidden_at, a.transaction_count, a.currency,
    p.transactions_stamp, p.transactions_epoch,
    (select max(r.removed_at) from transaction_removals r where r.user_id = $1)
    from person_states p left join accounts a on a.user_id = p.user_id where p.user_id = $1";

macro_rules! changed {
    ($of_key:literal) => {
        concat!(
            list_columns!(", created_at"),
            " and (updated_at, id) > ($2, $3)",
            $of_key,
            " order by updated_at, id limit $4"
        )
    };
}
const CHANGED: &str = changed!("");
const CHANGED_OF_KEY: &str = changed!(
    " and exists (select 1 from api_key_accounts k where k.user_id = $1 and k.key_id = $5
    and k.account_id = t.account_id)"
);

macro_rules! removed {
    ($of_key:literal) => {
        concat!(
            "select removed_at, id from transaction_removals r where user_id = $1
    and (removed_at, id) > ($2, $3)",
            $of_key,
            " order by removed_at, id limit $4"
        )
    };
}
const REMOVED: &str = removed!("");
const REMOVED_OF_KEY: &str = removed!(
    " and (exists (select 1 from api_key_accounts k where k.user_id = $1 and k.key_id = $5
    and k.account_id = r.account_id)
    or exists (select 1 from deleted_account_keys d where d.user_id = $1 and d.key_id = $5
    and d.account_id = r.account_id))"
);

pub(super) const STATEMENTS: &[&str] = &[PERSON, CHANGED, CHANGED_OF_KEY, REMOVED, REMOVED_OF_KEY];
