//! Tests of the labels of inflows: income, refunds, transfers and the rest.

use super::test_ledger::{CARD, CHECKING, after, book, date, enter, pay};
use super::tests::worked_example;
use super::*;
use crate::ledger::{Entry, EntryFlags, Pay, PayStream, TransferKind};

/// The label of one inflow on checking, after the caller changed it.
fn labeled(category: &str, change: impl FnOnce(&mut Entry)) -> &'static str {
    let mut ledger = book(date("2025-04-05"));
    ledger.pays.push(PayStream {
        payer: "Somebody".to_owned(),
        frequency: Frequency::Monthly,
        mature: true,
        person: false,
        slots: Vec::new(),
    });
    change(enter(&mut ledger, CHECKING, date("2025-03-03"), 10_000, category));
    analyze(&ledger).labels[&ledger.entries[0].id].as_str()
}

fn with_flags(flags: EntryFlags) -> impl FnOnce(&mut Entry) {
    move |it| it.flags = flags
}

fn recurring(entry: &mut Entry) {
    entry.pay = Some(Pay { stream: 0, slot_on: entry.on });
}

#[test]
fn the_first_matching_rule_labels_an_inflow() {
    let none = EntryFlags::default();
    let refund = EntryFlags { refund: true, ..none };
    let payroll = EntryFlags { payroll: true, ..none };
    let gig = EntryFlags { gig: true, ..none };
    let benefit = EntryFlags { benefit: true, ..none };
    let person = EntryFlags { person: true, ..none };
    for (category, flags, label) in [
        ("", none, "unclassified"),
        ("", refund, "refund"),
        ("INCOME_TAX_REFUND", refund, "tax_refund"),
        ("FOOD_AND_DRINK_GROCERIES", refund, "refund"),
        ("LOAN_DISBURSEMENTS_EWA", payroll, "loan_proceeds"),
        ("TRANSFER_IN_CASH_ADVANCES_AND_LOANS", none, "loan_proceeds"),
        ("INCOME_INTEREST_EARNED", none, "passive"),
        ("INCOME_DIVIDENDS", none, "passive"),
        ("", payroll, "earned"),
        ("INCOME_SALARY", none, "earned"),
        ("INCOME_GIG_ECONOMY", payroll, "earned"),
        ("INCOME_RETIREMENT_PENSION", gig, "benefits"),
        ("", benefit, "benefits"),
        ("INCOME_GIG_ECONOMY", none, "gig"),
        ("", gig, "gig"),
        ("INCOME_OTHER", none, "other_income"),
        ("TRANSFER_IN_SAVINGS", none, "internal_transfer"),
        ("TRANSFER_IN_ACCOUNT_TRANSFER", payroll, "earned"),
        ("TRANSFER_IN_DEPOSIT", none, "unclassified"),
        ("", person, "unclassified"),
    ] {
        assert_eq!(labeled(category, with_flags(flags)), label, "{category} {flags:?}");
    }
    let moved = |it: &mut Entry| it.transfer = Some(TransferKind::Transfer);
    assert_eq!(labeled("INCOME_WAGES", moved), "internal_transfer");
}

#[test]
fn recurring_inflows_are_income_unless_sent_by_a_person() {
    assert_eq!(labeled("", recurring), "other_income");
    assert_eq!(labeled("TRANSFER_IN_DEPOSIT", recurring), "other_income");
    let from_person = |it: &mut Entry| {
        recurring(it);
        it.flags.person = true;
    };
    assert_eq!(labeled("", from_person), "unclassified");
}

#[test]
fn regular_withdrawals_of_retirement_money_are_income_and_single_ones_are_not() {
    let code = "TRANSFER_IN_INVESTMENT_AND_RETIREMENT_FUNDS";
    assert_eq!(labeled(code, recurring), "benefits");
    assert_eq!(labeled(code, |_| {}), "internal_transfer");
    let linked = |it: &mut Entry| {
        recurring(it);
        it.transfer = Some(TransferKind::Investment);
    };
    assert_eq!(labeled("", linked), "benefits");
}

/// The label of an inflow of 50.00 from a shop, the given number of days after a purchase there.
fn returned(days: i64, spent_minor: i64, change: impl FnOnce(&mut Ledger)) -> &'static str {
    let mut ledger = book(date("2025-12-31"));
    for (on, minor) in [(0, -spent_minor), (days, 5_000)] {
        let on = after(date("2025-03-03"), on);
        enter(&mut ledger, CHECKING, on, minor, "").key = "SHOP".to_owned();
    }
    change(&mut ledger);
    analyze(&ledger).labels[&ledger.entries[1].id].as_str()
}

#[test]
fn an_inflow_after_a_purchase_at_the_same_merchant_is_a_refund() {
    assert_eq!(returned(120, 5_000, |_| {}), "refund");
    assert_eq!(returned(0, 5_000, |_| {}), "refund");
    assert_eq!(returned(121, 5_000, |_| {}), "unclassified");
    assert_eq!(returned(-1, 5_000, |_| {}), "unclassified");
    assert_eq!(returned(10, 4_999, |_| {}), "unclassified");
    let knows_payer = |it: &mut Ledger| it.entries[1].flags.benefit = true;
    assert_eq!(returned(10, 9_000, knows_payer), "benefits");
    // A payer with a schedule is recognized without keywords.
    let pays_often = |it: &mut Ledger| {
        let first = it.entries[1].on;
        pay(it, Frequency::Monthly, &[after(first, 30)], 5_000);
        let regular = it.entries.last_mut().unwrap();
        (regular.category, regular.key) = (None, "SHOP".to_owned());
    };
    assert_eq!(returned(10, 9_000, pays_often), "other_income");
    let no_key = |it: &mut Ledger| it.entries.iter_mut().for_each(|it| it.key.clear());
    assert_eq!(returned(10, 9_000, no_key), "unclassified");
    // A later purchase that is too small does not hide the returned one.
    let and_more = |it: &mut Ledger| {
        enter(it, CHECKING, date("2025-03-04"), -10, "").key = "SHOP".to_owned();
    };
    assert_eq!(returned(10, 9_000, and_more), "refund");
}

#[test]
fn a_refund_reduces_the_category_of_its_purchase() {
    let mut ledger = worked_example();
    enter(&mut ledger, CARD, date("2025-02-03"), -9_000, "TRAVEL_FLIGHTS").key = "AIR".to_owned();
    enter(&mut ledger, CHECKING, date("2025-03-03"), 6_000, "").key = "AIR".to_owned();
    let parts = analyze(&ledger).expenses.parts;
    assert_eq!(parts["travel"].amount_minor, 1_000);
}

#[test]
fn inflows_on_a_card_are_never_income() {
    let on_card = |category: &str, change: fn(&mut Entry)| {
        let mut ledger = worked_example();
        change(enter(&mut ledger, CARD, date("2025-03-03"), 10_000, category));
        let (income, entry) = (analyze(&ledger), ledger.entries.last().unwrap());
        (income.labels[&entry.id].as_str(), income.monthly_income_minor)
    };
    let none: fn(&mut Entry) = |_| {};
    for (category, change, label) in [
        ("INCOME_WAGES", none, "unclassified"),
        ("INCOME_GIG_ECONOMY", none, "refund"),
        ("", none, "unclassified"),
        ("LOAN_PAYMENTS_CREDIT_CARD_PAYMENT", none, "internal_transfer"),
        ("TRAVEL_LODGING", none, "refund"),
        ("", |it| it.flags.refund = true, "refund"),
        ("", |it| it.transfer = Some(TransferKind::CardPayment), "internal_transfer"),
    ] {
        assert_eq!(on_card(category, change), (label, 402_210), "{category}");
    }
}
