//! The event log: every event of the last ninety days, newest first, with its deliveries, also if it has none.

use std::collections::HashMap;

use base::{EndpointId, EventId, Timestamp, UserId};
use db::{Tx, params};

use crate::attempts::{self, AttemptFilter};
use crate::context::Webhooks;
use crate::delivery::DeliveryStatus;
use crate::endpoint::EndpointOwner;
use crate::error::Result;
use crate::event_access::KeyAccess;
use crate::payload::{EventPayload, kept};

/// Events that one page looks through at most. A filter that matches none of them gets an empty page with a position,
/// from which the next page continues.
pub const SCAN_MAX: usize = 2_000;
/// Events that are read together after the first, smaller read.
const CHUNK: usize = 400;
/// How far the time in an event's id may be from its `created_at`, in microseconds: the id is made a little later.
const ID_SLACK: i64 = 3_600 * 1_000_000;

base::words!(
    /// The status of an event over its deliveries. The first that one of them has counts.
    EventStatus {
        /// A delivery used up its attempts, or its endpoint was disabled.
        Failed => "failed",
        Retrying => "retrying",
        Pending => "pending",
        Delivered => "delivered",
        /// It has no delivery: no endpoint subscribed to it, or the endpoint was deleted.
        NoEndpoint => "no_endpoint",
    }
);

/// An event of the log.
#[derive(Debug, Clone)]
pub struct LoggedEvent {
    pub id: EventId,
    pub event_type: String,
    pub created_at: Timestamp,
    /// The JSON of `data`; none once it has expired after thirty days.
    pub data: Option<String>,
    pub status: EventStatus,
    pub deliveries: Vec<LoggedDelivery>,
}

/// The delivery of an event to one endpoint. A test event has one although it is never retried.
#[derive(Debug, Clone, Copy)]
pub struct LoggedDelivery {
    pub endpoint: EndpointId,
    pub status: DeliveryStatus,
    pub attempts: i64,
    /// When the next attempt is due; while one is being made, the end of its lease.
    pub next_attempt_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    pub event_type: Option<String>,
    pub status: Option<EventStatus>,
    /// The first and the last `created_at`, in whole milliseconds.
    pub start: Option<Timestamp>,
    pub end: Option<Timestamp>,
}

/// A page of the log.
#[derive(Debug, Clone)]
pub struct LogPage {
    pub events: Vec<LoggedEvent>,
    /// The event after which the next page begins; none on the last page.
    pub next: Option<EventId>,
}

/// The events before a given one, newest first. A key sees those that it may see or that were sent to its endpoints.
pub async fn list(
    webhooks: &Webhooks,
    owner: &EndpointOwner,
    filter: &EventFilter,
    before: Option<EventId>,
    limit: usize,
) -> Result<LogPage> {
    let access = KeyAccess::find(&webhooks.db, owner).await?;
    let mut range = IdRange::new(filter, before);
    let (mut events, mut next, mut scanned) = (Vec::new(), before, 0);
    let mut size = limit + 1;
    loop {
        let chunk = read_chunk(webhooks, owner, filter, &range, size).await?;
        let Some(last) = chunk.last().map(|it| it.id) else {
            return Ok(LogPage { events, next: None });
        };
        scanned += chunk.len();
        let mut deliveries = deliveries_of(webhooks, owner, filter, &chunk, size).await?;
        for event in chunk {
            let id = event.id;
            let own = deliveries.remove(&id).unwrap_or_default();
            let found = match filter.wants(&event) {
                true => visible(webhooks, owner, access.as_ref(), event, own).await?,
                false => None,
            };
            let found = found.filter(|it| filter.status.is_none_or(|status| it.status == status));
            if found.is_some() && events.len() == limit {
                return Ok(LogPage { events, next });
            }
            events.extend(found);
            next = Some(id);
        }
        if scanned >= SCAN_MAX {
            return Ok(LogPage { events, next });
        }
        range.last = predecessor(last);
        size = CHUNK;
    }
}

/// The event as its owner sees it; none if they may not.
pub(crate) async fn visible(
    webhooks: &Webhooks,
    owner: &EndpointOwner,
    access: Option<&KeyAccess>,
    event: EventPayload,
    mut deliveries: Vec<LoggedDelivery>,
) -> Result<Option<LoggedEvent>> {
    if deliveries.is_empty() && event.key.is_some() {
        deliveries.extend(find_test(webhooks, owner, event.id).await?);
    }
    if deliveries.is_empty() && access.is_some_and(|it| !it.allows(&event)) {
        return Ok(None);
    }
    let EventPayload { id, event_type, created_at, data, .. } = event;
    let status = status_over(&deliveries);
    Ok(Some(LoggedEvent { id, event_type, created_at, data, status, deliveries }))
}

/// The status of an event with these deliveries.
pub(crate) fn status_over(deliveries: &[LoggedDelivery]) -> EventStatus {
    let of_delivery = |it: &LoggedDelivery| match it.status {
        DeliveryStatus::Failed => EventStatus::Failed,
        DeliveryStatus::Retrying => EventStatus::Retrying,
        DeliveryStatus::Pending => EventStatus::Pending,
        DeliveryStatus::Delivered => EventStatus::Delivered,
    };
    deliveries.iter().map(of_delivery).min().unwrap_or(EventStatus::NoEndpoint)
}

/// The attempt of a test event, which has no delivery.
async fn find_test(
    webhooks: &Webhooks,
    owner: &EndpointOwner,
    event: EventId,
) -> Result<Option<LoggedDelivery>> {
    let filter = AttemptFilter { event: Some(event), ..AttemptFilter::default() };
    let found = attempts::list(webhooks, owner, &filter, None, 1).await?;
    Ok(found.first().map(|it| LoggedDelivery {
        endpoint: it.endpoint,
        status: it.status.into(),
        attempts: it.attempt,
        next_attempt_at: None,
    }))
}

/// The ids that are still to be looked through, both ends included.
struct IdRange {
    first: EventId,
    last: EventId,
}

impl IdRange {
    fn new(filter: &EventFilter, before: Option<EventId>) -> IdRange {
        let at = |it: Timestamp, slack: i64| EventId::first_at(it.as_microsecond() + slack);
        let first = filter.start.map_or(EventId::from_bytes([0; 16]), |it| at(it, -ID_SLACK));
        let newest = filter.end.map_or(EventId::from_bytes([0xff; 16]), |it| at(it, ID_SLACK));
        IdRange { first, last: before.map_or(newest, |it| predecessor(it).min(newest)) }
    }
}

/// The id just before another one.
fn predecessor(id: EventId) -> EventId {
    let number = u128::from_be_bytes(*id.as_bytes()).saturating_sub(1);
    EventId::from_bytes(number.to_be_bytes())
}

impl EventFilter {
    /// Whether the type and the time of an event match.
    fn wants(&self, event: &EventPayload) -> bool {
        let millisecond = |it: Timestamp| it.as_millisecond();
        let at = millisecond(event.created_at);
        self.event_type.as_ref().is_none_or(|it| *it == event.event_type)
            && self.start.is_none_or(|it| at >= millisecond(it))
            && self.end.is_none_or(|it| at <= millisecond(it))
    }

    /// Dead letters are few among many events, and are read by their own index.
    fn is_failed(&self) -> bool {
        self.status == Some(EventStatus::Failed)
    }
}

/// The next events of a range, newest first.
async fn read_chunk(
    webhooks: &Webhooks,
    owner: &EndpointOwner,
    filter: &EventFilter,
    range: &IdRange,
    limit: usize,
) -> Result<Vec<EventPayload>> {
    let (user, first, last, limit) = (owner.user, range.first, range.last, limit as i64);
    let (all, key) = owner.key_params();
    let events = match filter.is_failed() {
        true => webhooks.db.all(FAILED, params![user, last, first, limit, all, key], read).await?,
        false => webhooks.db.all(SCAN, params![user, last, first, limit], read).await?,
    };
    Ok(events)
}

/// The deliveries of a chunk of events to the owner's endpoints.
async fn deliveries_of(
    webhooks: &Webhooks,
    owner: &EndpointOwner,
    filter: &EventFilter,
    chunk: &[EventPayload],
    size: usize,
) -> Result<HashMap<EventId, Vec<LoggedDelivery>>> {
    let (Some(newest), Some(oldest)) = (chunk.first(), chunk.last()) else {
        return Ok(HashMap::new());
    };
    let (all, key) = owner.key_params();
    // Another process may have appended events between those of the chunk meanwhile.
    let limit = 2 * size as i64;
    let (user, last, first) = (owner.user, newest.id, oldest.id);
    let found = match filter.is_failed() {
        true => {
            let values = params![user, last, first, limit, all, key];
            webhooks.db.all(DELIVERIES_OF_FAILED, values, read_delivery).await?
        }
        false => {
            let event_type = filter.event_type.as_deref();
            let values = params![user, last, first, limit, all, key, event_type];
            webhooks.db.all(DELIVERIES, values, read_delivery).await?
        }
    };
    let mut deliveries: HashMap<EventId, Vec<LoggedDelivery>> = HashMap::new();
    for (event, delivery) in found {
        deliveries.entry(event).or_default().push(delivery);
    }
    Ok(deliveries)
}

/// The deliveries of one event to the owner's endpoints.
pub(crate) fn deliveries_in(
    tx: &mut Tx<'_>,
    owner: &EndpointOwner,
    event: EventId,
) -> Result<Vec<LoggedDelivery>> {
    let (user, (all, key)): (UserId, _) = (owner.user, owner.key_params());
    let found = tx.all(OF_EVENT, params![user, event, all, key], read_delivery)?;
    Ok(found.into_iter().map(|it| it.1).collect())
}

fn read(row: &db::Row<'_>) -> db::Result<EventPayload> {
    Ok(EventPayload {
        id: row.get(0)?,
        event_type: row.get(1)?,
        created_at: row.get(2)?,
        key: row.get(3)?,
        data: kept(row.get(4)?).map(str::to_owned),
        body: None,
    })
}

fn read_delivery(row: &db::Row<'_>) -> db::Result<(EventId, LoggedDelivery)> {
    let delivery = LoggedDelivery {
        endpoint: row.get(1)?,
        status: row.get(2)?,
        attempts: row.get(3)?,
        next_attempt_at: row.get(4)?,
    };
    Ok((row.get(0)?, delivery))
}

/// The ids of events to which a delivery failed, and of events for one key, among which are failed tests. Each half is
/// an index range with a limit.
macro_rules! failed_ids {
    () => {
        "(select id from (select distinct d.event_id as id from deliveries d
            where d.user_id = $1 and d.status = 'failed' and d.event_id <= $2 and d.event_id >= $3
            and ($5 = 'all' or d.endpoint_id in (select w.id from webhook_endpoints w
                where w.user_id = $1 and w.key_id = $6)) order by id desc limit $4) f
        union select id from (select t.id from events t where t.user_id = $1
            and t.key_id is not null and t.id <= $2 and t.id >= $3 order by t.id desc limit $4) k
        order by id desc limit $4) c"
    };
}

/// The deliveries of the events `c`, endpoint by endpoint: SQLite keeps the order of a cross join.
macro_rules! deliveries {
    ($events:expr) => {
        concat!(
            "select d.event_id, d.endpoint_id, d.status, d.attempts, d.due_at from ",
            $events,
            " cross join webhook_endpoints w cross join deliveries d
            where w.user_id = $1 and ($5 = 'all' or w.key_id = $6)
            and d.user_id = $1 and d.endpoint_id = w.id and d.event_id = c.id
            order by d.event_id desc, d.endpoint_id"
        )
    };
}

const SCAN: &str = "select id, type, created_at, key_id, data from events
    where user_id = $1 and id <= $2 and id >= $3 order by id desc limit $4";
const FAILED: &str = concat!(
    "select e.id, e.type, e.created_at, e.key_id, e.data from ",
    failed_ids!(),
    " join events e on e.user_id = $1 and e.id = c.id order by e.id desc limit $4"
);
const DELIVERIES: &str = deliveries!(
    "(select s.id from (select t.id, t.type from events t where t.user_id = $1 and t.id <= $2
        and t.id >= $3 order by t.id desc limit $4) s
        where cast($7 as text) is null or s.type = $7) c"
);
const DELIVERIES_OF_FAILED: &str = deliveries!(failed_ids!());
const OF_EVENT: &str = "select d.event_id, d.endpoint_id, d.status, d.attempts, d.due_at
    from webhook_endpoints w cross join deliveries d where w.user_id = $1
    and ($3 = 'all' or w.key_id = $4) and d.user_id = w.user_id and d.endpoint_id = w.id
    and d.event_id = $2 order by d.endpoint_id limit 1000";

pub(crate) const STATEMENTS: &[&str] = &[SCAN, FAILED, DELIVERIES, DELIVERIES_OF_FAILED, OF_EVENT];

#[cfg(test)]
mod tests {
    use super::*;

    /// Only on SQLite: PostgreSQL plans by statistics, and the tables are empty here.
    #[tokio::test]
    async fn no_statement_of_the_log_scans_a_table() {
        let database = testkit::Database::migrated().await;
        let db = database.open().await;
        if db.engine() == db::Engine::Postgres {
            return;
        }
        for (sql, count) in
            [(SCAN, 4), (FAILED, 6), (DELIVERIES, 7), (DELIVERIES_OF_FAILED, 6), (OF_EVENT, 4)]
        {
            let values = vec![db::Param::Int(None); count];
            let plan = format!("explain query plan {sql}");
            let plan = db.all(&plan, &values, |row| row.get::<String>(3)).await.unwrap();
            // Only the events that were already chosen are scanned, by their names in the statements.
            let is_table = |it: &&String| {
                let name = it.strip_prefix("SCAN ").unwrap_or_default();
                !matches!(name, "" | "c" | "s" | "f" | "k")
            };
            assert_eq!(plan.iter().find(is_table), None, "{sql}: {plan:#?}");
            let reads_all_of_person =
                |it: &&String| it.as_str() == "SEARCH d USING PRIMARY KEY (user_id=?)";
            assert_eq!(plan.iter().find(reads_all_of_person), None, "{sql}: {plan:#?}");
            let is_for_key = |it: &String| it.contains("events_for_key ");
            assert_eq!(
                plan.iter().any(is_for_key),
                sql.contains("key_id is not null"),
                "{plan:#?}"
            );
        }
    }

    #[test]
    fn the_status_over_deliveries_is_the_most_urgent_one() {
        let of = |statuses: &[DeliveryStatus]| {
            let delivery = |it: &DeliveryStatus| LoggedDelivery {
                endpoint: EndpointId::from_bytes([1; 16]),
                status: *it,
                attempts: 1,
                next_attempt_at: None,
            };
            status_over(&statuses.iter().map(delivery).collect::<Vec<_>>())
        };
        use DeliveryStatus::{Delivered, Failed, Pending, Retrying};
        assert_eq!(of(&[]), EventStatus::NoEndpoint);
        assert_eq!(of(&[Delivered, Delivered]), EventStatus::Delivered);
        assert_eq!(of(&[Delivered, Pending]), EventStatus::Pending);
        assert_eq!(of(&[Retrying, Pending]), EventStatus::Retrying);
        assert_eq!(of(&[Delivered, Retrying, Failed, Pending]), EventStatus::Failed);
    }
}
