//! The cleaned descriptions of an import, cleaned on several cores before its transaction begins.

use std::borrow::Cow;
use std::thread;

use calc::enrich::{CleanedDescriptor, CleanedTexts, clean};

/// Fewer texts are cleaned by one thread: starting another costs as much as cleaning tens of them.
const TEXTS_PER_THREAD_MIN: usize = 1_000;
/// An import must not take all cores of a large machine.
const THREADS_MAX: usize = 4;

/// Each text is in the shard that `shard_of` names, which one thread has cleaned.
#[derive(Debug, Clone, Default)]
pub(crate) struct CleanedDescriptions {
    shards: Vec<CleanedTexts>,
}

impl CleanedDescriptions {
    pub(crate) fn clean(texts: &[&str]) -> CleanedDescriptions {
        let cores = thread::available_parallelism().map_or(1, |it| it.get());
        let most = texts.len() / TEXTS_PER_THREAD_MIN;
        CleanedDescriptions::clean_by(cores.min(most).clamp(1, THREADS_MAX), texts)
    }

    fn clean_by(threads: usize, texts: &[&str]) -> CleanedDescriptions {
        let shard = |index: usize| -> CleanedTexts {
            let is_in = |text: &&str| shard_of(text, threads) == index;
            texts.iter().copied().filter(is_in).collect()
        };
        let shards = thread::scope(|scope| {
            let others: Vec<_> =
                (1..threads).map(|index| scope.spawn(move || shard(index))).collect();
            let first = shard(0);
            // The texts of a thread that panicked are cleaned when they are asked for.
            let others = others.into_iter().map(|it| it.join().unwrap_or_default());
            std::iter::once(first).chain(others).collect()
        });
        CleanedDescriptions { shards }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shards.iter().all(CleanedTexts::is_empty)
    }

    /// The cleaned descriptor; cleaned now if it is not one of these.
    pub(crate) fn get(&self, text: &str) -> Cow<'_, CleanedDescriptor> {
        match self.shards.get(shard_of(text, self.shards.len().max(1))) {
            Some(shard) => shard.get(text),
            None => Cow::Owned(clean(text)),
        }
    }
}

/// Banks begin and end many descriptions alike, so all bytes decide.
fn shard_of(text: &str, shards: usize) -> usize {
    text.bytes().fold(0_usize, |sum, byte| sum.wrapping_add(usize::from(byte))) % shards
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cleaned_alike_by_any_number_of_threads() {
        let texts: Vec<String> = (0..50).map(|it| format!("SQ *BLUE BOTTLE {it}")).collect();
        let texts: Vec<&str> =
            texts.iter().map(String::as_str).chain(["", "KROGER #339"]).collect();
        for threads in 1..5 {
            let cleaned = CleanedDescriptions::clean_by(threads, &texts);
            assert_eq!(cleaned.shards.len(), threads);
            assert!(!cleaned.shards.iter().any(CleanedTexts::is_empty), "{threads}");
            for text in texts.iter().copied().chain(["NOT COLLECTED 12"]) {
                assert_eq!(*cleaned.get(text), clean(text), "{text}");
            }
            let is_borrowed = |text: &&str| matches!(cleaned.get(text), Cow::Borrowed(_));
            assert!(texts.iter().all(is_borrowed), "{threads}");
        }
        let nothing = CleanedDescriptions::default();
        assert_eq!((nothing.is_empty(), nothing.get("A").into_owned()), (true, clean("A")));
    }
}
