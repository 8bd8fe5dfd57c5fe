//! Cleaned descriptions on their way from an import to the recompute that follows it. On SQLite a recompute blocks
//! everybody else's changes, so it should not clean again what the import has just cleaned.

use std::sync::{Mutex, PoisonError};

use base::UserId;
use calc::enrich::CleanedTexts;

/// Holds the texts of the newest import only: they take as much memory as the file.
#[derive(Default)]
pub(crate) struct CleanedHandover(Mutex<Option<(UserId, CleanedTexts)>>);

impl CleanedHandover {
    pub(crate) fn put(&self, user: UserId, cleaned: CleanedTexts) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((user, cleaned));
    }

    /// Takes out the texts of this person's import; none if there are none.
    pub(crate) fn take(&self, user: UserId) -> CleanedTexts {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.take_if(|it| it.0 == user).map(|it| it.1).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_a_person_are_handed_over_once_and_to_nobody_else() {
        let handover = CleanedHandover::default();
        let [robin, kim] = [1, 2].map(|it| UserId::from_bytes([it; 16]));
        handover.put(robin, ["KROGER"].into_iter().collect());
        assert!(handover.take(kim).is_empty());
        assert!(!handover.take(robin).is_empty());
        assert!(handover.take(robin).is_empty());
    }
}
