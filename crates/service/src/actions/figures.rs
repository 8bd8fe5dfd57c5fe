//! How many actions are open, for metrics.

use base::metrics::MetricFamily;
use db::params;

use super::action::Status;
use crate::{App, Result};

/// The most actions that are counted.
const COUNTED_MAX: i64 = 100_000;

pub(crate) async fn figures(app: &App) -> Result<MetricFamily> {
    let read = |row: &db::Row<'_>| Ok((row.get::<Status>(0)?, row.get::<i64>(1)?));
    let counted = app.db.all(OPEN, params![COUNTED_MAX], read).await?;
    let mut family = MetricFamily::gauge("actions", "Open actions, by status, at most 100000");
    for status in [Status::PendingApproval, Status::Approved, Status::Executing] {
        let count = counted.iter().find(|it| it.0 == status).map_or(0, |it| it.1);
        family.add(&[("status", status.as_str())], count);
    }
    Ok(family)
}

const OPEN: &str = "select status, cast(count(*) as bigint) from (select status from actions
    where status in ('pending_approval', 'approved', 'executing') limit $1) as open_actions
    group by status";

pub(super) const STATEMENTS: &[&str] = &[OPEN];
