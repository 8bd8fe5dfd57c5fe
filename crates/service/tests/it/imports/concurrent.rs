//! Concurrent imports.

use service::ingest::imports;
use service::platform::health::count_miscounted_accounts;
use testkit::World;
use testkit::draft::{brokerage, checking, position, statement, txn};

fn household(offset: i64) -> base::draft::Statement {
    let many = (0..40).map(|it| {
        txn("2026-03-01", -100 * it, &format!("SHOP {it}")).id(&format!("t{}", it + offset))
    });
    statement([
        checking("Everyday").with_all(many).balance("2026-03-09T08:00:00Z", 100),
        brokerage("Brokerage").holding([position("VTI", "1")]),
    ])
}

#[tokio::test]
async fn the_same_statement_imported_by_two_processes_at_once_is_stored_once() {
    let world = World::new().await;
    let other_process = world.other_process().await;
    for round in 0..5 {
        let robin = world.person(&format!("robin{round}@example.com")).await;
        let (one, two) = tokio::join!(
            imports::commit(&world.app, &robin.caller, household(0)),
            imports::commit(&other_process, &robin.caller, household(0)),
        );
        let mut found = [one.unwrap(), two.unwrap()].map(|it| (it.new, it.seen));
        found.sort_unstable();
        assert_eq!(found, [(0, 40), (40, 0)]);
        let rows = crate::listed::all(&world.app, &robin.caller, &Default::default()).await;
        assert_eq!(rows.len(), 40);
    }
    assert_eq!(count_miscounted_accounts(&world.app.db).await.unwrap(), 0);
}

#[tokio::test]
async fn concurrent_overlapping_statements_lose_and_duplicate_nothing() {
    let world = World::new().await;
    let other_process = world.other_process().await;
    let (robin, kim) =
        (world.person("robin@example.com").await, world.person("kim@example.com").await);
    let mut running = Vec::new();
    for (index, offset) in [0, 20, 40, 60, 10, 50].into_iter().enumerate() {
        for person in [&robin, &kim] {
            let app = if index % 2 == 0 { world.app.clone() } else { other_process.clone() };
            let caller = person.caller.clone();
            running.push(tokio::spawn(async move {
                imports::commit(&app, &caller, household(offset)).await.unwrap()
            }));
        }
    }
    let mut new = 0;
    for import in running {
        new += import.await.unwrap().new;
    }
    assert_eq!(new, 2 * 100);
    for person in [&robin, &kim] {
        let rows = crate::listed::all(&world.app, &person.caller, &Default::default()).await;
        assert_eq!(rows.len(), 100);
    }
    assert_eq!(count_miscounted_accounts(&world.app.db).await.unwrap(), 0);
}
