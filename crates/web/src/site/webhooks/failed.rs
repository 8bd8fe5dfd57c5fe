//! Failed deliveries that are no longer retried, and sending them again.

use axum::extract::RawQuery;
use base::{EndpointId, EventId, TimeZone, Timestamp};
use http::StatusCode;
use maud::{Markup, html};
use service::platform::cursors::Page;
use service::webhooks::replay::{self, Replay, ReplayStatus};
use service::webhooks::{self, DeliveryDetail, Endpoint, EndpointStatus, changes};
use service::{Error, Result};

use super::attempts::{chosen, endpoint_choice};
use super::manager::{EndpointManager, ManagerForm, Section};
use crate::site::errors::{PageError, PageResult, sentence};
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::format::{count_text, plural};
use crate::site::urls;

const PAGE: usize = 50;

pub(super) async fn get(manager: EndpointManager, RawQuery(query): RawQuery) -> PageResult {
    show(&manager, &query.unwrap_or_default(), &FormError::default()).await
}

/// Resends one event and shows the result on the next page.
pub(super) async fn send(manager: EndpointManager, ManagerForm(form): ManagerForm) -> PageResult {
    let endpoint = super::parse(form.text("endpoint"))?;
    let event = EventId::parse(form.text("event")).map_err(|_| PageError::not_found())?;
    manager.count().await?;
    let back = format!("/events/{event}");
    let sent = match replay::resend(manager.app(), manager.caller(), endpoint, event).await {
        // It changed since the page was loaded.
        Err(Error::Conflict { message, .. }) => {
            return Ok(manager.see_other(&back, &sentence(&message)));
        }
        sent => sent?,
    };
    let message = super::attempts::outcome_text(&sent);
    let message = match sent.status.as_str() {
        "succeeded" => format!("Delivered: {message}."),
        _ => format!("Delivery failed: {message}."),
    };
    Ok(manager.see_other(&back, &message))
}

pub(super) async fn start(manager: EndpointManager, ManagerForm(form): ManagerForm) -> PageResult {
    match begin(&manager, &form).await {
        Ok(job) => {
            let count = plural(job.total, "event", "events");
            Ok(manager.see_other("/failed", &format!("{count} will be sent again.")))
        }
        Err(error) => show(&manager, "", &FormError::from_error(error)?).await,
    }
}

async fn begin(manager: &EndpointManager, form: &Form) -> Result<Replay> {
    let unknown = |_| Error::invalid("to", "choose an endpoint");
    let endpoint = EndpointId::parse(form.text("to")).map_err(unknown)?;
    let since = day(manager.caller().timezone, form.text("since"))?;
    changes::start_replay(manager.app(), manager.caller(), endpoint, since).await
}

/// The start of a day in the person's time zone.
fn day(timezone: TimeZone, text: &str) -> Result<Timestamp> {
    let unknown = |_| Error::invalid("since", "enter a date such as 2026-11-03");
    let day: base::Date = text.parse().map_err(unknown)?;
    Ok(timezone.start_of(day))
}

async fn show(manager: &EndpointManager, query: &str, wrong: &FormError) -> PageResult {
    let asked = |name: &str| urls::find_param(query, name).filter(|it| !it.is_empty());
    let endpoints = webhooks::list(manager.app(), manager.caller()).await?;
    let endpoint = chosen(asked("endpoint"), &endpoints);
    let cursor = asked("cursor");
    let page = Page { cursor: cursor.as_deref(), limit: PAGE };
    let found = webhooks::list_failed(manager.app(), manager.caller(), endpoint, page).await?;
    let of = endpoint.map(|it| it.to_string()).unwrap_or_default();
    let jobs = replay::list(manager.app(), manager.caller()).await?;
    let main = html! {
        (wrong.summary())
        section.card aria-labelledby="failed" {
            h2 id="failed" { "Failed deliveries" }
            p.soft {
                "Events that failed after eight attempts over 28 hours, or whose endpoint was disabled. They are \
                 kept for 90 days, their payloads for 30."
            }
            form method="get" action=(manager.at("/failed")) {
                (endpoint_choice("endpoint", &endpoints, &of, Some("All endpoints")))
                button type="submit" { "Apply filter" }
            }
            @if found.deliveries.is_empty() {
                p { "No failed deliveries." }
            } @else {
                ul.rows { @for it in &found.deliveries { (row(manager, it, &endpoints)) } }
            }
            @if let Some(cursor) = &found.next_cursor {
                @let pairs = [("endpoint", of.as_str()), ("cursor", cursor.as_str())];
                nav.pages aria-label="Failed delivery pages" {
                    span {}
                    a href=(manager.at(&format!("/failed{}", urls::query_string(&pairs)))) { "Older" }
                }
            }
        }
        (again(manager, &endpoints, &jobs, wrong))
    };
    let bad = !wrong.message.is_empty();
    let status = if bad { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(manager.page(status, Section::Failed, main))
}

fn again(
    manager: &EndpointManager,
    endpoints: &[Endpoint],
    jobs: &[Replay],
    wrong: &FormError,
) -> Markup {
    let on: Vec<Endpoint> =
        endpoints.iter().filter(|it| it.status == EndpointStatus::Active).cloned().collect();
    let today = manager.app().today(manager.caller()).to_string();
    let inner = html! {
        (endpoint_choice("to", &on, "", None))
        (Field::text("since", "Since", &today).kind("date").show(wrong))
        button.primary type="submit" { "Resend all" }
    };
    html! {
        section.card aria-labelledby="again" {
            h2 id="again" { "Resend" }
            p.soft {
                "Sends all failed events of an endpoint again, from a date that you choose. Up to "
                (replay::DAYS_MAX) " days back and " (count_text(replay::TOTAL_MAX)) " events at a time."
            }
            @if endpoints.is_empty() {
                p { "No endpoints yet. " a href=(manager.at("")) { "Create an endpoint" } }
            } @else if on.is_empty() {
                p { "No endpoint is enabled. " a href=(manager.at("")) { "Enable an endpoint" } }
            } @else {
                (fields::form(&manager.at("/failed/replay"), manager.form_token(), inner))
            }
            @if !jobs.is_empty() {
                ul.rows { @for it in jobs { (job_row(manager, it, endpoints)) } }
            }
        }
    }
}

fn job_row(manager: &EndpointManager, it: &Replay, endpoints: &[Endpoint]) -> Markup {
    let (class, state) = match it.status {
        ReplayStatus::Running => ("", "In progress"),
        ReplayStatus::Done => ("good", "Done"),
        ReplayStatus::Stopped => ("warn", "Stopped: endpoint disabled"),
    };
    html! {
        li {
            span.what {
                (url(it.endpoint, endpoints))
                span.soft {
                    "Since " (manager.view().exact_time(it.since)) ": " (count_text(it.done)) " of " (count_text(it.total))
                    " sent, " (count_text(it.delivered)) " delivered."
                }
                progress max=(it.total) value=(it.done) aria-label="Resend progress" {}
            }
            span.badge.(class) { (state) }
        }
    }
}

/// A button that resends one event.
pub(super) fn send_button(manager: &EndpointManager, it: &DeliveryDetail) -> Markup {
    let inner = html! {
        input type="hidden" name="endpoint" value=(it.endpoint);
        input type="hidden" name="event" value=(it.event);
        button.quiet type="submit" { "Resend" span.hush { ": " (it.event_type) } }
    };
    fields::form(&manager.at("/failed/send"), manager.form_token(), inner)
}

fn url(id: EndpointId, endpoints: &[Endpoint]) -> &str {
    endpoints.iter().find(|it| it.id == id).map_or("", |it| it.url.as_str())
}

fn row(manager: &EndpointManager, it: &DeliveryDetail, endpoints: &[Endpoint]) -> Markup {
    let is_on =
        endpoints.iter().any(|at| at.id == it.endpoint && at.status == EndpointStatus::Active);
    html! {
        li {
            span.what {
                a href=(manager.at(&format!("/events/{}", it.event))) { (it.event_type) }
                span.soft {
                    (url(it.endpoint, endpoints)) ", " (plural(it.attempts, "attempt", "attempts"))
                    ", failed " (manager.view().exact_time(it.updated_at))
                }
            }
            @if is_on {
                (send_button(manager, it))
            } @else {
                a href=(manager.at(&format!("/{}", it.endpoint))) { "Endpoint disabled" }
            }
        }
    }
}
