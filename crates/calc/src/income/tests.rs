//! Tests of the income analysis: the worked example and edge cases.

use base::days_from_date;

use super::test_ledger::{BROKERAGE, CARD, CHECKING, LOAN, SAVINGS};
use super::test_ledger::{after, book, date, enter, pay, slots};
use super::*;
use crate::ledger::TransferKind;

const PAYDAYS: [&str; 7] = [
    "2025-01-03",
    "2025-01-17",
    "2025-01-31",
    "2025-02-14",
    "2025-02-28",
    "2025-03-14",
    "2025-03-28",
];

/// Three months with seven paydays of 1,850.00. A cent spent on the first day makes all months complete.
pub(super) fn worked_example() -> Ledger {
    let mut ledger = book(date("2025-04-05"));
    enter(&mut ledger, CARD, date("2025-01-01"), -1, "");
    pay(&mut ledger, Frequency::Biweekly, &PAYDAYS.map(date), 185_000);
    ledger
}

fn variability_of(income: &Income) -> [i64; 4] {
    let variability = &income.variability;
    let [min, max] = [variability.min_minor, variability.max_minor];
    [income.monthly_income_minor, min, max, variability.range_minor]
}

#[test]
fn a_month_with_three_paydays_counts_like_one_with_two() {
    let income = analyze(&worked_example());
    assert_eq!(variability_of(&income), [402_210, 402_210, 402_210, 0]);
    assert_eq!(income.cv, Some(Fixed9::ZERO));
    let window = &income.window;
    assert_eq!((window.start, window.end), (date("2025-01-01"), date("2025-03-31")));
    assert_eq!((window.months, window.complete), (3, true));
}

#[test]
fn a_missed_paycheck_shows_as_a_dip() {
    let mut ledger = worked_example();
    ledger.entries.retain(|it| it.on != date("2025-02-28"));
    let income = analyze(&ledger);
    assert_eq!(variability_of(&income), [335_175, 201_105, 402_210, 201_105]);
    // The months are in the ratio 2 : 1 : 2, so the deviation over the mean is the square root of two, over five.
    assert_eq!(income.cv.unwrap().to_string(), "0.282842712");
}

/// The label, amount and percentage of every use of a month's income.
fn allocation(income: &Income) -> String {
    let shown = |name: &str, it: Share| {
        format!("{name} {}.{:02} {}", it.amount_minor / 100, it.amount_minor % 100, {
            let tenths = it.percent_tenths.unwrap_or_default();
            format!("{}.{}", tenths / 10, tenths % 10)
        })
    };
    [
        shown("expenses", income.expenses.total),
        shown("debt", income.debt.total),
        shown("emergency_fund", income.emergency_fund.net),
        shown("investments", income.investments.net),
        shown("unallocated", income.unallocated),
    ]
    .join("; ")
}

#[test]
fn the_blocks_add_up_to_the_income_to_the_cent() {
    let mut ledger = worked_example();
    ledger.entries[0].amount_minor = -265_000;
    for month in ["2025-02-01", "2025-03-01"] {
        enter(&mut ledger, CARD, date(month), -265_000, "");
    }
    for month in ["2025-01-09", "2025-02-09", "2025-03-09"] {
        enter(&mut ledger, CHECKING, date(month), -41_000, "LOAN_PAYMENTS_CAR_PAYMENT");
        for (account, minor) in [(CHECKING, -30_000), (SAVINGS, 30_000)] {
            enter(&mut ledger, account, date(month), minor, "").transfer =
                Some(TransferKind::Savings);
        }
        for (account, minor) in [(CHECKING, -25_000), (BROKERAGE, 25_000)] {
            enter(&mut ledger, account, date(month), minor, "").transfer =
                Some(TransferKind::Investment);
        }
    }
    ledger.accounts[SAVINGS].balance_minor = Some(918_000);
    let income = analyze(&ledger);
    assert_eq!(
        allocation(&income),
        "expenses 2650.00 65.9; debt 410.00 10.2; emergency_fund 300.00 7.5; \
         investments 250.00 6.2; unallocated 412.10 10.2"
    );
    assert_eq!(income.emergency_fund.months_covered_hundredths, Some(300));
    assert_eq!(income.emergency_fund.deposits.amount_minor, 30_000);
    assert_eq!(income.investments.contributions.amount_minor, 25_000);
}

#[test]
fn a_source_has_its_schedule_and_payments() {
    let income = analyze(&worked_example());
    let [source] = &income.sources[..] else { panic!("{:?}", income.sources) };
    assert_eq!((source.payer.as_str(), source.label), ("Employer 0", InflowLabel::Earned));
    assert_eq!(source.frequency, Some(Frequency::Biweekly));
    assert_eq!((source.last_on, source.last_minor), (date("2025-03-28"), 185_000));
    assert_eq!((source.monthly_minor, source.payments.len()), (402_210, 7));
}

#[test]
fn without_a_complete_month_the_window_is_the_last_thirty_days() {
    let mut ledger = book(date("2025-02-20"));
    enter(&mut ledger, CHECKING, date("2025-01-02"), -5, "");
    let window = analyze(&ledger).window;
    assert_eq!((window.start, window.end), (date("2025-01-22"), date("2025-02-20")));
    assert_eq!((window.months, window.complete), (1, false));
    // One day earlier, January is complete.
    ledger.entries[0].on = date("2025-01-01");
    assert_eq!(analyze(&ledger).window.end, date("2025-01-31"));
    // Thirty days contain two or three paydays, and either is an average month.
    let mut ledger = book(date("2025-02-20"));
    let paydays = slots(Frequency::Biweekly, date("2025-01-09"), ledger.as_of);
    pay(&mut ledger, Frequency::Biweekly, &paydays, 100_000);
    assert_eq!(analyze(&ledger).monthly_income_minor, 217_411);
}

#[test]
fn a_year_is_the_longest_window() {
    let mut ledger = book(date("2026-03-31"));
    enter(&mut ledger, CHECKING, date("2020-05-05"), -5, "");
    let window = analyze(&ledger).window;
    assert_eq!((window.start, window.end), (date("2025-03-01"), date("2026-02-28")));
    assert_eq!(window.months, 12);
}

#[test]
fn pay_that_is_only_late_is_not_missed() {
    let mut ledger = book(date("2025-04-02"));
    enter(&mut ledger, CARD, date("2025-01-01"), -1, "");
    let days = ["2025-01-31", "2025-02-28", "2025-03-31"].map(date);
    pay(&mut ledger, Frequency::Monthly, &days, 300_000);
    ledger.entries.pop();
    assert_eq!(variability_of(&analyze(&ledger)), [300_000, 300_000, 300_000, 0]);
    ledger.as_of = date("2025-04-05");
    assert_eq!(variability_of(&analyze(&ledger)), [200_000, 0, 300_000, 300_000]);
}

#[test]
fn a_payday_after_today_is_not_due() {
    let mut ledger = worked_example();
    ledger.as_of = date("2025-02-20");
    ledger.entries[0].on = date("2025-01-25");
    ledger.entries.retain(|it| it.on >= date("2025-01-25") && it.on <= ledger.as_of);
    // The last thirty days: paid on the 31st and the 14th, and the 28th is yet to come.
    assert_eq!(analyze(&ledger).monthly_income_minor, 402_210);
}

#[test]
fn two_months_are_too_few_to_measure_variability() {
    let mut ledger = worked_example();
    ledger.as_of = date("2025-03-31");
    assert_eq!((analyze(&ledger).window.months, analyze(&ledger).cv), (2, None));
}

#[test]
fn an_overdrawn_emergency_fund_covers_nothing() {
    let mut ledger = worked_example();
    ledger.entries[0].amount_minor = -30_000;
    ledger.accounts[SAVINGS].balance_minor = Some(-5_000);
    let fund = analyze(&ledger).emergency_fund;
    let balance = fund.balance.map(|it| it.amount_minor);
    assert_eq!((balance, fund.months_covered_hundredths), (Some(-5_000), Some(0)));
}

#[test]
fn a_balance_that_is_not_known_is_not_zero() {
    let mut ledger = worked_example();
    ledger.entries[0].amount_minor = -30_000;
    ledger.accounts[SAVINGS].balance_minor = None;
    let fund = analyze(&ledger).emergency_fund;
    assert_eq!((fund.balance, fund.months_covered_hundredths), (None, None));
    // Without any savings account, nothing is saved.
    ledger.accounts[SAVINGS].kind = AccountKind::Other;
    let fund = analyze(&ledger).emergency_fund;
    assert_eq!(fund.balance.map(|it| it.amount_minor), Some(0));
    assert_eq!(fund.months_covered_hundredths, Some(0));
}

#[test]
fn a_salary_posted_before_the_weekend_belongs_to_its_own_month() {
    let mut ledger = book(date("2025-04-05"));
    enter(&mut ledger, CARD, date("2025-01-01"), -1, "");
    let days = ["2025-01-01", "2025-02-01", "2025-03-01"].map(date);
    pay(&mut ledger, Frequency::Monthly, &days, 300_000);
    ledger.entries[2].on = date("2025-01-31");
    ledger.entries[3].on = date("2025-02-28");
    assert_eq!(analyze(&ledger).variability.range_minor, 0);
}

#[test]
fn a_stream_counts_from_its_first_slot_to_its_last() {
    let mut ledger = book(date("2025-07-05"));
    enter(&mut ledger, CARD, date("2025-01-01"), -1, "");
    let days = ["2025-03-10", "2025-04-10"].map(date);
    pay(&mut ledger, Frequency::Monthly, &days, 120_000);
    let income = analyze(&ledger);
    let months: Vec<i64> = income.months.iter().map(|it| it.income_minor).collect();
    assert_eq!(months, [0, 0, 120_000, 120_000, 0, 0]);
    // Quarterly pay counts for three months.
    ledger.pays[0].frequency = Frequency::Quarterly;
    let months = analyze(&ledger).months;
    let months: Vec<i64> = months.iter().map(|it| it.income_minor).collect();
    assert_eq!(months, [0, 0, 40_000, 40_000, 40_000, 40_000]);
}

#[test]
fn a_schedule_that_is_not_mature_is_not_used() {
    let mut ledger = worked_example();
    ledger.pays[0].mature = false;
    let income = analyze(&ledger);
    assert_eq!(income.monthly_income_minor, 431_667);
    assert_eq!(income.sources[0].frequency, None);
}

/// The purpose assigned to an outflow of 30.00 in three months.
fn spent(account: usize, category: &str, transfer: Option<TransferKind>) -> String {
    let mut ledger = worked_example();
    ledger.entries[0].amount_minor = 0;
    enter(&mut ledger, account, date("2025-03-03"), -3_000, category).transfer = transfer;
    let income = analyze(&ledger);
    let named = |block: &str, it: &Block| {
        it.parts.keys().map(|label| format!("{block}:{label}")).collect::<Vec<_>>()
    };
    let mut blocks = named("expenses", &income.expenses);
    blocks.extend(named("debt", &income.debt));
    for (name, share) in [
        ("saved", income.emergency_fund.net),
        ("invested", income.investments.net),
        ("unallocated", income.unallocated),
    ] {
        let usual = if name == "unallocated" { 402_210 } else { 0 };
        if share.amount_minor != usual {
            blocks.push(format!("{name} {}", share.amount_minor - usual));
        }
    }
    blocks.join(", ")
}

#[test]
fn every_outflow_is_counted_in_its_block() {
    use TransferKind::{CardPayment, Investment, LoanPayment, Savings};
    for (account, category, transfer, expected) in [
        (CHECKING, "", None, "expenses:uncategorized, unallocated -1000"),
        (CARD, "FOOD_AND_DRINK_COFFEE", None, "expenses:food_and_drink, unallocated -1000"),
        (CHECKING, "INCOME_WAGES", None, "expenses:uncategorized, unallocated -1000"),
        (CHECKING, "TRANSFER_OUT_WITHDRAWAL", None, "expenses:transfer_out, unallocated -1000"),
        (CHECKING, "BANK_FEES_ATM_FEES", None, "expenses:bank_fees, unallocated -1000"),
        (CARD, "BANK_FEES_INTEREST_CHARGE", None, "debt:card_interest, unallocated -1000"),
        (CARD, "BANK_FEES_LATE_FEES", None, "debt:card_interest, unallocated -1000"),
        (CHECKING, "BANK_FEES_INTEREST_CHARGE", None, "debt:other, unallocated -1000"),
        (CHECKING, "LOAN_PAYMENTS_MORTGAGE_PAYMENT", None, "debt:mortgage, unallocated -1000"),
        (CHECKING, "LOAN_PAYMENTS_STUDENT_LOAN_PAYMENT", None, "debt:student, unallocated -1000"),
        (CHECKING, "LOAN_PAYMENTS_PERSONAL_LOAN_PAYMENT", None, "debt:personal, unallocated -1000"),
        (CHECKING, "LOAN_PAYMENTS_CAR_PAYMENT", Some(LoanPayment), "debt:auto, unallocated -1000"),
        (CHECKING, "", Some(LoanPayment), "debt:other, unallocated -1000"),
        (CHECKING, "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT", None, ""),
        (CHECKING, "FOOD_AND_DRINK_COFFEE", Some(CardPayment), ""),
        (CHECKING, "TRANSFER_OUT_SAVINGS", Some(Savings), ""),
        (CHECKING, "TRANSFER_OUT_ACCOUNT_TRANSFER", None, ""),
        (CHECKING, "", Some(Investment), "invested 1000, unallocated -1000"),
        (
            CHECKING,
            "TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS",
            None,
            "invested 1000, unallocated -1000",
        ),
        // A purchase from savings reduces the savings and not the month's income.
        (SAVINGS, "TRAVEL_LODGING", None, "expenses:travel, saved -1000"),
        (SAVINGS, "", Some(Savings), "saved -1000, unallocated 1000"),
        (LOAN, "BANK_FEES_INTEREST_CHARGE", None, ""),
        (BROKERAGE, "", None, ""),
    ] {
        assert_eq!(
            spent(account, category, transfer),
            expected,
            "{account} {category} {transfer:?}"
        );
    }
}

#[test]
fn an_unpaired_payment_is_spending_only_if_what_it_pays_is_not_linked() {
    let flow_of = |category: &str, pays_linked_debt: bool| {
        let mut ledger = worked_example();
        let entry = enter(&mut ledger, CHECKING, date("2025-03-03"), -3_000, category);
        entry.pays_linked_debt = pays_linked_debt;
        let (income, flows) = analyze_with_cash_flows(&ledger);
        let is_spending = matches!(flows.last(), Some(Some(CashFlow::Spending(_))));
        (is_spending, income.months[2].spent_minor, income.debt.total.amount_minor)
    };
    let card = "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT";
    assert_eq!(flow_of(card, true), (false, 0, 0));
    assert_eq!(flow_of(card, false), (true, 3_000, 1_000));
    // A loan payment comes out of income either way.
    let car = "LOAN_PAYMENTS_CAR_PAYMENT";
    assert_eq!(flow_of(car, true), (false, 0, 1_000));
    assert_eq!(flow_of(car, false), (true, 3_000, 1_000));
}

#[test]
fn pay_into_savings_is_income_and_saved() {
    let mut ledger = worked_example();
    enter(&mut ledger, SAVINGS, date("2025-03-03"), 3_000, "INCOME_INTEREST_EARNED");
    enter(&mut ledger, SAVINGS, date("2025-03-03"), 9_000, "").flags.person = true;
    let income = analyze(&ledger);
    assert_eq!(income.monthly_income_minor, 403_210);
    assert_eq!(income.emergency_fund.deposits.amount_minor, 1_000);
    assert_eq!(income.uncounted.len(), 1);
    assert_eq!(income.uncounted[0].label, InflowLabel::Unclassified);
}

#[test]
fn a_regular_withdrawal_counts_once() {
    let mut ledger = book(date("2025-04-05"));
    let days = ["2025-01-01", "2025-02-01", "2025-03-01"].map(date);
    pay(&mut ledger, Frequency::Monthly, &days, 200_000);
    for entry in &mut ledger.entries {
        entry.category = None;
        entry.transfer = Some(TransferKind::Investment);
    }
    let income = analyze(&ledger);
    assert_eq!((income.monthly_income_minor, income.investments.net.amount_minor), (200_000, 0));
    ledger.pays[0].mature = false;
    let income = analyze(&ledger);
    assert_eq!((income.monthly_income_minor, income.investments.net.amount_minor), (0, -200_000));
}

#[test]
fn percentages_are_zero_without_income() {
    let mut ledger = book(date("2025-04-05"));
    enter(&mut ledger, CARD, date("2025-01-01"), -90_000, "RENT_AND_UTILITIES_RENT");
    let income = analyze(&ledger);
    assert_eq!(income.expenses.total, Share { amount_minor: 30_000, percent_tenths: None });
    assert_eq!((income.rent_minor, income.cv), (30_000, None));
    assert_eq!(income.unallocated.amount_minor, -30_000);
}

#[test]
fn an_empty_ledger_is_all_zeros() {
    let income = analyze(&book(date("2025-04-05")));
    assert_eq!(variability_of(&income), [0; 4]);
    assert_eq!(income.emergency_fund.months_covered_hundredths, None);
}

#[test]
fn constant_pay_never_varies_at_any_frequency_or_start() {
    for frequency in Frequency::ALL.iter().copied() {
        let (payments, months) = frequency.payments_a_month();
        let expected = base::divide_half_even(185_033 * payments, months) as i64;
        for start in 0..1_461 {
            let first = after(date("2023-01-01"), start);
            let mut ledger = book(after(first, 200 + start % 400));
            let days = slots(frequency, first, ledger.as_of);
            pay(&mut ledger, frequency, &days, 185_033);
            // Banks are closed on weekends, and pay arrives on the Friday before.
            for entry in &mut ledger.entries {
                let weekday = (days_from_date(entry.on) + 3).rem_euclid(7);
                entry.on = after(entry.on, -(weekday - 4).max(0));
            }
            let income = analyze(&ledger);
            let want = [expected, expected, expected, 0];
            assert_eq!(variability_of(&income), want, "{frequency:?} {first}");
            assert!(income.cv.is_some_and(|it| it == Fixed9::ZERO), "{frequency:?} {first}");
        }
    }
}
