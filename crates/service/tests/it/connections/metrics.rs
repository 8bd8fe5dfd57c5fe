//! Metrics of bank connections.

use super::ConnectionsFixture;
use crate::is_conflict;
use crate::metrics::metric;

#[tokio::test]
async fn syncs_failures_and_budgets_are_reported_by_provider() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    let app = &fixture.world.app;
    let simplefin = ("provider", "simplefin");
    let succeeded = metric(app, "sync_seconds", &[simplefin, ("outcome", "succeeded")]).await;
    assert!(succeeded >= 1);
    assert_eq!(metric(app, "bank_connections", &[simplefin, ("state", "connected")]).await, 1);
    let left = metric(app, "sync_budget_left", &[simplefin]).await;
    assert!((1..24).contains(&left), "{left}");
    let synced_at = fixture.world.clock.now().as_second();
    assert_eq!(metric(app, "sync_oldest_timestamp_seconds", &[simplefin]).await, synced_at);
    fixture.server.revoke();
    is_conflict(fixture.try_sync(id).await);
    fixture.world.advance_seconds(6);
    assert_eq!(metric(app, "sync_seconds", &[simplefin, ("outcome", "failed")]).await, 1);
    assert_eq!(metric(app, "sync_failures", &[simplefin]).await, 1);
    assert_eq!(metric(app, "sync_budget_left", &[simplefin]).await, left - 1);
    let needing = [simplefin, ("state", "needs_attention")];
    assert_eq!(metric(app, "bank_connections", &needing).await, 1);
}
