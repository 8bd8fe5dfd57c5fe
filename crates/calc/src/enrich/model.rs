//! A small linear model that guesses the primary category of a purchase from the letters of its key, for merchants that
//! no table knows. Its weights are generated from the tables (`train.rs`), so they never need data of people.

use base::category::Category;

/// The weights: one row of a signed byte for each class, for each bucket.
pub(super) const WEIGHTS: &[u8; BUCKETS * CLASSES.len()] =
    include_bytes!("../../../../data/model.bin");

const BUCKET_BITS: u32 = 15;
pub(super) const BUCKETS: usize = 1 << BUCKET_BITS;

/// The classes, as primary categories of money out. The last two are never guessed: a guess must not make a transfer
/// or a debt payment out of a purchase. They are classes so that the model can recognize and leave them.
pub(super) const CLASSES: [&str; 14] = [
    "BANK_FEES",
    "ENTERTAINMENT",
    "FOOD_AND_DRINK",
    "GENERAL_MERCHANDISE",
    "GENERAL_SERVICES",
    "GOVERNMENT_AND_NON_PROFIT",
    "HOME_IMPROVEMENT",
    "MEDICAL",
    "PERSONAL_CARE",
    "RENT_AND_UTILITIES",
    "TRANSPORTATION",
    "TRAVEL",
    "LOAN_PAYMENTS",
    "TRANSFER_OUT",
];
const GUESSED: usize = 12;
const FOOD_AND_DRINK: usize = 2;

/// The sum of the weights of each class.
pub(super) type Scores = [i32; CLASSES.len()];

/// Letters of a word that are read, so that a hostile text stays cheap.
const LETTERS_MAX: usize = 24;
/// The letters of the pieces of words.
const SHORTEST_PIECE: usize = 3;
const LONGEST_PIECE: usize = 5;

/// The shares of right answers by the margin of the best class, measured on rows that no table knows.
const CONFIDENCE: [(i32, u8); 10] = [
    (0, 15),
    (5, 20),
    (10, 35),
    (15, 40),
    (20, 50),
    (30, 55),
    (60, 58),
    (80, 60),
    (110, 65),
    (150, 80),
];

/// How a purchase was paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PaidBy {
    Card,
    /// A transfer or a debit from the account.
    Account,
}

impl PaidBy {
    /// The least margin of a guess that is made. A single word is mostly a name, whose letters say little but that it
    /// may be a restaurant.
    fn least_margin(self, is_one_word: bool, class: usize) -> i32 {
        match (self, is_one_word) {
            (PaidBy::Card, true) if class == FOOD_AND_DRINK => 25,
            (PaidBy::Card, false) => 25,
            (PaidBy::Account, false) => 20,
            (_, true) => 110,
        }
    }
}

/// The bonus of food and drink for card payments: half of the shops that no table knows are restaurants or bakeries.
const FOOD_FIRST: i32 = 60;

/// A guessed category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Guess {
    pub(super) category: Category,
    /// The expected share of such guesses that are right, in percent.
    pub(super) confidence: u8,
}

/// The guess for a purchase with this key, if it is likely enough.
pub(super) fn guess(key: &str, paid_by: PaidBy) -> Option<Guess> {
    let (mut scores, features) = scores(key);
    // A sum grows with the square root of its number of terms.
    let scale = i32::try_from(features.isqrt().max(1)).ok()?;
    if paid_by == PaidBy::Card {
        scores[FOOD_AND_DRINK] += FOOD_FIRST * scale;
    }
    let (class, ahead) = best(&scores);
    let margin = ahead / scale;
    let confidence = CONFIDENCE.iter().rev().find(|(least, _)| *least <= margin)?.1;
    if class >= GUESSED || margin < paid_by.least_margin(!key.contains(' '), class) {
        return None;
    }
    Some(Guess { category: general(CLASSES[class])?, confidence })
}

/// The detailed category that says no more than its primary one.
fn general(primary: &str) -> Option<Category> {
    Category::parse(&format!("{primary}_OTHER_{primary}")).or_else(|| match primary {
        "RENT_AND_UTILITIES" => Category::parse("RENT_AND_UTILITIES_OTHER_UTILITIES"),
        _ => None,
    })
}

/// The scores, and the number of features that they are sums of.
fn scores(key: &str) -> (Scores, usize) {
    let (mut scores, mut features) = (Scores::default(), 0);
    each_bucket(key, |bucket| {
        features += 1;
        let row = &WEIGHTS[bucket * CLASSES.len()..][..CLASSES.len()];
        for (score, weight) in scores.iter_mut().zip(row) {
            *score += i32::from(weight.cast_signed());
        }
    });
    (scores, features)
}

/// The best class, and how far it is ahead of the next one.
fn best(scores: &Scores) -> (usize, i32) {
    let (mut best, mut next) = (0, i32::MIN);
    for class in 1..scores.len() {
        if scores[class] > scores[best] {
            next = scores[best];
            best = class;
        } else {
            next = next.max(scores[class]);
        }
    }
    (best, scores[best].saturating_sub(next))
}

/// Calls with the bucket of each feature: a constant, the words, the pairs of neighbors, and the pieces of words.
pub(super) fn each_bucket(key: &str, mut each: impl FnMut(usize)) {
    each(bucket(CONSTANT, &[b""]));
    let mut before: Option<&[u8]> = None;
    for word in key.split(' ').filter(|it| !it.is_empty()) {
        let word = &word.as_bytes()[..word.len().min(LETTERS_MAX)];
        each(bucket(WORD, &[word]));
        if let Some(before) = before.replace(word) {
            each(bucket(PAIR, &[before, b" ", word]));
        }
        // The borders of the word are letters of their own.
        let mut bordered = [b'<'; LETTERS_MAX + 2];
        bordered[1..=word.len()].copy_from_slice(word);
        bordered[word.len() + 1] = b'>';
        let bordered = &bordered[..word.len() + 2];
        for length in SHORTEST_PIECE..=LONGEST_PIECE {
            for piece in bordered.windows(length) {
                each(bucket(PIECE, &[piece]));
            }
        }
    }
}

const CONSTANT: u8 = 0;
const WORD: u8 = 1;
const PAIR: u8 = 2;
const PIECE: u8 = 3;

/// FNV-1a with a final mix. Not against attackers: a collision costs a wrong guess.
fn bucket(kind: u8, parts: &[&[u8]]) -> usize {
    let bytes = parts.iter().flat_map(|it| it.iter()).chain(std::iter::once(&kind));
    let hash = bytes
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    let mixed = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
    (mixed >> (u32::BITS - BUCKET_BITS)) as usize
}
