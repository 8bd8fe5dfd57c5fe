//! Properties of the income analysis, over generated ledgers.

use base::category::Category;
use base::draft::AccountKind;
use base::{date_from_days, days_from_date};
use proptest::prelude::*;
use proptest::sample::select;

use super::test_ledger::{CARD, CHECKING, book, enter, open, slots};
use super::*;
use crate::ledger::{Entry, EntryFlags, Pay, PayStream, TransferKind};

/// The first and last day of the generated ledgers.
const ZERO: i64 = 20_000;
const LAST: i64 = 500;

/// Every day of the years 1 to 9999.
const DAYS: std::ops::Range<i64> = -719_162..2_932_897;

const TRANSFERS: [TransferKind; 5] = [
    TransferKind::CardPayment,
    TransferKind::LoanPayment,
    TransferKind::Investment,
    TransferKind::Savings,
    TransferKind::Transfer,
];

fn any_signs() -> impl Strategy<Value = EntryFlags> {
    let rarely = || prop::bool::weighted(0.1);
    (rarely(), rarely(), rarely(), rarely(), rarely()).prop_map(
        |(refund, person, payroll, gig, benefit)| EntryFlags {
            refund,
            person,
            payroll,
            gig,
            benefit,
        },
    )
}

/// A generated entry on any account; `days` and `amounts` give the ranges.
fn any_entry(
    days: std::ops::Range<i64>,
    amounts: std::ops::RangeInclusive<i64>,
) -> impl Strategy<Value = Entry> {
    let category = prop::option::weighted(0.8, select(&Category::ALL[..]));
    let transfer = prop::option::weighted(0.15, select(&TRANSFERS[..]));
    let key = select(&["", "ACME", "SHOP", "SAM"][..]);
    let filled = prop::option::weighted(0.3, (0..3_usize, days.clone()));
    (0..5_usize, days, amounts, category, key, any_signs(), transfer, filled).prop_map(
        |(account, day, amount_minor, category, key, flags, transfer, filled)| Entry {
            id: TransactionId::from_bytes([0; 16]),
            account,
            on: date_from_days(day),
            amount_minor,
            category,
            key: key.to_owned(),
            flags,
            transfer,
            pays_linked_debt: amount_minor < 0 && amount_minor % 3 == 0,
            pay: filled.map(|(stream, day)| Pay { stream, slot_on: date_from_days(day) }),
            linked_purchase: None,
            comparable_minor: amount_minor,
            whole_minor: None,
        },
    )
}

fn any_stream() -> impl Strategy<Value = PayStream> {
    (select(Frequency::ALL), any::<bool>(), any::<bool>(), 0..LAST).prop_map(
        |(frequency, mature, person, first)| PayStream {
            payer: frequency.as_str().to_owned(),
            frequency,
            mature,
            person,
            slots: slots(
                frequency,
                date_from_days(ZERO + first),
                date_from_days(ZERO + first + 300),
            ),
        },
    )
}

fn ledger_of(as_of: i64, entries: Vec<Entry>, pays: Vec<PayStream>) -> Ledger {
    let mut ledger = book(date_from_days(as_of));
    ledger.pays = pays;
    ledger.entries = entries;
    for (number, entry) in (0_u128..).zip(&mut ledger.entries) {
        entry.id = TransactionId::from_bytes(number.to_be_bytes());
    }
    ledger
}

fn any_ledger() -> impl Strategy<Value = Ledger> {
    let entries = prop::collection::vec(any_entry(ZERO..ZERO + LAST, -500_000..=500_000), 0..60);
    (entries, prop::collection::vec(any_stream(), 3))
        .prop_map(|(entries, pays)| ledger_of(ZERO + LAST, entries, pays))
}

/// The analysis without its results for single entries.
fn result(ledger: &Ledger) -> Income {
    Income { uncounted: Vec::new(), labels: BTreeMap::new(), ..analyze(ledger) }
}

/// A day of the window whose next ten days are in the same month.
fn day_within(ledger: &Ledger, part: usize) -> i64 {
    let spans = Window::of(ledger).spans();
    days_from_date(spans[part * spans.len() / 100].0) + 3
}

fn sum<'a>(parts: impl IntoIterator<Item = &'a Share>) -> i64 {
    parts.into_iter().map(|it| it.amount_minor).sum()
}

proptest! {
    #[test]
    fn everything_adds_up_to_the_cent(ledger in any_ledger()) {
        let income = analyze(&ledger);
        let Variability { min_minor, max_minor, range_minor } = income.variability;
        prop_assert!(min_minor <= income.monthly_income_minor);
        prop_assert!(income.monthly_income_minor <= max_minor);
        prop_assert_eq!(range_minor, max_minor - min_minor);
        prop_assert!(range_minor >= 0);
        prop_assert_eq!(sum(income.expenses.parts.values()), income.expenses.total.amount_minor);
        prop_assert_eq!(sum(income.debt.parts.values()), income.debt.total.amount_minor);
        let values = income.sources.iter().map(|it| it.monthly_minor);
        prop_assert_eq!(values.sum::<i64>(), income.monthly_income_minor);
        let (saved, invested) = (&income.emergency_fund, &income.investments);
        let blocks =
            [income.expenses.total, income.debt.total, saved.net, invested.net, income.unallocated];
        prop_assert_eq!(sum(&blocks), income.monthly_income_minor);
        let difference = |into: Share, out: Share| into.amount_minor - out.amount_minor;
        prop_assert_eq!(difference(saved.deposits, saved.withdrawals), saved.net.amount_minor);
        let contributed = difference(invested.contributions, invested.withdrawals);
        prop_assert_eq!(contributed, invested.net.amount_minor);
    }

    #[test]
    fn each_inflow_has_one_label_and_is_listed_once(ledger in any_ledger()) {
        let income = analyze(&ledger);
        for entry in &ledger.entries {
            let label = income.labels.get(&entry.id);
            let labeled = entry.amount_minor > 0 && ledger.account(entry).is_spent_from();
            prop_assert_eq!(label.is_some(), labeled);
            let is_source = income.sources.iter().any(|it| it.payments.contains(&entry.id));
            let is_uncounted = income.uncounted.iter().any(|it| it.id == entry.id);
            prop_assert!(!(is_source && is_uncounted));
            prop_assert!(!is_source || label.is_some_and(|it| it.is_income()));
        }
    }

    #[test]
    fn the_order_of_entries_does_not_matter(
        (ledger, entries) in any_ledger().prop_flat_map(|it| {
            let entries = Just(it.entries.clone()).prop_shuffle();
            (Just(it), entries)
        })
    ) {
        let shuffled = Ledger { entries, ..ledger.clone() };
        prop_assert_eq!(analyze(&shuffled), analyze(&ledger));
    }

    #[test]
    fn later_entries_change_nothing(
        ledger in any_ledger(),
        later in prop::collection::vec(any_entry(ZERO + LAST + 1..ZERO + 999, -9_999..=9_999), 9),
    ) {
        let mut more = ledger.clone();
        more.entries.extend(later);
        prop_assert_eq!(analyze(&more), analyze(&ledger));
    }

    #[test]
    fn a_transfer_between_own_checking_accounts_changes_nothing(
        ledger in any_ledger(), part in 0..100_usize, minor in 1..500_000_i64, lag in 0..5_i64,
    ) {
        prop_assume!(!ledger.entries.is_empty());
        let mut moved = ledger.clone();
        let other = open(&mut moved, AccountKind::Depository, "checking");
        let day = day_within(&ledger, part);
        for (account, day, minor) in [(CHECKING, day, -minor), (other, day + lag, minor)] {
            enter(&mut moved, account, date_from_days(day), minor, "").transfer =
                Some(TransferKind::Transfer);
        }
        prop_assert_eq!(result(&moved), result(&ledger));
    }

    #[test]
    fn a_purchase_that_was_refunded_changes_nothing(
        ledger in any_ledger(),
        part in 0..100_usize,
        minor in 1..500_000_i64,
        lag in 0..10_i64,
        says_so: bool,
        account in select(&[CHECKING, CARD][..]),
    ) {
        prop_assume!(!ledger.entries.is_empty());
        let mut refunded = ledger.clone();
        let day = day_within(&ledger, part);
        for (day, minor) in [(day, -minor), (day + lag, minor)] {
            let category = if says_so || minor < 0 { "TRAVEL_FLIGHTS" } else { "" };
            let entry =
                enter(&mut refunded, account, date_from_days(day), minor, category);
            entry.key = if says_so { String::new() } else { "AIRLINE".to_owned() };
            entry.flags.refund = says_so && minor > 0;
        }
        prop_assert_eq!(result(&refunded), result(&ledger));
    }

    /// Amounts are rounded to cents after the doubling, so each payer may differ by a cent.
    #[test]
    fn doubling_all_amounts_doubles_income_and_keeps_percents(ledger in any_ledger()) {
        let mut doubled = ledger.clone();
        doubled.entries.iter_mut().for_each(|it| it.amount_minor *= 2);
        let (once, twice) = (analyze(&ledger), analyze(&doubled));
        let cents = 1 + once.sources.len() as i64;
        let off = twice.monthly_income_minor - 2 * once.monthly_income_minor;
        prop_assert!(off.abs() <= cents, "{off}");
        for (label, share) in &once.expenses.parts {
            let off = twice.expenses.parts[label].amount_minor - 2 * share.amount_minor;
            prop_assert!(off.abs() <= 2, "{label} {off}");
            if once.monthly_income_minor > 100_000 && share.amount_minor.abs() < 1_000_000 {
                let tenths = |it: Share| it.percent_tenths.unwrap_or_default();
                let off = tenths(twice.expenses.parts[label]) - tenths(*share);
                prop_assert!(off.abs() <= 1, "{label} {off}");
            }
        }
    }

    /// Four years are 1,461 days, with the same months.
    #[test]
    fn moving_everything_by_four_years_changes_nothing(ledger in any_ledger()) {
        let later = |on: Date| date_from_days(days_from_date(on) + 1_461);
        let mut shifted = ledger.clone();
        shifted.as_of = later(ledger.as_of);
        for entry in &mut shifted.entries {
            entry.on = later(entry.on);
            entry.pay = entry.pay.map(|it| Pay { slot_on: later(it.slot_on), ..it });
        }
        for stream in &mut shifted.pays {
            stream.slots.iter_mut().for_each(|it| *it = later(*it));
        }
        let mut found = analyze(&shifted);
        let expected = analyze(&ledger);
        prop_assert_eq!(found.window.start, later(expected.window.start));
        prop_assert_eq!(found.monthly_income_minor, expected.monthly_income_minor);
        prop_assert_eq!(found.cv, expected.cv);
        prop_assert_eq!(&found.expenses, &expected.expenses);
        found.months.iter_mut().zip(&expected.months).for_each(|(a, b)| a.start = b.start);
        prop_assert_eq!(found.months, expected.months);
    }

    #[test]
    fn nothing_panics_whatever_the_days_and_amounts(
        entries in prop::collection::vec(any_entry(DAYS, i64::MIN..=i64::MAX), 0..20),
        pays in prop::collection::vec(any_stream(), 3),
        as_of in DAYS,
    ) {
        let extremes = [i64::MIN, i64::MAX];
        let mut ledger = ledger_of(as_of, entries, pays);
        for (entry, amount) in ledger.entries.iter_mut().step_by(2).zip(extremes.iter().cycle()) {
            entry.amount_minor = *amount;
            entry.comparable_minor = *amount;
        }
        let income = analyze(&ledger);
        let _ = crate::scores::coverage(&ledger, &income);
        if let Ok(inputs) = crate::scores::inputs(&ledger, &income) {
            prop_assert!((0..=100).contains(&crate::scores::score(&inputs).evenkeel.whole()));
        }
    }
}
