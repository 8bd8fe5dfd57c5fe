//! Spellings known by their letters alone: without the spaces, or cut off where a bank's field ended.

/// So many letters tell a name that was cut off from the start of another.
const FEWEST_OF_CUT: usize = 10;
/// Fewer letters are as often something else.
const FEWEST_OF_GLUED: usize = 6;

/// The first letters of a spelling; zeros behind a shorter one.
type Stem = [u8; FEWEST_OF_CUT];

/// Sorted by their stems, so that those that start alike stand together.
pub(super) struct Letters(Vec<(Stem, Spelling)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spelling {
    pub(super) text: &'static str,
    pub(super) merchant: usize,
    /// Whether it stands for all that starts with it.
    pub(super) is_prefix: bool,
}

/// Where the letters of a key end in a spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    InWord,
    BeforeWord,
}

impl Letters {
    pub(super) fn new(spellings: impl Iterator<Item = Spelling>) -> Letters {
        let mut sorted: Vec<_> = spellings.map(|it| (stem(it.text), it)).collect();
        sorted.sort_unstable_by_key(|it| it.0);
        Letters(sorted)
    }

    /// The only merchant whose spelling has the key's letters, HOMEDEPOT, or those of its first words;
    /// else the only one whose spelling was cut off inside a word, SPROUTS FARME.
    pub(super) fn merchant(&self, key: &str) -> Option<usize> {
        let ends = key.rmatch_indices(' ').map(|it| it.0);
        let glued = [key.len()].into_iter().chain(ends).map(|end| &key[..end]).find_map(|front| {
            let is_meant = |it: Spelling| it.is_prefix || front.len() == key.len();
            let is_whole = |(it, end): &(Spelling, End)| *end == End::Whole && is_meant(*it);
            has(front, FEWEST_OF_GLUED).then(|| only(self.starting(front).filter(is_whole)))?
        });
        glued.or_else(|| self.cut(key))
    }

    /// A whole word behind the end is more likely of another name: GOLDEN STATE is no water company.
    fn cut(&self, key: &str) -> Option<usize> {
        let is_cut = || self.starting(key).any(|(_, end)| end == End::InWord);
        let found = has(key, FEWEST_OF_CUT) && is_cut();
        found.then(|| only(self.starting(key)))?
    }

    /// The spellings that start with the key's letters; those of a short key have no more than these.
    fn starting(&self, key: &str) -> impl Iterator<Item = (Spelling, End)> {
        let stem = stem(key);
        let start = self.0.partition_point(|it| it.0 < stem);
        let alike = self.0[start..].iter().take_while(move |it| it.0 == stem);
        alike.filter_map(|(_, it)| Some((*it, end(it.text, key)?)))
    }
}

/// The merchant of all of them.
fn only(mut found: impl Iterator<Item = (Spelling, End)>) -> Option<usize> {
    let (first, _) = found.next()?;
    found.all(|(it, _)| it.merchant == first.merchant).then_some(first.merchant)
}

/// Letters and digits with their places. A dotted vowel is written with an E or without one: MUELLER
/// is MULLER.
fn letters(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut last = ' ';
    text.char_indices().filter(move |(_, letter)| {
        let before = std::mem::replace(&mut last, *letter);
        letter.is_alphanumeric() && !(*letter == 'E' && matches!(before, 'A' | 'O' | 'U'))
    })
}

fn has(text: &str, fewest: usize) -> bool {
    letters(text).nth(fewest - 1).is_some()
}

fn stem(text: &str) -> Stem {
    let mut stem = Stem::default();
    for (place, (_, letter)) in stem.iter_mut().zip(letters(text)) {
        *place = u8::try_from(letter).unwrap_or(u8::MAX);
    }
    stem
}

fn end(spelling: &str, key: &str) -> Option<End> {
    let mut rest = letters(spelling);
    let is_next = |(_, letter)| rest.next().is_some_and(|it| it.1 == letter);
    if !letters(key).all(is_next) {
        return None;
    }
    let next = rest.next();
    let is_in_word = |(at, _): (usize, char)| spelling[..at].ends_with(char::is_alphanumeric);
    Some(match next {
        None => End::Whole,
        Some(next) if is_in_word(next) => End::InWord,
        Some(_) => End::BeforeWord,
    })
}
