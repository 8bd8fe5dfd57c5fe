//! Values of the elements of a CAMT file: dates, credit/debit indicators and references.

use base::{Date, Timestamp};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::plausibility::is_plausible_date;

/// A date as written, and the local time if it was written too.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrittenDate {
    pub(super) day: Option<Date>,
    local: Option<DateTime>,
}

impl WrittenDate {
    /// Parses `2026-03-05`, `2026-03-05+01:00` or `2026-03-05T23:59:59.000+01:00`. The date is the literal one, not
    /// converted to UTC.
    pub(super) fn read(text: &str) -> WrittenDate {
        let day = text.get(..10).and_then(|it| it.parse().ok()).filter(|it| is_plausible_date(*it));
        // The seconds end at this length; a fraction and the time zone follow.
        let local = text.get(..19).filter(|_| day.is_some()).and_then(|it| it.parse().ok());
        WrittenDate { day, local }
    }

    /// The local time as if it were UTC, to order the balances of an account. Its date is the literal one.
    pub(super) fn local_as_utc(self) -> Option<Timestamp> {
        self.local.or_else(|| self.day.map(at_noon)).and_then(in_utc)
    }
}

/// Noon UTC on the date of a moment in UTC. This stands for the date in every time zone of the user.
pub(super) fn noon_of(moment: Timestamp) -> Timestamp {
    let date = moment.to_zoned(TimeZone::UTC).date();
    in_utc(at_noon(date)).unwrap_or(moment)
}

fn at_noon(date: Date) -> DateTime {
    date.at(12, 0, 0, 0)
}

fn in_utc(local: DateTime) -> Option<Timestamp> {
    local.to_zoned(TimeZone::UTC).ok().map(|it| it.timestamp())
}

/// Reads a credit/debit indicator: true for money in. None for any other text.
pub(super) fn credit(text: &str) -> Option<bool> {
    match text {
        "CRDT" => Some(true),
        "DBIT" => Some(false),
        _ => None,
    }
}

/// The reference or text, unless it is a placeholder for a missing one.
pub(super) fn non_placeholder(text: &str) -> Option<String> {
    let none = ["NOTPROVIDED", "NONREF", "NONE", "NOTAVAILABLE", "N/A", "0"];
    (!none.iter().any(|it| it.eq_ignore_ascii_case(text))).then(|| text.to_owned())
}
