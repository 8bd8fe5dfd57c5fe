//! Outages: a full disk or an unreachable database. The response is 503 until the outage is over.

use http::StatusCode;
use testkit::draft::{checking, statement, txn};
use testkit::{Proxy, World, new_key};

use crate::client::Client;

#[tokio::test]
async fn an_unreachable_database_gives_503_until_it_is_back() {
    let world = World::new().await;
    // Only a PostgreSQL server can be unreachable; the SQLite file cannot.
    let Some(url) = world.database.url() else { return };
    let person = world.person("robin@example.com").await;
    let secret = person.key(new_key()).await.secret;
    let (proxy, through) = Proxy::to(url).await;
    let target = db::Target::postgres(&through).unwrap();
    let app = world.other_process_on(db::Db::open(&target).await.unwrap());
    let client = Client::with_endpoints(app, web::api::ENDPOINTS, Some(secret));
    assert_eq!(client.get("/v1/me").await.status, StatusCode::OK);

    proxy.cut();
    // A key is cached for half a second after its lookup; after that it must be looked up again.
    world.advance_seconds(1);
    let unavailable = client.get("/v1/me").await;
    assert_eq!(
        unavailable.refusal(),
        "503 UNAVAILABLE: the service cannot reach its data right now"
    );
    assert_eq!(unavailable.header("retry-after"), "5");
    assert_eq!(client.get("/readyz").await.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(client.get("/healthz").await.status, StatusCode::OK, "the process is still alive");

    proxy.restore();
    assert_eq!(client.get("/v1/me").await.status, StatusCode::OK);
    assert_eq!(client.get("/readyz").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_full_disk_stops_writes_but_not_reads() {
    let world = World::new().await;
    // SQLite only: the disk of a PostgreSQL server is its operator's, and the test above covers its errors.
    if world.database.url().is_some() {
        return;
    }
    let person = world.person("robin@example.com").await;
    let client = Client::of(&world, &person).await;
    person.import(statement([checking("Everyday").with(txn("2026-03-01", -100, "A"))])).await;
    let cap = |pages: &'static str| {
        let db = world.app.db.clone();
        async move {
            let set = move |tx: &mut db::Tx<'_>| tx.first(pages, &[], |row| row.get::<i64>(0));
            db.write::<_, db::Error>(set).await.unwrap();
        }
    };
    cap("pragma max_page_count = 1").await;
    let rows = (0..2_000).map(|it| txn("2026-03-02", -it, &"LONG NAME ".repeat(20)));
    let full = person.try_import(statement([checking("Everyday").with_all(rows.clone())])).await;
    assert!(matches!(full, Err(service::Error::Unavailable(_))), "{full:?}");
    let ready = client.get("/readyz").await;
    assert_eq!(ready.status, StatusCode::SERVICE_UNAVAILABLE, "the database accepts no writes");
    assert_eq!(ready.bytes, b"the database does not accept writes; check its disk\n");
    let page = client.get("/v1/transactions").await.json();
    assert_eq!(page["pagination"]["total_count"], 1, "nothing of the failed import is stored");

    cap("pragma max_page_count = 1073741823").await;
    assert_eq!(client.get("/readyz").await.status, StatusCode::OK);
    let summary = person.import(statement([checking("Everyday").with_all(rows)])).await;
    assert_eq!(summary.new, 2_000);
}

#[tokio::test]
async fn a_dead_background_loop_makes_the_server_not_ready() {
    let world = World::new().await;
    let client = Client::anonymous(&world);
    let background = &world.app.background;
    background.start("carry out what was approved", std::time::Duration::from_secs(3_600));
    assert_eq!(client.get("/readyz").await.status, StatusCode::OK);
    for _ in 0..3 {
        background.record_panic("carry out what was approved");
    }
    let ready = client.get("/readyz").await;
    assert_eq!(ready.status, StatusCode::SERVICE_UNAVAILABLE);
    let body = String::from_utf8(ready.bytes).unwrap();
    assert!(body.contains("\"carry out what was approved\" has stopped"), "{body}");
    let metrics = String::from_utf8(client.get("/metrics").await.bytes).unwrap();
    for line in [
        "evenkeel_background_alive{loop=\"carry out what was approved\"} 0",
        "evenkeel_background_panics_total{loop=\"carry out what was approved\"} 3",
        "evenkeel_background_failures_total{loop=\"carry out what was approved\"} 0",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}\n{metrics}");
    }
    background.record_step("carry out what was approved");
    assert_eq!(client.get("/readyz").await.status, StatusCode::OK);
}
