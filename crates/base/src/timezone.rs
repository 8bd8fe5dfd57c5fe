//! Time zones by their IANA names, which decide on which date a moment falls for a person. The time zone database is
//! part of the binary, so that no files of the operating system are needed.

use std::fmt;
use std::sync::{LazyLock, OnceLock};

use jiff::Zoned;
use jiff::tz::TimeZone as Rules;

use crate::nearest::nearest;
use crate::time::{Clock, Date, Timestamp, date_from_days};

/// A time zone. A copy is a pointer: the rules are loaded once, when a zone is first used.
#[derive(Clone, Copy)]
pub struct TimeZone(&'static Entry);

struct Entry {
    name: String,
    rules: OnceLock<Rules>,
}

/// All zones by name in lower case.
static ENTRIES: LazyLock<Vec<(String, Entry)>> = LazyLock::new(|| {
    let names = jiff::tz::db().available().map(|it| it.as_str().to_owned());
    // "Factory" marks a computer whose zone was never set.
    let names = names.filter(|it| it != "Factory");
    let mut entries: Vec<(String, Entry)> = names
        .map(|name| (name.to_ascii_lowercase(), Entry { name, rules: OnceLock::new() }))
        .collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    entries.dedup_by(|a, b| a.0 == b.0);
    entries
});

/// The areas whose zones are named after a place. The other names are old or mean a fixed offset.
const AREAS: [&str; 10] = [
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
];
const UTC: &str = "UTC";
/// A source that knows only the date of a balance reports noon UTC.
const NOON_MICROSECONDS: i64 = 43_200_000_000;
const DAY_MICROSECONDS: i64 = 86_400_000_000;

/// An unknown name, with a similar one if there is any.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be an IANA time zone such as America/New_York or UTC{}", suggestion(.0))]
pub struct UnknownTimeZone(Option<&'static str>);

fn suggestion(similar: &Option<&str>) -> String {
    similar.map_or_else(String::new, |it| format!("; did you mean {it}?"))
}

impl TimeZone {
    pub fn utc() -> TimeZone {
        static FOUND: LazyLock<TimeZone> =
            LazyLock::new(|| find(UTC).expect("the time zone database is built in"));
        *FOUND
    }

    /// The zone of an IANA name, in any case. Old names, which some browsers still report, are known too.
    pub fn parse(name: &str) -> Result<TimeZone, UnknownTimeZone> {
        find(name).ok_or_else(|| {
            let lowercase = name.to_ascii_lowercase().replace(' ', "_");
            let places = ENTRIES.iter().map(|it| it.0.as_str()).filter(|it| it.contains('/'));
            let similar = nearest(&lowercase, places, 2);
            UnknownTimeZone(similar.and_then(find).map(TimeZone::name))
        })
    }

    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// The names that a person can choose from: UTC, then every place by its area.
    pub fn choices() -> impl Iterator<Item = &'static str> {
        let is_place =
            |it: &&str| it.split_once('/').is_some_and(|(area, _)| AREAS.contains(&area));
        let places = ENTRIES.iter().map(|it| it.1.name.as_str()).filter(is_place);
        std::iter::once(UTC).chain(places)
    }

    /// The date of a moment in this zone.
    pub fn date_at(self, at: Timestamp) -> Date {
        let offset = i64::from(self.rules().to_offset(at).seconds());
        date_from_days((at.as_microsecond() + offset * 1_000_000).div_euclid(DAY_MICROSECONDS))
    }

    /// The date of a reported balance or price. Noon UTC stands for a date that the source gave without a time, and such
    /// a date is the same everywhere.
    pub fn date_of_report(self, at: Timestamp) -> Date {
        let micros = at.as_microsecond();
        match micros.rem_euclid(DAY_MICROSECONDS) {
            NOON_MICROSECONDS => date_from_days(micros.div_euclid(DAY_MICROSECONDS)),
            _ => self.date_at(at),
        }
    }

    /// The first moment of a date. Where a zone skips midnight, or the whole date, it is the first moment after it.
    pub fn start_of(self, date: Date) -> Timestamp {
        let start = date.to_zoned(self.rules().clone());
        start.map_or(Timestamp::MAX, |it| it.timestamp())
    }

    /// The moment with its local date and time, to show it.
    pub fn local(self, at: Timestamp) -> Zoned {
        at.to_zoned(self.rules().clone())
    }

    fn rules(self) -> &'static Rules {
        self.0.rules.get_or_init(|| Rules::get(&self.0.name).unwrap_or(Rules::UTC))
    }
}

impl Clock {
    /// The present date in a time zone. What is about a person uses theirs; what is about the server uses UTC.
    pub fn today_in(&self, timezone: TimeZone) -> Date {
        timezone.date_at(self.now())
    }
}

fn find(name: &str) -> Option<TimeZone> {
    let lowercase = name.to_ascii_lowercase();
    let index = ENTRIES.binary_search_by(|it| it.0.as_str().cmp(&lowercase)).ok()?;
    Some(TimeZone(&ENTRIES[index].1))
}

impl PartialEq for TimeZone {
    fn eq(&self, other: &TimeZone) -> bool {
        self.name() == other.name()
    }
}

impl Eq for TimeZone {}

impl fmt::Debug for TimeZone {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl fmt::Display for TimeZone {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::days_from_date;
    use proptest::prelude::*;

    fn zone(name: &str) -> TimeZone {
        TimeZone::parse(name).unwrap()
    }

    fn hours_of(zone: TimeZone, date: &str) -> i64 {
        let date: Date = date.parse().unwrap();
        let seconds =
            zone.start_of(date.tomorrow().unwrap()).as_second() - zone.start_of(date).as_second();
        seconds / 3_600
    }

    proptest! {
        #[test]
        fn the_date_of_a_moment_agrees_with_jiff(
            index in 0..1_000_usize,
            micros in -2_000_000_000_000_000_i64..8_000_000_000_000_000,
        ) {
            let zone = TimeZone(&ENTRIES[index % ENTRIES.len()].1);
            let at = Timestamp::from_microsecond(micros).unwrap();
            let rules = Rules::get(zone.name()).unwrap();
            prop_assert_eq!(zone.date_at(at), at.to_zoned(rules).date());
        }

        /// A date begins at the first moment that has it: the microsecond before has an earlier one.
        #[test]
        fn a_date_begins_at_its_first_moment(index in 0..1_000_usize, days in -20_000_i64..60_000) {
            let zone = TimeZone(&ENTRIES[index % ENTRIES.len()].1);
            let date = date_from_days(days);
            let start = zone.start_of(date);
            let before = Timestamp::from_microsecond(start.as_microsecond() - 1).unwrap();
            prop_assert!(zone.date_at(before) < date);
            // A zone that moved over the date line has skipped a date.
            let skipped = days_from_date(zone.date_at(start)) - days;
            prop_assert!((0..=1).contains(&skipped));
        }
    }

    #[test]
    fn two_people_have_different_dates_at_the_same_moment() {
        let clock = Clock::frozen_at("2026-03-01T10:30:00Z");
        let date = |name| clock.today_in(zone(name)).to_string();
        assert_eq!(date("Pacific/Kiritimati"), "2026-03-02");
        assert_eq!(date("UTC"), "2026-03-01");
        assert_eq!(date("Pacific/Pago_Pago"), "2026-02-28");
    }

    #[test]
    fn days_have_23_or_25_hours_when_clocks_change() {
        let new_york = zone("America/New_York");
        assert_eq!(hours_of(new_york, "2026-03-08"), 23);
        assert_eq!(hours_of(new_york, "2026-11-01"), 25);
        assert_eq!(hours_of(new_york, "2026-11-02"), 24);
        // Chile changes its clocks at midnight: this day begins at 1 in the morning.
        assert_eq!(hours_of(zone("America/Santiago"), "2026-09-06"), 23);
        // Samoa moved over the date line and had no 30 December 2011.
        assert_eq!(hours_of(zone("Pacific/Apia"), "2011-12-30"), 0);
    }

    #[test]
    fn a_reported_date_without_a_time_is_the_same_everywhere() {
        let noon: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let later: Timestamp = "2026-03-01T12:00:01Z".parse().unwrap();
        let auckland = zone("Pacific/Auckland");
        assert_eq!(auckland.date_of_report(noon).to_string(), "2026-03-01");
        assert_eq!(auckland.date_of_report(later).to_string(), "2026-03-02");
    }

    #[test]
    fn names_are_found_in_any_case_and_unknown_ones_are_refused_with_a_similar_one() {
        assert_eq!(zone("america/new_york").name(), "America/New_York");
        assert_eq!(zone("Asia/Calcutta").name(), "Asia/Calcutta");
        assert_eq!(TimeZone::utc(), zone("utc"));
        let refused = |name| TimeZone::parse(name).unwrap_err().to_string();
        let expected = "must be an IANA time zone such as America/New_York or UTC";
        assert_eq!(refused("Mars/Olympus_Mons"), expected);
        assert_eq!(refused("Factory"), expected);
        assert_eq!(refused(""), expected);
        let similar = format!("{expected}; did you mean Europe/Berlin?");
        assert_eq!(refused("Europe/Berlim"), similar);
    }

    #[test]
    fn every_choice_is_a_known_zone() {
        let names: Vec<&str> = TimeZone::choices().collect();
        assert!(names.iter().all(|it| TimeZone::parse(it).is_ok_and(|zone| zone.name() == *it)));
        assert!(names.len() > 300);
        assert_eq!(names[0], "UTC");
        for unwanted in ["EST5EDT", "Etc/GMT+5", "US/Pacific"] {
            assert!(!names.contains(&unwanted));
        }
    }
}
