//! Parses dates in tables. The literal date is used; no time zone shifts it.

use base::{Date, Timestamp, days_from_date};

use super::DateOrder;
use crate::plausibility::is_plausible_date;

/// The first letters of month names in the languages of the known files.
const MONTHS: [&[&str]; 12] = [
    &["jan", "jän", "ene", "gen"],
    &["feb", "fév", "fev"],
    &["mar", "mär", "mrz", "maa", "mrt"],
    &["apr", "avr", "abr"],
    &["may", "mai", "mei", "mag"],
    &["jun", "juin", "giu"],
    &["jul", "juil", "lug"],
    &["aug", "aoû", "aou", "ago"],
    &["sep", "set"],
    &["oct", "okt", "ott"],
    &["nov"],
    &["dec", "dez", "dic", "déc"],
];

/// Longer text is not a date.
const BYTES_MAX: usize = 40;

/// Parses a date. One of three numbers is read in the given order unless a four-digit year or dots decide; a time
/// after it is ignored.
pub(crate) fn read(text: &str, order: DateOrder, today: Date) -> Option<Date> {
    match Parts::of(text)? {
        Parts::Known { year, month, day } => date(year, month, day),
        Parts::Open { first, second, year } => {
            let (day, month) = match order {
                DateOrder::DayFirst => (first, second),
                DateOrder::MonthFirst => (second, first),
            };
            date(year, month, day)
        }
    }
    .map(|(year, month, day)| (full_year(year, today), month, day))
    .and_then(|(year, month, day)| Date::new(year, month, day).ok())
    .filter(|it| is_plausible_date(*it))
}

/// The second date of "04/17/2026 as of 04/15/2026": when the transaction took effect.
pub(crate) fn as_of(text: &str, order: DateOrder, today: Date) -> Option<Date> {
    // Nearly every cell is a date alone. Preparing the search costs more than the rest of the row.
    if text.len() < "1/2/26 as of 1/2/26".len() {
        return None;
    }
    let (_, effective) = text.split_once(" as of ")?;
    read(effective, order, today)
}

/// Whether the text is a date in either order.
pub(crate) fn looks_like(text: &str, today: Date) -> bool {
    DateOrder::ALL.iter().any(|it| read(text, *it, today).is_some())
}

/// Midday of a day, which is the same day in most time zones.
pub(crate) fn midday(on: Date) -> Option<Timestamp> {
    let seconds = days_from_date(on).checked_mul(86_400)?.checked_add(43_200)?;
    Timestamp::from_second(seconds).ok()
}

fn date(year: Year, month: u16, day: u16) -> Option<(Year, i8, i8)> {
    let month = i8::try_from(month).ok().filter(|it| (1..=12).contains(it))?;
    let day = i8::try_from(day).ok().filter(|it| (1..=31).contains(it))?;
    Some((year, month, day))
}

#[derive(Debug, Clone, Copy)]
enum Year {
    Full(u16),
    Short(u16),
}

/// A two-digit year is the latest one that is at most one year after today.
fn full_year(year: Year, today: Date) -> i16 {
    match year {
        Year::Full(year) => i16::try_from(year).unwrap_or(i16::MAX),
        Year::Short(short) => {
            let latest = today.year().saturating_add(1);
            let short = i16::try_from(short).unwrap_or(0);
            latest - (latest - short).rem_euclid(100)
        }
    }
}

enum Parts {
    Known { year: Year, month: u16, day: u16 },
    Open { first: u16, second: u16, year: Year },
}

impl Parts {
    fn of(text: &str) -> Option<Parts> {
        let text = text.trim();
        if text.len() > BYTES_MAX {
            return None;
        }
        let text = text.split_once(" as of ").map_or(text, |(posted, _)| posted.trim_end());
        match text.as_bytes() {
            // The common form first, for speed: 01/05/2026.
            [a, b, b'/', c, d, b'/', rest @ ..] if rest.len() == 4 => Some(Parts::Open {
                first: whole(&[*a, *b])?,
                second: whole(&[*c, *d])?,
                year: Year::Full(whole(rest)?),
            }),
            [year @ .., _, _, _, _] if text.len() == 8 && whole(text.as_bytes()).is_some() => {
                let (month, day) = text[4..].split_at(2);
                Some(Parts::Known {
                    year: Year::Full(whole(year)?),
                    month: whole(month.as_bytes())?,
                    day: whole(day.as_bytes())?,
                })
            }
            _ => Parts::numbers(without_time(text))
                .or_else(|| Parts::named(text))
                .or_else(|| Parts::joined_time(text)),
        }
    }

    /// `20260105093000`, `20260105093000[-5:EST]`, `202601050930`: a date and a time without marks between them.
    fn joined_time(text: &str) -> Option<Parts> {
        let digits = text.split(['[', '.']).next().unwrap_or(text).as_bytes();
        let (date, time) = digits.split_at_checked(8)?;
        let is_time = match time {
            [hour @ .., _, _] if time.len() == 4 => whole(hour)? < 24 && whole(&time[2..])? < 60,
            [hour @ .., _, _, _, _] if time.len() == 6 => {
                whole(hour)? < 24 && whole(&time[2..4])? < 60 && whole(&time[4..])? < 60
            }
            _ => false,
        };
        let known = Parts::Known {
            year: Year::Full(whole(&date[..4])?),
            month: whole(&date[4..6])?,
            day: whole(&date[6..])?,
        };
        is_time.then_some(known)
    }

    fn numbers(text: &str) -> Option<Parts> {
        let mark = text.bytes().find(|it| !it.is_ascii_digit())?;
        if !matches!(mark, b'-' | b'/' | b'.') {
            return None;
        }
        let mut parts = text.split(char::from(mark));
        let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some_and(|it| !it.is_empty()) {
            return None;
        }
        let number = |it: &str| whole(it.as_bytes());
        if first.len() == 4 {
            let year = Year::Full(number(first)?);
            return Some(Parts::Known { year, month: number(second)?, day: number(third)? });
        }
        if first.len() > 2 || second.len() > 2 {
            return None;
        }
        let (first, second, year) = (number(first)?, number(second)?, year(third)?);
        Some(match mark {
            // With dots, the day is always first.
            b'.' => Parts::Known { year, month: second, day: first },
            _ => Parts::Open { first, second, year },
        })
    }

    /// `Jan 5, 2026`, `05 Jan 2026`, `5-Jan-26`.
    fn named(text: &str) -> Option<Parts> {
        let is_between = |it: char| it.is_whitespace() || matches!(it, ',' | '-' | '.' | '/');
        let mut parts = text.split(is_between).filter(|it| !it.is_empty());
        let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some_and(|it| !is_time(it)) {
            return None;
        }
        let (name, day) = match first.starts_with(|it: char| it.is_ascii_digit()) {
            true => (second, first),
            false => (first, second),
        };
        let name = name.to_lowercase();
        let month = MONTHS.iter().position(|words| words.iter().any(|it| name.starts_with(it)))?;
        if name.chars().count() > 10 || name.chars().any(|it| !it.is_alphabetic()) {
            return None;
        }
        let month = u16::try_from(month + 1).ok()?;
        let year = match third.as_bytes() {
            // Spreadsheets drop the zero of 09.
            [digit @ b'0'..=b'9'] => Year::Short(u16::from(digit - b'0')),
            _ => year(third)?,
        };
        Some(Parts::Known { year, month, day: whole(day.as_bytes())? })
    }
}

fn year(text: &str) -> Option<Year> {
    let number = whole(text.as_bytes())?;
    match text.len() {
        2 => Some(Year::Short(number)),
        4 => Some(Year::Full(number)),
        _ => None,
    }
}

fn without_time(text: &str) -> &str {
    match text.split_once(['T', ' ']) {
        Some((date, time)) if is_time(time.trim_start()) => date,
        _ => text,
    }
}

fn is_time(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_digit()) && text.contains(':')
}

/// At most eight digits, of which the last four count: the year and its parts are parsed separately.
fn whole(digits: &[u8]) -> Option<u16> {
    if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0_u32, |sum, it| sum * 10 + u32::from(it - b'0'));
    u16::try_from(value % 10_000).ok()
}

/// Counts the evidence for either date order in a column.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DateOrderCounts {
    day_first: usize,
    month_first: usize,
    open: usize,
}

impl DateOrderCounts {
    pub(crate) fn count(&mut self, text: &str) {
        match Parts::of(text) {
            Some(Parts::Open { first: 13..=31, second: 1..=12, .. }) => self.day_first += 1,
            Some(Parts::Open { first: 1..=12, second: 13..=31, .. }) => self.month_first += 1,
            Some(Parts::Open { first, second, .. }) if first != second => self.open += 1,
            _ => {}
        }
    }

    /// The order that the file proves. If dates contradict each other, the majority wins and the others are invalid.
    pub(crate) fn proven(self) -> Option<DateOrder> {
        match self.day_first.cmp(&self.month_first) {
            std::cmp::Ordering::Greater => Some(DateOrder::DayFirst),
            std::cmp::Ordering::Less => Some(DateOrder::MonthFirst),
            std::cmp::Ordering::Equal => None,
        }
    }

    /// Whether some date would be another day in the other order.
    pub(crate) fn is_open(self) -> bool {
        self.open > 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TODAY: Date = Date::constant(2026, 11, 15);

    #[test]
    fn dates_are_read_in_every_form() {
        for (text, expected) in [
            ("2026-01-05", "2026-01-05"),
            ("2026/1/5", "2026-01-05"),
            ("20260105", "2026-01-05"),
            ("01/05/2026", "2026-01-05"),
            ("1/5/2026", "2026-01-05"),
            ("1/5/26", "2026-01-05"),
            ("01-05-2026", "2026-01-05"),
            ("05.01.2026", "2026-01-05"),
            ("5.1.26", "2026-01-05"),
            ("Jan 5, 2026", "2026-01-05"),
            ("January 05 2026", "2026-01-05"),
            ("05 Jan 2026", "2026-01-05"),
            ("5-Jan-26", "2026-01-05"),
            ("5. März 2026", "2026-03-05"),
            ("2026-01-05 23:59:59", "2026-01-05"),
            ("2026-01-05T23:59:59Z", "2026-01-05"),
            ("01/05/2026 08:30 PM", "2026-01-05"),
            ("Jan 5, 2026 10:00", "2026-01-05"),
            ("12/31/27", "2027-12-31"),
            ("12/31/28", "1928-12-31"),
            ("02/29/2024", "2024-02-29"),
            ("01/05/2026 as of 01/03/2026", "2026-01-05"),
            ("20260105120000[0:GMT]", "2026-01-05"),
            ("20260105093000.000[-5:EST]", "2026-01-05"),
            ("202601050930", "2026-01-05"),
            ("2026-01-05T09:30:00+02:00", "2026-01-05"),
            ("2026-01-05 09:30:00 +0000", "2026-01-05"),
            ("2026-01-05 09:30 UTC", "2026-01-05"),
            ("05-Jan-9", "2009-01-05"),
        ] {
            let read = read(text, DateOrder::MonthFirst, TODAY).map(|it| it.to_string());
            assert_eq!(read.as_deref(), Some(expected), "{text}");
        }
        let day_first = read("05/01/2026", DateOrder::DayFirst, TODAY);
        assert_eq!(day_first, Some(Date::constant(2026, 1, 5)));
    }

    #[test]
    fn invalid_dates_are_none() {
        for text in [
            "",
            "13/01/2026",
            "02/29/2026",
            "00/05/2026",
            "2026-13-01",
            "1899-12-31",
            "2200-01-01",
            "0001-01-01",
            "1/5",
            "1/5/202",
            "1/5/2026/7",
            "12.34",
            "1,234.50",
            "20261305",
            "20260105250000",
            "202601059930",
            "2026010512",
            "01/05/2026 as off 01/03/2026",
            "123456789",
            "Jan 2026",
            "Janitor 5 tools",
            "May 5, 20266",
            "2026-01-05 noon",
            "é1/05/2026",
        ] {
            assert_eq!(read(text, DateOrder::MonthFirst, TODAY), None, "{text}");
        }
    }

    #[test]
    fn one_component_over_twelve_decides() {
        let seen = |texts: &[&str]| {
            let mut orders = DateOrderCounts::default();
            texts.iter().for_each(|it| orders.count(it));
            (orders.proven(), orders.is_open())
        };
        assert_eq!(seen(&["01/05/2026", "01/13/2026"]), (Some(DateOrder::MonthFirst), true));
        assert_eq!(seen(&["01/05/2026", "13/01/2026"]), (Some(DateOrder::DayFirst), true));
        assert_eq!(seen(&["01/05/2026"]), (None, true));
        assert_eq!(seen(&["05/05/2026", "2026-01-05", "05.01.2026"]), (None, false));
    }

    proptest! {
        #[test]
        fn every_day_is_read_back(days in -25_567_i64..84_006) {
            let date = base::date_from_days(days);
            let (year, month, day) = (date.year(), date.month(), date.day());
            for (text, order) in [
                (date.to_string(), DateOrder::DayFirst),
                (format!("{month}/{day}/{year:04}"), DateOrder::MonthFirst),
                (format!("{day:02}/{month:02}/{year:04}"), DateOrder::DayFirst),
                (format!("{day:02}.{month:02}.{year:04}"), DateOrder::MonthFirst),
                (format!("{year:04}{month:02}{day:02}"), DateOrder::MonthFirst),
            ] {
                prop_assert_eq!(read(&text, order, TODAY), Some(date), "{}", text);
            }
        }

        #[test]
        fn nothing_makes_it_panic(text in "[0-9/.: TJanFebMär-]{0,20}|.*") {
            looks_like(&text, TODAY);
            DateOrderCounts::default().count(&text);
        }
    }
}
