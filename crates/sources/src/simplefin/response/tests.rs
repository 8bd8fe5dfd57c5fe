//! Tests of how answers of a SimpleFIN server are read, hostile ones included.

use proptest::prelude::*;

use super::read;
use crate::simplefin::{AccountSet, NoticeKind, SimplefinError};

fn set(json: &str) -> AccountSet {
    read(json.as_bytes()).unwrap()
}

const VERSION_ONE: &str = r#"{
    "errors": ["Connection to First Bank may need attention"],
    "accounts": [{
        "org": {"domain": "first.example", "name": "First Bank", "sfin-url": "https://x.example", "id": "INST-1"},
        "id": "ACT-1", "name": "Everyday Checking", "currency": "USD",
        "balance": "100.23", "available-balance": "75.23", "balance-date": 1700000000,
        "transactions": [
            {"id": "T1", "posted": 1700000000, "amount": "-33.20", "description": "GROCER", "payee": "Grocer"},
            {"id": "T2", "posted": 0, "transacted_at": 1700000500, "amount": "-4.50", "description": "COFFEE"},
            {"id": "T3", "posted": "0", "amount": "-4.50", "description": "NO DATE"},
            {"id": "T4", "posted": 1700000000, "amount": "-4.505", "description": "TOO FINE"},
            {"id": "T5", "posted": 1700000000, "description": "NO AMOUNT"},
            {"id": "T6", "posted": 1700000000, "amount": "1", "currency": "EUR", "description": "ABROAD"},
            {"id": 7, "transacted_at": "1700000000", "amount": 12, "pending": false},
            null
        ],
        "extra": {"account-open-date": 978360153}
    }]
}"#;

#[test]
fn version_one_is_read_and_its_invalid_rows_are_reported() {
    let set = set(VERSION_ONE);
    assert_eq!(set.connections.len(), 1);
    assert_eq!(set.connections[0].id, "INST-1");
    let account = &set.accounts[0];
    assert_eq!(account.external_id, "ACT-1");
    assert_eq!(account.institution.as_deref(), Some("First Bank"));
    assert_eq!(account.available.unwrap().minor(), 7_523);
    let rows: Vec<(&str, bool, i64)> = account
        .transactions
        .iter()
        .map(|it| (it.id.as_str(), it.pending, it.amount.minor()))
        .collect();
    assert_eq!(rows, [("T1", false, -3_320), ("T2", true, -450), ("7", false, 1_200)]);
    assert_eq!(
        set.rejected,
        [
            "Everyday Checking: transaction T3 has no date.",
            "Everyday Checking: the amount of transaction T4 is \"-4.505\", but it must be a \
             number such as -12.34, with at most 2 decimals in USD.",
            "Everyday Checking: the amount of transaction T5 is missing.",
            "Everyday Checking: the amount of transaction T6 is in EUR, but the account is in USD.",
            "Everyday Checking: a transaction is left out, it is no JSON object.",
        ]
    );
    let notice = &set.notices[0];
    assert_eq!(notice.kind, NoticeKind::Reauthenticate);
    assert_eq!(notice.connection.as_deref(), Some("INST-1"));
}

#[test]
fn version_two_groups_accounts_by_connection() {
    let set = set(r#"{
        "errlist": [
            {"code": "con.auth", "msg": "Sign in <b>again</b>", "conn_id": "CON-2"},
            {"code": "act.failed", "message": "Later", "conn_id": "CON-1", "account_id": "one"},
            {"code": "gen.", "msg": "Hello"}, 5, null
        ],
        "errors": ["Hello", "Please make fewer requests"],
        "connections": [
            {"conn_id": "CON-1", "name": "Bank (Kim)", "org_name": "Bank"},
            {"conn_id": "CON-2", "name": "Bank (Lee)"}
        ],
        "accounts": [
            {"conn_id": "CON-1", "id": "one", "name": "A", "currency": "USD", "balance": 5},
            {"conn_id": "CON-2", "id": "one", "name": "B", "currency": "eur", "balance": "-5"},
            {"conn_id": "CON-3", "id": "ACT-9", "name": "C", "currency": "JPY", "balance": "5"},
            {"conn_id": "CON-1", "id": "one", "name": "Again", "currency": "USD", "balance": "5"}
        ]
    }"#);
    let accounts: Vec<(&str, Option<&str>)> = set
        .accounts
        .iter()
        .map(|it| (it.external_id.as_str(), it.institution.as_deref()))
        .collect();
    assert_eq!(
        accounts,
        [("CON-1/one", Some("Bank")), ("CON-2/one", Some("Bank (Lee)")), ("ACT-9", Some("CON-3")),]
    );
    assert_eq!(set.rejected, ["Again: the account is in the answer twice."]);
    let notices: Vec<(&str, NoticeKind)> =
        set.notices.iter().map(|it| (it.text.as_str(), it.kind)).collect();
    assert_eq!(
        notices,
        [
            ("Sign in again", NoticeKind::Reauthenticate),
            ("Later", NoticeKind::Retry),
            ("Hello", NoticeKind::Other),
            ("Please make fewer requests", NoticeKind::TooManyRequests),
        ]
    );
}

#[test]
fn an_account_without_a_known_currency_is_unsupported_with_a_reason() {
    let set = set(r#"{"accounts": [
        {"id": "a", "name": "Miles", "currency": "https://air.example/miles", "balance": "9"},
        {"id": "b", "name": "Odd", "currency": "DOUBLOON", "balance": "9"},
        {"id": "c", "name": "None", "balance": "9"}, {"name": "No id"}, []
    ]}"#);
    assert!(set.accounts.is_empty());
    let reasons: Vec<&str> = set.unsupported.iter().map(|it| it.reason.as_str()).collect();
    assert!(reasons[0].contains("points or miles"), "{reasons:?}");
    assert!(reasons[1].contains("DOUBLOON"), "{reasons:?}");
    assert!(reasons[2].contains("no currency"), "{reasons:?}");
    assert_eq!(set.rejected.len(), 2);
}

#[test]
fn anything_but_an_account_set_is_an_invalid_response() {
    for body in ["", "<html></html>", "[]", "{}", "null", "{\"accounts\": 5}", "\"Forbidden\""] {
        assert!(matches!(read(body.as_bytes()), Err(SimplefinError::InvalidResponse(_))), "{body}");
    }
    let deep = format!("{{\"accounts\":{}", "[".repeat(1_000_000));
    assert!(read(deep.as_bytes()).is_err());
    let gone = r#"{"errlist": [{"code": "gen.auth", "msg": "No"}], "accounts": []}"#;
    assert_eq!(read(gone.as_bytes()).unwrap_err(), SimplefinError::Revoked);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
    }

    #[test]
    fn mutated_responses_never_panic(at in 0..VERSION_ONE.len(), byte: u8, cut in 0..VERSION_ONE.len()) {
        let mut bytes = VERSION_ONE.as_bytes().to_vec();
        bytes[at] = byte;
        let _ = read(&bytes);
        let _ = read(&bytes[..cut]);
    }
}
