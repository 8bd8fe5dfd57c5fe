//! Two combinations of words that mean the same on every statement: an issuer of cards with a word for paying, and a word
//! for a fee behind one for what banks charge for.

use std::sync::LazyLock;

use base::category::Category;

use super::descriptors::of;
use super::model::PaidBy;
use super::phrases::{Phrases, WordMap};

/// How many words a fee stands behind its reason: MONTHLY CREDIT FEE.
const FEE_WITHIN: usize = 2;

struct StatementWords {
    issuers: Phrases<()>,
    payments: WordMap<&'static str, ()>,
    fees: WordMap<&'static str, ()>,
    /// Services that banks charge for, each with the category of its fee.
    charged: WordMap<&'static str, Category>,
    given_names: WordMap<&'static str, ()>,
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
        given_names: of("given-name").map(|it| (it, ())).collect(),
    }
});

/// Whether the words are a payment to a card of a known issuer, or to the card of a shop: ULTA CC PAYMENT.
pub(super) fn is_card_payment(words: &[&str]) -> bool {
    let is_issuer = |at: usize| WORDS.issuers.at(&words[at..]).next().is_some();
    let is_paid = words.iter().any(|it| WORDS.payments.contains_key(it));
    is_paid && ((0..words.len()).any(is_issuer) || is_shop_card(words))
}

fn is_shop_card(words: &[&str]) -> bool {
    let [_, .., card, payment] = words else { return false };
    ["CC", "MC", "VISA"].contains(card) && WORDS.payments.contains_key(payment)
}

/// Whether the words start with a payment and the way it was made, and name no issuer.
pub(super) fn is_unnamed_payment(words: &[&str]) -> bool {
    let [way, payment, ..] = words else { return false };
    ["ONLINE", "INTERNET", "MOBILE", "AUTOPAY", "AUTOMATIC"].contains(way)
        && WORDS.payments.contains_key(payment)
}

/// Whether the words are a download from a marketplace: AMZN DIGITAL.
pub(super) fn is_download(words: &[&str]) -> bool {
    let is_digital =
        |it: &[&str]| ["AMAZON", "AMZN"].contains(&it[0]) && it[1].starts_with("DIGIT");
    words.windows(2).any(is_digital)
}

/// Whether the words name a superstore with a supermarket: WM SUPERCENTER, or WAL-MART SUPER where a bank cut it off.
pub(super) fn is_supercenter(words: &[&str]) -> bool {
    let is_whole = |it: &&str| {
        ["SUPERCEN", "SUPERCTR", "SUPERCNTR", "SUPERTARGET"]
            .iter()
            .any(|start| it.starts_with(start))
    };
    let is_cut = |it: &[&str]| it[0].ends_with("MART") && it[1].starts_with("SUPER");
    words.iter().any(is_whole) || words.windows(2).any(is_cut)
}

/// Whether the words are those of a transfer by ACH, as American banks write them.
pub(super) fn is_ach(words: &[&str]) -> bool {
    words.iter().any(|it| ["INDN", "PPD", "CCD"].contains(it))
}

/// Whether a key has the form of a person's name: a given name and one to three other words, or an initial beside a word.
/// The words of the whole text must not name the form of a company, which keys no longer contain.
pub(super) fn is_person(key: &str, text: &[&str]) -> bool {
    const MOST_WORDS: usize = 4;
    let words: Vec<&str> = key.split(' ').collect();
    let is_name = |it: &str| it.len() > 2 && it.chars().all(char::is_alphabetic);
    let is_initial = |it: &str| it.len() == 1 && it.chars().all(char::is_alphabetic);
    let is_company = text.iter().any(|it| COMPANIES.contains(it));
    match words[..] {
        [first, second, ..] if words.len() <= MOST_WORDS && !is_company => {
            is_initial(first) && words.iter().any(|it| is_name(it))
                || is_name(first) && is_initial(second)
                || WORDS.given_names.contains_key(first) && is_name(second)
        }
        _ => false,
    }
}

/// Words of names that are not of a person.
const COMPANIES: [&str; 22] = [
    "AG",
    "AND",
    "ASSOCIATES",
    "BANK",
    "BV",
    "CO",
    "COMPANY",
    "CORP",
    "FOUNDATION",
    "FUND",
    "GMBH",
    "GROUP",
    "HOSPITAL",
    "INC",
    "INS",
    "INSURANCE",
    "LLC",
    "LLP",
    "LTD",
    "SCHOOL",
    "SERVICES",
    "UNIVERSITY",
];

/// Words of debits and transfers, besides those for paying.
const FROM_ACCOUNT: [&str; 22] = [
    "ACH",
    "BILL",
    "BILLPAY",
    "BONIFICO",
    "CHECK",
    "DES",
    "ELECTRONIC",
    "EXTERNAL",
    "INDN",
    "INSTANT",
    "LASTSCHRIFT",
    "OVERBOEKING",
    "PPD",
    "PRELEVEMENT",
    "PRLV",
    "SEPA",
    "TRANSFER",
    "TRANSFERENCIA",
    "UEBERWEISUNG",
    "VIR",
    "VIREMENT",
    "WEB",
];

/// Whether the words are of a debit from the account; else it was a card.
pub(super) fn paid_by(words: &[&str]) -> PaidBy {
    let is_account = |it: &&str| FROM_ACCOUNT.contains(it) || WORDS.payments.contains_key(it);
    if words.iter().any(is_account) { PaidBy::Account } else { PaidBy::Card }
}

/// The category of a bank's fee, by the words before it.
pub(super) fn fee(words: &[&str]) -> Option<Category> {
    let fees = words.iter().enumerate().filter(|(_, it)| WORDS.fees.contains_key(*it));
    fees.map(|(at, _)| &words[at.saturating_sub(FEE_WITHIN)..at])
        .find_map(|before| before.iter().rev().find_map(|it| WORDS.charged.get(it).copied()))
}
