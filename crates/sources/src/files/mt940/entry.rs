//! MT940 balances (`:60F:` and others) and entries (`:61:`), parsed as SWIFT specifies.

use base::{Currency, Date, Money, MoneyError, Timestamp, days_from_date};
use jiff::tz::TimeZone;

use crate::files::accounts::cut;
use crate::plausibility::is_implausible_amount;

/// Two-digit years lie at most this far in the future.
const AHEAD_YEARS: i16 = 20;

pub(super) struct Balance {
    pub(super) on: Date,
    pub(super) currency: Currency,
    pub(super) minor: i64,
}

impl Balance {
    /// Parses a balance such as `C260301EUR1000,00`.
    pub(super) fn read(text: &str, today: Date) -> Result<Balance, String> {
        let text = text.trim();
        let wrong =
            || format!("the balance is \"{}\", but must be like C260331EUR1234,56", cut(text));
        let (is_credit, rest) = match text.split_at_checked(1).ok_or_else(wrong)? {
            ("C", rest) => (true, rest),
            ("D", rest) => (false, rest),
            _ => return Err(wrong()),
        };
        let (day, rest) = rest.split_at_checked(6).ok_or_else(wrong)?;
        let (code, amount) = rest.split_at_checked(3).ok_or_else(wrong)?;
        let on = date(day, today).ok_or_else(wrong)?;
        let currency = Currency::parse(code).map_err(|_| wrong())?;
        let minor = money(amount, currency)?.minor();
        Ok(Balance { on, currency, minor: if is_credit { minor } else { -minor } })
    }

    pub(super) fn as_of(&self) -> Option<Timestamp> {
        let midday = self.on.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).ok()?;
        Some(midday.timestamp())
    }
}

pub(super) struct Entry {
    pub(super) on: Date,
    /// Announced, but not booked.
    pub(super) is_expected: bool,
    pub(super) minor: i64,
    /// The transaction type, such as `NTRF`.
    pub(super) kind: String,
    pub(super) reference: Option<String>,
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
        let (on, rest) = match rest.split_at_checked(4) {
            Some((day, rest)) if is_number(day) => {
                let on = entry_date(day, value);
                (on.ok_or_else(|| wrong("its second date must be like 0331"))?, rest)
            }
            _ => (value, rest),
        };
        let (sign, rest) =
            sign(rest).ok_or_else(|| wrong("the dates must be followed by C or D"))?;
        // A letter here is the third of the currency code.
        let rest = rest.strip_prefix(|it: char| it.is_ascii_alphabetic()).unwrap_or(rest);
        let end = rest.find(|it: char| !it.is_ascii_digit() && it != ',' && it != '.');
        let (amount, rest) = rest.split_at(end.unwrap_or(rest.len()));
        let minor = money(amount, currency)?.minor();
        let (kind, references) = rest.split_at_checked(4).unwrap_or((rest, ""));
        let reference = references.split("//").next().unwrap_or_default().trim();
        let has_none = reference.is_empty() || reference == "NONREF";
        Ok(Entry {
            on,
            is_expected: sign.is_expected,
            minor: if sign.is_credit { minor } else { -minor },
            kind: kind.trim().to_owned(),
            reference: (!has_none).then(|| reference.to_owned()),
        })
    }
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

/// Parses a date such as `260331`.
fn date(text: &str, today: Date) -> Option<Date> {
    if text.len() != 6 || !is_number(text) {
        return None;
    }
    let year = 2000 + text[..2].parse::<i16>().ok()?;
    let year = if year > today.year().saturating_add(AHEAD_YEARS) { year - 100 } else { year };
    Date::new(year, text[2..4].parse().ok()?, text[4..].parse().ok()?).ok()
}

/// Parses a date such as `0331`, in the year nearest to the value date.
fn entry_date(text: &str, value: Date) -> Option<Date> {
    let (month, day) = (text[..2].parse().ok()?, text[2..].parse().ok()?);
    let years = [value.year(), value.year() - 1, value.year() + 1];
    let found = years.into_iter().filter_map(|year| Date::new(year, month, day).ok());
    found.min_by_key(|it| (days_from_date(*it) - days_from_date(value)).abs())
}

/// Parses an amount such as `1234,56` or `1234,`; it has no sign and no thousands separators.
fn money(text: &str, currency: Currency) -> Result<Money, String> {
    let text = text.trim();
    let plain = match text.split_once([',', '.']) {
        Some((whole, "")) => whole.to_owned(),
        Some((whole, fraction)) => format!("{whole}.{fraction}"),
        None => text.to_owned(),
    };
    let found = cut(text);
    match Money::parse(&plain, currency) {
        Ok(money) if !plain.starts_with('-') && !is_implausible_amount(money.minor()) => Ok(money),
        Ok(_) | Err(MoneyError::OutOfRange) if !plain.starts_with('-') => {
            Err(format!("the amount is {found}, which is too large"))
        }
        _ if text.is_empty() => Err("the amount is missing".to_owned()),
        _ => Err(format!(
            "the amount is \"{found}\", but must be like 1234,56, with at most {} decimals in \
             {currency}",
            currency.decimals()
        )),
    }
}
