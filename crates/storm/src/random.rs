//! Choices drawn from the seed of a run. Each client and each process has its own sequence, so that they do not depend on
//! the order in which tasks run.

use base::Entropy;

pub(crate) struct Random(Entropy);

impl Random {
    /// The sequence with this number, of a run with this seed.
    pub(crate) fn new(seed: u64, number: u64) -> Random {
        Random(Entropy::seeded(seed.wrapping_mul(1_000_003).wrapping_add(number)))
    }

    /// A number from 0 to below `end`.
    pub(crate) fn below(&self, end: u64) -> u64 {
        u64::from_le_bytes(self.0.bytes()) % end.max(1)
    }

    pub(crate) fn index(&self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// A number from `first` to `last`.
    pub(crate) fn between(&self, first: u64, last: u64) -> u64 {
        first + self.below(last.saturating_sub(first) + 1)
    }

    pub(crate) fn happens(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn shuffle<T>(&self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}
