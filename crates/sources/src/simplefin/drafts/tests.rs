//! Tests of how SimpleFIN accounts become drafts.

use std::collections::BTreeMap;

use base::draft::{AccountDraft, AccountKind};
use base::{Currency, Money, Timestamp};

use super::{AccountChoice, OwedSign, drafts, mask};
use crate::simplefin::{Account, AccountSet, Notice, NoticeKind, Transaction};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn account() -> Account {
    Account {
        id: "A".to_owned(),
        external_id: "A".to_owned(),
        connection: Some("C".to_owned()),
        name: "Everyday (1234)".to_owned(),
        institution: None,
        currency: Currency::USD,
        balance: Some(Money::new(-500, Currency::USD)),
        available: None,
        balance_at: Some(at("2026-03-09T08:00:00Z")),
        transactions: Vec::new(),
        holdings: None,
    }
}

fn row(id: &str, posted: &str, minor: i64, description: &str) -> Transaction {
    Transaction {
        id: id.to_owned(),
        pending: false,
        posted_at: Some(at(&format!("{posted}T23:30:00Z"))),
        transacted_at: None,
        amount: Money::new(minor, Currency::USD),
        description: description.to_owned(),
        payee: None,
        memo: None,
        mcc: None,
    }
}

fn draft(account: Account, kind: AccountKind, owed: OwedSign) -> AccountDraft {
    draft_from_set(AccountSet { accounts: vec![account], ..AccountSet::default() }, kind, owed)
}

fn draft_from_set(set: AccountSet, kind: AccountKind, owed: OwedSign) -> AccountDraft {
    let choice = AccountChoice { kind, subtype: None, owed };
    let choices = BTreeMap::from([("A".to_owned(), choice)]);
    drafts(&set, &choices, at("2026-03-10T12:00:00Z")).remove(0)
}

#[test]
fn a_balance_is_the_amount_owned_or_owed() {
    use AccountKind::{Credit, Depository, Loan};
    for (kind, owed, raw, current) in [
        (Depository, OwedSign::Negative, -500, -500),
        (Depository, OwedSign::Positive, 500, 500),
        (Credit, OwedSign::Negative, -500, 500),
        (Credit, OwedSign::Negative, 20, -20),
        (Credit, OwedSign::Positive, 500, 500),
        (Loan, OwedSign::Positive, 500, 500),
        (Loan, OwedSign::Negative, -500, 500),
    ] {
        let balance = Some(Money::new(raw, Currency::USD));
        let draft = draft(Account { balance, ..account() }, kind, owed);
        assert_eq!(draft.balance.unwrap().current_minor, current, "{kind:?} {owed:?} {raw}");
    }
}

#[test]
fn only_a_missing_balance_is_replaced_by_the_available_one() {
    let some = |minor| Some(Money::new(minor, Currency::USD));
    let zero = Account { balance: some(0), available: some(900), ..account() };
    let balance = draft(zero, AccountKind::Credit, OwedSign::Negative).balance.unwrap();
    assert_eq!((balance.current_minor, balance.available_minor), (0, Some(900)));
    let missing = Account { balance: None, available: some(900), ..account() };
    let balance = draft(missing, AccountKind::Depository, OwedSign::Negative).balance.unwrap();
    assert_eq!((balance.current_minor, balance.available_minor), (900, None));
    let none = Account { balance: None, ..account() };
    assert!(draft(none, AccountKind::Depository, OwedSign::Negative).balance.is_none());
}

#[test]
fn a_balance_is_never_from_the_future() {
    let fetched_at = at("2026-03-10T12:00:00Z");
    for (balance_at, as_of) in [
        (Some(at("2026-03-09T08:00:00Z")), at("2026-03-09T08:00:00Z")),
        (Some(at("2026-03-11T08:00:00Z")), fetched_at),
        (None, fetched_at),
    ] {
        let draft =
            draft(Account { balance_at, ..account() }, AccountKind::Depository, OwedSign::Negative);
        assert_eq!(draft.balance.unwrap().as_of, as_of);
    }
}

#[test]
fn rows_with_one_id_are_one_row_unless_they_differ() {
    let mut pending = row("same", "2026-03-01", -900, "CAFE");
    pending.pending = true;
    let transactions = vec![
        pending,
        row("same", "2026-03-05", -1_100, "CAFE"),
        row("same", "2026-03-03", -1_000, "CAFE"),
        row("same", "2026-03-03", -1_000, "CAFE"),
        row("same", "2026-03-05", -1_100, "OTHER"),
        row("alone", "2026-03-04", 5, "X"),
    ];
    let draft = draft(
        Account { transactions: transactions.clone(), ..account() },
        AccountKind::Depository,
        OwedSign::Negative,
    );
    let ids: Vec<&str> =
        draft.transactions.iter().map(|it| it.external_id.as_deref().unwrap()).collect();
    assert_eq!(ids, ["same", "alone", "same#2026-03-05:-1100", "same#2026-03-05:-1100#2"]);
    let reversed = transactions.into_iter().rev().collect();
    let again = self::draft(
        Account { transactions: reversed, ..account() },
        AccountKind::Depository,
        OwedSign::Negative,
    );
    assert_eq!(again.transactions, draft.transactions);
}

#[test]
fn dates_are_in_utc() {
    let mut booked = row("b", "2026-03-05", -1, "SHOP");
    booked.transacted_at = Some(at("2026-03-03T00:30:00Z"));
    booked.memo = Some("Ref 9".to_owned());
    booked.payee = Some("Shop".to_owned());
    let mut open = row("o", "2026-03-05", -1, "SHOP");
    open.pending = true;
    open.posted_at = None;
    open.transacted_at = Some(at("2026-03-06T00:30:00Z"));
    let account = Account { transactions: vec![booked, open], ..account() };
    let draft = draft(account, AccountKind::Credit, OwedSign::Negative);
    let [booked, open] = &draft.transactions[..] else { panic!("expected two rows") };
    assert_eq!(booked.posted_on.to_string(), "2026-03-05");
    assert_eq!(booked.authorized_on.unwrap().to_string(), "2026-03-03");
    assert_eq!(booked.description, "SHOP Ref 9");
    assert_eq!(booked.counterparty.as_deref(), Some("Shop"));
    assert_eq!((open.pending, open.posted_on.to_string().as_str()), (true, "2026-03-06"));
}

#[test]
fn empty_positions_are_ignored_if_the_institution_reports_an_error() {
    let notice = |account: Option<&str>, kind| Notice {
        code: None,
        text: String::new(),
        connection: Some("C".to_owned()),
        account: account.map(str::to_owned),
        kind,
    };
    for (notices, expected) in [
        (vec![], Some(0)),
        (vec![notice(None, NoticeKind::Reauthenticate)], None),
        (vec![notice(Some("A"), NoticeKind::Retry)], None),
        (vec![notice(Some("B"), NoticeKind::Retry)], Some(0)),
        (vec![notice(None, NoticeKind::Other)], Some(0)),
    ] {
        let accounts = vec![Account { holdings: Some(vec![]), ..account() }];
        let set = AccountSet { accounts, notices, ..AccountSet::default() };
        let draft = draft_from_set(set, AccountKind::Investment, OwedSign::Negative);
        assert_eq!(draft.holdings.map(|it| it.len()), expected);
    }
}

#[test]
fn only_chosen_accounts_are_drafted() {
    let set = AccountSet { accounts: vec![account()], ..AccountSet::default() };
    assert!(drafts(&set, &BTreeMap::new(), at("2026-03-10T12:00:00Z")).is_empty());
}

#[test]
fn four_digits_at_the_end_of_a_name_are_its_mask() {
    for (name, expected) in [
        ("Everyday (1234)", Some("1234")),
        ("Visa ...5678", Some("5678")),
        ("Card x9012", Some("9012")),
        ("Savings 12345", None),
        ("Plan401", None),
        ("Series1999", None),
        ("", None),
    ] {
        assert_eq!(mask(name).as_deref(), expected, "{name}");
    }
}
