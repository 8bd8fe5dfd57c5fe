//! Parses amounts of OFX, QIF and CAMT: normalizes them to the plain decimal form that `base` parses exactly.

use std::borrow::Cow;

use base::{Currency, DecimalError, Money, parse_scaled};

use crate::plausibility::is_implausible_amount;

/// How many characters of the file a rejection quotes.
const QUOTED_MAX: usize = 40;

/// The meaning of a comma that is the only mark in a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comma {
    /// The decimal mark, in a format that knows no other and no thousands separators, as MT940.
    Only,
    /// The decimal mark.
    Decimal,
    /// The decimal mark, unless three digits follow it: then a thousands separator.
    Grouping,
    /// The decimal mark if a bank writes one, although the format knows the point, which is never anything else: CAMT and
    /// OFX.
    Improper,
}

/// An amount, and whether it was rounded because the file has more digits than the currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ParsedAmount {
    pub(super) money: Money,
    pub(super) is_rounded: bool,
}

impl ParsedAmount {
    pub(super) fn minor(self) -> i64 {
        self.money.minor()
    }
}

/// Parses an amount, or says what is wrong with it.
pub(super) fn amount(text: &str, comma: Comma, currency: Currency) -> Result<ParsedAmount, String> {
    let malformed = || format!("the amount {} is no number such as -12.34", quote(text));
    let plain = plain(text, comma).ok_or_else(malformed)?;
    // A currency without decimals has no mark but that of thousands.
    let marks = if currency.decimals() == 0 { Comma::Decimal } else { comma };
    let scaled = match parse_scaled(&plain, currency.decimals()) {
        Err(DecimalError::TooPrecise) if is_perhaps_grouped(text, &plain, marks) => {
            return Err(format!(
                "the amount {} has more decimals than the {} of {currency}",
                quote(text),
                currency.decimals()
            ));
        }
        Err(DecimalError::TooPrecise) => rounded(&plain, currency).map(|it| (it, true)),
        exact => exact.map(|it| (it, false)),
    };
    match scaled {
        Ok((minor, is_rounded)) => match i64::try_from(minor) {
            Ok(minor) if !is_implausible_amount(minor) => {
                Ok(ParsedAmount { money: Money::new(minor, currency), is_rounded })
            }
            _ => Err(too_large(text)),
        },
        Err(DecimalError::TooLong) => Err(too_large(text)),
        Err(_) => Err(malformed()),
    }
}

/// Whether the mark in a number such as 1,234 or 1.234 may separate thousands: exactly three digits follow it, and there
/// is no other mark, no leading zero, and no fourth digit before it.
fn is_perhaps_grouped(text: &str, plain: &str, comma: Comma) -> bool {
    let is_certain = match comma {
        Comma::Improper => !text.contains(','),
        Comma::Only => text.contains(','),
        Comma::Decimal | Comma::Grouping => false,
    };
    if is_certain {
        return false;
    }
    let unsigned = plain.trim_start_matches('-');
    let Some((whole, fraction)) = unsigned.split_once('.') else { return false };
    let marks = text.bytes().filter(|it| matches!(it, b',' | b'.')).count();
    marks == 1 && fraction.len() == 3 && whole.len() <= 3 && !whole.starts_with('0')
}

/// The number with as many decimals as the currency has. Halves are rounded away from zero, as banks do.
fn rounded(plain: &str, currency: Currency) -> Result<i128, DecimalError> {
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let decimals = currency.decimals() as usize;
    let (kept, dropped) = fraction.split_at_checked(decimals).ok_or(DecimalError::Malformed)?;
    let point = if kept.is_empty() { "" } else { "." };
    let kept = parse_scaled(&format!("{whole}{point}{kept}"), currency.decimals())?;
    let up = i128::from(dropped.as_bytes().first().is_some_and(|it| *it >= b'5'));
    Ok(if plain.starts_with('-') { kept - up } else { kept + up })
}

/// The note on a rounded amount.
pub(super) fn rounding_note(text: &str, money: Money) -> String {
    format!("the amount {} was rounded to {money}", quote(text))
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
    let spaced = ungrouped(unsigned.trim_start())?;
    let is_spaced = matches!(spaced, Cow::Owned(_));
    let (whole, fraction) = split(&spaced, comma)?;
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let zero = if whole.is_empty() { "0" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    if !is_spaced && !whole.contains([',', '.']) {
        let is_usual = zero.is_empty() && bytes.iter().all(|it| is_plain(it) || *it == b'.');
        if is_usual && !point.is_empty() {
            return Some(Cow::Borrowed(text));
        }
    }
    let whole: String = whole.chars().filter(|it| !matches!(it, ',' | '.')).collect();
    Some(Cow::Owned(format!("{sign}{zero}{whole}{point}{fraction}")))
}

/// The number without spaces and apostrophes between its thousands. None if they do not separate groups of three.
fn ungrouped(number: &str) -> Option<Cow<'_, str>> {
    let is_gap =
        |it: char| matches!(it, ' ' | '\u{A0}' | '\u{2009}' | '\u{202F}' | '\'' | '\u{2019}');
    if !number.contains(is_gap) {
        return Some(Cow::Borrowed(number));
    }
    let end = number.find([',', '.']).unwrap_or(number.len());
    let (whole, rest) = number.split_at(end);
    let mut groups = whole.split(is_gap);
    let first = groups.next()?;
    let fits = (1..=3).contains(&first.len()) && groups.all(|it| it.len() == 3);
    (fits && !rest.contains(is_gap)).then(|| Cow::Owned(whole.replace(is_gap, "") + rest))
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
    // Some programs write nothing before the first separator, as in `,300.00`.
    let whole = whole.strip_prefix(group).filter(|it| it.len() >= 3).unwrap_or(whole);
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

    use super::{Comma, ParsedAmount, amount, quote};

    fn check(text: &str, comma: Comma, expected: &str) {
        let shown = match amount(text, comma, Currency::USD) {
            Ok(ParsedAmount { money, is_rounded: true }) => format!("about {money}"),
            Ok(ParsedAmount { money, .. }) => money.to_string(),
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
            check(",300.00", comma, "300.00 USD");
            check("-,109.59", comma, "-109.59 USD");
            check("1 234.56", comma, "1234.56 USD");
            check("-1\u{A0}234\u{A0}567,89", comma, "-1234567.89 USD");
            check("1'234.5", comma, "1234.50 USD");
        }
        check("1,234", Comma::Grouping, "1234.00 USD");
    }

    #[test]
    fn amounts_with_more_decimals_than_the_currency_are_rounded() {
        check("3070.1328011762807", Comma::Decimal, "about 3070.13 USD");
        check("-995.4190396554627", Comma::Decimal, "about -995.42 USD");
        check("+00000000000115.8331", Comma::Decimal, "about 115.83 USD");
        check("-0.005", Comma::Decimal, "about -0.01 USD");
        check("-0.004", Comma::Decimal, "about 0.00 USD");
        check("999.9999", Comma::Decimal, "about 1000.00 USD");
        check("1234.567", Comma::Grouping, "about 1234.57 USD");
        check("1,234.5678", Comma::Grouping, "about 1234.57 USD");
        check("12,3456", Comma::Decimal, "about 12.35 USD");
        check("1.005", Comma::Improper, "about 1.01 USD");
        check("1,005", Comma::Only, "about 1.01 USD");
    }

    #[test]
    fn ambiguous_amounts_are_rejected_with_a_reason() {
        let decimals = "has more decimals than the 2 of USD";
        check("1,234", Comma::Decimal, &format!("the amount \"1,234\" {decimals}"));
        check("1.234", Comma::Grouping, &format!("the amount \"1.234\" {decimals}"));
        check("1,234", Comma::Improper, &format!("the amount \"1,234\" {decimals}"));
        for bad in [
            "",
            "-",
            ".",
            "1e3",
            "12.34-",
            "--1",
            "1,23,456",
            "1.2.3",
            "1,234.567.8",
            "$5",
            "1 00.00",
            "1234 567",
            ",30.00",
            "12 .34",
            "1 234,567 8",
        ] {
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
