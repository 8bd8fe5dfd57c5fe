//! Endpoints: who may make them, how many, and what they ask to hear.

use futures_util::future::join_all;
use service::access::keys::NewKey;
use service::webhooks::{self, EndpointChange, EndpointStatus};
use service::{Caller, Credential, Error, Scopes};
use testkit::draft::{checking, statement, txn};
use testkit::new_key;
use wire::v1::Code;

use super::{Line, body, create, is_signed};

#[tokio::test]
async fn an_event_arrives_signed_with_its_ids_and_is_settled() {
    let line = Line::new().await;
    line.happens("one").await;
    let count = line.deliver().await;
    let heard = line.receiver.requests();
    assert_eq!(heard.len(), count);
    let told: Vec<_> =
        heard.iter().map(|it| body(it)["type"].as_str().unwrap().to_owned()).collect();
    assert!(told.contains(&"transaction.created".to_owned()), "{told:?}");
    for it in &heard {
        assert!(is_signed(it, &line.secret), "{it:?}");
        assert_eq!(body(it)["id"], it.header("webhook-id"));
        assert_eq!(body(it)["api_version"], "2026-04-10");
        assert!(body(it)["data"]["account_id"].is_string());
    }
    assert_eq!(line.deliver().await, 0);
    let attempts = line.attempts().await;
    assert!(attempts.iter().all(|it| it.event_status == "delivered" && it.code == Some(204)));
    assert!(line.now().await.last_delivery_at.is_some());
}

#[tokio::test]
async fn only_what_was_asked_for_is_sent_and_nothing_after_the_end() {
    let line = Line::new().await;
    let app = &line.world.app;
    let change = EndpointChange {
        filter_types: Some(vec!["balance.updated".to_owned()]),
        ..EndpointChange::default()
    };
    let update = |change: EndpointChange| {
        let (mine, caller, id) = (app.clone(), line.key.caller.clone(), line.endpoint.id);
        app.db.write(move |tx| webhooks::update(&mine, tx, &caller, id, &change))
    };
    update(change).await.unwrap();
    line.happens("one").await;
    assert_eq!(line.deliver().await, 0);

    let all = EndpointChange { filter_types: Some(Vec::new()), ..EndpointChange::default() };
    update(all).await.unwrap();
    line.happens("two").await;
    let off =
        EndpointChange { status: Some(EndpointStatus::Disabled), ..EndpointChange::default() };
    let disabled = update(off).await.unwrap();
    assert_eq!(disabled.disabled_reason.as_deref(), Some("manual"));
    // What waited is a dead letter now.
    assert_eq!(line.deliver().await, 0);
    line.happens("three").await;
    let on = EndpointChange { status: Some(EndpointStatus::Active), ..EndpointChange::default() };
    assert_eq!(update(on).await.unwrap().disabled_reason, None);
    assert_eq!(line.deliver().await, 0);
    line.happens("four").await;
    assert!(line.deliver().await > 0);
}

#[tokio::test]
async fn a_key_that_sees_some_accounts_hears_of_those_alone_and_a_revoked_one_of_nothing() {
    let line = Line::new().await;
    let app = &line.world.app;
    let two = [
        checking("A").with(txn("2026-03-01", -1, "X").id("x")),
        checking("B").with(txn("2026-03-01", -1, "Y").id("y")),
    ];
    line.person.import(statement(two)).await;
    while line.deliver().await > 0 {}
    let own = line.person.account("B").await;
    let limited = line.person.key(NewKey { accounts: Some(vec![own]), ..new_key() }).await;
    create(app, &limited.caller, &format!("{}/limited", line.receiver.url), &[]).await.unwrap();
    let before = line.receiver.requests().len();
    line.happens("only in A").await;
    let to_all = line.deliver().await;
    assert_eq!(line.receiver.requests().len(), before + to_all);
    let (filter, page) = (
        webhooks::AttemptFilter::default(),
        service::platform::cursors::Page { cursor: None, limit: 100 },
    );
    let seen = webhooks::list_attempts(app, &limited.caller, &filter, page).await.unwrap();
    assert!(seen.attempts.is_empty());

    service::access::keys::revoke(app, &line.person.caller, line.key.id).await.unwrap();
    line.happens("after the end").await;
    assert_eq!(line.deliver().await, 0);
}

#[tokio::test]
async fn what_waits_for_a_key_that_ends_is_not_sent() {
    let line = Line::new().await;
    let ends = line.world.clock.now().as_second() + 60;
    let expires_at = Some(base::Timestamp::from_second(ends).unwrap());
    let brief = line.person.key(NewKey { expires_at, ..new_key() }).await;
    let receiver = testkit::receiver::Receiver::start().await;
    create(&line.world.app, &brief.caller, &receiver.url, &[]).await.unwrap();
    line.happens("while it lives").await;
    line.world.advance_seconds(60);
    line.deliver().await;
    assert!(receiver.requests().is_empty());
    assert!(!line.receiver.requests().is_empty());
}

#[tokio::test]
async fn a_key_has_five_endpoints_however_many_ask_at_once() {
    let line = Line::new().await;
    let asked = (0..12).map(|it| {
        let url = format!("{}/{it}", line.receiver.url);
        let (app, caller) = (line.world.app.clone(), line.key.caller.clone());
        async move { create(&app, &caller, &url, &[]).await }
    });
    let made = join_all(asked).await;
    assert_eq!(made.iter().filter(|it| it.is_ok()).count(), 4);
    for refused in made.into_iter().filter_map(Result::err) {
        let limit = Code::EndpointLimitReached;
        assert!(matches!(refused, Error::Conflict { code, .. } if code == limit), "{refused}");
    }
    let other = line.person.key(new_key()).await;
    create(&line.world.app, &other.caller, &line.receiver.url, &[]).await.unwrap();
}

#[tokio::test]
async fn endpoints_are_kept_by_keys_and_not_by_apps_or_others() {
    let line = Line::new().await;
    let app = &line.world.app;
    let grant = Credential::Grant { id: app.ids.make(), scopes: Scopes::all() };
    let as_app = Caller { user: line.person.user.id, credential: grant };
    assert!(matches!(webhooks::list(app, &as_app).await, Err(Error::KeyRequired)));
    let other = line.person.key(new_key()).await;
    assert!(webhooks::list(app, &other.caller).await.unwrap().is_empty());
    let found = webhooks::get(app, &other.caller, line.endpoint.id).await;
    assert!(matches!(found, Err(Error::NotFound(_))));
    // The person sees what all their keys made.
    let session = line.person.session().await;
    assert_eq!(webhooks::list(app, &session).await.unwrap().len(), 1);
}

#[tokio::test]
async fn for_a_day_after_a_rotation_both_secrets_sign() {
    let line = Line::new().await;
    let (mine, caller, id) = (line.world.app.clone(), line.key.caller.clone(), line.endpoint.id);
    let rotate = move |tx: &mut db::Tx<'_>| webhooks::rotate_secret(&mine, tx, &caller, id);
    let (newer, until) = line.world.app.db.write(rotate).await.unwrap();
    assert_eq!(until.as_second() - line.world.clock.now().as_second(), 86_400);
    line.happens("one").await;
    line.deliver().await;
    let heard = line.receiver.requests();
    assert!(is_signed(&heard[0], &newer) && is_signed(&heard[0], &line.secret));
    let first = heard[0].header("webhook-signature").split(' ').next().unwrap().to_owned();
    let alone = standardwebhooks::Webhook::new(&newer).unwrap();
    let at = heard[0].header("webhook-timestamp").parse().unwrap();
    assert_eq!(alone.sign(heard[0].header("webhook-id"), at, &heard[0].body).unwrap(), first);

    line.world.advance_seconds(86_400);
    let before = heard.len();
    line.happens("two").await;
    line.deliver().await;
    let heard = line.receiver.requests();
    assert!(is_signed(&heard[before], &newer) && !is_signed(&heard[before], &line.secret));
}

#[tokio::test]
async fn addresses_inside_the_house_and_unknown_types_are_refused() {
    let line = Line::new().await;
    let app = &line.world.app;
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
    webhooks::check_url(app, &line.receiver.url).await.unwrap();
    let refused = create(app, &line.key.caller, &line.receiver.url, &["transaction.create"]).await;
    let said = refused.unwrap_err().to_string();
    assert_eq!(said, "filter_types knows no transaction.create; did you mean transaction.created?");
}

#[tokio::test]
async fn a_key_that_has_ended_hears_of_nothing_more() {
    let line = Line::new().await;
    let app = &line.world.app;
    let soon = line.world.clock.now().as_second() + 60;
    let expires_at = Some(base::Timestamp::from_second(soon).unwrap());
    let brief = line.person.key(NewKey { expires_at, ..new_key() }).await;
    let types = ["transaction.created"];
    create(app, &brief.caller, &line.receiver.url, &types).await.unwrap();
    let heard = |line: &Line| {
        let heard = line.receiver.requests();
        heard.iter().filter(|it| body(it)["type"] == types[0]).count()
    };
    line.happens("one").await;
    line.deliver().await;
    assert_eq!(heard(&line), 2);
    line.world.advance_seconds(60);
    line.happens("two").await;
    line.deliver().await;
    assert_eq!(heard(&line), 3);
    service::access::keys::revoke(app, &line.person.caller, line.key.id).await.unwrap();
    line.happens("three").await;
    line.deliver().await;
    assert_eq!(heard(&line), 3);
}
