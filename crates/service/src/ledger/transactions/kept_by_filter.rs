//! Figures about the transactions that match a filter, kept in memory with the stamp of the person's transactions
//! (`ledger::stamps`): every page of a filtered list shows them, and computing them reads every match.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::UserId;

use super::Filter;
use super::visible_accounts::VisibleAccounts;
use crate::Caller;

/// The most filters that are kept over all people. With more, all are dropped.
const KEPT_FILTERS_MAX: usize = 2_000;

/// A figure for each filter of a person.
pub(crate) struct KeptByFilter<T>(Mutex<HashMap<FilterOfPerson, (i64, T)>>);

/// The person and the filter as a text.
pub(super) type FilterOfPerson = (UserId, String);

impl<T> Default for KeptByFilter<T> {
    fn default() -> KeptByFilter<T> {
        KeptByFilter(Mutex::default())
    }
}

impl<T: Clone> KeptByFilter<T> {
    fn kept(&self) -> MutexGuard<'_, HashMap<FilterOfPerson, (i64, T)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn find(&self, key: &FilterOfPerson, accounts: &VisibleAccounts) -> Option<T> {
        let kept = self.kept();
        let (stamp, figure) = kept.get(key)?;
        (*stamp == accounts.stamp()).then(|| figure.clone())
    }

    /// Keeps a figure that was computed after the accounts were read, so that a change meanwhile makes it outdated.
    pub(super) fn insert(&self, key: FilterOfPerson, accounts: &VisibleAccounts, figure: &T) {
        let mut kept = self.kept();
        if kept.len() >= KEPT_FILTERS_MAX {
            kept.clear();
        }
        kept.insert(key, (accounts.stamp(), figure.clone()));
    }
}

/// The key of a filter. None if its figures depend on more than the person's transactions: on the accounts that a key may
/// see, or on what counts as spending, which is recomputed without a new stamp.
pub(super) fn key_of(caller: &Caller, filter: &Filter) -> Option<FilterOfPerson> {
    let sees_all = caller.limited_to().is_none();
    (sees_all && !filter.spending).then(|| (caller.user, format!("{filter:?}")))
}
