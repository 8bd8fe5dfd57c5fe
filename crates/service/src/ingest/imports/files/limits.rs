//! Limits on staged files and on how many of them are read at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use base::UserId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wire::v1::Code;

use crate::{Error, Result};

const MIB: i64 = 1_024 * 1_024;
/// A preview of the largest file takes a few seconds; a request that waits longer should be tried again.
const WAIT: Duration = Duration::from_secs(30);

/// Limits that an operator may set for file imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub reading: sources::files::Limits,
    /// Bytes of the staged files of one person.
    pub staged_bytes_per_person: i64,
    /// Bytes of the staged files of all people.
    pub staged_bytes: i64,
    /// Files that are read or committed at the same time.
    pub readers: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            reading: sources::files::Limits::DEFAULT,
            staged_bytes_per_person: 256 * MIB,
            staged_bytes: 1_024 * MIB,
            readers: 2,
        }
    }
}

impl Limits {
    /// The reason why a file of this size cannot be staged besides those that are, if there is one.
    pub(super) fn refusal(&self, size: i64, of_person: i64, of_all: i64) -> Option<String> {
        if of_person.saturating_add(size) > self.staged_bytes_per_person {
            return Some(format!(
                "Your waiting files can have {} MB together. Import or discard some of them first.",
                self.staged_bytes_per_person / MIB
            ));
        }
        (of_all.saturating_add(size) > self.staged_bytes).then(|| {
            "Too many files are waiting on this server. Try again later, or ask your operator to \
             raise the setting imports.staged_mib."
                .to_owned()
        })
    }
}

/// Concurrency slots for reading files: a few in all, and one for each person. A file in memory takes many times its
/// size, and one person's files must not keep all others from theirs.
pub(crate) struct ReadingSlots {
    all: Arc<Semaphore>,
    people: Mutex<HashMap<UserId, Weak<Semaphore>>>,
}

/// The right to have a file in memory. Work on a thread of its own keeps a clone, so that it counts even if nobody
/// waits for it any more.
#[derive(Clone)]
pub(crate) struct ReadingSlot {
    _permits: Arc<(OwnedSemaphorePermit, OwnedSemaphorePermit)>,
}

impl ReadingSlots {
    pub(crate) fn new(count: usize) -> ReadingSlots {
        ReadingSlots { all: Arc::new(Semaphore::new(count)), people: Mutex::default() }
    }

    pub(super) async fn acquire(&self, user: UserId) -> Result<ReadingSlot> {
        self.acquire_within(user, WAIT).await
    }

    async fn acquire_within(&self, user: UserId, wait: Duration) -> Result<ReadingSlot> {
        let both = async {
            let person = self.of(user).acquire_owned().await?;
            let any = Arc::clone(&self.all).acquire_owned().await?;
            Ok::<_, tokio::sync::AcquireError>((person, any))
        };
        match tokio::time::timeout(wait, both).await {
            Ok(Ok(permits)) => Ok(ReadingSlot { _permits: Arc::new(permits) }),
            Ok(Err(error)) => {
                Err(Error::internal(format!("no reading slot is available: {error}")))
            }
            Err(_) => Err(busy()),
        }
    }

    fn of(&self, user: UserId) -> Arc<Semaphore> {
        let mut people = self.people.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = people.get(&user).and_then(Weak::upgrade) {
            return known;
        }
        people.retain(|_, it| it.strong_count() > 0);
        let own = Arc::new(Semaphore::new(1));
        people.insert(user, Arc::downgrade(&own));
        own
    }
}

fn busy() -> Error {
    let message = "Other files are being read right now. Try again in a moment.";
    Error::Conflict { code: Code::Conflict, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(number: u8) -> UserId {
        UserId::from_bytes([number; 16])
    }

    #[tokio::test]
    async fn a_person_reads_one_file_at_a_time_and_all_together_a_few() {
        let slots = ReadingSlots::new(2);
        let at_once = |number: u8| slots.acquire_within(user(number), Duration::ZERO);
        let first = slots.acquire(user(1)).await.unwrap();
        assert!(matches!(at_once(1).await, Err(Error::Conflict { .. })));
        let second = slots.acquire(user(2)).await.unwrap();
        assert!(matches!(at_once(3).await, Err(Error::Conflict { .. })));
        // Work that goes on elsewhere still counts.
        let elsewhere = first.clone();
        drop(first);
        assert!(at_once(3).await.is_err());
        drop(elsewhere);
        let third = slots.acquire(user(3)).await.unwrap();
        drop((second, third));
        assert!(slots.acquire(user(1)).await.is_ok());
        assert!(slots.people.lock().unwrap().len() <= 3);
    }

    #[test]
    fn staged_bytes_are_limited_for_each_person_and_for_all() {
        let limits = Limits {
            staged_bytes_per_person: 10 * MIB,
            staged_bytes: 15 * MIB,
            ..Limits::default()
        };
        assert_eq!(limits.refusal(10 * MIB, 0, 5 * MIB), None);
        assert!(limits.refusal(1, 10 * MIB, 10 * MIB).unwrap().contains("10 MB together"));
        assert!(limits.refusal(6 * MIB, 0, 10 * MIB).unwrap().contains("imports.staged_mib"));
    }
}
