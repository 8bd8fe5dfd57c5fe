//! Endpoints and keys that change, break and end while events happen.

use service::access::keys::NewKey;
use service::webhooks::{self, Endpoint, EndpointStatus};
use service::{Error, Scopes};
use testkit::new_key;
use testkit::receiver::{Receiver, ScriptedResponse};
use tokio::task::JoinSet;
use wire::v1::Scope;

use super::processes::{NEVER, start, waiting};
use super::{Line, body, create, is_signed};

async fn rotate(line: &Line) -> service::Result<String> {
    let (mine, caller, id) = (line.world.app.clone(), line.key.caller.clone(), line.endpoint.id);
    let rotate = move |tx: &mut db::Tx<'_>| webhooks::rotate_secret(&mine, tx, &caller, id);
    line.world.app.db.write(rotate).await.map(|it| it.0)
}

async fn delete(line: &Line, endpoint: &Endpoint) -> service::Result<()> {
    let (mine, caller, id) = (line.world.app.clone(), line.key.caller.clone(), endpoint.id);
    let delete = move |tx: &mut db::Tx<'_>| webhooks::delete(&mine, tx, &caller, id);
    line.world.app.db.write(delete).await
}

/// Neither what a person does nor the deletion may fail, whoever is first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_change_fails_because_an_endpoint_goes() {
    let line = Line::new().await;
    let app = line.world.app.clone();
    let engine = start(&app, NEVER);
    let mut writing = JoinSet::new();
    for _ in 0..3 {
        let (app, user) = (app.clone(), line.person.user.id);
        writing.spawn(async move {
            for _ in 0..60 {
                let mine = app.clone();
                let event =
                    wire::v1::Event::GoalUpdated { goal_id: "goal_1".to_owned(), status: "active" };
                let append =
                    move |tx: &mut db::Tx<'_>| service::outbox::append(&mine, tx, user, &[event]);
                app.db.write::<(), Error>(append).await.unwrap();
            }
        });
    }
    while !writing.is_empty() {
        let (made, _) = create(&app, &line.key.caller, &line.receiver.url, &[]).await.unwrap();
        delete(&line, &made).await.unwrap();
        if let Some(done) = writing.try_join_next() {
            done.unwrap();
        }
    }
    engine.end().await;
    // What stood in line when it stopped was given back.
    while line.deliver().await > 0 {}
    assert_eq!(waiting(&app).await, 0);
}

#[tokio::test]
async fn every_secret_signs_for_a_day_however_often_it_is_changed() {
    let line = Line::new().await;
    let second = rotate(&line).await.unwrap();
    line.world.advance_seconds(3_600);
    let third = rotate(&line).await.unwrap();
    line.happens("one").await;
    line.deliver().await;
    let heard = line.receiver.requests().pop().unwrap();
    let all = [&third, &second, &line.secret];
    assert!(all.iter().all(|it| is_signed(&heard, it)));
    // The first one's day is over, the second one's is not.
    line.world.advance_seconds(86_400 - 3_600);
    line.happens("two").await;
    line.deliver().await;
    let heard = line.receiver.requests().pop().unwrap();
    assert_eq!(all.map(|it| is_signed(&heard, it)), [true, true, false]);
    for _ in 0..3 {
        rotate(&line).await.unwrap();
    }
    assert!(matches!(rotate(&line).await, Err(Error::Conflict { .. })));
    line.world.advance_seconds(86_400);
    rotate(&line).await.unwrap();
}

/// As by a double click: each of the two was told a secret, and both must sign.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_changes_of_a_secret_at_once_lose_none() {
    let line = Line::new().await;
    let (one, other) = tokio::join!(rotate(&line), rotate(&line));
    line.happens("one").await;
    line.deliver().await;
    let heard = line.receiver.requests().pop().unwrap();
    for secret in [&one.unwrap(), &other.unwrap(), &line.secret] {
        assert!(is_signed(&heard, secret));
    }
}

/// As when a file was damaged, or a backup restored beside another key.
#[tokio::test]
async fn a_secret_that_cannot_be_opened_holds_up_nobody_else() {
    let line = Line::new().await;
    let other = Receiver::start().await;
    create(&line.world.app, &line.key.caller, &other.url, &[]).await.unwrap();
    let id = line.endpoint.id;
    let spoil = move |tx: &mut db::Tx<'_>| {
        const SPOIL: &str = "update webhook_endpoints set secret = $2 where id = $1";
        tx.execute(SPOIL, db::params![id, &[0_u8][..]])
    };
    line.world.app.db.write(spoil).await.unwrap();
    line.happens("one").await;
    assert!(line.deliver().await > 0);
    assert!(!other.requests().is_empty() && line.receiver.requests().is_empty());
    let engine = start(&line.world.app, NEVER);
    let before = other.requests().len();
    line.happens("two").await;
    other.wait_for_requests(before + 1).await;
    engine.end().await;
}

#[tokio::test]
async fn an_endpoint_ends_with_its_key_and_what_waits_becomes_dead_letters() {
    let line = Line::new().await;
    let app = &line.world.app;
    let soon = line.world.clock.now().as_second() + 60;
    let expires_at = Some(base::Timestamp::from_second(soon).unwrap());
    let brief = line.person.key(NewKey { expires_at, ..new_key() }).await;
    let (of_brief, _) = create(app, &brief.caller, &line.receiver.url, &[]).await.unwrap();
    line.happens("one").await;
    service::access::keys::revoke(app, &line.person.caller, line.key.id).await.unwrap();
    line.world.advance_seconds(60);
    assert!(webhooks::disable_ended_once(app).await.unwrap() > 0);
    assert_eq!(waiting(app).await, 0);
    for id in [line.endpoint.id, of_brief.id] {
        let now = webhooks::get(app, &line.person.caller, id).await.unwrap();
        assert_eq!(
            (now.status, now.disabled_reason.as_deref()),
            (EndpointStatus::Disabled, Some("key_ended"))
        );
        let (mine, caller) = (app.clone(), line.person.caller.clone());
        let on = webhooks::EndpointChange {
            status: Some(EndpointStatus::Active),
            ..webhooks::EndpointChange::default()
        };
        let enable = move |tx: &mut db::Tx<'_>| webhooks::update(&mine, tx, &caller, id, &on);
        let refused = app.db.write(enable).await.unwrap_err().to_string();
        assert!(refused.contains("its key has ended"), "{refused}");
    }
    assert_eq!(webhooks::disable_ended_once(app).await.unwrap(), 0);
}

/// Written for an endpoint by somebody who did not see yet that it was being switched off.
#[tokio::test]
async fn what_is_stranded_at_an_endpoint_that_is_off_becomes_a_dead_letter() {
    let line = Line::new().await;
    line.happens("one").await;
    let id = line.endpoint.id;
    let off = move |tx: &mut db::Tx<'_>| {
        const OFF: &str = "update webhook_endpoints set status = 'disabled' where id = $1";
        tx.execute(OFF, db::params![id])
    };
    line.world.app.db.write(off).await.unwrap();
    assert_eq!(line.deliver().await, 0);
    let count = waiting(&line.world.app).await;
    assert_eq!(webhooks::disable_ended_once(&line.world.app).await.unwrap(), count as usize);
    assert_eq!((count > 0, waiting(&line.world.app).await), (true, 0));
}

#[tokio::test]
async fn a_key_hears_of_what_it_may_see() {
    let line = Line::new().await;
    let app = &line.world.app;
    let scopes: Scopes = [Scope::GoalsRead, Scope::WebhooksManage].into_iter().collect();
    let narrow = line.person.key(NewKey { scopes, ..new_key() }).await;
    let receiver = Receiver::start().await;
    create(app, &narrow.caller, &receiver.url, &[]).await.unwrap();
    let refused = create(app, &narrow.caller, &receiver.url, &["transaction.created"]).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("transactions:read"), "{refused}");
    line.happens("one").await;
    let user = line.person.user.id;
    let mine = app.clone();
    let event = wire::v1::Event::GoalUpdated { goal_id: "goal_1".to_owned(), status: "active" };
    let append = move |tx: &mut db::Tx<'_>| service::outbox::append(&mine, tx, user, &[event]);
    app.db.write::<(), Error>(append).await.unwrap();
    while line.deliver().await > 0 {}
    let kinds: Vec<String> = receiver
        .requests()
        .iter()
        .map(|it| body(it)["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["goal.updated"]);
    assert!(line.receiver.requests().len() > 1);
}

/// However many another key of the same person has.
#[tokio::test]
async fn a_key_sees_its_own_endpoints_and_has_no_more_than_a_hundred() {
    let line = Line::new().await;
    let (app, user, key) = (&line.world.app, line.person.user.id, line.key.id);
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
    let other = line.person.key(new_key()).await;
    let (made, _) = create(app, &other.caller, &line.receiver.url, &[]).await.unwrap();
    let seen: Vec<_> = webhooks::list(app, &other.caller).await.unwrap();
    assert_eq!(seen.iter().map(|it| it.id).collect::<Vec<_>>(), [made.id]);
    let refused = create(app, &line.key.caller, &line.receiver.url, &[]).await.unwrap_err();
    assert!(refused.to_string().contains("100 endpoints already"), "{refused}");
}

/// A try of every type carries what such an event would, and says that it is a test.
#[tokio::test]
async fn a_test_looks_like_what_it_tests() {
    let line = Line::new().await;
    line.receiver.respond_with([ScriptedResponse::Status(204)]);
    let (app, caller, id) = (&line.world.app, &line.key.caller, line.endpoint.id);
    let tried = webhooks::test(app, caller, id, Some("transaction.created")).await.unwrap();
    let data = &body(&line.receiver.requests()[0])["data"];
    assert!(data["transaction_ids"][0].as_str().unwrap().starts_with("txn_"), "{data}");
    assert_eq!((&data["test"], &data["count"]), (&true.into(), &1.into()));
    let shown = wire::v1::Delivery::from(&tried.attempt);
    assert_eq!((shown.attempt, shown.max_attempts, shown.next_attempt_at.is_none()), (1, 1, true));
}
