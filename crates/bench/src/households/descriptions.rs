//! Transaction descriptions: a bank's template, filled with a merchant, a place, a day and random references.

use base::date_from_days;
use base::draft::AccountKind;

use super::Region;
use super::banks::Bank;
use super::rng::{Hash, Rng};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Channel {
    Shop,
    Online,
    Debit,
    Credit,
}

/// One shop of a merchant, as its terminal prints it.
#[derive(Clone)]
pub(super) struct Branch {
    pub(super) store: i64,
    pub(super) city: &'static str,
    pub(super) state: &'static str,
}

pub(super) fn branch(rng: &mut Rng, region: Region) -> Branch {
    let places: &[(&str, &str)] = match region {
        Region::America => &[
            ("Oakland", "CA"),
            ("San Jose", "CA"),
            ("Austin", "TX"),
            ("Fort Worth", "TX"),
            ("Columbus", "OH"),
            ("Saint Paul", "MN"),
            ("New York", "NY"),
            ("Winston Salem", "NC"),
            ("Spokane", "WA"),
            ("Tulsa", "OK"),
            ("Salt Lake City", "UT"),
            ("Marlow", "IN"),
        ],
        Region::Europe => &[
            ("Köln", ""),
            ("Utrecht", ""),
            ("Lyon", ""),
            ("Sevilla", ""),
            ("Torino", ""),
            ("Den Haag", ""),
            ("Freiburg im Breisgau", ""),
        ],
    };
    let (city, state) = *rng.pick(places);
    Branch { store: rng.between(11, 19_999), city, state }
}

/// The account that a row is printed for.
pub(super) struct Printer<'a> {
    pub(super) bank: &'a Bank,
    pub(super) kind: AccountKind,
    pub(super) mask: &'a str,
}

pub(super) struct DescriptionParts<'a> {
    pub(super) name: &'a str,
    pub(super) raw: &'a str,
    pub(super) branch: &'a Branch,
    pub(super) on: i64,
}

impl DescriptionParts<'_> {
    pub(super) fn print(&self, printer: &Printer, channel: Channel, rng: &mut Rng) -> String {
        let bank = printer.bank;
        let template = match channel {
            Channel::Shop => bank.shop,
            Channel::Online => bank.online,
            // A card has no direct debits; the merchant charges the card on file.
            Channel::Debit if printer.kind == AccountKind::Credit => bank.online,
            Channel::Debit => bank.debit,
            Channel::Credit => bank.credit,
        };
        fill_parts(template, |part| self.part(part, printer, rng))
    }

    fn part(&self, part: &str, printer: &Printer, rng: &mut Rng) -> String {
        let date = date_from_days(self.on);
        let (year, month, day) = (date.year(), date.month(), date.day());
        match part {
            "m" => self.raw.to_owned(),
            "n" => self.name.to_owned(),
            "m22" => format!("{:<22}", cut(self.raw, 22)),
            "store" => self.branch.store.to_string(),
            "City" => self.branch.city.to_owned(),
            "CITY" => self.branch.city.to_uppercase(),
            "city13" => format!("{:<13}", cut(&self.branch.city.to_uppercase(), 13)),
            "st" => self.branch.state.to_owned(),
            "mask" => printer.mask.to_owned(),
            "phone" => {
                let line = self.branch.store;
                format!("{}-555-{:04}", 800 + line % 88, line % 10_000)
            }
            // A creditor always has the same number.
            "id" => {
                let mut hash = Hash::new();
                hash.text(self.raw);
                (10_000_000 + hash.value() % 90_000_000).to_string()
            }
            "mmdd" => format!("{month:02}{day:02}"),
            "mm/dd" => format!("{month:02}/{day:02}"),
            "dd.mm.yyyy" => format!("{day:02}.{month:02}.{year}"),
            "ddmmyy" => format!("{day:02}{month:02}{:02}", year % 100),
            _ => reference(part, rng),
        }
    }
}

/// A random reference, which differs from row to row.
fn reference(part: &str, rng: &mut Rng) -> String {
    match part {
        "ref" => rng.between(1_000_000_000, 9_999_999_999).to_string(),
        "code" => {
            let letters = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
            (0..8).map(|_| char::from(*rng.pick(letters))).collect()
        }
        other => unreachable!("the template has an unknown part {other}"),
    }
}

/// Fills a template with the given parts, and the rest with random references.
pub(super) fn fill_template(template: &str, given: &[(&str, &str)], rng: &mut Rng) -> String {
    fill_parts(template, |part| match given.iter().find(|(name, _)| *name == part) {
        Some((_, value)) => (*value).to_owned(),
        None => reference(part, rng),
    })
}

fn fill_parts(template: &str, mut fill: impl FnMut(&str) -> String) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (part, tail) = after.split_once('}').unwrap_or((after, ""));
        text.push_str(before);
        text.push_str(&fill(part));
        rest = tail;
    }
    text.push_str(rest);
    text.trim_end().to_owned()
}

fn cut(text: &str, width: usize) -> String {
    text.chars().take(width).collect()
}
