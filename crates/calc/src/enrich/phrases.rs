//! Phrases of whole words, indexed by their first word.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by short words. The tables are ours, so collisions cannot be provoked, and a collision-resistant hash would
/// dominate the cost of a lookup.
pub(super) type WordMap<K, V> = HashMap<K, V, BuildHasherDefault<WordHasher>>;

#[derive(Default)]
pub(super) struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut block = [0; 8];
            block[..chunk.len()].copy_from_slice(chunk);
            let mixed = (self.0 ^ u64::from_le_bytes(block)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.0 = mixed ^ (mixed >> 32);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Several values may share a phrase; they are returned in insertion order.
pub(super) struct Phrases<T> {
    by_first: WordMap<&'static str, Vec<Phrase<T>>>,
}

struct Phrase<T> {
    /// The words after the first.
    rest: &'static str,
    length: usize,
    value: T,
}

impl<T> Phrases<T> {
    pub(super) fn new(entries: impl Iterator<Item = (&'static str, T)>) -> Phrases<T> {
        let mut by_first: WordMap<_, Vec<Phrase<T>>> = WordMap::default();
        for (phrase, value) in entries {
            let (first, rest) = phrase.split_once(' ').unwrap_or((phrase, ""));
            let length = phrase.split(' ').count();
            by_first.entry(first).or_default().push(Phrase { rest, length, value });
        }
        for phrases in by_first.values_mut() {
            phrases.sort_by_key(|it| std::cmp::Reverse(it.length));
        }
        Phrases { by_first }
    }

    /// The phrases that `words` starts with, longest first, each with its number of words.
    pub(super) fn at<'a, 'b>(
        &'a self,
        words: &'b [&'b str],
    ) -> impl Iterator<Item = (usize, &'a T)> + use<'a, 'b, T> {
        let (first, rest) = words.split_first().unzip();
        let phrases = first.and_then(|it| self.by_first.get(*it));
        let rest: &[&str] = rest.unwrap_or_default();
        let fits = move |it: &&Phrase<T>| {
            let is_same = || it.rest.split(' ').zip(rest).all(|(a, b)| a == *b);
            it.length == 1 || (it.length <= rest.len() + 1 && is_same())
        };
        phrases.into_iter().flatten().filter(fits).map(|it| (it.length, &it.value))
    }

    /// The first words of all phrases.
    pub(super) fn firsts(&self) -> impl Iterator<Item = &'static str> {
        self.by_first.keys().copied()
    }
}
