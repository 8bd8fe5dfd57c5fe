//! Builds a stream from its evidence: its payments by slot, the next due date, and its cost.

use base::{Date, date_from_days, days_from_date};

use super::amounts::{median_of_sorted, price_changes, recent_median};
use super::detection::{DetectedStream, GroupTraits};
use super::schedule::{Roll, Schedule};
use super::{Confidence, Member, Point, Status, Stream};

/// How many payments in a row a stream may skip and stay active, if it has done so before.
const SKIPS_MAX: i64 = 3;

pub(super) fn build_stream(detected: &DetectedStream, traits: GroupTraits, today: i64) -> Stream {
    let paid = one_a_slot(detected);
    let mut schedule = detected.fit.schedule;
    schedule.roll = learned_roll(&schedule, &paid, traits.inflow);
    let member = |(slot, point): &(i64, Point)| Member {
        id: point.id,
        on: date_from_days(point.at.day),
        amount_minor: point.amount_minor,
        slot_on: date_from_days(schedule.day_of(*slot)),
    };
    let members: Vec<Member> = paid.iter().map(member).collect();
    let amounts: Vec<i64> = members.iter().map(|it| it.amount_minor).collect();
    let dated: Vec<(Date, i64)> = members.iter().map(|it| (it.on, it.amount_minor)).collect();
    let slots: Vec<i64> = paid.iter().map(|(slot, _)| *slot).collect();
    let (first, last) = (members[0], members[members.len() - 1]);
    let skips = if detected.confidence == Confidence::Mature { longest_pause(&slots) } else { 0 };
    let next = next_slot(&schedule, last.on, slots[slots.len() - 1], skips, today);
    let end = next.unwrap_or(slots[slots.len() - 1]);
    let is_missed = |slot: &i64| slots.binary_search(slot).is_err();
    let average_minor = recent_median(&amounts);
    Stream {
        frequency: schedule.frequency,
        confidence: detected.confidence,
        status: if next.is_some() { Status::Active } else { Status::Ended },
        average_minor,
        last_minor: last.amount_minor,
        min_minor: amounts.iter().copied().min().unwrap_or(0),
        max_minor: amounts.iter().copied().max().unwrap_or(0),
        amount_class: detected.class,
        monthly_minor: schedule.frequency.monthly(average_minor),
        first_on: first.on,
        last_on: last.on,
        next_expected_on: next.and_then(|slot| date_after(last.on, schedule.expected_day(slot))),
        price_changes: price_changes(&dated, detected.class),
        missed_on: (slots[0]..end)
            .filter(is_missed)
            .map(|slot| date_from_days(schedule.day_of(slot)))
            .collect(),
        schedule,
        members,
    }
}

/// One payment per slot: the one nearer to its day, then the one nearer to the usual amount.
fn one_a_slot(detected: &DetectedStream) -> Vec<(i64, Point)> {
    let mut sorted: Vec<i64> = detected.points.iter().map(|it| it.amount_minor).collect();
    sorted.sort_unstable();
    let usual = median_of_sorted(&sorted);
    let mut payments: Vec<_> = detected.fit.offsets.iter().zip(&detected.points).collect();
    payments.sort_by_key(|(offset, point)| {
        (offset.slot, offset.off, (point.amount_minor - usual).abs(), point.order())
    });
    payments.dedup_by_key(|(offset, _)| offset.slot);
    payments.into_iter().map(|(offset, point)| (offset.slot, *point)).collect()
}

/// The direction in which at least four of five weekend payments moved. Before any was seen, income is expected
/// before a weekend.
fn learned_roll(schedule: &Schedule, paid: &[(i64, Point)], inflow: bool) -> Roll {
    let weekends = paid.iter().filter(|(slot, _)| schedule.is_weekend(*slot));
    let (mut early, mut late, mut all) = (0, 0, 0);
    for (slot, point) in weekends {
        let due = schedule.day_of(*slot);
        early += usize::from(point.at.day < due);
        late += usize::from(point.at.day > due);
        all += 1;
    }
    match (early, late) {
        _ if all == 0 && inflow => Roll::ToFriday,
        _ if all == 0 => Roll::Stays,
        (early, _) if early * 5 >= all * 4 => Roll::ToFriday,
        (_, late) if late * 5 >= all * 4 => Roll::ToMonday,
        _ => Roll::Stays,
    }
}

/// The largest number of consecutive slots without a payment.
fn longest_pause(slots: &[i64]) -> i64 {
    let pauses = slots.windows(2).map(|it| it[1] - it[0] - 1);
    pauses.max().unwrap_or(0).min(SKIPS_MAX)
}

/// The first slot after the last paid one that is not overdue, allowing as many skipped slots as the stream has shown
/// before.
fn next_slot(
    schedule: &Schedule,
    last_on: Date,
    last_slot: i64,
    skips: i64,
    today: i64,
) -> Option<i64> {
    let paid = days_from_date(last_on);
    let grace = schedule.frequency.cadence().grace_days;
    let mut slot = last_slot + 1;
    while schedule.expected_day(slot) <= paid {
        slot += 1;
    }
    (slot..=slot + skips).find(|it| today <= schedule.expected_day(*it) + grace)
}

/// None beyond the end of the calendar.
fn date_after(last_on: Date, day: i64) -> Option<Date> {
    let date = date_from_days(day);
    (date > last_on).then_some(date)
}
