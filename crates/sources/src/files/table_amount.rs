//! Parses amounts in tables: signs before or after, parentheses, thousands separators, currencies, and either decimal
//! mark.

use base::{Currency, words};

use crate::plausibility::is_implausible_amount;

words!(
    /// The character between the whole part and the decimals.
    DecimalMark {
        Dot => "dot",
        Comma => "comma",
    }
);

/// An amount with its sign as written, and the direction if CR or DR stands beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WrittenAmount {
    pub(crate) minor: i64,
    pub(crate) direction: Option<Direction>,
    /// Whether it is written with a plus.
    pub(crate) has_plus: bool,
    /// Whether it has more decimals than its currency, and was rounded.
    pub(crate) is_rounded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AmountError {
    NotANumber,
    TooLarge,
    /// The cell names a currency, and it is not the expected one.
    OtherCurrency(Currency),
}

/// Longer text is not an amount.
const BYTES_MAX: usize = 64;

/// The amount in minor units, or why the text is not one. Decimals beyond those of the currency are rounded half away
/// from zero.
pub(crate) fn read(
    text: &str,
    mark: DecimalMark,
    currency: Currency,
) -> Result<WrittenAmount, AmountError> {
    let decimals = currency.decimals();
    let written = match plain(text.as_bytes(), mark, decimals) {
        Some(minor) => WrittenAmount { minor, direction: None, has_plus: false, is_rounded: false },
        None if text.len() > BYTES_MAX => return Err(AmountError::NotANumber),
        None => decorated(text, mark, currency)?,
    };
    if is_implausible_amount(written.minor) { Err(AmountError::TooLarge) } else { Ok(written) }
}

/// Fast path for the common form, such as `-12.34`.
fn plain(text: &[u8], mark: DecimalMark, decimals: u32) -> Option<i64> {
    let (is_negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    // Eighteen digits always fit into an `i64`.
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let point = if mark == DecimalMark::Dot { b'.' } else { b',' };
    let mut value: i64 = 0;
    let mut places = None;
    for byte in digits {
        match (byte, &mut places) {
            (b'0'..=b'9', places) => {
                value = value * 10 + i64::from(byte - b'0');
                *places = places.map(|it: u32| it + 1);
            }
            (_, None) if *byte == point => places = Some(0),
            _ => return None,
        }
    }
    let missing = match places {
        // A decimal mark without decimals is left to the slow path.
        Some(0) => return None,
        Some(places) => decimals.checked_sub(places)?,
        None => decimals,
    };
    let value = value.checked_mul(10_i64.pow(missing))?;
    Some(if is_negative { -value } else { value })
}

fn decorated(
    text: &str,
    mark: DecimalMark,
    currency: Currency,
) -> Result<WrittenAmount, AmountError> {
    let bare = BareAmount::of(text)?;
    if let Some(named) = bare.currency.filter(|it| *it != currency) {
        return Err(AmountError::OtherCurrency(named));
    }
    let (value, is_rounded) = number(bare.digits, mark, currency.decimals())?;
    let signed = if bare.is_negative { -value } else { value };
    let minor = i64::try_from(signed).map_err(|_| AmountError::TooLarge)?;
    let BareAmount { direction, has_plus, .. } = bare;
    Ok(WrittenAmount { minor, direction, has_plus, is_rounded })
}

/// An amount with signs and currency stripped.
struct BareAmount<'a> {
    digits: &'a str,
    is_negative: bool,
    has_plus: bool,
    direction: Option<Direction>,
    currency: Option<Currency>,
}

impl<'a> BareAmount<'a> {
    /// Strips signs, currency and CR or DR one after the other. Each may occur once: `--5` is not a number.
    fn of(text: &'a str) -> Result<BareAmount<'a>, AmountError> {
        let mut bare = BareAmount {
            digits: text,
            is_negative: false,
            has_plus: false,
            direction: None,
            currency: None,
        };
        let (mut has_sign, mut has_currency) = (false, false);
        loop {
            let rest = bare.digits.trim();
            bare.digits = rest;
            if let Some((inner, is_negative)) = without_sign(rest) {
                if std::mem::replace(&mut has_sign, true) {
                    return Err(AmountError::NotANumber);
                }
                (bare.digits, bare.is_negative) = (inner, is_negative);
                bare.has_plus = !is_negative;
            } else if let Some((inner, named)) = without_currency(rest) {
                if std::mem::replace(&mut has_currency, true) {
                    return Err(AmountError::NotANumber);
                }
                (bare.digits, bare.currency) = (inner, named);
            } else if let Some((inner, direction)) = without_direction(rest) {
                if bare.direction.replace(direction).is_some() {
                    return Err(AmountError::NotANumber);
                }
                bare.digits = inner;
            } else {
                return Ok(bare);
            }
        }
    }
}

fn without_sign(text: &str) -> Option<(&str, bool)> {
    const MINUS: [char; 3] = ['-', '\u{2212}', '\u{2013}'];
    if let Some(inner) = text.strip_prefix('(').and_then(|it| it.strip_suffix(')')) {
        return Some((inner, true));
    }
    let negative = text.strip_prefix(MINUS).or_else(|| text.strip_suffix(MINUS));
    let positive = || text.strip_prefix('+').or_else(|| text.strip_suffix('+'));
    negative.map(|it| (it, true)).or_else(|| positive().map(|it| (it, false)))
}

/// Signs of currencies, the longer ones first. Many countries have dollars and crowns or use the yen sign, so `$`, `kr`
/// and `¥` name no currency.
const SIGNS: [(&str, Option<&str>); 25] = [
    ("US$", Some("USD")),
    ("NZ$", Some("NZD")),
    ("HK$", Some("HKD")),
    ("CA$", Some("CAD")),
    ("AU$", Some("AUD")),
    ("A$", Some("AUD")),
    ("C$", Some("CAD")),
    ("S$", Some("SGD")),
    ("R$", Some("BRL")),
    ("$", None),
    ("¥", None),
    ("€", Some("EUR")),
    ("£", Some("GBP")),
    ("₹", Some("INR")),
    ("₽", Some("RUB")),
    ("₩", Some("KRW")),
    ("₺", Some("TRY")),
    ("₪", Some("ILS")),
    ("zł", Some("PLN")),
    ("Kč", Some("CZK")),
    ("Ft", Some("HUF")),
    ("Rs.", Some("INR")),
    ("kr.", None),
    ("kr", None),
    ("Fr.", None),
];

fn without_currency(text: &str) -> Option<(&str, Option<Currency>)> {
    for (sign, code) in SIGNS {
        if let Some(inner) = text.strip_prefix(sign).or_else(|| text.strip_suffix(sign)) {
            return Some((inner, code.and_then(|it| Currency::parse(it).ok())));
        }
    }
    let code = |it: &str| Currency::parse(&it.to_ascii_uppercase()).ok();
    if let Some((Some(named), inner)) = text.split_at_checked(3).map(|(a, b)| (code(a), b)) {
        return Some((inner, Some(named)));
    }
    let (inner, last) = text.split_at_checked(text.len().checked_sub(3)?)?;
    code(last).map(|named| (inner, Some(named)))
}

fn without_direction(text: &str) -> Option<(&str, Direction)> {
    let (inner, last) = text.split_at_checked(text.len().checked_sub(2)?)?;
    match last {
        " C" | " H" => return Some((inner, Direction::In)),
        " D" | " S" => return Some((inner, Direction::Out)),
        _ => {}
    }
    match last {
        _ if last.eq_ignore_ascii_case("cr") => Some((inner, Direction::In)),
        _ if last.eq_ignore_ascii_case("dr") => Some((inner, Direction::Out)),
        _ => None,
    }
}

/// The currency that an amount names, by its code or its sign.
pub(crate) fn named_currency(text: &str) -> Option<Currency> {
    let is_plain = |it: u8| it.is_ascii_digit() || matches!(it, b'-' | b'.' | b',' | b'+');
    if text.len() > BYTES_MAX || text.bytes().all(is_plain) {
        return None;
    }
    BareAmount::of(text).ok()?.currency
}

/// Parses digits with grouped thousands and at most one decimal mark, and says whether decimals were rounded away.
/// Indian groups of two digits are allowed.
fn number(text: &str, mark: DecimalMark, decimals: u32) -> Result<(i128, bool), AmountError> {
    let (point, comma) = if mark == DecimalMark::Dot { ('.', ',') } else { (',', '.') };
    let (whole, fraction) = text.split_once(point).unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    let is_grouping = |it: char| it == comma || matches!(it, '\'' | '’') || it.is_whitespace();
    let mut value: i128 = 0;
    let mut has_digits = text.ends_with(|it: char| it.is_ascii_digit());
    let mut groups = 0;
    for group in whole.split(is_grouping) {
        let fits = match (groups, group.len()) {
            (0, _) => true,
            (_, length) => length == 2 || length == 3,
        };
        if !fits || !group.bytes().all(|it| it.is_ascii_digit()) {
            return Err(AmountError::NotANumber);
        }
        groups += 1;
        has_digits |= !group.is_empty();
        for byte in group.bytes() {
            value = append(value, byte)?;
        }
    }
    let edges = whole.split(is_grouping).next().zip(whole.rsplit(is_grouping).next());
    let is_grouped_well =
        edges.is_none_or(|(first, last)| (1..=3).contains(&first.len()) && last.len() == 3);
    if (groups > 1 && !is_grouped_well)
        || !has_digits
        || !fraction.bytes().all(|it| it.is_ascii_digit())
    {
        return Err(AmountError::NotANumber);
    }
    let kept = fraction.len().min(decimals as usize);
    let missing = decimals as usize - kept;
    for byte in fraction.bytes().take(kept).chain(std::iter::repeat_n(b'0', missing)) {
        value = append(value, byte)?;
    }
    let is_up = fraction.as_bytes().get(kept).is_some_and(|it| *it >= b'5');
    Ok((value + i128::from(is_up), fraction.len() > kept))
}

fn append(value: i128, digit: u8) -> Result<i128, AmountError> {
    let next = value.checked_mul(10).and_then(|it| it.checked_add(i128::from(digit - b'0')));
    next.ok_or(AmountError::TooLarge)
}

/// Whether the text could be an amount in some currency, with either decimal mark.
pub(crate) fn looks_like(text: &str) -> bool {
    if text.len() > BYTES_MAX || !text.bytes().any(|it| it.is_ascii_digit()) {
        return false;
    }
    let is_number = |digits: &str| {
        [DecimalMark::Dot, DecimalMark::Comma].iter().any(|it| number(digits, *it, 9).is_ok())
    };
    BareAmount::of(text).is_ok_and(|bare| is_number(bare.digits))
}

/// Counts the evidence for either decimal mark in a column of amounts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DecimalMarkCounts {
    dots: usize,
    commas: usize,
    /// Amounts with exactly three digits after their only mark, which may be thousands.
    open_dots: usize,
    open_commas: usize,
}

impl DecimalMarkCounts {
    pub(crate) fn count(&mut self, text: &str) {
        let text = text.trim_end_matches(|it: char| !it.is_ascii_digit());
        let Some(last) = text.rfind(['.', ',']) else { return };
        let (before, behind) = (&text[..last], &text[last + 1..]);
        if !behind.bytes().all(|it| it.is_ascii_digit()) {
            return;
        }
        let is_dot = text.as_bytes()[last] == b'.';
        let (same, other) = if is_dot { ('.', ',') } else { (',', '.') };
        let is_decimal = match (before.contains(same), before.contains(other)) {
            (true, _) => Some(false),
            (false, true) => Some(true),
            // 0.125 and 1234.567 are no thousands.
            (false, false) => {
                let digits = before.trim_start_matches(|it: char| !it.is_ascii_digit());
                let is_group = (1..=3).contains(&digits.len()) && !digits.starts_with('0');
                (behind.len() != 3 || !is_group).then_some(true)
            }
        };
        match (is_decimal, is_dot) {
            (None, true) => self.open_dots += 1,
            (None, false) => self.open_commas += 1,
            (Some(true), true) | (Some(false), false) => self.dots += 1,
            (Some(true), false) | (Some(false), true) => self.commas += 1,
        }
    }

    /// The mark with more clear evidence. Without any, three digits after a mark are thousands, because few
    /// currencies have three decimals.
    pub(crate) fn mark(self) -> DecimalMark {
        let is_comma = match self.dots.cmp(&self.commas) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => self.open_dots > self.open_commas,
        };
        if is_comma { DecimalMark::Comma } else { DecimalMark::Dot }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str, mark: DecimalMark, code: &str) -> String {
        match read(text, mark, Currency::parse(code).unwrap()) {
            Ok(WrittenAmount { minor, is_rounded: true, .. }) => format!("{minor} rounded"),
            Ok(WrittenAmount { minor, direction: None, .. }) => minor.to_string(),
            Ok(WrittenAmount { minor, direction: Some(direction), .. }) => {
                format!("{minor} {direction:?}")
            }
            Err(error) => format!("{error:?}"),
        }
    }

    #[test]
    fn amounts_are_parsed_with_signs_currencies_and_separators() {
        for (text, expected) in [
            ("12", "1200"),
            ("12.3", "1230"),
            ("-12.34", "-1234"),
            ("(1.23)", "-123"),
            ("($1,234.50)", "-123450"),
            ("-$1,234.50", "-123450"),
            ("$-1,234.50", "-123450"),
            ("1,234.50-", "-123450"),
            ("+1.00", "100"),
            ("1\u{a0}234.50", "123450"),
            ("1\u{202f}234.50", "123450"),
            ("1'234'567.05", "123456705"),
            ("12,34,567.00", "123456700"),
            ("USD 5.00", "500"),
            ("5.00 usd", "500"),
            ("12.50 CR", "1250 In"),
            ("12.50DR", "1250 Out"),
            ("\u{2212}0.01", "-1"),
            ("12.500", "1250"),
            (".5", "50"),
            ("5.", "500"),
            ("1000000000000.00", "100000000000000"),
            ("1000000000000.01", "TooLarge"),
            ("USD 1000000000000.01", "TooLarge"),
            ("-92233720368547758.08", "TooLarge"),
            ("92233720368547758.08", "TooLarge"),
            ("99999999999999999999999999999999999999999999", "TooLarge"),
            ("12.505", "1251 rounded"),
            ("-0.004", "0 rounded"),
            ("-1234.5678", "-123457 rounded"),
            ("12.50 H", "1250 In"),
            ("12.50 S", "1250 Out"),
            ("R$ 5.00", "OtherCurrency(BRL)"),
            ("5.00 kr", "500"),
            ("5.00 EUR", "OtherCurrency(EUR)"),
            ("€5.00", "OtherCurrency(EUR)"),
            ("", "NotANumber"),
            ("-", "NotANumber"),
            (".", "NotANumber"),
            ("--5", "NotANumber"),
            ("(-5)", "NotANumber"),
            ("$$5", "NotANumber"),
            ("1,23", "NotANumber"),
            ("1,2345", "NotANumber"),
            ("1234,567", "NotANumber"),
            ("1.2.3", "NotANumber"),
            ("1e5", "NotANumber"),
            ("12a", "NotANumber"),
            ("é", "NotANumber"),
        ] {
            assert_eq!(shown(text, DecimalMark::Dot, "USD"), expected, "{text:?}");
        }
        for (text, expected) in [
            ("1.234,50-", "-123450"),
            ("+1,00", "100"),
            ("-12,5 €", "-1250"),
            ("1.234", "123400"),
            ("12.34", "NotANumber"),
        ] {
            assert_eq!(shown(text, DecimalMark::Comma, "EUR"), expected, "{text:?}");
        }
        assert_eq!(shown("1200", DecimalMark::Dot, "JPY"), "1200");
        assert_eq!(shown("1200.5", DecimalMark::Dot, "JPY"), "1201 rounded");
        assert_eq!(shown("1.234", DecimalMark::Dot, "KWD"), "1234");
    }

    #[test]
    fn an_amount_may_name_its_currency() {
        for (text, code) in [
            ("-12.50", None),
            ("$12.50", None),
            ("12.50 SGD", Some("SGD")),
            ("€ 12,50", Some("EUR")),
            ("12,50 zł", Some("PLN")),
            ("12.50 AAPL", None),
        ] {
            let named = named_currency(text);
            assert_eq!(named.as_ref().map(Currency::code), code, "{text}");
        }
    }

    #[test]
    fn the_decimal_mark_is_determined_from_a_column() {
        for (column, mark) in [
            (&["1.234,50", "12"][..], DecimalMark::Comma),
            (&["1,234.50"], DecimalMark::Dot),
            (&["1.234", "0,5"], DecimalMark::Comma),
            (&["1.234"], DecimalMark::Comma),
            (&["1,234"], DecimalMark::Dot),
            (&["1.234", "0.125"], DecimalMark::Dot),
            (&["1234.567"], DecimalMark::Dot),
            (&["1.234.567"], DecimalMark::Comma),
            (&["-5,00 €", "3.000"], DecimalMark::Comma),
            (&["12", ""], DecimalMark::Dot),
        ] {
            let mut marks = DecimalMarkCounts::default();
            column.iter().for_each(|it| marks.count(it));
            assert_eq!(marks.mark(), mark, "{column:?}");
        }
    }

    proptest! {
        #[test]
        fn written_amounts_are_read_back(
            minor in -100_000_000_000_000..=100_000_000_000_000_i64,
            code in "USD|JPY|KWD|EUR",
            comma: bool,
        ) {
            let currency = Currency::parse(&code).unwrap();
            let mut text = Vec::new();
            base::Money::new(minor, currency).write(&mut text);
            let text = String::from_utf8(text).unwrap();
            let (text, mark) = match comma {
                true => (text.replace('.', ","), DecimalMark::Comma),
                false => (text, DecimalMark::Dot),
            };
            let read = read(&text, mark, currency).unwrap();
            prop_assert_eq!((read.minor, read.direction, read.is_rounded), (minor, None, false));
            prop_assert!(looks_like(&text));
        }

        #[test]
        fn nothing_makes_it_panic(text in "[-+()$€0-9.,' \u{a0}CRDrEUé]{0,20}|.*") {
            for mark in DecimalMark::ALL {
                let _ = read(&text, *mark, Currency::USD);
            }
            let mut marks = DecimalMarkCounts::default();
            marks.count(&text);
            looks_like(&text);
        }
    }
}
