//! Classifies how regular the amounts of a stream are, and finds price changes.

#![expect(clippy::float_arithmetic, reason = "a coefficient of variation is no money")]

use base::words;

use super::PriceChange;

words!(
    /// From the most regular to the least.
    AmountClass {
        /// Never changes by more than one percent.
        Fixed => "fixed",
        /// Changes seldom, and then stays.
        Stepped => "stepped",
        /// One amount most of the time, such as a salary with bonus months.
        MostlyFixed => "mostly_fixed",
        Near => "near",
        Variable => "variable",
        Erratic => "erratic",
    }
);

impl AmountClass {
    /// Whether amounts vary beyond price changes and occasional bonuses.
    pub fn is_variable(self) -> bool {
        matches!(self, AmountClass::Near | AmountClass::Variable | AmountClass::Erratic)
    }

    /// Classifies amounts in payment order, all positive.
    pub(super) fn of(amounts: &[i64]) -> AmountClass {
        let changes =
            || amounts.windows(2).enumerate().filter(|(_, pair)| differ(pair[0], pair[1]));
        let count = changes().count();
        if count == 0 {
            AmountClass::Fixed
        } else if count <= ((amounts.len() - 1) / 4).max(1)
            && changes().all(|(index, pair)| is_step(index, pair[0], pair[1]))
        {
            AmountClass::Stepped
        } else if most_alike(amounts) * 10 >= amounts.len() * 7 {
            AmountClass::MostlyFixed
        } else {
            match variation_squared(amounts) {
                it if it <= 0.10 * 0.10 => AmountClass::Near,
                it if it <= 0.35 * 0.35 => AmountClass::Variable,
                // A bill that follows the seasons varies much over a year, but little from one month to the next.
                _ if changes_slowly(amounts) => AmountClass::Variable,
                _ => AmountClass::Erratic,
            }
        }
    }

    pub(super) fn is_regular(self) -> bool {
        self <= AmountClass::Near
    }

    pub(super) fn is_contractual(self) -> bool {
        self <= AmountClass::Stepped
    }
}

fn differ(a: i64, b: i64) -> bool {
    (i128::from(a) - i128::from(b)).abs() * 100 > i128::from(a)
}

/// Whether a change may be a price change: at most to the half or the double, except that a first payment may be a
/// trial or part of a month.
fn is_step(index: usize, from: i64, to: i64) -> bool {
    (index == 0 && from < to) || is_price_ratio(from, to)
}

pub(super) fn is_price_ratio(a: i64, b: i64) -> bool {
    let (low, high) = (i128::from(a.min(b)), i128::from(a.max(b)));
    high <= 2 * low
}

/// Whether the highest is at most `percent` above the lowest.
pub(super) fn are_within(amounts: &[i64], percent: i128) -> bool {
    let (Some(low), Some(high)) = (amounts.iter().min(), amounts.iter().max()) else {
        return true;
    };
    i128::from(*high) * 100 <= i128::from(*low) * (100 + percent)
}

/// The largest number of amounts within one percent of each other.
fn most_alike(amounts: &[i64]) -> usize {
    let mut sorted = amounts.to_vec();
    sorted.sort_unstable();
    let mut first = 0;
    let mut most = 0;
    for (last, amount) in sorted.iter().enumerate() {
        while differ(sorted[first], *amount) {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most
}

/// The square of the coefficient of variation.
fn variation_squared(amounts: &[i64]) -> f64 {
    let count = amounts.len() as f64;
    let mean = amounts.iter().map(|it| *it as f64).sum::<f64>() / count;
    let spread = |it: &i64| (*it as f64 - mean) * (*it as f64 - mean);
    amounts.iter().map(spread).sum::<f64>() / count / (mean * mean)
}

/// Whether amounts change less from one to the next than random ones of the same spread: the sum of squared steps is
/// about twice the sum of squared deviations if the order is random. Proportions count, not differences.
fn changes_slowly(amounts: &[i64]) -> bool {
    const FEWEST: usize = 8;
    const SLOW: f64 = 0.8;
    let logs: Vec<f64> = amounts.iter().map(|it| (*it as f64).ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let spread: f64 = logs.iter().map(|it| (it - mean) * (it - mean)).sum();
    let steps: f64 = logs.windows(2).map(|it| (it[1] - it[0]) * (it[1] - it[0])).sum();
    amounts.len() >= FEWEST && steps <= SLOW * spread
}

/// Changes that lasted: a single different payment, such as a bonus, is not one. Variable amounts have no price
/// changes.
pub(super) fn price_changes(paid: &[(base::Date, i64)], class: AmountClass) -> Vec<PriceChange> {
    let mut changes = Vec::new();
    let Some((_, mut price)) = paid.first().copied() else { return changes };
    if class > AmountClass::MostlyFixed {
        return changes;
    }
    for (index, (on, amount)) in paid.iter().enumerate() {
        let lasts = match paid.get(index + 1) {
            Some((_, next)) => differ(price, *next),
            // The newest payment may be a bonus if there were bonuses before.
            None => class == AmountClass::Stepped,
        };
        if differ(price, *amount) && lasts {
            changes.push(PriceChange { on: *on, from_minor: price, to_minor: *amount });
            price = *amount;
        }
    }
    changes
}

/// The median of the last six amounts; the mean of the two middle ones is rounded half up.
pub(super) fn recent_median(amounts: &[i64]) -> i64 {
    let mut recent = amounts[amounts.len().saturating_sub(6)..].to_vec();
    recent.sort_unstable();
    median_of_sorted(&recent)
}

pub(super) fn median_of_sorted(sorted: &[i64]) -> i64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0 };
    let (low, high) = (sorted[last / 2], sorted[last.div_ceil(2)]);
    // The difference cannot overflow, because both are positive.
    low + (high - low) / 2 + (high - low) % 2
}
