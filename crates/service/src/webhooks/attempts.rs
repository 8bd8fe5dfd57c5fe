//! Every attempt that was made, newest first.

use base::{AttemptId, EndpointId, EventId, KeyId, Timestamp};
use db::params;
use wire::json::Moment;
use wire::v1;

use super::settle::ATTEMPTS_MAX;
use super::whose;
use crate::platform::cursors::{self, Page};
use crate::{App, Caller, Error, Result, Tx};

#[derive(Debug, Clone)]
pub struct Attempt {
    pub id: AttemptId,
    pub endpoint: EndpointId,
    pub event: EventId,
    pub event_type: String,
    pub url: String,
    pub attempt: i64,
    pub trigger: String,
    pub status: String,
    pub code: Option<i64>,
    pub body: Option<String>,
    pub error: Option<String>,
    pub duration_ms: i64,
    pub at: Timestamp,
    /// While the event waits for it.
    pub next_at: Option<Timestamp>,
    /// How it stands with the event at this endpoint now.
    pub event_status: String,
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
            max_attempts: if it.trigger == "test" { 1 } else { ATTEMPTS_MAX },
            trigger: it.trigger.clone(),
            status: it.status.clone(),
            response_status_code: it.code,
            response_body: it.body.clone(),
            error: it.error.clone(),
            duration_ms: it.duration_ms,
            attempted_at: Moment(it.at),
            next_attempt_at: it.next_at.map(Moment),
            event_status: it.event_status.clone(),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttemptFilter {
    pub endpoint: Option<EndpointId>,
    pub event: Option<EventId>,
    pub event_type: Option<String>,
    /// succeeded or failed.
    pub status: Option<String>,
}

impl AttemptFilter {
    /// The statement whose index leads to what is asked for; what else is asked for is looked at on the way.
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

#[derive(Debug, Clone)]
pub struct AttemptPage {
    pub attempts: Vec<Attempt>,
    pub next_cursor: Option<String>,
}

pub async fn list(
    app: &App,
    caller: &Caller,
    filter: &AttemptFilter,
    page: Page<'_>,
) -> Result<AttemptPage> {
    let key = whose(caller)?;
    let text = format!("{filter:?} {key:?}");
    let scope = cursors::Scope { user: caller.user, list: "deliveries", filter: &text };
    let now = app.clock.now();
    let before = match page.cursor {
        Some(cursor) => {
            let place = <[u8; 16]>::try_from(app.cursors.open(&scope, now, cursor)?.as_slice());
            AttemptId::from_bytes(place.map_err(|_| Error::internal("a cursor of another shape"))?)
        }
        None => AttemptId::from_bytes([0xff; 16]),
    };
    let nobody = [0_u8; 16];
    let (all, key) = (said(key.is_none()), key.unwrap_or(KeyId::from_bytes(nobody)));
    let endpoint = filter.endpoint.unwrap_or(EndpointId::from_bytes(nobody));
    let event = filter.event.unwrap_or(EventId::from_bytes(nobody));
    let values = params![
        caller.user,
        before,
        all,
        key,
        said(filter.endpoint.is_none()),
        endpoint,
        said(filter.event.is_none()),
        event,
        filter.event_type.as_deref(),
        filter.status.as_deref(),
        page.limit as i64 + 1
    ];
    let mut attempts = app.db.all(filter.statement(), values, read).await?;
    let more = attempts.len() > page.limit;
    attempts.truncate(page.limit);
    let next_cursor = match attempts.last().filter(|_| more) {
        Some(last) => Some(app.cursors.seal(&scope, now, &app.entropy, last.id.as_bytes())?),
        None => None,
    };
    Ok(AttemptPage { attempts, next_cursor })
}

/// Whether a filter lets everything through, as both engines compare it.
pub(super) fn said(all: bool) -> &'static str {
    if all { "all" } else { "one" }
}

pub(super) fn get_in(tx: &mut Tx<'_>, caller: &Caller, id: AttemptId) -> Result<Attempt> {
    let found = tx.first(GET, params![caller.user, id], read)?;
    found.ok_or(Error::NotFound("delivery"))
}

fn read(row: &db::Row<'_>) -> db::Result<Attempt> {
    let status: String = row.get(7)?;
    let stands: Option<String> = row.get(14)?;
    // A trial has no delivery beside it.
    let alone = if status == "succeeded" { "delivered" } else { "failed" };
    Ok(Attempt {
        id: row.get(0)?,
        endpoint: row.get(1)?,
        event: row.get(2)?,
        event_type: row.get(3)?,
        url: row.get(4)?,
        attempt: row.get(5)?,
        trigger: row.get(6)?,
        event_status: stands.unwrap_or_else(|| alone.to_owned()),
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
// Without figures SQLite takes the key of the table, which begins with the user, for as good as any index; so the user is
// asked for in words that no index knows.
const OF_EVENT: &str = list!("a.event_id = $8 and coalesce(a.user_id, $1) = $1");
const OF_ENDPOINT: &str = list!("a.endpoint_id = $6 and coalesce(a.user_id, $1) = $1");
const FAILED_OF_ENDPOINT: &str =
    list!("a.endpoint_id = $6 and a.status = 'failed' and coalesce(a.user_id, $1) = $1");
const GET: &str = select!("where a.user_id = $1 and a.id = $2");

pub(super) const STATEMENTS: &[&str] =
    &[ALL, OF_EVENT, OF_ENDPOINT, FAILED, FAILED_OF_ENDPOINT, GET];

#[cfg(test)]
mod tests {
    use super::*;

    /// PostgreSQL decides by what a table holds, which is nothing here. All failures of a person are not among these:
    /// there SQLite walks their attempts, the newest first.
    #[tokio::test]
    async fn what_is_commonly_asked_for_has_an_index_that_leads_there() {
        let database = testkit::Database::migrated().await;
        let db = database.open().await;
        if db.engine() == db::Engine::Postgres {
            return;
        }
        let (event, endpoint) = (EventId::from_bytes([1; 16]), EndpointId::from_bytes([1; 16]));
        let status = Some("failed".to_owned());
        let every = AttemptFilter::default();
        let mut wrong = Vec::new();
        for (filter, index) in [
            (AttemptFilter { event: Some(event), ..every.clone() }, "attempts_by_event "),
            (AttemptFilter { endpoint: Some(endpoint), ..every.clone() }, "attempts_by_endpoint "),
            (
                AttemptFilter { status, endpoint: Some(endpoint), ..every.clone() },
                "attempts_failed_by_endpoint ",
            ),
            (every, "PRIMARY KEY "),
        ] {
            let sql = format!("explain query plan {}", filter.statement());
            let nothing = vec![db::Param::Int(None); 11];
            let plan = db.all(&sql, &nothing, |row| row.get::<String>(3)).await.unwrap();
            wrong.extend((!plan[0].contains(index)).then(|| format!("{filter:?}: {plan:?}")));
            assert!(!plan.iter().any(|it| it.contains("TEMP B-TREE")), "{plan:?}");
        }
        assert_eq!(wrong, [""; 0]);
    }
}
