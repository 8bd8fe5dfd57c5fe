//! Recurring streams: which payments of a group repeat, how often, and when the next one is due.

mod amounts;
mod carry;
mod contracts;
mod fit;
mod judge;
mod nature;
mod schedule;
mod stream;
#[cfg(test)]
mod tests;

use base::{Date, TransactionId, days_from_date, words};

pub use amounts::AmountClass;
pub use carry::carry_ids;
pub use nature::Nature;
pub use schedule::{Frequency, Schedule};

use judge::Traits;
use schedule::CalendarDay;

/// Posted transactions of one account, direction, merchant and currency that are no transfers
/// between own accounts.
#[derive(Debug, Clone)]
pub struct Group {
    pub inflow: bool,
    pub nature: Nature,
    /// In any order. An id counts once, however often it is listed.
    pub occurrences: Vec<Occurrence>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    pub id: TransactionId,
    /// Since 1970: there are many, and calendar dates would be turned into this again.
    pub on_days: i64,
    /// Positive; what is not is no payment and left out.
    pub amount_minor: i64,
}

words!(Confidence {
    /// Two or three payments of a kind that is always agreed upon.
    Early => "early",
    Mature => "mature",
});

words!(Status {
    Active => "active",
    /// The next payment is overdue beyond all patience.
    Ended => "ended",
});

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    pub frequency: Frequency,
    pub confidence: Confidence,
    pub status: Status,
    /// Oldest first, one for each slot that was paid.
    pub members: Vec<Member>,
    /// The median of the last six.
    pub average_minor: i64,
    pub last_minor: i64,
    pub min_minor: i64,
    pub max_minor: i64,
    pub amount_class: AmountClass,
    /// The average over a month of typical length.
    pub monthly_minor: i64,
    pub first_on: Date,
    pub last_on: Date,
    /// None once the stream has ended. It may lie in the past while the payment is merely late.
    pub next_expected_on: Option<Date>,
    pub price_changes: Vec<PriceChange>,
    /// Slots that went by without a payment while the stream went on.
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

/// The streams of a group as they could be known at the end of `as_of`, by their first payment. An
/// occurrence is in one of them at most.
pub fn streams(group: &Group, as_of: Date) -> Vec<Stream> {
    if group.occurrences.len() < 2 {
        return Vec::new();
    }
    let today = days_from_date(as_of);
    let points = points(&group.occurrences, today);
    let traits = Traits { inflow: group.inflow, nature: group.nature };
    let verdicts = contracts::find(&points, traits);
    let mut streams: Vec<Stream> =
        verdicts.into_iter().map(|it| stream::told(&it, traits, today)).collect();
    streams.sort_by_key(|it| (it.first_on, it.members[0].id));
    streams
}

/// An occurrence, with what the fits ask of its day again and again.
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
    // Mostly ids rise with the days, and then none is there twice.
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
