//! Converts amounts to heights with integer arithmetic, so that charts are the same on every machine.

use super::{HEAD, PLOT};

/// The maximum number of horizontal lines.
const LINES_MAX: i128 = 4;

/// The range of a chart's vertical axis and its grid lines.
pub(super) struct Scale {
    low: i128,
    high: i128,
    pub(super) lines: Vec<i64>,
    pub(super) starts_at_zero: bool,
}

impl Scale {
    /// Creates the scale for amounts in minor units; `unit` is one major unit. Bars always start at zero. A line may
    /// start above zero if it would be flat otherwise.
    pub(super) fn new(amounts: impl Iterator<Item = i64> + Clone, unit: i64, zero: bool) -> Scale {
        let mut low = amounts.clone().map(i128::from).min().unwrap_or(0);
        let mut high = amounts.map(i128::from).max().unwrap_or(0);
        // A line that stays in the upper half would look flat if drawn from zero.
        let from_zero = zero || low <= 0 || low * 2 < high;
        if from_zero {
            low = low.min(0);
            high = high.max(0);
        }
        let step = step(high - low, i128::from(unit));
        low = low.div_euclid(step) * step;
        high = (high + step - 1).div_euclid(step) * step;
        if low == high {
            high += step;
        }
        let count = (high - low) / step;
        let lines = (0..=count).map(|it| saturated(low + it * step)).collect();
        Scale { low, high, lines, starts_at_zero: low <= 0 && high >= 0 }
    }

    /// The distance of an amount from the top, in tenths.
    pub(super) fn tenths(&self, amount: i64) -> i64 {
        let above = (self.high - i128::from(amount)) * i128::from(PLOT) * 10;
        HEAD * 10 + saturated(above / (self.high - self.low))
    }

    pub(super) fn y(&self, amount: i64) -> String {
        decimal(self.tenths(amount))
    }
}

/// The distance between lines: 1, 2 or 5 times a power of ten, so that labels are round.
fn step(span: i128, unit: i128) -> i128 {
    let mut size = unit.max(1);
    loop {
        for times in [1, 2, 5] {
            if span <= size * times * (LINES_MAX - 1) {
                return size * times;
            }
        }
        size *= 10;
    }
}

fn saturated(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

/// Formats tenths as a decimal number.
pub(super) fn decimal(tenths: i64) -> String {
    let sign = if tenths < 0 { "-" } else { "" };
    let tenths = tenths.unsigned_abs();
    format!("{sign}{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_amount_is_inside_the_chart_with_few_grid_lines(
            amounts in prop::collection::vec(any::<i64>(), 0..20), zero: bool,
        ) {
            let scale = Scale::new(amounts.iter().copied(), 100, zero);
            prop_assert!(scale.lines.len() <= 5);
            for amount in &amounts {
                let tenths = scale.tenths(*amount);
                prop_assert!((HEAD * 10..=(HEAD + PLOT) * 10).contains(&tenths), "{tenths}");
            }
            prop_assert!(!zero || scale.starts_at_zero);
        }

        #[test]
        fn larger_amounts_are_never_drawn_lower(a: i64, b: i64) {
            let scale = Scale::new([a, b].into_iter(), 100, false);
            prop_assert!((a <= b) == (scale.tenths(a) >= scale.tenths(b)) || scale.tenths(a) == scale.tenths(b));
        }
    }

    #[test]
    fn grid_lines_have_round_values() {
        let scale = Scale::new([0, 123_400].into_iter(), 100, true);
        assert_eq!(scale.lines, [0, 50_000, 100_000, 150_000]);
        let scale = Scale::new([9_100_000, 9_900_000].into_iter(), 100, false);
        assert!(!scale.starts_at_zero && scale.lines[0] == 9_000_000, "{:?}", scale.lines);
    }
}
