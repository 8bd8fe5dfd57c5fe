//! The trading calendar of the New York Stock Exchange: its current rules, and a list of exceptional closures.

use std::iter::successors;
use std::sync::LazyLock;

use base::{Date, Timestamp};
use jiff::civil::Weekday;
use jiff::tz::TimeZone;

static NEW_YORK: LazyLock<TimeZone> = LazyLock::new(|| {
    TimeZone::get("America/New_York").expect("the time zone database is built in")
});

/// Exceptional closures: storms and days of mourning.
const CLOSED_ONCE: [Date; 4] = [
    Date::constant(2012, 10, 29),
    Date::constant(2012, 10, 30),
    Date::constant(2018, 12, 5),
    Date::constant(2025, 1, 9),
];

/// One day's regular trading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    pub opens_at: Timestamp,
    pub closes_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hours {
    Open { closes_at: Timestamp },
    Closed { opens_at: Timestamp },
}

impl Session {
    pub fn date(self) -> Date {
        day_of(self.opens_at)
    }
}

/// The session of a day; none on days without trading.
pub fn session_on(date: Date) -> Option<Session> {
    if is_closed(date) {
        return None;
    }
    let at = |hour, minute| {
        let zoned = date.at(hour, minute, 0, 0).to_zoned(NEW_YORK.clone());
        zoned.ok().map(|it| it.timestamp())
    };
    let closing_hour = if closes_early(date) { 13 } else { 16 };
    Some(Session { opens_at: at(9, 30)?, closes_at: at(closing_hour, 0)? })
}

pub fn hours(at: Timestamp) -> Hours {
    let days = successors(Some(day_of(at)), |day| day.tomorrow().ok());
    match days.filter_map(session_on).find(|it| at < it.closes_at) {
        Some(Session { opens_at, closes_at }) if opens_at <= at => Hours::Open { closes_at },
        Some(Session { opens_at, .. }) => Hours::Closed { opens_at },
        None => Hours::Closed { opens_at: Timestamp::MAX },
    }
}

/// The latest session that has begun: the current one, or the one before.
pub fn last_session(at: Timestamp) -> Session {
    let days = successors(Some(day_of(at)), |day| day.yesterday().ok());
    let begun = days.filter_map(session_on).find(|it| it.opens_at <= at);
    begun.unwrap_or(Session { opens_at: Timestamp::MIN, closes_at: Timestamp::MIN })
}

/// The day of the session before this day, whether or not this day has one.
pub fn previous_session(date: Date) -> Date {
    let mut days = successors(date.yesterday().ok(), |day| day.yesterday().ok());
    days.find(|it| session_on(*it).is_some()).unwrap_or(date)
}

/// The date in New York.
pub(super) fn day_of(at: Timestamp) -> Date {
    at.to_zoned(NEW_YORK.clone()).date()
}

fn is_closed(date: Date) -> bool {
    matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday)
        || is_holiday(date)
        || CLOSED_ONCE.contains(&date)
}

fn is_holiday(date: Date) -> bool {
    let week = (date.day() - 1) / 7 + 1;
    let is_last = date.day() + 7 > date.days_in_month();
    let by_weekday = match (date.month(), date.weekday()) {
        (1, Weekday::Monday) => week == 3 && date.year() >= 1998,
        (2, Weekday::Monday) => week == 3,
        (5, Weekday::Monday) => is_last,
        (9, Weekday::Monday) => week == 1,
        (11, Weekday::Thursday) => week == 4,
        _ => false,
    };
    by_weekday || is_good_friday(date) || is_observed(date)
}

/// Whether a fixed-date holiday is observed on this day. One on a weekend is observed on the nearest weekday, except
/// New Year's Day on a Saturday, because the year's books close on that Friday.
fn is_observed(date: Date) -> bool {
    let is_new_year = |it: &Date| it.month() == 1 && it.day() == 1;
    let weekend_holiday = match date.weekday() {
        Weekday::Monday => date.yesterday().ok(),
        Weekday::Friday => date.tomorrow().ok().filter(|it| !is_new_year(it)),
        _ => None,
    };
    is_fixed_holiday(date) || weekend_holiday.is_some_and(is_fixed_holiday)
}

fn is_fixed_holiday(date: Date) -> bool {
    match (date.month(), date.day()) {
        (1, 1) | (7, 4) | (12, 25) => true,
        (6, 19) => date.year() >= 2022,
        _ => false,
    }
}

fn is_good_friday(date: Date) -> bool {
    let sunday = date.tomorrow().and_then(Date::tomorrow);
    date.weekday() == Weekday::Friday
        && sunday.is_ok_and(|it| (it.month(), it.day()) == easter(it.year()))
}

/// Month and day of Easter Sunday: the Sunday after the ecclesiastical full moon on or after March 21.
fn easter(year: i16) -> (i8, i8) {
    let year = i32::from(year);
    let century = year.div_euclid(100);
    let of_moon_cycle = year.rem_euclid(19);
    let leap_shift = century - century.div_euclid(4);
    let moon_shift = (8 * century + 13).div_euclid(25);
    let age = (19 * of_moon_cycle + leap_shift - moon_shift + 15).rem_euclid(30);
    // Both ends of the cycle are shifted, so that no full moon falls after April 18.
    let moon = age - i32::from(age == 29 || (age == 28 && of_moon_cycle > 10));
    let weekday = (year + year.div_euclid(4) - leap_shift + moon + 2).rem_euclid(7);
    let march_day = 28 + moon - weekday;
    match march_day {
        ..=31 => (3, march_day as i8),
        _ => (4, (march_day - 31) as i8),
    }
}

/// Trading ends at 1 p.m. on the day after Thanksgiving, and on the eves of Independence Day and Christmas. If such
/// an eve is a Friday, it is the observed holiday itself.
fn closes_early(date: Date) -> bool {
    match (date.month(), date.day()) {
        (11, 23..=29) => date.weekday() == Weekday::Friday,
        (7, 3) | (12, 24) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    const CLOSED: [&str; 7] = [
        "2024: 01-01 01-15 02-19 03-29 05-27 06-19 07-04 09-02 11-28 12-25",
        "2025: 01-01 01-09 01-20 02-17 04-18 05-26 06-19 07-04 09-01 11-27 12-25",
        "2026: 01-01 01-19 02-16 04-03 05-25 06-19 07-03 09-07 11-26 12-25",
        "2027: 01-01 01-18 02-15 03-26 05-31 06-18 07-05 09-06 11-25 12-24",
        "2028: 01-17 02-21 04-14 05-29 06-19 07-04 09-04 11-23 12-25",
        "2029: 01-01 01-15 02-19 03-30 05-28 06-19 07-04 09-03 11-22 12-25",
        "2030: 01-01 01-21 02-18 04-19 05-27 06-19 07-04 09-02 11-28 12-25",
    ];
    const EARLY: [&str; 7] = [
        "2024: 07-03 11-29 12-24",
        "2025: 07-03 11-28 12-24",
        "2026: 11-27 12-24",
        "2027: 11-26",
        "2028: 07-03 11-24",
        "2029: 07-03 11-23 12-24",
        "2030: 07-03 11-29 12-24",
    ];

    fn on(text: &str) -> Date {
        text.parse().unwrap()
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn days_of(years: &[&str]) -> BTreeSet<Date> {
        let days = years.iter().flat_map(|it| {
            let (year, days) = it.split_once(": ").unwrap();
            days.split(' ').map(move |day| on(&format!("{year}-{day}")))
        });
        days.collect()
    }

    #[test]
    fn every_day_of_seven_years_is_as_published() {
        let (closed, early) = (days_of(&CLOSED), days_of(&EARLY));
        let days = successors(Some(on("2024-01-01")), |day| day.tomorrow().ok());
        for day in days.take_while(|it| it.year() <= 2030) {
            let weekend = matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
            let Some(session) = session_on(day) else {
                assert!(weekend || closed.contains(&day), "{day} should be open");
                continue;
            };
            assert!(!weekend && !closed.contains(&day), "{day} should be closed");
            let length = session.closes_at.duration_since(session.opens_at).as_mins();
            assert_eq!(length, if early.contains(&day) { 210 } else { 390 }, "{day}");
            assert_eq!(session.date(), day);
        }
    }

    #[test]
    fn a_session_keeps_new_yorks_time_when_the_clocks_change() {
        let opens = |day: &str| session_on(on(day)).unwrap().opens_at;
        assert_eq!(opens("2026-03-06"), at("2026-03-06T14:30:00Z"));
        assert_eq!(opens("2026-03-09"), at("2026-03-09T13:30:00Z"));
        assert_eq!(opens("2026-10-30"), at("2026-10-30T13:30:00Z"));
        assert_eq!(opens("2026-11-02"), at("2026-11-02T14:30:00Z"));
        let early = session_on(on("2026-11-27")).unwrap();
        assert_eq!(early.closes_at, at("2026-11-27T18:00:00Z"));
    }

    #[test]
    fn new_years_day_on_saturday_is_not_observed_and_on_sunday_it_is_on_monday() {
        assert!(session_on(on("2021-12-31")).is_some() && session_on(on("2027-12-31")).is_some());
        assert!(session_on(on("2023-01-02")).is_none());
    }

    #[test]
    fn newer_holidays_and_exceptional_closures_apply_from_their_dates() {
        assert!(session_on(on("2020-06-19")).is_some() && session_on(on("2022-06-20")).is_none());
        assert!(session_on(on("1997-01-20")).is_some() && session_on(on("1998-01-19")).is_none());
        for day in ["2012-10-29", "2012-10-30", "2018-12-05", "2025-01-09"] {
            assert!(session_on(on(day)).is_none(), "{day}");
        }
    }

    #[test]
    fn easter_dates_match_the_almanac() {
        let known = [(2024, 3, 31), (2025, 4, 20), (2038, 4, 25), (2049, 4, 18), (2076, 4, 19)];
        for (year, month, day) in known.into_iter().chain([(1818, 3, 22), (1943, 4, 25)]) {
            assert_eq!(easter(year), (month, day), "{year}");
        }
    }

    #[test]
    fn hours_give_the_next_opening_or_closing() {
        let closed = |opens: &str| Hours::Closed { opens_at: at(opens) };
        let open = Hours::Open { closes_at: at("2026-11-25T21:00:00Z") };
        assert_eq!(hours(at("2026-11-25T14:29:59Z")), closed("2026-11-25T14:30:00Z"));
        assert_eq!(hours(at("2026-11-25T14:30:00Z")), open);
        assert_eq!(hours(at("2026-11-25T20:59:59.999Z")), open);
        assert_eq!(hours(at("2026-11-25T21:00:00Z")), closed("2026-11-27T14:30:00Z"));
        // It is still Wednesday in New York, and the next session is on Friday.
        assert_eq!(hours(at("2026-11-26T03:00:00Z")), closed("2026-11-27T14:30:00Z"));
        assert_eq!(hours(at("2026-11-27T18:00:00Z")), closed("2026-11-30T14:30:00Z"));
    }

    #[test]
    fn the_last_session_is_the_current_or_the_previous_one() {
        let day = |text: &str| last_session(at(text)).date();
        assert_eq!(day("2026-11-25T14:29:59Z"), on("2026-11-24"));
        assert_eq!(day("2026-11-25T14:30:00Z"), on("2026-11-25"));
        assert_eq!(day("2026-11-29T12:00:00Z"), on("2026-11-27"));
        assert_eq!(previous_session(on("2026-11-27")), on("2026-11-25"));
        assert_eq!(previous_session(on("2026-11-29")), on("2026-11-27"));
    }

    #[test]
    fn the_first_and_last_dates_have_an_answer() {
        for at in [Timestamp::MIN, Timestamp::MAX] {
            let _ = (hours(at), last_session(at));
        }
        for day in [Date::MIN, Date::MAX, on("0001-01-01"), on("9999-12-31")] {
            let _ = (session_on(day), previous_session(day));
        }
        assert_eq!(previous_session(on("9999-12-31")), on("9999-12-30"));
    }

    proptest! {
        #[test]
        fn open_and_closed_fit_the_sessions(second in -62_135_596_800_i64..=253_402_000_000) {
            let at = Timestamp::from_second(second).unwrap();
            let last = last_session(at);
            prop_assert!(last.opens_at <= at);
            match hours(at) {
                Hours::Open { closes_at } => {
                    prop_assert_eq!(closes_at, last.closes_at);
                    prop_assert!(at < closes_at);
                }
                Hours::Closed { opens_at } => {
                    prop_assert!(last.closes_at <= at && at < opens_at);
                    let next = last_session(opens_at);
                    prop_assert_eq!(next.opens_at, opens_at);
                    prop_assert_eq!(previous_session(next.date()), last.date());
                }
            }
        }

        #[test]
        fn easter_is_a_sunday_in_its_five_weeks(year in 1_i16..=9999) {
            let (month, day) = easter(year);
            prop_assert!((3, 22) <= (month, day) && (month, day) <= (4, 25));
            prop_assert_eq!(Date::new(year, month, day).unwrap().weekday(), Weekday::Sunday);
        }
    }
}
