//! Parses OFX dates and times: `YYYYMMDD[HHMM[SS[.mmm]]][offset:zone]`, and banks' variations of it.

use base::{Date, Timestamp};
use jiff::civil::{DateTime, Time};
use jiff::tz::Offset;

use crate::plausibility::is_plausible_date;

/// The literal date. Converting it to another time zone would move a transaction to a day on which the bank does not
/// show it.
pub(super) fn date(text: &str) -> Option<Date> {
    let bytes = text.as_bytes();
    let digits = bytes.iter().take_while(|it| it.is_ascii_digit()).count();
    let [year, month, day] = match digits {
        8.. => [&text[..4], &text[4..6], &text[6..8]],
        4 if bytes.len() >= 10 && bytes[4] == b'-' && bytes[7] == b'-' => {
            [text.get(..4)?, text.get(5..7)?, text.get(8..10)?]
        }
        _ => return None,
    };
    let day = Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok();
    day.filter(|it| is_plausible_date(*it))
}

/// The literal date and time, to order statements of a file. The zone is left out: a bank writes one zone.
pub(super) fn date_and_time(text: &str) -> Option<DateTime> {
    let on = date(text)?;
    let part = |at: usize| text.get(at..at + 2).and_then(|it| it.parse::<i8>().ok());
    let clock = [8, 10, 12].map(|at| part(at).unwrap_or(0));
    let time = Time::new(clock[0], clock[1], clock[2].min(59), 0);
    Some(on.to_datetime(time.unwrap_or_default()))
}

/// The moment of a balance or price: noon of the literal date, which is the same date in every time zone of a person.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    midday(date(text)?)
}

pub(super) fn midday(on: Date) -> Option<Timestamp> {
    Offset::UTC.to_timestamp(on.at(12, 0, 0, 0)).ok()
}
