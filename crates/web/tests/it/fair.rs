//! One person's slow reads keep nobody else waiting, and a database that does not answer keeps nobody waiting long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use db::{Db, Engine, Target};
use http::StatusCode;
use testkit::draft::{checking, statement, txn};
use testkit::{Proxy, World, new_key};
use web::api::{Answer, Call, Endpoint, Shape, Verb};
use wire::v1::{Goals, Scope};

use crate::client::Client;
use crate::sign_in::{sign_in, with_password};

const SLOW: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/slow",
    tag: "Goals",
    summary: "Read slowly",
    description: "",
    scopes: &[Scope::GoalsRead],
    query: &[],
    path_parameters: &[],
    body: None,
    answer: Shape::of::<Goals>("Goals"),
    handle: |call| Box::pin(read_slowly(call)),
};

static IS_RELEASED: AtomicBool = AtomicBool::new(false);

/// A statement that runs until the test releases it: rows without end on SQLite, a lock on PostgreSQL.
async fn read_slowly(call: Call) -> service::Result<Answer> {
    let rows = "with recursive n (i) as (select 1 union all select i + 1 from n) select i from n";
    let waiting = "select cast(1 as bigint) from (select pg_advisory_xact_lock(78)) waited";
    let _ = match call.app.db.engine() {
        Engine::Postgres => call.app.db.all(waiting, &[], |_| Ok(())).await,
        Engine::Sqlite => {
            let read = call.app.db.all(rows, &[], |_| match IS_RELEASED.load(Ordering::SeqCst) {
                true => Err(db::Error::TimedOut),
                false => Ok(()),
            });
            read.await
        }
    };
    Answer::data(&"done")
}

/// Holds the lock that the slow statement waits for on PostgreSQL.
async fn hold_lock(db: Db) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel::<()>();
    let (locked, is_locked) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let holding = db.write(move |tx| {
            if tx.engine() == Engine::Postgres {
                tx.each("select 1 from pg_advisory_xact_lock(78)", &[], |_| Ok(()))?;
                let _ = locked.send(());
                let _ = released.recv();
            } else {
                let _ = locked.send(());
            }
            Ok::<_, db::Error>(())
        });
        holding.await.unwrap();
    });
    is_locked.await.unwrap();
    release
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_slow_reads_of_one_person_keep_nobody_else_waiting() {
    let world = World::new().await;
    let (slow_person, other) = (world.someone().await, world.someone().await);
    service::access::users::create(&world.app, with_password("kim@example.com")).await.unwrap();
    other.import(statement([checking("A").with(txn("2026-03-01", -1, "SHOP"))])).await;
    let endpoints: Vec<Endpoint> = web::api::ENDPOINTS.iter().copied().chain([SLOW]).collect();
    let endpoints: &'static [Endpoint] = endpoints.leak();
    let secret = slow_person.key(new_key()).await.secret;
    let slow = Client::with_endpoints(world.app.clone(), endpoints, Some(secret));
    let fast = slow.with_other_token(&other.key(new_key()).await.secret);
    let release = hold_lock(world.database.open().await).await;

    let reads: Vec<_> = (0..8)
        .map(|_| {
            let client = slow.clone();
            tokio::spawn(async move { client.get("/v1/slow").await })
        })
        .collect();
    for _ in 0..3 {
        let page = fast.get("/v1/transactions").await;
        assert_eq!(page.json()["data"].as_array().unwrap().len(), 1);
        assert_eq!(fast.get("/v1/transactions?q=shop").await.status, StatusCode::OK);
        assert_eq!(fast.get("/readyz").await.status, StatusCode::OK);
        sign_in(&world, "kim@example.com").await;
    }
    // The person's own reads that are not slow are answered too.
    assert_eq!(slow.get("/v1/me").await.status, StatusCode::OK);
    assert!(reads.iter().all(|it| !it.is_finished()), "the slow reads are over too early");
    IS_RELEASED.store(true, Ordering::SeqCst);
    drop(release);
    for read in reads {
        assert_eq!(read.await.unwrap().status, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_request_behind_a_silent_database_is_answered_within_seconds() {
    let world = World::new().await;
    let Some(url) = world.database.url() else { return };
    let person = world.someone().await;
    let secret = person.key(new_key()).await.secret;
    let (proxy, through) = Proxy::to(url).await;
    let db = Db::open(&Target::postgres(&through).unwrap()).await.unwrap();
    let app = world.other_process_on(db);
    let client = Client::with_endpoints(app, web::api::ENDPOINTS, Some(secret));
    assert_eq!(client.get("/v1/accounts").await.status, StatusCode::OK);
    proxy.silence();
    // The key is looked up again, which is a read.
    world.advance_seconds(1);
    tokio::time::pause();
    let started = tokio::time::Instant::now();
    for path in ["/v1/accounts", "/sign-in", "/readyz"] {
        let answer = client.get(path).await;
        let took = started.elapsed();
        assert!(took < Duration::from_secs(15), "{path}: {took:?}");
        if path != "/sign-in" {
            assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
            assert!(answer.headers.contains_key("retry-after"), "{path}");
        }
    }
}

/// After a failover the old primary only allows reads.
#[tokio::test]
async fn a_read_only_database_gives_503_everywhere_until_it_accepts_writes_again() {
    let world = World::new().await;
    let Some(url) = world.database.url() else { return };
    let person = world.someone().await;
    let secret = person.key(new_key()).await.secret;
    let client = Client::with_endpoints(world.app.clone(), web::api::ENDPOINTS, Some(secret));
    assert_eq!(client.get("/readyz").await.status, StatusCode::OK);
    let name = url.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let admin = world.database.open().await;
    let set = async |value: &str| {
        let sql = format!("alter database {name} set default_transaction_read_only = {value}");
        let change = admin.write::<_, db::Error>(move |tx| {
            tx.execute("set transaction read write", &[])?;
            tx.execute(&sql, &[])
        });
        change.await.unwrap();
        // Only new connections follow the setting.
        let end = "select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()";
        admin.write::<_, db::Error>(move |tx| tx.each(end, &[], |_| Ok(()))).await.unwrap();
    };
    set("on").await;
    world.advance_seconds(2);
    let mut statuses = Vec::new();
    while statuses.last()
        != Some(&"the database is read-only; check which server is the primary\n".to_owned())
    {
        let ready = client.get("/readyz").await;
        assert_eq!(ready.status, StatusCode::SERVICE_UNAVAILABLE);
        statuses.push(String::from_utf8(ready.bytes).unwrap());
        assert!(statuses.len() < 50, "{statuses:?}");
    }
    let read = client.get("/v1/accounts").await;
    assert_eq!(read.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(read.headers["retry-after"], "5");
    set("off").await;
    world.advance_seconds(2);
    let mut tries = 0;
    while client.get("/readyz").await.status != StatusCode::OK {
        tries += 1;
        assert!(tries < 50, "it does not become ready again");
    }
    assert_eq!(client.get("/v1/accounts").await.status, StatusCode::OK);
}
