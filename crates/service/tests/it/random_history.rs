//! Random histories of a bank with random faults, for the laws of every provider: whatever happens at the bank, and
//! whatever fails on the way, in the end exactly what the provider has is stored.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use base::{ConnectionId, Entropy};
use service::App;
use service::ingest::connections;
use testkit::{Person, World};

use crate::listed::Listed;

/// Random numbers with a seed.
pub(crate) struct Dice(Entropy);

impl Dice {
    pub(crate) fn seeded(seed: u64) -> Dice {
        Dice(Entropy::seeded(seed))
    }

    pub(crate) fn below(&self, most: u32) -> u32 {
        u32::from_le_bytes(self.0.bytes()) % most.max(1)
    }

    /// A random element.
    pub(crate) fn pick<'a, T>(&self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len() as u32) as usize)
    }
}

/// A connected bank that a law is about.
pub(crate) trait Bank {
    /// Changes the transactions at random.
    fn live_a_day(&mut self, dice: &Dice);

    /// Makes a later request fail.
    fn fail_somewhere(&self, dice: &Dice);

    /// Removes the faults that still wait for their request, and returns whether there were any.
    fn clear_faults(&self) -> bool;

    /// Syncs, and returns whether that succeeded.
    async fn sync(&self) -> bool;

    /// The world of the bank, the process that syncs it, and its connection.
    fn parts(&self) -> (&World, &App, &Person, ConnectionId);

    fn end_day(&self);

    /// Description, amount in cents with our sign, and whether it is pending, of each transaction at the bank.
    fn expected(&self) -> Vec<(String, i64, bool)>;

    async fn rows(&self) -> Vec<Listed>;
}

/// Lets some days pass, with faults on the way, and compares in the end.
pub(crate) async fn check(dice: &Dice, bank: &mut impl Bank, days: usize) {
    for _ in 0..days {
        bank.live_a_day(dice);
        for _ in 0..dice.below(3) {
            bank.fail_somewhere(dice);
        }
        for _ in 0..3 {
            // A failed sync changes nothing that the next one could not continue from.
            bank.sync().await;
        }
        bank.end_day();
    }
    for _ in 0..12 {
        if bank.sync().await {
            break;
        }
    }
    assert_eq!(stored(bank).await, expected(bank));
}

/// What is stored about each transaction, sorted.
type Stored = Vec<(String, i64, bool)>;

async fn stored(bank: &impl Bank) -> Stored {
    let rows = bank.rows().await;
    let mut stored: Stored =
        rows.iter().map(|it| (it.description.clone(), it.minor, it.pending)).collect();
    stored.sort();
    stored
}

fn expected(bank: &impl Bank) -> Stored {
    let mut expected = bank.expected();
    expected.sort();
    expected
}

/// Ends the process at every step of a sync, one step later each time, while the bank changes and faults happen. A sync
/// is dropped where it waits: before and after each request and each transaction of the database. At any time, exactly
/// what the bank had at some time is stored, and in the end what it has.
pub(crate) async fn check_crashes(dice: &Dice, bank: &mut impl Bank) {
    let mut snapshots = vec![stored(bank).await];
    let (mut polls, mut is_faulty) = (1, false);
    loop {
        bank.live_a_day(dice);
        snapshots.push(expected(bank));
        let has_fault = dice.below(5) == 0;
        if has_fault {
            bank.fail_somewhere(dice);
        }
        wait_until_due(bank).await;
        let (_, app, ..) = bank.parts();
        let synced = poll_at_most(polls, connections::sync_once(app)).await;
        // A fault that this sync did not meet would otherwise hit a later one, of a day without faults.
        is_faulty |= has_fault && !bank.clear_faults();
        let now = stored(bank).await;
        // What came before a fault in the middle may be stored, and the rest by a later sync.
        let is_known = is_faulty || snapshots.contains(&now);
        assert!(is_known, "after {polls} polls: {}", nearest(&snapshots, &now));
        let is_whole = now == expected(bank);
        is_faulty &= !is_whole;
        match synced {
            None => polls += 1,
            Some(Ok(1)) if is_whole && !has_fault => break,
            // A fault of this time or an earlier one, or the requests of the day are used up.
            Some(synced) => drop(synced.unwrap()),
        }
        assert!(polls < 2_000 && snapshots.len() < 4_000, "the sync never ends");
    }
    // Each request is several polls, and every sync is several requests.
    assert!(polls > 8, "only {polls} steps");
}

/// How the stored transactions differ from the snapshot that is most like them.
fn nearest(snapshots: &[Stored], now: &Stored) -> String {
    let without = |all: &Stored, other: &Stored| -> Stored {
        all.iter().filter(|it| !other.contains(it)).cloned().collect()
    };
    let differences = snapshots.iter().enumerate().map(|(day, it)| {
        let (missing, more) = (without(it, now), without(now, it));
        let text = format!("day {day} of {}: missing {missing:?}, more {more:?}", snapshots.len());
        (missing.len() + more.len(), text)
    });
    differences.min().map_or_else(String::new, |it| it.1)
}

/// Moves the clock to the next sync, and past the lease of a sync that was dropped.
async fn wait_until_due(bank: &impl Bank) {
    const LEASE_SECONDS: i64 = 301;
    let (world, app, person, id) = bank.parts();
    let next = connections::get(app, &person.caller, id).await.unwrap().next_sync_at;
    let wait = next.map_or(0, |it| it.as_second() - world.clock.now().as_second());
    world.advance_seconds(wait.max(LEASE_SECONDS).unsigned_abs() + 1);
}

/// Polls a future at most so many times and then drops it, as if the process had ended there. None if it had not ended.
async fn poll_at_most<T>(polls: usize, future: impl Future<Output = T>) -> Option<T> {
    let (mut future, mut left) = (pin!(future), polls);
    let ended = poll_fn(|context| match left {
        0 => Poll::Ready(None),
        _ => {
            left -= 1;
            future.as_mut().poll(context).map(Some)
        }
    });
    ended.await
}
