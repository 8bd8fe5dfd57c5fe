//! A reproducible random number generator: integers only, with a separate stream for each name.

/// Splitmix64. It is implemented here because a generator must never change with a dependency.
pub(super) struct Rng(u64);

impl Rng {
    /// A stream that depends only on the seed and the name, so that a new stream changes no other.
    pub(super) fn named(seed: u64, name: &str) -> Rng {
        let mut hash = Hash::new();
        hash.text(name);
        let mut rng = Rng(seed ^ hash.value());
        // Without this, nearby seeds would begin with similar numbers.
        Rng(rng.next() ^ seed.rotate_left(32))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        let width = high.abs_diff(low) + 1;
        low + ((u128::from(self.next()) * u128::from(width)) >> 64) as i64
    }

    pub(super) fn chance(&mut self, percent: i64) -> bool {
        self.between(1, 100) <= percent
    }

    pub(super) fn per_mille(&mut self, share: i64) -> bool {
        self.between(1, 1000) <= share
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.between(0, from.len() as i64 - 1) as usize]
    }

    /// Up to `count` different members, in random order.
    pub(super) fn some<'a, T>(&mut self, from: &'a [T], count: usize) -> Vec<&'a T> {
        let mut rest: Vec<&T> = from.iter().collect();
        let mut chosen = Vec::new();
        while chosen.len() < count && !rest.is_empty() {
            chosen.push(rest.swap_remove(self.between(0, rest.len() as i64 - 1) as usize));
        }
        chosen
    }

    /// A random index, with probability in proportion to its weight.
    pub(super) fn weighted(&mut self, weights: &[i64]) -> usize {
        let mut left = self.between(1, weights.iter().sum());
        for (index, weight) in weights.iter().enumerate() {
            left -= weight;
            if left <= 0 {
                return index;
            }
        }
        weights.len() - 1
    }

    /// A nearly normal number in thousandths of a standard deviation: the sum of twelve uniform draws.
    fn normal(&mut self) -> i64 {
        (0..12).map(|_| self.between(0, 999)).sum::<i64>() - 5_994
    }

    /// A normal number; `spread` is its deviation in thousandths of the mean.
    pub(super) fn around(&mut self, mean: i64, spread: i64) -> i64 {
        mean + mean * self.normal() * spread / 1_000_000
    }

    /// A log-normal number, skewed like real amounts; `sigma` is in thousandths.
    pub(super) fn lognormal(&mut self, median: i64, sigma: i64) -> i64 {
        let one = 1_i128 << 40;
        // e^x as (1 + x/1024)^1024, which gives the same bits on every platform.
        let x = i128::from(self.normal() * sigma);
        let mut power = one + one * x / 1_000_000 / 1024;
        for _ in 0..10 {
            power = power * power / one;
        }
        ((i128::from(median) * power / one) as i64).max(1)
    }
}

/// FNV-1a, for names of streams and for the fingerprint of a world.
pub(super) struct Hash(u64);

impl Hash {
    pub(super) fn new() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a text, with a final byte that no text contains, so that two texts hash differently from their
    /// concatenation.
    pub(super) fn text(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub(super) fn value(&self) -> u64 {
        self.0
    }
}
