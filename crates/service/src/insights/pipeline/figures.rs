//! How many people wait for a recompute, and how long, for metrics.

use base::metrics::MetricFamily;
use db::params;

use crate::{App, Result};

/// The most people who are counted.
const COUNTED_MAX: i64 = 100_000;

pub(crate) async fn figures(app: &App) -> Result<Vec<MetricFamily>> {
    let now = app.db.now().await?;
    let read = |row: &db::Row<'_>| Ok((row.get::<i64>(0)?, row.get::<Option<i64>>(1)?));
    let due = app.db.first(DUE, params![now, COUNTED_MAX], read).await?;
    let (people, oldest) = due.unwrap_or_default();
    let waited = oldest.map_or(0, |it| (now.as_microsecond() - it).max(0) / 1_000_000);
    Ok(vec![
        MetricFamily::gauge("insight_backlog", "People who wait for a recompute, at most 100000")
            .with(&[], people),
        MetricFamily::gauge(
            "insight_oldest_wait_seconds",
            "How long the person has waited who waits the longest",
        )
        .with(&[], waited),
    ])
}

const DUE: &str = "select cast(count(*) as bigint), min(wanted_at)
    from (select wanted_at from insight_work where wanted_at <= $1 limit $2) as due";

pub(super) const STATEMENTS: &[&str] = &[DUE];
