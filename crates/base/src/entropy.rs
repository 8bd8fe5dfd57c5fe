//! Randomness as a parameter: from the operating system in production, from a seed in tests.

use std::sync::{Arc, Mutex, PoisonError};

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha12Rng;

#[derive(Clone)]
pub enum Entropy {
    System,
    /// The same bytes for the same seed; never used for a real secret.
    Seeded(Arc<Mutex<ChaCha12Rng>>),
}

impl Entropy {
    pub fn seeded(seed: u64) -> Entropy {
        Entropy::Seeded(Arc::new(Mutex::new(ChaCha12Rng::seed_from_u64(seed))))
    }

    pub fn fill(&self, bytes: &mut [u8]) {
        match self {
            #[expect(clippy::disallowed_methods, reason = "the one place that asks the system")]
            Entropy::System => rand::rng().fill_bytes(bytes),
            Entropy::Seeded(rng) => {
                rng.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(bytes);
            }
        }
    }

    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }
}
