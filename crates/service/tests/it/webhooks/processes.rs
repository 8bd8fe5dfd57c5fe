//! Several processes on one database, lost database connections, and clocks that jump.

use std::sync::atomic::Ordering;
use std::time::Duration;

use base::Clock;
use db::{Engine, params};
use service::App;
use service::webhooks::{self, POLL_INTERVAL};
use testkit::draft::{checking, statement, txn};
use testkit::receiver::{Receiver, ScriptedResponse};
use testkit::{Proxy, new_key};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{Fixture, create};

/// A poll interval that never elapses in a test.
pub(super) const NEVER: Duration = Duration::from_secs(86_400);
/// Longer than a TLS handshake may take.
const PATIENCE: Duration = Duration::from_secs(6);

pub(super) struct Sending {
    pub(super) stop: watch::Sender<bool>,
    pub(super) task: JoinHandle<()>,
}

/// Starts the sending loop as a server does.
pub(super) fn start(app: &App, poll_interval: Duration) -> Sending {
    let (stop, stopped) = watch::channel(false);
    let task = tokio::spawn(webhooks::run(app.clone(), poll_interval, stopped));
    Sending { stop, task }
}

impl Sending {
    pub(super) async fn end(self) {
        self.stop.send(true).unwrap();
        self.task.await.unwrap();
    }
}

pub(super) fn ids(receiver: &Receiver) -> Vec<String> {
    let mut ids: Vec<String> =
        receiver.requests().iter().map(|it| it.header("webhook-id").to_owned()).collect();
    ids.sort();
    ids
}

pub(super) async fn waiting(app: &App) -> i64 {
    const WAITING: &str =
        "select cast(count(*) as bigint) from deliveries where due_at is not null";
    app.db.first(WAITING, &[], |row| row.get(0)).await.unwrap().unwrap()
}

/// Each event waits for the one before, so that polling could explain the first of them at most.
#[tokio::test]
async fn a_delivery_of_a_process_that_does_not_send_is_sent_by_another_at_once() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    let poll_interval = match fixture.world.app.db.engine() {
        Engine::Postgres => NEVER,
        // On SQLite other processes do not notify, and the server polls.
        Engine::Sqlite => POLL_INTERVAL,
    };
    let other_process = fixture.world.other_process().await;
    let sending = start(&other_process, poll_interval);
    for number in 1..=4 {
        fixture.import_transaction(&format!("n{number}")).await;
        fixture.receiver.wait_for_requests(number).await;
    }
    sending.end().await;
    assert_eq!(waiting(&fixture.world.app).await, 0);
}

#[tokio::test]
async fn two_running_processes_send_each_event_once() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    let (one, two) = (fixture.world.other_process().await, fixture.world.other_process().await);
    let loops = [start(&one, POLL_INTERVAL), start(&two, POLL_INTERVAL)];
    for number in 0..40 {
        fixture.import_transaction(&format!("n{number}")).await;
    }
    fixture.receiver.wait_for_requests(40).await;
    for sending in loops {
        sending.end().await;
    }
    let mut ids = ids(&fixture.receiver);
    assert_eq!(ids.len(), 40);
    ids.dedup();
    assert_eq!(ids.len(), 40);
    assert_eq!(waiting(&fixture.world.app).await, 0);
}

/// A delivery that is written while there is no free slot is claimed when there is one, in order.
#[tokio::test]
async fn deliveries_beyond_the_free_slots_are_sent_as_well() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    let sending = start(&fixture.world.app, NEVER);
    for number in 0..100 {
        fixture.import_transaction(&format!("n{number}")).await;
    }
    fixture.receiver.wait_for_requests(100).await;
    sending.end().await;
    let mut ids = ids(&fixture.receiver);
    ids.dedup();
    assert_eq!((ids.len(), fixture.receiver.requests().len()), (100, 100));
    assert_eq!(waiting(&fixture.world.app).await, 0);
}

/// On a table without statistics PostgreSQL may choose an index that matches less of a condition, and walk it for every
/// row.
#[tokio::test]
async fn deliveries_are_updated_by_primary_key() {
    let world = testkit::World::new().await;
    let db = &world.app.db;
    let (explain, by_key) = match db.engine() {
        Engine::Sqlite => ("explain query plan", "(user_id=? AND endpoint_id=? AND event_id=?)"),
        Engine::Postgres => ("explain", "Index Scan using deliveries_pkey"),
    };
    let statements = service::schema::statements();
    let changes = statements
        .iter()
        .filter(|it| it.starts_with("update deliveries") && it.contains("event_id = $3"));
    let mut count = 0;
    for sql in changes {
        let values = sample_params(sql);
        let read = |row: &db::Row<'_>| row.get::<String>(if explain == "explain" { 0 } else { 3 });
        let plan = db.all(&format!("{explain} {sql}"), &values, read).await.unwrap().join("\n");
        assert!(plan.contains(by_key), "{sql}\n{plan}");
        count += 1;
    }
    assert!(count >= 5, "{count}");
}

/// Values of the right types for a change of one delivery.
fn sample_params(sql: &str) -> Vec<db::Param<'static>> {
    let count = (1..10).take_while(|it| sql.contains(&format!("${it}"))).count();
    let id = || db::Param::Id(Some([1; 16]));
    let others = (3..count).map(|index| match index == 3 && sql.contains("status = $4") {
        true => db::Param::Text(Some("delivered")),
        false => db::Param::Int(Some(1)),
    });
    [id(), id(), id()].into_iter().chain(others).collect()
}

/// A transaction that is rolled back notifies nobody, and frees its slots.
#[tokio::test]
async fn a_delivery_that_is_rolled_back_is_not_sent() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    let app = fixture.world.app.clone();
    let sending = start(&app, NEVER);
    fixture.import_transaction("known").await;
    fixture.receiver.wait_for_requests(1).await;
    for _ in 0..100 {
        let (mine, user) = (app.clone(), fixture.person.user.id);
        let event = wire::v1::Event::TransactionsCreated {
            account_id: "acc_1".to_owned(),
            transaction_ids: vec![],
            count: 0,
        };
        let failing = app.db.write(move |tx| {
            ::webhooks::outbox::append(&mine.webhooks, tx, user, &[event])?;
            Err::<(), _>(service::Error::NotFound("anything"))
        });
        failing.await.unwrap_err();
    }
    fixture.import_transaction("new").await;
    fixture.receiver.wait_for_requests(2).await;
    sending.end().await;
    assert_eq!(fixture.receiver.requests().len(), 2);
}

/// The connection to the database is cut after each message in turn, from the claim to the commit that settles.
#[tokio::test]
async fn a_delivery_whose_database_is_cut_at_any_point_arrives_under_one_id() {
    let fixture = Fixture::new().await;
    let Some(url) = fixture.world.database.url() else { return };
    fixture.receive_only("transaction.created").await;
    let (proxy, url) = Proxy::to(url).await;
    let mut cuts = 0;
    for messages in 0.. {
        let target = db::Target::postgres(&url).unwrap();
        let dying = fixture.world.other_process_on(db::Db::open(&target).await.unwrap());
        fixture.import_transaction(&format!("n{messages}")).await;
        let before = fixture.receiver.requests().len();
        proxy.cut_after(messages);
        let _ = webhooks::deliver_once(&dying).await;
        let is_uncut = proxy.messages_left() > 0;
        proxy.restore();
        fixture.world.advance_seconds(60);
        fixture.deliver().await;
        let received = fixture.receiver.requests();
        assert!(received.len() > before, "lost when cut after {messages}");
        let first = received[before].header("webhook-id");
        assert!(received[before..].iter().all(|it| it.header("webhook-id") == first));
        assert_eq!(waiting(&fixture.world.app).await, 0, "cut after {messages}");
        if is_uncut {
            break;
        }
        cuts += 1;
    }
    assert!(cuts >= 4, "{cuts}");
}

/// Events from the time when the database could not be reached are sent afterwards.
#[tokio::test]
async fn a_process_that_lost_its_database_for_a_minute_sends_what_it_missed() {
    let fixture = Fixture::new().await;
    let Some(url) = fixture.world.database.url() else { return };
    fixture.receive_only("transaction.created").await;
    let (proxy, url) = Proxy::to(url).await;
    let target = db::Target::postgres(&url).unwrap();
    let cut_off = fixture.world.other_process_on(db::Db::open(&target).await.unwrap());
    let sending = start(&cut_off, POLL_INTERVAL);
    fixture.import_transaction("before").await;
    fixture.receiver.wait_for_requests(1).await;
    proxy.cut();
    for number in 0..10 {
        fixture.import_transaction(&format!("n{number}")).await;
        fixture.world.advance_seconds(6);
    }
    assert_eq!(fixture.receiver.requests().len(), 1);
    proxy.restore();
    fixture.receiver.wait_for_requests(11).await;
    sending.end().await;
    // A delivery that could not be settled when the connection was cut is sent again after its lease.
    fixture.world.advance_seconds(60);
    fixture.deliver().await;
    let mut ids = ids(&fixture.receiver);
    ids.dedup();
    assert_eq!(ids.len(), 11);
    assert_eq!(waiting(&fixture.world.app).await, 0);
}

#[tokio::test]
async fn a_clock_that_jumps_loses_and_doubles_nothing() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    let Clock::Frozen(now) = &fixture.world.clock else {
        panic!("the clock of a world stands still")
    };
    let jump = |seconds: i64| now.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    fixture.receiver.respond_with([ScriptedResponse::Status(500)]);
    fixture.import_transaction("fails").await;
    fixture.deliver().await;
    // Forward over every retry: one attempt is made, not one for each retry that was missed.
    jump(40 * 3_600);
    assert_eq!((fixture.deliver().await, fixture.deliver().await), (1, 0));
    fixture.import_transaction("waits").await;
    // Back: the delivery is due in the future now, and is sent when the clock gets there again.
    jump(-3_600);
    assert_eq!(fixture.deliver().await, 0);
    fixture.import_transaction("early").await;
    assert_eq!(fixture.deliver().await, 1);
    jump(3_600);
    assert_eq!((fixture.deliver().await, fixture.deliver().await), (1, 0));
    let mut ids = ids(&fixture.receiver);
    assert_eq!(ids.len(), 4);
    ids.dedup();
    assert_eq!(ids.len(), 3);
    assert_eq!(waiting(&fixture.world.app).await, 0);
}

/// No time is measured: all others are delivered while a hundred wait for an answer. On a machine so busy that a TLS
/// handshake times out, the second attempt counts.
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_endpoints_that_hang_delay_none_of_nine_hundred_others() {
    let fixture = Fixture::new().await;
    let hanging = Receiver::start().await;
    hanging.respond_with((0..100).map(|_| ScriptedResponse::Never));
    let app = &fixture.world.app;
    let mut people = Vec::new();
    for number in 0..1_000 {
        if number % 100 == 0 {
            people.push((fixture.world.someone().await, Vec::new()));
        }
        let (person, keys) = people.last_mut().unwrap();
        if number % 5 == 0 {
            keys.push(person.key(new_key()).await);
        }
        let url = if number % 10 == 0 { &hanging.url } else { &fixture.receiver.url };
        let caller = &keys.last().unwrap().caller;
        create(app, caller, url, &["transaction.created"]).await.unwrap();
    }
    let sending = start(app, POLL_INTERVAL);
    for (person, _) in &people {
        let new = txn("2026-03-09", -100, "KROGER #339").id("one");
        person.import(statement([checking("A").with(new)])).await;
    }
    while tokio::time::timeout(PATIENCE, fixture.receiver.wait_for_requests(900)).await.is_err() {
        fixture.world.advance_seconds(6);
    }
    const ARRIVED: &str = "select cast(count(*) as bigint) from deliveries d
        join webhook_endpoints e on e.user_id = d.user_id and e.id = d.endpoint_id
        where e.url = $1 and d.status = 'delivered'";
    let url = params![hanging.url.as_str()];
    let arrived = app.db.first(ARRIVED, url, |row| row.get::<i64>(0)).await.unwrap();
    assert_eq!(arrived, Some(0), "the hanging endpoints got nothing");
    sending.task.abort();
}
