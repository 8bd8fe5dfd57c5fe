//! The page of one event: its payload, deliveries and attempts.

use axum::extract::Path;
use base::EventId;
use http::StatusCode;
use maud::{Markup, html};
use service::webhooks::{self, DeliveryDetail, EventDetail, Trigger};

use super::attempts;
use super::manager::{EndpointManager, Section};
use crate::site::errors::{PageError, PageResult};
use crate::site::snippet;

pub(super) async fn get(manager: EndpointManager, Path(id): Path<String>) -> PageResult {
    let id = EventId::parse(&id).map_err(|_| PageError::not_found())?;
    let event = webhooks::get_event(manager.app(), manager.caller(), id).await?;
    let endpoints = webhooks::list(manager.app(), manager.caller()).await?;
    let url = |delivery: &DeliveryDetail| {
        let found = endpoints.iter().find(|it| it.id == delivery.endpoint);
        found.map(|it| it.url.clone()).unwrap_or_default()
    };
    let main = html! {
        section.card aria-labelledby="event" {
            h2 id="event" { (name(&event)) }
            p.soft { code { (id) } }
            (payload(&manager, &event))
            @if can_replay(&event) { (super::events::replay_button(&manager, id, name(&event))) }
        }
        @if event.deliveries.is_empty() && event.attempts.is_empty() {
            section.card aria-labelledby="letters" {
                h2 id="letters" { "Deliveries" }
                p { "No endpoint subscribed to this event, so it was not sent." }
            }
        }
        @if !event.deliveries.is_empty() {
            section.card aria-labelledby="letters" {
                h2 id="letters" { "Deliveries" }
                ul.rows { @for it in &event.deliveries { (delivery_row(&manager, it, &url(it))) } }
            }
        }
        section.card aria-labelledby="attempts" {
            h2 id="attempts" { "Attempts" }
            (attempts::table(&manager, &event.attempts))
        }
    };
    Ok(manager.page(StatusCode::OK, Section::Events, main))
}

/// Whether the event was never sent or has failed somewhere, so that it can be replayed. A test is sent again instead.
fn can_replay(event: &EventDetail) -> bool {
    let has_payload = event.payload.as_ref().is_some_and(|it| it.body.is_some());
    let is_test = event.attempts.iter().any(|it| it.trigger == Trigger::Test);
    let has_failed = event.deliveries.iter().any(|it| it.status == "failed");
    has_payload && !is_test && (event.deliveries.is_empty() || has_failed)
}

fn name(event: &EventDetail) -> &str {
    let payload = event.payload.as_ref().map(|it| it.event_type.as_str());
    let payload = payload.or(event.deliveries.first().map(|it| it.event_type.as_str()));
    payload.or(event.attempts.first().map(|it| it.event_type.as_str())).unwrap_or("Event")
}

/// The payload, formatted.
fn payload(manager: &EndpointManager, event: &EventDetail) -> Markup {
    let Some(payload) = &event.payload else {
        return html! { p { "The event was deleted after 90 days." } };
    };
    let shown = payload.body.as_deref().map(|body| match serde_json::from_str(body) {
        Ok(value) => snippet::block("Payload", &snippet::json(&value)),
        Err(_) => snippet::text("Payload", body),
    });
    html! {
        p.soft { "Created " (manager.view().exact_time(payload.created_at)) "." }
        @match shown {
            Some(shown) => (shown),
            None => p { "The payload was deleted after 30 days." },
        }
    }
}

pub(super) fn delivery_row(manager: &EndpointManager, it: &DeliveryDetail, url: &str) -> Markup {
    let (class, status) = match it.status.as_str() {
        "delivered" => ("good", "Delivered"),
        "failed" => ("warn", "Failed"),
        "retrying" => ("", "Retrying"),
        _ => ("", "Pending"),
    };
    html! {
        li {
            span.what {
                a href=(manager.at(&format!("/{}", it.endpoint))) { (url) }
                span.soft { (crate::site::format::plural(it.attempts, "attempt", "attempts")) ", last attempt " (manager.view().exact_time(it.updated_at)) }
            }
            span.badge.(class) { (status) }
            @if matches!(it.status.as_str(), "failed" | "delivered") {
                (super::failed::send_button(manager, it))
            }
        }
    }
}
