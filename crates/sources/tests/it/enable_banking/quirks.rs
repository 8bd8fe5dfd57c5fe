//! What real banks do differently.

use serde_json::json;
use sources::provider::{AccountProblem, ErrorKind, Presence};
use testkit::enable_banking::{Fault, PendingList, Quirks, entry, pending, with};

use super::{Consent, drafts, texts};

fn presence() -> Presence {
    Presence { address: "192.0.2.7".to_owned(), user_agent: "Evenkeel".to_owned() }
}

#[tokio::test]
async fn signs_texts_and_the_booked_balance_are_read() {
    let consent = Consent::new().await;
    let response = consent.sync(None).await;
    assert_eq!(texts(&response), ["ALT", "Miete", "GEHALT"]);
    let giro = &drafts(&response)[0];
    let amounts: Vec<i64> = giro.transactions.iter().map(|it| it.amount.minor()).collect();
    assert_eq!(amounts, [-1_000, -70_000, 250_000]);
    let names: Vec<_> = giro.transactions.iter().map(|it| it.counterparty.as_deref()).collect();
    assert_eq!(names, [Some("Shop"), Some("Shop"), Some("Employer")]);
    assert_eq!(giro.balance.unwrap().current_minor, -2_050, "not the one with the overdraft");
    assert_eq!(giro.mask.as_deref(), Some("3000"));
}

#[tokio::test]
async fn the_whole_history_is_read_first_and_only_the_last_days_later() {
    let consent = Consent::new().await;
    let first = consent.sync(None).await;
    let second = consent.sync(first.state.as_deref()).await;
    assert_eq!(texts(&second), ["Miete", "GEHALT"]);
    let asked: Vec<String> = consent
        .server
        .requests()
        .into_iter()
        .filter(|it| it.path.contains("/transactions") && it.path.contains("giro"))
        .filter(|it| !it.path.contains("PDNG"))
        .map(|it| it.path.split("date_from=").nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(asked, ["2024-03-10", "2026-02-24"]);
}

#[tokio::test]
async fn a_bank_that_refuses_the_period_is_asked_for_a_shorter_one() {
    for (days, says_it, expected) in [
        (700, true, 3),
        (400, false, 2),
        (120, true, 2),
        (120, false, 2),
        (70, false, 2),
        (40, false, 2),
    ] {
        let consent = Consent::new().await;
        let days_max = Some((days, says_it));
        consent.server.set_quirks(Quirks { days_max, ..Quirks::default() });
        let response = consent.sync(None).await;
        assert_eq!(texts(&response).len(), expected, "{days} {says_it}");
        assert!(response.account_notices.is_empty());
    }
    let consent = Consent::new().await;
    consent.server.set_quirks(Quirks { days_max: Some((5, false)), ..Quirks::default() });
    assert!(consent.try_sync(None, None).await.is_err(), "no period is short enough");
}

#[tokio::test]
async fn pages_are_followed_and_a_refused_key_keeps_what_came_before() {
    let consent = Consent::new().await;
    consent.server.set_quirks(Quirks { page: 2, ..Quirks::default() });
    let response = consent.sync(None).await;
    assert_eq!(texts(&response).len(), 3);
    assert!(response.account_notices.is_empty());
    let refuses = Quirks { page: 2, refuses_continuation: true, ..Quirks::default() };
    consent.server.set_quirks(refuses);
    let response = consent.sync(None).await;
    assert_eq!(texts(&response).len(), 2);
    assert_eq!(response.account_notices[0].problem, AccountProblem::Incomplete);
    // The next sync asks for the whole period again.
    let lists_objects = Quirks { lists_objects: true, ..Quirks::default() };
    consent.server.set_quirks(lists_objects);
    assert_eq!(texts(&consent.sync(response.state.as_deref()).await).len(), 3);
}

#[tokio::test]
async fn repeated_rows_and_rows_without_ids_or_dates_are_handled() {
    let consent = Consent::new().await;
    let row = || entry("b9", "2026-03-05", "5.00", "DBIT", "KAFFEE");
    let no_ids = json!({ "entry_reference": null, "transaction_id": null });
    let no_dates = json!({ "booking_date": null, "value_date": null, "transaction_id": "b10" });
    consent.server.update("hash-giro", |it| {
        it.transactions = vec![
            row(),
            with(row(), json!({ "entry_reference": "another" })),
            with(row(), no_ids.clone()),
            with(row(), no_ids),
            with(row(), no_dates),
            with(row(), json!({ "transaction_id": "b9", "remittance_information": ["ANDERS"] })),
            with(row(), json!({ "transaction_id": null, "status": "PDNG" })),
            with(row(), json!({ "transaction_id": "c1", "status": "CNCL" })),
            json!({ "transaction_id": "c2", "remittance_information": "not a list" }),
        ];
    });
    let response = consent.sync(None).await;
    assert_eq!(response.rejected, 3, "without a date, canceled, and unreadable");
    let giro = &drafts(&response)[0];
    let ids: Vec<_> = giro.transactions.iter().map(|it| it.external_id.is_some()).collect();
    assert_eq!(ids.iter().filter(|it| !**it).count(), 2, "two purchases that look alike are two");
    assert_eq!(ids.len(), 5, "{:?}", giro.transactions);
    assert_eq!(giro.transactions.iter().filter(|it| it.pending).count(), 1);
}

#[tokio::test]
async fn one_account_that_fails_does_not_end_the_connection() {
    let consent = Consent::new().await;
    for (status, problem) in [
        (401, AccountProblem::SignIn),
        (404, AccountProblem::Unlisted),
        (500, AccountProblem::Incomplete),
    ] {
        let broken_account = Some(("hash-joint".to_owned(), status));
        let quirks = Quirks { broken_account, balances_fail: true, ..Quirks::default() };
        consent.server.set_quirks(quirks);
        let response = consent.sync(None).await;
        assert_eq!(texts(&response).len(), 3);
        assert_eq!(drafts(&response)[0].balance, None);
        let notice = &response.account_notices[0];
        assert_eq!((notice.account.as_deref(), notice.problem), (Some("hash-joint"), problem));
    }
}

#[tokio::test]
async fn a_bank_that_fails_as_a_whole_is_asked_again_later() {
    let consent = Consent::new().await;
    consent.server.fail_next("/transactions", Fault::Cut);
    let error = consent.try_sync(None, None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Temporary);
    assert_eq!(consent.server.count("/transactions"), 1, "the other account is not waited for");
    let needs_presence = Quirks { needs_presence: true, ..Quirks::default() };
    consent.server.set_quirks(needs_presence);
    let error = consent.try_sync(None, None).await.unwrap_err();
    assert!(error.message.contains("Select Sync now"), "{error}");
    let response = consent.try_sync(None, Some(presence())).await.unwrap();
    assert_eq!(texts(&response).len(), 3);
    // Too much without the person: not before tomorrow.
    consent.server.set_quirks(Quirks::default());
    for _ in 0..4 {
        consent.sync(None).await;
    }
    let error = consent.try_sync(None, None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::RateLimited);
    consent.try_sync(None, Some(presence())).await.unwrap();
}

#[tokio::test]
async fn pending_transactions_are_asked_for_where_the_bank_lists_them_alone() {
    let consent = Consent::new().await;
    let rows = vec![pending("p1", "2026-03-09", "5.00", "KAFFEE")];
    consent.server.update("hash-giro", |it| it.transactions = rows);
    for (list, expected, requests) in [
        (PendingList::WithBooked, 1, 0),
        (PendingList::Separate, 1, 2),
        (PendingList::Refused(422), 0, 1),
        (PendingList::Refused(400), 0, 1),
    ] {
        consent.server.set_quirks(Quirks { pending: list, ..Quirks::default() });
        let before = consent.server.count("PDNG");
        let first = consent.try_sync(None, Some(presence())).await.unwrap();
        let again = consent.try_sync(first.state.as_deref(), Some(presence())).await.unwrap();
        for response in [first, again] {
            assert_eq!(texts(&response).len(), expected, "{list:?}");
            assert!(response.account_notices.is_empty(), "{list:?}");
        }
        // The joint account has none, so it is asked each time unless the bank refuses.
        let joint = if matches!(list, PendingList::Refused(_)) { 1 } else { 2 };
        assert_eq!(consent.server.count("PDNG") - before, requests + joint, "{list:?}");
    }
}

#[tokio::test]
async fn a_booked_transaction_settles_the_pending_one_with_its_reference() {
    let consent = Consent::new().await;
    let set = |row| consent.server.update("hash-giro", |it| it.transactions = vec![row]);
    set(pending("p1", "2026-03-09", "5.00", "KAFFEE"));
    let first = consent.sync(None).await;
    let before = drafts(&first)[0].transactions[0].external_id.clone();
    assert_eq!(before.as_deref(), Some("pending:ref-p1"));
    let twin = entry("t9", "2026-03-10", "5.40", "DBIT", "Kaffee mit Trinkgeld");
    set(with(twin.clone(), json!({ "entry_reference": "ref-p1" })));
    let booked = consent.sync(first.state.as_deref()).await;
    assert_eq!(drafts(&booked)[0].transactions[0].settles, before);
    // Once it is settled, it names no other.
    let later = consent.sync(booked.state.as_deref()).await;
    assert_eq!(drafts(&later)[0].transactions[0].settles, None);
    let id = |it| drafts(it)[0].transactions[0].external_id.clone();
    assert_eq!(id(&later), id(&booked));
}

#[tokio::test]
async fn pending_purchases_without_ids_that_look_alike_stay_several() {
    let consent = Consent::new().await;
    let nameless = json!({ "entry_reference": null });
    let row = || with(pending("p1", "2026-03-09", "5.00", "KAFFEE"), nameless.clone());
    consent.server.update("hash-giro", |it| it.transactions = vec![row(), row()]);
    let ids = |it| -> Vec<_> {
        drafts(it)[0].transactions.iter().map(|it| it.external_id.clone().unwrap()).collect()
    };
    let first = consent.sync(None).await;
    assert_eq!(ids(&first).len(), 2);
    assert_eq!(ids(&consent.sync(None).await), ids(&first));
}

#[tokio::test]
async fn a_bank_is_told_of_the_person_only_if_the_person_is_there() {
    let consent = Consent::new().await;
    consent.sync(None).await;
    assert!(consent.server.requests().iter().all(|it| !it.has_presence));
    consent.try_sync(None, Some(presence())).await.unwrap();
    let asked = consent.server.requests();
    assert!(asked.iter().rev().take(2).all(|it| it.has_presence));
    // A bank that ignores the first day changes nothing.
    consent.server.set_quirks(Quirks { ignores_date_from: true, ..Quirks::default() });
    let all = consent.sync(None).await;
    assert_eq!(texts(&consent.sync(all.state.as_deref()).await).len(), 3);
}
