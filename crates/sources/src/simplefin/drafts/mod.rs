//! Converts a SimpleFIN response into account drafts, by the person's choices for each account.

use std::collections::{BTreeMap, BTreeSet};

use base::draft::{AccountDraft, AccountKind, BalanceDraft, TransactionDraft};
use base::{Date, Timestamp, date_from_days};

use super::{Account, AccountSet, NoticeKind, Transaction};
use crate::provider::{AccountChoice, OwedSign};
use crate::unique_ids::deduplicate_ids;

/// Drafts of the chosen accounts, by `Account::external_id`; `at` is the time of the request.
pub fn drafts(
    set: &AccountSet,
    choices: &BTreeMap<String, AccountChoice>,
    at: Timestamp,
) -> Vec<AccountDraft> {
    let chosen = set.accounts.iter().filter_map(|it| Some((it, choices.get(&it.external_id)?)));
    chosen.map(|(account, choice)| draft(set, account, choice, at)).collect()
}

fn draft(
    set: &AccountSet,
    account: &Account,
    choice: &AccountChoice,
    at: Timestamp,
) -> AccountDraft {
    // An institution that did not respond may look as if it had no positions anymore.
    let in_doubt = set.notices.iter().any(|it| {
        let is_own = it.account.as_ref().is_some_and(|id| *id == account.id)
            || it.account.is_none()
                && it.connection.is_some()
                && it.connection == account.connection;
        is_own && matches!(it.kind, NoticeKind::Retry | NoticeKind::Reauthenticate)
    });
    let holdings = account.holdings.as_ref().filter(|it| !in_doubt || !it.is_empty());
    let holdings = holdings.filter(|_| choice.kind == AccountKind::Investment).map(|it| {
        let institution = account.institution.as_deref();
        it.iter().filter_map(|it| it.draft(institution, account.currency, at)).collect()
    });
    AccountDraft {
        mask: mask(&account.name),
        subtype: choice.subtype.clone(),
        institution_name: account.institution.clone(),
        balance: balance(account, choice, at),
        transactions: transactions(account),
        holdings,
        ..AccountDraft::new(
            account.external_id.clone(),
            account.name.clone(),
            choice.kind,
            account.currency,
        )
    }
}

/// The last digits that many account names end with: `Everyday Checking (1234)`, `Visa ...5678`.
fn mask(name: &str) -> Option<String> {
    let name = name.trim_end_matches([')', ']', ' ']);
    let digits = name.len() - name.trim_end_matches(|it: char| it.is_ascii_digit()).len();
    let (before, digits) = name.split_at(name.len() - digits);
    let is_apart = before.ends_with(['(', '[', ' ', '.', '*', '-', '#', 'x', 'X']);
    (digits.len() == 4 && is_apart).then(|| digits.to_owned())
}

fn balance(account: &Account, choice: &AccountChoice, at: Timestamp) -> Option<BalanceDraft> {
    // An explicit zero is a balance; the available balance only replaces a missing one.
    let raw = account.balance.or(account.available)?.minor();
    let current_minor = match (choice.kind.is_debt(), choice.owed) {
        (true, OwedSign::Negative) => raw.checked_neg()?,
        (true, OwedSign::Positive) | (false, _) => raw,
    };
    let available = account.available.filter(|_| account.balance.is_some()).map(|it| it.minor());
    let available_minor = match choice.kind {
        AccountKind::Loan => None,
        // The available credit; a value that repeats the balance is not one.
        AccountKind::Credit => available.filter(|it| *it >= 0 && *it != raw),
        _ => available,
    };
    let as_of = account.balance_at.unwrap_or(at).min(at);
    Some(BalanceDraft { as_of, current_minor, available_minor, limit_minor: None })
}

fn day(at: Timestamp) -> Date {
    date_from_days(at.as_second().div_euclid(86_400))
}

/// The transactions in date order, without duplicates. A posted row replaces the pending one with its id.
fn transactions(account: &Account) -> Vec<TransactionDraft> {
    let rows = &account.transactions;
    let posted: BTreeSet<&str> =
        rows.iter().filter(|it| !it.pending).map(|it| it.id.as_str()).collect();
    let current = rows.iter().filter(|it| !it.pending || !posted.contains(it.id.as_str()));
    let mut drafts: Vec<TransactionDraft> = current.filter_map(transaction_draft).collect();
    deduplicate_ids(&mut drafts);
    drafts.sort_by(|a, b| (a.posted_on, &a.external_id).cmp(&(b.posted_on, &b.external_id)));
    drafts
}

fn transaction_draft(it: &Transaction) -> Option<TransactionDraft> {
    let (posted, transacted) = (it.posted_at.map(day), it.transacted_at.map(day));
    let posted_on = match it.pending {
        true => transacted.or(posted),
        false => posted.or(transacted),
    };
    let memo = it.memo.as_deref().filter(|memo| *memo != it.description);
    let description = match memo {
        Some(memo) if !it.description.contains(memo) => format!("{} {memo}", it.description),
        _ => it.description.clone(),
    };
    Some(TransactionDraft {
        external_id: Some(it.id.clone()),
        pending: it.pending,
        settles: None,
        posted_on: posted_on?,
        authorized_on: transacted,
        amount: it.amount,
        description: description.trim().to_owned(),
        counterparty: it.payee.clone(),
        counterparty_logo_url: None,
        category: None,
    })
}

#[cfg(test)]
mod tests;
