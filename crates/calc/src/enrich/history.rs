//! Predicts the category of a row from the person's own confirmed rows, by naive Bayes.
#![expect(clippy::float_arithmetic, reason = "probabilities are no money")]

use std::collections::BTreeMap;

use base::category::Category;
use base::draft::AccountKind;

/// The features of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample<'a> {
    pub key: &'a str,
    pub inflow: bool,
    /// The absolute amount.
    pub amount_minor: i64,
    pub account_kind: AccountKind,
}

/// The minimum number of rows to learn from.
const FEWEST_ROWS: u32 = 20;
/// At this posterior the runner-up is at least 60 points behind, so no margin is checked.
const LEAST_POSTERIOR: f64 = 0.80;
/// The number of amount buckets, one per power of four.
const BUCKETS: f64 = 32.0;

/// Counts of confirmed rows, independent of their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    rows: u32,
    categories: BTreeMap<Category, u32>,
    words: BTreeMap<String, BTreeMap<Category, u32>>,
    traits: BTreeMap<(Trait, Category), u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Trait {
    Inflow(bool),
    Amount(u32),
    Account(AccountKind),
}

impl Trait {
    fn all(sample: &Sample<'_>) -> [Trait; 3] {
        let bucket = sample.amount_minor.unsigned_abs().max(1).ilog2() / 2;
        [Trait::Inflow(sample.inflow), Trait::Amount(bucket), Trait::Account(sample.account_kind)]
    }

    fn values(self) -> f64 {
        match self {
            Trait::Inflow(_) => 2.0,
            Trait::Amount(_) => BUCKETS,
            Trait::Account(_) => 5.0,
        }
    }
}

impl History {
    pub fn empty() -> History {
        History::default()
    }

    pub fn train<'a>(rows: impl Iterator<Item = (Sample<'a>, Category)>) -> History {
        let mut history = History::empty();
        for (sample, category) in rows {
            history.rows += 1;
            *history.categories.entry(category).or_default() += 1;
            for word in words(sample.key) {
                let counts = history.words.entry(word.to_owned()).or_default();
                *counts.entry(category).or_default() += 1;
            }
            for it in Trait::all(&sample) {
                *history.traits.entry((it, category)).or_default() += 1;
            }
        }
        history
    }

    /// The predicted category, if it is likely enough. None if no word of the key is known.
    pub(super) fn guess(&self, sample: &Sample<'_>) -> Option<Category> {
        if self.rows < FEWEST_ROWS {
            return None;
        }
        let known: Vec<_> = words(sample.key).filter_map(|it| self.words.get(it)).collect();
        if known.is_empty() {
            return None;
        }
        let mut total = 0.0;
        let mut best: Option<(f64, Category)> = None;
        for (category, count) in &self.categories {
            let rows = f64::from(*count);
            let mut likelihood = rows / f64::from(self.rows);
            for counts in &known {
                let seen = f64::from(counts.get(category).copied().unwrap_or(0));
                likelihood *= (seen + 0.5) / (rows + 1.0);
            }
            for it in Trait::all(sample) {
                let seen = f64::from(self.traits.get(&(it, *category)).copied().unwrap_or(0));
                likelihood *= (seen + 1.0) / (rows + it.values());
            }
            total += likelihood;
            if best.is_none_or(|(most, _)| likelihood > most) {
                best = Some((likelihood, *category));
            }
        }
        best.filter(|(most, _)| most / total >= LEAST_POSTERIOR).map(|(_, category)| category)
    }
}

/// The distinct words of a key.
fn words(key: &str) -> impl Iterator<Item = &str> {
    let repeated = |at: usize, word: &str| key.split(' ').take(at).any(|it| it == word);
    key.split(' ').enumerate().filter(move |(at, word)| !repeated(*at, word)).map(|(_, it)| it)
}
