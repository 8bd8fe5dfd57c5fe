//! Two combinations of words that mean the same on every statement: an issuer of cards with a word for paying, and a word
//! for a fee behind one for what banks charge for.

use std::sync::LazyLock;

use base::category::Category;

use super::descriptors::of;
use super::phrases::{Phrases, WordMap};

/// How many words a fee stands behind its reason: MONTHLY CREDIT FEE.
const FEE_WITHIN: usize = 2;

struct StatementWords {
    issuers: Phrases<()>,
    payments: WordMap<&'static str, ()>,
    fees: WordMap<&'static str, ()>,
    /// What banks charge for, with the category of the fee.
    charged: WordMap<&'static str, Category>,
}

static WORDS: LazyLock<StatementWords> = LazyLock::new(|| {
    let charged = of("charged").filter_map(|line| {
        let (word, code) = line.split_once(" = ").unwrap_or((line, "OTHER_BANK_FEES"));
        Some((word, Category::parse(&format!("BANK_FEES_{code}"))?))
    });
    StatementWords {
        issuers: Phrases::new(of("issuer").map(|it| (it, ()))),
        payments: of("payment").map(|it| (it, ())).collect(),
        fees: of("fee").map(|it| (it, ())).collect(),
        charged: charged.collect(),
    }
});

/// Whether the words are a payment to a card of a known issuer.
pub(super) fn is_card_payment(words: &[&str]) -> bool {
    let is_issuer = |at: usize| WORDS.issuers.at(&words[at..]).next().is_some();
    words.iter().any(|it| WORDS.payments.contains_key(it)) && (0..words.len()).any(is_issuer)
}

/// The category of a bank's fee, by the words before it.
pub(super) fn fee(words: &[&str]) -> Option<Category> {
    let fees = words.iter().enumerate().filter(|(_, it)| WORDS.fees.contains_key(*it));
    fees.map(|(at, _)| &words[at.saturating_sub(FEE_WITHIN)..at])
        .find_map(|before| before.iter().rev().find_map(|it| WORDS.charged.get(it).copied()))
}
