//! Lists of events, attempts and failed deliveries in pages, and an event with its deliveries.

use ::webhooks::attempts::{self, Attempt, AttemptFilter};
use ::webhooks::deliveries::{self, DeliveryDetail, EventDetail, FailedPosition};
use ::webhooks::event_log::{self, EventFilter, LoggedEvent};
use base::{AttemptId, EndpointId, EventId};

use super::owner;
use crate::platform::cursors::{self, Page};
use crate::{App, Caller, Error, Result};

#[derive(Debug, Clone)]
pub struct AttemptPage {
    pub attempts: Vec<Attempt>,
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone)]
pub struct EventPage {
    pub events: Vec<LoggedEvent>,
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone)]
pub struct FailedPage {
    pub deliveries: Vec<DeliveryDetail>,
    pub next_cursor: Option<String>,
}

/// The attempts that were made, newest first.
pub async fn list_attempts(
    app: &App,
    caller: &Caller,
    filter: &AttemptFilter,
    page: Page<'_>,
) -> Result<AttemptPage> {
    let owner = owner(caller)?;
    let text = format!("{filter:?} {:?}", owner.key);
    let scope = cursors::CursorScope { user: caller.user, list: "deliveries", filter: &text };
    let now = app.clock.now();
    let before = match page.cursor {
        Some(cursor) => {
            let position = <[u8; 16]>::try_from(app.cursors.open(&scope, now, cursor)?.as_slice());
            Some(AttemptId::from_bytes(position.map_err(|_| wrong_cursor())?))
        }
        None => None,
    };
    // One more than the page holds shows whether there is another page.
    let found = attempts::list(&app.webhooks, &owner, filter, before, page.limit + 1).await;
    let mut attempts = found?;
    let has_more = attempts.len() > page.limit;
    attempts.truncate(page.limit);
    let next_cursor = match attempts.last().filter(|_| has_more) {
        Some(last) => Some(app.cursors.seal(&scope, now, &app.entropy, last.id.as_bytes())?),
        None => None,
    };
    Ok(AttemptPage { attempts, next_cursor })
}

/// The event log, newest first. A page looks through `EVENT_SCAN_MAX` events at most, so with a filter it may be short or
/// empty and still have a cursor.
pub async fn list_events(
    app: &App,
    caller: &Caller,
    filter: &EventFilter,
    page: Page<'_>,
) -> Result<EventPage> {
    let owner = owner(caller)?;
    let text = format!("{filter:?} {:?}", owner.key);
    let scope = cursors::CursorScope { user: caller.user, list: "events", filter: &text };
    let now = app.clock.now();
    let before = match page.cursor {
        Some(cursor) => {
            let position = <[u8; 16]>::try_from(app.cursors.open(&scope, now, cursor)?.as_slice());
            Some(EventId::from_bytes(position.map_err(|_| wrong_cursor())?))
        }
        None => None,
    };
    let found = event_log::list(&app.webhooks, &owner, filter, before, page.limit).await?;
    let next_cursor = match found.next {
        Some(last) => Some(app.cursors.seal(&scope, now, &app.entropy, last.as_bytes())?),
        None => None,
    };
    Ok(EventPage { events: found.events, next_cursor })
}

/// The failed deliveries (dead letters), newest event first.
pub async fn list_failed(
    app: &App,
    caller: &Caller,
    endpoint: Option<EndpointId>,
    page: Page<'_>,
) -> Result<FailedPage> {
    let owner = owner(caller)?;
    let text = format!("{endpoint:?} {:?}", owner.key);
    let scope = cursors::CursorScope { user: caller.user, list: "dead letters", filter: &text };
    let now = app.clock.now();
    let after = match page.cursor {
        Some(cursor) => Some(parse_position(&app.cursors.open(&scope, now, cursor)?)?),
        None => None,
    };
    // One more than the page holds shows whether there is another page.
    let limit = page.limit + 1;
    let found = deliveries::list_failed(&app.webhooks, &owner, endpoint, after, limit).await;
    let mut deliveries = found?;
    let has_more = deliveries.len() > page.limit;
    deliveries.truncate(page.limit);
    let next_cursor = match deliveries.last().filter(|_| has_more) {
        Some(it) => {
            let position = [&it.event.as_bytes()[..], &it.endpoint.as_bytes()[..]].concat();
            Some(app.cursors.seal(&scope, now, &app.entropy, &position)?)
        }
        None => None,
    };
    Ok(FailedPage { deliveries, next_cursor })
}

fn parse_position(bytes: &[u8]) -> Result<FailedPosition> {
    let (event, endpoint) = bytes.split_at_checked(16).ok_or_else(wrong_cursor)?;
    let event = <[u8; 16]>::try_from(event).map_err(|_| wrong_cursor())?;
    let endpoint = <[u8; 16]>::try_from(endpoint).map_err(|_| wrong_cursor())?;
    Ok((EventId::from_bytes(event), EndpointId::from_bytes(endpoint)))
}

fn wrong_cursor() -> Error {
    Error::internal("a cursor of another shape")
}

/// Gets an event with its deliveries and newest attempts. A key sees it if it was sent to one of its endpoints, or if
/// the key may see such events.
pub async fn get_event(app: &App, caller: &Caller, id: EventId) -> Result<EventDetail> {
    let owner = owner(caller)?;
    Ok(deliveries::get_event(&app.webhooks, &owner, id, cursors::LIMIT_MAX).await?)
}
