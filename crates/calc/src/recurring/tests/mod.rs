//! Tests of typical streams, and of habits that only look like them.

mod carrying;
mod households;
mod laws;
mod quality;
mod seasonal;

use super::*;
use base::date_from_days;

pub(super) fn date(text: &str) -> Date {
    text.parse().unwrap()
}

pub(super) fn id(number: usize) -> TransactionId {
    TransactionId::from_bytes((number as u128).to_be_bytes())
}

pub(super) fn group(inflow: bool, payment_kind: PaymentKind, paid: &[(Date, i64)]) -> Group {
    let occurrence = |(index, (on, amount_minor)): (usize, &(Date, i64))| Occurrence {
        id: id(index),
        on_days: days_from_date(*on),
        amount_minor: *amount_minor,
    };
    Group { inflow, payment_kind, occurrences: paid.iter().enumerate().map(occurrence).collect() }
}

fn outflow(payment_kind: PaymentKind, paid: &[(Date, i64)]) -> Group {
    group(false, payment_kind, paid)
}

/// Dates in the form "2025-01-05 2025-02-05", all with one amount.
fn at(amount_minor: i64, dates: &str) -> Vec<(Date, i64)> {
    dates.split_whitespace().map(|it| (date(it), amount_minor)).collect()
}

/// `count` payments, `days` apart.
pub(super) fn every(days: i64, start: &str, count: i64, amount_minor: i64) -> Vec<(Date, i64)> {
    let start = days_from_date(date(start));
    (0..count).map(|it| (date_from_days(start + it * days), amount_minor)).collect()
}

/// `count` monthly payments from the month of `start`, on the given day or the month's last day if it is shorter.
pub(super) fn monthly(start: &str, day: i8, count: i64, amount_minor: i64) -> Vec<(Date, i64)> {
    let first = date(start).first_of_month();
    let month = |it: i64| {
        let month = first.checked_add(jiff::Span::new().months(it)).unwrap();
        let on = month.with().day(day.min(month.days_in_month())).build().unwrap();
        (on, amount_minor)
    };
    (0..count).map(month).collect()
}

/// Shifts payments that fall on a Saturday or Sunday by the given numbers of days.
fn shift_weekends(paid: Vec<(Date, i64)>, saturday: i64, sunday: i64) -> Vec<(Date, i64)> {
    let by = |on: Date| match on.weekday() {
        jiff::civil::Weekday::Saturday => saturday,
        jiff::civil::Weekday::Sunday => sunday,
        _ => 0,
    };
    paid.iter().map(|(on, minor)| (date_from_days(days_from_date(*on) + by(*on)), *minor)).collect()
}

/// One line per stream: its kind, amounts, number of payments, and next due date.
fn shown(group: &Group, as_of: &str) -> String {
    let line = |it: &Stream| {
        let next = it.next_expected_on.map_or("never".to_owned(), |it| it.to_string());
        format!(
            "{} {} {} {} x{} {} next {next}",
            it.confidence.as_str(),
            it.status.as_str(),
            it.frequency.as_str(),
            it.amount_class.as_str(),
            it.members.len(),
            it.average_minor,
        )
    };
    let lines: Vec<String> = detect_streams(group, date(as_of)).iter().map(line).collect();
    lines.join("; ")
}

fn only_stream(group: &Group, as_of: &str) -> Stream {
    let mut found = detect_streams(group, date(as_of));
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

#[test]
fn a_two_weekly_salary_is_found_from_its_third_payday() {
    let paid = every(14, "2025-01-03", 8, 185_000);
    let salary = |count: usize| group(true, PaymentKind::Other, &paid[..count]);
    assert_eq!(shown(&salary(2), "2025-01-20"), "");
    assert_eq!(
        shown(&salary(3), "2025-02-01"),
        "mature active biweekly fixed x3 185000 next 2025-02-14"
    );
    let stream = only_stream(&salary(8), "2025-04-12");
    // 1,850.00 * 487 / 224 = 4,022.098...
    assert_eq!(stream.monthly_minor, 402_210);
    assert_eq!(stream.schedule.slots(date("2025-01-01"), date("2025-01-31")).len(), 3);
    assert_eq!(stream.schedule.slots(date("2025-02-01"), date("2025-02-28")).len(), 2);
}

#[test]
fn a_salary_of_the_fifteenth_and_the_last_is_semi_monthly_and_paid_before_weekends() {
    let mut paid = monthly("2025-01-01", 15, 9, 210_000);
    paid.extend(monthly("2025-01-01", 31, 9, 210_000));
    let salary = group(true, PaymentKind::Other, &shift_weekends(paid, -1, -2));
    assert_eq!(
        shown(&salary, "2025-10-05"),
        "mature active semi_monthly fixed x18 210000 next 2025-10-15"
    );
    let stream = only_stream(&salary, "2025-10-16");
    assert_eq!(stream.monthly_minor, 420_000);
    // August 31, 2025 was a Sunday.
    let august = stream.members.iter().find(|it| it.on == date("2025-08-29")).unwrap();
    assert_eq!(august.slot_on, date("2025-08-31"));
    let slots = stream.schedule.slots(date("2025-02-01"), date("2025-02-28"));
    assert_eq!(slots, [date("2025-02-15"), date("2025-02-28")]);
}

#[test]
fn a_monthly_payment_at_the_end_of_the_month_stays_at_its_end() {
    for (day, next) in [(29, "2025-03-29"), (30, "2025-03-30"), (31, "2025-03-31")] {
        let paid = monthly("2024-06-01", day, 9, 1_299);
        let stream = only_stream(&outflow(PaymentKind::Other, &paid), "2025-03-02");
        assert_eq!(stream.next_expected_on, Some(date(next)), "{day}");
        assert_eq!(stream.members[8].slot_on, date("2025-02-28"), "{day}");
        assert_eq!(stream.frequency, Frequency::Monthly);
    }
}

#[test]
fn a_salary_with_bonus_months_is_one_stream() {
    let mut paid = monthly("2024-01-01", 25, 18, 300_000);
    for bonus in [5, 11, 17] {
        paid[bonus].1 = 450_000;
    }
    let stream = only_stream(&group(true, PaymentKind::Bill, &paid), "2025-07-01");
    assert_eq!(stream.amount_class, AmountClass::MostlyFixed);
    assert_eq!((stream.average_minor, stream.max_minor), (300_000, 450_000));
    assert_eq!(stream.price_changes, []);
    assert_eq!(stream.members.len(), 18);
}

#[test]
fn quarterly_and_yearly_policies_at_one_insurer_are_separate_streams() {
    let mut paid = at(12_000, "2023-02-10 2023-05-10 2023-08-10 2023-11-10 2024-02-10 2024-05-10");
    paid.extend(at(12_000, "2024-08-10 2024-11-10"));
    paid.extend(at(64_500, "2023-03-20 2024-03-20"));
    assert_eq!(
        shown(&outflow(PaymentKind::Bill, &paid), "2024-12-01"),
        "mature active quarterly fixed x8 12000 next 2025-02-10; \
         mature active annually fixed x2 64500 next 2025-03-20"
    );
}

#[test]
fn three_yearly_policies_are_not_a_quarterly_stream() {
    // The policies are due a quarter apart, so that three of four quarters are paid.
    for (car, home, life) in [(61_000, 48_000, 22_000), (50_000, 51_000, 52_500)] {
        let mut paid = at(car, "2022-01-15 2023-01-15 2024-01-16");
        paid.extend(at(home, "2022-04-15 2023-04-14 2024-04-15"));
        paid.extend(at(life, "2022-07-15 2023-07-15 2024-07-15"));
        let found = detect_streams(&outflow(PaymentKind::Bill, &paid), date("2024-08-01"));
        assert_eq!(found.len(), 3, "{found:#?}");
        for it in found {
            assert_eq!((it.frequency, it.members.len()), (Frequency::Annually, 3));
        }
    }
}

#[test]
fn yearly_policies_with_rising_prices_are_separated_by_season() {
    let rising = |month: &str, price: i64| {
        let year = |it: i64| (date(&format!("{}-{month}-15", 2022 + it)), price + it * price / 30);
        (0..3).map(year).collect::<Vec<_>>()
    };
    let paid = [rising("01", 50_000), rising("04", 51_000), rising("07", 52_500)].concat();
    let found = detect_streams(&outflow(PaymentKind::Bill, &paid), date("2024-08-01"));
    let shown: Vec<_> = found.iter().map(|it| (it.frequency, it.members.len())).collect();
    assert_eq!(shown, [(Frequency::Annually, 3); 3]);
}

#[test]
fn a_meal_kit_stays_active_through_skipped_weeks() {
    let mut paid = every(7, "2025-01-07", 30, 7_194);
    for skipped in [27, 21, 20, 13, 9, 4] {
        paid.remove(skipped);
    }
    let kit = outflow(PaymentKind::Bill, &paid);
    let stream = only_stream(&kit, "2025-07-30");
    assert_eq!((stream.frequency, stream.status), (Frequency::Weekly, Status::Active));
    assert_eq!(stream.missed_on.len(), 6);
    assert_eq!(stream.missed_on[0], date("2025-02-04"));
    // A skipped week does not end the stream, because two in a row were skipped before; three do.
    let later = only_stream(&kit, "2025-08-10");
    assert_eq!(later.next_expected_on, Some(date("2025-08-12")));
    assert_eq!(later.missed_on.len(), 7);
    let over = only_stream(&kit, "2025-08-27");
    assert_eq!((over.status, over.next_expected_on), (Status::Ended, None));
    assert_eq!(over.missed_on.len(), 6);
}

#[test]
fn weekday_coffee_at_a_fixed_price_is_a_habit() {
    let workdays = |it: &(Date, i64)| it.0.weekday().to_monday_zero_offset() < 5;
    let paid: Vec<_> = every(1, "2025-01-06", 120, 475).into_iter().filter(workdays).collect();
    for payment_kind in [PaymentKind::Habit, PaymentKind::Other] {
        assert_eq!(shown(&outflow(payment_kind, &paid), "2025-05-06"), "");
    }
}

#[test]
fn saturday_groceries_are_a_habit() {
    let mut paid = every(7, "2025-01-04", 26, 0);
    for (index, it) in paid.iter_mut().enumerate() {
        it.1 = 6_000 + (index as i64 * 7_919) % 5_000;
    }
    for payment_kind in [PaymentKind::Habit, PaymentKind::Other] {
        assert_eq!(shown(&outflow(payment_kind, &paid), "2025-07-01"), "");
    }
    let fixed: Vec<_> = paid.iter().map(|it| (it.0, 1_200)).collect();
    assert_eq!(shown(&outflow(PaymentKind::Habit, &fixed), "2025-07-01"), "");
}

#[test]
fn a_price_rise_of_a_fifth_is_reported_within_one_stream() {
    let mut paid = monthly("2024-03-01", 12, 14, 1_499);
    paid[9..].iter_mut().for_each(|it| it.1 = 1_799);
    let stream = only_stream(&outflow(PaymentKind::Other, &paid), "2025-04-20");
    assert_eq!(stream.amount_class, AmountClass::Stepped);
    let change = PriceChange { on: date("2024-12-12"), from_minor: 1_499, to_minor: 1_799 };
    assert_eq!(stream.price_changes, [change]);
    assert_eq!((stream.min_minor, stream.last_minor), (1_499, 1_799));
    assert_eq!(stream.next_expected_on, Some(date("2025-05-12")));
}

#[test]
fn two_contracts_at_one_merchant_are_two_streams() {
    for (first, second) in [(999, 2_999), (999, 1_099), (4_000, 4_300)] {
        let mut paid = monthly("2024-01-01", 5, 12, first);
        paid.extend(monthly("2024-01-01", 20, 12, second));
        let found = detect_streams(&outflow(PaymentKind::Other, &paid), date("2024-12-24"));
        assert_eq!(found.len(), 2, "{first} {second}: {found:#?}");
        for (it, amount) in found.iter().zip([first, second]) {
            assert_eq!((it.frequency, it.members.len()), (Frequency::Monthly, 12));
            assert_eq!((it.min_minor, it.max_minor), (amount, amount));
        }
    }
}

#[test]
fn one_of_two_contracts_may_change_its_price() {
    let mut paid = monthly("2024-01-01", 5, 12, 999);
    paid[8..].iter_mut().for_each(|it| it.1 = 1_199);
    paid.extend(monthly("2024-01-01", 11, 12, 2_999));
    assert_eq!(
        shown(&outflow(PaymentKind::Other, &paid), "2024-12-24"),
        "mature active monthly stepped x12 1199 next 2025-01-05; \
         mature active monthly fixed x12 2999 next 2025-01-11"
    );
}

#[test]
fn a_trial_belongs_to_the_subscription_that_follows() {
    for (trial, count, as_of) in [(99, 5, "2025-05-20"), (100, 3, "2025-03-20")] {
        let mut paid = monthly("2025-01-01", 9, count, 1_299);
        paid[0].1 = trial;
        let stream = only_stream(&outflow(PaymentKind::Other, &paid), as_of);
        assert_eq!((stream.members.len() as i64, stream.min_minor), (count, trial));
        assert_eq!(stream.average_minor, 1_299);
    }
    // A trial week before the first month is not part of the stream.
    let mut paid = monthly("2025-01-01", 9, 5, 1_299);
    paid.push((date("2025-01-02"), 100));
    let stream = only_stream(&outflow(PaymentKind::Other, &paid), "2025-05-20");
    assert_eq!((stream.members.len(), stream.min_minor), (5, 1_299));
}

#[test]
fn a_yearly_fee_is_found_when_it_is_seen_twice() {
    let paid = at(9_500, "2024-03-14 2025-03-15");
    assert_eq!(
        shown(&outflow(PaymentKind::Other, &paid), "2025-06-01"),
        "mature active annually fixed x2 9500 next 2026-03-14"
    );
    assert_eq!(shown(&outflow(PaymentKind::Habit, &paid), "2025-06-01"), "");
    let raised = [(date("2024-03-14"), 9_500), (date("2025-03-14"), 12_500)];
    assert_eq!(shown(&outflow(PaymentKind::Other, &raised), "2025-06-01"), "");
    let late = at(9_500, "2024-03-14 2025-03-21");
    assert_eq!(shown(&outflow(PaymentKind::Other, &late), "2025-06-01"), "");
}

#[test]
fn a_utility_bill_follows_the_seasons() {
    let season = [170, 165, 150, 130, 110, 95, 90, 95, 105, 125, 145, 160];
    let mut paid = monthly("2024-01-01", 18, 18, 0);
    for (index, it) in paid.iter_mut().enumerate() {
        it.1 = season[index % 12] * 83;
        it.0 = date_from_days(days_from_date(it.0) + [0, 1, -1, 2, 0][index % 5]);
    }
    let stream = only_stream(&outflow(PaymentKind::Bill, &paid), "2025-06-30");
    assert_eq!((stream.frequency, stream.members.len()), (Frequency::Monthly, 18));
    assert_eq!(stream.amount_class, AmountClass::Variable);
    assert_eq!(stream.price_changes, []);
}

#[test]
fn rent_due_on_a_weekend_is_expected_on_monday() {
    let paid = shift_weekends(monthly("2024-01-01", 1, 17, 150_000), 2, 1);
    let stream = only_stream(&outflow(PaymentKind::Bill, &paid), "2025-05-15");
    // June 1, 2025 is a Sunday.
    assert_eq!(stream.next_expected_on, Some(date("2025-06-02")));
    let march = stream.members.iter().find(|it| it.on == date("2025-03-03")).unwrap();
    assert_eq!(march.slot_on, date("2025-03-01"));
}

#[test]
fn a_salary_due_on_the_first_but_paid_early_belongs_to_its_month() {
    let paid = shift_weekends(monthly("2024-01-01", 1, 14, 400_000), -1, -2);
    let stream = only_stream(&group(true, PaymentKind::Bill, &paid), "2025-02-20");
    let june = stream.members.iter().find(|it| it.on == date("2024-05-31")).unwrap();
    assert_eq!(june.slot_on, date("2024-06-01"));
    assert_eq!(stream.next_expected_on, Some(date("2025-02-28")));
}

#[test]
fn two_equal_payments_of_a_bill_are_an_early_stream() {
    let paid = at(4_500, "2025-01-10 2025-02-10");
    assert_eq!(
        shown(&outflow(PaymentKind::Bill, &paid), "2025-02-20"),
        "early active monthly fixed x2 4500 next 2025-03-10"
    );
    assert_eq!(shown(&outflow(PaymentKind::Other, &paid), "2025-02-20"), "");
    assert_eq!(
        shown(&outflow(PaymentKind::Bill, &paid), "2025-03-21"),
        "early ended monthly fixed x2 4500 next never"
    );
    let unlike = [(date("2025-01-10"), 4_500), (date("2025-02-10"), 4_726)];
    assert_eq!(shown(&outflow(PaymentKind::Bill, &unlike), "2025-02-20"), "");
    let odd = at(4_500, "2025-01-10 2025-02-01");
    assert_eq!(shown(&outflow(PaymentKind::Bill, &odd), "2025-02-20"), "");
}

#[test]
fn a_stream_ends_after_its_grace_period() {
    let paid = monthly("2024-06-01", 5, 8, 1_999);
    let gym = outflow(PaymentKind::Bill, &paid);
    let late = only_stream(&gym, "2025-02-15");
    assert_eq!((late.status, late.next_expected_on), (Status::Active, Some(date("2025-02-05"))));
    let over = only_stream(&gym, "2025-02-16");
    assert_eq!((over.status, over.next_expected_on), (Status::Ended, None));
    assert_eq!(over.missed_on, []);
}

#[test]
fn a_subscription_among_purchases_is_found_by_its_price() {
    let mut paid = monthly("2024-01-01", 17, 12, 1_499);
    let shopping = |it: i64| (date_from_days(19_724 + it * 4), 900 + (it * 7_919) % 9_000);
    paid.extend((0..90).map(shopping));
    let stream = only_stream(&outflow(PaymentKind::Habit, &paid), "2024-12-28");
    assert_eq!((stream.frequency, stream.members.len()), (Frequency::Monthly, 12));
    assert_eq!((stream.min_minor, stream.max_minor), (1_499, 1_499));
}

#[test]
fn a_payment_that_moved_to_another_day_continues_as_a_second_stream() {
    let mut paid = monthly("2024-01-01", 3, 7, 5_500);
    paid.extend(monthly("2024-08-01", 19, 7, 5_500));
    assert_eq!(
        shown(&outflow(PaymentKind::Other, &paid), "2025-02-25"),
        "mature ended monthly fixed x7 5500 next never; \
         mature active monthly fixed x7 5500 next 2025-03-19"
    );
}

#[test]
fn a_second_charge_in_a_month_is_not_part_of_the_stream() {
    let mut paid = monthly("2024-01-01", 10, 12, 2_500);
    paid.push((date("2024-06-13"), 2_500));
    let stream = only_stream(&outflow(PaymentKind::Other, &paid), "2024-12-20");
    assert_eq!(stream.members.len(), 12);
    assert!(stream.members.iter().all(|it| it.id != id(12)));
}

#[test]
fn without_weekends_in_the_history_only_pay_is_expected_before_one() {
    // April 20, 2025 is a Sunday; the 20th of the three months before is not on a weekend.
    let paid = monthly("2025-01-01", 20, 3, 250_000);
    let next = |inflow: bool| {
        only_stream(&group(inflow, PaymentKind::Other, &paid), "2025-03-31")
            .next_expected_on
            .unwrap()
    };
    assert_eq!(next(true), date("2025-04-18"));
    assert_eq!(next(false), date("2025-04-20"));
}

#[test]
fn a_semi_monthly_salary_with_two_amounts_is_one_stream() {
    let mut paid = monthly("2024-01-01", 15, 12, 200_000);
    paid.extend(monthly("2024-01-01", 30, 12, 195_000));
    assert_eq!(
        shown(&group(true, PaymentKind::Bill, &paid), "2025-01-02"),
        "mature active semi_monthly near x24 197500 next 2025-01-15"
    );
}

#[test]
fn visits_on_drifting_days_are_not_a_stream() {
    let mut paid = monthly("2024-01-01", 1, 14, 4_500);
    for (it, day) in paid.iter_mut().zip([10, 11, 12, 13, 13, 12, 11, 10, 9, 8, 8, 9, 10, 11]) {
        it.0 = it.0.with().day(day).build().unwrap();
    }
    assert_eq!(shown(&outflow(PaymentKind::Other, &paid), "2025-02-20"), "");
    // The days of a bill may drift.
    assert_eq!(only_stream(&outflow(PaymentKind::Bill, &paid), "2025-02-20").members.len(), 14);
}

#[test]
fn a_habit_must_cost_the_same_each_time() {
    let mut paid = monthly("2024-01-01", 10, 12, 0);
    for (index, it) in paid.iter_mut().enumerate() {
        it.1 = 3_000 + (index as i64 * 7_919) % 300;
    }
    assert_eq!(shown(&outflow(PaymentKind::Habit, &paid), "2024-12-20"), "");
    assert_eq!(
        only_stream(&outflow(PaymentKind::Other, &paid), "2024-12-20").amount_class,
        AmountClass::Near
    );
}

#[test]
fn charges_that_often_come_twice_a_month_are_not_a_stream() {
    let mut paid = monthly("2024-01-01", 10, 12, 2_500);
    paid.extend(at(2_500, "2024-03-13 2024-06-13 2024-09-13 2024-12-13"));
    assert_eq!(shown(&outflow(PaymentKind::Other, &paid), "2024-12-20"), "");
}
