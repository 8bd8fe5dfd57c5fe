//! Prices of one security from several sources.

use base::{Fixed9, Timestamp};

/// The price of one share at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    pub price: Fixed9,
    /// The close of the session before the one of the price.
    pub previous_close: Option<Fixed9>,
    pub at: Timestamp,
}

/// The newer of two prices of one security, and the second if both are from the same time. If it has no previous close,
/// it takes that of the other, which is the same if both prices are from the same day.
pub fn newer(a: Price, b: Price) -> Price {
    let (older, newer) = if a.at > b.at { (b, a) } else { (a, b) };
    let day = |price: Price| price.at.as_second().div_euclid(86_400);
    let same_day = day(older) == day(newer);
    let previous_close = newer.previous_close.or(older.previous_close.filter(|_| same_day));
    Price { previous_close, ..newer }
}
