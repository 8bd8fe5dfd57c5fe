//! MT940 balances (`:60F:` and others) and entries (`:61:`), parsed as SWIFT specifies.

use base::{Currency, Date, Timestamp, days_from_date};
use jiff::tz::TimeZone;

use crate::files::accounts::cut;
use crate::files::plain_amount::{Comma, ParsedAmount, amount, quote, rounding_note};

/// Two-digit years lie at most this far in the future.
const AHEAD_YEARS: i16 = 20;
/// The maximum length of a reference.
const REFERENCE_CHARS: usize = 16;

pub(super) struct Balance {
    pub(super) on: Date,
    pub(super) currency: Currency,
    pub(super) minor: i64,
}

impl Balance {
    /// Parses a balance such as `C260301EUR1000,00`. Some banks leave out the currency; it is that of the account then.
    pub(super) fn read(
        text: &str,
        account: Option<Currency>,
        today: Date,
    ) -> Result<Balance, String> {
        let text = text.trim();
        let wrong =
            || format!("the balance is \"{}\", but must be like C260331EUR1234,56", cut(text));
        let (is_credit, rest) = match text.split_at_checked(1).ok_or_else(wrong)? {
            ("C", rest) => (true, rest),
            ("D", rest) => (false, rest),
            _ => return Err(wrong()),
        };
        let (day, rest) = rest.split_at_checked(6).ok_or_else(wrong)?;
        let on = date(day, today).ok_or_else(wrong)?.on;
        let has_code = !rest.starts_with(|it: char| it.is_ascii_digit());
        let (currency, amount) = match account {
            Some(currency) if !has_code => (currency, rest),
            _ => {
                let (code, amount) = rest.split_at_checked(3).ok_or_else(wrong)?;
                (Currency::parse(code).map_err(|_| wrong())?, amount)
            }
        };
        let minor = money(amount, currency)?.minor();
        Ok(Balance { on, currency, minor: if is_credit { minor } else { -minor } })
    }

    pub(super) fn as_of(&self) -> Option<Timestamp> {
        let midday = self.on.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).ok()?;
        Some(midday.timestamp())
    }
}

/// Whether the text begins with a sign and a date, as a balance does.
pub(super) fn begins_like_balance(text: &str) -> bool {
    let date = text.trim().strip_prefix(['C', 'D']).and_then(|it| it.get(..6));
    date.is_some_and(is_number)
}

pub(super) struct Entry {
    pub(super) on: Date,
    /// Announced, but not booked.
    pub(super) is_expected: bool,
    pub(super) minor: i64,
    /// The transaction type, such as `NTRF`.
    pub(super) kind: String,
    pub(super) reference: Option<String>,
    /// The counterparty, which Rabobank writes behind the reference.
    pub(super) name: Option<String>,
    /// What was changed on the way.
    pub(super) note: Option<String>,
}

impl Entry {
    /// Parses an entry such as `2603020303D54,99NDDTKREF+//BANKREF`: value date, entry date, sign, amount, type,
    /// references.
    pub(super) fn read(line: &str, currency: Currency, today: Date) -> Result<Entry, String> {
        let text = line.trim();
        let wrong = |reason: &str| format!("the entry is \"{}\": {reason}", cut(text));
        let no_day = || wrong("it must begin with a date like 260331");
        let (value, rest) = text.split_at_checked(6).ok_or_else(no_day)?;
        let value = date(value, today).ok_or_else(no_day)?;
        let (day, rest) = match rest.split_at_checked(4) {
            Some((day, rest)) if is_number(day) => {
                let day = entry_date(day, value.on);
                (day.ok_or_else(|| wrong("its second date must be like 0331"))?, rest)
            }
            _ => (value, rest),
        };
        let (sign, rest) =
            sign(rest).ok_or_else(|| wrong("the dates must be followed by C or D"))?;
        // A letter here is the third of the currency code.
        let rest = rest.strip_prefix(|it: char| it.is_ascii_alphabetic()).unwrap_or(rest);
        let (written, rest) = rest.split_at(amount_length(rest));
        let amount = money(written, currency)?;
        if rest.starts_with(|it: char| !it.is_alphanumeric() && !it.is_whitespace()) {
            return Err(wrong("the amount must be followed by a type such as NTRF"));
        }
        let minor = amount.minor();
        let (kind, references) = rest.split_at_checked(4).unwrap_or((rest, ""));
        let (references, name) = split_name(references);
        let reference = references.split("//").next().unwrap_or_default().trim();
        let has_none = reference.is_empty() || reference == "NONREF";
        let rounded = amount.is_rounded.then(|| rounding_note(written, amount.money));
        let moved = day
            .is_moved
            .then(|| format!("the date of \"{}\" does not exist; {} was used", cut(text), day.on));
        Ok(Entry {
            on: day.on,
            is_expected: sign.is_expected,
            minor: if sign.is_credit { minor } else { -minor },
            kind: kind.trim().to_owned(),
            reference: (!has_none).then(|| reference.to_owned()),
            name: name.map(str::to_owned),
            note: rounded.or(moved),
        })
    }
}

/// Splits references such as `NONREF          NAME CITY`: a reference has 16 characters, and one that is filled up with
/// spaces to that length is followed by the name of the counterparty.
fn split_name(references: &str) -> (&str, Option<&str>) {
    let end = references.char_indices().nth(REFERENCE_CHARS).map(|(at, _)| at);
    let split = end.and_then(|at| references.split_at_checked(at));
    let is_name = |it: &str| it.starts_with(|it: char| it.is_alphanumeric());
    match split.filter(|(reference, name)| reference.ends_with("  ") && is_name(name)) {
        Some((reference, name)) if !reference.contains("//") => (reference, Some(name.trim())),
        _ => (references, None),
    }
}

/// The length of the amount that a text begins with. A space or an apostrophe between two digits belongs to it.
fn amount_length(text: &str) -> usize {
    let mut rest = text.char_indices().peekable();
    while let Some((at, it)) = rest.next() {
        let mut is_digit_next = || rest.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        let is_gap = matches!(it, ' ' | '\u{A0}' | '\'');
        let belongs = it.is_ascii_digit() || matches!(it, ',' | '.') || is_gap && is_digit_next();
        if !belongs {
            return at;
        }
    }
    text.len()
}

struct Sign {
    is_credit: bool,
    is_expected: bool,
}

/// The sign. Reversing a debit is money in, reversing a credit is money out.
fn sign(text: &str) -> Option<(Sign, &str)> {
    for (mark, is_credit, is_expected) in [
        ("RD", true, false),
        ("RC", false, false),
        ("EC", true, true),
        ("ED", false, true),
        ("C", true, false),
        ("D", false, false),
    ] {
        if let Some(rest) = text.strip_prefix(mark) {
            return Some((Sign { is_credit, is_expected }, rest));
        }
    }
    None
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_digit())
}

/// A day, and whether it was moved to the last day of its month.
#[derive(Clone, Copy)]
struct Day {
    on: Date,
    is_moved: bool,
}

impl Day {
    /// The day of a month. Banks that count 30 days for every month date interest on 30 February; that means the last
    /// day of the month.
    fn new(year: i16, month: i8, day: i8) -> Option<Day> {
        if let Ok(on) = Date::new(year, month, day) {
            return Some(Day { on, is_moved: false });
        }
        let first = Date::new(year, month, 1).ok().filter(|_| (29..=31).contains(&day))?;
        Some(Day { on: first.last_of_month(), is_moved: true })
    }
}

/// Parses a date such as `260331`.
fn date(text: &str, today: Date) -> Option<Day> {
    if text.len() != 6 || !is_number(text) {
        return None;
    }
    let year = 2000 + text[..2].parse::<i16>().ok()?;
    let year = if year > today.year().saturating_add(AHEAD_YEARS) { year - 100 } else { year };
    Day::new(year, text[2..4].parse().ok()?, text[4..].parse().ok()?)
}

/// Parses a date such as `0331`, in the year nearest to the value date.
fn entry_date(text: &str, value: Date) -> Option<Day> {
    let (month, day) = (text[..2].parse().ok()?, text[2..].parse().ok()?);
    let years = [value.year(), value.year() - 1, value.year() + 1];
    let found = years.into_iter().filter_map(|year| Day::new(year, month, day));
    found.min_by_key(|it| (days_from_date(it.on) - days_from_date(value)).abs())
}

/// Parses an amount such as `1234,56` or `1234,`; it has no sign.
fn money(text: &str, currency: Currency) -> Result<ParsedAmount, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("the amount is missing".to_owned());
    }
    if text.starts_with(['-', '+']) {
        return Err(format!("the amount is {}, but it must have no sign", quote(text)));
    }
    amount(text, Comma::Only, currency)
}

/// The number of entries of a sign, and their sum, as MT942 states them in `:90D:` and `:90C:`.
pub(super) struct Total {
    pub(super) count: usize,
    pub(super) minor: i64,
}

impl Total {
    /// Parses a total such as `2EUR1234,56`.
    pub(super) fn read(text: &str) -> Option<Total> {
        let text = text.trim();
        let (count, rest) = text.split_at(text.find(|it: char| !it.is_ascii_digit())?);
        let (code, amount) = rest.split_at_checked(3)?;
        let currency = Currency::parse(code).ok()?;
        Some(Total { count: count.parse().ok()?, minor: money(amount, currency).ok()?.minor() })
    }
}
