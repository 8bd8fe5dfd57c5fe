//! Metrics of webhooks: what this process counted, and figures of the whole installation.

use base::metrics::MetricFamily;
use db::params;

use crate::context::Webhooks;
use crate::endpoint::EndpointStatus;
use crate::error::Result;

/// The most rows that a figure counts, so that reporting stays cheap however much waits.
const COUNTED_MAX: i64 = 100_000;

impl Webhooks {
    /// The metrics of webhooks in this process.
    pub fn metrics(&self) -> Vec<MetricFamily> {
        self.meters.families()
    }

    /// Deliveries of this process whose outcome came after the end of their lease.
    pub fn lost_leases(&self) -> u64 {
        self.meters.lost_leases()
    }

    /// Figures of the whole installation.
    pub async fn figures(&self) -> Result<Vec<MetricFamily>> {
        let now = self.db.now().await?;
        let read = |row: &db::Row<'_>| Ok((row.get::<i64>(0)?, row.get::<Option<i64>>(1)?));
        let waiting = self.db.first(WAITING, params![COUNTED_MAX], read).await?;
        let (waiting, oldest) = waiting.unwrap_or_default();
        let overdue = oldest.map_or(0, |it| (now.as_microsecond() - it).max(0) / 1_000_000);
        let dead = self.db.first(DEAD, params![COUNTED_MAX], |row| row.get::<i64>(0)).await?;
        let read = |row: &db::Row<'_>| Ok((row.get::<EndpointStatus>(0)?, row.get::<i64>(1)?));
        let counted = self.db.all(ENDPOINTS, params![COUNTED_MAX], read).await?;
        let mut endpoints = MetricFamily::gauge("webhook_endpoints", "Webhook endpoints, by state");
        for state in EndpointStatus::ALL {
            let count = counted.iter().find(|it| it.0 == *state).map_or(0, |it| it.1);
            endpoints.add(&[("state", state.as_str())], count);
        }
        Ok(vec![
            MetricFamily::gauge(
                "deliveries_waiting",
                "Deliveries that are due, in flight or wait for a retry, at most 100000",
            )
            .with(&[], waiting),
            MetricFamily::gauge(
                "delivery_overdue_seconds",
                "How long the most overdue delivery has been due",
            )
            .with(&[], overdue),
            MetricFamily::gauge(
                "dead_letters",
                "Deliveries that failed and are not retried, at most 100000",
            )
            .with(&[], dead.unwrap_or(0)),
            endpoints,
        ])
    }
}

const WAITING: &str = "select cast(count(*) as bigint), min(due_at)
    from (select due_at from deliveries where due_at is not null limit $1) as waiting";
const DEAD: &str = "select cast(count(*) as bigint)
    from (select 1 from deliveries where status = 'failed' limit $1) as failed";
const ENDPOINTS: &str = "select status, cast(count(*) as bigint)
    from (select status from webhook_endpoints limit $1) as endpoints group by status";

pub(crate) const STATEMENTS: &[&str] = &[WAITING, DEAD, ENDPOINTS];
