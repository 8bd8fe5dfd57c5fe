//! Deterministic noise on several time scales, in integers: slow drift, daily jumps, small movements by minute.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The period of each scale in minutes, and its largest amplitude in millionths. No period divides another or a day,
/// so that no hour is special.
const SCALES: [(i64, i64); 9] = [
    (262_147, 130_000),
    (65_537, 70_000),
    (16_411, 40_000),
    (4_099, 25_000),
    (1_031, 17_000),
    (397, 15_000),
    (31, 3_500),
    (7, 1_200),
    (1, 500),
];

const WHOLE: i64 = 1_000_000;

/// The deviation from the base price at a minute, in millionths.
pub(super) fn millionths(key: &str, minute: i64) -> i64 {
    let one = |(scale, &(period, widest)): (u64, &(i64, i64))| {
        let turn = |index: i64| {
            let seed = (index as u64) << 4 | scale;
            let hash = xxh3_64_with_seed(key.as_bytes(), seed);
            (hash % (2 * WHOLE as u64 + 1)) as i64 - WHOLE
        };
        // Each key has its own phase.
        let phase = (xxh3_64_with_seed(key.as_bytes(), u64::MAX - scale) % period as u64) as i64;
        let (index, past) =
            ((minute + phase).div_euclid(period), (minute + phase).rem_euclid(period));
        let between = (turn(index) * (period - past) + turn(index + 1) * past) / period;
        between * widest / WHOLE
    };
    (0..).zip(&SCALES).map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The longest step between two closes: across a holiday, two days and two nights.
    const LONGEST_DAY: i64 = 2 * 510;

    #[test]
    fn no_sum_of_scales_can_leave_its_bounds() {
        let widest: i64 = SCALES.iter().map(|(_, widest)| widest).sum();
        let steepest =
            SCALES.iter().map(|(period, widest)| 2 * widest * LONGEST_DAY.min(*period) / period);
        // The swing of a listing is at most 90 percent.
        let (widest, steepest) = (widest * 90 / 100, steepest.sum::<i64>() * 90 / 100);
        assert!(widest < 350_000);
        assert!(steepest * 100 < (WHOLE - widest) * 12, "{steepest}");
    }

    proptest! {
        #[test]
        fn noise_goes_both_ways_within_its_width(key in "[A-Z]{1,5}", minute in 0..9_000_000_i64) {
            let widest: i64 = SCALES.iter().map(|(_, widest)| widest).sum();
            prop_assert!(millionths(&key, minute).abs() <= widest);
            let years = (0..40).map(|it| millionths(&key, minute + it * 262_147));
            let (low, high) = years.fold((0, 0), |(low, high), it| (it.min(low), it.max(high)));
            prop_assert!(low < 0 && 0 < high);
        }
    }
}
