//! Tests of period bounds, and that periods leave out no day.

use super::*;
use crate::benefits::{Card, find_card};
use proptest::prelude::*;

fn on(text: &str) -> Date {
    text.parse().unwrap()
}

fn benefit(card: &str, id: &str) -> &'static Benefit {
    find_card(card).and_then(|it: &'static Card| it.find_benefit(id)).unwrap()
}

fn shown(benefit: &Benefit, day: &str, anniversary: Option<Anniversary>) -> String {
    let cycle = cycle(benefit, on(day), anniversary);
    let guess = if cycle.approximate { " about" } else { "" };
    format!("{} to {} {}{guess}", cycle.start, cycle.end, cycle.amount_minor)
}

#[test]
fn calendar_periods_follow_the_calendar() {
    let check = |card, id, day, expected| {
        assert_eq!(shown(benefit(card, id), day, None), expected, "{card} {id}");
    };
    check("amex-gold", "dining", "2024-02-10", "2024-02-01 to 2024-02-29 1000");
    check("amex-platinum", "resy", "2026-11-15", "2026-10-01 to 2026-12-31 10000");
    check("amex-gold", "resy", "2026-06-30", "2026-01-01 to 2026-06-30 5000");
    check("amex-gold", "resy", "2026-07-01", "2026-07-01 to 2026-12-31 5000");
    check("amex-platinum", "airline-fee", "2026-11-15", "2026-01-01 to 2026-12-31 20000");
}

#[test]
fn december_has_its_own_amount() {
    let uber = benefit("amex-platinum", "uber-cash");
    assert_eq!(shown(uber, "2026-12-24", None), "2026-12-01 to 2026-12-31 3500");
    assert_eq!(shown(uber, "2026-11-24", None), "2026-11-01 to 2026-11-30 1500");
}

#[test]
fn two_uses_of_a_period_count_together() {
    let edit = benefit("chase-sapphire-reserve", "the-edit");
    assert_eq!(shown(edit, "2026-11-15", None), "2026-01-01 to 2026-12-31 50000");
}

#[test]
fn a_leap_day_anniversary_is_the_28th_in_other_years() {
    let miles = benefit("capital-one-venture-x", "travel");
    let leap = Some(Anniversary::opened_on(on("2024-02-29")));
    assert_eq!(shown(miles, "2025-02-27", leap), "2024-02-29 to 2025-02-27 30000");
    assert_eq!(shown(miles, "2025-02-28", leap), "2025-02-28 to 2026-02-27 30000");
    assert_eq!(shown(miles, "2028-02-28", leap), "2027-02-28 to 2028-02-28 30000");
    assert_eq!(shown(miles, "2028-02-29", leap), "2028-02-29 to 2029-02-27 30000");
}

#[test]
fn a_statement_year_runs_to_the_first_closing_after_the_anniversary() {
    let travel = benefit("chase-sapphire-reserve", "travel");
    let exact = Anniversary::opened_on(on("2025-03-20"));
    let closing = Some(exact.with_closing_day(5));
    assert_eq!(shown(travel, "2025-03-20", closing), "2025-03-20 to 2026-04-05 30000");
    assert_eq!(shown(travel, "2026-04-05", closing), "2025-03-20 to 2026-04-05 30000");
    assert_eq!(shown(travel, "2026-04-06", closing), "2026-04-06 to 2027-04-05 30000");
    // A statement that closes later in the month of the anniversary already ends the year.
    let late = Some(exact.with_closing_day(31));
    assert_eq!(shown(travel, "2026-06-01", late), "2026-04-01 to 2027-03-31 30000");
    // A statement that closes on the anniversary does not end the year: the next one does.
    let same = Some(exact.with_closing_day(20));
    assert_eq!(shown(travel, "2026-06-01", same), "2026-04-21 to 2027-04-20 30000");
    // Without a closing day, the year ends about thirty days after the anniversary.
    assert_eq!(shown(travel, "2026-06-01", Some(exact)), "2026-04-20 to 2027-04-19 30000 about");
}

#[test]
fn guessed_periods_are_marked_as_approximate() {
    let charged = Some(Anniversary::charged_on(on("2026-05-11")));
    let hotel = benefit("chase-sapphire-preferred", "hotel");
    assert_eq!(shown(hotel, "2026-11-15", charged), "2026-05-11 to 2027-05-10 10000 about");
    assert_eq!(shown(hotel, "2026-11-15", None), "2026-01-01 to 2026-12-31 10000 about");
    let entry = benefit("amex-platinum", "global-entry");
    let opened = Some(Anniversary::opened_on(on("2021-06-01")));
    assert_eq!(shown(entry, "2026-11-15", opened), "2025-06-01 to 2029-05-31 12000 about");
}

#[test]
fn a_one_time_benefit_has_one_period() {
    let hotels = benefit("chase-sapphire-reserve", "select-hotels");
    for day in ["2025-01-01", "2026-11-15", "2030-01-01"] {
        assert_eq!(shown(hotels, day, None), "2026-01-01 to 2026-12-31 25000");
    }
}

fn any_benefit() -> impl Strategy<Value = &'static Benefit> {
    let all: Vec<&'static Benefit> = crate::benefits::cards()
        .iter()
        .flat_map(|it| &it.benefits)
        .filter(|it| it.cadence != Cadence::OneTime)
        .collect();
    proptest::sample::select(all)
}

fn any_anniversary() -> impl Strategy<Value = Option<Anniversary>> {
    let day = prop_oneof![4 => 8_000_i64..30_000, 1 => Just(19_782), 1 => -719_162_i64..2_932_896];
    proptest::option::of((day, proptest::option::of(1_i8..=31), any::<bool>()).prop_map(
        |(day, closing, opened)| {
            let on = date_from_days(day);
            let it = if opened { Anniversary::opened_on(on) } else { Anniversary::charged_on(on) };
            closing.map_or(it, |closing| it.with_closing_day(closing))
        },
    ))
}

proptest! {
    #[test]
    fn periods_have_no_gaps_or_overlaps(
        benefit in any_benefit(),
        anniversary in any_anniversary(),
        day in 8_000_i64..30_000,
    ) {
        let here = cycle(benefit, date_from_days(day), anniversary);
        prop_assert!(here.contains(date_from_days(day)));
        for inside in [here.start, here.end] {
            prop_assert_eq!(cycle(benefit, inside, anniversary), here);
        }
        let next = cycle(benefit, here.end.tomorrow().unwrap(), anniversary);
        prop_assert_eq!(next.start, here.end.tomorrow().unwrap());
        prop_assert_eq!(next.approximate, here.approximate);
        let last = cycle(benefit, here.start.yesterday().unwrap(), anniversary);
        prop_assert_eq!(last.end, here.start.yesterday().unwrap());
    }

    #[test]
    fn four_years_of_periods_add_up_to_four_annual_values(
        benefit in any_benefit(),
        anniversary in any_anniversary(),
        day in 8_000_i64..30_000,
    ) {
        let months = benefit.cadence.months().unwrap();
        let mut at = cycle(benefit, date_from_days(day), anniversary);
        let mut sum = 0;
        for _ in 0..48 / months {
            sum += at.amount_minor;
            at = cycle(benefit, at.end.tomorrow().unwrap(), anniversary);
        }
        prop_assert_eq!(sum, benefit.annual_value_minor() * 4);
    }

    #[test]
    fn every_day_lies_in_its_period(
        benefit in any_benefit(),
        anniversary in any_anniversary(),
        day in -719_162_i64..=2_932_896,
    ) {
        let here = cycle(benefit, date_from_days(day), anniversary);
        prop_assert!(here.contains(date_from_days(day)));
    }
}
