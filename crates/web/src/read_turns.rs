//! Turns to read: how many requests of one person this process works on at the same time, so that one person cannot
//! keep it busy for all others. Requests beyond that wait for one of their own to end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::UserId;
use http::Method;
use service::{Error, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Reads of one person at the same time.
const READS_AT_ONCE: usize = 16;
/// The same for a person whose reads took long a moment ago.
const SLOW_READS_AT_ONCE: usize = 2;
/// A read that takes longer than this makes its person's next reads take turns.
const SLOW: Duration = Duration::from_millis(250);
const SLOW_FOR: Duration = Duration::from_secs(10);
const WAIT_MAX: Duration = Duration::from_secs(10);
/// People without a read are forgotten from this many entries on.
const PEOPLE_MAX: usize = 4_096;

#[derive(Default)]
pub(crate) struct ReadTurns {
    people: Mutex<HashMap<UserId, Arc<PersonReads>>>,
}

struct PersonReads {
    all: Arc<Semaphore>,
    slow: Arc<Semaphore>,
    slow_until: Mutex<Option<Instant>>,
}

/// One read of a person; the next one may begin when it is dropped.
pub(crate) struct ReadTurn {
    person: Arc<PersonReads>,
    started: Instant,
    _permits: (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>),
}

impl ReadTurns {
    pub(crate) async fn take(&self, user: UserId) -> Result<ReadTurn> {
        let person = self.person(user);
        let until = Instant::now() + WAIT_MAX;
        let all = acquire(&person.all, until).await?;
        let slow = match person.is_slow() {
            true => Some(acquire(&person.slow, until).await?),
            false => None,
        };
        Ok(ReadTurn { person, started: Instant::now(), _permits: (all, slow) })
    }

    fn person(&self, user: UserId) -> Arc<PersonReads> {
        let mut people = self.people.lock().unwrap_or_else(PoisonError::into_inner);
        if people.len() >= PEOPLE_MAX {
            people.retain(|_, it| Arc::strong_count(it) > 1 || it.is_slow());
        }
        let fresh = || PersonReads {
            all: Arc::new(Semaphore::new(READS_AT_ONCE)),
            slow: Arc::new(Semaphore::new(SLOW_READS_AT_ONCE)),
            slow_until: Mutex::new(None),
        };
        people.entry(user).or_insert_with(|| Arc::new(fresh())).clone()
    }
}

impl PersonReads {
    fn is_slow(&self) -> bool {
        let until = *self.slow_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|it| it > Instant::now())
    }
}

impl Drop for ReadTurn {
    fn drop(&mut self) {
        if self.started.elapsed() >= SLOW {
            let until = Some(Instant::now() + SLOW_FOR);
            *self.person.slow_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
        }
    }
}

/// Whether a request only reads.
pub(crate) fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

async fn acquire(permits: &Arc<Semaphore>, until: Instant) -> Result<OwnedSemaphorePermit> {
    let permit = tokio::time::timeout_at(until, permits.clone().acquire_owned()).await;
    match permit {
        Ok(Ok(permit)) => Ok(permit),
        _ => Err(Error::Limited { retry_after_seconds: 1, what: "reads at the same time" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(number: u8) -> UserId {
        UserId::from_bytes([number; 16])
    }

    #[tokio::test(start_paused = true)]
    async fn one_person_waits_for_their_own_reads_and_others_do_not() {
        let turns = ReadTurns::default();
        let mut held = Vec::new();
        for _ in 0..READS_AT_ONCE {
            held.push(turns.take(user(1)).await.unwrap());
        }
        let refused = turns.take(user(1)).await;
        assert!(matches!(refused, Err(Error::Limited { .. })), "all turns are taken");
        drop(turns.take(user(2)).await.unwrap());
        held.pop();
        turns.take(user(1)).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_slow_read_only_two_run_at_once_for_a_while() {
        let turns = ReadTurns::default();
        let slow = turns.take(user(1)).await.unwrap();
        tokio::time::advance(SLOW).await;
        drop(slow);
        let held = (turns.take(user(1)).await.unwrap(), turns.take(user(1)).await.unwrap());
        assert!(turns.take(user(1)).await.is_err());
        drop(turns.take(user(2)).await.unwrap());
        tokio::time::advance(SLOW_FOR).await;
        drop(turns.take(user(1)).await.unwrap());
        drop(held);
    }
}
