//! The attempts that were made, newest first.

use base::{AttemptId, EndpointId, EventId, Timestamp, UserId};
use db::{Tx, params};
use wire::json::Moment;
use wire::v1;

use crate::context::Webhooks;
use crate::delivery::{AttemptStatus, DeliveryStatus, Trigger};
use crate::endpoint::{EndpointOwner, all_or_one};
use crate::error::{Error, Result};
use crate::outcome::ATTEMPTS_MAX;

#[derive(Debug, Clone)]
pub struct Attempt {
    pub id: AttemptId,
    pub endpoint: EndpointId,
    pub event: EventId,
    pub event_type: String,
    pub url: String,
    pub attempt: i64,
    pub trigger: Trigger,
    pub status: AttemptStatus,
    pub code: Option<i64>,
    pub body: Option<String>,
    pub error: Option<String>,
    pub duration_ms: i64,
    pub at: Timestamp,
    /// When the next attempt is due, while the delivery waits for it.
    pub next_at: Option<Timestamp>,
    /// The present status of the event at this endpoint.
    pub event_status: DeliveryStatus,
}

impl From<&Attempt> for v1::Delivery {
    fn from(it: &Attempt) -> v1::Delivery {
        v1::Delivery {
            id: it.id.to_string(),
            endpoint_id: it.endpoint.to_string(),
            event_id: it.event.to_string(),
            event_type: it.event_type.clone(),
            url: it.url.clone(),
            attempt: it.attempt,
            max_attempts: if it.trigger == Trigger::Test { 1 } else { ATTEMPTS_MAX },
            trigger: it.trigger.as_str().to_owned(),
            status: it.status.as_str().to_owned(),
            response_status_code: it.code,
            response_body: it.body.clone(),
            error: it.error.clone(),
            duration_ms: it.duration_ms,
            attempted_at: Moment(it.at),
            next_attempt_at: it.next_at.map(Moment),
            event_status: it.event_status.as_str().to_owned(),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttemptFilter {
    pub endpoint: Option<EndpointId>,
    pub event: Option<EventId>,
    pub event_type: Option<String>,
    /// `succeeded` or `failed`.
    pub status: Option<String>,
}

impl AttemptFilter {
    /// The statement whose index fits the filter best; it checks the rest of the filter row by row.
    fn statement(&self) -> &'static str {
        let is_failed = self.status.as_deref() == Some("failed");
        match (self.event, self.endpoint) {
            (Some(_), _) => OF_EVENT,
            (None, Some(_)) if is_failed => FAILED_OF_ENDPOINT,
            (None, Some(_)) => OF_ENDPOINT,
            (None, None) if is_failed => FAILED,
            (None, None) => ALL,
        }
    }
}

/// The attempts before a given one, newest first.
pub async fn list(
    webhooks: &Webhooks,
    owner: &EndpointOwner,
    filter: &AttemptFilter,
    before: Option<AttemptId>,
    limit: usize,
) -> Result<Vec<Attempt>> {
    let (all_keys, key) = owner.key_params();
    let values = params![
        owner.user,
        before.unwrap_or(AttemptId::from_bytes([0xff; 16])),
        all_keys,
        key,
        all_or_one(filter.endpoint.is_none()),
        filter.endpoint.unwrap_or(EndpointId::from_bytes([0; 16])),
        all_or_one(filter.event.is_none()),
        filter.event.unwrap_or(EventId::from_bytes([0; 16])),
        filter.event_type.as_deref(),
        filter.status.as_deref(),
        limit as i64
    ];
    Ok(webhooks.db.all(filter.statement(), values, read).await?)
}

pub(crate) fn get_in(tx: &mut Tx<'_>, user: UserId, id: AttemptId) -> Result<Attempt> {
    let found = tx.first(GET, params![user, id], read)?;
    found.ok_or(Error::NotFound("delivery"))
}

fn read(row: &db::Row<'_>) -> db::Result<Attempt> {
    let status: AttemptStatus = row.get(7)?;
    let of_delivery: Option<DeliveryStatus> = row.get(14)?;
    Ok(Attempt {
        id: row.get(0)?,
        endpoint: row.get(1)?,
        event: row.get(2)?,
        event_type: row.get(3)?,
        url: row.get(4)?,
        attempt: row.get(5)?,
        trigger: row.get(6)?,
        event_status: of_delivery.unwrap_or_else(|| status.into()),
        status,
        code: row.get(8)?,
        body: row.get(9)?,
        error: row.get(10)?,
        duration_ms: row.get(11)?,
        at: row.get(12)?,
        next_at: row.get(13)?,
    })
}

macro_rules! select {
    ($($rest:literal),+) => {
        concat!(
            "select a.id, a.endpoint_id, a.event_id, a.event_type, a.url, a.attempt, a.trigger_kind,
            a.status, a.response_code, a.response_body, a.error, a.duration_ms, a.attempted_at,
            case when d.attempts = a.attempt and d.due_at is not null then a.next_attempt_at end,
            d.status from attempts a left join deliveries d
            on d.user_id = a.user_id and d.endpoint_id = a.endpoint_id and d.event_id = a.event_id ",
            $($rest),+
        )
    };
}

macro_rules! list {
    ($first:literal) => {
        select!(
            "where ",
            $first,
            " and a.id < $2 and ($3 = 'all' or a.key_id = $4)
            and ($5 = 'all' or a.endpoint_id = $6) and ($7 = 'all' or a.event_id = $8)
            and (cast($9 as text) is null or a.event_type = $9)
            and (cast($10 as text) is null or a.status = $10)
            order by a.id desc limit $11"
        )
    };
}

const ALL: &str = list!("a.user_id = $1");
const FAILED: &str = list!("a.user_id = $1 and a.status = 'failed'");
// Without statistics SQLite prefers the primary key, which begins with the user, to the better index. The condition on
// the user is therefore written so that it matches no index.
const OF_EVENT: &str = list!("a.event_id = $8 and coalesce(a.user_id, $1) = $1");
const OF_ENDPOINT: &str = list!("a.endpoint_id = $6 and coalesce(a.user_id, $1) = $1");
const FAILED_OF_ENDPOINT: &str =
    list!("a.endpoint_id = $6 and a.status = 'failed' and coalesce(a.user_id, $1) = $1");
const GET: &str = select!("where a.user_id = $1 and a.id = $2");

pub(crate) const STATEMENTS: &[&str] =
    &[ALL, OF_EVENT, OF_ENDPOINT, FAILED, FAILED_OF_ENDPOINT, GET];

#[cfg(test)]
mod tests {
    use super::*;

    /// Only on SQLite: PostgreSQL plans by statistics, and the tables are empty here. The filter on all failures of a
    /// person is not tested, because SQLite reads the attempts in their order for it.
    #[tokio::test]
    async fn common_filters_use_their_index() {
        let database = testkit::Database::migrated().await;
        let db = database.open().await;
        if db.engine() == db::Engine::Postgres {
            return;
        }
        let (event, endpoint) = (EventId::from_bytes([1; 16]), EndpointId::from_bytes([1; 16]));
        let status = Some("failed".to_owned());
        let no_filter = AttemptFilter::default();
        let mut wrong = Vec::new();
        for (filter, index) in [
            (AttemptFilter { event: Some(event), ..no_filter.clone() }, "attempts_by_event "),
            (
                AttemptFilter { endpoint: Some(endpoint), ..no_filter.clone() },
                "attempts_by_endpoint ",
            ),
            (
                AttemptFilter { status, endpoint: Some(endpoint), ..no_filter.clone() },
                "attempts_failed_by_endpoint ",
            ),
            (no_filter, "PRIMARY KEY "),
        ] {
            let sql = format!("explain query plan {}", filter.statement());
            let no_values = vec![db::Param::Int(None); 11];
            let plan = db.all(&sql, &no_values, |row| row.get::<String>(3)).await.unwrap();
            wrong.extend((!plan[0].contains(index)).then(|| format!("{filter:?}: {plan:?}")));
            assert!(!plan.iter().any(|it| it.contains("TEMP B-TREE")), "{plan:?}");
        }
        assert_eq!(wrong, [""; 0]);
    }
}
