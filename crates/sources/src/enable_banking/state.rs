//! What a sync needs to continue where the last one ended.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The longest history that is asked for. Many banks return all of it only in the first minutes after consent.
const FIRST_DAYS: i64 = 730;
/// Later the standard allows 90 days; one less is accepted everywhere.
const LATER_DAYS: i64 = 89;
/// Each sync repeats the last days, to find late bookings.
const OVERLAP_DAYS: i64 = 14;
/// For how long a bank is not asked for its pending transactions alone.
const SKIPPED_DAYS: i64 = 7;

/// Stored as JSON, together with the rows that came before it. Accounts are named by their stable ids.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SyncState {
    pub(super) accounts: BTreeMap<String, AccountState>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct AccountState {
    /// The day of the last complete sync, counted from 1970.
    pub(super) complete_on: Option<i64>,
    /// The ids of the pending transactions that the bank listed last.
    pub(super) pending: BTreeSet<String>,
    /// Before this day, counted from 1970, pending transactions need no request of their own: the bank listed them with
    /// the others, or refused it. It is asked again after a week, because a refusal may have been a passing one.
    pub(super) skips_pending_until: i64,
}

impl SyncState {
    pub(super) fn read(text: Option<&str>) -> SyncState {
        text.and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default()
    }

    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl AccountState {
    /// The first day to ask for, counted from 1970.
    pub(super) fn first_day(&self, today: i64) -> i64 {
        match self.complete_on {
            Some(day) => (day - OVERLAP_DAYS).clamp(today - LATER_DAYS, today),
            None => today - FIRST_DAYS,
        }
    }

    pub(super) fn skip_pending(&mut self, today: i64) {
        self.skips_pending_until = today + SKIPPED_DAYS;
    }
}

#[cfg(test)]
mod tests {
    use super::AccountState;

    #[test]
    fn the_whole_history_comes_first_and_later_at_most_the_days_that_banks_allow() {
        let first = |complete_on| AccountState { complete_on, ..AccountState::default() };
        assert_eq!(first(None).first_day(20_000), 20_000 - 730);
        assert_eq!(first(Some(19_999)).first_day(20_000), 19_985);
        assert_eq!(first(Some(19_000)).first_day(20_000), 20_000 - 89);
        assert_eq!(first(Some(30_000)).first_day(20_000), 20_000);
    }
}
