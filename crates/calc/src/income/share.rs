//! Exact division: parts that add up to their total, percentages of income, and the variation between months.

use base::{Fixed9, divide_half_even};

use super::narrow;

/// An amount per month, and its percentage of the monthly income in tenths: 659 is 65.9 %. None without income.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    pub amount_minor: i64,
    pub percent_tenths: Option<i64>,
}

impl Share {
    pub fn of(amount_minor: i64, income_minor: i64) -> Share {
        let tenths = |income: i64| {
            narrow(divide_half_even(i128::from(amount_minor) * 1000, i128::from(income)))
        };
        Share { amount_minor, percent_tenths: (income_minor > 0).then(|| tenths(income_minor)) }
    }
}

/// Divides each sum by the number of months so that the parts add up to the total: rounding differences go to the
/// largest remainders, and of equal ones to the first.
pub(super) fn by_month(sums: &[i128], months: i64) -> (i64, Vec<i64>) {
    let months = i128::from(months);
    let whole = divide_half_even(sums.iter().sum(), months);
    let mut parts: Vec<i128> = sums.iter().map(|it| it.div_euclid(months)).collect();
    let mut order: Vec<usize> = (0..sums.len()).collect();
    order.sort_by_key(|it| std::cmp::Reverse(sums[*it].rem_euclid(months)));
    let left = whole - parts.iter().sum::<i128>();
    for index in order.into_iter().take(usize::try_from(left).unwrap_or(0)) {
        parts[index] += 1;
    }
    (narrow(whole), parts.into_iter().map(narrow).collect())
}

/// The coefficient of variation. Computed on shares of the sum, so that the unit of money has no influence; equal
/// months give exactly zero. None with less than three months or a sum of zero.
pub(super) fn variation(monthly: &[i64]) -> Option<Fixed9> {
    const ONE: u32 = 60;
    let sum: i128 = monthly.iter().map(|it| i128::from(*it)).sum();
    if monthly.len() < 3 || sum <= 0 {
        return None;
    }
    let shares = monthly.iter().map(|it| ((i128::from(*it)) << ONE) / sum);
    let (total, squares) =
        shares.fold((0, 0), |(total, squares), it| (total + it, squares + it * it));
    let spread = (squares * monthly.len() as i128 - total * total).max(0).isqrt();
    Some(Fixed9::from_billionths((spread * 1_000_000_000) >> ONE))
}
