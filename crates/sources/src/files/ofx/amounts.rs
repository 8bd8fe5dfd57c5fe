//! Amounts of OFX rows and trades: in the currency of the statement, or in another one with its rate.

use base::{Currency, Money, divide_half_even};

use crate::files::plain_amount::{Comma, amount, plain, quote, rounding_note};
use crate::json_decimal::parse_json_decimal;
use crate::plausibility::is_implausible_amount;

/// An amount as written, with its own currency and rate if it has them.
#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenAmount<'a> {
    pub(super) text: &'a str,
    pub(super) currency: Option<&'a str>,
    /// How much of the statement's currency one unit was worth.
    pub(super) rate: Option<&'a str>,
}

impl WrittenAmount<'_> {
    /// The amount in the currency of the statement, and a note if it was rounded or converted.
    pub(super) fn read(self, currency: Currency) -> Result<(Money, Option<String>), String> {
        let stated = self.currency.filter(|it| !it.eq_ignore_ascii_case(currency.code()));
        let Some(stated) = stated else {
            let parsed = amount(self.text, Comma::Improper, currency)?;
            let note = parsed.is_rounded.then(|| rounding_note(self.text, parsed.money));
            return Ok((parsed.money, note));
        };
        let unknown = || {
            format!(
                "the amount is in {}, and the file does not say what that was in {currency}",
                quote(stated)
            )
        };
        let other = Currency::parse(&stated.to_ascii_uppercase()).map_err(|_| unknown())?;
        let rate = self.rate.and_then(|it| parse_json_decimal(&plain(it, Comma::Decimal)?));
        let rate = rate.filter(|it| it.billionths() > 0).ok_or_else(unknown)?;
        let foreign = amount(self.text, Comma::Improper, other)?.money;
        let scale = |of: Currency| 10_i128.pow(of.decimals());
        let converted = i128::from(foreign.minor())
            .checked_mul(rate.billionths())
            .and_then(|it| it.checked_mul(scale(currency)))
            .map(|it| divide_half_even(it, 1_000_000_000 * scale(other)))
            .and_then(|it| i64::try_from(it).ok())
            .filter(|it| !is_implausible_amount(*it))
            .ok_or_else(|| format!("the amount {} is too large to be true", quote(self.text)))?;
        let money = Money::new(converted, currency);
        Ok((
            money,
            Some(format!("{foreign} was converted to {money} at the file's rate of {rate}")),
        ))
    }
}

#[cfg(test)]
mod tests {
    use base::Currency;

    use super::WrittenAmount;

    fn check(text: &str, currency: &str, rate: Option<&str>, expected: &str) {
        let written = WrittenAmount { text, currency: Some(currency), rate };
        let shown = match written.read(Currency::USD) {
            Ok((money, None)) => money.to_string(),
            Ok((_, Some(note))) => note,
            Err(reason) => reason,
        };
        assert_eq!(shown, expected, "{text} {currency} {rate:?}");
    }

    #[test]
    fn amounts_are_converted_at_the_files_rate() {
        check("-5.00", "usd", Some("7"), "-5.00 USD");
        check(
            "-10.00",
            "EUR",
            Some("1.0825"),
            "-10.00 EUR was converted to -10.82 USD at the file's rate of 1.0825",
        );
        check(
            "2000",
            "JPY",
            Some("0,0065"),
            "2000 JPY was converted to 13.00 USD at the file's rate of 0.0065",
        );
        for rate in [None, Some("0"), Some("-1"), Some("x")] {
            let expected =
                "the amount is in \"EUR\", and the file does not say what that was in USD";
            check("1.00", "EUR", rate, expected);
        }
        check(
            "900000000000",
            "EUR",
            Some("900000"),
            "the amount \"900000000000\" is too large to be true",
        );
    }
}
