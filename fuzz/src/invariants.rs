//! Invariants of everything that a reader returns.

use std::collections::BTreeSet;

use base::Date;
use base::draft::AccountDraft;
use sources::files::csv::Sheet;
use sources::files::{FileAccount, FileContents, FileQuestion, REJECTED_MAX};

/// The largest amount that `service` accepts: one larger row would make it refuse the whole file.
const MINOR_MAX: u64 = 100_000_000_000_000;
/// Within these years, arithmetic with days cannot overflow a date.
const YEARS: std::ops::RangeInclusive<i16> = 1_900..=2_200;
/// The longest reason: a sentence, not the content of the file.
const REASON_MAX: usize = 600;

pub(crate) fn contents(contents: &FileContents) {
    let rejected = &contents.rejected;
    assert!(rejected.count >= rejected.rows.len(), "fewer rejected rows are counted than listed");
    assert!(rejected.rows.len() <= REJECTED_MAX);
    for row in &rejected.rows {
        assert!(row.line > 0, "{row:?}");
        assert!(!row.reason.is_empty() && row.reason.len() <= REASON_MAX, "{row:?}");
    }
    for question in &contents.questions {
        if let FileQuestion::CardBalance { account } = question {
            assert!(
                *account < contents.accounts.len(),
                "a question about an account that does not exist"
            );
        }
    }
    let mut names = BTreeSet::new();
    for account in contents.accounts.iter().filter(|it| !it.draft.external_id.is_empty()) {
        let name = (&account.bank, &account.draft.external_id);
        assert!(names.insert(name), "two accounts have the id {name:?}");
    }
    contents.accounts.iter().for_each(|it| account(&it.draft));
    let notes = &contents.notes;
    assert!(notes.count >= notes.all.len(), "fewer notes are counted than listed");
    for note in &notes.all {
        assert!(!note.text.is_empty() && note.text.len() <= REASON_MAX, "{note:?}");
    }
    // Rows that are missing are reported, or the rest adds up.
    if rejected.count == 0 && notes.warnings().next().is_none() {
        contents.accounts.iter().for_each(adds_up);
    }
}

/// Asserts that booked rows add up to the change between the balances of the statements.
fn adds_up(account: &FileAccount) {
    let id = &account.draft.external_id;
    let is_proven = proven_sum(account).unwrap_or(true);
    assert!(is_proven, "account {id} does not add up, without a warning: {account:?}");
}

/// Whether booked rows add up to the change between the account's balances; none if it states none.
pub(crate) fn proven_sum(account: &FileAccount) -> Option<bool> {
    let change = account.stated_change_minor?;
    let booked = account.draft.transactions.iter().filter(|it| !it.pending);
    let sum: i128 = booked.map(|it| i128::from(it.amount.minor())).sum();
    Some(sum == i128::from(change))
}

pub(crate) fn account(account: &AccountDraft) {
    let mut ids = BTreeSet::new();
    for row in &account.transactions {
        assert_eq!(row.amount.currency(), account.currency, "{row:?}");
        check_minor(row.amount.minor(), "an amount");
        check_day(row.posted_on);
        row.authorized_on.into_iter().for_each(check_day);
        if let Some(id) = &row.external_id {
            assert!(!id.is_empty(), "an id is empty");
            assert!(ids.insert(id), "two rows have the id {id}");
        }
    }
    if let Some(balance) = &account.balance {
        check_minor(balance.current_minor, "a balance");
        balance.available_minor.into_iter().for_each(|it| check_minor(it, "an available balance"));
        balance.limit_minor.into_iter().for_each(|it| check_minor(it, "a limit"));
    }
    let mut days = BTreeSet::new();
    for past in &account.past_balances {
        check_minor(past.current_minor, "a past balance");
        check_day(past.on);
        assert!(days.insert(past.on), "two balances on {}", past.on);
    }
    for holding in account.holdings.iter().flatten() {
        holding.cost_basis_minor.into_iter().for_each(|it| check_minor(it, "a cost"));
        holding.institution_value_minor.into_iter().for_each(|it| check_minor(it, "a value"));
    }
}

pub(crate) fn sheet(sheet: &Sheet) {
    for column in &sheet.columns {
        assert!(!column.title.is_empty());
    }
    let lines: Vec<usize> = sheet.rows.iter().map(|it| it.line).collect();
    assert!(lines.is_sorted_by(|one, next| one < next), "lines out of order: {lines:?}");
}

fn check_minor(minor: i64, what: &str) {
    assert!(minor.unsigned_abs() <= MINOR_MAX, "{what} of {minor}");
}

fn check_day(day: Date) {
    assert!(YEARS.contains(&day.year()), "a row on {day}");
}
