//! Finds merchants whose spelling lost its spaces, or was truncated by a bank's field length.

/// The minimum length of a truncated name, to be distinct from the start of another.
const FEWEST_OF_CUT: usize = 10;
/// Shorter names without spaces are too often something else.
const FEWEST_OF_JOINED: usize = 6;

/// The first letters of a spelling, padded with zeros.
type Stem = [u8; FEWEST_OF_CUT];

/// Sorted by stem, so that spellings with the same start are adjacent.
pub(super) struct FuzzySpellings(Vec<(Stem, Spelling)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spelling {
    pub(super) text: &'static str,
    pub(super) merchant: usize,
    /// Whether it matches every key that starts with it.
    pub(super) is_prefix: bool,
}

/// The place within a spelling at which the letters of a key end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    InWord,
    BeforeWord,
}

impl FuzzySpellings {
    pub(super) fn new(spellings: impl Iterator<Item = Spelling>) -> FuzzySpellings {
        let mut sorted: Vec<_> = spellings.map(|it| (stem(it.text), it)).collect();
        sorted.sort_unstable_by_key(|it| it.0);
        FuzzySpellings(sorted)
    }

    /// The only merchant whose spelling has the letters of the key (HOMEDEPOT) or of its first words; else the only
    /// one whose spelling was truncated within a word (SPROUTS FARME).
    pub(super) fn merchant(&self, key: &str) -> Option<usize> {
        let ends = key.rmatch_indices(' ').map(|it| it.0);
        let joined = [key.len()].into_iter().chain(ends).map(|end| &key[..end]).find_map(|front| {
            let is_meant = |it: Spelling| it.is_prefix || front.len() == key.len();
            let is_whole = |(it, end): &(Spelling, End)| *end == End::Whole && is_meant(*it);
            has(front, FEWEST_OF_JOINED).then(|| only(self.starting(front).filter(is_whole)))?
        });
        joined.or_else(|| self.cut(key))
    }

    /// The only merchant whose spelling has exactly these letters.
    pub(super) fn joined(&self, letters: &str) -> Option<usize> {
        let is_whole = |(it, end): &(Spelling, End)| *end == End::Whole && it.is_prefix;
        only(self.starting(letters).filter(is_whole))
    }

    /// Whether a spelling starts with these letters, of which there must be no more than a stem has.
    pub(super) fn has_start(&self, letters: &str) -> bool {
        let start = stem(letters);
        let at = self.0.partition_point(|it| it.0 < start);
        let length = start.iter().take_while(|it| **it != 0).count();
        self.0.get(at).is_some_and(|it| it.0[..length] == start[..length])
    }

    /// Matches truncated spellings. A key that ends with a whole word more likely is another name: GOLDEN STATE is
    /// not the water company.
    fn cut(&self, key: &str) -> Option<usize> {
        let is_cut = || self.starting(key).any(|(_, end)| end == End::InWord);
        let found = has(key, FEWEST_OF_CUT) && is_cut();
        found.then(|| only(self.starting(key)))?
    }

    /// The spellings that start with the letters of the key; for a short key, only equal ones.
    fn starting(&self, key: &str) -> impl Iterator<Item = (Spelling, End)> {
        let stem = stem(key);
        let start = self.0.partition_point(|it| it.0 < stem);
        let alike = self.0[start..].iter().take_while(move |it| it.0 == stem);
        alike.filter_map(|(_, it)| Some((*it, end(it.text, key)?)))
    }
}

/// The merchant of the found spellings, if all have the same one.
fn only(mut found: impl Iterator<Item = (Spelling, End)>) -> Option<usize> {
    let (first, _) = found.next()?;
    found.all(|(it, _)| it.merchant == first.merchant).then_some(first.merchant)
}

/// Letters and digits with their positions. An E after an umlaut's vowel is skipped: MUELLER equals MULLER.
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
    for (byte, (_, letter)) in stem.iter_mut().zip(letters(text)) {
        *byte = u8::try_from(letter).unwrap_or(u8::MAX);
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
