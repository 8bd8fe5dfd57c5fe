//! Calendar arithmetic on days since 1970: months, business days and due days.

use base::{Date, date_from_days, days_from_date};

use super::Region;

/// How often a contract is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Cadence {
    Weekly,
    Biweekly,
    Semimonthly,
    Monthly,
    Quarterly,
    Semiannual,
    Annual,
}

impl Cadence {
    /// With fewer occurrences than this, nothing shows that it repeats.
    pub(crate) fn least_occurrences(self) -> usize {
        match self {
            Cadence::Semiannual | Cadence::Annual => 2,
            _ => 3,
        }
    }

    fn months(self) -> i64 {
        match self {
            Cadence::Quarterly => 3,
            Cadence::Semiannual => 6,
            Cadence::Annual => 12,
            _ => 1,
        }
    }

    /// The due days from `first` to `last`, before weekends and banks move them. Weeks are counted from `anchor`. In
    /// months it is the day of `anchor`, or the last day if the month is shorter.
    pub(super) fn due(self, anchor: i64, first: i64, last: i64) -> Vec<i64> {
        let of_month = i64::from(date_from_days(anchor).day());
        match self {
            Cadence::Weekly | Cadence::Biweekly => {
                let period = if self == Cadence::Weekly { 7 } else { 14 };
                let start = first + (anchor - first).rem_euclid(period);
                (start..=last).step_by(period as usize).collect()
            }
            Cadence::Semimonthly => {
                let early = (of_month - 1) % 15 + 1;
                // The 15th goes with the month's end, the 1st with the 16th, the 5th with the 20th.
                let late = if early == 15 { 31 } else { early + 15 };
                months(first, last, month_of(anchor), 1)
                    .flat_map(|month| [in_month(month, early), in_month(month, late)])
                    .filter(|day| (first..=last).contains(day))
                    .collect()
            }
            _ => months(first, last, month_of(anchor), self.months())
                .map(|month| in_month(month, of_month))
                .filter(|day| (first..=last).contains(day))
                .collect(),
        }
    }
}

fn months(first: i64, last: i64, anchor: i64, every: i64) -> impl Iterator<Item = i64> {
    let start = month_of(first) + (anchor - month_of(first)).rem_euclid(every);
    (start..=month_of(last)).step_by(every as usize)
}

/// Months since the year 0.
pub(super) fn month_of(day: i64) -> i64 {
    let date = date_from_days(day);
    i64::from(date.year()) * 12 + i64::from(date.month()) - 1
}

/// The day of the month, or the last day if the month is shorter.
pub(super) fn in_month(month: i64, day: i64) -> i64 {
    let first = |month: i64| {
        let (year, month) = (month.div_euclid(12) as i16, month.rem_euclid(12) as i8 + 1);
        days_from_date(Date::new(year, month, 1).unwrap_or(Date::MAX))
    };
    (first(month) + day - 1).min(first(month + 1) - 1)
}

/// Monday is 0.
pub(super) fn weekday(day: i64) -> i64 {
    (day + 3).rem_euclid(7)
}

/// The days of one weekday, from `first` to `last`.
pub(super) fn weekdays(target: i64, first: i64, last: i64) -> impl Iterator<Item = i64> {
    let start = first + (target - weekday(first)).rem_euclid(7);
    (start..=last).step_by(7)
}

pub(super) fn is_business(day: i64, region: Region) -> bool {
    let date = date_from_days(day);
    // The number of this weekday within the month: Thanksgiving is the fourth Thursday of November.
    let nth = (date.day() + 6) / 7;
    let of_may_is_last = date.day() > 24;
    let holiday = match (date.month(), date.day()) {
        (1, 1) | (12, 25) => true,
        (7, 4) => region == Region::America,
        (5, 1) | (12, 26) => region == Region::Europe,
        (5, _) => region == Region::America && weekday(day) == 0 && of_may_is_last,
        (9, _) => region == Region::America && weekday(day) == 0 && nth == 1,
        (11, _) => region == Region::America && weekday(day) == 3 && nth == 4,
        _ => false,
    };
    weekday(day) < 5 && !holiday
}

/// The day, or the last business day before it. Wages move this way.
pub(super) fn on_or_before(day: i64, region: Region) -> i64 {
    (0..).map(|back| day - back).find(|it| is_business(*it, region)).unwrap_or(day)
}

/// The day, or the next business day. Bills move this way.
pub(super) fn on_or_after(day: i64, region: Region) -> i64 {
    (day..).find(|it| is_business(*it, region)).unwrap_or(day)
}
