//! Hosted Link: from the page to access, without a token in any address.

use base::Clock;
use sources::plaid::{Environment, Keys};
use sources::provider::{LinkOutcome, LinkPurpose, LinkRequest, Remedy, Secret};
use testkit::plaid::Plaid;

use super::{Login, accounts, connect_request, context, now, provider};

#[tokio::test]
async fn a_page_is_waited_for_until_the_person_signs_in_or_leaves() {
    let server = Plaid::start(Clock::frozen_at("2026-03-10T12:00:00Z")).await;
    let context = context(&server, now());
    let link = provider().start_link(&context, &connect_request()).await.unwrap();
    assert!(link.url.starts_with("https://"), "{}", link.url);
    assert!(format!("{link:?}").contains("session: Secret(hidden)"));
    let outcome = provider().finish_link(&context, &link.session, None).await.unwrap();
    assert!(matches!(outcome, LinkOutcome::Waiting), "{outcome:?}");
    server.close_page();
    let outcome = provider().finish_link(&context, &link.session, None).await.unwrap();
    assert!(matches!(outcome, LinkOutcome::Canceled(_)), "{outcome:?}");
    // The person opens the same page once more.
    server.sign_in("ins_1", "Bank", accounts());
    let outcome = provider().finish_link(&context, &link.session, Some("x=1")).await.unwrap();
    let LinkOutcome::Connected(banks) = outcome else { panic!("{outcome:?}") };
    assert_eq!(banks[0].institution.as_ref().unwrap().id, "ins_1");
    assert_eq!(banks[0].accounts[0], "Everyday Checking (0000)");
    let access = provider().exchange(&context, banks[0].token.expose()).await.unwrap();
    assert_eq!(
        (access.place.as_str(), access.institution.unwrap().name.as_str()),
        ("Bank", "Bank")
    );
    assert!(provider().exchange(&context, banks[0].token.expose()).await.is_err(), "only once");
}

#[tokio::test]
async fn only_transactions_are_billed_from_the_start() {
    let login = Login::new().await;
    let requests = login.server.requests();
    let body = &requests.iter().find(|it| it.path == "/link/token/create").unwrap().body;
    assert_eq!(body["products"], serde_json::json!(["transactions"]));
    assert_eq!(body["transactions"]["days_requested"], 730);
    assert_eq!(
        body["hosted_link"]["completion_redirect_uri"],
        "https://home.example/connections/plaid/back?state=abc"
    );
}

#[tokio::test]
async fn a_repair_keeps_the_access_and_needs_no_exchange() {
    let login = Login::new().await;
    login.server.set_error(&login.item, Some(("ITEM_ERROR", "ITEM_LOGIN_REQUIRED")));
    let context = context(&login.server, now());
    for purpose in [LinkPurpose::Repair, LinkPurpose::AddAccounts] {
        let access = Some(login.access.clone());
        let request = LinkRequest { purpose, access, ..connect_request() };
        let link = provider().start_link(&context, &request).await.unwrap();
        let outcome = provider().finish_link(&context, &link.session, None).await.unwrap();
        assert!(matches!(outcome, LinkOutcome::Waiting), "{outcome:?}");
        login.server.sign_in_again();
        let outcome = provider().finish_link(&context, &link.session, None).await.unwrap();
        assert!(matches!(outcome, LinkOutcome::Repaired), "{outcome:?}");
    }
    login.sync(None, &[]).await;
    let bodies = login.server.requests();
    let last = bodies.iter().rfind(|it| it.path == "/link/token/create").unwrap();
    assert_eq!(last.body["update"]["account_selection_enabled"], true);
    assert!(last.body.get("products").is_none());
}

#[tokio::test]
async fn keys_are_checked_before_they_are_sent_and_never_printed() {
    let login = Login::new().await;
    let keys = login.server.keys();
    assert!(!format!("{keys:?}").contains(Plaid::SECRET));
    assert_eq!(Keys::read(&keys.to_secret()).unwrap(), keys);
    let wrong = [("", "x"), ("short", "short"), ("has a space in it", "0123456789")];
    for (client_id, secret) in wrong {
        let [client_id, secret] = [client_id, secret].map(str::to_owned);
        let keys = Keys { client_id, secret, environment: Environment::Production };
        assert!(provider().check_keys(&keys.to_secret()).is_err());
    }
    assert!(provider().check_keys(&Secret::new("{}")).is_err());
    let mut context = context(&login.server, now());
    let other = Keys { secret: "0123456789abcdef".to_owned(), ..keys };
    context.keys = Some(std::sync::Arc::new(other.to_secret()));
    let refused = provider().start_link(&context, &connect_request()).await.unwrap_err();
    assert_eq!(refused.remedy(), Some(Remedy::ChangeKeys));
    context.keys = None;
    let refused = provider().start_link(&context, &connect_request()).await.unwrap_err();
    assert_eq!(refused.remedy(), Some(Remedy::ChangeKeys));
}
