//! Stores a provider's response in one transaction: offers, transactions, balances, problems, and the time of the next
//! sync.

use base::{AccountId, Date, Timestamp, date_from_days, days_from_date};
use db::{Tx, params};
use sources::provider::{AccountProblem, ConnectionNotice, Purpose, Remedy, Response};

use super::attention::NeedingAccounts;
use super::connection::{conflict, lock_user};
use super::drafts::{self, SelectedAccount, problem_of};
use super::fetch::record_failure;
use super::lease::SyncLease;
use super::notices::SyncFailure;
use super::offers;
use super::schedule::{jitter, later, seconds_to_tomorrow};
use crate::ingest::imports::{self, Summary};
use crate::ledger::stamps;
use crate::{App, Error, Result};

const JITTER_SECONDS: i64 = 20 * 60;
/// How far back history is fetched.
pub(super) const HISTORY_DAYS: i64 = 730;
/// History is complete after this many periods in a row without a transaction.
const EMPTY_PERIODS: i64 = 2;

/// The result of a sync.
#[derive(Debug, Clone, Default)]
pub struct SyncResult {
    pub summary: Summary,
    /// A message about the connection as a whole; plain text, partly quoted from the server.
    pub attention: Option<String>,
    /// Accounts with a problem; each has its own message.
    pub accounts_with_problems: usize,
}

/// Stores a response. One that cannot be stored counts as a failure, so that it is not fetched again at once.
pub(super) async fn store(
    app: &App,
    lease: SyncLease,
    response: Response,
    purpose: Purpose,
) -> Result<SyncResult> {
    let (mine, lease) = (app.clone(), std::sync::Arc::new(lease));
    let own = std::sync::Arc::clone(&lease);
    let stored = app.db.write(move |tx| {
        let now = tx.now()?;
        StoredResponse { app: &mine, lease: &own, response: &response, purpose, now }.store(tx)
    });
    let stored = stored.await;
    if let Err(Error::Internal(_) | Error::Invalid { .. }) = &stored {
        let failure = SyncFailure::unstorable(lease.provider);
        app.meters.count_sync_failure(lease.provider.source().as_str(), failure.reason);
        record_failure(app, &lease, &failure).await?;
    }
    stored
}

/// A response, and the request that it answers.
struct StoredResponse<'a> {
    app: &'a App,
    lease: &'a SyncLease,
    response: &'a Response,
    purpose: Purpose,
    now: Timestamp,
}

impl StoredResponse<'_> {
    fn store(&self, tx: &mut Tx<'_>) -> Result<SyncResult> {
        let StoredResponse { lease, response, now, .. } = *self;
        lock_user(tx, lease.user)?;
        // Disconnecting and reauthorizing end the lease; the response of the old access is dropped then.
        if tx.execute(RELEASE, params![lease.user, lease.id, lease.until])? == 0 {
            self.app.meters.count_lost_lease("sync");
            return Err(conflict(
                "This connection changed during the sync, so nothing was imported. Sync again.",
            ));
        }
        let needing = NeedingAccounts::read(tx, lease.user, lease.id)?;
        offers::save(tx, lease, response, now)?;
        let mut selected = drafts::list_selected(tx, lease)?;
        let notice = response.notice.as_ref();
        let mut result = SyncResult::default();
        if self.purpose == Purpose::Discover {
            self.schedule_after_discovery(tx, selected.is_empty(), notice)?;
        } else {
            let drafted = drafts::draft(tx, lease, &selected, response, now)?;
            let rows: usize =
                drafted.request.accounts.iter().map(|it| it.draft.transactions.len()).sum();
            drafts::adopt(tx, lease, &selected, now)?;
            if !drafted.indexes.is_empty() {
                let outcome = imports::commit_in(tx, self.app, lease.user, drafted.request)?;
                result.summary = outcome.summary;
                for (index, account) in drafted.indexes.iter().zip(outcome.accounts) {
                    self.link(tx, &mut selected[*index], account)?;
                }
            }
            let problem = |(index, it): (usize, &SelectedAccount)| {
                problem_of(it, response, drafted.unusable.contains(&index), now)
            };
            let problems: Vec<Option<AccountProblem>> =
                selected.iter().enumerate().map(problem).collect();
            result.accounts_with_problems = problems.iter().flatten().count();
            match self.purpose {
                Purpose::History(start, end) => {
                    self.finish_history(tx, &selected, &problems, (start, end), rows == 0)?;
                }
                Purpose::Newest(start, end) => {
                    self.finish_newest(tx, &selected, &problems, (start, end))?;
                }
                Purpose::Discover => {}
            }
        }
        self.save_status(tx, notice)?;
        needing.publish_new(tx, self.app)?;
        result.attention = notice.map(|it| it.message.clone());
        Ok(result)
    }

    /// Remembers which account a selected one was imported into.
    fn link(
        &self,
        tx: &mut Tx<'_>,
        selected: &mut SelectedAccount,
        account: AccountId,
    ) -> Result<()> {
        let SyncLease { user, id, .. } = *self.lease;
        if selected.account.is_none() {
            tx.execute(LINK, params![user, id, &selected.external_id, account])?;
            if tx.execute(OWN_NAME, params![user, account, &selected.own_name])? > 0 {
                let stamp = stamps::next(tx, user, self.now)?;
                stamps::mark_account(tx, user, account, stamp)?;
            }
            selected.account = Some(account);
        }
        Ok(())
    }

    /// Without a selected account, nothing is synced until the person chooses some.
    fn schedule_after_discovery(
        &self,
        tx: &mut Tx<'_>,
        is_idle: bool,
        notice: Option<&ConnectionNotice>,
    ) -> Result<()> {
        let SyncLease { user, id, .. } = *self.lease;
        if is_idle {
            tx.execute(IDLE, params![user, id])?;
        } else if notice.is_some_and(|it| it.rate_limited) {
            tx.execute(NEXT, params![user, id, self.next_sync_at(notice), None::<Timestamp>])?;
        }
        Ok(())
    }

    fn next_sync_at(&self, notice: Option<&ConnectionNotice>) -> Timestamp {
        let seconds = match notice {
            Some(notice) if notice.rate_limited => seconds_to_tomorrow(self.now),
            _ => match self.response.again_in_seconds {
                Some(seconds) => return later(self.now, seconds),
                None => self.lease.provider.schedule().interval_seconds,
            },
        };
        later(self.now, seconds + jitter(self.app, JITTER_SECONDS))
    }

    /// Saves the problem of each account. If an account was last complete before the first day of this response, its
    /// history is fetched again to close the gap.
    fn finish_newest(
        &self,
        tx: &mut Tx<'_>,
        selected: &[SelectedAccount],
        problems: &[Option<AccountProblem>],
        (start, end): (Date, Date),
    ) -> Result<()> {
        let SyncLease { user, id, .. } = *self.lease;
        tx.execute(SAVE_STATE, params![user, id, &self.response.state])?;
        let start = self.first_complete_day(start, end);
        let mut has_gap = false;
        for (account, problem) in selected.iter().zip(problems) {
            let message = problem.map(|it| account.at_server().message(self.lease.provider, it));
            tx.execute(ATTENTION, params![user, account.account, &message, self.now])?;
            if problem.is_none() && account.seen_at == self.now {
                has_gap |= self.lease.window_days.is_some()
                    && account.complete_at.is_none_or(|it| day(it) < start);
                tx.execute(COMPLETE, params![user, id, &account.external_id, Some(self.now)])?;
            }
        }
        let next = self.next_sync_at(self.response.notice.as_ref());
        tx.execute(NEXT, params![user, id, next, Some(self.now)])?;
        if has_gap {
            let (none, soon) = (0_i64, Some(self.now));
            tx.execute(HISTORY, params![user, id, start, none, soon, self.reduced_window()])?;
        }
        Ok(())
    }

    /// Schedules the period before this one, until there is no more history.
    fn finish_history(
        &self,
        tx: &mut Tx<'_>,
        selected: &[SelectedAccount],
        problems: &[Option<AccountProblem>],
        (start, end): (Date, Date),
        is_empty: bool,
    ) -> Result<()> {
        let SyncLease { user, id, history_empty, .. } = *self.lease;
        for (account, problem) in selected.iter().zip(problems) {
            // An incomplete account is fetched again once its problem is solved.
            if problem.is_some() || account.seen_at != self.now {
                let never = None::<Timestamp>;
                tx.execute(COMPLETE, params![user, id, &account.external_id, never])?;
            }
        }
        let start = self.first_complete_day(start, end);
        let empty = if is_empty { history_empty + 1 } else { 0 };
        let first = days_from_date(day(self.now)) - HISTORY_DAYS;
        let is_done = empty >= EMPTY_PERIODS || days_from_date(start) <= first;
        let next = (!is_done).then_some(self.now);
        tx.execute(HISTORY, params![user, id, start, empty, next, self.reduced_window()])?;
        Ok(())
    }

    /// The first day from which the response is complete: a server that returns fewer days than requested leaves out the
    /// oldest.
    fn first_complete_day(&self, start: Date, end: Date) -> Date {
        let Some(days) = self.reduced_window() else { return start };
        date_from_days(days_from_date(start).max(days_from_date(end) - days))
    }

    /// The number of days to request from now on, if the server returns fewer than requested. It is one day less than the
    /// server reports, because servers count the last day differently.
    fn reduced_window(&self) -> Option<i64> {
        let days = self.response.capped_days.map(|it| (it - 1).max(1));
        days.filter(|it| self.lease.window_days.is_some_and(|usual| *it < usual))
    }

    /// Saves the status of the connection as a whole. A good response clears an earlier problem.
    fn save_status(&self, tx: &mut Tx<'_>, notice: Option<&ConnectionNotice>) -> Result<()> {
        let SyncLease { user, id, .. } = *self.lease;
        let message = notice.map(|it| it.message.as_str());
        let needs_action = notice.is_some_and(|it| it.needs_action);
        let status = if needs_action { "needs_attention" } else { "connected" };
        let most = self.lease.provider.schedule().syncs_a_day;
        let requests = if notice.is_some_and(|it| it.rate_limited) { most } else { 0 };
        let remedy = notice.and_then(|it| it.remedy).map(Remedy::as_str);
        tx.execute(SAVE_STATUS, params![user, id, status, message, requests, remedy])?;
        Ok(())
    }
}

fn day(at: Timestamp) -> Date {
    date_from_days(at.as_second().div_euclid(86_400))
}

const RELEASE: &str = "update connections set leased_until = null
    where user_id = $1 and id = $2 and leased_until = $3 and access is not null";
const LINK: &str = "update offered_accounts set account_id = $4
    where user_id = $1 and connection_id = $2 and external_id = $3";
const OWN_NAME: &str = "update accounts set own_name = $3
    where user_id = $1 and id = $2 and own_name is null and name <> $3";
const IDLE: &str = "update connections set next_sync_at = null where user_id = $1 and id = $2";
const NEXT: &str = "update connections set next_sync_at = $3, synced_at = coalesce($4, synced_at)
    where user_id = $1 and id = $2";
const ATTENTION: &str = "update accounts set attention = $3, updated_at = $4
    where user_id = $1 and id = $2 and attention is distinct from $3";
const COMPLETE: &str = "update offered_accounts set good_at = $4
    where user_id = $1 and connection_id = $2 and external_id = $3";
const HISTORY: &str = "update connections set history_from = $3, history_empty = $4,
    next_history_at = $5, window_days = coalesce($6, window_days) where user_id = $1 and id = $2";
// What the provider continues from is stored with the rows that came before it, or not at all.
const SAVE_STATE: &str = "update connections set sync_state = coalesce($3, sync_state)
    where user_id = $1 and id = $2";
const SAVE_STATUS: &str =
    "update connections set status = $3, attention = $4, failures = 0, remedy = $6,
    asked_count = case when asked_count < $5 then $5 else asked_count end
    where user_id = $1 and id = $2";

pub(super) const STATEMENTS: &[&str] =
    &[RELEASE, LINK, OWN_NAME, IDLE, NEXT, ATTENTION, COMPLETE, HISTORY, SAVE_STATE, SAVE_STATUS];
