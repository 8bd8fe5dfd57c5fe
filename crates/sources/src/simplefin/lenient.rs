//! Lenient readers for JSON values as servers write them: numbers with or without quotes, numeric ids, null or
//! missing values.

use base::{Currency, Fixed9, Money, MoneyError, Timestamp, date_from_days};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json_decimal::parse_json_decimal;
use crate::plausibility::{is_implausible_amount, is_plausible_date};

/// A raw JSON value; null counts as missing.
pub(super) type RawField<'a> = Option<&'a RawValue>;

/// The text of a string, number or boolean.
pub(super) fn text(value: RawField<'_>) -> Option<String> {
    let raw = value?.get();
    let text: String = match raw.as_bytes().first()? {
        b'"' => serde_json::from_str(raw).ok()?,
        b'{' | b'[' => return None,
        _ => raw.to_owned(),
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The elements of a list, whatever their type.
pub(super) fn list(value: RawField<'_>) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value?.get()).ok()
}

/// The texts of a list, or a single text in its place.
pub(super) fn texts(value: RawField<'_>) -> Vec<String> {
    match list(value) {
        Some(list) => list.into_iter().filter_map(|it| text(Some(it))).collect(),
        None => text(value).into_iter().collect(),
    }
}

pub(super) fn object<'a, T: Deserialize<'a>>(value: RawField<'a>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}

pub(super) fn boolean(value: RawField<'_>) -> bool {
    text(value).is_some_and(|it| it == "true" || it == "1")
}

/// A moment from seconds since 1970. Zero means unknown.
pub(super) fn moment(value: RawField<'_>) -> Option<Timestamp> {
    let seconds = seconds(value).filter(|it| *it > 0)?;
    let at = Timestamp::from_second(seconds).ok()?;
    is_plausible_date(date_from_days(seconds.div_euclid(86_400))).then_some(at)
}

pub(super) fn seconds(value: RawField<'_>) -> Option<i64> {
    let text = text(value)?;
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    fraction.bytes().all(|it| it.is_ascii_digit()).then(|| whole.parse().ok())?
}

/// None if there is no value at all.
pub(super) fn money(value: RawField<'_>, currency: Currency) -> Option<Result<Money, MoneyError>> {
    let text = text(value)?;
    let money = Money::parse(&with_zero(&text), currency);
    Some(money.and_then(|it| match is_implausible_amount(it.minor()) {
        true => Err(MoneyError::OutOfRange),
        false => Ok(it),
    }))
}

/// None if it is missing or not a number: valuations may be unknown.
pub(super) fn decimal(value: RawField<'_>) -> Option<Fixed9> {
    let text = text(value)?;
    let text = with_zero(&text);
    Fixed9::parse(&text).ok().or_else(|| parse_json_decimal(&text))
}

/// Normalizes numbers such as `.5` and `+5`.
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
    fn a_zero_moment_is_unknown() {
        for json in ["1700000000", "\"1700000000\"", "1700000000.0"] {
            assert_eq!(moment(Some(&raw(json))).unwrap().as_second(), 1_700_000_000);
        }
        for json in ["0", "\"0\"", "-5", "\"soon\"", "99999999999999999999"] {
            assert_eq!(moment(Some(&raw(json))), None, "{json}");
        }
    }

    #[test]
    fn large_and_fractional_share_counts_are_parsed() {
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
