//! Public keys with which providers sign webhooks, as far as this process has fetched them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::Timestamp;
use base::draft::Source;

/// A provider changes its key rarely; more are not kept.
const KEYS_MAX: usize = 16;
/// How long a fetched key is used before it is fetched again, so that one that was withdrawn does not last.
const KEY_SECONDS: i64 = 86_400;
/// At most one unknown key is fetched in this time, because anyone can invent ids of keys.
const FETCH_SECONDS: i64 = 60;

#[derive(Default)]
pub(super) struct WebhookKeys(Mutex<State>);

#[derive(Default)]
struct State {
    keys: BTreeMap<(Source, String), (Timestamp, String)>,
    fetched_at: BTreeMap<Source, Timestamp>,
}

impl WebhookKeys {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn find(&self, source: Source, id: &str, now: Timestamp) -> Option<String> {
        let state = self.state();
        let (fetched_at, key) = state.keys.get(&(source, id.to_owned()))?;
        let age = now.as_second() - fetched_at.as_second();
        (age < KEY_SECONDS).then(|| key.clone())
    }

    /// Whether an unknown key may be fetched now, which is counted.
    pub(super) fn may_fetch(&self, source: Source, now: Timestamp) -> bool {
        let mut state = self.state();
        let last = state.fetched_at.get(&source);
        if last.is_some_and(|it| now.as_second() - it.as_second() < FETCH_SECONDS) {
            return false;
        }
        state.fetched_at.insert(source, now);
        true
    }

    pub(super) fn save(&self, source: Source, id: &str, key: &str, now: Timestamp) {
        let mut state = self.state();
        if state.keys.len() >= KEYS_MAX {
            state.keys.clear();
        }
        state.keys.insert((source, id.to_owned()), (now, key.to_owned()));
        // A key that exists was no invention, so it does not delay the next one.
        state.fetched_at.remove(&source);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_are_fetched_at_most_once_a_minute() {
        let keys = WebhookKeys::default();
        let at = |second: i64| Timestamp::from_second(1_770_000_000 + second).unwrap();
        assert!(keys.may_fetch(Source::Plaid, at(0)));
        assert!(!keys.may_fetch(Source::Plaid, at(59)));
        assert!(keys.may_fetch(Source::Plaid, at(60)));
        keys.save(Source::Plaid, "a", "key", at(61));
        assert_eq!(keys.find(Source::Plaid, "a", at(62)).as_deref(), Some("key"));
        assert_eq!(keys.find(Source::Plaid, "b", at(62)), None);
        assert_eq!(keys.find(Source::Plaid, "a", at(61 + 86_400)), None);
        assert!(keys.may_fetch(Source::Plaid, at(62)));
    }
}
