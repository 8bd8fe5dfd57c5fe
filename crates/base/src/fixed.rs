//! Exact decimals: quantities and prices with nine decimals, percentages with two; parsing and formatting.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    #[error("must be a plain decimal number")]
    Malformed,
    #[error("has more than the allowed number of decimals")]
    TooPrecise,
    #[error("has too many digits")]
    TooLong,
}

/// A share quantity or price in billionths. 128 bits, so that the product of two is exact.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Fixed9(i128);

impl Fixed9 {
    pub const ONE: Fixed9 = Fixed9(1_000_000_000);
    pub const ZERO: Fixed9 = Fixed9(0);
    /// Nineteen digits before the decimal point, so that products fit into 128 bits.
    const BOUND: i128 = 10_i128.pow(28);

    pub fn from_billionths(billionths: i128) -> Fixed9 {
        Fixed9(billionths)
    }

    pub fn billionths(self) -> i128 {
        self.0
    }

    pub fn parse(text: &str) -> Result<Fixed9, DecimalError> {
        match parse_scaled(text, 9)? {
            value if value.abs() < Self::BOUND => Ok(Fixed9(value)),
            _ => Err(DecimalError::TooLong),
        }
    }

    /// Parses a JSON number in any form that JSON allows, exponents included.
    pub fn parse_json(text: &str) -> Result<Fixed9, DecimalError> {
        match parse_json_scaled(text, 9)? {
            value if value.abs() < Self::BOUND => Ok(Fixed9(value)),
            _ => Err(DecimalError::TooLong),
        }
    }

    /// The value of this quantity at a price, in minor units of a currency with `decimals`, rounded half to even. None
    /// if it does not fit into 64 bits.
    pub fn times_price(self, price: Fixed9, decimals: u32) -> Option<i64> {
        let product = self.0.checked_mul(price.0)?;
        let divisor = 10_i128.pow(18 - decimals.min(18));
        i64::try_from(divide_half_even(product, divisor)).ok()
    }

    /// Appends the shortest exact decimal, without trailing zeros.
    pub fn write(self, out: &mut Vec<u8>) {
        let mut value = self.0;
        let mut decimals = 9;
        while decimals > 0 && value % 10 == 0 {
            value /= 10;
            decimals -= 1;
        }
        write_scaled(out, value, decimals);
    }
}

impl fmt::Display for Fixed9 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        self.write(&mut text);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

impl fmt::Debug for Fixed9 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Hundredths of a percent: 2550 is 25.5 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent(pub i64);

impl Percent {
    /// `part` as a percentage of `whole`, rounded half to even; none if `whole` is zero.
    pub fn of(part: i64, whole: i64) -> Option<Percent> {
        if whole == 0 {
            return None;
        }
        let (part, whole) = if whole < 0 {
            (-i128::from(part), -i128::from(whole))
        } else {
            (i128::from(part), i128::from(whole))
        };
        i64::try_from(divide_half_even(part * 10_000, whole)).ok().map(Percent)
    }

    pub fn write(self, out: &mut Vec<u8>) {
        write_scaled(out, i128::from(self.0), 2);
    }
}

/// Divides and rounds half to even. `divisor` must be positive.
pub fn divide_half_even(value: i128, divisor: i128) -> i128 {
    let quotient = value.div_euclid(divisor);
    let twice = value.rem_euclid(divisor) * 2;
    match twice.cmp(&divisor) {
        std::cmp::Ordering::Less => quotient,
        std::cmp::Ordering::Greater => quotient + 1,
        std::cmp::Ordering::Equal => quotient + (quotient & 1),
    }
}

/// Appends `value / 10^decimals` exactly, as JSON writes numbers.
pub fn write_scaled(out: &mut Vec<u8>, value: i128, decimals: u32) {
    let mut digits = [b'0'; 48];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    let mut places = 0;
    // Division in 64 bits is several times faster, and nearly every amount fits.
    let mut small = u64::try_from(rest).ok();
    loop {
        if places == decimals && decimals > 0 {
            at -= 1;
            digits[at] = b'.';
        }
        at -= 1;
        digits[at] = b'0'
            + match &mut small {
                Some(rest) => take_digit(rest),
                None => {
                    let digit = (rest % 10) as u8;
                    rest /= 10;
                    small = u64::try_from(rest).ok();
                    digit
                }
            };
        places += 1;
        if places > decimals && small == Some(0) {
            break;
        }
    }
    if value < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    out.extend_from_slice(&digits[at..]);
}

fn take_digit(rest: &mut u64) -> u8 {
    let digit = (*rest % 10) as u8;
    *rest /= 10;
    digit
}

/// Parses a plain decimal into an integer number of `10^-decimals`. Exponents, plus signs, separators and numbers that
/// are not exact are refused.
pub fn parse_scaled(text: &str, decimals: u32) -> Result<i128, DecimalError> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((_, "")) => return Err(DecimalError::Malformed),
        Some(parts) => parts,
        None => (unsigned, ""),
    };
    let all_digits = |part: &str| part.bytes().all(|it| it.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
        return Err(DecimalError::Malformed);
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > decimals as usize {
        return Err(DecimalError::TooPrecise);
    }
    let mut value: i128 = 0;
    let padding = decimals as usize - fraction.len();
    for byte in whole.bytes().chain(fraction.bytes()).chain(std::iter::repeat_n(b'0', padding)) {
        let next = value.checked_mul(10).and_then(|it| it.checked_add(i128::from(byte - b'0')));
        value = next.ok_or(DecimalError::TooLong)?;
    }
    Ok(if negative { -value } else { value })
}

/// More exponent than this is out of range for every number that fits into a request.
const EXPONENT_MAX: i64 = 1_000_000_000_000;

/// Parses a JSON number, with or without an exponent, into an integer number of `10^-decimals`. The work depends on the
/// length of the text, never on the size of the exponent. Numbers that are not exact are refused.
pub fn parse_json_scaled(text: &str, decimals: u32) -> Result<i128, DecimalError> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
        None => (text, 0),
    };
    let (negative, unsigned) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa),
    };
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((_, "")) => return Err(DecimalError::Malformed),
        Some(parts) => parts,
        None => (unsigned, ""),
    };
    let all_digits = |part: &str| part.bytes().all(|it| it.is_ascii_digit());
    let has_leading_zero = whole.len() > 1 && whole.starts_with('0');
    if whole.is_empty() || has_leading_zero || !all_digits(whole) || !all_digits(fraction) {
        return Err(DecimalError::Malformed);
    }
    let digits = format!("{whole}{fraction}");
    let without_end = digits.trim_end_matches('0');
    let significant = without_end.trim_start_matches('0');
    if significant.is_empty() {
        return Ok(0);
    }
    // The number is `significant * 10^power` units of `10^-decimals`.
    let trailing = (digits.len() - without_end.len()) as i64;
    let power = exponent - fraction.len() as i64 + trailing + i64::from(decimals);
    if power < 0 {
        return Err(DecimalError::TooPrecise);
    }
    // 10^38 fits into 128 bits.
    if significant.len() as i64 + power > 38 {
        return Err(DecimalError::TooLong);
    }
    let value: i128 = significant.parse().map_err(|_| DecimalError::TooLong)?;
    let value = value.checked_mul(10_i128.pow(power as u32)).ok_or(DecimalError::TooLong)?;
    Ok(if negative { -value } else { value })
}

/// The exponent of a JSON number. One with very many digits is cut off at a bound that no number in a request offsets.
fn parse_exponent(text: &str) -> Result<i64, DecimalError> {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return Err(DecimalError::Malformed);
    }
    let digits = digits.trim_start_matches('0');
    let size = match digits.len() {
        0 => 0,
        1..=12 => digits.parse().map_err(|_| DecimalError::Malformed)?,
        _ => EXPONENT_MAX,
    };
    Ok(if negative { -size } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn json_numbers_are_read_in_every_form_that_json_allows() {
        let read = |text: &str| Fixed9::parse_json(text).map(|it| it.to_string());
        for (text, value) in [
            ("1e-05", "0.00001"),
            ("1E2", "100"),
            ("1.50e+1", "15"),
            ("-0", "0"),
            ("-0.0e5", "0"),
            ("0e999999999999999999999", "0"),
            ("-2.5E-9000e", "malformed"),
            ("12300e-2", "123"),
            ("0.000000000001e3", "0.000000001"),
            ("1e18", "1000000000000000000"),
            ("1e0000000000000000000002", "100"),
        ] {
            let expected = match value {
                "malformed" => Err(DecimalError::Malformed),
                value => Ok(value.to_owned()),
            };
            assert_eq!(read(text), expected, "{text}");
        }
        for text in ["1e-10", "1e-999999999", "1e-99999999999999999999", "15e-10"] {
            assert_eq!(read(text), Err(DecimalError::TooPrecise), "{text}");
        }
        for text in ["1e19", "1e999999999", "1e99999999999999999999", "1e38"] {
            assert_eq!(read(text), Err(DecimalError::TooLong), "{text}");
        }
        for text in ["", "-", "+1", "01", "1.", ".5", "1e", "1e+", "1e1.5", "1e1e1", "0x1", "\"1\""]
        {
            assert_eq!(read(text), Err(DecimalError::Malformed), "{text}");
        }
        // A long mantissa is balanced by its exponent.
        let long = format!("0.{}1e100001", "0".repeat(100_000));
        assert_eq!(read(&long), Ok("1".to_owned()));
    }

    #[test]
    fn quantities_print_without_trailing_zeros() {
        for text in ["0", "1", "-1", "0.000000001", "12.5", "-0.25", "1000000000000000000.5"] {
            assert_eq!(Fixed9::parse(text).map(|it| it.to_string()), Ok(text.to_owned()));
        }
        assert_eq!(Fixed9::parse("1.500").map(|it| it.to_string()), Ok("1.5".to_owned()));
    }

    #[test]
    fn inexact_decimals_are_refused() {
        assert_eq!(Fixed9::parse("0.0000000001"), Err(DecimalError::TooPrecise));
        assert_eq!(Fixed9::parse("1e3"), Err(DecimalError::Malformed));
        assert_eq!(Fixed9::parse(&"9".repeat(40)), Err(DecimalError::TooLong));
        assert_eq!(Fixed9::parse("99999999999999999999"), Err(DecimalError::TooLong));
    }

    #[test]
    fn a_value_rounds_half_to_even() {
        let half_cent = Fixed9::parse("0.005").unwrap();
        assert_eq!(Fixed9::ONE.times_price(half_cent, 2), Some(0));
        let three = Fixed9::parse("3").unwrap();
        assert_eq!(three.times_price(half_cent, 2), Some(2));
        let five = Fixed9::parse("5").unwrap();
        assert_eq!(five.times_price(half_cent, 2), Some(2));
        assert_eq!(three.times_price(Fixed9::parse("187.10").unwrap(), 2), Some(56_130));
    }

    #[test]
    fn percents_have_two_decimals_and_there_is_none_of_zero() {
        assert_eq!(Percent::of(50_000, 162_000), Some(Percent(3_086)));
        assert_eq!(Percent::of(2_000, 210_000), Some(Percent(95)));
        assert_eq!(Percent::of(5, 0), None);
        assert_eq!(Percent::of(-1, -4), Some(Percent(2_500)));
        let mut text = Vec::new();
        Percent(-5).write(&mut text);
        assert_eq!(text, b"-0.05");
    }

    proptest! {
        #[test]
        fn text_and_value_are_inverse(value in -Fixed9::BOUND + 1..Fixed9::BOUND) {
            let number = Fixed9(value);
            prop_assert_eq!(Fixed9::parse(&number.to_string()), Ok(number));
        }

        /// Every way to write a number: the point moved by any number of places, zeros around it, either case of `e`.
        #[test]
        fn every_way_to_write_a_json_number_is_the_same_number(
            value in -Fixed9::BOUND + 1..Fixed9::BOUND,
            places in 0_usize..60,
            zeros in 0_usize..5,
            (upper, plus) in (any::<bool>(), any::<bool>()),
        ) {
            // The digits of the value in billionths, with the decimal point `places` digits before their end.
            let digits = format!("{:0>width$}", value.unsigned_abs(), width = places + 1);
            let (whole, fraction) = digits.split_at(digits.len() - places);
            let exponent = places as i64 - 9;
            let sign = if value < 0 { "-" } else { "" };
            let fraction = format!("{fraction}{}", "0".repeat(zeros));
            let point = if fraction.is_empty() { "" } else { "." };
            let e = if upper { 'E' } else { 'e' };
            let plus = if plus && exponent >= 0 { "+" } else { "" };
            let text = format!("{sign}{whole}{point}{fraction}{e}{plus}{exponent}");
            prop_assert_eq!(Fixed9::parse_json(&text), Ok(Fixed9(value)), "{}", text);
            let plain = Fixed9(value).to_string();
            prop_assert_eq!(Fixed9::parse_json(&plain), Ok(Fixed9(value)));
        }

        #[test]
        fn rounding_is_never_off_by_more_than_half(value in -10_i128.pow(30)..10_i128.pow(30), divisor in 1..10_i128.pow(18)) {
            let off = divide_half_even(value, divisor) * divisor - value;
            prop_assert!(off.abs() * 2 <= divisor);
        }
    }
}
