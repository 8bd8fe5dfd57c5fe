//! A rule as a sentence, for pages and for messages.

use base::Money;
use maud::{Markup, html};
use service::classify::rules::Rule;
use service::ledger::Direction;

use crate::site::person::Person;

/// A piece of the sentence.
enum Piece {
    Plain(String),
    /// Stands out on pages.
    Strong(String),
}

pub(super) fn markup(person: &Person, rule: &Rule) -> Markup {
    html! {
        @for piece in pieces(person, rule) {
            @match piece {
                Piece::Plain(text) => (text),
                Piece::Strong(text) => strong { (text) },
            }
        }
    }
}

pub(super) fn text(person: &Person, rule: &Rule) -> String {
    let text = |it| match it {
        Piece::Plain(text) | Piece::Strong(text) => text,
    };
    pieces(person, rule).into_iter().map(text).collect()
}

fn pieces(person: &Person, rule: &Rule) -> Vec<Piece> {
    let plain = |text: &str| Piece::Plain(text.to_owned());
    let strong = |text: &str| Piece::Strong(text.to_owned());
    let [from, with, every] = match rule.direction {
        Some(Direction::Inflow) => ["Money in from ", "Money in with ", "Money in"],
        Some(Direction::Outflow) => ["Money out to ", "Money out with ", "Money out"],
        None => ["Every transaction from ", "Every transaction with ", "Every transaction"],
    };
    let mut pieces = match (&rule.merchant, &rule.words) {
        (Some(merchant), None) => vec![plain(from), strong(merchant)],
        (Some(merchant), Some(words)) => vec![
            plain(from),
            strong(merchant),
            plain(" with "),
            strong(words),
            plain(" in the description"),
        ],
        (None, Some(words)) => vec![plain(with), strong(words), plain(" in the description")],
        (None, None) => vec![plain(every)],
    };
    pieces.push(Piece::Plain(amounts(person, rule)));
    pieces.extend(rule.account_name.as_ref().map(|it| Piece::Plain(format!(" on {it}"))));
    let named = rule.counterparty.as_deref().map(|it| (" is renamed to ", it));
    let sorted = rule.category.map(|it| (" is categorized as ", it.label()));
    let hidden = rule.hides.then_some((" is ", "hidden"));
    for (index, (verb, effect)) in [named, sorted, hidden].into_iter().flatten().enumerate() {
        pieces.extend((index > 0).then(|| plain(" and")));
        pieces.extend([plain(verb), strong(effect)]);
    }
    pieces.push(plain("."));
    pieces
}

/// The amounts that a rule asks for, such as " of $5.00 to $10.00".
fn amounts(person: &Person, rule: &Rule) -> String {
    let Some(range) = rule.amounts else { return String::new() };
    let text = |minor| person.view.money_text(Money::new(minor, range.currency));
    match (range.least_minor, range.most_minor) {
        (Some(least), Some(most)) if least == most => format!(" of exactly {}", text(least)),
        (Some(least), Some(most)) => format!(" of {} to {}", text(least), text(most)),
        (Some(least), None) => format!(" of at least {}", text(least)),
        (None, Some(most)) => format!(" of at most {}", text(most)),
        (None, None) => String::new(),
    }
}
