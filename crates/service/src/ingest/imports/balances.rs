//! Saves the balances that a source reports. Of several for one day, the same one is kept whatever the order of the imports.

use base::draft::{AccountDraft, BalanceDraft};
use base::{Date, Timestamp};
use calc::matching::FILE_PREFIX;
use db::{Tx, params};
use wire::json::Moment;
use wire::v1::Event;

use super::batch::{Batch, SavedAccount};
use super::journal::RowKey;
use super::request::IncomingAccount;
use crate::Result;

/// The current, the available and the limit.
type Values = [Option<i64>; 3];

/// A balance of one day. The greater one is kept: by precedence, then by the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DailyBalance {
    precedence: i64,
    values: Values,
}

/// The bits of a precedence that count the transactions of the day. The bits above them are the seconds since 1970 of the
/// report.
const ROWS_BITS: u32 = 20;
const ROWS_MAX: i64 = (1 << ROWS_BITS) - 1;
/// The precedence of a balance of an earlier day, such as those beside the rows of a table: a report of the day itself is
/// more reliable.
const PAST: i64 = 0;
/// The precedence of a row that was stored before precedences were. It may be a report.
const UNKNOWN: i64 = 1 << ROWS_BITS;

/// Decides which of two balances of one day is kept.
#[derive(Clone, Copy)]
struct BalanceSource<'a> {
    draft: &'a AccountDraft,
    is_file: bool,
}

impl BalanceSource<'_> {
    /// The later report takes precedence. Many files give a day without a time, so of two such files it is the one that has
    /// more transactions of that day, because it was downloaded later. A report of a bank or by hand is never older than a
    /// file's of the same moment.
    fn precedence(self, as_of: Option<Timestamp>, on: Date) -> i64 {
        let seconds = as_of.map_or(PAST, |it| (it.as_microsecond() / 1_000_000).max(1));
        seconds << ROWS_BITS | if self.is_file { self.rows_on(on) } else { ROWS_MAX }
    }

    fn rows_on(self, on: Date) -> i64 {
        let rows = self.draft.transactions.iter().filter(|it| it.posted_on == on && !it.pending);
        ROWS_MAX.min(rows.count() as i64)
    }

    /// Whether `new` replaces the stored one. If a bank reports another balance for the same moment, it corrects itself.
    /// Files of one moment that contradict each other have no natural order, so the greater values are kept.
    fn replaces(self, new: DailyBalance, stored: DailyBalance) -> bool {
        let is_report = new.precedence > ROWS_MAX;
        let corrects = !self.is_file && is_report && new.precedence == stored.precedence;
        new > stored || (corrects && new != stored)
    }
}

/// Saves every reported balance by its day, and the newest one on the account itself.
pub(super) fn save(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    account: &SavedAccount,
    incoming: &IncomingAccount,
) -> Result<()> {
    let draft = &incoming.draft;
    let source = BalanceSource { draft, is_file: incoming.provenance.starts_with(FILE_PREFIX) };
    for past in &draft.past_balances {
        let values = [Some(account.signed(past.current_minor)), None, None];
        // Counting the transactions of each of many days would take quadratic time.
        let precedence = if source.is_file { PAST } else { ROWS_MAX };
        if save_daily(tx, batch, account, (past.on, DailyBalance { precedence, values }, source))? {
            batch.balances_dirty = true;
        }
    }
    match draft.balance {
        Some(balance) => save_current(tx, batch, account, (balance, source)),
        None => Ok(()),
    }
}

fn save_current(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    account: &SavedAccount,
    (balance, source): (BalanceDraft, BalanceSource<'_>),
) -> Result<()> {
    let (user, id, as_of) = (batch.user, account.id, balance.as_of);
    let stored = tx.first(BALANCE, params![user, id], |row| {
        let as_of: Option<Timestamp> = row.get(0)?;
        Ok((as_of, [row.get(1)?, row.get(2)?, row.get(3)?]))
    })?;
    let (stored_as_of, stored): (Option<Timestamp>, Values) = stored.unwrap_or((None, [None; 3]));
    let current_minor = Some(account.signed(balance.current_minor));
    let values = [current_minor, balance.available_minor, balance.limit_minor];
    let on = batch.timezone.date_of_report(as_of);
    let reported = DailyBalance { precedence: source.precedence(Some(as_of), on), values };
    let is_saved = save_daily(tx, batch, account, (on, reported, source))?;
    // An older statement that is imported late may fill its own day, but must not replace the newer balance.
    let is_older = stored_as_of.is_some_and(|it| it > as_of);
    batch.balances_dirty |= is_saved && is_older;
    if is_older || (stored_as_of == Some(as_of) && (!is_saved || stored == values)) {
        return Ok(());
    }
    batch.changed.insert(id);
    let [current, available, limit] = values;
    tx.execute(SET_BALANCE, params![user, id, current, available, limit, as_of, batch.now])?;
    if stored != values {
        let event =
            Event::BalanceUpdated { account_id: id.to_string(), as_of: Moment(balance.as_of) };
        batch.events.push(event);
    }
    Ok(())
}

/// Saves the balance of a day unless a better one is stored. Returns whether it was saved.
fn save_daily(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    account: &SavedAccount,
    (on, new, source): (Date, DailyBalance, BalanceSource<'_>),
) -> Result<bool> {
    let (user, id) = (batch.user, account.id);
    let stored = tx.first(DAILY, params![user, id, on], |row| {
        let precedence = row.get::<Option<i64>>(0)?.unwrap_or(UNKNOWN);
        Ok(DailyBalance { precedence, values: [row.get(1)?, row.get(2)?, row.get(3)?] })
    })?;
    if stored.is_some_and(|stored| !source.replaces(new, stored)) {
        return Ok(false);
    }
    batch.record(tx, account, RowKey::Balance(id, on))?;
    let [current, available, limit] = new.values;
    tx.execute(SAVE, params![user, id, on, current, available, limit, new.precedence])?;
    if stored.is_none_or(|it| it.values != new.values) {
        batch.changed.insert(id);
    }
    Ok(true)
}

impl SavedAccount {
    /// The source may know the account as something owned, and the person as something owed.
    fn signed(&self, minor: i64) -> i64 {
        if self.is_balance_reversed { minor.saturating_neg() } else { minor }
    }
}

const BALANCE: &str = "select balance_as_of, balance_current_minor, balance_available_minor,
    balance_limit_minor from accounts where user_id = $1 and id = $2";
const SET_BALANCE: &str =
    "update accounts set balance_current_minor = $3, balance_available_minor = $4,
    balance_limit_minor = $5, balance_as_of = $6, updated_at = $7
    where user_id = $1 and id = $2 and (balance_as_of is distinct from $6
        or balance_current_minor is distinct from $3
        or balance_available_minor is distinct from $4 or balance_limit_minor is distinct from $5)";
const DAILY: &str = "select precedence, current_minor, available_minor, limit_minor from balances
    where user_id = $1 and account_id = $2 and reported_on = $3";
const SAVE: &str = "insert into balances
    (user_id, account_id, reported_on, current_minor, available_minor, limit_minor, precedence)
    values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (user_id, account_id, reported_on) do update set current_minor = excluded.current_minor,
        available_minor = excluded.available_minor, limit_minor = excluded.limit_minor,
        precedence = excluded.precedence";

pub(super) const STATEMENTS: &[&str] = &[BALANCE, SET_BALANCE, DAILY, SAVE];
