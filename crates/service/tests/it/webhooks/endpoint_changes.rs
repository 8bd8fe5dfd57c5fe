//! Endpoints and keys that change, break or end while events are appended.

use service::access::keys::NewKey;
use service::webhooks::{self, Endpoint, EndpointStatus};
use service::{Error, Scopes};
use testkit::new_key;
use testkit::receiver::{Receiver, ScriptedResponse};
use tokio::task::JoinSet;
use wire::v1::Scope;

use super::processes::{NEVER, start, waiting};
use super::{Fixture, body, create, is_signed};

async fn rotate(fixture: &Fixture) -> service::Result<String> {
    let (mine, caller, id) =
        (fixture.world.app.clone(), fixture.key.caller.clone(), fixture.endpoint.id);
    let rotate = move |tx: &mut db::Tx<'_>| webhooks::rotate_secret(&mine, tx, &caller, id);
    fixture.world.app.db.write(rotate).await.map(|it| it.0)
}

async fn delete(fixture: &Fixture, endpoint: &Endpoint) -> service::Result<()> {
    let (mine, caller, id) = (fixture.world.app.clone(), fixture.key.caller.clone(), endpoint.id);
    let delete = move |tx: &mut db::Tx<'_>| webhooks::delete(&mine, tx, &caller, id);
    fixture.world.app.db.write(delete).await
}

/// Neither the append nor the deletion may fail, whichever is first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_append_fails_because_an_endpoint_is_deleted() {
    let fixture = Fixture::new().await;
    let app = fixture.world.app.clone();
    let sending = start(&app, NEVER);
    let mut writing = JoinSet::new();
    for _ in 0..3 {
        let (app, user) = (app.clone(), fixture.person.user.id);
        writing.spawn(async move {
            for _ in 0..60 {
                let mine = app.clone();
                let event =
                    wire::v1::Event::GoalUpdated { goal_id: "goal_1".to_owned(), status: "active" };
                let append = move |tx: &mut db::Tx<'_>| {
                    ::webhooks::outbox::append(&mine.webhooks, tx, user, &[event])
                };
                app.db.write(append).await.unwrap();
            }
        });
    }
    while !writing.is_empty() {
        let (made, _) =
            create(&app, &fixture.key.caller, &fixture.receiver.url, &[]).await.unwrap();
        delete(&fixture, &made).await.unwrap();
        if let Some(done) = writing.try_join_next() {
            done.unwrap();
        }
    }
    sending.end().await;
    // Deliveries that were queued when the loop stopped were released.
    while fixture.deliver().await > 0 {}
    assert_eq!(waiting(&app).await, 0);
}

#[tokio::test]
async fn every_replaced_secret_signs_for_a_day_however_often_it_is_rotated() {
    let fixture = Fixture::new().await;
    let second = rotate(&fixture).await.unwrap();
    fixture.world.advance_seconds(3_600);
    let third = rotate(&fixture).await.unwrap();
    fixture.import_transaction("one").await;
    fixture.deliver().await;
    let received = fixture.receiver.requests().pop().unwrap();
    let all = [&third, &second, &fixture.secret];
    assert!(all.iter().all(|it| is_signed(&received, it)));
    // The day of the first secret is over, that of the second is not.
    fixture.world.advance_seconds(86_400 - 3_600);
    fixture.import_transaction("two").await;
    fixture.deliver().await;
    let received = fixture.receiver.requests().pop().unwrap();
    assert_eq!(all.map(|it| is_signed(&received, it)), [true, true, false]);
    for _ in 0..3 {
        rotate(&fixture).await.unwrap();
    }
    assert!(matches!(rotate(&fixture).await, Err(Error::Conflict { .. })));
    fixture.world.advance_seconds(86_400);
    rotate(&fixture).await.unwrap();
}

/// As after a double click: both responses showed a secret, and both secrets must sign.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_concurrent_rotations_lose_no_secret() {
    let fixture = Fixture::new().await;
    let (one, other) = tokio::join!(rotate(&fixture), rotate(&fixture));
    fixture.import_transaction("one").await;
    fixture.deliver().await;
    let received = fixture.receiver.requests().pop().unwrap();
    for secret in [&one.unwrap(), &other.unwrap(), &fixture.secret] {
        assert!(is_signed(&received, secret));
    }
}

/// As when a file was damaged, or a backup was restored with another installation key.
#[tokio::test]
async fn an_endpoint_whose_secret_cannot_be_decrypted_delays_no_other() {
    let fixture = Fixture::new().await;
    let other = Receiver::start().await;
    create(&fixture.world.app, &fixture.key.caller, &other.url, &[]).await.unwrap();
    let id = fixture.endpoint.id;
    let spoil = move |tx: &mut db::Tx<'_>| {
        const SPOIL: &str = "update webhook_endpoints set secret = $2 where id = $1";
        tx.execute(SPOIL, db::params![id, &[0_u8][..]])
    };
    fixture.world.app.db.write(spoil).await.unwrap();
    fixture.import_transaction("one").await;
    assert!(fixture.deliver().await > 0);
    assert!(!other.requests().is_empty() && fixture.receiver.requests().is_empty());
    let sending = start(&fixture.world.app, NEVER);
    let before = other.requests().len();
    fixture.import_transaction("two").await;
    other.wait_for_requests(before + 1).await;
    sending.end().await;
}

#[tokio::test]
async fn an_endpoint_is_disabled_with_its_key_and_its_waiting_deliveries_fail() {
    let fixture = Fixture::new().await;
    let app = &fixture.world.app;
    let soon = fixture.world.clock.now().as_second() + 60;
    let expires_at = Some(base::Timestamp::from_second(soon).unwrap());
    let brief = fixture.person.key(NewKey { expires_at, ..new_key() }).await;
    let (of_brief, _) = create(app, &brief.caller, &fixture.receiver.url, &[]).await.unwrap();
    fixture.import_transaction("one").await;
    service::access::keys::revoke(app, &fixture.person.caller, fixture.key.id).await.unwrap();
    fixture.world.advance_seconds(60);
    assert!(webhooks::disable_ended_once(app).await.unwrap() > 0);
    assert_eq!(waiting(app).await, 0);
    for id in [fixture.endpoint.id, of_brief.id] {
        let now = webhooks::get(app, &fixture.person.caller, id).await.unwrap();
        assert_eq!(
            (now.status, now.disabled_reason.as_deref()),
            (EndpointStatus::Disabled, Some("key_ended"))
        );
        let (mine, caller) = (app.clone(), fixture.person.caller.clone());
        let on = webhooks::EndpointChange {
            status: Some(EndpointStatus::Active),
            ..webhooks::EndpointChange::default()
        };
        let enable = move |tx: &mut db::Tx<'_>| webhooks::update(&mine, tx, &caller, id, &on);
        let refused = app.db.write(enable).await.unwrap_err().to_string();
        assert!(refused.contains("the key has ended"), "{refused}");
    }
    assert_eq!(webhooks::disable_ended_once(app).await.unwrap(), 0);
}

/// The delivery was written by a transaction that did not yet see that the endpoint was being disabled.
#[tokio::test]
async fn a_delivery_stranded_at_a_disabled_endpoint_fails() {
    let fixture = Fixture::new().await;
    fixture.import_transaction("one").await;
    let id = fixture.endpoint.id;
    let off = move |tx: &mut db::Tx<'_>| {
        const OFF: &str = "update webhook_endpoints set status = 'disabled' where id = $1";
        tx.execute(OFF, db::params![id])
    };
    fixture.world.app.db.write(off).await.unwrap();
    assert_eq!(fixture.deliver().await, 0);
    let count = waiting(&fixture.world.app).await;
    assert_eq!(webhooks::disable_ended_once(&fixture.world.app).await.unwrap(), count as usize);
    assert_eq!((count > 0, waiting(&fixture.world.app).await), (true, 0));
}

#[tokio::test]
async fn an_endpoint_receives_only_events_within_its_keys_scopes() {
    let fixture = Fixture::new().await;
    let app = &fixture.world.app;
    let scopes: Scopes = [Scope::GoalsRead, Scope::WebhooksManage].into_iter().collect();
    let narrow = fixture.person.key(NewKey { scopes, ..new_key() }).await;
    let receiver = Receiver::start().await;
    create(app, &narrow.caller, &receiver.url, &[]).await.unwrap();
    let refused = create(app, &narrow.caller, &receiver.url, &["transaction.created"]).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("transactions:read"), "{refused}");
    fixture.import_transaction("one").await;
    let user = fixture.person.user.id;
    let mine = app.clone();
    let event = wire::v1::Event::GoalUpdated { goal_id: "goal_1".to_owned(), status: "active" };
    let append =
        move |tx: &mut db::Tx<'_>| ::webhooks::outbox::append(&mine.webhooks, tx, user, &[event]);
    app.db.write(append).await.unwrap();
    while fixture.deliver().await > 0 {}
    let kinds: Vec<String> = receiver
        .requests()
        .iter()
        .map(|it| body(it)["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["goal.updated"]);
    assert!(fixture.receiver.requests().len() > 1);
}

/// Endpoints of the person's other keys do not count.
#[tokio::test]
async fn a_key_sees_its_own_endpoints_and_has_no_more_than_a_hundred() {
    let fixture = Fixture::new().await;
    let (app, user, key) = (&fixture.world.app, fixture.person.user.id, fixture.key.id);
    let ids: Vec<base::EndpointId> = (0..1_100).map(|_| app.ids.make()).collect();
    let fill = move |tx: &mut db::Tx<'_>| {
        let columns = [
            "user_id",
            "id",
            "key_id",
            "url",
            "filter_types",
            "status",
            "secret",
            "created_at",
            "updated_at",
        ];
        tx.insert_many(
            "webhook_endpoints",
            columns,
            ids.iter().map(|id| {
                [
                    user.into(),
                    (*id).into(),
                    key.into(),
                    "https://localhost/".into(),
                    "".into(),
                    "disabled".into(),
                    db::Param::Bytes(Some(&[0])),
                    0_i64.into(),
                    0_i64.into(),
                ]
            }),
        )
    };
    app.db.write::<(), db::Error>(fill).await.unwrap();
    let other = fixture.person.key(new_key()).await;
    let (made, _) = create(app, &other.caller, &fixture.receiver.url, &[]).await.unwrap();
    let seen: Vec<_> = webhooks::list(app, &other.caller).await.unwrap();
    assert_eq!(seen.iter().map(|it| it.id).collect::<Vec<_>>(), [made.id]);
    let refused = create(app, &fixture.key.caller, &fixture.receiver.url, &[]).await.unwrap_err();
    assert!(refused.to_string().contains("100 endpoints already"), "{refused}");
}

/// A test event carries the data of a real one, and says that it is a test.
#[tokio::test]
async fn a_test_event_looks_like_a_real_one() {
    let fixture = Fixture::new().await;
    fixture.receiver.respond_with([ScriptedResponse::Status(204)]);
    let (app, caller, id) = (&fixture.world.app, &fixture.key.caller, fixture.endpoint.id);
    let tried = webhooks::test(app, caller, id, Some("transaction.created")).await.unwrap();
    let data = &body(&fixture.receiver.requests()[0])["data"];
    assert!(data["transaction_ids"][0].as_str().unwrap().starts_with("txn_"), "{data}");
    assert_eq!((&data["test"], &data["count"]), (&true.into(), &1.into()));
    let shown = wire::v1::Delivery::from(&tried.attempt);
    assert_eq!((shown.attempt, shown.max_attempts, shown.next_attempt_at.is_none()), (1, 1, true));
}
