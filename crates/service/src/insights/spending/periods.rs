//! Periods of days, and the earlier period that one is compared with.

use base::{Date, date_from_days, days_from_date};
use jiff::ToSpan as _;

/// Some days, the first and the last inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    pub start: Date,
    pub end: Date,
}

base::words!(
    /// The earlier period that a period is compared with.
    Compare {
        PreviousPeriod => "previous_period",
        PreviousYear => "previous_year",
    }
);

impl Period {
    /// The days of the month that begins on `month` which lie in the period.
    pub(super) fn days_in(&self, month: Date) -> std::ops::RangeInclusive<i8> {
        let is_same = |on: Date| on.first_of_month() == month;
        let first = if is_same(self.start) { self.start.day() } else { 1 };
        let last = if is_same(self.end) { self.end.day() } else { 31 };
        first..=last
    }

    /// The period shifted back by whole months. The last day of a month becomes the last day of a month.
    fn months_before(&self, months: i64) -> Period {
        let back = |on: Date| on.saturating_sub(months.months());
        let end = if self.end == self.end.last_of_month() {
            back(self.end.first_of_month()).last_of_month()
        } else {
            back(self.end)
        };
        Period { start: back(self.start), end }
    }
}

impl Compare {
    /// A period that begins with a month is compared with as many months before it, up to the same day: 1 to 16 November
    /// with 1 to 16 October, all of November with all of October. Any other with as many days before it.
    pub fn period_before(self, period: Period) -> Period {
        let Period { start, end } = period;
        match self {
            Compare::PreviousYear => period.months_before(12),
            Compare::PreviousPeriod if start.day() == 1 => {
                let month = |on: Date| i64::from(on.year()) * 12 + i64::from(on.month());
                period.months_before(month(end) - month(start) + 1)
            }
            Compare::PreviousPeriod => {
                let days = days_from_date(end) - days_from_date(start) + 1;
                let back = |on: Date| date_from_days(days_from_date(on) - days);
                Period { start: back(start), end: back(end) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_period_before_is_the_one_a_person_would_choose() {
        let before = |compare: Compare, start: &str, end: &str| {
            let period = Period { start: start.parse().unwrap(), end: end.parse().unwrap() };
            let it = compare.period_before(period);
            format!("{} {}", it.start, it.end)
        };
        let (period, year) = (Compare::PreviousPeriod, Compare::PreviousYear);
        assert_eq!(before(period, "2026-11-01", "2026-11-16"), "2026-10-01 2026-10-16");
        assert_eq!(before(period, "2026-11-01", "2026-11-30"), "2026-10-01 2026-10-31");
        assert_eq!(before(period, "2026-03-01", "2026-03-31"), "2026-02-01 2026-02-28");
        assert_eq!(before(period, "2026-03-01", "2026-03-30"), "2026-02-01 2026-02-28");
        assert_eq!(before(period, "2026-01-01", "2026-03-31"), "2025-10-01 2025-12-31");
        assert_eq!(before(period, "2026-11-10", "2026-11-16"), "2026-11-03 2026-11-09");
        assert_eq!(before(year, "2024-02-01", "2024-02-29"), "2023-02-01 2023-02-28");
        assert_eq!(before(year, "2023-02-01", "2023-02-28"), "2022-02-01 2022-02-28");
        assert_eq!(before(year, "2025-02-28", "2025-03-05"), "2024-02-28 2024-03-05");
    }
}
