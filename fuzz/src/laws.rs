//! What is true of everything that was read.

use std::collections::BTreeSet;

use base::Date;
use base::draft::AccountDraft;
use sources::files::csv::Sheet;
use sources::files::{FileContents, FileQuestion, REJECTED_MAX};

/// As `service` refuses more: one such row would keep all others out.
const MINOR_MAX: u64 = 100_000_000_000_000;
/// Within these years arithmetic with days cannot leave what a date can say.
const YEARS: std::ops::RangeInclusive<i16> = 1_900..=2_200;
/// A reason is a sentence, not the file.
const REASON_MAX: usize = 600;

pub(crate) fn reading(reading: &FileContents) {
    let rejected = &reading.rejected;
    assert!(rejected.count >= rejected.rows.len(), "fewer are counted than listed");
    assert!(rejected.rows.len() <= REJECTED_MAX);
    for row in &rejected.rows {
        assert!(row.line > 0, "{row:?}");
        assert!(!row.reason.is_empty() && row.reason.len() <= REASON_MAX, "{row:?}");
    }
    for doubt in &reading.questions {
        if let FileQuestion::CardBalance { account } = doubt {
            assert!(*account < reading.accounts.len(), "a doubt about no account");
        }
    }
    let mut names = BTreeSet::new();
    for account in reading.accounts.iter().filter(|it| !it.draft.external_id.is_empty()) {
        let name = (&account.bank, &account.draft.external_id);
        assert!(names.insert(name), "two accounts are called {name:?}");
    }
    reading.accounts.iter().for_each(|it| account(&it.draft));
}

pub(crate) fn account(account: &AccountDraft) {
    let mut ids = BTreeSet::new();
    for row in &account.transactions {
        assert_eq!(row.amount.currency(), account.currency, "{row:?}");
        minor(row.amount.minor(), "an amount");
        day(row.posted_on);
        row.authorized_on.into_iter().for_each(day);
        if let Some(id) = &row.external_id {
            assert!(!id.is_empty(), "an empty id");
            assert!(ids.insert(id), "two rows are called {id}");
        }
    }
    if let Some(balance) = &account.balance {
        minor(balance.current_minor, "a balance");
        balance.available_minor.into_iter().for_each(|it| minor(it, "what is available"));
        balance.limit_minor.into_iter().for_each(|it| minor(it, "a limit"));
    }
    let mut days = BTreeSet::new();
    for past in &account.past_balances {
        minor(past.current_minor, "a past balance");
        day(past.on);
        assert!(days.insert(past.on), "two balances on {}", past.on);
    }
    for holding in account.holdings.iter().flatten() {
        holding.cost_basis_minor.into_iter().for_each(|it| minor(it, "a cost"));
        holding.institution_value_minor.into_iter().for_each(|it| minor(it, "a value"));
    }
}

pub(crate) fn sheet(sheet: &Sheet) {
    for column in &sheet.columns {
        assert!(!column.title.is_empty());
    }
    let lines: Vec<usize> = sheet.rows.iter().map(|it| it.line).collect();
    assert!(lines.is_sorted_by(|one, next| one < next), "lines out of order: {lines:?}");
}

fn minor(minor: i64, what: &str) {
    assert!(minor.unsigned_abs() <= MINOR_MAX, "{what} of {minor}");
}

fn day(day: Date) {
    assert!(YEARS.contains(&day.year()), "a row on {day}");
}
