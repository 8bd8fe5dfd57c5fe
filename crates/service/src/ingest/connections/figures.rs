//! Bank connections by provider and state, and what is left of budgets and consents, for metrics.

use base::TimeZone;
use base::draft::Source;
use base::metrics::MetricFamily;
use db::params;
use sources::banks::PROVIDERS;

use super::list::State;
use crate::{App, Result};

/// The most connections that are counted.
const COUNTED_MAX: i64 = 100_000;

/// The connections of one provider in one state.
struct Group {
    source: Source,
    state: State,
    count: i64,
    /// The most syncs that one of them has made today.
    synced_today: i64,
    consent_ends_at: Option<i64>,
    /// The last sync of the one that was synced the longest ago.
    synced_at: Option<i64>,
}

pub(crate) async fn figures(app: &App) -> Result<Vec<MetricFamily>> {
    let today = TimeZone::utc().date_at(app.db.now().await?);
    let read = |row: &db::Row<'_>| {
        Ok(Group {
            source: row.get(0)?,
            state: row.get(1)?,
            count: row.get(2)?,
            synced_today: row.get(3)?,
            consent_ends_at: row.get(4)?,
            synced_at: row.get(5)?,
        })
    };
    let groups = app.db.all(GROUPS, params![today, COUNTED_MAX], read).await?;
    let mut connections = MetricFamily::gauge(
        "bank_connections",
        "Bank connections, by provider and state, at most 100000",
    );
    let mut budget = MetricFamily::gauge(
        "sync_budget_left",
        "Syncs that the busiest connection of a provider has left today",
    );
    let mut consent = MetricFamily::gauge(
        "consent_end_timestamp_seconds",
        "When the first consent of a provider ends, since 1970",
    );
    let mut oldest = MetricFamily::gauge(
        "sync_oldest_timestamp_seconds",
        "The last sync of the connection that was synced the longest ago, since 1970",
    );
    for provider in PROVIDERS {
        let name = [("provider", provider.source().as_str())];
        let own: Vec<&Group> = groups.iter().filter(|it| it.source == provider.source()).collect();
        for state in [State::Connected, State::NeedsAttention, State::Disconnected] {
            let count = own.iter().filter(|it| it.state == state).map(|it| it.count).sum::<i64>();
            connections.add(&[name[0], ("state", state.as_str())], count);
        }
        let active = || own.iter().filter(|it| it.state != State::Disconnected);
        if let Some(used) = active().map(|it| it.synced_today).max() {
            budget.add(&name, (provider.schedule().syncs_a_day - used).max(0));
        }
        if let Some(ends_at) = active().filter_map(|it| it.consent_ends_at).min() {
            consent.add(&name, ends_at / 1_000_000);
        }
        if let Some(synced_at) = active().filter_map(|it| it.synced_at).min() {
            oldest.add(&name, synced_at / 1_000_000);
        }
    }
    Ok(vec![connections, budget, consent, oldest])
}

/// Connections that wait for the person to choose accounts have no next sync, and so no age.
const GROUPS: &str = "select source, status, cast(count(*) as bigint), max(synced_today),
    min(access_ends_at), min(last_synced_at)
    from (select source, status, access_ends_at,
        case when asked_on = $1 then asked_count else 0 end as synced_today,
        case when next_sync_at is not null then synced_at end as last_synced_at
        from connections where access is not null or disconnected_at is not null limit $2) as counted
    group by source, status";

pub(super) const STATEMENTS: &[&str] = &[GROUPS];
