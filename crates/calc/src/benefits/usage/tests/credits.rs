//! Worked examples of linking statement credits, purchases and refunds.

use super::*;
use MarkValue::Activated;

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
    assert_eq!(scenario.evidence("resy", "2026-06-30"), "", "the benefit is not activated yet");
}

#[test]
fn the_purchase_date_is_the_authorization_date() {
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
fn monthly_credits_of_a_gold_card_are_recognized_as_the_bank_writes_them() {
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
fn a_travel_credit_of_a_statement_year_may_post_in_parts() {
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
fn a_refunded_purchase_does_not_count_as_use() {
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
fn a_refund_is_not_a_credit() {
    let scenario = scenario("amex-gold").line("2026-11-02", -9_40, "DUNKIN #204").line(
        "2026-11-04",
        7_00,
        "DUNKIN #204",
    );
    assert!(scenario.shown("dunkin", "2026-11-15").starts_with("2026-11-01 0/700 available"));
}

#[test]
fn a_refund_cancels_the_purchase_of_the_same_amount() {
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
fn an_eligible_merchant_is_preferred_to_a_possible_category() {
    let scenario = scenario("amex-gold")
        .line("2026-06-28", -62_00, "RESY* LITTLE FINCH")
        .category(RESTAURANT)
        .line("2026-07-01", -80_00, "CORNER BISTRO")
        .category(RESTAURANT)
        .line("2026-07-03", 50_00, "AMEX RESY CREDIT");
    assert!(scenario.shown("resy", "2026-07-10").ends_with("2026-01-01 5000/5000 used"));
}

#[test]
fn a_credit_counts_for_a_period_that_is_not_used_up() {
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
fn a_used_up_period_gets_no_credit_even_for_an_eligible_merchant() {
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
fn a_reversed_credit_frees_its_amount() {
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
fn a_reversal_cancels_the_credit_of_the_same_amount() {
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
fn a_refunded_purchase_leaves_no_pending_credit() {
    let scenario = scenario("chase-united-explorer").line("2026-11-02", -300_00, "JSX AIR").line(
        "2026-11-04",
        300_00,
        "JSX AIR",
    );
    assert_eq!(scenario.evidence("jsx", "2026-11-15"), "");
    assert_eq!(scenario.evidence("jsx", "2026-11-03"), "1>- 10000 2026-11-02");
}

#[test]
fn a_partial_credit_is_linked_to_the_purchase_of_the_same_amount() {
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
fn a_possible_category_explains_a_credit_but_expects_none() {
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
fn a_credit_without_a_purchase_is_dated_back_by_the_typical_delay() {
    let scenario = scenario("amex-gold").line("2026-07-02", 50_00, "AMEX RESY CREDIT");
    assert!(scenario.shown("resy", "2026-07-10").ends_with("2026-01-01 5000/5000 used"));
    let later = super::scenario("amex-gold").line("2026-07-04", 50_00, "AMEX RESY CREDIT");
    assert_eq!(later.evidence("resy", "2026-07-10"), "->1 5000 2026-07-01");
}

#[test]
fn a_purchase_that_is_too_old_or_too_small_is_not_linked() {
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
fn a_pending_credit_is_dropped_after_its_maximum_delay() {
    let scenario = scenario("amex-hilton-aspire").line("2026-10-05", -300_00, "AMEXTRAVEL FLIGHT");
    assert_eq!(scenario.state("flight", "2026-12-28").pending_minor, 50_00);
    assert_eq!(scenario.state("flight", "2026-12-29").pending_minor, 0);
}

#[test]
fn a_credit_counts_for_the_benefit_version_valid_at_its_purchase() {
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
fn two_stays_in_a_year_earn_a_credit_each() {
    let scenario = scenario("chase-sapphire-reserve")
        .line("2026-08-10", -900_00, "CHASE TRAVEL THE EDIT")
        .line("2026-08-17", 250_00, "THE EDIT CREDIT")
        .line("2026-11-10", -700_00, "CHASE TRAVEL THE EDIT");
    let after_one_stay = &scenario.state("the-edit", "2026-08-12");
    assert_eq!(after_one_stay.pending_minor, 250_00, "one stay earns one credit");
    assert_eq!(
        scenario.shown("the-edit", "2026-11-15"),
        "2026-01-01 25000+25000/50000 partially_used"
    );
}

#[test]
fn a_food_delivery_is_not_a_rideshare() {
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
fn the_merchant_key_matches_like_the_description() {
    let mut scenario = scenario("amex-gold").line("2026-11-02", -9_40, "SQ *DNKN 8832").line(
        "2026-11-04",
        7_00,
        "AMEX DUNKIN' CREDIT",
    );
    scenario.entries[0].key = "dunkin".to_owned();
    assert_eq!(scenario.evidence("dunkin", "2026-11-15"), "1>2 700 2026-11-02");
}
