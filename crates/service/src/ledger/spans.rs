//! Time spans of charts, and the days on which a chart has points.

use base::{Date, date_from_days, days_from_date};
use jiff::ToSpan as _;

use crate::{Error, Result};

base::words!(Span {
    Month => "1m",
    Quarter => "3m",
    HalfYear => "6m",
    Year => "1y",
    All => "all",
});

/// Charts of up to this many days have a point each day.
const DAILY_MAX: i64 = 93;
/// Charts of up to this many days have a point each week, and longer ones each month.
const WEEKLY_MAX: i64 = 366;

impl Span {
    /// Its first day. None for all of the history.
    pub fn start(self, today: Date) -> Option<Date> {
        let months = match self {
            Span::Month => 1,
            Span::Quarter => 3,
            Span::HalfYear => 6,
            Span::Year => 12,
            Span::All => return None,
        };
        Some(today.saturating_sub(months.months()))
    }
}

base::words!(
    /// How far the points of a history lie apart.
    #[derive(Default)]
    Interval {
        Daily => "daily",
        Weekly => "weekly",
        #[default]
        Monthly => "monthly",
    }
);

impl Interval {
    /// The longest history in days.
    fn days_max(self) -> i64 {
        match self {
            Interval::Daily => 1_830,
            Interval::Weekly | Interval::Monthly => 36_600,
        }
    }

    /// Refuses days in the wrong order, and histories that are too long.
    pub(crate) fn check(self, first: Date, last: Date) -> Result<()> {
        if first > last {
            return Err(Error::invalid("start_date", "start_date must not be after end_date"));
        }
        let most = self.days_max();
        if days_from_date(last) - days_from_date(first) > most {
            let interval = self.as_str();
            let message = format!(
                "start_date must be at most {most} days before end_date for {interval} points"
            );
            return Err(Error::invalid("start_date", message));
        }
        Ok(())
    }

    /// The days with a point: every day, every seventh day counted back from the last, or the ends of months. The last
    /// day always has one.
    pub(crate) fn days(self, first: Date, last: Date) -> Vec<Date> {
        let (from, to) = (days_from_date(first), days_from_date(last));
        let days = (from..=to).map(date_from_days);
        let has_point = |on: &Date| match self {
            Interval::Daily => true,
            Interval::Weekly => (to - days_from_date(*on)) % 7 == 0,
            Interval::Monthly => *on == last || *on == on.last_of_month(),
        };
        days.filter(has_point).collect()
    }
}

/// Every day, week or month end from the first day to the last, including both.
pub(crate) fn sample_days(first: Date, last: Date) -> Vec<Date> {
    let (from, to) = (days_from_date(first), days_from_date(last));
    let length = to - from;
    let days = (from..=to).map(date_from_days);
    let is_sampled = |on: &Date| {
        let day = days_from_date(*on);
        day == from
            || length <= DAILY_MAX
            // Counted back from the last day, so that it is always a point.
            || length <= WEEKLY_MAX && (to - day) % 7 == 0
            || length > WEEKLY_MAX && (day == to || *on == on.last_of_month())
    };
    days.filter(is_sampled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(first: &str, last: &str) -> Vec<Date> {
        sample_days(first.parse().unwrap(), last.parse().unwrap())
    }

    #[test]
    fn a_chart_has_enough_points_and_not_too_many() {
        for (first, last, count) in [
            ("2026-03-10", "2026-03-10", 1),
            ("2026-02-10", "2026-03-10", 29),
            ("2025-12-10", "2026-03-10", 91),
            ("2025-09-10", "2026-03-10", 27),
            ("2025-03-10", "2026-03-10", 54),
            ("2016-03-10", "2026-03-10", 122),
        ] {
            let found = days(first, last);
            assert_eq!(found.len(), count, "{first}");
            assert!(found.is_sorted(), "{found:?}");
            assert_eq!(found.first().unwrap().to_string(), first);
            assert_eq!(found.last().unwrap().to_string(), last);
        }
        assert_eq!(days("2026-03-11", "2026-03-10"), []);
    }

    #[test]
    fn the_last_day_of_a_history_always_has_a_point() {
        let days = |interval: Interval, first: &str, last: &str| -> Vec<String> {
            let days = interval.days(first.parse().unwrap(), last.parse().unwrap());
            days.iter().map(ToString::to_string).collect()
        };
        let monthly = days(Interval::Monthly, "2026-01-15", "2026-03-10");
        assert_eq!(monthly, ["2026-01-31", "2026-02-28", "2026-03-10"]);
        let weekly = days(Interval::Weekly, "2026-02-25", "2026-03-10");
        assert_eq!(weekly, ["2026-03-03", "2026-03-10"]);
        assert_eq!(days(Interval::Daily, "2026-02-27", "2026-03-01").len(), 3);
    }

    #[test]
    fn months_are_those_of_the_calendar() {
        let today: Date = "2026-03-31".parse().unwrap();
        assert_eq!(Span::Month.start(today), "2026-02-28".parse().ok());
        assert_eq!(Span::All.start(today), None);
    }
}
