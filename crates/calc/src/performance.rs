//! The performance of investments over a period: what was put in, the gain, and the time-weighted and money-weighted
//! return. Everything is computed with whole numbers, so that it is the same everywhere.

use base::{Date, Percent, days_from_date, divide_half_even};

/// Fractions and growth factors are in these parts of one.
const ONE: i128 = 1_000_000_000_000_000;
/// The largest daily growth that is searched: a hundred percent.
const DAILY_MAX: i128 = 2 * ONE;

/// The value of all investments at the end of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Valuation {
    pub on: Date,
    pub minor: i64,
}

/// Money that was put in on a day, negative if it was taken out. The valuation of the day includes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    pub on: Date,
    pub minor: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Performance {
    pub start: Valuation,
    pub end: Valuation,
    /// Deposits less withdrawals after the start of the range.
    pub net_flow_minor: i64,
    /// The gain: the change in value that deposits and withdrawals do not explain.
    pub gain_minor: i64,
    /// The return of one unit that was invested throughout, whatever was put in meanwhile. None if it is not known.
    pub time_weighted: Option<Percent>,
    /// The return of the money that was actually invested. None if it is not known.
    pub money_weighted: Option<Percent>,
}

/// The performance between the first and the last valuation, which are in order. None with fewer than two of them.
pub fn performance(valuations: &[Valuation], flows: &[Flow]) -> Option<Performance> {
    let (start, end) = (valuations.first().copied()?, valuations.last().copied()?);
    if start.on >= end.on {
        return None;
    }
    let within: Vec<Flow> =
        flows.iter().copied().filter(|it| start.on < it.on && it.on <= end.on).collect();
    let net = within.iter().map(|it| i128::from(it.minor)).sum::<i128>();
    let gain = i128::from(end.minor) - i128::from(start.minor) - net;
    Some(Performance {
        start,
        end,
        net_flow_minor: narrow(net),
        gain_minor: narrow(gain),
        time_weighted: index(valuations, &within).last().and_then(|it| percent(it.1 - ONE)),
        money_weighted: money_weighted(start, end, &within),
    })
}

/// The growth of one unit since the first valuation, at each valuation. Between two of them, the return is what was
/// gained on the average capital (modified Dietz); with a valuation on every day it is exact. It ends where nothing was
/// invested.
fn index(valuations: &[Valuation], flows: &[Flow]) -> Vec<(Date, i128)> {
    let mut grown = ONE;
    let mut index = Vec::new();
    for pair in valuations.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let days = i128::from(days_from_date(to.on) - days_from_date(from.on));
        let between = flows.iter().filter(|it| from.on < it.on && it.on <= to.on);
        let (mut net, mut weighted) = (0_i128, i128::from(from.minor) * days);
        for flow in between {
            let left = i128::from(days_from_date(to.on) - days_from_date(flow.on));
            net += i128::from(flow.minor);
            weighted += i128::from(flow.minor) * left;
        }
        let gain = i128::from(to.minor) - i128::from(from.minor) - net;
        if weighted <= 0 || days == 0 {
            // Nothing was invested: there is no return if nothing was gained either.
            if gain == 0 {
                index.push((to.on, grown));
                continue;
            }
            return Vec::new();
        }
        let Some(gained) = gain.checked_mul(days).and_then(|it| it.checked_mul(ONE)) else {
            return Vec::new();
        };
        let factor = ONE + divide_half_even(gained, weighted);
        grown = multiply(grown, factor.max(0));
        index.push((to.on, grown));
    }
    index
}

/// The return of the period at which all flows, growing at one daily rate, give the last value.
fn money_weighted(start: Valuation, end: Valuation, flows: &[Flow]) -> Option<Percent> {
    let last = days_from_date(end.on);
    let opening = Flow { on: start.on, minor: start.minor };
    let all: Vec<(u32, i128)> = std::iter::once(&opening)
        .chain(flows)
        .map(|it| ((last - days_from_date(it.on)) as u32, i128::from(it.minor)))
        .collect();
    // With both deposits and withdrawals larger than the capital, several rates fit, and none is the return.
    if all.iter().filter(|it| it.1 > 0).map(|it| it.1).sum::<i128>() <= 0 {
        return None;
    }
    // In fractions of a minor unit: whole ones would be a large error for small amounts that grow much.
    let surplus = |rate: i128| -> Option<i128> {
        let mut sum = -i128::from(end.minor) * ONE;
        for (days, minor) in &all {
            sum = sum.checked_add(minor.checked_mul(power(rate, *days)?)?)?;
        }
        Some(sum)
    };
    let (mut low, mut high) = (0_i128, DAILY_MAX);
    // Growth that is too large to compute is too large.
    let is_below = |rate: i128| surplus(rate).is_some_and(|it| it < 0);
    if !is_below(low) && end.minor != 0 {
        return None;
    }
    while high - low > 1 {
        let middle = (low + high) / 2;
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    let days = (last - days_from_date(start.on)) as u32;
    percent(power(high, days)? - ONE)
}

/// A growth factor to the power of some days. None beyond a billion.
fn power(factor: i128, mut days: u32) -> Option<i128> {
    let (mut result, mut square) = (ONE, factor);
    loop {
        if days & 1 == 1 {
            result = multiply(result, square);
        }
        days >>= 1;
        if result > ONE * 1_000_000_000 || (days > 0 && square > ONE * 1_000_000_000) {
            return None;
        }
        if days == 0 {
            return Some(result);
        }
        square = multiply(square, square);
    }
}

/// The product of two fractions. Both are split, so that the product of a billion with a billion fits.
fn multiply(a: i128, b: i128) -> i128 {
    let (whole, rest) = (a.div_euclid(ONE), a.rem_euclid(ONE));
    whole.saturating_mul(b).saturating_add(
        // A remainder is below 10^15, and a factor below 10^24 is split once more.
        rest * b.div_euclid(ONE) + (rest * b.rem_euclid(ONE)).div_euclid(ONE),
    )
}

fn percent(fraction: i128) -> Option<Percent> {
    i64::try_from(divide_half_even(fraction, ONE / 10_000)).ok().map(Percent)
}

fn narrow(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::date_from_days;
    use proptest::prelude::*;

    fn day(text: &str) -> Date {
        text.parse().unwrap()
    }

    fn value(on: &str, minor: i64) -> Valuation {
        Valuation { on: day(on), minor }
    }

    fn flow(on: &str, minor: i64) -> Flow {
        Flow { on: day(on), minor }
    }

    #[test]
    fn without_flows_both_returns_are_the_change_in_value() {
        let found = performance(&[value("2025-01-01", 100_000), value("2026-01-01", 110_000)], &[])
            .unwrap();
        assert_eq!((found.gain_minor, found.net_flow_minor), (10_000, 0));
        assert_eq!(found.time_weighted, Some(Percent(1_000)));
        assert_eq!(found.money_weighted, Some(Percent(1_000)));
    }

    #[test]
    fn time_weighted_ignores_when_money_came_and_money_weighted_does_not() {
        // 1,000 doubles in half a year; then 10,000 more come, and all of it falls by half. One unit that stayed is
        // worth 1 again, but most of the money saw only the fall.
        let valuations = [
            value("2025-01-01", 100_000),
            value("2025-07-02", 200_000),
            value("2025-07-03", 1_200_000),
            value("2025-12-31", 600_000),
        ];
        let found = performance(&valuations, &[flow("2025-07-03", 1_000_000)]).unwrap();
        assert_eq!((found.gain_minor, found.net_flow_minor), (-500_000, 1_000_000));
        assert_eq!(found.time_weighted, Some(Percent(0)));
        // 1000 x^364 + 10000 x^181 = 6000 has the root x^364 = 0.3206.
        assert_eq!(found.money_weighted, Some(Percent(-6_794)));
    }

    #[test]
    fn a_worked_example_of_the_money_weighted_return() {
        // 1,000 for a year and 1,000 for half of it grow at 10 % a year: 1100 + 1000 * 1.1^(184/365) = 2149.22.
        let valuations = [value("2025-01-01", 100_000), value("2026-01-01", 214_922)];
        let found = performance(&valuations, &[flow("2025-07-01", 100_000)]).unwrap();
        assert_eq!(found.money_weighted, Some(Percent(1_000)));
        // Modified Dietz: 149.22 on an average capital of 1000 + 1000 * 184/365.
        assert_eq!(found.time_weighted, Some(Percent(992)));
    }

    #[test]
    fn what_cannot_be_known_is_none() {
        assert_eq!(performance(&[value("2025-01-01", 5)], &[]), None);
        assert_eq!(performance(&[], &[]), None);
        // Value from nothing.
        let found = performance(&[value("2025-01-01", 0), value("2025-02-01", 500)], &[]).unwrap();
        assert_eq!((found.time_weighted, found.money_weighted), (None, None));
        // Everything is lost.
        let found = performance(&[value("2025-01-01", 500), value("2025-02-01", 0)], &[]).unwrap();
        assert_eq!(found.time_weighted, Some(Percent(-10_000)));
        assert_eq!(found.money_weighted, Some(Percent(-10_000)));
    }

    #[test]
    fn money_that_comes_to_an_empty_account_earns_from_then_on() {
        let valuations =
            [value("2025-01-01", 0), value("2025-02-01", 100_000), value("2025-03-01", 105_000)];
        let found = performance(&valuations, &[flow("2025-02-01", 100_000)]).unwrap();
        assert_eq!((found.gain_minor, found.time_weighted), (5_000, Some(Percent(500))));
        assert_eq!(found.money_weighted.map(|it| it.0 > 500), Some(true), "over the whole period");
    }

    proptest! {
        #[test]
        fn gain_and_flows_explain_the_change_and_flows_without_gain_return_nothing(
            start in 1_i64..1_000_000_000, added in proptest::collection::vec((1_i64..300, 0_i64..1_000_000), 0..10),
        ) {
            let from = days_from_date(day("2025-01-01"));
            let flows: Vec<Flow> = added
                .iter()
                .map(|(after, minor)| Flow { on: date_from_days(from + after), minor: *minor })
                .collect();
            let net: i64 = flows.iter().map(|it| it.minor).sum();
            let valuations = [
                Valuation { on: date_from_days(from), minor: start },
                Valuation { on: date_from_days(from + 300), minor: start + net },
            ];
            let found = performance(&valuations, &flows).unwrap();
            prop_assert_eq!((found.gain_minor, found.net_flow_minor), (0, net));
            prop_assert_eq!(found.time_weighted, Some(Percent(0)));
            prop_assert_eq!(found.money_weighted, Some(Percent(0)));
        }

        #[test]
        fn returns_do_not_depend_on_the_scale(
            start in 1_000_i64..1_000_000, end in 1_000_i64..1_000_000, put in 0_i64..100_000, after in 1_i64..364,
        ) {
            let from = days_from_date(day("2025-01-01"));
            let of = |scale: i64| {
                let valuations = [
                    Valuation { on: date_from_days(from), minor: start * scale },
                    Valuation { on: date_from_days(from + 365), minor: (end + put) * scale },
                ];
                let flows = [Flow { on: date_from_days(from + after), minor: put * scale }];
                performance(&valuations, &flows).unwrap()
            };
            let (one, thousand) = (of(1), of(1_000));
            prop_assert_eq!(one.time_weighted, thousand.time_weighted);
            prop_assert_eq!(one.money_weighted, thousand.money_weighted);
            let a = one.money_weighted.unwrap().0;
            prop_assert!(a.signum() * one.gain_minor.signum() >= 0, "{a} {}", one.gain_minor);
        }
    }
}
