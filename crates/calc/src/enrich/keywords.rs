//! Keywords that imply a category, `data/keywords.txt`.

use std::sync::LazyLock;

use base::category::Category;
use base::draft::AccountKind;

use super::phrases::Phrases;

/// The category of a phrase, and the rows it applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Keyword {
    pub(super) category: Option<Category>,
    inflow: Option<bool>,
    accounts: Vec<AccountKind>,
    /// The phrase is a word of the bank itself, so there is no counterparty.
    pub(super) is_bank: bool,
}

impl Keyword {
    pub(super) fn fits(&self, inflow: bool, account: AccountKind) -> bool {
        self.inflow.is_none_or(|it| it == inflow)
            && (self.accounts.is_empty() || self.accounts.contains(&account))
    }

    /// Whether it states a fact for this kind of account rather than a guess.
    pub(super) fn is_structural(&self) -> bool {
        self.is_bank && !self.accounts.is_empty()
    }
}

/// Phrases with the index of their keyword: one keyword has hundreds.
struct Keywords {
    keywords: Vec<Keyword>,
    phrases: Phrases<usize>,
    /// Phrases found at the end of longer words: the last part of compounds.
    endings: Phrases<usize>,
}

impl Keywords {
    /// The keywords that the words start with, longest phrase first, with their number of words.
    fn at<'a>(
        &'static self,
        phrases: &'static Phrases<usize>,
        words: &'a [&'a str],
    ) -> impl Iterator<Item = (usize, &'static Keyword)> + use<'a> {
        phrases.at(words).map(|(length, index)| (length, &self.keywords[*index]))
    }
}

static KEYWORDS: LazyLock<Keywords> = LazyLock::new(read);

pub(super) const TEXT: &str = include_str!("../../../../data/keywords.txt");
/// A shorter word is not a compound.
const SHORTEST_COMPOUND: usize = 7;

/// The longest phrase that the words start with and that applies to the row.
pub(super) fn leading(
    words: &[&str],
    inflow: bool,
    account: AccountKind,
) -> Option<&'static Keyword> {
    let mut found = KEYWORDS.at(&KEYWORDS.phrases, words).map(|(_, it)| it);
    found.find(|it| it.fits(inflow, account))
}

/// The longest phrase anywhere in the words that applies to the row and has a category, the first of equals; else the
/// longest ending of a compound.
pub(super) fn anywhere(
    words: &[&str],
    inflow: bool,
    account: AccountKind,
) -> Option<&'static Keyword> {
    let mut best: Option<(usize, &'static Keyword)> = None;
    for at in 0..words.len() {
        let mut found = KEYWORDS.at(&KEYWORDS.phrases, &words[at..]);
        // A single word of the bank, such as DEPOSIT, names the channel and not the purpose.
        let fits = |(length, it): &(usize, &Keyword)| {
            it.fits(inflow, account) && it.category.is_some() && !(it.is_bank && *length == 1)
        };
        let Some((length, keyword)) = found.find(fits) else { continue };
        let letters = words[at..at + length].iter().map(|it| it.len()).sum();
        if best.is_none_or(|(most, _)| most < letters) {
            best = Some((letters, keyword));
        }
    }
    best.map(|(_, it)| it).or_else(|| compound(words, inflow, account))
}

/// The longest compound ending of any word, the first of equals.
fn compound(words: &[&str], inflow: bool, account: AccountKind) -> Option<&'static Keyword> {
    let mut best: Option<(usize, &'static Keyword)> = None;
    for word in words.iter().filter(|it| it.len() >= SHORTEST_COMPOUND) {
        let found = word.char_indices().find_map(|(at, _)| {
            let ending = &word[at..];
            let mut found = KEYWORDS.at(&KEYWORDS.endings, std::slice::from_ref(&ending));
            let (_, keyword) = found.find(|(_, it)| it.fits(inflow, account))?;
            Some((ending.len(), keyword))
        });
        if let Some((letters, keyword)) = found
            && best.is_none_or(|(most, _)| most < letters)
        {
            best = Some((letters, keyword));
        }
    }
    best.map(|(_, it)| it)
}

/// Each section's keyword with its phrases, as written in the table.
pub(super) fn sections() -> Vec<(Keyword, Vec<&'static str>)> {
    let mut sections: Vec<(Keyword, Vec<&'static str>)> = Vec::new();
    for line in TEXT.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(head) = line.strip_prefix('[') {
            sections.push((section(head), Vec::new()));
        } else if let Some((_, phrases)) = sections.last_mut() {
            phrases.extend(line.split(',').map(str::trim).filter(|it| !it.is_empty()));
        }
    }
    sections
}

fn section(head: &str) -> Keyword {
    let (code, rest) = head.split_once(']').unwrap_or((head, ""));
    let mut keyword = Keyword {
        category: Category::parse(code),
        inflow: None,
        accounts: Vec::new(),
        is_bank: false,
    };
    for word in rest.split_whitespace() {
        match word {
            "in" => keyword.inflow = Some(true),
            "out" => keyword.inflow = Some(false),
            "bank" => keyword.is_bank = true,
            kind => keyword.accounts.extend(AccountKind::parse(kind)),
        }
    }
    keyword
}

fn read() -> Keywords {
    let (keywords, phrases): (Vec<Keyword>, Vec<Vec<&'static str>>) =
        sections().into_iter().unzip();
    let all = || {
        let indexed = phrases.iter().enumerate();
        indexed.flat_map(|(index, phrases)| phrases.iter().map(move |phrase| (*phrase, index)))
    };
    // A starred word also matches as a whole word.
    let whole = all().map(|(it, index)| (it.trim_start_matches('*'), index));
    let endings = all().filter_map(|(it, index)| Some((it.strip_prefix('*')?, index)));
    Keywords { phrases: Phrases::new(whole), endings: Phrases::new(endings), keywords }
}
