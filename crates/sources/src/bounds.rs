//! What nobody has and no bank means. It is refused row by row, because further on it would be refused as a whole.

use base::Date;

/// A million million units of a currency with cents: more than anybody has, and sums of it still fit.
const MINOR_MAX: u64 = 100_000_000_000_000;

pub(crate) fn is_absurd(minor: i64) -> bool {
    minor.unsigned_abs() > MINOR_MAX
}

/// Whether people with a bank account live then. Days can be counted from it on in both directions.
pub(crate) fn is_day(day: Date) -> bool {
    (1900..2200).contains(&day.year())
}
