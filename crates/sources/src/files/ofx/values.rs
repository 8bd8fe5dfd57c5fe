//! Parses OFX dates and times: `YYYYMMDD[HHMM[SS[.mmm]]][offset:zone]`, and banks' variations of it.

use base::{Date, Timestamp};
use jiff::civil;
use jiff::tz::Offset;

use crate::plausibility::is_plausible_date;

/// Time zones by name, in minutes east of Greenwich, for files without an offset: IBKR writes `[-:EST]`.
const ZONES: [(&str, i32); 22] = [
    ("ACST", 570),
    ("AEDT", 660),
    ("AEST", 600),
    ("AKDT", -480),
    ("AKST", -540),
    ("AWST", 480),
    ("BST", 60),
    ("CDT", -300),
    ("CEST", 120),
    ("CET", 60),
    ("CST", -360),
    ("EDT", -240),
    ("EST", -300),
    ("GMT", 0),
    ("HST", -600),
    ("JST", 540),
    ("MDT", -360),
    ("MST", -420),
    ("NZST", 720),
    ("PDT", -420),
    ("PST", -480),
    ("UTC", 0),
];

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

/// The moment. A date alone, or its first second without a zone, becomes noon of that day.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    let on = date(text)?;
    let (time, zone) = match text.split_once('[') {
        Some((time, zone)) => (time, zone.trim_end_matches([']', ' '])),
        None => (text, ""),
    };
    let part = |at: usize| time.get(at..at + 2).and_then(|it| it.parse::<i8>().ok());
    let clock = (part(8).unwrap_or(0), part(10).unwrap_or(0), part(12).unwrap_or(0));
    let offset = offset_minutes(zone);
    let is_plausible_date = offset.is_none() && clock == (0, 0, 0);
    if is_plausible_date || time.contains('-') {
        return midday(on);
    }
    let Ok(time) = civil::Time::new(clock.0, clock.1, clock.2.min(59), 0) else {
        return midday(on);
    };
    let offset = Offset::from_seconds(offset.unwrap_or(0).checked_mul(60)?).ok()?;
    offset.to_timestamp(on.to_datetime(time)).ok()
}

pub(super) fn midday(on: Date) -> Option<Timestamp> {
    Offset::UTC.to_timestamp(on.at(12, 0, 0, 0)).ok()
}

/// The offset of `-5:EST`, `-5.5`, `+5.30`, `-:EST` or `EST`, in minutes east of Greenwich.
fn offset_minutes(zone: &str) -> Option<i32> {
    let (offset, name) = zone.split_once(':').unwrap_or((zone, zone));
    let by_name = || {
        let name = name.trim();
        ZONES.iter().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1)
    };
    let unsigned = offset.trim().trim_start_matches(['+', '-']);
    let (hours, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let Ok(hours) = hours.parse::<i32>() else { return by_name() };
    let minutes = match fraction {
        // A decimal fraction of an hour, or minutes.
        "25" | "15" => 15,
        "5" | "50" | "30" => 30,
        "75" | "45" => 45,
        _ => 0,
    };
    if hours > 14 {
        return by_name();
    }
    let all = hours * 60 + minutes;
    Some(if offset.trim().starts_with('-') { -all } else { all })
}
