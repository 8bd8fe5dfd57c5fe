//! Webhook events: the event types, the event log, and replays of single events.

use base::{EndpointId, EventId};
use serde_json::value::RawValue;
use service::platform::cursors::Page;
use service::webhooks::{self, EventFilter, EventStatus, replay};
use service::{Error, Result, Tx};
use wire::json::Moment;
use wire::v1::{self, API_VERSION, EventDelivery, EventType, EventTypeShape, Pagination, Scope};

use super::super::bodies::{Body, Holds, Member};
use super::super::parameters::{CURSOR, LIMIT, one_of};
use super::super::{Answer, Call, Endpoint, Paging, Parameter, Shape, Takes, Verb, change};
use super::TAG;

const STATUSES: &[&str] = &["pending", "retrying", "delivered", "failed", "no_endpoint"];

const fn instant(name: &'static str, description: &'static str) -> Parameter {
    Parameter { name, takes: Takes::Instant, description, example: "2026-04-10T08:30:00Z" }
}

pub(crate) const LIST: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/webhooks/events",
    tag: TAG,
    summary: "List event types and events",
    description: "`event_types` has all event types. More may be added at any time: answer 2xx to types you do not \
        know. `events` is the event log of the last 90 days, newest first, in pages: events that this key may see \
        and those that were sent to its endpoints. An event that no endpoint subscribed to has the status \
        `no_endpoint`. `status=failed` lists the dead letters. A page looks through at most 2,000 events, so with \
        a filter it can be short or empty and still have a `next_cursor`: continue until it is null.",
    scopes: &[Scope::WebhooksManage],
    query: &[
        CURSOR,
        LIMIT,
        one_of("event_type", &EventType::NAMES, "Only events of this type."),
        one_of("status", STATUSES, "Only events with this status."),
        instant("start", "Only events created at this time or later."),
        instant("end", "Only events created at this time or earlier."),
    ],
    path_parameters: &[],
    body: None,
    answer: Shape { paging: Paging::WithinObject, ..Shape::of::<v1::Events>("Events") },
    handle: |call| Box::pin(list(call)),
};

async fn list(call: Call) -> Result<Answer> {
    let query = &call.query;
    let filter = EventFilter {
        event_type: query.text("event_type")?.map(str::to_owned),
        status: query.text("status")?.and_then(EventStatus::parse),
        start: query.instant("start")?,
        end: query.instant("end")?,
    };
    if filter.start.zip(filter.end).is_some_and(|(start, end)| start > end) {
        return Err(Error::invalid("end", "end must not be before start"));
    }
    let limit = query.whole(&LIMIT)? as usize;
    let page = Page { cursor: query.text("cursor")?, limit };
    let listed = webhooks::list_events(&call.app, &call.caller, &filter, page).await?;
    let shape = |it: &EventType| EventTypeShape { r#type: it.name, description: it.description };
    let events: Vec<_> = listed.events.iter().map(shown).collect::<Result<_>>()?;
    let pagination = Pagination {
        count: events.len(),
        has_more: listed.next_cursor.is_some(),
        next_cursor: listed.next_cursor,
        total_count: None,
        limit,
    };
    let event_types = EventType::ALL.iter().map(shape).collect();
    Answer::data_page(&v1::Events { event_types, events }, &pagination)
}

fn shown(it: &webhooks::LoggedEvent) -> Result<v1::LoggedEvent> {
    let unreadable = |error| Error::internal(format!("the stored data of {}: {error}", it.id));
    let data = it.data.clone().map(RawValue::from_string).transpose().map_err(unreadable)?;
    Ok(v1::LoggedEvent {
        id: it.id.to_string(),
        r#type: it.event_type.clone(),
        created_at: Moment(it.created_at),
        api_version: API_VERSION,
        data,
        status: it.status.as_str(),
        deliveries: deliveries(&it.deliveries),
    })
}

fn deliveries(all: &[webhooks::LoggedDelivery]) -> Vec<EventDelivery> {
    let shown = |it: &webhooks::LoggedDelivery| EventDelivery {
        endpoint_id: it.endpoint.to_string(),
        status: it.status.as_str(),
        attempts: it.attempts,
        next_attempt_at: it.next_attempt_at.map(Moment),
    };
    all.iter().map(shown).collect()
}

const REPLAYED: &[Member] = &[Member::optional(
    "endpoint_id",
    Holds::Id("ep_"),
    "The endpoint to send it to. By default, all of this key's endpoints where it failed; for an event that was \
     never sent, all active ones.",
)];

const ID: Parameter = Parameter {
    name: "event_id",
    takes: Takes::Id("evt_"),
    description: "The event.",
    example: "evt_01kny3v1m8f2x9q4t7r5c6b8de",
};

pub(crate) const REPLAY: Endpoint = Endpoint {
    method: Verb::Post,
    path: "/webhooks/events/{event_id}/replay",
    tag: TAG,
    summary: "Replay an event",
    description: "Queues an event to be sent again, with the same id and a new signature, and returns the deliveries \
        that were queued. A replay is one attempt with the trigger `manual`: it is not retried, and a failure does \
        not count against the endpoint. With `endpoint_id`, an event can also be sent to an endpoint that already \
        received it or did not subscribe to it. Payloads are kept for 30 days; older events, events that are still \
        being sent and test events get `CONFLICT`.",
    scopes: &[Scope::WebhooksManage],
    query: &[],
    path_parameters: &[ID],
    body: Some(Body {
        name: "WebhookReplay",
        members: REPLAYED,
        rules: &[],
        examples: &[("To one endpoint", r#"{"endpoint_id": "ep_01kny3v1m8f2x9q4t7r5c6b8de"}"#)],
    }),
    answer: Shape::of::<v1::ReplayedEvent>("ReplayedEvent"),
    handle: |call| Box::pin(replay_event(call)),
};

async fn replay_event(call: Call) -> Result<Answer> {
    let id: EventId = call.path_id(0, "event")?;
    let endpoint: Option<EndpointId> = call.members(REPLAYED)?.id("endpoint_id")?;
    let (app, caller) = (call.app.clone(), call.caller.clone());
    let work = move |tx: &mut Tx<'_>| {
        let queued = replay::replay_event(&app, tx, &caller, id, endpoint)?;
        let (event_id, deliveries) = (id.to_string(), deliveries(&queued));
        Answer::data(&v1::ReplayedEvent { event_id, deliveries })
    };
    change(&call, work).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_can_be_asked_for() {
        let mut known: Vec<&str> = EventStatus::ALL.iter().map(|it| it.as_str()).collect();
        let mut offered = STATUSES.to_vec();
        known.sort_unstable();
        offered.sort_unstable();
        assert_eq!(offered, known);
    }
}
