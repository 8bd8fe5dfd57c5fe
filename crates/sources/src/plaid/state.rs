//! What a sync needs to continue where the last one ended.

use base::{Date, Timestamp, date_from_days, days_from_date};
use serde::{Deserialize, Serialize};

/// Stored as JSON, together with the rows that came before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SyncState {
    /// The cursor of `/transactions/sync`; none before Plaid had any transaction.
    pub(super) cursor: Option<String>,
    /// Syncs so far during which Plaid was still fetching the history.
    pub(super) polls: usize,
    /// The days on which investments and liabilities were last fetched, counted from 1970.
    pub(super) investments_on: Option<i64>,
    pub(super) liabilities_on: Option<i64>,
}

/// Waits after the first syncs of a login, while Plaid fetches its history from the bank.
const POLL_SECONDS: [i64; 4] = [10, 60, 300, 1_800];

impl SyncState {
    pub(super) fn read(text: Option<&str>) -> SyncState {
        text.and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default()
    }

    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Seconds until the next sync while the history is not complete. None when it is, or after a few tries.
    pub(super) fn next_poll(&mut self, is_complete: bool) -> Option<i64> {
        if is_complete {
            self.polls = 0;
            return None;
        }
        let wait = POLL_SECONDS.get(self.polls).copied();
        self.polls += 1;
        wait
    }

    /// Whether data that changes daily was not fetched today yet.
    pub(super) fn is_due(last: Option<i64>, now: Timestamp) -> bool {
        last.is_none_or(|it| it < day(now))
    }
}

pub(super) fn day(now: Timestamp) -> i64 {
    now.as_second().div_euclid(86_400)
}

/// The first day of investment transactions to ask for: everything at first, then a month before the last time.
pub(super) fn first_day(last: Option<i64>, now: Timestamp) -> Date {
    const HISTORY_DAYS: i64 = 730;
    const OVERLAP_DAYS: i64 = 30;
    let oldest = day(now) - HISTORY_DAYS;
    let first = date_from_days(last.map_or(oldest, |it| (it - OVERLAP_DAYS).max(oldest)));
    debug_assert!(days_from_date(first) <= day(now));
    first
}
