//! Tests of reading score inputs from ledgers, and properties over whole households.

use std::collections::BTreeMap;

use base::draft::AccountKind;
use base::{Date, days_from_date};
use proptest::prelude::*;

use super::*;
use crate::income::analyze;
use crate::income::test_ledger::{
    CARD, CHECKING, LOAN, SAVINGS, after, book, date, enter, open, pay, slots,
};
use crate::ledger::{Frequency, Ledger, TransferKind};

/// Paid every other week, rents, shops on a card that is paid off each month, for fourteen months.
#[derive(Debug, Clone, Copy)]
struct Household {
    first: i64,
    days: i64,
    pay_minor: i64,
    rent_minor: i64,
    daily_minor: i64,
    opening_minor: i64,
}

const PLAIN: Household = Household {
    first: 20_000,
    days: 430,
    pay_minor: 200_000,
    rent_minor: 120_000,
    daily_minor: 6_000,
    opening_minor: 900_000,
};

impl Household {
    fn ledger(self) -> Ledger {
        let first = base::date_from_days(self.first);
        let mut ledger = book(after(first, self.days));
        let paydays = slots(Frequency::Biweekly, after(first, 4), ledger.as_of);
        pay(&mut ledger, Frequency::Biweekly, &paydays, self.pay_minor);
        for day in 0..=self.days {
            let on = after(first, day);
            enter(&mut ledger, CARD, on, -self.daily_minor, "FOOD_AND_DRINK_GROCERIES");
            if on.day() == 1 {
                enter(&mut ledger, CHECKING, on, -self.rent_minor, "RENT_AND_UTILITIES_RENT");
            }
            if on.day() == 20 && day >= 30 {
                for (account, minor) in [(CHECKING, -1), (CARD, 1)] {
                    let minor = minor * 30 * self.daily_minor;
                    enter(&mut ledger, account, on, minor, "").transfer =
                        Some(TransferKind::CardPayment);
                }
            }
        }
        ledger.accounts[CARD].limit_minor = Some(1_000_000);
        enter(&mut ledger, CHECKING, first, self.opening_minor, "");
        settle(&mut ledger);
        ledger
    }
}

/// Computes every balance from the entries; all accounts begin empty.
fn settle(ledger: &mut Ledger) {
    let today = days_from_date(ledger.as_of);
    for (index, account) in ledger.accounts.iter_mut().enumerate() {
        let mut moved: BTreeMap<i64, i64> = BTreeMap::new();
        for entry in ledger.entries.iter().filter(|it| it.account == index) {
            *moved.entry(days_from_date(entry.on)).or_default() += entry.amount_minor;
        }
        let mut balance: i64 = moved.range(..today - 365).map(|(_, it)| it).sum();
        let days = (today - 365..=today).map(|day| {
            balance += moved.get(&day).copied().unwrap_or_default();
            balance
        });
        let daily: Vec<i64> = days.collect();
        account.balance_minor = Some(if account.kind.is_debt() { -balance } else { balance });
        let shown = account.kind == AccountKind::Depository;
        account.daily = if shown { daily } else { Vec::new() };
    }
}

fn read(ledger: &Ledger) -> Inputs {
    inputs(ledger, &analyze(ledger)).unwrap()
}

#[test]
fn the_inputs_of_a_plain_household_are_read() {
    let ledger = PLAIN.ledger();
    let inputs = read(&ledger);
    assert_eq!(inputs.income_minor, 434_821);
    assert_eq!(inputs.rent_minor, 120_000);
    // A year of days at 60.00 and twelve rents.
    assert_eq!(inputs.expenses_minor, 120_000 + 365 * 6_000 / 12);
    assert_eq!((inputs.debt_minor, inputs.card_purchases_minor), (0, 180_000));
    assert_eq!(Some(inputs.card_balance_minor), ledger.accounts[CARD].balance_minor);
    assert_eq!(inputs.credit.map(|it| it.limit_minor), Some(1_000_000));
    assert_eq!((inputs.low_days, inputs.distress_months), (Ratio { part: 0, whole: 90 }, 0));
    assert_eq!(inputs.cv, Some(Fixed9::ZERO));
    assert_eq!(inputs.surplus_months, Some(Ratio { part: 12, whole: 12 }));
    let coverage = coverage(&ledger, &analyze(&ledger));
    assert_eq!((coverage.accounts, coverage.months), (5, 12));
    assert_eq!(coverage.explained_percent_tenths, 1000);
    assert_eq!(coverage.unseen_card_payments_minor, 0);
}

#[test]
fn missing_inputs_are_described_in_words() {
    let missing = |ledger: &Ledger| {
        let missing = inputs(ledger, &analyze(ledger)).unwrap_err();
        missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    let mut ledger = book(date("2025-03-31"));
    enter(&mut ledger, CARD, date("2025-03-19"), -500, "");
    assert_eq!(missing(&ledger), "at least 60 days of history; there are 12");
    ledger.entries[0].on = date("2025-01-30");
    assert_eq!(missing(&ledger), "any spending in the months looked at");
    enter(&mut ledger, CARD, date("2025-02-03"), -500, "");
    assert!(inputs(&ledger, &analyze(&ledger)).is_ok());
    ledger.entries[0].on = date("2025-01-31");
    assert_eq!(missing(&ledger), "at least 60 days of history; there are 59");
    ledger.entries[0].on = date("2025-01-01");
    ledger.accounts[CHECKING].kind = AccountKind::Other;
    ledger.accounts[SAVINGS].kind = AccountKind::Other;
    assert_eq!(missing(&ledger), "a checking or savings account");
    ledger.entries.clear();
    assert_eq!(missing(&ledger).matches("; ").count(), 3);
}

/// Three months of history and one expense, on which each test builds.
fn small() -> Ledger {
    let mut ledger = book(date("2025-04-10"));
    enter(&mut ledger, CARD, date("2025-01-01"), -304_375 * 3, "");
    ledger
}

#[test]
fn a_day_is_low_with_less_than_a_week_of_need() {
    // Monthly needs are 3,043.75, so a week's are 700.00.
    let mut ledger = small();
    ledger.accounts[CHECKING].daily = vec![0, 69_999, 70_000, 70_001];
    ledger.accounts[SAVINGS].daily = vec![1];
    assert_eq!(read(&ledger).low_days, Ratio { part: 2, whole: 4 });
    // Only the last ninety days count.
    ledger.accounts[CHECKING].daily = [vec![0; 50], vec![80_000; 89], vec![5]].concat();
    assert_eq!(read(&ledger).low_days, Ratio { part: 1, whole: 90 });
}

#[test]
fn liquid_money_is_the_median_of_the_last_thirty_days() {
    let mut ledger = small();
    let daily = (0..40).map(|it| if it < 10 { 1_000_000 } else { it }).collect();
    ledger.accounts[CHECKING].daily = daily;
    assert_eq!(read(&ledger).liquid_minor, 24);
    // Negative balances count as zero, and a term deposit is not liquid.
    ledger.accounts[CHECKING].daily = vec![-5; 40];
    ledger.accounts[SAVINGS].subtype = Some("cd".to_owned());
    ledger.accounts[SAVINGS].daily = vec![900; 40];
    assert_eq!(read(&ledger).liquid_minor, 0);
    // Without daily balances, today's is used.
    ledger.accounts[CHECKING].daily.clear();
    ledger.accounts[CHECKING].balance_minor = Some(77);
    assert_eq!(read(&ledger).liquid_minor, 77);
}

#[test]
fn distress_counts_months_and_not_events() {
    let mut ledger = small();
    assert_eq!(read(&ledger).distress_months, 0);
    for (account, on, code) in [
        (CHECKING, "2025-03-03", "BANK_FEES_OVERDRAFT_FEES"),
        (CARD, "2025-03-29", "BANK_FEES_LATE_FEES"),
        (LOAN, "2025-01-29", "BANK_FEES_LATE_FEES"),
        (CHECKING, "2025-02-03", "BANK_FEES_ATM_FEES"),
        (CHECKING, "2024-04-30", "BANK_FEES_INSUFFICIENT_FUNDS"),
    ] {
        enter(&mut ledger, account, date(on), -3_500, code);
    }
    assert_eq!(read(&ledger).distress_months, 2);
    // The last day is April 10, so eleven days ago was March.
    ledger.accounts[SAVINGS].daily = [vec![-1], vec![0; 10]].concat();
    assert_eq!(read(&ledger).distress_months, 2);
    ledger.accounts[SAVINGS].daily = [vec![-1], vec![0; 9]].concat();
    assert_eq!(read(&ledger).distress_months, 3);
    // A refunded fee does not count.
    enter(&mut ledger, LOAN, date("2025-02-02"), 3_500, "BANK_FEES_LATE_FEES");
    assert_eq!(read(&ledger).distress_months, 3);
}

#[test]
fn a_card_without_a_limit_has_no_credit_use_and_an_overpaid_one_owes_nothing() {
    let mut ledger = small();
    ledger.accounts[CARD].balance_minor = Some(40_000);
    assert_eq!((read(&ledger).credit, read(&ledger).card_balance_minor), (None, 40_000));
    let other = open(&mut ledger, AccountKind::Credit, "credit card");
    ledger.accounts[other].limit_minor = Some(100_000);
    ledger.accounts[other].balance_minor = Some(-900);
    let credit = Credit { used_minor: 0, limit_minor: 100_000 };
    assert_eq!((read(&ledger).credit, read(&ledger).card_balance_minor), (Some(credit), 40_000));
}

#[test]
fn purchases_of_thirty_days_are_counted_less_refunds() {
    let mut ledger = small();
    enter(&mut ledger, CARD, date("2025-03-11"), -10_000, "");
    enter(&mut ledger, CARD, date("2025-03-12"), -20_000, "");
    enter(&mut ledger, CARD, date("2025-04-01"), 5_000, "").flags.refund = true;
    enter(&mut ledger, CARD, date("2025-04-02"), 7_000, "").transfer =
        Some(TransferKind::CardPayment);
    assert_eq!(read(&ledger).card_purchases_minor, 15_000);
}

#[test]
fn coverage_reports_unlabeled_inflows_and_unseen_card_purchases() {
    let mut ledger = small();
    enter(&mut ledger, CHECKING, date("2025-03-03"), 30_000, "INCOME_WAGES");
    enter(&mut ledger, CHECKING, date("2025-03-04"), 10_000, "");
    let code = "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT";
    enter(&mut ledger, CHECKING, date("2025-03-05"), -60_000, code);
    enter(&mut ledger, CHECKING, date("2025-03-05"), -9_000, code).transfer =
        Some(TransferKind::CardPayment);
    let coverage = coverage(&ledger, &analyze(&ledger));
    assert_eq!(coverage.explained_percent_tenths, 750);
    assert_eq!(coverage.unseen_card_payments_minor, 20_000);
}

#[test]
fn a_month_that_spends_exactly_its_income_is_a_surplus_month() {
    let mut ledger = small();
    for (month, minor) in [("2025-01-03", 913_125), ("2025-02-03", 500), ("2025-03-03", 500)] {
        enter(&mut ledger, CHECKING, date(month), minor, "INCOME_WAGES");
    }
    assert_eq!(read(&ledger).surplus_months, Some(Ratio { part: 3, whole: 3 }));
    ledger.entries[0].amount_minor -= 1;
    assert_eq!(read(&ledger).surplus_months, Some(Ratio { part: 2, whole: 3 }));
}

#[test]
fn a_returned_rent_deposit_does_not_make_rent_negative() {
    let mut ledger = small();
    let entry = enter(&mut ledger, CHECKING, date("2025-02-02"), 9_000, "RENT_AND_UTILITIES_RENT");
    entry.flags.refund = true;
    assert_eq!(read(&ledger).rent_minor, 0);
}

fn any_household() -> impl Strategy<Value = Household> {
    let flows = (150_000..400_000_i64, 50_000..200_000_i64, 2_000..9_000_i64);
    (20_000..20_400_i64, 70..430_i64, flows, 0..3_000_000_i64).prop_map(
        |(first, days, (pay_minor, rent_minor, daily_minor), opening_minor)| Household {
            first,
            days,
            pay_minor,
            rent_minor,
            daily_minor,
            opening_minor,
        },
    )
}

/// The largest difference of any of the four scores.
fn moved(a: &Ledger, b: &Ledger) -> Score {
    let all = |it: &Ledger| {
        let scores = score(&read(it));
        [scores.evenkeel, scores.recovery, scores.capacity, scores.baseline]
    };
    let pairs = all(a).into_iter().zip(all(b));
    pairs.map(|(a, b)| Score((a.0 - b.0).abs())).max().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_transfer_or_an_empty_account_changes_nothing(
        household in any_household(), ago in 0..60_i64, minor in 1..100_000_i64,
    ) {
        let ledger = household.ledger();
        let mut changed = ledger.clone();
        open(&mut changed, AccountKind::Depository, "savings");
        let on = after(ledger.as_of, -ago);
        for (account, minor) in [(CHECKING, -minor), (SAVINGS, minor)] {
            enter(&mut changed, account, on, minor, "").transfer = Some(TransferKind::Savings);
        }
        settle(&mut changed);
        // A transfer may overdraw an account, which is a different case.
        let overdrawn = |it: &Ledger| it.accounts[CHECKING].daily.iter().any(|it| *it < 0);
        prop_assume!(overdrawn(&ledger) == overdrawn(&changed));
        prop_assume!(read(&ledger).distress_months == read(&changed).distress_months);
        prop_assert_eq!(read(&changed), read(&ledger));
    }

    #[test]
    fn splitting_an_account_in_two_changes_nothing(household in any_household()) {
        let ledger = household.ledger();
        let mut split = ledger.clone();
        let other = open(&mut split, AccountKind::Depository, "checking");
        let mine = split.entries.iter_mut().filter(|it| it.account == CHECKING);
        mine.step_by(2).for_each(|it| it.account = other);
        // Halves are rounded towards zero: neither part is overdrawn unless the whole is.
        let halves = ledger.accounts[CHECKING].daily.iter().map(|it| it / 2);
        split.accounts[other].daily = halves.collect();
        for (whole, half) in split.accounts[CHECKING].daily.clone().into_iter().zip(0..) {
            split.accounts[CHECKING].daily[half] = whole - whole / 2;
        }
        prop_assert_eq!(read(&split), read(&ledger));
    }

    #[test]
    fn the_order_of_entries_and_later_entries_do_not_matter(
        household in any_household(), ahead in 1..400_i64,
    ) {
        let ledger = household.ledger();
        let mut changed = ledger.clone();
        changed.entries.reverse();
        let later: Date = after(ledger.as_of, ahead);
        enter(&mut changed, CARD, later, -900_000, "BANK_FEES_LATE_FEES");
        enter(&mut changed, CHECKING, later, 900_000, "INCOME_WAGES");
        prop_assert_eq!(read(&changed), read(&ledger));
    }

    /// Pay belongs to its slot, so income does not change. Three days of balances change, so the median moves by at
    /// most three ranks, and baseline by three low days unless an overdraft appears or disappears. A limit of two
    /// points for recovery does not hold: for a person who pays by card the balance is a staircase, and its median
    /// may lie on a step as high as the pay.
    #[test]
    fn a_payday_moved_by_three_days_changes_only_inputs_from_balances(
        household in any_household(), which in 0..10_usize, days in -3..=3_i64,
    ) {
        let ledger = household.ledger();
        let mut changed = ledger.clone();
        let paid = changed.entries.iter_mut().filter(|it| it.pay.is_some() && it.on < ledger.as_of);
        let mut paid: Vec<_> = paid.collect();
        let index = paid.len().saturating_sub(1 + which);
        let entry = &mut paid[index];
        entry.on = after(entry.on, days).min(ledger.as_of);
        settle(&mut changed);
        let (before, now) = (read(&ledger), read(&changed));
        let Inputs { liquid_minor, low_days, distress_months, .. } = before;
        prop_assert_eq!(Inputs { liquid_minor, low_days, distress_months, ..now }, before);

        let daily = &ledger.accounts[CHECKING].daily;
        let recent = daily[daily.len() - 30..].iter().map(|it| (*it).max(0));
        let mut recent: Vec<i64> = recent.collect();
        recent.sort_unstable();
        prop_assert!((recent[14 - 3]..=recent[15 + 3]).contains(&now.liquid_minor));
        if now.distress_months == before.distress_months {
            let off = score(&now).baseline.0 - score(&before).baseline.0;
            prop_assert!(off.abs() <= 2 * ONE, "{off}");
        }
    }

    /// If money leaves evenly and a month of needs is liquid, no score moves by two points.
    #[test]
    fn a_late_payday_hardly_moves_scores_if_spending_is_even(
        first in 20_000..20_400_i64, which in 0..10_usize, days in -3..=3_i64,
        daily_minor in 8_000..20_000_i64, months in 1..6_i64,
    ) {
        let household = Household {
            first,
            days: 430,
            pay_minor: daily_minor * 14,
            rent_minor: 0,
            daily_minor,
            opening_minor: daily_minor * (30 * months + 15),
        };
        let mut ledger = household.ledger();
        ledger.entries.retain(|it| it.transfer.is_none());
        ledger.entries.iter_mut().for_each(|it| it.account = CHECKING);
        settle(&mut ledger);
        let mut changed = ledger.clone();
        let mut paid: Vec<_> = changed.entries.iter_mut().filter(|it| it.pay.is_some()).collect();
        let index = paid.len() - 1 - which;
        paid[index].on = after(paid[index].on, days).min(ledger.as_of);
        settle(&mut changed);
        prop_assert!(moved(&ledger, &changed) <= Score(2 * ONE));
    }
}
