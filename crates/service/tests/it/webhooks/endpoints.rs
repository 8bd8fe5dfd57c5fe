//! Endpoints: who may create them, how many, and which events they receive.

use futures_util::future::join_all;
use service::access::keys::NewKey;
use service::webhooks::{self, DeliveryStatus, EndpointChange, EndpointStatus};
use service::{Caller, Credential, Error, Scopes};
use testkit::draft::{checking, statement, txn};
use testkit::new_key;
use wire::v1::Code;

use super::{Fixture, body, create, is_signed};

#[tokio::test]
async fn an_event_arrives_signed_with_its_ids_and_is_settled() {
    let fixture = Fixture::new().await;
    fixture.import_transaction("one").await;
    let count = fixture.deliver().await;
    let received = fixture.receiver.requests();
    assert_eq!(received.len(), count);
    let types_received: Vec<_> =
        received.iter().map(|it| body(it)["type"].as_str().unwrap().to_owned()).collect();
    assert!(types_received.contains(&"transaction.created".to_owned()), "{types_received:?}");
    for it in &received {
        assert!(is_signed(it, &fixture.secret), "{it:?}");
        assert_eq!(body(it)["id"], it.header("webhook-id"));
        assert_eq!(body(it)["api_version"], "2026-04-10");
        assert!(body(it)["data"]["account_id"].is_string());
    }
    assert_eq!(fixture.deliver().await, 0);
    let attempts = fixture.attempts().await;
    assert!(
        attempts
            .iter()
            .all(|it| it.event_status == DeliveryStatus::Delivered && it.code == Some(204))
    );
    assert!(fixture.current_endpoint().await.last_delivery_at.is_some());
}

#[tokio::test]
async fn an_endpoint_receives_only_its_types_and_nothing_while_disabled() {
    let fixture = Fixture::new().await;
    let app = &fixture.world.app;
    let change = EndpointChange {
        filter_types: Some(vec!["balance.updated".to_owned()]),
        ..EndpointChange::default()
    };
    let update = |change: EndpointChange| {
        let (mine, caller, id) = (app.clone(), fixture.key.caller.clone(), fixture.endpoint.id);
        app.db.write(move |tx| webhooks::update(&mine, tx, &caller, id, &change))
    };
    update(change).await.unwrap();
    fixture.import_transaction("one").await;
    assert_eq!(fixture.deliver().await, 0);

    let all = EndpointChange { filter_types: Some(Vec::new()), ..EndpointChange::default() };
    update(all).await.unwrap();
    fixture.import_transaction("two").await;
    let off =
        EndpointChange { status: Some(EndpointStatus::Disabled), ..EndpointChange::default() };
    let disabled = update(off).await.unwrap();
    assert_eq!(disabled.disabled_reason.as_deref(), Some("manual"));
    // The waiting delivery has failed.
    assert_eq!(fixture.deliver().await, 0);
    fixture.import_transaction("three").await;
    let on = EndpointChange { status: Some(EndpointStatus::Active), ..EndpointChange::default() };
    assert_eq!(update(on).await.unwrap().disabled_reason, None);
    assert_eq!(fixture.deliver().await, 0);
    fixture.import_transaction("four").await;
    assert!(fixture.deliver().await > 0);
}

#[tokio::test]
async fn an_endpoint_receives_events_of_its_keys_accounts_only_and_none_after_revocation() {
    let fixture = Fixture::new().await;
    let app = &fixture.world.app;
    let two = [
        checking("A").with(txn("2026-03-01", -1, "X").id("x")),
        checking("B").with(txn("2026-03-01", -1, "Y").id("y")),
    ];
    fixture.person.import(statement(two)).await;
    while fixture.deliver().await > 0 {}
    let own = fixture.person.account("B").await;
    let limited = fixture.person.key(NewKey { accounts: Some(vec![own]), ..new_key() }).await;
    create(app, &limited.caller, &format!("{}/limited", fixture.receiver.url), &[]).await.unwrap();
    let before = fixture.receiver.requests().len();
    fixture.import_transaction("only in A").await;
    let to_all = fixture.deliver().await;
    assert_eq!(fixture.receiver.requests().len(), before + to_all);
    let (filter, page) = (
        webhooks::AttemptFilter::default(),
        service::platform::cursors::Page { cursor: None, limit: 100 },
    );
    let seen = webhooks::list_attempts(app, &limited.caller, &filter, page).await.unwrap();
    assert!(seen.attempts.is_empty());

    service::access::keys::revoke(app, &fixture.person.caller, fixture.key.id).await.unwrap();
    fixture.import_transaction("after the end").await;
    assert_eq!(fixture.deliver().await, 0);
}

#[tokio::test]
async fn waiting_deliveries_of_an_expired_key_are_not_sent() {
    let fixture = Fixture::new().await;
    let ends = fixture.world.clock.now().as_second() + 60;
    let expires_at = Some(base::Timestamp::from_second(ends).unwrap());
    let brief = fixture.person.key(NewKey { expires_at, ..new_key() }).await;
    let receiver = testkit::receiver::Receiver::start().await;
    create(&fixture.world.app, &brief.caller, &receiver.url, &[]).await.unwrap();
    fixture.import_transaction("while it lives").await;
    fixture.world.advance_seconds(60);
    fixture.deliver().await;
    assert!(receiver.requests().is_empty());
    assert!(!fixture.receiver.requests().is_empty());
}

#[tokio::test]
async fn a_key_has_at_most_five_endpoints_even_under_concurrent_requests() {
    let fixture = Fixture::new().await;
    let requests = (0..12).map(|it| {
        let url = format!("{}/{it}", fixture.receiver.url);
        let (app, caller) = (fixture.world.app.clone(), fixture.key.caller.clone());
        async move { create(&app, &caller, &url, &[]).await }
    });
    let made = join_all(requests).await;
    assert_eq!(made.iter().filter(|it| it.is_ok()).count(), 4);
    for refused in made.into_iter().filter_map(Result::err) {
        let limit = Code::EndpointLimitReached;
        assert!(matches!(refused, Error::Conflict { code, .. } if code == limit), "{refused}");
    }
    let other = fixture.person.key(new_key()).await;
    create(&fixture.world.app, &other.caller, &fixture.receiver.url, &[]).await.unwrap();
}

#[tokio::test]
async fn endpoints_belong_to_keys_and_not_to_apps_or_other_keys() {
    let fixture = Fixture::new().await;
    let app = &fixture.world.app;
    let grant = Credential::Grant { id: app.ids.make(), scopes: Scopes::all() };
    let as_app = Caller { credential: grant, ..fixture.person.caller.clone() };
    assert!(matches!(webhooks::list(app, &as_app).await, Err(Error::KeyRequired)));
    let other = fixture.person.key(new_key()).await;
    assert!(webhooks::list(app, &other.caller).await.unwrap().is_empty());
    let found = webhooks::get(app, &other.caller, fixture.endpoint.id).await;
    assert!(matches!(found, Err(Error::NotFound(_))));
    // The person sees the endpoints of all their keys.
    let session = fixture.person.session().await;
    assert_eq!(webhooks::list(app, &session).await.unwrap().len(), 1);
}

#[tokio::test]
async fn for_a_day_after_a_rotation_both_secrets_sign() {
    let fixture = Fixture::new().await;
    let (mine, caller, id) =
        (fixture.world.app.clone(), fixture.key.caller.clone(), fixture.endpoint.id);
    let rotate = move |tx: &mut db::Tx<'_>| webhooks::rotate_secret(&mine, tx, &caller, id);
    let (newer, until) = fixture.world.app.db.write(rotate).await.unwrap();
    assert_eq!(until.as_second() - fixture.world.clock.now().as_second(), 86_400);
    fixture.import_transaction("one").await;
    fixture.deliver().await;
    let received = fixture.receiver.requests();
    assert!(is_signed(&received[0], &newer) && is_signed(&received[0], &fixture.secret));
    let first = received[0].header("webhook-signature").split(' ').next().unwrap().to_owned();
    let alone = standardwebhooks::Webhook::new(&newer).unwrap();
    let at = received[0].header("webhook-timestamp").parse().unwrap();
    assert_eq!(alone.sign(received[0].header("webhook-id"), at, &received[0].body).unwrap(), first);

    fixture.world.advance_seconds(86_400);
    let before = received.len();
    fixture.import_transaction("two").await;
    fixture.deliver().await;
    let received = fixture.receiver.requests();
    assert!(is_signed(&received[before], &newer) && !is_signed(&received[before], &fixture.secret));
}

#[tokio::test]
async fn private_addresses_and_unknown_types_are_refused() {
    let fixture = Fixture::new().await;
    let app = &fixture.world.app;
    for url in [
        "http://example.com/hook",
        "https://169.254.169.254/latest",
        "https://10.0.0.1/hook",
        "https://[::ffff:10.0.0.1]/",
        "https://user:pass@localhost/",
        "ftp://localhost/",
        "nonsense",
    ] {
        let refused = webhooks::check_url(app, url).await;
        assert!(matches!(&refused, Err(Error::Invalid { .. })), "{url}: {refused:?}");
    }
    webhooks::check_url(app, &fixture.receiver.url).await.unwrap();
    let refused =
        create(app, &fixture.key.caller, &fixture.receiver.url, &["transaction.create"]).await;
    let message = refused.unwrap_err().to_string();
    assert_eq!(
        message,
        "filter_types contains an unknown event type: transaction.create; did you mean transaction.created?"
    );
}

#[tokio::test]
async fn an_expired_or_revoked_key_receives_no_more_events() {
    let fixture = Fixture::new().await;
    let app = &fixture.world.app;
    let soon = fixture.world.clock.now().as_second() + 60;
    let expires_at = Some(base::Timestamp::from_second(soon).unwrap());
    let brief = fixture.person.key(NewKey { expires_at, ..new_key() }).await;
    let types = ["transaction.created"];
    create(app, &brief.caller, &fixture.receiver.url, &types).await.unwrap();
    let received = |fixture: &Fixture| {
        let received = fixture.receiver.requests();
        received.iter().filter(|it| body(it)["type"] == types[0]).count()
    };
    fixture.import_transaction("one").await;
    fixture.deliver().await;
    assert_eq!(received(&fixture), 2);
    fixture.world.advance_seconds(60);
    fixture.import_transaction("two").await;
    fixture.deliver().await;
    assert_eq!(received(&fixture), 3);
    service::access::keys::revoke(app, &fixture.person.caller, fixture.key.id).await.unwrap();
    fixture.import_transaction("three").await;
    fixture.deliver().await;
    assert_eq!(received(&fixture), 3);
}
