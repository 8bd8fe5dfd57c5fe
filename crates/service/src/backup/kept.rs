//! Which scheduled backups are kept: the newest of each of the last days, weeks and months.

use base::{Timestamp, days_from_date};
use jiff::tz::TimeZone;

const DAY_MICROSECONDS: i64 = 86_400_000_000;

/// How many days, weeks and months keep their newest backup. Days without one do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    pub daily: usize,
    pub weekly: usize,
    pub monthly: usize,
}

/// Decides for each backup whether it is kept. `made` has the times of the backups, newest first. The newest is always kept, and everything from the
/// last 24 hours.
pub(super) fn kept(made: &[Timestamp], now: Timestamp, keep: Keep) -> Vec<bool> {
    let mut kept: Vec<bool> = made
        .iter()
        .enumerate()
        .map(|(index, at)| {
            index == 0 || now.as_microsecond() - at.as_microsecond() < DAY_MICROSECONDS
        })
        .collect();
    let periods: [fn(Timestamp) -> i64; 3] = [day, week, month];
    for (period, most) in periods.into_iter().zip([keep.daily, keep.weekly, keep.monthly]) {
        let (mut last, mut count) = (None, 0);
        for (index, at) in made.iter().enumerate() {
            if last != Some(period(*at)) {
                last = Some(period(*at));
                count += 1;
                kept[index] |= count <= most;
            }
        }
    }
    kept
}

fn day(at: Timestamp) -> i64 {
    days_from_date(at.to_zoned(TimeZone::UTC).date())
}

/// Weeks begin on Monday. 1970-01-01 was a Thursday.
fn week(at: Timestamp) -> i64 {
    (day(at) + 3).div_euclid(7)
}

fn month(at: Timestamp) -> i64 {
    let date = at.to_zoned(TimeZone::UTC).date();
    i64::from(date.year()) * 12 + i64::from(date.month())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn seconds(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_backup_of_each_day_week_and_month_is_kept() {
        // One backup a day from January 1 to March 31, 2026, newest first.
        let first = at("2026-01-01T03:00:00Z").as_second();
        let made: Vec<Timestamp> = (0..90).rev().map(|it| seconds(first + it * 86_400)).collect();
        let keep = Keep { daily: 3, weekly: 2, monthly: 3 };
        let kept = kept(&made, at("2026-03-31T04:00:00Z"), keep);
        let days: Vec<String> = made
            .iter()
            .zip(kept)
            .filter(|it| it.1)
            .map(|it| it.0.strftime("%m-%d").to_string())
            .collect();
        // March 29 is the Sunday that ended the week before.
        assert_eq!(days, ["03-31", "03-30", "03-29", "02-28", "01-31"]);
    }

    #[test]
    fn all_backups_of_the_last_day_are_kept() {
        let now = at("2026-03-31T04:00:00Z");
        let made: Vec<Timestamp> =
            (0..50).map(|it| seconds(now.as_second() - it * 3_600)).collect();
        let kept = kept(&made, now, Keep { daily: 1, weekly: 0, monthly: 0 });
        assert_eq!(kept.iter().filter(|it| **it).count(), 24);
    }

    proptest! {
        #[test]
        fn the_newest_is_kept_and_the_number_is_bounded_and_stable(
            mut made in prop::collection::vec(0_i64..200_000_000, 1..60),
            (daily, weekly, monthly) in (0_usize..8, 0_usize..5, 0_usize..13),
        ) {
            made.sort_unstable();
            made.reverse();
            let made: Vec<Timestamp> = made.into_iter().map(seconds).collect();
            let keep = Keep { daily, weekly, monthly };
            let now = seconds(made[0].as_second() + 86_400);
            let first = kept(&made, now, keep);
            prop_assert!(first[0]);
            prop_assert!(first.iter().filter(|it| **it).count() <= 1 + daily + weekly + monthly);
            // A backup that was kept once is kept the second time, so cleaning up twice deletes nothing more.
            let left: Vec<Timestamp> =
                made.iter().zip(&first).filter(|it| *it.1).map(|it| *it.0).collect();
            prop_assert!(kept(&left, now, keep).iter().all(|it| *it));
        }
    }
}
