//! Exchange rates into a base currency, the latest ones or those of each day, and exact conversion with them.

use std::collections::BTreeMap;

use base::{Currency, Date, Fixed9, divide_half_even};

#[derive(Debug, Clone)]
pub struct Rates {
    base: Currency,
    latest: BTreeMap<Currency, Fixed9>,
    /// The days of the rates that have one.
    rated_on: BTreeMap<Currency, Date>,
}

impl Rates {
    pub fn new(base: Currency) -> Rates {
        Rates { base, latest: BTreeMap::from([(base, Fixed9::ONE)]), rated_on: BTreeMap::new() }
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

    /// Sets the rate of a day, unless a rate of the same day or a later one is known.
    pub fn set_on(&mut self, from: Currency, rate: Fixed9, on: Date) {
        if self.rated_on.get(&from).is_none_or(|known| *known < on) {
            self.set(from, rate);
            self.rated_on.insert(from, on);
        }
    }

    /// The day of a rate, if it has one.
    pub fn rated_on(&self, from: Currency) -> Option<Date> {
        self.rated_on.get(&from).copied()
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
        exchange(minor, (from, self.rate(from)?), (to, self.rate(to)?))
    }

    /// A number that orders amounts of different currencies by value, without rounding.
    pub fn weigh(&self, minor: i64, from: Currency) -> Option<i128> {
        // No currency has more than four decimals, so this scale keeps all of them exact.
        let scale = 10_i128.pow(4_u32.saturating_sub(from.decimals()));
        i128::from(minor).checked_mul(self.rate(from)?.billionths())?.checked_mul(scale)
    }
}

/// Converts with the rates of both currencies into the same third one, rounding once, half to even.
fn exchange(
    minor: i64,
    (from, from_rate): (Currency, Fixed9),
    (to, to_rate): (Currency, Fixed9),
) -> Option<i64> {
    let one = |currency: Currency| 10_i128.pow(currency.decimals());
    let worth = i128::from(minor).checked_mul(from_rate.billionths())?;
    let dividend = worth.checked_mul(one(to))?;
    let divisor = to_rate.billionths().checked_mul(one(from))?;
    i64::try_from(divide_half_even(dividend, divisor)).ok()
}

/// The rate of a currency into the base, from their rates per euro.
pub fn cross_rate(base_per_euro: Fixed9, from_per_euro: Fixed9) -> Option<Fixed9> {
    if from_per_euro <= Fixed9::ZERO {
        return None;
    }
    let dividend = base_per_euro.billionths().checked_mul(1_000_000_000)?;
    let rate = divide_half_even(dividend, from_per_euro.billionths());
    Some(Fixed9::from_billionths(rate)).filter(|it| *it > Fixed9::ZERO)
}

/// The rates of many days into a base currency.
#[derive(Debug, Clone)]
pub struct DailyRates {
    base: Currency,
    by_currency: BTreeMap<Currency, BTreeMap<Date, Fixed9>>,
}

impl DailyRates {
    pub fn new(base: Currency) -> DailyRates {
        DailyRates { base, by_currency: BTreeMap::new() }
    }

    pub fn base(&self) -> Currency {
        self.base
    }

    /// Sets the rate of a day, in place of one that was set before.
    pub fn set(&mut self, from: Currency, on: Date, rate: Fixed9) {
        if from != self.base && rate > Fixed9::ZERO {
            self.by_currency.entry(from).or_default().insert(on, rate);
        }
    }

    /// An amount in the base currency at the last rate on or before the day. Before the first known rate, that one is
    /// used. None without any.
    pub fn to_base_on(&self, minor: i64, from: Currency, on: Date) -> Option<i64> {
        self.convert_on(minor, from, self.base, on)
    }

    /// An amount in another currency, through the base, at the rates of the day.
    pub fn convert_on(&self, minor: i64, from: Currency, to: Currency, on: Date) -> Option<i64> {
        if from == to {
            return Some(minor);
        }
        exchange(minor, (from, self.rate_on(from, on)?), (to, self.rate_on(to, on)?))
    }

    fn rate_on(&self, of: Currency, on: Date) -> Option<Fixed9> {
        if of == self.base {
            return Some(Fixed9::ONE);
        }
        let days = self.by_currency.get(&of)?;
        let known = days.range(..=on).next_back().or_else(|| days.first_key_value())?;
        Some(*known.1)
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

    #[test]
    fn the_newest_rate_counts_and_tells_its_day() {
        let day = |text: &str| text.parse::<Date>().unwrap();
        let rate = |text: &str| Fixed9::parse(text).unwrap();
        let mut rates = Rates::new(Currency::USD);
        rates.set_on(Currency::EUR, rate("1.1"), day("2026-03-09"));
        rates.set_on(Currency::EUR, rate("1.2"), day("2026-03-08"));
        rates.set_on(Currency::EUR, rate("1.3"), day("2026-03-09"));
        assert_eq!(rates.rate(Currency::EUR), Some(rate("1.1")));
        assert_eq!(rates.rated_on(Currency::EUR), Some(day("2026-03-09")));
        rates.set_on(Currency::EUR, rate("1.4"), day("2026-03-10"));
        assert_eq!(rates.to_base(100, Currency::EUR), Some(140));
        assert_eq!(rates.rated_on(Currency::USD), None);
    }

    #[test]
    fn a_cross_rate_divides_the_rates_per_euro() {
        let rate = |text: &str| Fixed9::parse(text).unwrap();
        // A pound is worth 1.0850 / 0.84 dollars.
        assert_eq!(cross_rate(rate("1.0850"), rate("0.84")), Some(rate("1.291666667")));
        assert_eq!(cross_rate(Fixed9::ONE, rate("1.25")), Some(rate("0.8")));
        assert_eq!(cross_rate(Fixed9::ONE, Fixed9::ZERO), None);
    }

    #[test]
    fn a_day_has_the_last_rate_before_it() {
        let day = |text: &str| text.parse::<Date>().unwrap();
        let mut rates = DailyRates::new(Currency::USD);
        rates.set(Currency::EUR, day("2026-03-06"), Fixed9::parse("1.1").unwrap());
        rates.set(Currency::EUR, day("2026-03-09"), Fixed9::parse("1.2").unwrap());
        let worth = |on: &str| rates.to_base_on(1_000, Currency::EUR, day(on));
        assert_eq!(worth("2026-03-06"), Some(1_100));
        assert_eq!(worth("2026-03-08"), Some(1_100), "a weekend has Friday's rate");
        assert_eq!(worth("2026-03-09"), Some(1_200));
        assert_eq!(worth("2026-12-31"), Some(1_200));
        assert_eq!(worth("2020-01-01"), Some(1_100), "before the first rate");
        assert_eq!(rates.to_base_on(5, Currency::USD, day("2020-01-01")), Some(5));
        let franc = Currency::parse("CHF").unwrap();
        assert_eq!(rates.to_base_on(5, franc, day("2026-03-09")), None);
        rates.set(franc, day("2026-03-06"), Fixed9::parse("2.2").unwrap());
        assert_eq!(rates.convert_on(100, franc, Currency::EUR, day("2026-03-06")), Some(200));
        assert_eq!(rates.convert_on(100, franc, Currency::USD, day("2026-03-09")), Some(220));
        assert_eq!(rates.convert_on(100, franc, franc, day("2026-03-09")), Some(100));
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
