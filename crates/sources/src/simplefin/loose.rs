//! Values as servers write them: numbers in quotes or without, ids that are numbers, things that are null or missing.

use base::{Currency, Fixed9, Money, MoneyError, Timestamp, date_from_days};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::bounds::{is_absurd, is_day};
use crate::decimal::nine_places;

/// A value that was not looked at yet; null counts as missing.
pub(super) type Loose<'a> = Option<&'a RawValue>;

/// The text of a string, a number or a truth.
pub(super) fn text(value: Loose<'_>) -> Option<String> {
    let raw = value?.get();
    let text: String = match raw.as_bytes().first()? {
        b'"' => serde_json::from_str(raw).ok()?,
        b'{' | b'[' => return None,
        _ => raw.to_owned(),
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The parts of a list, whatever each of them is.
pub(super) fn list(value: Loose<'_>) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value?.get()).ok()
}

/// The texts of a list, or the one text that stands in its place.
pub(super) fn texts(value: Loose<'_>) -> Vec<String> {
    match list(value) {
        Some(list) => list.into_iter().filter_map(|it| text(Some(it))).collect(),
        None => text(value).into_iter().collect(),
    }
}

pub(super) fn object<'a, T: Deserialize<'a>>(value: Loose<'a>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}

pub(super) fn truth(value: Loose<'_>) -> bool {
    text(value).is_some_and(|it| it == "true" || it == "1")
}

/// Seconds since 1970. Zero means that nobody knows.
pub(super) fn moment(value: Loose<'_>) -> Option<Timestamp> {
    let seconds = seconds(value).filter(|it| *it > 0)?;
    let at = Timestamp::from_second(seconds).ok()?;
    is_day(date_from_days(seconds.div_euclid(86_400))).then_some(at)
}

pub(super) fn seconds(value: Loose<'_>) -> Option<i64> {
    let text = text(value)?;
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    fraction.bytes().all(|it| it.is_ascii_digit()).then(|| whole.parse().ok())?
}

/// None when there is no value at all.
pub(super) fn money(value: Loose<'_>, currency: Currency) -> Option<Result<Money, MoneyError>> {
    let text = text(value)?;
    let money = Money::parse(&with_zero(&text), currency);
    Some(money.and_then(|it| match is_absurd(it.minor()) {
        true => Err(MoneyError::OutOfRange),
        false => Ok(it),
    }))
}

/// None when it is missing or makes no sense: valuations may be unknown.
pub(super) fn decimal(value: Loose<'_>) -> Option<Fixed9> {
    let text = text(value)?;
    let text = with_zero(&text);
    Fixed9::parse(&text).ok().or_else(|| nine_places(&text))
}

/// `.5` and `+5` are numbers to a bank.
fn with_zero(text: &str) -> String {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let zero = if digits.starts_with('.') { "0" } else { "" };
    format!("{sign}{zero}{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn numbers_are_the_same_in_quotes_and_without() {
        for json in ["\"-12.30\"", "-12.30", "\" -12.3 \"", "\"-12.300\""] {
            let money = money(Some(&raw(json)), Currency::USD).unwrap().unwrap();
            assert_eq!(money.minor(), -1_230, "{json}");
        }
        assert_eq!(money(Some(&raw("\"+.5\"")), Currency::USD).unwrap().unwrap().minor(), 50);
        for json in ["\"12.345\"", "\"1,200.00\"", "\"abc\"", "1e3", "true"] {
            assert!(money(Some(&raw(json)), Currency::USD).unwrap().is_err(), "{json}");
        }
        for json in ["\"\"", "{}", "[1]"] {
            assert!(money(Some(&raw(json)), Currency::USD).is_none(), "{json}");
        }
    }

    #[test]
    fn moments_have_no_zero() {
        for json in ["1700000000", "\"1700000000\"", "1700000000.0"] {
            assert_eq!(moment(Some(&raw(json))).unwrap().as_second(), 1_700_000_000);
        }
        for json in ["0", "\"0\"", "-5", "\"soon\"", "99999999999999999999"] {
            assert_eq!(moment(Some(&raw(json))), None, "{json}");
        }
    }

    #[test]
    fn shares_may_be_many_or_very_divided() {
        for (json, shown) in [
            ("\"2000000000.5\"", Some("2000000000.5")),
            ("0.12345678901234", Some("0.123456789")),
            ("1.5e2", Some("150")),
            ("\"n/a\"", None),
        ] {
            let read = decimal(Some(&raw(json))).map(|it| it.to_string());
            assert_eq!(read.as_deref(), shown, "{json}");
        }
    }
}
