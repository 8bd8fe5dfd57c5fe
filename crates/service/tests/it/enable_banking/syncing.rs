//! Syncs: the history at once, then as often as banks allow, and more only while the person is there.

use service::ingest::connections;
use testkit::enable_banking::{Fault, PendingList, Quirks, entry, pending};

use super::{BankFixture, GIRO};
use crate::is_conflict;

#[tokio::test]
async fn the_whole_history_comes_in_the_first_minutes() {
    let fixture = BankFixture::new().await;
    let quirks = Quirks { history_seconds: Some(180), ..Quirks::default() };
    fixture.server.set_quirks(quirks);
    fixture.server.update(GIRO, |it| {
        it.transactions.push(entry("b0", "2024-05-01", "8.00", "DBIT", "ALT"));
        it.transactions.push(entry("b1", "2026-03-01", "33.20", "DBIT", "MARKT"));
    });
    let id = fixture.connect().await;
    fixture.add_all(id).await;
    fixture.world.advance_seconds(60);
    connections::sync_once(&fixture.app).await.unwrap();
    assert_eq!(fixture.descriptions().await, ["MARKT", "ALT"]);
    let stored = fixture.world.stored().await;
    assert!(stored["transactions"][0].contains("eb:hash-giro"), "{:?}", stored["transactions"]);
    fixture.world.advance_seconds(86_400);
    connections::sync_once(&fixture.app).await.unwrap();
    assert_eq!(fixture.connection(id).await.attention, None);
}

#[tokio::test]
async fn four_times_a_day_without_the_person_and_more_when_they_ask() {
    let (fixture, id) = BankFixture::synced().await;
    let lists = || fixture.server.count("/transactions?date_from");
    for _ in 0..40 {
        fixture.world.advance_seconds(1_000);
        connections::sync_once(&fixture.app).await.unwrap();
    }
    let unattended = fixture.server.requests();
    let unattended = unattended.iter().filter(|it| it.path.contains("/transactions"));
    assert!(unattended.clone().all(|it| !it.has_presence));
    // From the command line, nobody is known to be there.
    for _ in 0..4 {
        let _ = connections::sync(&fixture.app, &fixture.robin.caller, id).await;
    }
    let message = is_conflict(connections::sync(&fixture.app, &fixture.robin.caller, id).await);
    assert!(message.contains("today's 4 Enable Banking requests"), "{message}");
    let before = lists();
    fixture.server.update(GIRO, |it| {
        it.transactions.push(entry("b2", "2026-03-10", "5.00", "DBIT", "BROT"));
    });
    assert_eq!(fixture.sync_now(id).await.unwrap().summary.new, 1);
    assert!(lists() > before && fixture.server.requests().last().unwrap().has_presence);
    fixture.world.advance_seconds(86_400);
    assert_eq!(connections::sync_once(&fixture.app).await.unwrap(), 1);
}

#[tokio::test]
async fn syncs_that_the_person_asks_for_leave_the_four_others_of_the_day() {
    let (fixture, id) = BankFixture::synced().await;
    // Finding the accounts and the first sync were without the person.
    for _ in 0..12 {
        fixture.sync_now(id).await.unwrap();
    }
    let it = fixture.connection(id).await;
    assert_eq!((it.requests_today, it.requests_max), (14, 16));
    let message = is_conflict(fixture.sync_now(id).await);
    assert!(message.contains("today's 12 Enable Banking requests"), "{message}");
    for _ in 0..2 {
        connections::sync(&fixture.app, &fixture.robin.caller, id).await.unwrap();
    }
    let message = is_conflict(connections::sync(&fixture.app, &fixture.robin.caller, id).await);
    assert!(message.contains("today's 4 Enable Banking requests"), "{message}");
    // A new day begins both counts again, whichever sync comes first.
    fixture.world.advance_seconds(86_400);
    fixture.sync_now(id).await.unwrap();
    assert_eq!(fixture.connection(id).await.requests_today, 1);
    connections::sync(&fixture.app, &fixture.robin.caller, id).await.unwrap();
    assert_eq!(fixture.connection(id).await.requests_today, 2);
}

#[tokio::test]
async fn a_pending_transaction_that_is_booked_keeps_its_id() {
    let (fixture, id) = BankFixture::synced().await;
    let purchase = pending("p1", "2026-03-09", "5.00", "KAFFEE");
    fixture.server.update(GIRO, |it| it.transactions.push(purchase));
    fixture.sync_now(id).await.unwrap();
    assert_eq!(fixture.descriptions().await, ["KAFFEE?", "MARKT"]);
    let before = fixture.rows().await[0].id;
    fixture.server.update(GIRO, |it| {
        it.transactions.pop();
        // The bank's booked text has nothing of the pending one; only the reference is the same.
        it.transactions.push(entry("p1", "2026-03-10", "9.90", "DBIT", "Abrechnung 17"));
    });
    let synced = fixture.sync_now(id).await.unwrap().summary;
    assert_eq!((synced.new, synced.changed, synced.removed), (0, 1, 0));
    assert_eq!(fixture.descriptions().await, ["Abrechnung 17", "MARKT"]);
    assert_eq!(fixture.rows().await[0].id, before);
}

#[tokio::test]
async fn a_bank_that_refused_its_pending_transactions_once_is_asked_again_after_a_week() {
    let (fixture, id) = BankFixture::synced().await;
    let quirks = Quirks { pending: PendingList::Separate, ..Quirks::default() };
    fixture.server.set_quirks(quirks);
    let refusal = Fault::Response(422, "{\"error\":\"WRONG_REQUEST_PARAMETERS\"}".to_owned());
    fixture.server.fail_next("PDNG", refusal);
    fixture.sync_now(id).await.unwrap();
    fixture.server.update(GIRO, |it| {
        it.transactions.push(pending("p1", "2026-03-16", "5.00", "KAFFEE"));
    });
    fixture.world.advance_seconds(6 * 86_400);
    fixture.sync_now(id).await.unwrap();
    assert_eq!(fixture.descriptions().await, ["MARKT"]);
    fixture.world.advance_seconds(86_400);
    fixture.sync_now(id).await.unwrap();
    assert_eq!(fixture.descriptions().await, ["KAFFEE?", "MARKT"]);
}
