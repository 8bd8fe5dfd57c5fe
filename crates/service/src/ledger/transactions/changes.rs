//! The change feed: every change of a person's transactions since a cursor, in the order of the commits. A client that
//! applies it to what it has (inserts or replaces added and updated rows, deletes removed ones) has what the list shows.

use base::{AccountId, Currency, Timestamp, TransactionId};
use db::params;
use wire::v1::{AccountPart, Scope, TransactionRow};

use super::row::TransactionState;
use super::{VisibleAccount, read};
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
    mut visit: impl FnMut(Change<'_>) + Send,
) -> Result<ChangesEnd> {
    caller.require(Scope::TransactionsRead)?;
    let limited_key = match &caller.credential {
        Credential::Key { id, accounts: Some(_), .. } => Some(*id),
        _ => None,
    };
    // A key that sees only some accounts has another feed than the others.
    let filter = format!("{limited_key:?}");
    let scope = CursorScope { user: caller.user, list: "transaction changes", filter: &filter };
    let read_person = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let person = app.db.first(PERSON, params![caller.user], read_person).await?;
    let (stamp, epoch) = person.ok_or(Error::NotFound("user"))?;
    let mut position = match page.cursor {
        Some(cursor) => {
            let opened = app.cursors.open_lasting(&scope, cursor)?;
            Position::read(&opened)?.of_epoch(epoch)?
        }
        None => Position::start(epoch, stamp),
    };
    let (mut read_count, mut has_more) = (0, false);
    let Position { base, quiet_until, stamp: after, id: after_id, .. } = position;
    let each = |row: &db::Row<'_>| {
        // One row more than asked for tells whether there is another page.
        if read_count == page.limit {
            has_more = true;
            return Ok(());
        }
        read_count += 1;
        (position.stamp, position.id) = (row.get(11)?, row.get(0)?);
        visit_change(row, base, &mut visit)
    };
    let limit = page.limit as i64 + 1;
    match limited_key {
        None => {
            let values = params![caller.user, after, after_id, quiet_until, limit];
            app.db.each(CHANGES, values, each).await?;
        }
        Some(key) => {
            let values = params![caller.user, after, after_id, quiet_until, limit, key];
            app.db.each(CHANGES_OF_KEY, values, each).await?;
        }
    }
    if !has_more {
        position = position.complete();
    }
    let next_cursor = app.cursors.seal(&scope, app.clock.now(), &app.entropy, &position.write())?;
    Ok(ChangesEnd { count: read_count, has_more, next_cursor })
}

fn visit_change(
    row: &db::Row<'_>,
    base: i64,
    visit: &mut impl FnMut(Change<'_>),
) -> db::Result<()> {
    let state: TransactionState = row.get(5)?;
    let hidden_at: Option<Timestamp> = row.get(15)?;
    let is_shown = matches!(state, TransactionState::Pending | TransactionState::Posted);
    if !is_shown || hidden_at.is_some() {
        visit(Change::Removed { id: row.get(0)?, removed_at_micros: row.get(11)? });
        return Ok(());
    }
    let (id, currency): (AccountId, Currency) = (row.get(1)?, row.get(14)?);
    let part = AccountPart::new(&id.to_string(), row.get(13)?);
    let account = VisibleAccount { id, part, currency, transaction_count: 0 };
    let shown = read(row, &account)?;
    let created_at: i64 = row.get(12)?;
    visit(if created_at > base { Change::Added(&shown) } else { Change::Updated(&shown) });
    Ok(())
}

/// A position in the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position {
    epoch: i64,
    /// The stamp up to which the client was last complete; 0 before it ever was.
    base: i64,
    /// Rows up to this stamp that are not shown are left out: the client begins with nothing, so it does not have them.
    quiet_until: i64,
    /// The last change that the client has.
    stamp: i64,
    id: TransactionId,
}

impl Position {
    /// The start of the feed, for a client that has nothing.
    fn start(epoch: i64, newest: i64) -> Position {
        let id = TransactionId::from_bytes([0; 16]);
        Position { epoch, base: 0, quiet_until: newest, stamp: 0, id }
    }

    /// The position of a client that has all changes: what is created from here on is added for it, and every removal
    /// matters to it. All stamps up to `quiet_until` are committed, and the rows that were left out stay behind it.
    fn complete(self) -> Position {
        // Rows with the stamp `quiet_until` itself were left out too.
        let (stamp, id) = match self.stamp <= self.quiet_until {
            true => (self.quiet_until, TransactionId::from_bytes([0xff; 16])),
            false => (self.stamp, self.id),
        };
        Position { base: stamp, quiet_until: 0, stamp, id, ..self }
    }

    fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(48);
        for number in [self.epoch, self.base, self.quiet_until, self.stamp] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(self.id.as_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Position> {
        let wrong = || Error::internal("a sealed cursor of the change feed has the wrong length");
        let bytes: &[u8; 48] = bytes.try_into().map_err(|_| wrong())?;
        let number = |at: usize| bytes[at..at + 8].try_into().map(i64::from_be_bytes);
        let id: [u8; 16] = bytes[32..].try_into().map_err(|_| wrong())?;
        Ok(Position {
            epoch: number(0).map_err(|_| wrong())?,
            base: number(8).map_err(|_| wrong())?,
            quiet_until: number(16).map_err(|_| wrong())?,
            stamp: number(24).map_err(|_| wrong())?,
            id: TransactionId::from_bytes(id),
        })
    }

    /// Refuses a cursor from before a restore, which may have brought back older rows.
    fn of_epoch(self, epoch: i64) -> Result<Position> {
        if self.epoch == epoch { Ok(self) } else { Err(cursors::refused()) }
    }
}

const PERSON: &str = "select transactions_stamp, transactions_epoch from users where id = $1";

/// The feed is one statement, so that rows, deletions and accounts are of one moment: a row must not be shown with the
/// name that its account had before. Both parts are short reads of an index.
macro_rules! all_changes {
    ($rows:literal, $removals:literal) => {
        concat!(
            "select c.id, c.account_id, c.amount_minor, c.posted_on, c.authorized_on, c.state, c.category,
            c.counterparty, c.counterparty_logo_url, c.description, c.transfer_id, c.stamp, c.created_at,
            coalesce(a.own_name, a.name), a.currency, a.hidden_at from (
            select * from (select t.id, t.account_id, t.amount_minor, t.posted_on, t.authorized_on, t.state,
                t.category, t.counterparty, t.counterparty_logo_url, t.description, t.transfer_id,
                t.updated_at as stamp, t.created_at from transactions t
                where t.user_id = $1 and (t.updated_at, t.id) > ($2, $3)
                and (t.updated_at > $4 or (t.state not in ('removed', 'hidden')
                    and not exists (select 1 from accounts h where h.user_id = t.user_id
                    and h.id = t.account_id and h.hidden_at is not null)))",
            $rows,
            " order by t.updated_at, t.id limit $5) changed
            union all
            select * from (select r.id, r.account_id, r.removed_at, r.removed_at, r.removed_at, 'removed',
                '', '', '', '', r.id, r.removed_at, r.removed_at from transaction_removals r
                where r.user_id = $1 and (r.removed_at, r.id) > ($2, $3) and r.removed_at > $4",
            $removals,
            " order by r.removed_at, r.id limit $5) deleted) c
            left join accounts a on a.user_id = $1 and a.id = c.account_id"
        )
    };
}

const CHANGES: &str = concat!(all_changes!("", ""), " order by c.stamp, c.id limit $5");
const CHANGES_OF_KEY: &str = concat!(
    all_changes!(
        " and exists (select 1 from api_key_accounts k where k.user_id = t.user_id and k.key_id = $6
        and k.account_id = t.account_id)",
        " and (exists (select 1 from api_key_accounts k where k.user_id = r.user_id and k.key_id = $6
        and k.account_id = r.account_id)
        or exists (select 1 from deleted_account_keys d where d.user_id = r.user_id and d.key_id = $6
        and d.account_id = r.account_id))"
    ),
    " order by c.stamp, c.id limit $5"
);

pub(super) const STATEMENTS: &[&str] = &[PERSON, CHANGES, CHANGES_OF_KEY];
