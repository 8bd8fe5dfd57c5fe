//! Time as a parameter: the system clock, or one that a test controls. Also calendar arithmetic and formatting.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

pub use jiff::Timestamp;
pub use jiff::civil::Date;

#[derive(Clone, Debug)]
pub enum Clock {
    System,
    /// Microseconds since 1970; shared, so that every clone moves together.
    Frozen(Arc<AtomicI64>),
    /// Another clock, ahead by so many microseconds, or behind: the clock of a machine that is set wrong.
    Shifted(Arc<Clock>, i64),
}

/// How far the clocks of two processes on one database may differ. A stored time further in the future than this was
/// written before the clock was set back, and nothing may wait for it.
pub const CLOCK_SKEW_MICROSECONDS: i64 = 10_000_000;

impl Clock {
    /// A clock that only moves by `advance` and `set_back`. Panics on a malformed instant, because only tests call it.
    pub fn frozen_at(instant: &str) -> Clock {
        let at: Timestamp = instant.parse().expect("an RFC 3339 instant");
        Clock::Frozen(Arc::new(AtomicI64::new(at.as_microsecond())))
    }

    pub fn now(&self) -> Timestamp {
        match self {
            #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
            Clock::System => micros(Timestamp::now().as_microsecond()),
            Clock::Frozen(at) => micros(at.load(Ordering::SeqCst)),
            Clock::Shifted(clock, by) => micros(clock.now().as_microsecond().saturating_add(*by)),
        }
    }

    /// A clock that is ahead of this one by so many seconds, or behind it if negative.
    pub fn shifted_by(&self, seconds: i64) -> Clock {
        Clock::Shifted(Arc::new(self.clone()), seconds.saturating_mul(1_000_000))
    }

    /// The clock that this one is ahead of or behind; itself if it is right.
    pub fn unshifted(&self) -> &Clock {
        match self {
            Clock::System | Clock::Frozen(_) => self,
            Clock::Shifted(clock, _) => clock.unshifted(),
        }
    }

    pub fn advance(&self, by: std::time::Duration) {
        match self {
            Clock::System | Clock::Shifted(..) => panic!("only a frozen clock can be moved"),
            Clock::Frozen(at) => {
                at.fetch_add(by.as_micros() as i64, Ordering::SeqCst);
            }
        }
    }

    /// Sets the clock back, as an operator or a time server may.
    pub fn set_back(&self, by: std::time::Duration) {
        match self {
            Clock::System | Clock::Shifted(..) => panic!("only a frozen clock can be moved"),
            Clock::Frozen(at) => {
                at.fetch_sub(by.as_micros() as i64, Ordering::SeqCst);
            }
        }
    }
}

/// The clock is rounded to microseconds, which is what the database stores, so that a stored time equals the original.
fn micros(at: i64) -> Timestamp {
    Timestamp::from_microsecond(at).unwrap_or(Timestamp::MAX)
}

/// The date from days since 1970-01-01, which is how dates are stored. Clamped to the years 0 to 9999.
pub fn date_from_days(days: i64) -> Date {
    let (year, month, day) = civil_from_days(days.clamp(-719_528, 2_932_896));
    Date::new(year as i16, month as i8, day as i8).unwrap_or(Date::MAX)
}

pub fn days_from_date(date: Date) -> i64 {
    let (year, month, day) = (i64::from(date.year()), i64::from(date.month()), date.day());
    // The year begins in March here, so that the leap day is its last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day by era arithmetic of the Gregorian calendar. Our own, because it is faster than jiff's and the
/// read path formats a hundred dates a page.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// Appends `YYYY-MM-DD`.
pub fn write_date(out: &mut Vec<u8>, days: i64) {
    out.extend_from_slice(&date_text(days));
}

/// Appends `YYYY-MM-DDThh:mm:ss.mmmZ`, the format of every instant in the API.
pub fn write_instant(out: &mut Vec<u8>, microseconds: i64) {
    const DAY: i64 = 86_400_000;
    let millis = microseconds.div_euclid(1000);
    let of_day = millis.rem_euclid(DAY) as usize;
    let mut text = *b"0000-00-00T00:00:00.000Z";
    text[..10].copy_from_slice(&date_text(millis.div_euclid(DAY)));
    text[11..13].copy_from_slice(&two_digits(of_day / 3_600_000));
    text[14..16].copy_from_slice(&two_digits(of_day / 60_000 % 60));
    text[17..19].copy_from_slice(&two_digits(of_day / 1000 % 60));
    text[20..22].copy_from_slice(&two_digits(of_day % 1000 / 10));
    text[22] = b'0' + (of_day % 10) as u8;
    out.extend_from_slice(&text);
}

fn date_text(days: i64) -> [u8; 10] {
    let (year, month, day) = civil_from_days(days.clamp(-719_528, 2_932_896));
    let mut text = *b"0000-00-00";
    text[..2].copy_from_slice(&two_digits((year / 100) as usize));
    text[2..4].copy_from_slice(&two_digits((year % 100) as usize));
    text[5..7].copy_from_slice(&two_digits(month as usize));
    text[8..].copy_from_slice(&two_digits(day as usize));
    text
}

/// Two digits at a time, which halves the divisions.
fn two_digits(value: usize) -> [u8; 2] {
    [b'0' + (value / 10 % 10) as u8, b'0' + (value % 10) as u8]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares our calendar with jiff's over the whole supported range.
        #[test]
        fn days_and_dates_agree_with_jiff(days in -719_528_i64..=2_932_896) {
            let date = date_from_days(days);
            let span = jiff::Span::new().days(days);
            prop_assert_eq!(Date::constant(1970, 1, 1).checked_add(span).ok(), Some(date));
            prop_assert_eq!(days_from_date(date), days);
            let mut text = Vec::new();
            write_date(&mut text, days);
            prop_assert_eq!(String::from_utf8(text).ok(), Some(date.to_string()));
        }

        #[test]
        fn instants_agree_with_jiff(micros in 0_i64..253_402_207_200_000_000) {
            let mut text = Vec::new();
            write_instant(&mut text, micros);
            let text = String::from_utf8(text).unwrap();
            let parsed: Timestamp = text.parse().unwrap();
            prop_assert_eq!(parsed.as_millisecond(), micros.div_euclid(1000));
            prop_assert_eq!(text.len(), 24);
        }
    }

    #[test]
    fn a_frozen_clock_moves_only_when_advanced_and_with_all_its_clones() {
        let clock = Clock::frozen_at("2026-02-28T23:59:59Z");
        let other = clock.clone();
        assert_eq!(clock.now().to_string(), "2026-02-28T23:59:59Z");
        other.advance(std::time::Duration::from_secs(1));
        assert_eq!(clock.now().to_string(), "2026-03-01T00:00:00Z");
        let behind = clock.shifted_by(-120);
        assert_eq!(behind.now().to_string(), "2026-02-28T23:58:00Z");
        assert_eq!(behind.shifted_by(240).now().to_string(), "2026-03-01T00:02:00Z");
        assert_eq!(behind.shifted_by(240).unshifted().now(), clock.now());
    }
}
