//! Money: integer minor units of one currency. Never a float, and two currencies are never added.

use std::fmt;

use crate::fixed::{DecimalError, parse_json_scaled, parse_scaled, write_scaled};

/// An ISO 4217 code, so that its number of decimals is known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Currency([u8; 3]);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    #[error("cannot add {0} to {1}")]
    Mixed(Currency, Currency),
    #[error("the amount is too large")]
    OutOfRange,
    #[error("must be a number such as -12.34, with at most {decimals} decimals in {currency}")]
    Malformed { currency: Currency, decimals: u32 },
    #[error("must be a currency code such as USD or EUR")]
    UnknownCurrency,
}

/// Every active code of ISO 4217 with two decimals; the others are listed below.
const TWO_DECIMALS: &str = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN \
    BZD CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD \
    GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD \
    MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN \
    QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT \
    TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG";
/// Withdrawn currencies, which only old statements have. All are kept with two decimals, because some banks wrote
/// hundredths even where ISO 4217 had none.
const WITHDRAWN: &str = "ATS BEF BGN BYR CYP DEM EEK ESP FIM FRF GRD HRK IEP ITL LTL LUF LVL MTL NLG PTE ROL SIT SKK \
    SLL TRL VEB VEF ZWL";
const NO_DECIMALS: &str = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF";
const THREE_DECIMALS: &str = "BHD IQD JOD KWD LYD OMR TND";

impl Currency {
    pub const USD: Currency = Currency(*b"USD");
    pub const EUR: Currency = Currency(*b"EUR");

    pub fn parse(code: &str) -> Result<Currency, MoneyError> {
        // The read path parses one per row, so the most common codes are matched before the lists are searched.
        match code {
            "USD" => return Ok(Currency::USD),
            "EUR" => return Ok(Currency::EUR),
            _ => {}
        }
        let known = |list: &str| list.split_ascii_whitespace().any(|it| it == code);
        match code.as_bytes().try_into() {
            Ok(bytes)
                if known(TWO_DECIMALS)
                    || known(NO_DECIMALS)
                    || known(THREE_DECIMALS)
                    || known(WITHDRAWN) =>
            {
                Ok(Currency(bytes))
            }
            _ => Err(MoneyError::UnknownCurrency),
        }
    }

    /// Every active code, sorted.
    pub fn codes() -> impl Iterator<Item = &'static str> {
        let lists = [TWO_DECIMALS, NO_DECIMALS, THREE_DECIMALS];
        let mut codes: Vec<&str> =
            lists.iter().flat_map(|it| it.split_ascii_whitespace()).collect();
        codes.sort_unstable();
        codes.into_iter()
    }

    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("XXX")
    }

    pub fn decimals(&self) -> u32 {
        // The most common codes are matched before the lists are searched.
        match &self.0 {
            b"USD" | b"EUR" | b"GBP" => 2,
            _ if NO_DECIMALS.contains(self.code()) => 0,
            _ if THREE_DECIMALS.contains(self.code()) => 3,
            _ => 2,
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    minor: i64,
    currency: Currency,
}

impl Money {
    pub fn new(minor: i64, currency: Currency) -> Money {
        Money { minor, currency }
    }

    /// Parses an amount such as `12`, `12.3` or `-12.34`. More decimals than the currency has are refused rather than
    /// rounded.
    pub fn parse(text: &str, currency: Currency) -> Result<Money, MoneyError> {
        Money::from_scaled(parse_scaled(text, currency.decimals()), currency)
    }

    /// Parses a JSON number in any form that JSON allows, exponents included.
    pub fn parse_json(text: &str, currency: Currency) -> Result<Money, MoneyError> {
        Money::from_scaled(parse_json_scaled(text, currency.decimals()), currency)
    }

    fn from_scaled(
        scaled: Result<i128, DecimalError>,
        currency: Currency,
    ) -> Result<Money, MoneyError> {
        let decimals = currency.decimals();
        match scaled {
            Ok(value) => {
                let minor = i64::try_from(value).map_err(|_| MoneyError::OutOfRange)?;
                Ok(Money { minor, currency })
            }
            Err(DecimalError::TooLong) => Err(MoneyError::OutOfRange),
            Err(_) => Err(MoneyError::Malformed { currency, decimals }),
        }
    }

    pub fn minor(self) -> i64 {
        self.minor
    }

    pub fn currency(self) -> Currency {
        self.currency
    }

    /// Adds amounts of one currency. Two currencies are an error; a conversion would need a rate and a date.
    pub fn plus(self, other: Money) -> Result<Money, MoneyError> {
        if self.currency != other.currency {
            return Err(MoneyError::Mixed(self.currency, other.currency));
        }
        let minor = self.minor.checked_add(other.minor).ok_or(MoneyError::OutOfRange)?;
        Ok(Money { minor, ..self })
    }

    /// Appends the amount as a JSON number, with the currency's own decimals.
    pub fn write(self, out: &mut Vec<u8>) {
        write_scaled(out, i128::from(self.minor), self.currency.decimals());
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        self.write(&mut text);
        write!(f, "{} {}", String::from_utf8_lossy(&text), self.currency)
    }
}

impl fmt::Debug for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, currency: Currency, expected: &str) {
        let shown = match Money::parse(text, currency) {
            Ok(money) => money.to_string(),
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn amounts_are_parsed_exactly_or_refused() {
        let yen = Currency::parse("JPY").unwrap();
        let dinar = Currency::parse("KWD").unwrap();
        check("12", Currency::USD, "12.00 USD");
        check("-0.05", Currency::USD, "-0.05 USD");
        check("0.1", Currency::EUR, "0.10 EUR");
        check(
            "12.50",
            yen,
            "error: must be a number such as -12.34, with at most 0 decimals in JPY",
        );
        check("1200", yen, "1200 JPY");
        check("1.234", dinar, "1.234 KWD");
        check("92233720368547758.07", Currency::USD, "92233720368547758.07 USD");
        check("92233720368547758.08", Currency::USD, "error: the amount is too large");
        for bad in ["", "-", "1,000", "1.", ".5", "0x10", "NaN", "1 000", "--1", "1.005"] {
            assert!(Money::parse(bad, Currency::USD).is_err(), "{bad}");
        }
    }

    #[test]
    fn currencies_do_not_mix_and_sums_do_not_wrap() {
        let dollar = Money::new(100, Currency::USD);
        assert!(matches!(
            dollar.plus(Money::new(1, Currency::EUR)),
            Err(MoneyError::Mixed(Currency::USD, Currency::EUR))
        ));
        let most = Money::new(i64::MAX, Currency::USD);
        assert_eq!(most.plus(dollar), Err(MoneyError::OutOfRange));
    }

    #[test]
    fn only_codes_of_the_standard_are_currencies() {
        for bad in ["usd", "US", "USDX", "ABC", "", "DJ ", "BIF CLP"] {
            assert!(Currency::parse(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn printing_and_parsing_are_inverse(minor: i64, code in "USD|JPY|KWD|EUR|CHF") {
            let money = Money::new(minor, Currency::parse(&code).unwrap());
            let mut text = Vec::new();
            money.write(&mut text);
            let text = String::from_utf8(text).unwrap();
            prop_assert_eq!(Money::parse(&text, money.currency()), Ok(money));
        }
    }
}
