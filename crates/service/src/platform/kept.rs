//! Figures that this process keeps in memory, because computing them reads much of a person's data. Each is kept with the
//! version of the data that it was computed from, and used only while that is the current one (decision 39).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::UserId;

/// The person, and what the figure is about as a text, such as a filter.
pub(crate) type Key = (UserId, String);

/// Figures of one kind with their versions, at most `MAX` over all people. With more, all are dropped.
pub(crate) struct Kept<V, T, const MAX: usize>(Mutex<HashMap<Key, (V, T)>>);

impl<V, T, const MAX: usize> Default for Kept<V, T, MAX> {
    fn default() -> Kept<V, T, MAX> {
        Kept(Mutex::default())
    }
}

impl<V: Copy + PartialEq, T: Clone, const MAX: usize> Kept<V, T, MAX> {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, (V, T)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The figure, if it was computed from this version of the data.
    pub(crate) fn find(&self, key: &Key, version: V) -> Option<T> {
        let kept = self.lock();
        let (of, figure) = kept.get(key)?;
        (*of == version).then(|| figure.clone())
    }

    /// Keeps a figure that was computed after the version was read, so that a change meanwhile makes it outdated.
    pub(crate) fn insert(&self, key: Key, version: V, figure: &T) {
        let mut kept = self.lock();
        if kept.len() >= MAX && !kept.contains_key(&key) {
            kept.clear();
        }
        kept.insert(key, (version, figure.clone()));
    }
}
