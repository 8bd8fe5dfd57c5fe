//! The event log: every event with its payload, its deliveries and a button to replay it, newest first.

use axum::extract::{Path, RawQuery};
use base::{EventId, TimeZone, Timestamp};
use http::StatusCode;
use jiff::ToSpan as _;
use maud::{Markup, html};
use service::platform::cursors::Page;
use service::webhooks::{self, EVENT_SCAN_MAX, EventFilter, EventStatus, LoggedEvent, changes};
use service::{Error, Result};
use wire::v1::EventType;

use super::manager::{EndpointManager, ManagerForm, Section};
use crate::site::errors::{PageError, PageResult, sentence};
use crate::site::fields::{self, Field, FormError};
use crate::site::format::{count_text, plural};
use crate::site::urls;

const PAGE: usize = 50;

/// The filters as they are typed, so that they are kept when the page is shown again.
struct TypedFilters {
    event_type: String,
    status: String,
    from: String,
    to: String,
}

impl TypedFilters {
    fn read(query: &str) -> TypedFilters {
        let text = |name: &str| urls::find_param(query, name).unwrap_or_default();
        TypedFilters {
            event_type: text("type"),
            status: text("status"),
            from: text("from"),
            to: text("to"),
        }
    }

    /// An unknown type or status, which no link of the page has, is left out.
    fn parse(&self, timezone: TimeZone) -> Result<EventFilter> {
        let filter = EventFilter {
            event_type: EventType::find(&self.event_type).map(|it| it.name.to_owned()),
            status: EventStatus::parse(&self.status),
            start: day(timezone, "from", &self.from)?.map(|it| it.0),
            end: day(timezone, "to", &self.to)?.map(|it| it.1),
        };
        match filter.start.zip(filter.end) {
            Some((start, end)) if start > end => {
                Err(Error::invalid("to", "the last day must not be before the first"))
            }
            _ => Ok(filter),
        }
    }

    fn is_empty(&self) -> bool {
        [&self.event_type, &self.status, &self.from, &self.to].iter().all(|it| it.is_empty())
    }

    /// The query of the same page from a cursor on.
    fn query(&self, cursor: &str) -> String {
        urls::query_string(&[
            ("type", &self.event_type),
            ("status", &self.status),
            ("from", &self.from),
            ("to", &self.to),
            ("cursor", cursor),
        ])
    }
}

/// The first and the last millisecond of a day in the person's time zone.
fn day(timezone: TimeZone, param: &str, text: &str) -> Result<Option<(Timestamp, Timestamp)>> {
    let Some(day) = fields::day(param, text)? else { return Ok(None) };
    let unknown = |_| Error::invalid(param, "enter a date such as 2026-11-03");
    let next = timezone.start_of(day.tomorrow().map_err(unknown)?);
    let last = next.checked_sub(1.millisecond()).map_err(unknown)?;
    Ok(Some((timezone.start_of(day), last)))
}

pub(super) async fn get(manager: EndpointManager, RawQuery(query): RawQuery) -> PageResult {
    let query = query.unwrap_or_default();
    let typed = TypedFilters::read(&query);
    let (filter, wrong) = match typed.parse(manager.caller().timezone) {
        Ok(filter) => (filter, FormError::default()),
        Err(error) => (EventFilter::default(), FormError::from_error(error)?),
    };
    let cursor = urls::find_param(&query, "cursor").filter(|it| !it.is_empty());
    let page = Page { cursor: cursor.as_deref(), limit: PAGE };
    let found = webhooks::list_events(manager.app(), manager.caller(), &filter, page).await?;
    let main = html! {
        (wrong.summary())
        section.card aria-labelledby="events" {
            h2 id="events" { "Events" }
            p.soft {
                "Events of the last 90 days, also those that no endpoint subscribed to. Payloads are kept for 30 days."
            }
            (filters(&manager, &typed, &wrong))
            @if found.events.is_empty() {
                (nothing(&typed, found.next_cursor.is_some()))
            } @else {
                ul.rows.events { @for it in &found.events { (row(&manager, it)) } }
            }
            @if let Some(cursor) = &found.next_cursor {
                nav.pages aria-label="Event pages" {
                    span {}
                    a href=(manager.at(&format!("/events{}", typed.query(cursor)))) { "Older" }
                }
            }
        }
    };
    let bad = !wrong.message.is_empty();
    let status = if bad { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(manager.page(status, Section::Events, main))
}

/// Queues an event to be sent again. The dispatcher sends it.
pub(super) async fn replay(
    manager: EndpointManager,
    Path(id): Path<String>,
    _form: ManagerForm,
) -> PageResult {
    let id = EventId::parse(&id).map_err(|_| PageError::not_found())?;
    manager.count().await?;
    let message = match changes::replay_event(manager.app(), manager.caller(), id, None).await {
        Ok(queued) => {
            let count = plural(queued.len() as i64, "endpoint", "endpoints");
            format!("The event will be sent to {count}.")
        }
        Err(Error::Conflict { message, .. }) => sentence(&message),
        Err(error) => return Err(error.into()),
    };
    Ok(manager.see_other(&format!("/events/{id}"), &message))
}

/// A button that replays an event.
pub(super) fn replay_button(manager: &EndpointManager, id: EventId, event_type: &str) -> Markup {
    let inner = html! {
        button.outlined type="submit" { "Replay event" span.hush { ": " (event_type) } }
    };
    fields::form(&manager.at(&format!("/events/{id}/replay")), manager.form_token(), inner)
}

fn filters(manager: &EndpointManager, typed: &TypedFilters, wrong: &FormError) -> Markup {
    let types = EventType::NAMES.iter().map(|it| (*it, *it));
    let types: Vec<(&str, &str)> = std::iter::once(("", "All types")).chain(types).collect();
    let statuses = EventStatus::ALL.iter().map(|it| (it.as_str(), status_text(*it).1));
    let statuses: Vec<_> = std::iter::once(("", "All statuses")).chain(statuses).collect();
    html! {
        form method="get" action=(manager.at("/events")) {
            div.filters {
                (fields::select("type", "Type", &types, &typed.event_type))
                (fields::select("status", "Status", &statuses, &typed.status))
                (Field::text("from", "From", &typed.from).kind("date").optional().show(wrong))
                (Field::text("to", "To", &typed.to).kind("date").optional().show(wrong))
            }
            button type="submit" { "Apply filters" }
        }
    }
}

/// The text of an empty page.
fn nothing(typed: &TypedFilters, has_older: bool) -> Markup {
    html! {
        @if has_older {
            p {
                "None of the " (count_text(EVENT_SCAN_MAX as i64))
                " events searched match. Choose Older to search further back."
            }
        } @else if typed.is_empty() {
            p {
                "No events yet. New transactions, updated balances and other changes appear here, each with its \
                 payload and the status of its deliveries."
            }
        } @else {
            p { "No events match these filters." }
        }
    }
}

/// The style and the text of a status.
fn status_text(status: EventStatus) -> (&'static str, &'static str) {
    match status {
        EventStatus::Failed => ("warn", "Failed"),
        EventStatus::Retrying => ("", "Retrying"),
        EventStatus::Pending => ("", "Pending"),
        EventStatus::Delivered => ("good", "Delivered"),
        EventStatus::NoEndpoint => ("", "No endpoint"),
    }
}

fn row(manager: &EndpointManager, it: &LoggedEvent) -> Markup {
    let (class, status) = status_text(it.status);
    let can_replay = matches!(it.status, EventStatus::Failed | EventStatus::NoEndpoint);
    // Events about webhooks themselves, such as tests, are not replayed.
    let can_replay = can_replay && it.data.is_some() && !it.event_type.starts_with("webhook.");
    html! {
        li {
            span.what {
                a href=(manager.at(&format!("/events/{}", it.id))) { (it.event_type) }
                span.soft {
                    (manager.view().exact_time(it.created_at))
                    @if !it.deliveries.is_empty() { ", " (plural(it.deliveries.len() as i64, "delivery", "deliveries")) }
                }
                @if let Some(data) = &it.data {
                    details {
                        summary { "Payload" }
                        pre tabindex="0" role="group" aria-label="Payload" { (data) }
                    }
                }
            }
            span.badge.(class) { (status) }
            @if can_replay { (replay_button(manager, it.id, &it.event_type)) }
        }
    }
}
