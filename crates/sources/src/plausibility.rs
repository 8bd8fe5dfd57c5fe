//! Plausibility limits. A row outside of them is rejected by itself; otherwise the whole statement would be refused
//! later.

use base::Date;

/// A million million units of a currency with cents: more than anyone has, and small enough that sums cannot
/// overflow.
const MINOR_MAX: u64 = 100_000_000_000_000;

pub(crate) fn is_implausible_amount(minor: i64) -> bool {
    minor.unsigned_abs() > MINOR_MAX
}

/// Whether the date lies in a range in which bank transactions can occur, and far enough from the limits of `Date`
/// for arithmetic.
pub(crate) fn is_plausible_date(day: Date) -> bool {
    (1900..2200).contains(&day.year())
}
