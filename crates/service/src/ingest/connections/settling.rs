//! What becomes of an answer: in one transaction offers, transactions, balances, what is wrong, and when to ask again.

use base::{Date, Timestamp, date_from_days, days_from_date};
use db::{Tx, params};
use sources::simplefin::AccountSet;

use super::asking::{Turn, fail, jitter, later, seconds_to_tomorrow};
use super::attention::{Doubt, Failing, Remark, capped, remark};
use super::drafting::{self, Taken, doubt_of};
use super::{REQUESTS_A_DAY, conflict, lock, offers};
use crate::ingest::imports::{self, Summary};
use crate::{App, Error, Result};

/// Four times a day; a bank is read about once.
const BETWEEN_SECONDS: i64 = 6 * 3_600;
const JITTER_SECONDS: i64 = 20 * 60;
/// How far back the past is asked for, and how many parts without a row in them are its beginning.
const HISTORY_DAYS: i64 = 730;
const EMPTY_PARTS: i64 = 2;

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Which accounts there are.
    Look,
    /// What is new, with what is pending, from that day up to but not including the other.
    Newest(Date, Date),
    /// A part of the past.
    History(Date, Date),
}

/// What an answer brought.
#[derive(Debug, Clone, Default)]
pub(super) struct Settled {
    pub(super) summary: Summary,
    pub(super) attention: Option<String>,
    /// Accounts with which something is wrong.
    pub(super) troubled: usize,
}

/// Takes an answer in. One that cannot be stored counts as a failure, so that it is not asked for again at once.
pub(super) async fn settle(
    app: &App,
    turn: Turn,
    set: AccountSet,
    purpose: Purpose,
) -> Result<Settled> {
    let (mine, turn) = (app.clone(), std::sync::Arc::new(turn));
    let own = std::sync::Arc::clone(&turn);
    let settled = app.db.write(move |tx| {
        let now = mine.clock.now();
        Settling { app: &mine, turn: &own, set: &set, purpose, now }.settle(tx)
    });
    let settled = settled.await;
    if let Err(Error::Internal(_) | Error::Invalid { .. }) = &settled {
        fail(app, &turn, &Failing::unstorable()).await?;
    }
    settled
}

struct Settling<'a> {
    app: &'a App,
    turn: &'a Turn,
    set: &'a AccountSet,
    purpose: Purpose,
    now: Timestamp,
}

impl Settling<'_> {
    fn settle(&self, tx: &mut Tx<'_>) -> Result<Settled> {
        let Settling { turn, now, .. } = *self;
        lock(tx, turn.user)?;
        // Whoever disconnected, or gave another access, has the last word.
        if tx.execute(RELEASE, params![turn.user, turn.id, turn.until])? == 0 {
            return Err(conflict(
                "The connection was changed while it was asked, so the answer was dropped. Sync \
                 again.",
            ));
        }
        offers::note(tx, turn, self.set, now)?;
        let mut taken = drafting::taken(tx, turn)?;
        let remark = remark(self.set);
        let mut settled = Settled::default();
        if self.purpose == Purpose::Look {
            self.rest(tx, taken.is_empty(), remark.as_ref())?;
        } else {
            let settles = matches!(self.purpose, Purpose::Newest(..));
            let drafted = drafting::draft(tx, turn, &taken, self.set, (now, settles))?;
            let rows: usize =
                drafted.delivery.accounts.iter().map(|it| it.draft.transactions.len()).sum();
            drafting::adopt(tx, turn, &taken, now)?;
            if !drafted.places.is_empty() {
                let outcome = imports::take_in(tx, self.app, turn.user, drafted.delivery)?;
                settled.summary = outcome.summary;
                for (place, account) in drafted.places.iter().zip(outcome.accounts) {
                    self.landed(tx, &mut taken[*place], account)?;
                }
            }
            let doubts: Vec<Option<Doubt>> = taken
                .iter()
                .enumerate()
                .map(|(place, it)| doubt_of(it, self.set, drafted.unusable.contains(&place), now))
                .collect();
            settled.troubled = doubts.iter().flatten().count();
            match self.purpose {
                Purpose::History(start, end) => {
                    self.go_back(tx, &taken, &doubts, (start, end), rows == 0)?;
                }
                Purpose::Newest(start, end) => self.go_on(tx, &taken, &doubts, (start, end))?,
                Purpose::Look => {}
            }
        }
        self.say(tx, remark.as_ref())?;
        settled.attention = remark.map(|it| it.words);
        Ok(settled)
    }

    /// Remembers where an account of the server's went.
    fn landed(&self, tx: &mut Tx<'_>, one: &mut Taken, account: base::AccountId) -> Result<()> {
        let Turn { user, id, .. } = *self.turn;
        if one.account.is_none() {
            tx.execute(LANDED, params![user, id, &one.external_id, account])?;
            tx.execute(OWN_NAME, params![user, account, &one.own_name])?;
            one.account = Some(account);
        }
        Ok(())
    }

    /// After a look: with nothing taken there is nothing to ask for until the person chose.
    fn rest(&self, tx: &mut Tx<'_>, is_idle: bool, remark: Option<&Remark>) -> Result<()> {
        let Turn { user, id, .. } = *self.turn;
        if is_idle {
            tx.execute(IDLE, params![user, id])?;
        } else if remark.is_some_and(|it| it.spent) {
            tx.execute(NEXT, params![user, id, self.next(remark), None::<Timestamp>])?;
        }
        Ok(())
    }

    fn next(&self, remark: Option<&Remark>) -> Timestamp {
        let seconds = match remark {
            Some(remark) if remark.spent => seconds_to_tomorrow(self.now),
            _ => BETWEEN_SECONDS,
        };
        later(self.now, seconds + jitter(self.app, JITTER_SECONDS))
    }

    /// After what is new: says of each account what is wrong with it, and starts over with the past of those that were
    /// not whole at a time that this answer does not reach back to.
    fn go_on(
        &self,
        tx: &mut Tx<'_>,
        taken: &[Taken],
        doubts: &[Option<Doubt>],
        (start, end): (Date, Date),
    ) -> Result<()> {
        let Turn { user, id, .. } = *self.turn;
        let start = self.reached(start, end);
        let mut has_gap = false;
        for (one, doubt) in taken.iter().zip(doubts) {
            let words = doubt.map(|it| one.place().words(it));
            tx.execute(ATTEND, params![user, one.account, &words, self.now])?;
            if doubt.is_none() && one.seen_at == self.now {
                has_gap |= one.good_at.is_none_or(|it| day(it) < start);
                tx.execute(GOOD, params![user, id, &one.external_id, Some(self.now)])?;
            }
        }
        let next = self.next(remark(self.set).as_ref());
        tx.execute(NEXT, params![user, id, next, Some(self.now)])?;
        if has_gap {
            let (none, soon) = (0_i64, Some(self.now));
            tx.execute(HISTORY, params![user, id, start, none, soon, self.shrunk()])?;
        }
        Ok(())
    }

    /// After a part of the past: goes on with the one before it, until there is nothing more to be had.
    fn go_back(
        &self,
        tx: &mut Tx<'_>,
        taken: &[Taken],
        doubts: &[Option<Doubt>],
        (start, end): (Date, Date),
        is_empty: bool,
    ) -> Result<()> {
        let Turn { user, id, history_empty, .. } = *self.turn;
        for (one, doubt) in taken.iter().zip(doubts) {
            // What is not whole here is asked for once more, when the account is well again.
            if doubt.is_some() || one.seen_at != self.now {
                tx.execute(GOOD, params![user, id, &one.external_id, None::<Timestamp>])?;
            }
        }
        let start = self.reached(start, end);
        let empty = if is_empty { history_empty + 1 } else { 0 };
        let first = days_from_date(day(self.now)) - HISTORY_DAYS;
        let is_done = empty >= EMPTY_PARTS || days_from_date(start) <= first;
        let next = (!is_done).then_some(self.now);
        tx.execute(HISTORY, params![user, id, start, empty, next, self.shrunk()])?;
        Ok(())
    }

    /// From which day on the answer is whole: a server that gives fewer days than asked for cuts off the oldest.
    fn reached(&self, start: Date, end: Date) -> Date {
        let Some(days) = self.shrunk() else { return start };
        date_from_days(days_from_date(start).max(days_from_date(end) - days))
    }

    /// How many days to ask for from now on, where the server gives fewer than it was asked for. One day less than it
    /// says, because servers count the last one differently.
    fn shrunk(&self) -> Option<i64> {
        let days = capped(self.set).map(|it| (it - 1).max(1));
        days.filter(|it| *it < self.turn.window_days)
    }

    /// The state of the connection as a whole. A good answer clears whatever was wrong before.
    fn say(&self, tx: &mut Tx<'_>, remark: Option<&Remark>) -> Result<()> {
        let Turn { user, id, .. } = *self.turn;
        let words = remark.map(|it| it.words.as_str());
        let needs_person = remark.is_some_and(|it| it.needs_person);
        let status = if needs_person { "needs_attention" } else { "connected" };
        let spent = if remark.is_some_and(|it| it.spent) { REQUESTS_A_DAY } else { 0 };
        tx.execute(SAY, params![user, id, status, words, spent])?;
        Ok(())
    }
}

fn day(at: Timestamp) -> Date {
    date_from_days(at.as_second().div_euclid(86_400))
}

const RELEASE: &str = "update connections set leased_until = null
    where user_id = $1 and id = $2 and leased_until = $3 and access is not null";
const LANDED: &str = "update offered_accounts set account_id = $4
    where user_id = $1 and connection_id = $2 and external_id = $3";
const OWN_NAME: &str = "update accounts set own_name = $3
    where user_id = $1 and id = $2 and own_name is null and name <> $3";
const IDLE: &str = "update connections set next_sync_at = null where user_id = $1 and id = $2";
const NEXT: &str = "update connections set next_sync_at = $3, synced_at = coalesce($4, synced_at)
    where user_id = $1 and id = $2";
const ATTEND: &str = "update accounts set attention = $3, updated_at = $4
    where user_id = $1 and id = $2 and attention is distinct from $3";
const GOOD: &str = "update offered_accounts set good_at = $4
    where user_id = $1 and connection_id = $2 and external_id = $3";
const HISTORY: &str = "update connections set history_from = $3, history_empty = $4,
    next_history_at = $5, window_days = coalesce($6, window_days) where user_id = $1 and id = $2";
const SAY: &str = "update connections set status = $3, attention = $4, failures = 0,
    asked_count = case when asked_count < $5 then $5 else asked_count end
    where user_id = $1 and id = $2";

pub(super) const STATEMENTS: &[&str] =
    &[RELEASE, LANDED, OWN_NAME, IDLE, NEXT, ATTEND, GOOD, HISTORY, SAY];
