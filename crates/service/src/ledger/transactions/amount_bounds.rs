//! Bounds for amounts of any currency: a number as minor units of currencies with no, two and three decimals.

use std::sync::LazyLock;

use base::{Currency, Fixed9};

/// A bound for amounts, in the minor units of currencies with no, two and three decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AmountBound {
    pub(super) whole: i64,
    pub(super) hundredths: i64,
    pub(super) thousandths: i64,
}

impl AmountBound {
    /// The least amount that is not below a number.
    pub(super) fn least(number: Fixed9) -> AmountBound {
        AmountBound::new(number, |value, unit| -(-value).div_euclid(unit))
    }

    /// The greatest amount that is not above a number.
    pub(super) fn greatest(number: Fixed9) -> AmountBound {
        AmountBound::new(number, i128::div_euclid)
    }

    fn new(number: Fixed9, divide: fn(i128, i128) -> i128) -> AmountBound {
        let minor = |decimals: u32| {
            let units = divide(number.billionths(), 10_i128.pow(9 - decimals));
            units.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
        };
        AmountBound { whole: minor(0), hundredths: minor(2), thousandths: minor(3) }
    }
}

/// The currencies with no decimals and those with three, as lists in SQL. All others have two.
pub(super) static NO_DECIMALS: LazyLock<String> = LazyLock::new(|| codes_with(0));
pub(super) static THREE_DECIMALS: LazyLock<String> = LazyLock::new(|| codes_with(3));

fn codes_with(decimals: u32) -> String {
    let has = |code: &&str| Currency::parse(code).is_ok_and(|it| it.decimals() == decimals);
    let codes: Vec<String> = Currency::codes().filter(has).map(|it| format!("'{it}'")).collect();
    codes.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_between_two_amounts_are_rounded_inwards() {
        for (number, least, greatest) in [
            ("7.20", [8, 720, 7_200], [7, 720, 7_200]),
            ("7.201", [8, 721, 7_201], [7, 720, 7_201]),
            ("0", [0, 0, 0], [0, 0, 0]),
            ("-1.5", [-1, -150, -1_500], [-2, -150, -1_500]),
        ] {
            let parts = |it: AmountBound| [it.whole, it.hundredths, it.thousandths];
            let number = Fixed9::parse(number).unwrap();
            assert_eq!(parts(AmountBound::least(number)), least);
            assert_eq!(parts(AmountBound::greatest(number)), greatest);
        }
        assert_eq!(*THREE_DECIMALS, "'BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'");
    }
}
