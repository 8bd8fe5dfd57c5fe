//! Cursors: every page is read, changes during reading start it over, and nothing is asked twice.

use super::{CHECKING, Login, drafts, ids, row};
use sources::provider::ErrorKind;
use testkit::plaid::Fault;

const SYNC: &str = "/transactions/sync";

#[tokio::test]
async fn all_pages_are_read_and_the_cursor_continues_after_them() {
    let login = Login::new().await;
    (0..1_201).for_each(|it| login.server.add(&login.item, row(it)));
    let first = login.sync(None, &[CHECKING]).await;
    assert_eq!((ids(&first).len(), login.server.count(SYNC)), (1_201, 3));
    assert_eq!(first.again_in_seconds, None);
    login.server.add(&login.item, row(9_000));
    login.server.remove(&login.item, "t00003", CHECKING);
    let second = login.sync(first.state.as_deref(), &[CHECKING]).await;
    assert_eq!((ids(&second), login.server.count(SYNC)), (vec!["t09000".to_owned()], 4));
    assert_eq!(drafts(&second)[0].removed, ["t00003"]);
    let third = login.sync(second.state.as_deref(), &[CHECKING]).await;
    assert!(ids(&third).is_empty() && drafts(&third)[0].removed.is_empty());
}

#[tokio::test]
async fn a_change_while_pages_are_read_starts_over_from_the_first_cursor() {
    let login = Login::new().await;
    (0..600).for_each(|it| login.server.add(&login.item, row(it)));
    login.server.add_during_pagination(&login.item, row(9_000));
    let response = login.sync(None, &[CHECKING]).await;
    assert_eq!(ids(&response).len(), 601);
    let cursors: Vec<bool> = login
        .server
        .requests()
        .iter()
        .filter(|it| it.path == SYNC)
        .map(|it| it.body.get("cursor").is_some())
        .collect();
    assert_eq!(cursors, [false, true, false, true]);
}

#[tokio::test]
async fn data_that_never_stops_changing_is_left_for_later() {
    let login = Login::new().await;
    let code = "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION";
    for _ in 0..4 {
        login.server.fail_next(SYNC, Fault::Error(400, "TRANSACTIONS_ERROR", code));
    }
    let error = login.try_sync(None, &[CHECKING]).await.unwrap_err();
    assert_eq!((error.kind, login.server.count(SYNC)), (ErrorKind::Temporary, 4));
}

#[tokio::test]
async fn while_the_history_is_fetched_the_next_sync_follows_soon() {
    let login = Login::new().await;
    login.server.set_status(&login.item, "NOT_READY");
    let mut state = None;
    let mut waits = Vec::new();
    for _ in 0..5 {
        let response = login.sync(state.as_deref(), &[CHECKING]).await;
        waits.push(response.again_in_seconds);
        state = response.state;
    }
    assert_eq!(waits, [Some(10), Some(60), Some(300), Some(1_800), None]);
    login.server.add(&login.item, row(1));
    login.server.set_status(&login.item, "INITIAL_UPDATE_COMPLETE");
    let response = login.sync(state.as_deref(), &[CHECKING]).await;
    assert_eq!(ids(&response), ["t00001"]);
    login.server.set_status(&login.item, "HISTORICAL_UPDATE_COMPLETE");
    let response = login.sync(response.state.as_deref(), &[CHECKING]).await;
    assert!(ids(&response).is_empty());
    // A login that was complete once starts over with short waits if it ever is not.
    login.server.set_status(&login.item, "INITIAL_UPDATE_COMPLETE");
    let response = login.sync(response.state.as_deref(), &[CHECKING]).await;
    assert_eq!(response.again_in_seconds, Some(10));
}

#[tokio::test]
async fn a_transaction_that_is_added_and_removed_in_one_update_does_not_appear() {
    let login = Login::new().await;
    let first = login.sync(None, &[CHECKING]).await;
    let first = first.state.as_deref();
    (0..600).for_each(|it| login.server.add(&login.item, row(it)));
    login.server.remove(&login.item, "t00001", CHECKING);
    let mut changed = row(2);
    changed["amount"] = 7.into();
    login.server.modify(&login.item, changed);
    let response = login.sync(first, &[CHECKING]).await;
    let rows = ids(&response);
    assert_eq!(rows.len(), 599);
    assert!(!rows.contains(&"t00001".to_owned()));
    let drafts = drafts(&response);
    let amounts = drafts[0].transactions.iter().filter(|it| it.amount.minor() == -700);
    assert_eq!(amounts.count(), 1);
}
