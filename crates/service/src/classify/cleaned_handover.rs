//! What an import hands over to the recompute that follows it. On SQLite a recompute blocks everybody else's changes, so it
//! should neither clean nor classify again what the import has just cleaned and classified.

use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

use base::{Timestamp, TransactionId, UserId};

use super::cleaned_descriptions::CleanedDescriptions;

#[derive(Debug, Default)]
pub(crate) struct HandedOver {
    pub(crate) cleaned: CleanedDescriptions,
    pub(crate) classified: Option<ClassifiedRows>,
}

/// The transactions that an import has inserted, and so classified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClassifiedRows {
    pub(crate) ids: RangeInclusive<TransactionId>,
    /// The person's entry in the dirty queue right after the import. Another one means that something else changed since.
    pub(crate) queued: QueueEntry,
}

/// How often a recompute was requested, and since when it waits.
pub(crate) type QueueEntry = (i64, Timestamp);

/// Holds the texts of the newest import only: they take as much memory as the file.
#[derive(Default)]
pub(crate) struct CleanedHandover(Mutex<Option<(UserId, HandedOver)>>);

impl CleanedHandover {
    pub(crate) fn put(&self, user: UserId, handed_over: HandedOver) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((user, handed_over));
    }

    /// Takes out what this person's import left; nothing if there was none.
    pub(crate) fn take(&self, user: UserId) -> HandedOver {
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
        let cleaned = CleanedDescriptions::clean(&["KROGER"]);
        handover.put(robin, HandedOver { cleaned, classified: None });
        assert!(handover.take(kim).cleaned.is_empty());
        assert!(!handover.take(robin).cleaned.is_empty());
        assert!(handover.take(robin).cleaned.is_empty());
    }
}
