//! Errors: transactions are kept when a further product fails, and texts for developers are never shown.

use sources::provider::{ErrorKind, Remedy};
use testkit::plaid::Fault;

use super::{BROKERAGE, CHECKING, Login, context, ids, now, provider, row};

#[tokio::test]
async fn a_login_that_needs_the_person_has_a_button_to_repair_it() {
    let login = Login::new().await;
    login.server.set_error(&login.item, Some(("ITEM_ERROR", "ITEM_LOGIN_REQUIRED")));
    let error = login.try_sync(None, &[CHECKING]).await.unwrap_err();
    assert_eq!(error.remedy(), Some(Remedy::Repair));
    assert!(!error.message.contains("developers"), "{error}");
}

#[tokio::test]
async fn a_further_product_that_fails_does_not_lose_the_transactions() {
    let login = Login::new().await;
    login.server.add(&login.item, row(1));
    let path = "/investments/holdings/get";
    login.server.fail_next(path, Fault::Error(400, "INVALID_INPUT", "ADDITIONAL_CONSENT_REQUIRED"));
    let response = login.sync(None, &[CHECKING, BROKERAGE]).await;
    assert_eq!(ids(&response), ["t00001"]);
    assert_eq!(response.notice.unwrap().remedy, Some(Remedy::Repair));
    login.server.fail_next(path, Fault::Error(400, "ITEM_ERROR", "PRODUCT_NOT_READY"));
    let response = login.sync(response.state.as_deref(), &[CHECKING, BROKERAGE]).await;
    assert_eq!(response.notice, None);
    // It is asked again at the next sync, because it has not been read today.
    login.sync(response.state.as_deref(), &[CHECKING, BROKERAGE]).await;
    assert_eq!(login.server.count(path), 3);
}

#[tokio::test]
async fn broken_answers_are_temporary_errors() {
    let login = Login::new().await;
    for fault in [
        Fault::Response(502, "<html>Bad gateway</html>".to_owned()),
        Fault::Response(200, "{\"added\":[{}]}".to_owned()),
        Fault::Response(200, "not json".to_owned()),
        Fault::Error(429, "RATE_LIMIT_EXCEEDED", "TRANSACTIONS_SYNC_LIMIT"),
        Fault::Error(500, "API_ERROR", "INTERNAL_SERVER_ERROR"),
        Fault::Cut,
    ] {
        login.server.fail_next("/transactions/sync", fault.clone());
        let error = login.try_sync(None, &[CHECKING]).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Temporary, "{fault:?}: {error}");
    }
}

#[tokio::test]
async fn access_is_ended_once_and_ended_access_is_known_as_such() {
    let login = Login::new().await;
    let context = context(&login.server, now());
    provider().disconnect(&context, &login.access).await.unwrap();
    assert!(login.server.is_removed(&login.item));
    let again = provider().disconnect(&context, &login.access).await.unwrap_err();
    assert_eq!(again.kind, ErrorKind::Ended);
}
