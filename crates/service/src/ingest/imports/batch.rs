//! The state of one import while it is written: its journal, its events, and what must be recomputed afterwards.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use base::draft::AccountKind;
use base::{
    AccountId, ConnectionId, Currency, ImportId, TimeZone, Timestamp, TransactionId, UserId,
};
use db::{Tx, params};
use wire::v1::Event;

use super::journal::{Journal, RowKey};
use super::request::{Progress, Summary};
use crate::classify::classifier::Classifier;
use crate::classify::cleaned_descriptions::CleanedDescriptions;
use crate::platform::dirty_queue::DirtyTransaction;
use crate::platform::person_lock;
use crate::{App, Error, Result};

pub(super) struct Batch {
    pub(super) app: App,
    pub(super) user: UserId,
    pub(super) connection: ConnectionId,
    pub(super) id: ImportId,
    pub(super) now: Timestamp,
    /// The person's time zone, which decides the date of a balance.
    pub(super) timezone: TimeZone,
    /// The stamp of the transactions that it writes.
    pub(super) stamp: Timestamp,
    pub(super) progress: Progress,
    pub(super) journal: Journal,
    /// Accounts in which something changed.
    pub(super) changed: BTreeSet<AccountId>,
    pub(super) events: Vec<Event>,
    pub(super) summary: Summary,
    pub(super) classifier: Classifier,
    pub(super) cleaned: CleanedDescriptions,
    /// Transactions that were added, changed or removed, as they are and as they were.
    pub(super) dirty: BTreeSet<DirtyTransaction>,
    /// Whether past balances changed.
    pub(super) balances_dirty: bool,
    /// Whether all of the person's figures must be recomputed.
    pub(super) all_dirty: bool,
    /// The format of its file, or its source if it came from none, for metrics.
    pub(super) format: &'static str,
    /// Rows of its file that could not be read.
    pub(super) rejected: usize,
    /// The trades that it has saved.
    pub(super) trades: i64,
    /// The first and the last of the transactions that it has inserted. Their ids rise.
    pub(super) inserted: Option<RangeInclusive<TransactionId>>,
}

/// An account of the import after it was saved.
pub(super) struct SavedAccount {
    pub(super) id: AccountId,
    pub(super) currency: Currency,
    pub(super) kind: AccountKind,
    pub(super) subtype: Option<String>,
    /// Whether the source reports the balance with the other sign, as owned instead of owed or as owed instead of owned.
    pub(super) is_balance_reversed: bool,
    pub(super) is_new: bool,
}

impl Batch {
    /// Records a row in the journal before it is written. A new account has no rows yet.
    pub(super) fn record(
        &mut self,
        tx: &mut Tx<'_>,
        account: &SavedAccount,
        key: RowKey,
    ) -> Result<()> {
        if account.is_new {
            self.journal.record_new(key);
            return Ok(());
        }
        self.journal.record(tx, self.user, key)
    }

    /// Remembers which transactions it inserted, account by account: ids rise, so those of later accounts are greater.
    pub(super) fn record_inserted(&mut self, ids: &[TransactionId]) {
        if let (Some(first), Some(last)) = (ids.first(), ids.last()) {
            let from = self.inserted.take().map_or(*first, |it| *it.start());
            self.inserted = Some(from..=*last);
        }
    }

    /// Adds events about transactions, with at most `Event::IDS_MAX` ids each.
    pub(super) fn push_events<E>(&mut self, account: AccountId, ids: &[TransactionId], event: E)
    where
        E: Fn(String, Vec<String>, usize) -> Event,
    {
        for chunk in ids.chunks(Event::IDS_MAX) {
            let names: Vec<String> = chunk.iter().map(ToString::to_string).collect();
            let count = names.len();
            self.events.push(event(account.to_string(), names, count));
        }
    }
}

/// Locks the person, so that imports of one person run one after the other on PostgreSQL too. Returns the person's time
/// zone.
pub(super) fn lock_user(tx: &mut Tx<'_>, user: UserId, now: Timestamp) -> Result<TimeZone> {
    if !person_lock::lock(tx, user)? {
        return Err(Error::NotFound("user"));
    }
    let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get::<Option<i64>>(1)?.is_some()));
    let person = tx.first(PERSON, params![user], read)?;
    let (timezone, is_connected) = person.ok_or(Error::NotFound("user"))?;
    if !is_connected {
        tx.execute(CONNECT, params![user, now])?;
    }
    Ok(timezone)
}

const PERSON: &str = "select timezone, connected_at from users where id = $1";
const CONNECT: &str = "update users set connected_at = $2 where id = $1";

pub(super) const STATEMENTS: &[&str] = &[PERSON, CONNECT];
