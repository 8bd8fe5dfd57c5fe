//! Random histories of a bank with random faults, for the laws of every provider: whatever happens at the bank, and
//! whatever fails on the way, in the end exactly what the provider has is stored.

use base::Entropy;

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

    /// Syncs, and returns whether that succeeded.
    async fn sync(&self) -> bool;

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
    let rows = bank.rows().await;
    let mut stored: Vec<_> =
        rows.iter().map(|it| (it.description.clone(), it.minor, it.pending)).collect();
    stored.sort();
    let mut expected = bank.expected();
    expected.sort();
    assert_eq!(stored, expected);
}
