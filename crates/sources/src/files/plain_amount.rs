//! Parses amounts of OFX, QIF and CAMT: normalizes them to the plain decimal form that `base` parses exactly.

use std::borrow::Cow;

use base::{Currency, DecimalError, Money, parse_scaled};

use crate::plausibility::is_implausible_amount;

/// How many characters of the file a rejection quotes.
const QUOTED_MAX: usize = 40;

/// The meaning of a comma that is the only mark in a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comma {
    /// The decimal mark, as OFX specifies.
    Decimal,
    /// The decimal mark, unless three digits follow it: then a thousands separator.
    Grouping,
}

/// Parses an amount, or says what is wrong with it.
pub(super) fn amount(text: &str, comma: Comma, currency: Currency) -> Result<Money, String> {
    let malformed = || format!("the amount {} is no number such as -12.34", quote(text));
    let plain = plain(text, comma).ok_or_else(malformed)?;
    match parse_scaled(&plain, currency.decimals()) {
        Ok(minor) => match i64::try_from(minor) {
            Ok(minor) if !is_implausible_amount(minor) => Ok(Money::new(minor, currency)),
            _ => Err(too_large(text)),
        },
        Err(DecimalError::TooLong) => Err(too_large(text)),
        Err(DecimalError::TooPrecise) => Err(format!(
            "the amount {} has more decimals than the {} of {currency}",
            quote(text),
            currency.decimals()
        )),
        Err(DecimalError::Malformed) => Err(malformed()),
    }
}

fn too_large(text: &str) -> String {
    format!("the amount {} is too large to be true", quote(text))
}

/// The text in quotation marks, cut if it is long.
pub(super) fn quote(text: &str) -> String {
    match text.char_indices().nth(QUOTED_MAX) {
        Some((end, _)) => format!("\"{}...\"", &text[..end]),
        None => format!("\"{text}\""),
    }
}

/// The number with a point as its only mark. None if its marks contradict each other.
pub(super) fn plain(text: &str, comma: Comma) -> Option<Cow<'_, str>> {
    let is_plain = |it: &u8| it.is_ascii_digit() || *it == b'-';
    let bytes = text.as_bytes();
    if bytes.iter().all(is_plain) {
        return Some(Cow::Borrowed(text));
    }
    let unsigned = text.trim_start_matches(['+', '-']);
    let sign = match text.strip_suffix(unsigned)? {
        "" | "+" => "",
        "-" => "-",
        _ => return None,
    };
    let (whole, fraction) = split(unsigned.trim_start(), comma)?;
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let zero = if whole.is_empty() { "0" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    if !whole.contains([',', '.']) {
        let is_usual = zero.is_empty() && bytes.iter().all(|it| is_plain(it) || *it == b'.');
        if is_usual && !point.is_empty() {
            return Some(Cow::Borrowed(text));
        }
    }
    let whole: String = whole.chars().filter(|it| !matches!(it, ',' | '.')).collect();
    Some(Cow::Owned(format!("{sign}{zero}{whole}{point}{fraction}")))
}

/// The digits before and after the decimal mark; those before may be grouped in threes.
fn split(number: &str, comma: Comma) -> Option<(&str, &str)> {
    let Some(last) = number.rfind([',', '.']) else { return Some((number, "")) };
    let (whole, fraction) = (&number[..last], &number[last + 1..]);
    let mark = &number[last..=last];
    let group = match (whole.find([',', '.']), mark) {
        // A repeated mark can only be a thousands separator.
        (Some(_), _) if whole.contains(mark) => return grouped(number, mark),
        (Some(_), ",") => ".",
        (Some(_), _) => ",",
        (None, ",") if comma == Comma::Grouping && fraction.len() == 3 => {
            return grouped(number, mark);
        }
        (None, _) => return Some((whole, fraction)),
    };
    let (whole, _) = grouped(whole, group)?;
    Some((whole, fraction))
}

fn grouped<'a>(whole: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let mut groups = whole.split(mark);
    let first = groups.next()?;
    let fits = (1..=3).contains(&first.len()) && groups.all(|it| it.len() == 3);
    fits.then_some((whole, ""))
}

#[cfg(test)]
mod tests {
    use base::Currency;

    use super::{Comma, amount, quote};

    fn check(text: &str, comma: Comma, expected: &str) {
        let shown = match amount(text, comma, Currency::USD) {
            Ok(money) => money.to_string(),
            Err(reason) => reason,
        };
        assert_eq!(shown, expected, "{text} {comma:?}");
    }

    #[test]
    fn amounts_are_read_whatever_marks_a_bank_uses() {
        for comma in [Comma::Decimal, Comma::Grouping] {
            check("12.34", comma, "12.34 USD");
            check("-12,3", comma, "-12.30 USD");
            check("+7", comma, "7.00 USD");
            check("- 7.00", comma, "-7.00 USD");
            check(".5", comma, "0.50 USD");
            check("-.5", comma, "-0.50 USD");
            check("5.", comma, "5.00 USD");
            check("1,234.56", comma, "1234.56 USD");
            check("-1.234.567,89", comma, "-1234567.89 USD");
            check("1,234,567", comma, "1234567.00 USD");
            check("-12.3400", comma, "-12.34 USD");
        }
        check("1,234", Comma::Grouping, "1234.00 USD");
    }

    #[test]
    fn ambiguous_amounts_are_rejected_with_a_reason() {
        let decimals = "has more decimals than the 2 of USD";
        check("1,234", Comma::Decimal, &format!("the amount \"1,234\" {decimals}"));
        check("1.234", Comma::Grouping, &format!("the amount \"1.234\" {decimals}"));
        for bad in ["", "-", ".", "1e3", "12.34-", "--1", "1,23,456", "1.2.3", "1,234.567.8", "$5"]
        {
            check(
                bad,
                Comma::Decimal,
                &format!("the amount {} is no number such as -12.34", quote(bad)),
            );
        }
        for large in ["1000000000000.01", "99999999999999999999999999999999999999999"] {
            let shown = quote(large);
            check(large, Comma::Decimal, &format!("the amount {shown} is too large to be true"));
        }
    }

    #[test]
    fn quotes_are_cut() {
        assert_eq!(quote(&"é".repeat(41)), format!("\"{}...\"", "é".repeat(40)));
    }
}
