//! Slow searches wait for the slow-read pool; other requests do not.

use std::sync::mpsc;
use std::time::Duration;

use db::{Db, ReadLimits};
use http::StatusCode;
use testkit::draft::{checking, statement, txn};
use testkit::{World, new_key};

use crate::client::Client;

/// Occupies the whole slow-read pool, from threads of its own, until the sender is dropped.
fn occupy_slow_read_pool(db: &Db) -> (mpsc::Sender<()>, Vec<std::thread::JoinHandle<()>>) {
    let (inside, is_inside) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let released = std::sync::Arc::new(std::sync::Mutex::new(released));
    let holders: Vec<_> = (0..db.read_limits().slow_at_once)
        .map(|_| {
            let (db, inside, released) = (db.clone(), inside.clone(), released.clone());
            // A connection ends with the runtime that opened it, so all threads use the test's runtime.
            let runtime = tokio::runtime::Handle::current();
            std::thread::spawn(move || {
                let holding = db.each_slow("select cast(1 as bigint)", &[], |_| {
                    inside.send(()).unwrap();
                    // Returns an error when the sender is dropped, which ends the wait.
                    let _ = released.lock().unwrap().recv();
                    Ok(())
                });
                runtime.block_on(holding).unwrap();
            })
        })
        .collect();
    for _ in &holders {
        is_inside.recv().unwrap();
    }
    (release, holders)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_slow_searches_do_not_delay_other_requests() {
    let world = World::new().await;
    let robin = world.someone().await;
    let rows = (0..20).map(|it| txn("2026-03-01", -1 - it, &format!("SHOP {it}")));
    robin.import(statement([checking("A").with_all(rows)])).await;
    let secret = robin.key(new_key()).await.secret;
    let limits = ReadLimits { total: Duration::from_secs(300), ..world.app.db.read_limits() };
    let db = Db::open_with(&world.database.target(), limits).await.unwrap();
    let app = world.other_process_on(db);
    let client = Client::with_endpoints(app.clone(), web::api::ENDPOINTS, Some(secret));
    let (release, holders) = occupy_slow_read_pool(&app.db);

    let searches: Vec<_> = (0..8)
        .map(|it| {
            let client = client.clone();
            let path = format!("/v1/transactions?q=shop%20{it}");
            tokio::spawn(async move { client.get(&path).await })
        })
        .collect();
    for _ in 0..5 {
        assert_eq!(client.get("/healthz").await.status, StatusCode::OK);
        let small = client.get("/v1/transactions?limit=3").await;
        assert_eq!(small.json()["data"].as_array().unwrap().len(), 3);
        assert_eq!(client.get("/v1/accounts").await.status, StatusCode::OK);
    }
    assert!(searches.iter().all(|it| !it.is_finished()), "the searches must wait for the pool");
    drop(release);
    for search in searches {
        let answer = search.await.unwrap();
        assert_eq!(answer.status, StatusCode::OK);
        assert!(!answer.json()["data"].as_array().unwrap().is_empty());
    }
    tokio::task::spawn_blocking(|| holders.into_iter().for_each(|it| it.join().unwrap()))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_that_takes_too_long_is_refused_with_advice() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([checking("A").with(txn("2026-03-01", -1, "SHOP"))])).await;
    let secret = robin.key(new_key()).await.secret;
    let limits = ReadLimits { total: Duration::from_millis(100), ..world.app.db.read_limits() };
    let db = Db::open_with(&world.database.target(), limits).await.unwrap();
    let app = world.other_process_on(db);
    let (release, holders) = occupy_slow_read_pool(&app.db);
    let client = Client::with_endpoints(app.clone(), web::api::ENDPOINTS, Some(secret));
    let answer = client.get("/v1/transactions?q=shop").await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.headers["retry-after"], "5");
    let error = &answer.json()["error"];
    assert_eq!(error["code"], "UNAVAILABLE");
    assert!(error["message"].as_str().unwrap().contains("ask for less"), "{error}");
    assert!(error["message"].as_str().unwrap().contains("for fewer days"), "{error}");
    drop(release);
    tokio::task::spawn_blocking(|| holders.into_iter().for_each(|it| it.join().unwrap()))
        .await
        .unwrap();
}
