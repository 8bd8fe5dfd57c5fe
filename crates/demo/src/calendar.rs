//! Calendar arithmetic: business days, month ends, and the dates of a cadence.

use base::{Date, Timestamp, date_from_days, days_from_date};

/// Days since 1970-01-01. The simulator does all its date arithmetic in this form.
pub(super) type Day = i64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cadence {
    Weekly,
    Biweekly,
    SemiMonthly,
    Monthly,
    Quarterly,
    Annually,
}

impl Cadence {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Cadence::Weekly => "weekly",
            Cadence::Biweekly => "biweekly",
            Cadence::SemiMonthly => "semi_monthly",
            Cadence::Monthly => "monthly",
            Cadence::Quarterly => "quarterly",
            Cadence::Annually => "annually",
        }
    }

    /// The nominal dates from `first` to `last`, counted from `first`. A day that a month does not have becomes that
    /// month's last day. Semi-monthly means the 15th and the last day of the month.
    pub(super) fn slots(self, first: Day, last: Day) -> Vec<Day> {
        match self {
            Cadence::Weekly => (first..=last).step_by(7).collect(),
            Cadence::Biweekly => (first..=last).step_by(14).collect(),
            Cadence::SemiMonthly => (first..=last).filter(|day| is_half_month(*day)).collect(),
            Cadence::Monthly => by_months(first, first, last, 1),
            Cadence::Quarterly => by_months(first, first, last, 3),
            Cadence::Annually => by_months(first, first, last, 12),
        }
    }
}

/// Every month on `day_of_month`, clamped to the month's end, from `first` to `last`.
pub(super) fn monthly(day_of_month: i8, first: Day, last: Day) -> Vec<Day> {
    // January has 31 days, so it can hold any anchor day.
    let year = date_from_days(first).year() - 1;
    let anchor = Date::new(year, 1, day_of_month.clamp(1, 31)).map_or(first, days_from_date);
    by_months(anchor, first, last, 1)
}

fn by_months(anchor: Day, first: Day, last: Day, step: i32) -> Vec<Day> {
    let months = (0..).step_by(step as usize).map(|months| add_months(anchor, months));
    months.skip_while(|day| *day < first).take_while(|day| *day <= last).collect()
}

pub(super) fn add_months(day: Day, months: i32) -> Day {
    let date = date_from_days(day);
    let month = i32::from(date.year()) * 12 + i32::from(date.month()) - 1 + months;
    let first = Date::new((month.div_euclid(12)) as i16, (month.rem_euclid(12) + 1) as i8, 1);
    let first = first.unwrap_or(Date::MAX);
    let last = first.days_in_month();
    days_from_date(first) + i64::from(date.day().min(last)) - 1
}

/// The day of a moment, in UTC.
pub(super) fn day_of(at: Timestamp) -> Day {
    at.as_second().div_euclid(86_400)
}

pub(super) fn first_of_month(day: Day) -> Day {
    day - i64::from(day_of_month(day)) + 1
}

pub(super) fn day_of_month(day: Day) -> i8 {
    date_from_days(day).day()
}

pub(super) fn month_ends(first: Day, last: Day) -> Vec<Day> {
    (first..=last).filter(|day| date_from_days(day + 1).day() == 1).collect()
}

fn is_half_month(day: Day) -> bool {
    date_from_days(day).day() == 15 || date_from_days(day + 1).day() == 1
}

/// Monday is 0.
pub(super) fn weekday(day: Day) -> usize {
    (day + 3).rem_euclid(7) as usize
}

pub(super) fn is_business_day(day: Day) -> bool {
    weekday(day) < 5 && !is_holiday(day)
}

pub(super) fn business_day_on_or_before(day: Day) -> Day {
    (0..).map(|back| day - back).find(|it| is_business_day(*it)).unwrap_or(day)
}

pub(super) fn business_day_on_or_after(day: Day) -> Day {
    (0..).map(|on| day + on).find(|it| is_business_day(*it)).unwrap_or(day)
}

/// The common US bank holidays, on which no ACH payment settles.
fn is_holiday(day: Day) -> bool {
    let date = date_from_days(day);
    let nth = (date.day() - 1) / 7 + 1;
    let last = date.day() + 7 > date.days_in_month();
    match (date.month(), date.day(), weekday(day)) {
        (1, 1, _) | (6, 19, _) | (7, 4, _) | (11, 11, _) | (12, 25, _) => true,
        (1 | 2, _, 0) => nth == 3,
        (5, _, 0) => last,
        (9, _, 0) => nth == 1,
        (10, _, 0) => nth == 2,
        (11, _, 3) => nth == 4,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        days_from_date(text.parse().unwrap())
    }

    fn dates(days: Vec<Day>) -> Vec<String> {
        days.into_iter().map(|it| date_from_days(it).to_string()).collect()
    }

    #[test]
    fn a_month_end_anchor_follows_the_length_of_the_month() {
        let slots = monthly(31, day("2024-01-15"), day("2024-05-01"));
        assert_eq!(dates(slots), ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]);
    }

    #[test]
    fn semi_monthly_is_the_fifteenth_and_the_last_day() {
        let slots = Cadence::SemiMonthly.slots(day("2025-02-01"), day("2025-03-20"));
        assert_eq!(dates(slots), ["2025-02-15", "2025-02-28", "2025-03-15"]);
    }

    #[test]
    fn a_yearly_date_on_a_leap_day_moves_to_february_28() {
        let slots = Cadence::Annually.slots(day("2024-02-29"), day("2025-12-31"));
        assert_eq!(dates(slots), ["2024-02-29", "2025-02-28"]);
    }

    #[test]
    fn business_days_skip_weekends_and_holidays() {
        assert_eq!(business_day_on_or_before(day("2025-05-26")), day("2025-05-23"));
        assert_eq!(business_day_on_or_after(day("2025-11-27")), day("2025-11-28"));
        assert_eq!(weekday(day("2025-05-26")), 0);
    }
}
