//! History: earlier transactions are fetched in periods.

use service::ingest::connections::{self, History};
use testkit::day;
use testkit::simplefin::Transaction;

use super::{ConnectionsFixture, DAY, HOUR, noon};

fn add_old_transaction(server: &testkit::simplefin::SimpleFin, id: &str, on: &str) {
    let row = Transaction::posted(id, noon(on), "-10.00", &format!("OLD {id}"));
    server.transaction("ACT-checking", row);
}

#[tokio::test]
async fn history_is_fetched_until_two_periods_are_empty() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    add_old_transaction(&fixture.server, "P1", "2026-01-05");
    add_old_transaction(&fixture.server, "P2", "2025-11-20");
    let before = fixture.request_count();
    assert_eq!(fixture.run_due_syncs().await, 4);
    assert_eq!(fixture.request_count(), before + 4);
    assert!(fixture.descriptions().await.contains(&"OLD P2".to_owned()));
    let from = day("2025-08-04");
    let history = fixture.connection(id).await.history;
    assert_eq!(history, Some(History { from, is_complete: true }));
    fixture.world.advance_seconds(HOUR);
    assert_eq!(fixture.run_due_syncs().await, 0);
    let requests = fixture.server.requests();
    assert!(requests.iter().rev().take(4).all(|it| !it.path.contains("pending")));
}

#[tokio::test]
async fn history_leaves_requests_for_new_transactions_and_ends_after_two_years() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    for month in 1..=12 {
        for year in [2023, 2024, 2025] {
            add_old_transaction(
                &fixture.server,
                &format!("{year}-{month}"),
                &format!("{year}-{month:02}-15"),
            );
            add_old_transaction(
                &fixture.server,
                &format!("{year}-{month}b"),
                &format!("{year}-{month:02}-01"),
            );
        }
    }
    assert_eq!(fixture.run_due_syncs().await, 12);
    assert_eq!(fixture.connection(id).await.requests_today, 14);
    fixture.sync(id).await;
    fixture.world.advance_seconds(14 * HOUR);
    fixture.run_due_syncs().await;
    let history = fixture.connection(id).await.history.unwrap();
    assert!(history.is_complete && history.from <= day("2024-03-11"), "{history:?}");
    assert!(history.from > day("2024-01-01"), "{history:?}");
}

#[tokio::test]
async fn one_more_period_of_history_can_be_synced_from_the_command_line() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    add_old_transaction(&fixture.server, "P1", "2026-01-05");
    let (app, robin) = (&fixture.world.app, &fixture.robin.caller);
    let mut imported = Vec::new();
    while let Some(synced) = connections::sync_history(app, robin, id).await.unwrap() {
        imported.push(synced.summary.new);
    }
    assert_eq!(imported, [1, 0, 0]);
}

#[tokio::test]
async fn a_server_that_returns_fewer_days_is_asked_for_fewer() {
    let fixture = ConnectionsFixture::new().await;
    fixture.server.limit_days(20);
    add_old_transaction(&fixture.server, "P1", "2026-02-18");
    add_old_transaction(&fixture.server, "P2", "2026-01-20");
    let id = fixture.claim().await;
    fixture.add_all(id).await;
    fixture.sync(id).await;
    assert_eq!(fixture.connection(id).await.history.unwrap().from, day("2026-02-21"));
    fixture.run_due_syncs().await;
    let found = fixture.descriptions().await;
    for row in ["OLD P1", "OLD P2", "GROCER 12"] {
        assert!(found.contains(&row.to_owned()), "{row}: {found:?}");
    }
    let spans = fixture.server.requests().into_iter().filter(|it| it.path.contains("end-date"));
    let days = |path: &str, name: &str| {
        let value = path.split(&format!("{name}=")).nth(1).unwrap().split('&').next().unwrap();
        value.parse::<i64>().unwrap() / 86_400
    };
    let lengths: Vec<i64> =
        spans.map(|it| days(&it.path, "end-date") - days(&it.path, "start-date")).collect();
    assert_eq!(lengths[..3], [44, 19, 19]);
}

#[tokio::test]
async fn an_account_that_was_unavailable_for_long_gets_the_missing_transactions() {
    let (fixture, _) = ConnectionsFixture::synced().await;
    fixture.run_due_syncs().await;
    fixture.server.needs_auth("CON-1", true);
    for _ in 0..100 {
        fixture.world.advance_seconds(DAY);
        fixture.run_due_syncs().await;
    }
    add_old_transaction(&fixture.server, "P1", "2026-04-01");
    fixture.server.needs_auth("CON-1", false);
    fixture.world.advance_seconds(DAY);
    fixture.run_due_syncs().await;
    assert!(fixture.descriptions().await.contains(&"OLD P1".to_owned()));
}
