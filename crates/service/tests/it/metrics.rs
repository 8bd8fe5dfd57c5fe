//! Metrics: what is counted, and that no label names anybody.

use std::time::Duration;

use base::metrics::{MetricFamily, MetricValue};
use service::access::sessions::Visit;
use service::access::sign_ins;
use service::actions;
use service::ingest::imports::files;
use service::insights::pipeline;
use service::{App, Error};
use testkit::World;
use testkit::draft::{checking, statement, txn};
use testkit::receiver::ScriptedResponse;

use crate::actions::ActionsFixture;
use crate::imports::fencing;
use crate::webhooks::Fixture;
use crate::with_password;

/// The sum of the samples of a family that have these labels; the count of a histogram's values.
pub(crate) async fn metric(app: &App, name: &str, labels: &[(&str, &str)]) -> i64 {
    let families = service::metrics::collect(app).await;
    let family = families.iter().find(|it| it.name == name);
    let family = family.unwrap_or_else(|| panic!("there is no family {name}"));
    sum(family, labels)
}

fn sum(family: &MetricFamily, labels: &[(&str, &str)]) -> i64 {
    let has = |it: &&base::metrics::Sample| {
        labels.iter().all(|(name, value)| it.labels.contains(&(*name, (*value).to_owned())))
    };
    let value = |it: &base::metrics::Sample| match &it.value {
        MetricValue::Number(number) => *number,
        MetricValue::Nanoseconds(nanoseconds) => *nanoseconds as i64,
        MetricValue::Histogram(it) => it.counts.iter().sum::<u64>() as i64,
    };
    family.samples.iter().filter(has).map(value).sum()
}

/// Lets the figures be read again.
fn forget_figures(world: &World) {
    world.advance_seconds(6);
}

#[tokio::test]
async fn events_and_deliveries_are_counted_by_what_they_came_to() {
    let fixture = Fixture::new().await;
    let (app, world) = (&fixture.world.app, &fixture.world);
    fixture.receive_only("transaction.created").await;
    fixture.import_transaction("T1").await;
    assert!(metric(app, "events_appended", &[]).await >= 1);
    assert_eq!(metric(app, "deliveries_waiting", &[]).await, 1);
    assert_eq!(metric(app, "webhook_endpoints", &[("state", "active")]).await, 1);
    fixture.receiver.respond_with([ScriptedResponse::Status(500)]);
    assert_eq!(fixture.deliver().await, 1);
    let scheduled = ("trigger", "scheduled");
    assert_eq!(metric(app, "deliveries", &[("outcome", "retrying"), scheduled]).await, 1);
    assert_eq!(metric(app, "delivery_lag_seconds", &[]).await, 0, "nothing was delivered");
    forget_figures(world);
    assert_eq!(fixture.deliver().await, 1);
    assert_eq!(metric(app, "deliveries", &[("outcome", "delivered"), scheduled]).await, 1);
    assert_eq!(metric(app, "delivery_seconds", &[]).await, 2);
    assert_eq!(metric(app, "delivery_lag_seconds", &[]).await, 1);
    assert_eq!(metric(app, "deliveries_waiting", &[]).await, 0);
    assert_eq!(metric(app, "dead_letters", &[]).await, 0);
}

#[tokio::test]
async fn a_change_that_is_rolled_back_counts_no_event() {
    let fixture = Fixture::new().await;
    let app = &fixture.world.app;
    let before = metric(app, "events_appended", &[]).await;
    let (mine, user) = (app.clone(), fixture.person.caller.user);
    let undone = app.db.write(move |tx| {
        let (account_id, transaction_ids) = ("undone".to_owned(), Vec::new());
        let event = wire::v1::Event::TransactionsCreated { account_id, transaction_ids, count: 0 };
        ::webhooks::outbox::append(&mine.webhooks, tx, user, &[event])?;
        Err::<(), Error>(Error::NotFound("the reason"))
    });
    assert!(undone.await.is_err());
    assert_eq!(metric(app, "events_appended", &[]).await, before);
}

#[tokio::test]
async fn figures_are_read_once_in_some_seconds() {
    let fixture = Fixture::new().await;
    let app = &fixture.world.app;
    assert_eq!(metric(app, "deliveries_waiting", &[]).await, 0);
    fixture.import_transaction("T1").await;
    assert_eq!(metric(app, "deliveries_waiting", &[]).await, 0, "still those of the first time");
    forget_figures(&fixture.world);
    assert!(metric(app, "deliveries_waiting", &[]).await > 0);
    assert_eq!(metric(app, "database_up", &[]).await, 1);
}

#[tokio::test]
async fn decisions_and_executions_are_counted_by_kind() {
    let fixture = ActionsFixture::new().await;
    let app = fixture.app();
    let kind = ("kind", "account_create");
    let approved = [("decision", "approved"), kind];
    assert_eq!(metric(app, "action_decision_seconds", &approved).await, 1, "by the fixture");
    assert_eq!(metric(app, "action_executions", &[("outcome", "executed"), kind]).await, 1);
    let size = calc::paper::Size::Shares(base::Fixed9::parse("1").unwrap());
    let order = fixture.order(calc::paper::Side::Buy, "AAPL", size);
    let action = fixture.propose(order).await.unwrap();
    assert_eq!(metric(app, "actions", &[("status", "pending_approval")]).await, 0, "kept");
    fixture.world.advance_seconds(30);
    assert_eq!(metric(app, "actions", &[("status", "pending_approval")]).await, 1);
    let seen = actions::SeenProposal::now(app, &action).await.unwrap();
    actions::reject(app, &fixture.session, action.id, seen, None).await.unwrap();
    let rejected = [("decision", "rejected"), ("kind", "trade")];
    assert_eq!(metric(app, "action_decision_seconds", &rejected).await, 1);
}

#[tokio::test]
async fn imports_count_their_rows_and_a_lost_lease() {
    let world = World::new().await;
    let (robin, id) = fencing::staged(&world).await;
    let late = fencing::paused(&world, &world.app, &robin.caller, id).await;
    world.clock.advance(Duration::from_secs(660));
    let other_process = world.other_process().await;
    files::commit(&other_process, &robin.caller, id).await.unwrap();
    assert!(late.await.is_err());
    let new = [("format", "ofx"), ("outcome", "new")];
    assert_eq!(metric(&other_process, "import_rows", &new).await, 2);
    let committed = [("format", "ofx"), ("outcome", "committed")];
    assert_eq!(metric(&other_process, "import_seconds", &committed).await, 1);
    assert_eq!(metric(&world.app, "import_rows", &new).await, 0, "it was rolled back");
    assert_eq!(metric(&world.app, "import_seconds", &[("outcome", "failed")]).await, 1);
    assert_eq!(metric(&world.app, "lost_leases", &[("of", "import")]).await, 1);
    assert_eq!(metric(&other_process, "lost_leases", &[]).await, 0);
}

#[tokio::test]
async fn recomputes_count_their_steps_and_the_people_who_wait() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([checking("A").with(txn("2026-03-09", -100, "KROGER"))])).await;
    assert_eq!(metric(&world.app, "insight_backlog", &[]).await, 1);
    world.advance_seconds(90);
    assert_eq!(metric(&world.app, "insight_oldest_wait_seconds", &[]).await, 90);
    assert_eq!(pipeline::run_all(&world.app).await.unwrap(), 1);
    for step in ["classify", "recurring", "ledger", "income", "scores", "benefits", "publish"] {
        assert_eq!(metric(&world.app, "insight_seconds", &[("step", step)]).await, 1, "{step}");
    }
    forget_figures(&world);
    assert_eq!(metric(&world.app, "insight_backlog", &[]).await, 0);
}

#[tokio::test]
async fn wrong_passwords_and_refused_attempts_are_counted() {
    let world = World::new().await;
    service::access::users::create(&world.app, with_password("robin@example.com")).await.unwrap();
    let visit = || Visit { agent: None, address: Some("192.0.2.1".to_owned()), device: None };
    let mut tried = 0;
    loop {
        let outcome = sign_ins::by_password(&world.app, "robin@example.com", "wrong one", visit());
        match outcome.await {
            Err(Error::Limited { .. }) => break,
            _ => tried += 1,
        }
        assert!(tried < 1_000, "guessing is never limited");
    }
    let wrong = metric(&world.app, "failed_authentications", &[("credential", "password")]).await;
    assert_eq!(wrong, tried);
    assert_eq!(metric(&world.app, "rate_limited", &[("limit", "sign_ins")]).await, 1);
}

#[tokio::test]
async fn no_label_names_anybody() {
    let fixture = Fixture::new().await;
    fixture.import_transaction("T1").await;
    fixture.deliver().await;
    pipeline::run_all(&fixture.world.app).await.unwrap();
    let ids = [
        fixture.person.caller.user.to_string(),
        fixture.endpoint.id.to_string(),
        fixture.endpoint.url.clone(),
        "KROGER".to_owned(),
    ];
    let families = service::metrics::collect(&fixture.world.app).await;
    assert!(families.iter().any(|it| it.samples.len() > 3), "there is something to look at");
    for family in &families {
        for (name, value) in family.samples.iter().flat_map(|it| &it.labels) {
            let is_plain =
                value.chars().all(|it| it.is_ascii_alphanumeric() || " '._-".contains(it));
            assert!(is_plain, "{} has {name}={value}", family.name);
            assert!(!ids.contains(value), "{} has {name}={value}", family.name);
        }
    }
}
