//! Parses JSON numbers from their text into exact decimals, without a float in between.

use base::{Fixed9, divide_half_even};

/// No real price has more digits.
const MOST_DIGITS: usize = 30;
/// A billion, in billionths.
const MOST: i128 = 1_000_000_000_000_000_000;

/// The number with nine decimal places, rounded half to even. None if it is not a number, or is a billion or more.
pub(crate) fn parse_json_decimal(json: &str) -> Option<Fixed9> {
    let (number, exponent) = match json.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (json, 0),
    };
    let (negative, number) = match number.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, number),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    if digits.len() > MOST_DIGITS || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let value: i128 = digits.parse().ok()?;
    let places = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    let billionths = match 9_i32.checked_sub(places)? {
        _ if value == 0 => 0,
        up @ 0.. => 10_i128.checked_pow(up.unsigned_abs())?.checked_mul(value)?,
        down => match 10_i128.checked_pow(down.unsigned_abs()) {
            Some(divisor) => divide_half_even(value, divisor),
            None => 0,
        },
    };
    let signed = if negative { -billionths } else { billionths };
    (billionths < MOST).then(|| Fixed9::from_billionths(signed))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::parse_json_decimal;

    #[test]
    fn numbers_are_exact_however_they_are_written() {
        for (json, exact) in [
            ("0", "0"),
            ("-0.0", "0"),
            ("187", "187"),
            ("133.4201", "133.4201"),
            ("0.1", "0.1"),
            ("722350.000000001", "722350.000000001"),
            ("1e2", "100"),
            ("1.5E+3", "1500"),
            ("1.25e-6", "0.00000125"),
            ("12.5e-1", "1.25"),
            ("-2.5", "-2.5"),
            ("0e99999", "0"),
            ("1e-99999", "0"),
            ("999999999.999999999", "999999999.999999999"),
        ] {
            assert_eq!(
                parse_json_decimal(json).map(|it| it.to_string()).as_deref(),
                Some(exact),
                "{json}"
            );
        }
    }

    #[test]
    fn more_than_nine_places_are_rounded_half_to_even() {
        for (json, rounded) in [
            ("0.08333333333333333", "0.083333333"),
            ("0.0000000005", "0"),
            ("0.0000000015", "0.000000002"),
            ("0.00000000050001", "0.000000001"),
            ("6.6666666666", "6.666666667"),
            ("-0.0000000015", "-0.000000002"),
        ] {
            let read = parse_json_decimal(json).map(|it| it.to_string());
            assert_eq!(read.as_deref(), Some(rounded), "{json}");
        }
    }

    #[test]
    fn invalid_numbers_are_none() {
        for json in [
            "",
            "null",
            "\"1\"",
            "NaN",
            "-",
            ".",
            "e5",
            "1e",
            "1e1.5",
            "1.2.3",
            "1 ",
            "--1",
            "+1",
            "1000000000",
            "-1000000000",
            "1e9",
            "1e30",
            "1e99999999999",
            "9999999999999999999999999999999",
        ] {
            assert_eq!(parse_json_decimal(json), None, "{json}");
        }
    }

    proptest! {
        #[test]
        fn plain_decimals_agree_with_the_shared_reader(billionths in -10_i128.pow(18) + 1..10_i128.pow(18)) {
            let number = base::Fixed9::from_billionths(billionths);
            prop_assert_eq!(parse_json_decimal(&number.to_string()), Some(number));
        }

        #[test]
        fn nothing_makes_it_panic(json in "-?[0-9.eE+-]{0,40}") {
            parse_json_decimal(&json);
        }
    }
}
