//! Worked examples of the state of benefits: enrollment, marks, validity, anniversaries, and the summary.

use super::*;
use MarkValue::{Activated, Used};

#[test]
fn a_benefit_that_needs_enrollment_has_no_pending_credit_before_it() {
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
fn a_benefit_not_shown_on_statements_counts_only_when_marked() {
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
fn a_mark_and_its_credit_are_not_counted_twice() {
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
fn a_benefit_without_an_amount_is_used_when_marked() {
    let scenario = scenario("amex-hilton-aspire");
    assert_eq!(scenario.state("free-night", "2026-11-15").status, Status::Available);
    let spent = scenario.mark("free-night", "2026-08-01", Used(None));
    assert_eq!(spent.state("free-night", "2026-11-15").status, Status::Used);
    assert_eq!(spent.state("free-night", "2027-04-15").status, Status::Available);
}

#[test]
fn a_benefit_that_is_locked_or_not_yet_valid_is_not_usable() {
    let csr = scenario("chase-sapphire-reserve");
    assert_eq!(csr.state("southwest", "2026-11-15").status, Status::NotUsable);
    let open = csr.mark("southwest", "2026-09-01", Activated);
    assert_eq!(open.state("southwest", "2026-11-15").status, Status::Available);
    let early = scenario("chase-sapphire-reserve").state("select-hotels", "2025-12-31");
    assert_eq!(early.status, Status::NotUsable);
}

#[test]
fn an_ended_benefit_is_listed_for_the_rest_of_the_year() {
    let platinum = scenario("amex-platinum");
    assert_eq!(platinum.shown("saks", "2026-06-30"), "2026-01-01 0/5000 available");
    assert_eq!(platinum.shown("saks", "2026-11-15"), "2026-01-01 0/5000 expired");
    assert_eq!(platinum.shown("saks", "2027-01-01"), "");
    let csr = scenario("chase-sapphire-reserve");
    assert_eq!(csr.state("lyft", "2027-09-15").expires_on, on("2027-09-30"));
    assert_eq!(csr.shown("select-hotels", "2026-12-31"), "2026-01-01 0/25000 available");
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
fn the_anniversary_is_the_day_of_the_last_annual_fee() {
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
fn periods_before_the_first_entry_are_not_listed_as_expired() {
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
fn the_summary_compares_the_captured_value_with_the_fee() {
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
fn only_credits_of_this_year_count_as_captured() {
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
fn expiring_benefits_are_sorted_by_day_then_by_amount() {
    let scenario = scenario("amex-gold")
        .line("2026-11-04", -9_00, "DUNKIN")
        .line("2026-11-06", 3_00, "AMEX DUNKIN' CREDIT")
        .mark("uber-cash", "2026-11-02", Used(Some(4_00)));
    let usage = scenario.usage("2026-11-15");
    let shown = |days| {
        let soon = expiring(&usage.current, days, on("2026-11-15"));
        let describe = |it: &&BenefitState<'_>| {
            format!("{} {}", it.benefit.id, days_left(it, on("2026-11-15")))
        };
        soon.iter().map(describe).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(shown(14), "");
    assert_eq!(shown(15), "dining 15, uber-cash 15, dunkin 15");
    assert_eq!(shown(46), "dining 15, uber-cash 15, dunkin 15, resy 46");
    let last_day = scenario.usage("2026-11-30");
    // On its last day a benefit has 0 days left.
    assert_eq!(expiring(&last_day.current, 0, on("2026-11-30")).len(), 3);
    // A benefit without a value, or used up, is not counted as lost.
    let aspire = super::scenario("amex-hilton-aspire").mark("clear", "2026-02-01", Used(None));
    let usage = aspire.usage("2026-11-15");
    let soon = expiring(&usage.current, 365, on("2026-11-15"));
    let ids: Vec<&str> = soon.iter().map(|it| it.benefit.id.as_str()).collect();
    assert_eq!(ids, ["resort", "flight"]);
}
