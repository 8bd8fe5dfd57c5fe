//! The table of descriptor patterns of banks, `data/descriptors.txt`.

use std::sync::LazyLock;

use base::words;

use super::phrases::{Phrases, WordMap};

words!(
    /// The processor of a payment between the person and the merchant.
    Processor {
        Adyen => "adyen",
        Affirm => "affirm",
        Afterpay => "afterpay",
        AppleCash => "apple_cash",
        Bilt => "bilt",
        Bizum => "bizum",
        Blik => "blik",
        Braintree => "braintree",
        Cantaloupe => "cantaloupe",
        CashApp => "cash_app",
        Ccv => "ccv",
        Clover => "clover",
        Eventbrite => "eventbrite",
        Fareharbor => "fareharbor",
        Fastspring => "fastspring",
        Gocardless => "gocardless",
        Gumroad => "gumroad",
        Instacart => "instacart",
        Klarna => "klarna",
        Lightspeed => "lightspeed",
        Lydia => "lydia",
        Mbway => "mbway",
        Mobilepay => "mobilepay",
        Mollie => "mollie",
        Nayax => "nayax",
        Olo => "olo",
        Paddle => "paddle",
        Paya => "paya",
        Paypal => "paypal",
        Revolut => "revolut",
        Satispay => "satispay",
        Shopify => "shopify",
        Square => "square",
        Stripe => "stripe",
        Sumup => "sumup",
        Swish => "swish",
        Ticketmaster => "ticketmaster",
        Tikkie => "tikkie",
        Toast => "toast",
        Twint => "twint",
        Venmo => "venmo",
        Vipps => "vipps",
        Wepay => "wepay",
        Worldline => "worldline",
        Zelle => "zelle",
        Zettle => "zettle",
    }
);

impl Processor {
    /// Whether it handles payments between people.
    pub fn is_between_people(self) -> bool {
        use Processor::{
            AppleCash, Bizum, CashApp, Lydia, Mbway, Mobilepay, Revolut, Swish, Tikkie,
        };
        matches!(self, AppleCash | Bizum | CashApp | Lydia | Mbway | Mobilepay | Revolut | Swish)
            || matches!(self, Tikkie | Processor::Venmo | Processor::Vipps | Processor::Zelle)
    }
}

/// The character that must follow a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Terminator {
    Anything,
    Star,
    Colon,
    Slash,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    Transfer,
    Refund,
    Neutral,
}

/// A role of a word in a descriptor. Most words have none; one lookup returns all roles of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Prefix,
    Family,
    NameField,
    Cut,
    Trailing,
    City,
    Hint,
    Marker,
    Month,
    State,
    Country,
    CityFirst,
    CityLast,
    BeforeName,
}

/// A set of roles. The role of a phrase belongs to its first word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Roles(u16);

impl Roles {
    pub(super) fn has(self, role: Role) -> bool {
        self.0 & (1 << role as u16) != 0
    }

    pub(super) fn is_none(self) -> bool {
        self == Roles::default()
    }

    pub(super) fn is_some(self) -> bool {
        !self.is_none()
    }
}

pub(super) struct Descriptors {
    /// Phrases removed from the front: a channel or a processor.
    pub(super) prefixes: Phrases<(Terminator, Option<Processor>)>,
    pub(super) families: Phrases<(Terminator, &'static str)>,
    /// Phrases before the name in a text with fields.
    pub(super) name_fields: Phrases<Terminator>,
    pub(super) cuts: Phrases<Terminator>,
    pub(super) trailing: Phrases<()>,
    pub(super) cities: Phrases<()>,
    /// Cities that may be between a state and a name, besides `cities`.
    pub(super) cities_ahead: Phrases<()>,
    pub(super) hints: Phrases<Hint>,
    roles: WordMap<&'static str, Roles>,
}

impl Descriptors {
    pub(super) fn roles(&self, word: &str) -> Roles {
        self.roles.get(word).copied().unwrap_or_default()
    }
}

pub(super) static DESCRIPTORS: LazyLock<Descriptors> = LazyLock::new(read);

pub(super) const TEXT: &str = include_str!("../../../../data/descriptors.txt");

/// Each phrase with the name of its section.
pub(super) fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut section = "";
    TEXT.lines().filter_map(move |line| {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            return None;
        }
        (!line.is_empty() && !line.starts_with('#')).then_some((section, line))
    })
}

pub(super) fn of(section: &'static str) -> impl Iterator<Item = &'static str> {
    lines().filter(move |(name, _)| *name == section).map(|(_, phrase)| phrase)
}

fn behind(phrase: &'static str) -> (&'static str, Terminator) {
    let marks = [('*', Terminator::Star), (':', Terminator::Colon), ('/', Terminator::Slash)];
    let marked = marks.iter().find_map(|(sign, mark)| Some((phrase.strip_suffix(*sign)?, *mark)));
    marked.unwrap_or((phrase, Terminator::Anything))
}

/// Parses `PHRASE = value`, with the character after the phrase.
fn assigned(line: &'static str) -> (&'static str, Terminator, &'static str) {
    let (phrase, value) = line.split_once(" = ").expect("the tests read every line of the table");
    let (phrase, mark) = behind(phrase);
    (phrase, mark, value)
}

fn read() -> Descriptors {
    let channel = |it| (behind(it).0, (behind(it).1, None));
    let processor = |line| {
        let (phrase, mark, word) = assigned(line);
        (phrase, (mark, Processor::parse(word)))
    };
    let family = |line| {
        let (phrase, mark, key) = assigned(line);
        (phrase, (mark, key))
    };
    let hint = |section, hint: Hint| of(section).map(move |it| (it, hint));
    let hints = hint("neutral", Hint::Neutral)
        .chain(hint("transfer", Hint::Transfer))
        .chain(hint("refund", Hint::Refund));
    let mut table = Descriptors {
        prefixes: Phrases::new(of("processor").map(processor).chain(of("channel").map(channel))),
        families: Phrases::new(of("family").map(family)),
        name_fields: Phrases::new(of("name").map(behind)),
        cuts: Phrases::new(of("cut").map(behind)),
        trailing: Phrases::new(of("trailing").map(|it| (it, ()))),
        cities: Phrases::new(of("city").map(|it| (it, ()))),
        cities_ahead: Phrases::new(of("city-ahead").map(|it| (it, ()))),
        hints: Phrases::new(hints),
        roles: WordMap::default(),
    };
    table.roles = all_roles(&table);
    table
}

fn all_roles(table: &Descriptors) -> WordMap<&'static str, Roles> {
    let mut roles: WordMap<&'static str, Roles> = WordMap::default();
    let mut add = |role: Role, words: &mut dyn Iterator<Item = &'static str>| {
        words.for_each(|it| roles.entry(it).or_default().0 |= 1 << role as u16);
    };
    add(Role::Prefix, &mut table.prefixes.firsts());
    add(Role::Family, &mut table.families.firsts());
    add(Role::NameField, &mut table.name_fields.firsts());
    add(Role::Cut, &mut table.cuts.firsts());
    add(Role::Trailing, &mut table.trailing.firsts());
    add(Role::City, &mut table.cities.firsts());
    add(Role::Hint, &mut table.hints.firsts());
    add(Role::Marker, &mut of("marker").chain(of("month")));
    add(Role::Month, &mut of("month"));
    add(Role::State, &mut of("state"));
    add(Role::Country, &mut of("country"));
    add(Role::CityFirst, &mut of("city-first"));
    add(Role::CityLast, &mut of("city-last"));
    add(Role::BeforeName, &mut of("of"));
    roles
}
