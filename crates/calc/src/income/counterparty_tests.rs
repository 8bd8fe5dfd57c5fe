//! Tests of what the history with a counterparty says about an inflow.

use super::test_ledger::{CHECKING, after, book, date, enter};
use super::*;
use crate::ledger::Entry;

/// The labels of inflows from a company that pays people for jobs, after trips with it. Amounts on days.
fn rides(trips: &[(i64, i64)], inflows: &[(i64, i64)]) -> Vec<&'static str> {
    let mut ledger = book(date("2025-12-31"));
    for (day, minor) in trips {
        let category = "TRANSPORTATION_TAXIS_AND_RIDE_SHARES";
        let on = after(date("2025-03-03"), *day);
        enter(&mut ledger, CHECKING, on, -minor, category).key = "UBER".to_owned();
    }
    for (day, minor) in inflows {
        let on = after(date("2025-03-03"), *day);
        let entry = enter(&mut ledger, CHECKING, on, *minor, "INCOME_GIG_ECONOMY");
        (entry.key, entry.flags.gig) = ("UBER".to_owned(), true);
    }
    let labels = analyze(&ledger).labels;
    let inflows = ledger.entries.iter().filter(|it| it.amount_minor > 0);
    inflows.map(|it| labels[&it.id].as_str()).collect()
}

#[test]
fn a_customer_of_a_company_that_pays_for_jobs_gets_refunds_and_its_worker_gets_pay() {
    let trips = [(0, 1_850), (3, 2_410), (9, 1_200)];
    assert_eq!(rides(&trips, &[(11, 2_410)]), ["refund"]);
    // Part of a fare, or several in a quarter, less often than trips.
    assert_eq!(rides(&trips, &[(11, 900), (40, 1_200)]), ["refund", "refund"]);
    let payouts = [(11, 14_000), (19, 9_300), (30, 900), (33, 11_100)];
    assert_eq!(rides(&trips, &payouts), ["gig"; 4]);
    // Even a worker gets a fare back.
    let mut with_refund = payouts.to_vec();
    with_refund.push((35, 2_410));
    assert_eq!(rides(&trips, &with_refund), ["gig", "gig", "gig", "gig", "refund"]);
    assert_eq!(rides(&[], &[(11, 2_410)]), ["gig"]);
}

#[test]
fn a_sender_that_pays_again_and_again_is_income_without_a_schedule() {
    let labels = |days: &[i64], change: fn(&mut Entry)| -> Vec<&'static str> {
        let mut ledger = book(date("2025-12-31"));
        for day in days {
            let on = after(date("2025-03-03"), *day);
            let entry = enter(&mut ledger, CHECKING, on, 50_000 + day * 1_111, "");
            entry.key = "NORTHWIND STUDIO".to_owned();
            change(entry);
        }
        let labels = analyze(&ledger).labels;
        ledger.entries.iter().map(|it| labels[&it.id].as_str()).collect()
    };
    assert_eq!(labels(&[0, 17, 71], |_| {}), ["other_income"; 3]);
    assert_eq!(labels(&[0, 71], |_| {}), ["unclassified"; 2]);
    assert_eq!(labels(&[0, 5, 9], |_| {}), ["unclassified"; 3], "three days of one month");
    assert_eq!(labels(&[0, 17, 71, 300], |_| {})[3], "unclassified", "too long ago");
    assert_eq!(labels(&[0, 17, 71], |it| it.flags.person = true), ["unclassified"; 3]);
    let deposits: fn(&mut Entry) = |it| {
        it.category = base::category::Category::parse("TRANSFER_IN_DEPOSIT");
    };
    assert_eq!(labels(&[0, 17, 71], deposits), ["unclassified"; 3]);
}
