//! Recognizes the card product of an account by the names that its bank gives it.

#[cfg(test)]
mod tests;

use super::catalog::{Card, cards};
use super::text::Words;

#[derive(Debug, Clone)]
pub enum Match {
    One(&'static Card),
    /// Several products fit equally, or one fits in part: ask the person.
    Unsure(Vec<&'static Card>),
    None,
}

/// The names of an issuer in institution and account names.
const ISSUERS: [(&str, &[&str]); 7] = [
    ("American Express", &["American Express", "Amex"]),
    ("Bank of America", &["Bank of America", "BofA"]),
    ("Capital One", &["Capital One", "CapitalOne"]),
    ("Chase", &["Chase", "JPMorgan"]),
    ("Citi", &["Citi", "Citibank", "Citicards"]),
    ("U.S. Bank", &["US Bank", "U.S. Bank", "USBank"]),
    ("Wells Fargo", &["Wells Fargo", "WellsFargo"]),
];

/// Words that distinguish no product; those of its issuer are added to them.
const PLAIN: [&str; 4] = ["THE", "CARD", "CREDIT", "FROM"];

const EXACT: u8 = 100;
/// The score if every distinctive word of the product occurs, but not its whole name.
const DISTINCTIVE: u8 = 80;

/// The product of an account. The issuer must match, and no word of `not_names` may occur: a Delta Platinum is not a
/// Platinum. The best match is used if it is the only one; otherwise the person is asked.
pub fn match_card(name: &str, other_words: &str, institution: &str) -> Match {
    // World Elite is a tier of the card network, not a product called Elite.
    let text = format!("{name} {other_words}").to_uppercase().replace("WORLD ELITE", " ");
    let words = Words::of(&text);
    let Some(issuer) = issuer(&Words::of(institution)).or_else(|| issuer(&words)) else {
        return Match::None;
    };
    let of_issuer = || cards().iter().filter(|it| it.issuer == issuer);
    let best = of_issuer().map(|it| score(it, &words)).max().unwrap_or(0);
    let fitting: Vec<&'static Card> =
        of_issuer().filter(|it| best > 0 && score(it, &words) == best).collect();
    match fitting[..] {
        [] => Match::None,
        [card] if best >= DISTINCTIVE => Match::One(card),
        _ if best >= DISTINCTIVE => Match::Unsure(fitting),
        // Every product that shares a word is a candidate.
        _ => Match::Unsure(of_issuer().filter(|it| score(it, &words) > 0).collect()),
    }
}

fn issuer(words: &Words) -> Option<&'static str> {
    let named = |aliases: &[&str]| aliases.iter().any(|it| words.has_phrase(&Words::of(it)));
    ISSUERS.iter().find(|(_, aliases)| named(aliases)).map(|(issuer, _)| *issuer)
}

/// The score of the best matching product name, out of 100.
fn score(card: &Card, words: &Words) -> u8 {
    if card.not_names.iter().any(|it| words.has_phrase(&Words::of(it))) {
        return 0;
    }
    let of_name = |name: &String| {
        let name = Words::of(name);
        let shared = name.iter().filter(|it| is_distinctive(it, card) && words.has(it)).count();
        let distinctive = name.iter().filter(|it| is_distinctive(it, card)).count();
        match shared {
            _ if words.has_all(&name) => EXACT,
            0 => 0,
            _ if shared == distinctive => DISTINCTIVE,
            // Partial matches are not ranked.
            _ => 1,
        }
    };
    card.names.iter().map(of_name).max().unwrap_or(0)
}

fn is_distinctive(word: &str, card: &Card) -> bool {
    let of_issuer = ISSUERS
        .iter()
        .filter(|(issuer, _)| *issuer == card.issuer)
        .flat_map(|(_, aliases)| *aliases)
        .any(|alias| Words::of(alias).has(word));
    !of_issuer && !PLAIN.contains(&word)
}
