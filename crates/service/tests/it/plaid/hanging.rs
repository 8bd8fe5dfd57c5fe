//! Banks that never answer: nobody else waits for them.

use std::time::Duration;

use base::ConnectionId;
use service::ingest::connections;
use tokio::sync::watch;

use super::{PlaidFixture, row};

/// More than the syncs that start at a time.
const HANGING: usize = 9;
/// Only a sync that never comes takes so long.
const WITHIN: Duration = Duration::from_secs(60);

impl PlaidFixture {
    /// A connection that is due.
    async fn connect_due(&self, institution: &str) -> (ConnectionId, String) {
        let (id, item) = self.connect(institution).await;
        let transaction = format!("t-{institution}");
        self.server.add(&item, row(&transaction, "2026-03-01", "33.20", "GROCER 12"));
        self.add_all(id).await;
        (id, item)
    }

    async fn wait_until_synced(&self, id: ConnectionId) {
        let synced = async {
            while self.connection(id).await.synced_at.is_none() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(WITHIN, synced).await.expect("the connection is synced");
    }
}

#[tokio::test]
async fn nobody_waits_behind_hanging_banks() {
    let fixture = PlaidFixture::new().await;
    let mut hanging = Vec::new();
    for number in 0..HANGING {
        let (id, item) = fixture.connect_due(&format!("ins_{number}")).await;
        fixture.server.hang(&item);
        // The longest due is first.
        fixture.world.advance_seconds(1);
        hanging.push(id);
    }
    let (good, _) = fixture.connect_due("ins_good").await;
    let (_stop, stopped) = watch::channel(false);
    let running = tokio::spawn(connections::run_syncs(fixture.app.clone(), stopped));
    fixture.wait_until_synced(good).await;
    // One that becomes due while the others still hang does not wait for the next look, either.
    let (late, _) = fixture.connect_due("ins_late").await;
    fixture.wait_until_synced(late).await;
    for id in hanging {
        assert_eq!(fixture.connection(id).await.synced_at, None);
    }
    assert!(!running.is_finished());
    running.abort();
}

#[tokio::test]
async fn the_loop_ends_when_the_program_stops() {
    let fixture = PlaidFixture::new().await;
    let (id, _) = fixture.connect_due("ins_1").await;
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn(connections::run_syncs(fixture.app.clone(), stopped));
    fixture.wait_until_synced(id).await;
    stop.send(true).unwrap();
    tokio::time::timeout(WITHIN, running).await.expect("the loop ends").unwrap();
}
