//! The past, bit by bit.

use service::ingest::connections::{self, History};
use testkit::day;
use testkit::simplefin::Transaction;

use super::{DAY, HOUR, Home, noon};

fn old(server: &testkit::simplefin::SimpleFin, id: &str, on: &str) {
    let row = Transaction::posted(id, noon(on), "-10.00", &format!("OLD {id}"));
    server.transaction("ACT-checking", row);
}

#[tokio::test]
async fn history_is_fetched_until_two_periods_are_empty() {
    let (home, id) = Home::synced().await;
    old(&home.server, "P1", "2026-01-05");
    old(&home.server, "P2", "2025-11-20");
    let before = home.asked();
    assert_eq!(home.steps().await, 4);
    assert_eq!(home.asked(), before + 4);
    assert!(home.told().await.contains(&"OLD P2".to_owned()));
    let from = day("2025-08-04");
    let history = home.connection(id).await.history;
    assert_eq!(history, Some(History { from, is_complete: true }));
    home.world.advance_seconds(HOUR);
    assert_eq!(home.steps().await, 0);
    let asked = home.server.requests();
    assert!(asked.iter().rev().take(4).all(|it| !it.path.contains("pending")));
}

#[tokio::test]
async fn history_leaves_requests_for_new_transactions_and_ends_after_two_years() {
    let (home, id) = Home::synced().await;
    for month in 1..=12 {
        for year in [2023, 2024, 2025] {
            old(&home.server, &format!("{year}-{month}"), &format!("{year}-{month:02}-15"));
            old(&home.server, &format!("{year}-{month}b"), &format!("{year}-{month:02}-01"));
        }
    }
    assert_eq!(home.steps().await, 12);
    assert_eq!(home.connection(id).await.requests_today, 14);
    home.sync(id).await;
    home.world.advance_seconds(14 * HOUR);
    home.steps().await;
    let history = home.connection(id).await.history.unwrap();
    assert!(history.is_complete && history.from <= day("2024-03-11"), "{history:?}");
    assert!(history.from > day("2024-01-01"), "{history:?}");
}

#[tokio::test]
async fn one_more_period_of_history_can_be_synced_from_the_command_line() {
    let (home, id) = Home::synced().await;
    old(&home.server, "P1", "2026-01-05");
    let (app, robin) = (&home.world.app, &home.robin.caller);
    let mut brought = Vec::new();
    while let Some(synced) = connections::sync_history(app, robin, id).await.unwrap() {
        brought.push(synced.summary.new);
    }
    assert_eq!(brought, [1, 0, 0]);
}

#[tokio::test]
async fn a_server_that_returns_fewer_days_is_asked_for_fewer() {
    let home = Home::new().await;
    home.server.limit_days(20);
    old(&home.server, "P1", "2026-02-18");
    old(&home.server, "P2", "2026-01-20");
    let id = home.claim().await;
    home.take_all(id).await;
    home.sync(id).await;
    assert_eq!(home.connection(id).await.history.unwrap().from, day("2026-02-21"));
    home.steps().await;
    let told = home.told().await;
    for row in ["OLD P1", "OLD P2", "GROCER 12"] {
        assert!(told.contains(&row.to_owned()), "{row}: {told:?}");
    }
    let spans = home.server.requests().into_iter().filter(|it| it.path.contains("end-date"));
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
    let (home, _) = Home::synced().await;
    home.steps().await;
    home.server.needs_auth("CON-1", true);
    for _ in 0..100 {
        home.world.advance_seconds(DAY);
        home.steps().await;
    }
    old(&home.server, "P1", "2026-04-01");
    home.server.needs_auth("CON-1", false);
    home.world.advance_seconds(DAY);
    home.steps().await;
    assert!(home.told().await.contains(&"OLD P1".to_owned()));
}
