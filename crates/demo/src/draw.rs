//! Random draws. Each named entity has its own random stream, so that adding an entity does not change the others.

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use xxhash_rust::xxh3::xxh3_128;

/// A random stream. Only raw words are taken from the generator and the ranges are computed here, so that an upgrade
/// of the library cannot change the data behind a seed.
pub(super) struct Draw(ChaCha8Rng);

/// Quantiles of a skewed amount in thousandths of its median, from the lowest to the highest.
pub(super) type Spread = [i64; 17];

pub(super) const MILD: Spread =
    [756, 832, 871, 899, 922, 943, 962, 981, 1000, 1019, 1039, 1060, 1084, 1112, 1148, 1202, 1322];
pub(super) const USUAL: Spread =
    [443, 585, 669, 733, 790, 843, 894, 946, 1000, 1057, 1118, 1187, 1266, 1364, 1496, 1711, 2257];
pub(super) const WIDE: Spread =
    [196, 342, 447, 537, 624, 710, 800, 896, 1000, 1116, 1250, 1408, 1603, 1861, 2237, 2927, 5096];

const BASE32: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
const CAPITALS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

impl Draw {
    pub(super) fn new(seed: u64, household: u64, entity: &str) -> Draw {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&household.to_le_bytes());
        key[16..].copy_from_slice(&xxh3_128(entity.as_bytes()).to_le_bytes());
        Draw(ChaCha8Rng::from_seed(key))
    }

    /// A number less than `bound`. The high half of the product is uniform enough without rejection sampling.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    pub(super) fn permille(&mut self, chance: u64) -> bool {
        self.below(1000) < chance
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    /// Picks an element, with a preference for the first ones: people return to their favorites.
    pub(super) fn pick_favorite<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let first = self.below(from.len() as u64);
        &from[first.min(self.below(from.len() as u64)) as usize]
    }

    /// Picks `count` different elements in random order.
    pub(super) fn choose<'a, T>(&mut self, from: &'a [T], count: usize) -> Vec<&'a T> {
        let mut rest: Vec<&T> = from.iter().collect();
        let count = count.min(rest.len());
        (0..count).map(|_| rest.remove(self.below(rest.len() as u64) as usize)).collect()
    }

    /// An amount around its median, skewed as real amounts are.
    pub(super) fn around(&mut self, median: i64, spread: &Spread) -> i64 {
        let at = self.below(16_000) as usize;
        let (step, part) = (at / 1000, (at % 1000) as i64);
        let permille = spread[step] * 1000 + (spread[step + 1] - spread[step]) * part;
        (median * permille / 1_000_000).max(1)
    }

    /// An opaque id of 24 characters, as aggregators generate them.
    pub(super) fn id(&mut self) -> String {
        self.text(BASE32, 24)
    }

    pub(super) fn code(&mut self, length: usize) -> String {
        self.text(CAPITALS, length)
    }

    pub(super) fn digits(&mut self, length: usize) -> String {
        self.text(b"0123456789", length)
    }

    fn text(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(*self.pick(alphabet))).collect()
    }

    /// A raw random word, for generators of many rows.
    pub(super) fn word(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// Encodes 60 bits in 12 characters: faster than one draw per character.
pub(super) fn encode(mut bits: u64, out: &mut String) {
    for _ in 0..12 {
        out.push(char::from(BASE32[(bits & 31) as usize]));
        bits >>= 5;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_entity_has_its_own_reproducible_stream() {
        let words = |seed, entity| Draw::new(seed, 0, entity).digits(12);
        assert_eq!(words(7, "rent"), words(7, "rent"));
        assert_ne!(words(7, "rent"), words(7, "salary"));
        assert_ne!(words(7, "rent"), words(8, "rent"));
    }

    proptest! {
        #[test]
        fn numbers_stay_within_their_range(seed: u64, low in -1000_i64..1000, more in 0_i64..1000) {
            let mut draw = Draw::new(seed, 0, "range");
            let value = draw.between(low, low + more);
            prop_assert!((low..=low + more).contains(&value));
        }

        #[test]
        fn amounts_stay_within_their_spread(seed: u64, median in 100_i64..100_000) {
            let amount = Draw::new(seed, 0, "amount").around(median, &WIDE);
            prop_assert!(amount >= median * 195 / 1000 && amount <= median * 5096 / 1000);
        }
    }
}
