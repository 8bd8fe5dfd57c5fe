//! Finds a known merchant's name inside other words, for texts whose wrapping is not known.

use std::sync::LazyLock;

use super::descriptors::{DESCRIPTORS, of};
use super::keywords;
use super::merchants::{MERCHANTS, Merchant};
use super::phrases::WordMap;

const MOST_WORDS: usize = 6;
/// A name of one word, and one of several, with fewer letters is too often something else.
const FEWEST_OF_ONE: usize = 5;
const FEWEST_OF_SEVERAL: usize = 6;
/// A name without its spaces, in front of other letters, must be longer.
const FEWEST_OF_JOINED: usize = 8;
/// A word in this many names is no evidence for any of them.
const NAMES_OF_COMMON_WORD: usize = 5;

/// The merchant with the longest name among the words, the first of equals.
pub(super) fn merchant(words: &[&str]) -> Option<&'static Merchant> {
    let table = &*MERCHANTS;
    let joined = words.join(" ");
    let starts: Vec<usize> = std::iter::once(0)
        .chain(joined.match_indices(' ').map(|(at, _)| at + 1))
        .chain([joined.len() + 1])
        .collect();
    // How many words a name that starts here can have.
    let longest: Vec<usize> = (words.iter().enumerate())
        .map(|(at, it)| WORDS.longest.get(it).map_or(0, |most| *most.min(&(words.len() - at))))
        .collect();
    for length in (1..=longest.iter().copied().max().unwrap_or(0)).rev() {
        for at in (0..words.len()).filter(|it| longest[*it] >= length) {
            let name = &joined[starts[at]..starts[at + length] - 1];
            if let Some(found) = table.spellings.get(name)
                && is_distinctive(name, length)
            {
                return Some(&table.merchants[found.merchant]);
            }
        }
    }
    words.iter().find_map(|it| joined_merchant(it))
}

/// Whether a name of `length` words is distinctive: hardly any other text has it.
fn is_distinctive(name: &str, length: usize) -> bool {
    if length > 1 {
        return letters(name) >= FEWEST_OF_SEVERAL && !keywords::is_phrase(name);
    }
    letters(name) >= FEWEST_OF_ONE
        && DESCRIPTORS.roles(name).is_none()
        && !keywords::is_phrase(name)
        && !WORDS.common.contains_key(name)
}

fn letters(name: &str) -> usize {
    name.chars().filter(|it| it.is_alphabetic()).count()
}

/// The merchant whose name a word starts with, without its spaces: BLUEBARNCORP.
fn joined_merchant(word: &str) -> Option<&'static Merchant> {
    let table = &*MERCHANTS;
    if word.len() < FEWEST_OF_JOINED || !word.is_ascii() || DESCRIPTORS.roles(word).is_some() {
        return None;
    }
    if !table.letters.has_start(&word[..FEWEST_OF_JOINED]) {
        return None;
    }
    let ends = (FEWEST_OF_JOINED..=word.len()).rev();
    ends.map(|end| &word[..end]).find_map(|name| {
        let one = table.spellings.get(name).filter(|_| is_distinctive(name, 1));
        let found = one.map(|it| it.merchant).or_else(|| table.letters.joined(name));
        found.map(|it| &table.merchants[it])
    })
}

/// The words of all names.
struct NameWords {
    /// How many words the longest name has that starts with a word.
    longest: WordMap<&'static str, usize>,
    /// Words that are no evidence by themselves: everyday words, and words of many names.
    common: WordMap<&'static str, usize>,
}

static WORDS: LazyLock<NameWords> = LazyLock::new(|| {
    let (mut longest, mut common) = (WordMap::default(), WordMap::default());
    for spelling in MERCHANTS.spellings.keys() {
        let (first, length) =
            (spelling.split(' ').next().unwrap_or(""), spelling.split(' ').count());
        let most: &mut usize = longest.entry(first).or_default();
        *most = length.min(MOST_WORDS).max(*most);
    }
    for merchant in &MERCHANTS.merchants {
        merchant.key.split(' ').for_each(|it| *common.entry(it).or_default() += 1);
    }
    common.retain(|_, count| *count >= NAMES_OF_COMMON_WORD);
    common.extend(of("everyday").map(|it| (it, NAMES_OF_COMMON_WORD)));
    NameWords { longest, common }
});
