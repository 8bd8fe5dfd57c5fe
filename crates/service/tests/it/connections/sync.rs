//! Syncs: what they import, when they run, and how they are limited and undone.

use base::draft::AccountKind;
use service::ingest::connections::{self, History};
use service::ingest::imports::{self, Summary};
use service::platform::health::count_miscounted_accounts;
use testkit::day;
use testkit::simplefin::{Account, Transaction};

use super::{ConnectionsFixture, DAY, HOUR, noon};
use crate::is_conflict;

fn summary(new: usize, changed: usize, seen: usize, removed: usize) -> Summary {
    Summary { new, changed, seen, removed }
}

#[tokio::test]
async fn the_first_sync_imports_accounts_balances_and_the_newest_days() {
    let fixture = ConnectionsFixture::new().await;
    let id = fixture.claim().await;
    fixture.add_all(id).await;
    let synced = fixture.sync(id).await;
    assert_eq!((synced.summary, synced.accounts_with_problems), (summary(3, 0, 0, 0), 0));
    assert_eq!(fixture.descriptions().await, ["COFFEE?", "PAYROLL", "GROCER 12"]);
    let all = fixture.accounts().await;
    let summaries: Vec<_> =
        all.iter().map(|it| (it.kind, it.balance_current_minor, it.source.as_str())).collect();
    assert_eq!(
        summaries,
        [
            (AccountKind::Depository, Some(10_023), "simplefin"),
            (AccountKind::Credit, Some(42_000), "simplefin"),
            (AccountKind::Loan, Some(900_000), "simplefin"),
        ]
    );
    let connection = fixture.connection(id).await;
    assert_eq!(connection.institutions, ["First Bank", "Second Bank"]);
    assert_eq!((connection.accounts.len(), connection.requests_today), (3, 2));
    assert_eq!(connection.history, Some(History { from: day("2026-01-27"), is_complete: false }));
    let path = fixture.server.requests().pop().unwrap().path;
    assert!(path.contains("pending=1") && !path.contains("account="), "{path}");
    assert_eq!(fixture.sync(id).await.summary, summary(0, 0, 2, 0));
    assert_eq!(count_miscounted_accounts(&fixture.world.app.db).await.unwrap(), 0);
}

#[tokio::test]
async fn a_pending_row_that_posts_stays_the_same_transaction() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    let lunch = Transaction::pending("T4", noon("2026-03-09"), "-9.00", "LUNCH");
    fixture.server.transaction("ACT-checking", lunch);
    fixture.sync(id).await;
    let ids = |rows: &[crate::listed::Listed], name: &str| {
        rows.iter().filter(|it| it.description == name).map(|it| it.id).collect::<Vec<_>>()
    };
    let before = fixture.rows().await;
    fixture.server.post("ACT-checking", "T3", noon("2026-03-10"), None);
    fixture.server.post("ACT-checking", "T4", noon("2026-03-10"), Some("T4-BOOKED"));
    assert_eq!(fixture.sync(id).await.summary, summary(0, 2, 1, 0));
    let after = fixture.rows().await;
    for name in ["COFFEE", "LUNCH"] {
        assert_eq!(ids(&before, name), ids(&after, name));
    }
    assert!(after.iter().all(|it| !it.pending));
}

#[tokio::test]
async fn a_pending_row_that_is_no_longer_listed_is_removed_after_a_while() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    fixture.server.update_account("ACT-checking", |it| it.transactions.retain(|it| it.id != "T3"));
    fixture.world.advance_seconds(7 * DAY);
    assert_eq!(fixture.sync(id).await.summary.removed, 0);
    fixture.server.set_incomplete("ACT-checking", true);
    fixture.world.advance_seconds(2 * DAY);
    assert_eq!(fixture.sync(id).await.summary.removed, 0);
    fixture.server.set_incomplete("ACT-checking", false);
    assert_eq!(fixture.sync(id).await.summary.removed, 1);
    assert_eq!(fixture.descriptions().await, ["PAYROLL", "GROCER 12"]);
    assert_eq!(count_miscounted_accounts(&fixture.world.app.db).await.unwrap(), 0);
}

#[tokio::test]
async fn a_connection_is_synced_every_six_hours() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    fixture.run_due_syncs().await;
    let requests = fixture.request_count();
    fixture.world.advance_seconds(6 * HOUR - 60);
    assert_eq!(fixture.run_due_syncs().await, 0);
    fixture.world.advance_seconds(22 * 60);
    let lunch = Transaction::posted("T4", noon("2026-03-10"), "-9.00", "LUNCH");
    fixture.server.transaction("ACT-checking", lunch);
    assert_eq!(fixture.run_due_syncs().await, 1);
    assert_eq!(fixture.request_count(), requests + 1);
    assert_eq!(fixture.descriptions().await[0], "LUNCH");
    let connection = fixture.connection(id).await;
    assert_eq!(connection.synced_at, Some(fixture.world.clock.now()));
    // Only from fourteen days before the last sync, not the longest possible range.
    let start = format!("start-date={}", noon("2026-02-24") - 12 * 3_600);
    let path = fixture.server.requests().pop().unwrap().path;
    assert!(path.contains(&start), "{path}");
}

#[tokio::test]
async fn two_processes_sync_a_connection_once() {
    let fixture = ConnectionsFixture::new().await;
    let id = fixture.claim().await;
    fixture.add_all(id).await;
    let other_process = fixture.world.other_process().await;
    let (one, other) = tokio::join!(
        connections::sync_once(&fixture.world.app),
        connections::sync_once(&other_process)
    );
    assert!(one.unwrap() + other.unwrap() > 0);
    // The second process may already fetch history.
    let newest = fixture.server.requests().into_iter().filter(|it| it.path.contains("pending"));
    assert_eq!(newest.count(), 1);
    assert_eq!(fixture.descriptions().await.len(), 3);
}

#[tokio::test]
async fn the_requests_of_a_day_are_counted_and_never_exceeded() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    fixture.run_due_syncs().await;
    let refused = loop {
        match fixture.try_sync(id).await {
            Ok(_) => assert!(fixture.request_count() < 30),
            Err(error) => break is_conflict::<()>(Err(error)),
        }
    };
    assert!(
        refused.contains("20 SimpleFIN requests") && refused.contains("after midnight"),
        "{refused}"
    );
    let connection = fixture.connection(id).await;
    assert_eq!(fixture.request_count() as i64, connection.requests_max);
    assert_eq!(connection.requests_today, connection.requests_max);
    fixture.world.advance_seconds(7 * HOUR);
    assert_eq!(fixture.run_due_syncs().await, 0);
    assert_eq!(fixture.request_count() as i64, connection.requests_max);
    // The count starts over at midnight, and the next sync was moved after it.
    fixture.world.advance_seconds(6 * HOUR);
    assert_eq!(fixture.connection(id).await.requests_today, 0);
    assert_eq!(fixture.run_due_syncs().await, 1);
}

#[tokio::test]
async fn a_sync_can_be_undone() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    let (app, robin) = (&fixture.world.app, &fixture.robin.caller);
    let lunch = Transaction::posted("T4", noon("2026-03-10"), "-9.00", "LUNCH");
    fixture.server.transaction("ACT-checking", lunch);
    fixture.server.post("ACT-checking", "T3", noon("2026-03-10"), None);
    fixture.sync(id).await;
    let batches = imports::list(app, robin, Some(id), 10).await.unwrap();
    assert_eq!(batches.len(), 2);
    imports::undo(app, robin, batches[0].id).await.unwrap();
    assert_eq!(fixture.descriptions().await, ["COFFEE?", "PAYROLL", "GROCER 12"]);
    imports::undo(app, robin, batches[1].id).await.unwrap();
    assert_eq!(fixture.accounts().await.len(), 0);
    // Accounts of an undone sync are not imported again by themselves, but offered again.
    fixture.sync(id).await;
    assert_eq!(fixture.accounts().await.len(), 0);
    assert_eq!(fixture.connection(id).await.open_offers, 3);
    fixture.add_all(id).await;
    fixture.sync(id).await;
    assert_eq!(fixture.descriptions().await.len(), 4);
}

#[tokio::test]
async fn duplicate_ids_and_ids_with_spaces_lose_no_transaction() {
    let fixture = ConnectionsFixture::new().await;
    let mut demo = Account::new("CON-1", "Demo Savings", "Savings", "10", noon("2026-03-10"));
    demo.transactions = vec![
        Transaction::posted("A 1", noon("2026-03-02"), "-1.00", "ONE"),
        Transaction::posted("A 1", noon("2026-03-03"), "-2.00", "TWO"),
        Transaction::posted("A 1", noon("2026-03-03"), "-2.00", "TWO"),
    ];
    fixture.server.account(demo);
    let id = fixture.claim().await;
    fixture.add_all(id).await;
    assert_eq!(fixture.sync(id).await.summary.new, 5);
    assert_eq!(fixture.sync(id).await.summary, summary(0, 0, 4, 0));
}
