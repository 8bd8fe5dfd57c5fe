//! Worked examples: credits, refunds, marks, and the remaining amounts.

use super::*;
use MarkValue::{Activated, Used};

const RESTAURANT: &str = "FOOD_AND_DRINK_RESTAURANT";

#[test]
fn a_credit_counts_for_the_period_of_its_purchase() {
    let scenario = scenario("amex-gold")
        .line("2026-06-28", -62_00, "RESY* LITTLE FINCH      AUSTIN              TX")
        .line("2026-07-03", 50_00, "AMEX RESY CREDIT");
    assert_eq!(
        scenario.shown("resy", "2026-07-10"),
        "2026-07-01 0/5000 available, 2026-01-01 5000/5000 used"
    );
    assert_eq!(scenario.evidence("resy", "2026-06-30"), "", "nothing is activated yet");
}

#[test]
fn the_day_of_purchase_is_the_day_it_was_authorized() {
    let scenario = scenario("amex-gold")
        .line("2026-07-02", -62_00, "AplPay RESY* LITTLE FINCH")
        .made_on("2026-06-30")
        .line("2026-07-03", 50_00, "AMEX RESY CREDIT");
    assert_eq!(
        scenario.shown("resy", "2026-07-10"),
        "2026-07-01 0/5000 available, 2026-01-01 5000/5000 used"
    );
}

#[test]
fn monthly_credits_of_a_gold_card_are_recognised_as_the_bank_writes_them() {
    let scenario = scenario("amex-gold")
        .line("2026-10-04", -24_31, "GRUBHUB*                8775550187          CA")
        .line("2026-10-07", 10_00, "AMEX DINING CREDIT")
        .line("2026-11-03", -5_10, "AplPay DUNKIN 04411     AUSTIN        TX")
        .line("2026-11-05", 5_10, "AMEX DUNKIN' CREDIT")
        .line("2026-11-09", -6_00, "DUNKIN #204             AUSTIN              TX")
        .line("2026-11-10", -325_00, "RENEWAL MEMBERSHIP FEE");
    let dunkin = "2026-11-01 510+190/700 partially_used";
    assert!(scenario.shown("dunkin", "2026-11-15").starts_with(dunkin));
    assert_eq!(scenario.evidence("dunkin", "2026-11-15"), "3>4 510 2026-11-03, 5>- 190 2026-11-09");
    let dining =
        "2026-11-01 0/1000 available, 2026-10-01 1000/1000 used, 2026-09-01 0/1000 expired";
    assert!(scenario.shown("dining", "2026-11-15").starts_with(dining));
}

#[test]
fn travel_of_a_statement_year_may_come_in_parts() {
    let mut scenario = scenario("chase-sapphire-reserve")
        .line("2026-04-03", -137_50, "AIRBNB * HM43T2NNER")
        .category("TRAVEL_LODGING")
        .line("2026-04-03", 137_50, "TRAVEL CREDIT $300/YEAR")
        .line("2026-07-22", -800_00, "UNITED 0162345678901")
        .category("TRAVEL_FLIGHTS")
        .line("2026-07-23", 162_50, "TRAVEL CREDIT $300/YEAR");
    scenario.account =
        Account { opened_on: Some(on("2025-03-20")), closing_day: Some(5), closed_on: None };
    // April 3 still belongs to the year that ends with the closing on April 5.
    assert_eq!(
        scenario.shown("travel", "2026-08-01"),
        "2026-04-06 16250/30000 partially_used, 2025-03-20 13750/30000 expired"
    );
}

#[test]
fn a_refunded_purchase_was_no_use() {
    let bought = || {
        scenario("chase-sapphire-reserve").line("2026-08-03", -200_00, "STUBHUB INC").line(
            "2026-08-10",
            150_00,
            "STUBHUB CREDIT",
        )
    };
    let refunded = || bought().line("2026-08-20", 200_00, "STUBHUB INC");
    let shown = |scenario: Scenario| scenario.shown("stubhub", "2026-09-01")[..25].to_owned();
    assert_eq!(shown(bought()), "2026-07-01 15000/15000 us");
    assert_eq!(shown(refunded()), "2026-07-01 0/15000 availa");
    // The issuer reverses the credit as well, or alone, or in part.
    assert_eq!(
        shown(refunded().line("2026-08-25", -150_00, "STUBHUB CREDIT")),
        "2026-07-01 0/15000 availa"
    );
    assert_eq!(
        shown(bought().line("2026-08-25", -150_00, "STUBHUB CREDIT")),
        "2026-07-01 0/15000 availa"
    );
    assert_eq!(
        shown(bought().line("2026-08-25", -40_00, "STUBHUB CREDIT")),
        "2026-07-01 11000/15000 pa"
    );
    // A refund that leaves more than the credit does not affect it.
    assert_eq!(
        shown(bought().line("2026-08-20", 50_00, "STUBHUB INC")),
        "2026-07-01 15000/15000 us"
    );
    assert_eq!(
        shown(bought().line("2026-08-20", 80_00, "STUBHUB INC")),
        "2026-07-01 12000/15000 pa"
    );
    // A refund by another shop, or after half a year, does not belong to this purchase.
    assert_eq!(shown(bought().line("2026-08-20", 200_00, "SEATGEEK")), "2026-07-01 15000/15000 us");
    let late = bought().line("2026-12-20", 200_00, "STUBHUB INC");
    assert!(late.shown("stubhub", "2026-12-31").starts_with("2026-07-01 15000/15000"));
}

#[test]
fn a_refund_is_no_credit() {
    let scenario = scenario("amex-gold").line("2026-11-02", -9_40, "DUNKIN #204").line(
        "2026-11-04",
        7_00,
        "DUNKIN #204",
    );
    assert!(scenario.shown("dunkin", "2026-11-15").starts_with("2026-11-01 0/700 available"));
}

#[test]
fn a_refund_takes_back_the_purchase_of_its_price() {
    let scenario = scenario("amex-gold")
        .line("2026-10-28", -24_00, "GRUBHUB")
        .line("2026-10-30", 10_00, "AMEX DINING CREDIT")
        .line("2026-11-02", -31_00, "GRUBHUB")
        .line("2026-11-04", 10_00, "AMEX DINING CREDIT")
        .line("2026-11-05", 24_00, "GRUBHUB");
    let shown = scenario.shown("dining", "2026-11-15");
    assert!(shown.starts_with("2026-11-01 1000/1000 used, 2026-10-01 0/1000 expired"), "{shown}");
}

#[test]
fn a_purchase_that_surely_counts_goes_before_one_that_may() {
    let scenario = scenario("amex-gold")
        .line("2026-06-28", -62_00, "RESY* LITTLE FINCH")
        .category(RESTAURANT)
        .line("2026-07-01", -80_00, "CORNER BISTRO")
        .category(RESTAURANT)
        .line("2026-07-03", 50_00, "AMEX RESY CREDIT");
    assert!(scenario.shown("resy", "2026-07-10").ends_with("2026-01-01 5000/5000 used"));
}

#[test]
fn a_credit_goes_to_a_period_with_room_for_it() {
    let scenario = scenario("amex-marriott-brilliant")
        .line("2026-10-30", -40_00, "CORNER BISTRO")
        .category(RESTAURANT)
        .line("2026-11-01", -60_00, "BLUE DOOR")
        .category(RESTAURANT)
        .line("2026-11-02", -30_00, "GREEN DOOR")
        .category(RESTAURANT)
        .line("2026-11-04", 25_00, "BRILLIANT DINING CREDIT")
        .line("2026-11-05", 25_00, "BRILLIANT DINING CREDIT");
    let shown = scenario.shown("dining", "2026-11-15");
    assert!(shown.starts_with("2026-11-01 2500/2500 used, 2026-10-01 2500/2500 used"), "{shown}");
}

#[test]
fn a_period_that_is_full_gets_no_more_even_for_a_purchase_that_surely_counts() {
    let scenario = scenario("amex-gold")
        .line("2026-06-20", -62_00, "RESY* LITTLE FINCH")
        .line("2026-06-23", 50_00, "AMEX RESY CREDIT")
        .line("2026-06-29", -90_00, "RESY* LITTLE FINCH")
        .line("2026-07-02", -80_00, "CORNER BISTRO")
        .category(RESTAURANT)
        .line("2026-07-04", 50_00, "AMEX RESY CREDIT");
    assert_eq!(scenario.evidence("resy", "2026-07-10"), "4>5 5000 2026-07-02");
}

#[test]
fn a_credit_taken_back_leaves_its_room_again() {
    let dinner =
        |scenario: Scenario, day| scenario.line(day, -40_00, "CORNER BISTRO").category(RESTAURANT);
    let credit = "BRILLIANT DINING CREDIT";
    let scenario = dinner(scenario("amex-marriott-brilliant"), "2026-10-29")
        .line("2026-10-30", 25_00, credit)
        .line("2026-10-30", -25_00, credit);
    let scenario = dinner(dinner(dinner(scenario, "2026-10-31"), "2026-11-01"), "2026-11-02")
        .line("2026-11-04", 25_00, credit)
        .line("2026-11-05", 25_00, credit);
    let shown = scenario.shown("dining", "2026-11-15");
    assert!(shown.starts_with("2026-11-01 2500/2500 used, 2026-10-01 2500/2500 used"), "{shown}");
}

#[test]
fn the_credit_that_is_taken_back_is_the_one_of_that_amount() {
    let scenario = scenario("amex-gold")
        .line("2026-10-28", -6_00, "GRUBHUB")
        .line("2026-10-30", 6_00, "AMEX DINING CREDIT")
        .line("2026-11-02", -4_00, "GRUBHUB")
        .line("2026-11-04", 4_00, "AMEX DINING CREDIT")
        .line("2026-11-06", -6_00, "AMEX DINING CREDIT");
    let shown = scenario.shown("dining", "2026-11-15");
    let expected = "2026-11-01 400/1000 partially_used, 2026-10-01 0/1000 expired";
    assert!(shown.starts_with(expected), "{shown}");
}

#[test]
fn a_purchase_that_was_taken_back_brings_no_credit() {
    let scenario = scenario("chase-united-explorer").line("2026-11-02", -300_00, "JSX AIR").line(
        "2026-11-04",
        300_00,
        "JSX AIR",
    );
    assert_eq!(scenario.evidence("jsx", "2026-11-15"), "");
    assert_eq!(scenario.evidence("jsx", "2026-11-03"), "1>- 10000 2026-11-02");
}

#[test]
fn a_small_credit_belongs_to_the_purchase_it_equals() {
    let scenario = scenario("amex-gold")
        .line("2026-10-30", -8_00, "FIVE GUYS 1021")
        .line("2026-11-01", -30_00, "FIVE GUYS 1021")
        .line("2026-11-03", 8_00, "AMEX DINING CREDIT");
    let shown = scenario.shown("dining", "2026-11-15");
    assert!(
        shown.starts_with("2026-11-01 0+1000/1000 available, 2026-10-01 800/1000 expired"),
        "{shown}"
    );
}

#[test]
fn a_restaurant_explains_a_credit_but_promises_none() {
    let dinner = || {
        scenario("amex-gold")
            .mark("resy", "2026-01-05", Activated)
            .line("2026-11-02", -80_00, "CORNER BISTRO")
            .category(RESTAURANT)
    };
    assert_eq!(dinner().state("resy", "2026-11-15").pending_minor, 0);
    let credited = dinner().line("2026-11-04", 50_00, "AMEX RESY CREDIT");
    assert_eq!(credited.evidence("resy", "2026-11-15"), "1>2 5000 2026-11-02");
}

#[test]
fn a_credit_without_a_purchase_counts_the_usual_delay_before_it_came() {
    let scenario = scenario("amex-gold").line("2026-07-02", 50_00, "AMEX RESY CREDIT");
    assert!(scenario.shown("resy", "2026-07-10").ends_with("2026-01-01 5000/5000 used"));
    let later = super::scenario("amex-gold").line("2026-07-04", 50_00, "AMEX RESY CREDIT");
    assert_eq!(later.evidence("resy", "2026-07-10"), "->1 5000 2026-07-01");
}

#[test]
fn an_older_purchase_than_the_delay_is_no_cause() {
    let scenario = |bought| {
        super::scenario("amex-gold").line(bought, -62_00, "RESY").line(
            "2026-11-10",
            50_00,
            "AMEX RESY CREDIT",
        )
    };
    assert_eq!(scenario("2026-09-15").evidence("resy", "2026-11-15"), "1>2 5000 2026-09-15");
    assert_eq!(scenario("2026-09-14").evidence("resy", "2026-11-15"), "->2 5000 2026-11-07");
    let small = super::scenario("amex-gold").line("2026-11-02", -49_99, "RESY");
    let small = small.line("2026-11-10", 50_00, "AMEX RESY CREDIT");
    assert_eq!(small.evidence("resy", "2026-11-15"), "->2 5000 2026-11-07");
}

#[test]
fn an_expected_credit_is_given_up_after_its_delay() {
    let scenario = scenario("amex-hilton-aspire").line("2026-10-05", -300_00, "AMEXTRAVEL FLIGHT");
    assert_eq!(scenario.state("flight", "2026-12-28").pending_minor, 50_00);
    assert_eq!(scenario.state("flight", "2026-12-29").pending_minor, 0);
}

#[test]
fn what_needs_an_enrollment_promises_nothing_before_it() {
    let visit = || scenario("amex-gold").line("2026-11-02", -9_40, "DUNKIN #204");
    let state = visit().state("dunkin", "2026-11-15");
    assert_eq!((state.pending_minor, state.activation_required, state.activated), (0, true, false));
    assert_eq!(state.status, Status::Available);
    let enrolled = visit().mark("dunkin", "2025-01-05", Activated);
    let state = enrolled.state("dunkin", "2026-11-15");
    assert_eq!((state.pending_minor, state.activated), (7_00, true));
    let credited = visit().line("2025-11-02", 7_00, "AMEX DUNKIN' CREDIT");
    assert!(credited.state("dunkin", "2026-11-15").activated);
}

#[test]
fn what_no_statement_shows_counts_only_by_the_persons_mark() {
    let ride = || scenario("amex-platinum").line("2026-12-02", -60_00, "UBER   *TRIP");
    let shown = |scenario: Scenario| {
        let state = scenario.state("uber-cash", "2026-12-15");
        (state.used_minor, state.pending_minor, state.status)
    };
    assert_eq!(shown(ride()), (0, 0, Status::Available));
    let marked = |what| ride().mark("uber-cash", "2026-12-10", what);
    assert_eq!(shown(marked(Used(None))), (35_00, 0, Status::Used));
    assert_eq!(shown(marked(Used(Some(20_00)))), (20_00, 0, Status::PartiallyUsed));
    assert_eq!(shown(marked(Used(Some(-5)))), (0, 0, Status::Available));
    let both = marked(Used(Some(20_00))).mark("uber-cash", "2026-12-11", Used(Some(-5)));
    assert_eq!(shown(both), (20_00, 0, Status::PartiallyUsed));
    let last_month = ride().mark("uber-cash", "2026-11-10", Used(None));
    assert_eq!(shown(last_month), (0, 0, Status::Available));
}

#[test]
fn a_mark_and_the_credit_it_was_about_are_not_counted_twice() {
    let scenario = |marked| {
        super::scenario("amex-gold")
            .line("2026-11-02", -9_40, "DUNKIN")
            .line("2026-11-04", 4_00, "AMEX DUNKIN' CREDIT")
            .mark("dunkin", "2026-11-02", Used(Some(marked)))
    };
    assert_eq!(scenario(3_00).state("dunkin", "2026-11-15").used_minor, 4_00);
    assert_eq!(scenario(6_00).state("dunkin", "2026-11-15").used_minor, 6_00);
}

#[test]
fn a_benefit_without_a_price_is_used_when_the_person_says_so() {
    let scenario = scenario("amex-hilton-aspire");
    assert_eq!(scenario.state("free-night", "2026-11-15").status, Status::Available);
    let spent = scenario.mark("free-night", "2026-08-01", Used(None));
    assert_eq!(spent.state("free-night", "2026-11-15").status, Status::Used);
    assert_eq!(spent.state("free-night", "2027-04-15").status, Status::Available);
}

#[test]
fn what_is_not_open_yet_cannot_be_used() {
    let csr = scenario("chase-sapphire-reserve");
    assert_eq!(csr.state("southwest", "2026-11-15").status, Status::NotUsable);
    let open = csr.mark("southwest", "2026-09-01", Activated);
    assert_eq!(open.state("southwest", "2026-11-15").status, Status::Available);
    let early = scenario("chase-sapphire-reserve").state("select-hotels", "2025-12-31");
    assert_eq!(early.status, Status::NotUsable);
}

#[test]
fn a_benefit_that_was_ended_is_told_for_the_rest_of_the_year() {
    let platinum = scenario("amex-platinum");
    assert_eq!(platinum.shown("saks", "2026-06-30"), "2026-01-01 0/5000 available");
    assert_eq!(platinum.shown("saks", "2026-11-15"), "2026-01-01 0/5000 expired");
    assert_eq!(platinum.shown("saks", "2027-01-01"), "");
    let csr = scenario("chase-sapphire-reserve");
    assert_eq!(csr.state("lyft", "2027-09-15").expires_on, on("2027-09-30"));
    assert_eq!(csr.shown("select-hotels", "2026-12-31"), "2026-01-01 0/25000 available");
}

#[test]
fn a_credit_belongs_to_the_version_of_the_benefit_that_its_purchase_was_made_under() {
    let csr = || scenario("chase-sapphire-reserve");
    let bought = |day| csr().line(day, -900_00, "CHASE TRAVEL THE EDIT");
    let old = bought("2025-10-20").line("2025-10-27", 250_00, "THE EDIT CREDIT").line(
        "2025-11-03",
        -40_00,
        "THE EDIT CREDIT",
    );
    assert_eq!(
        old.shown("the-edit-2025", "2025-12-31"),
        "2025-07-01 21000/25000 partially_used, 2025-01-01 0/25000 expired"
    );
    let late = bought("2025-12-20").line("2026-01-27", 250_00, "THE EDIT CREDIT");
    assert_eq!(late.shown("the-edit", "2026-11-15"), "2026-01-01 0/50000 available");
    let alone = csr().line("2026-03-10", 250_00, "THE EDIT CREDIT");
    assert_eq!(alone.shown("the-edit", "2026-11-15"), "2026-01-01 25000/50000 partially_used");
}

#[test]
fn two_stays_of_one_year_bring_a_credit_each() {
    let scenario = scenario("chase-sapphire-reserve")
        .line("2026-08-10", -900_00, "CHASE TRAVEL THE EDIT")
        .line("2026-08-17", 250_00, "THE EDIT CREDIT")
        .line("2026-11-10", -700_00, "CHASE TRAVEL THE EDIT");
    let waiting = &scenario.state("the-edit", "2026-08-12");
    assert_eq!(waiting.pending_minor, 250_00, "one stay brings one credit");
    assert_eq!(
        scenario.shown("the-edit", "2026-11-15"),
        "2026-01-01 25000+25000/50000 partially_used"
    );
}

#[test]
fn a_meal_is_no_ride() {
    let scenario = scenario("amex-delta-reserve").mark("rideshare", "2026-01-01", Activated).line(
        "2026-11-02",
        -30_00,
        "UBER   *EATS HELP.UBER.COM",
    );
    assert_eq!(scenario.state("rideshare", "2026-11-15").pending_minor, 0);
    let ride = scenario.line("2026-11-03", -30_00, "UBER   *TRIP HELP.UBER.COM");
    assert_eq!(ride.state("rideshare", "2026-11-15").pending_minor, 10_00);
}

#[test]
fn the_merchants_key_is_as_good_as_the_banks_words() {
    let mut scenario = scenario("amex-gold").line("2026-11-02", -9_40, "SQ *DNKN 8832").line(
        "2026-11-04",
        7_00,
        "AMEX DUNKIN' CREDIT",
    );
    scenario.entries[0].key = "dunkin".to_owned();
    assert_eq!(scenario.evidence("dunkin", "2026-11-15"), "1>2 700 2026-11-02");
}

#[test]
fn a_closed_account_has_no_benefits() {
    let mut scenario = scenario("amex-gold").line("2026-11-04", 7_00, "AMEX DUNKIN' CREDIT");
    scenario.account.closed_on = Some(on("2026-11-15"));
    let usage = scenario.usage("2026-11-15");
    assert!(usage.current.is_empty() && usage.ended.is_empty());
    assert_eq!(summary(&usage), Summary::default());
    assert!(!scenario.usage("2026-11-14").current.is_empty());
}

#[test]
fn the_anniversary_is_that_of_the_last_fee() {
    let mut scenario = scenario("amex-gold")
        .line("2024-05-08", -250_00, "ANNUAL MEMBERSHIP FEE")
        .line("2025-05-11", -325_00, "RENEWAL MEMBERSHIP FEE")
        .line("2025-08-01", -35_00, "ADDITIONAL CARD MEMBERSHIP FEE")
        .line("2025-09-01", 325_00, "ADJUST MEMBERSHIP FEE")
        .line("2025-10-01", -325_00, "LATE FEE")
        .line("2026-05-09", -325_00, "RENEWAL MEMBERSHIP FEE");
    scenario.account.opened_on = None;
    let inferred = |as_of| scenario.usage(as_of).anniversary.map(|it| it.day());
    assert_eq!(inferred("2026-11-15"), Some(on("2026-05-09")));
    assert_eq!(inferred("2026-05-08"), Some(on("2025-05-11")));
    assert_eq!(inferred("2024-01-01"), None);
    let all = infer_anniversary(scenario.card, &scenario.entries);
    assert_eq!(all, Some(Anniversary::charged_on(on("2026-05-09"))));
}

#[test]
fn periods_before_the_first_entry_are_not_called_missed() {
    let mut scenario = scenario("amex-gold").line("2026-09-20", -3_00, "KIOSK");
    scenario.account.opened_on = None;
    assert_eq!(
        scenario.shown("dining", "2026-11-15"),
        "2026-11-01 0/1000 available, 2026-10-01 0/1000 expired"
    );
    scenario.account.opened_on = Some(on("2026-09-30"));
    assert_eq!(
        scenario.shown("dining", "2026-11-15"),
        "2026-11-01 0/1000 available, 2026-10-01 0/1000 expired, 2026-09-01 0/1000 expired"
    );
}

#[test]
fn the_summary_weighs_what_was_captured_against_the_fee() {
    let mut scenario = scenario("amex-gold")
        .line("2025-12-30", -20_00, "GRUBHUB")
        .line("2026-01-02", 10_00, "AMEX DINING CREDIT")
        .line("2026-02-10", -20_00, "GRUBHUB")
        .line("2026-02-13", 10_00, "AMEX DINING CREDIT")
        .line("2026-03-02", -6_00, "GRUBHUB")
        .line("2026-03-05", 6_00, "AMEX DINING CREDIT")
        .line("2026-04-02", -7_00, "GRUBHUB")
        .mark("uber-cash", "2026-02-01", Used(None));
    scenario.account.opened_on = Some(on("2020-01-01"));
    assert_eq!(
        summary(&scenario.usage("2026-04-10")),
        Summary {
            annual_fee_minor: 325_00,
            // Dining, Dunkin', Resy and Uber Cash of the current periods.
            total_minor: 10_00 + 7_00 + 50_00 + 10_00,
            used_minor: 0,
            pending_minor: 7_00,
            remaining_minor: 77_00,
            captured_minor: 26_00,
            // Dining in January and part of March, Dunkin' in three months.
            missed_minor: 10_00 + 4_00 + 21_00,
            net_value_minor: 26_00 - 325_00,
        }
    );
}

#[test]
fn only_the_part_of_a_period_that_lies_in_this_year_was_captured_in_it() {
    let scenario = scenario("wells-fargo-autograph-journey")
        .line("2025-11-02", -30_00, "SOUTHWES 526")
        .category("TRAVEL_FLIGHTS")
        .line("2025-11-09", 30_00, "AIRLINE STATEMENT CREDIT")
        .line("2026-01-05", -90_00, "SOUTHWES 526")
        .category("TRAVEL_FLIGHTS")
        .line("2026-01-12", 20_00, "AIRLINE STATEMENT CREDIT");
    let state = scenario.state("airline", "2026-02-01");
    assert_eq!((state.used_minor, state.captured_minor), (50_00, 20_00));
}

#[test]
fn what_is_about_to_be_lost_comes_soonest_first_then_the_most_money() {
    let scenario = scenario("amex-gold")
        .line("2026-11-04", -9_00, "DUNKIN")
        .line("2026-11-06", 3_00, "AMEX DUNKIN' CREDIT")
        .mark("uber-cash", "2026-11-02", Used(Some(4_00)));
    let usage = scenario.usage("2026-11-15");
    let shown = |days| {
        let soon = expiring(&usage.current, days, on("2026-11-15"));
        let word = |it: &&BenefitState<'_>| {
            format!("{} {}", it.benefit.id, days_left(it, on("2026-11-15")))
        };
        soon.iter().map(word).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(shown(15), "");
    assert_eq!(shown(16), "dining 16, uber-cash 16, dunkin 16");
    assert_eq!(shown(47), "dining 16, uber-cash 16, dunkin 16, resy 47");
    let last_day = scenario.usage("2026-11-30");
    assert_eq!(expiring(&last_day.current, 1, on("2026-11-30")).len(), 3);
    // A benefit without a value, or used up, is not counted as lost.
    let aspire = super::scenario("amex-hilton-aspire").mark("clear", "2026-02-01", Used(None));
    let usage = aspire.usage("2026-11-15");
    let soon = expiring(&usage.current, 365, on("2026-11-15"));
    let ids: Vec<&str> = soon.iter().map(|it| it.benefit.id.as_str()).collect();
    assert_eq!(ids, ["resort", "flight"]);
}
