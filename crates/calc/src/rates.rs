//! The latest exchange rates into a base currency, and exact conversion with them.

use std::collections::BTreeMap;

use base::{Currency, Fixed9, divide_half_even};

#[derive(Debug, Clone)]
pub struct Rates {
    base: Currency,
    latest: BTreeMap<Currency, Fixed9>,
}

impl Rates {
    pub fn new(base: Currency) -> Rates {
        Rates { base, latest: BTreeMap::from([(base, Fixed9::ONE)]) }
    }

    pub fn base(&self) -> Currency {
        self.base
    }

    /// Sets the rate: one unit of `from` is worth `rate` units of the base. Rates for the base itself and rates that
    /// are not positive are ignored.
    pub fn set(&mut self, from: Currency, rate: Fixed9) {
        if from != self.base && rate > Fixed9::ZERO {
            self.latest.insert(from, rate);
        }
    }

    pub fn rate(&self, from: Currency) -> Option<Fixed9> {
        self.latest.get(&from).copied()
    }

    pub fn to_base(&self, minor: i64, from: Currency) -> Option<i64> {
        self.convert(minor, from, self.base)
    }

    /// Converts through the base, rounding once, half to even. None without both rates, or if the result exceeds 64
    /// bits.
    pub fn convert(&self, minor: i64, from: Currency, to: Currency) -> Option<i64> {
        if from == to {
            return Some(minor);
        }
        let one = |currency: Currency| 10_i128.pow(currency.decimals());
        let worth = i128::from(minor).checked_mul(self.rate(from)?.billionths())?;
        let dividend = worth.checked_mul(one(to))?;
        let divisor = self.rate(to)?.billionths().checked_mul(one(from))?;
        i64::try_from(divide_half_even(dividend, divisor)).ok()
    }

    /// A number that orders amounts of different currencies by value, without rounding.
    pub fn weigh(&self, minor: i64, from: Currency) -> Option<i128> {
        // No currency has more than four decimals, so this scale keeps all of them exact.
        let scale = 10_i128.pow(4_u32.saturating_sub(from.decimals()));
        i128::from(minor).checked_mul(self.rate(from)?.billionths())?.checked_mul(scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const AMOUNTS: std::ops::Range<i64> = -1_000_000_000_000..1_000_000_000_000;

    fn rates() -> Rates {
        let mut rates = Rates::new(Currency::USD);
        rates.set(Currency::EUR, Fixed9::parse("1.10").unwrap());
        rates.set(Currency::parse("JPY").unwrap(), Fixed9::parse("0.0065").unwrap());
        rates
    }

    #[test]
    fn amounts_convert_across_different_decimals() {
        let yen = Currency::parse("JPY").unwrap();
        assert_eq!(rates().to_base(10_000, Currency::EUR), Some(11_000));
        assert_eq!(rates().to_base(10_000, yen), Some(6_500));
        assert_eq!(rates().convert(6_500, Currency::USD, yen), Some(10_000));
        assert_eq!(rates().convert(650, Currency::EUR, yen), Some(1_100));
    }

    #[test]
    fn an_unknown_rate_gives_no_amount_rather_than_a_wrong_one() {
        let franc = Currency::parse("CHF").unwrap();
        let mut rates = rates();
        rates.set(franc, Fixed9::ZERO);
        assert_eq!(rates.to_base(100, franc), None);
        assert_eq!(rates.convert(100, Currency::USD, franc), None);
        assert_eq!(rates.convert(100, franc, franc), Some(100));
    }

    #[test]
    fn the_base_is_always_worth_itself() {
        let mut rates = rates();
        rates.set(Currency::USD, Fixed9::parse("2").unwrap());
        assert_eq!(rates.to_base(100, Currency::USD), Some(100));
    }

    proptest! {
        #[test]
        fn converting_there_and_back_is_off_by_at_most_one_unit(minor in AMOUNTS) {
            let back = rates()
                .to_base(minor, Currency::EUR)
                .and_then(|it| rates().convert(it, Currency::USD, Currency::EUR));
            prop_assert!((back.unwrap() - minor).abs() <= 1);
        }

        #[test]
        fn weight_orders_as_conversion_does(a in AMOUNTS, b in AMOUNTS) {
            let yen = Currency::parse("JPY").unwrap();
            let rates = rates();
            if rates.weigh(a, yen) < rates.weigh(b, Currency::EUR) {
                prop_assert!(rates.to_base(a, yen) <= rates.to_base(b, Currency::EUR));
            }
        }
    }
}
