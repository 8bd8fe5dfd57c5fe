//! Amounts formatted for people: `$1,234.50`, `1,234.50 CHF`.

use crate::{Currency, Fixed9, Money, divide_half_even, write_scaled};

impl Money {
    /// With the currency's symbol, its decimals, and thousands separators.
    pub fn pretty(self) -> String {
        let decimals = self.currency().decimals();
        let digits = scaled(i128::from(self.minor()).abs(), decimals);
        with_affixes(self, &grouped_decimal(&digits))
    }

    /// `pretty` without decimals.
    pub fn pretty_whole(self) -> String {
        let unit = 10_i128.pow(self.currency().decimals());
        let whole = divide_half_even(i128::from(self.minor()).abs(), unit);
        with_affixes(self, &grouped(&whole.to_string()))
    }
}

impl Currency {
    /// The text before an amount, and the text after it.
    pub fn affixes(self) -> (&'static str, String) {
        let before = match self.code() {
            "USD" => "$",
            "EUR" => "€",
            "GBP" => "£",
            "JPY" => "¥",
            "CAD" => "CA$",
            "AUD" => "A$",
            code => return ("", format!("\u{a0}{code}")),
        };
        (before, String::new())
    }
}

impl Fixed9 {
    /// A price in dollars, with all its decimals and at least two.
    pub fn pretty_dollars(self) -> String {
        let text = self.to_string();
        let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |it| ("-", it));
        let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
        format!("{sign}${}.{rest:0<2}", grouped(whole))
    }
}

fn scaled(value: i128, decimals: u32) -> String {
    let mut digits = Vec::new();
    write_scaled(&mut digits, value, decimals);
    String::from_utf8_lossy(&digits).into_owned()
}

fn with_affixes(money: Money, digits: &str) -> String {
    let sign = if money.minor() < 0 { "-" } else { "" };
    let (before, after) = money.currency().affixes();
    format!("{sign}{before}{digits}{after}")
}

fn grouped_decimal(digits: &str) -> String {
    match digits.split_once('.') {
        Some((whole, rest)) => format!("{}.{rest}", grouped(whole)),
        None => grouped(digits),
    }
}

/// `1234567` as `1,234,567`.
pub fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_formatted_for_people() {
        let usd = |minor| Money::new(minor, Currency::USD);
        for (minor, text) in [
            (0, "$0.00"),
            (-4_210, "-$42.10"),
            (123_456_789, "$1,234,567.89"),
            (5, "$0.05"),
            (i64::MIN, "-$92,233,720,368,547,758.08"),
        ] {
            assert_eq!(usd(minor).pretty(), text);
        }
        let yen = Currency::parse("JPY").unwrap();
        assert_eq!(Money::new(-1_234, yen).pretty(), "-¥1,234");
        let francs = Currency::parse("CHF").unwrap();
        assert_eq!(Money::new(123_450, francs).pretty(), "1,234.50\u{a0}CHF");
        assert_eq!(usd(-123_456).pretty_whole(), "-$1,235");
    }

    #[test]
    fn prices_keep_the_decimals_they_have() {
        for (text, pretty) in [
            ("187.1", "$187.10"),
            ("187.3036", "$187.3036"),
            ("1234", "$1,234.00"),
            ("-0.5", "-$0.50"),
            ("0.000000001", "$0.000000001"),
        ] {
            assert_eq!(Fixed9::parse(text).unwrap().pretty_dollars(), pretty);
        }
    }
}
