//! Recurring streams: which payments of a group repeat, how often, and when the next one is due.

mod amounts;
mod contracts;
mod detection;
mod fit;
mod payment_kind;
mod schedule;
mod stream;
mod stream_ids;
#[cfg(test)]
mod tests;

use base::{Date, TransactionId, days_from_date, words};

pub use amounts::AmountClass;
pub use payment_kind::PaymentKind;
pub use schedule::{Frequency, Schedule};
pub use stream_ids::match_stream_ids;

use detection::GroupTraits;
use schedule::CalendarDay;

/// Posted transactions of one account, direction, merchant and currency, without transfers between own accounts.
#[derive(Debug, Clone)]
pub struct Group {
    pub inflow: bool,
    pub payment_kind: PaymentKind,
    /// In any order. A repeated id counts once.
    pub occurrences: Vec<Occurrence>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    pub id: TransactionId,
    /// Days since 1970: there are many, and calendar dates would be converted to this again.
    pub on_days: i64,
    /// Positive; others are ignored.
    pub amount_minor: i64,
}

words!(Confidence {
    /// Two or three payments of a kind that is always a contract.
    Early => "early",
    Mature => "mature",
});

words!(Status {
    Active => "active",
    /// The next payment is long overdue.
    Ended => "ended",
});

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    pub frequency: Frequency,
    pub confidence: Confidence,
    pub status: Status,
    /// Oldest first, one for each paid slot.
    pub members: Vec<Member>,
    /// The median of the last six.
    pub average_minor: i64,
    pub last_minor: i64,
    pub min_minor: i64,
    pub max_minor: i64,
    pub amount_class: AmountClass,
    /// The average amount per average month.
    pub monthly_minor: i64,
    pub first_on: Date,
    pub last_on: Date,
    /// None once the stream has ended. In the past while the payment is late.
    pub next_expected_on: Option<Date>,
    pub price_changes: Vec<PriceChange>,
    /// Slots without a payment while the stream continued.
    pub missed_on: Vec<Date>,
    pub schedule: Schedule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    pub id: TransactionId,
    pub on: Date,
    pub amount_minor: i64,
    /// The nominal day it was paid for, which may lie in another month.
    pub slot_on: Date,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceChange {
    pub on: Date,
    pub from_minor: i64,
    pub to_minor: i64,
}

/// The streams of a group as known at the end of `as_of`, sorted by their first payment. An occurrence is in at most
/// one of them.
pub fn detect_streams(group: &Group, as_of: Date) -> Vec<Stream> {
    if group.occurrences.len() < 2 || group.payment_kind == PaymentKind::Cash {
        return Vec::new();
    }
    let today = days_from_date(as_of);
    let points = points(&group.occurrences, today);
    let traits = GroupTraits { inflow: group.inflow, payment_kind: group.payment_kind };
    let detected = contracts::find(&points, traits);
    let mut streams: Vec<Stream> =
        detected.into_iter().map(|it| stream::build_stream(&it, traits, today)).collect();
    streams.sort_by_key(|it| (it.first_on, it.members[0].id));
    streams
}

/// An occurrence with precomputed calendar values.
#[derive(Debug, Clone, Copy)]
struct Point {
    id: TransactionId,
    amount_minor: i64,
    at: CalendarDay,
}

impl Point {
    fn order(&self) -> (i64, TransactionId) {
        (self.at.day, self.id)
    }
}

fn points(occurrences: &[Occurrence], today: i64) -> Vec<Point> {
    let counts = |it: &&Occurrence| it.on_days <= today && it.amount_minor > 0;
    let mut known: Vec<Occurrence> = occurrences.iter().filter(counts).copied().collect();
    known.sort_unstable_by_key(|it| (it.on_days, it.id));
    // Ids usually increase with the days, and then none repeats.
    if !known.is_sorted_by(|a, b| a.id < b.id) {
        known.sort_unstable_by_key(|it| (it.id, it.on_days, it.amount_minor));
        known.dedup_by_key(|it| it.id);
        known.sort_unstable_by_key(|it| (it.on_days, it.id));
    }
    let mut points: Vec<Point> = Vec::with_capacity(known.len());
    for Occurrence { id, on_days, amount_minor } in known {
        let before = points.last().and_then(|it| it.at.in_same_month(on_days));
        let at = before.unwrap_or_else(|| CalendarDay::of(on_days));
        points.push(Point { id, amount_minor, at });
    }
    points
}
