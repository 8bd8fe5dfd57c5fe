//! Properties of streams that hold for any payments.

use super::*;
use proptest::prelude::*;

/// Payments on any day of the years 1 to 9999, and payments close enough together to look regular.
fn any_paid() -> impl Strategy<Value = Vec<(Date, i64)>> {
    let arbitrary = (-719_162_i64..=2_932_896, 1_i64..=i64::MAX);
    let recent = (20_000_i64..20_800, prop_oneof![Just(999_i64), 1_i64..20_000]);
    let regular = (0_i64..60, -2_i64..=2, prop_oneof![Just(999), Just(1_299), 900_i64..1_100]);
    let period = prop_oneof![Just(7_i64), Just(14), Just(15), Just(30), Just(91), Just(365)];
    let regular = (period, prop::collection::vec(regular, 0..40)).prop_map(|(period, slots)| {
        let day = |(slot, jitter, minor): (i64, i64, i64)| (20_000 + slot * period + jitter, minor);
        slots.into_iter().map(day).collect::<Vec<_>>()
    });
    let days = prop_oneof![
        prop::collection::vec(arbitrary, 0..30),
        prop::collection::vec(recent, 0..60),
        regular
    ];
    days.prop_map(|it| it.into_iter().map(|(day, minor)| (date_from_days(day), minor)).collect())
}

fn any_group() -> impl Strategy<Value = Group> {
    let payment_kind =
        prop_oneof![Just(PaymentKind::Habit), Just(PaymentKind::Bill), Just(PaymentKind::Other)];
    (any::<bool>(), payment_kind, any_paid())
        .prop_map(|(inflow, payment_kind, paid)| group(inflow, payment_kind, &paid))
}

/// Monthly payments of one amount without noise.
fn clean(start: i64, day: i8, count: i64) -> Vec<(Date, i64)> {
    monthly(&date_from_days(19_000 + start).to_string(), day, count, 1_599)
}

fn last_day(group: &Group) -> Date {
    let last = group.occurrences.iter().map(|it| it.on_days).max();
    last.map_or(date("2025-01-01"), date_from_days)
}

fn assert_consistent(stream: &Stream, as_of: Date) {
    let members = &stream.members;
    assert!(members.len() >= 2);
    assert!(members.is_sorted_by(|a, b| a.on <= b.on && a.slot_on < b.slot_on));
    assert_eq!((stream.first_on, stream.last_on), (members[0].on, members[members.len() - 1].on));
    assert!(stream.last_on <= as_of);
    assert!(stream.min_minor <= stream.average_minor && stream.average_minor <= stream.max_minor);
    assert!(stream.min_minor <= stream.last_minor && stream.last_minor <= stream.max_minor);
    assert!(stream.next_expected_on.is_none_or(|it| it > stream.last_on));
    if stream.status == Status::Ended {
        assert_eq!(stream.next_expected_on, None);
    }
    assert!(stream.missed_on.iter().all(|it| members.iter().all(|member| member.slot_on != *it)));
    assert!(stream.missed_on.iter().all(|it| *it > members[0].slot_on && *it <= as_of));
}

proptest! {
    #[test]
    fn any_payments_give_consistent_streams(group in any_group(), early in 0_i64..400) {
        let last = days_from_date(last_day(&group));
        for as_of in [date_from_days(last - early), date_from_days(last + early)] {
            let found = detect_streams(&group, as_of);
            found.iter().for_each(|it| assert_consistent(it, as_of));
            let mut ids: Vec<_> =
                found.iter().flat_map(|it| &it.members).map(|it| it.id).collect();
            let count = ids.len();
            ids.sort_unstable();
            ids.dedup();
            prop_assert_eq!(ids.len(), count, "an occurrence is in two streams");
        }
    }

    #[test]
    fn the_order_of_occurrences_does_not_matter(group in any_group(), rotation in 0_usize..60) {
        let as_of = last_day(&group);
        let expected = detect_streams(&group, as_of);
        let mut rotated = group;
        let rotation = rotation.min(rotated.occurrences.len());
        rotated.occurrences.rotate_left(rotation);
        rotated.occurrences.reverse();
        prop_assert_eq!(detect_streams(&rotated, as_of), expected);
    }

    #[test]
    fn an_occurrence_listed_again_changes_nothing(group in any_group(), twice in 0_usize..60) {
        let as_of = last_day(&group);
        let expected = detect_streams(&group, as_of);
        let mut doubled = group;
        let again: Vec<_> = doubled.occurrences.iter().take(twice).copied().collect();
        doubled.occurrences.extend(again);
        prop_assert_eq!(detect_streams(&doubled, as_of), expected);
    }

    #[test]
    fn later_payments_are_ignored(group in any_group(), early in 0_i64..400) {
        let as_of = date_from_days(days_from_date(last_day(&group)) - early);
        let mut then = group.clone();
        then.occurrences.retain(|it| it.on_days <= days_from_date(as_of));
        prop_assert_eq!(detect_streams(&group, as_of), detect_streams(&then, as_of));
    }

    /// Takes at least a dozen payments: a few that are two weeks apart, give or take a day, could also be semi-monthly.
    #[test]
    fn a_shift_by_whole_weeks_finds_the_same_weekly_streams(
        days in prop_oneof![Just(7_i64), Just(14)],
        jitters in prop::collection::vec(-1_i64..=1, 12..40),
        weeks in -500_i64..500,
        inflow: bool,
    ) {
        let paid = |start: i64| -> Vec<(Date, i64)> {
            let day = |(index, jitter): (usize, &i64)| start + index as i64 * days + jitter;
            jitters.iter().enumerate().map(|it| (date_from_days(day(it)), 2_500)).collect()
        };
        let found = |start: i64| {
            let group = group(inflow, PaymentKind::Other, &paid(start));
            let found = detect_streams(&group, last_day(&group));
            let shown = |it: &Stream| {
                let next = it.next_expected_on.map(|it| days_from_date(it) - start);
                let members: Vec<_> = it.members.iter().map(|it| it.id).collect();
                (it.frequency, it.status, members, next, it.monthly_minor)
            };
            found.iter().filter(|it| it.frequency <= Frequency::Biweekly).map(shown).collect()
        };
        let expected: Vec<_> = found(20_000);
        prop_assert_eq!(found(20_000 + weeks * 7), expected);
    }

    #[test]
    fn a_clean_stream_is_found_completely_and_its_next_day_predicted(
        start in 0_i64..2_000, day in 1_i8..=31, count in 3_i64..40,
    ) {
        let paid = clean(start, day, count + 1);
        let (next, known) = paid.split_last().unwrap();
        let group = group(false, PaymentKind::Other, known);
        let found = detect_streams(&group, last_day(&group));
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(found[0].members.len(), known.len());
        prop_assert_eq!(found[0].frequency, Frequency::Monthly);
        // A few payments may all be on a month's last day, so their due day may be any from 28 to 31.
        let off = days_from_date(found[0].next_expected_on.unwrap()) - days_from_date(next.0);
        prop_assert!(off.abs() <= if count < 4 { 3 } else { 1 }, "{} off", off);
    }

    #[test]
    fn a_stream_survives_one_missing_payment(
        start in 0_i64..2_000, day in 1_i8..=31, count in 6_i64..40, lost in 1_usize..39,
    ) {
        let mut paid = clean(start, day, count);
        let lost = 1 + lost % (paid.len() - 2);
        paid.remove(lost);
        let group = group(false, PaymentKind::Other, &paid);
        let found = detect_streams(&group, last_day(&group));
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(found[0].members.len(), paid.len());
        prop_assert_eq!(found[0].missed_on.len(), 1);
    }

    #[test]
    fn a_stream_survives_one_price_change(
        start in 0_i64..2_000, day in 1_i8..=31, count in 4_i64..40, at in 0_usize..40, up: bool,
    ) {
        let mut paid = clean(start, day, count);
        let at = 1 + at % (paid.len() - 1);
        let price = if up { 1_599 * 6 / 5 } else { 1_599 * 4 / 5 };
        paid[at..].iter_mut().for_each(|it| it.1 = price);
        let group = group(false, PaymentKind::Other, &paid);
        let found = detect_streams(&group, last_day(&group));
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(found[0].members.len(), paid.len());
        let change = PriceChange { on: paid[at].0, from_minor: 1_599, to_minor: price };
        prop_assert_eq!(&found[0].price_changes, &vec![change]);
    }

    #[test]
    fn the_slots_of_a_range_are_the_slots_of_its_parts(
        start in 0_i64..2_000,
        day in 1_i8..=31,
        from in 0_i64..3_000,
        parts in (0_i64..500, 0_i64..500),
    ) {
        let group = group(false, PaymentKind::Other, &clean(start, day, 6));
        let schedule = detect_streams(&group, last_day(&group))[0].schedule;
        let on = |day: i64| date_from_days(18_000 + from + day);
        let mut slots = schedule.slots(on(0), on(parts.0));
        slots.extend(schedule.slots(on(parts.0 + 1), on(parts.0 + parts.1)));
        prop_assert_eq!(slots, schedule.slots(on(0), on(parts.0 + parts.1)));
    }
}
