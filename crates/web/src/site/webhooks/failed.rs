//! Dead letters: what was not delivered and is not tried any more, and how it is sent again.

use axum::extract::RawQuery;
use base::{EndpointId, EventId, Timestamp};
use http::StatusCode;
use maud::{Markup, html};
use service::platform::cursors::Page;
use service::webhooks::replay::{self, Replay, ReplayStatus};
use service::webhooks::{self, DeliveryDetail, Endpoint, EndpointStatus};
use service::{Error, Result};

use super::attempts::{chosen, endpoint_choice};
use super::exact_time;
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

/// One message again, at once, with what came of it said on the next page.
pub(super) async fn send(manager: EndpointManager, ManagerForm(form): ManagerForm) -> PageResult {
    let endpoint = super::parse(form.text("endpoint"))?;
    let event = EventId::parse(form.text("event")).map_err(|_| PageError::not_found())?;
    manager.count().await?;
    let back = format!("/events/{event}");
    let sent = match replay::resend(manager.app(), manager.caller(), endpoint, event).await {
        // It changed since the page was shown.
        Err(Error::Conflict { message, .. }) => {
            return Ok(manager.see_other(&back, &sentence(&message)));
        }
        sent => sent?,
    };
    let said = super::attempts::outcome_text(&sent);
    let said = match sent.status.as_str() {
        "succeeded" => format!("It was delivered: {said}."),
        _ => format!("It was not delivered: {said}."),
    };
    Ok(manager.see_other(&back, &said))
}

pub(super) async fn start(manager: EndpointManager, ManagerForm(form): ManagerForm) -> PageResult {
    match begin(&manager, &form).await {
        Ok(job) => {
            let count = plural(job.total, "message", "messages");
            Ok(manager.see_other("/failed", &format!("{count} will be sent again.")))
        }
        Err(error) => show(&manager, "", &FormError::from_error(error)?).await,
    }
}

async fn begin(manager: &EndpointManager, form: &Form) -> Result<Replay> {
    let unknown = |_| Error::invalid("to", "choose an endpoint");
    let endpoint = EndpointId::parse(form.text("to")).map_err(unknown)?;
    let since = day(form.text("since"))?;
    let (mine, caller) = (manager.app().clone(), manager.caller().clone());
    let start = move |tx: &mut service::Tx<'_>| replay::start(&mine, tx, &caller, endpoint, since);
    manager.app().db.write(start).await
}

/// The beginning of a day, in UTC as every moment on these pages.
fn day(text: &str) -> Result<Timestamp> {
    let unknown = || Error::invalid("since", "write the day as 2026-11-03");
    let day: base::Date = text.parse().map_err(|_| unknown())?;
    let start = day.to_zoned(jiff::tz::TimeZone::UTC).map_err(|_| unknown())?;
    Ok(start.timestamp())
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
            h2 id="failed" { "Not delivered" }
            p.soft {
                "After eight attempts over 28 hours, or when its endpoint was switched off, a \
                 message comes to lie here. It is kept for 90 days, and what it said for 30."
            }
            form method="get" action=(manager.at("/failed")) {
                (endpoint_choice("endpoint", &endpoints, &of, Some("All endpoints")))
                button type="submit" { "Show" }
            }
            @if found.deliveries.is_empty() {
                p { "Nothing lies here. Everything was delivered, or is still being tried." }
            } @else {
                ul.rows { @for it in &found.deliveries { (row(manager, it, &endpoints)) } }
            }
            @if let Some(cursor) = &found.next_cursor {
                @let pairs = [("endpoint", of.as_str()), ("cursor", cursor.as_str())];
                nav.pages aria-label="Pages of what was not delivered" {
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
    let today = manager.app().clock.today().to_string();
    let inner = html! {
        (endpoint_choice("to", &on, "", None))
        (Field::text("since", "Since", &today).kind("date").show(wrong))
        button.primary type="submit" { "Send all again" }
    };
    html! {
        section.card aria-labelledby="again" {
            h2 id="again" { "Send again" }
            p.soft {
                "All that failed at one endpoint since a day, each once. At most "
                (replay::DAYS_MAX) " days back, and " (count_text(replay::TOTAL_MAX)) " at a time."
            }
            @if on.is_empty() {
                p { "No endpoint is switched on. " a href=(manager.at("")) { "Switch one on first" } }
            } @else {
                (fields::form(&manager.at("/failed/replay"), manager.form_token(), inner))
            }
            @if !jobs.is_empty() {
                ul.rows { @for it in jobs { (job_row(it, endpoints)) } }
            }
        }
    }
}

fn job_row(it: &Replay, endpoints: &[Endpoint]) -> Markup {
    let (class, state) = match it.status {
        ReplayStatus::Running => ("", "Under way"),
        ReplayStatus::Done => ("good", "Done"),
        ReplayStatus::Stopped => ("warn", "Stopped: the endpoint is off"),
    };
    html! {
        li {
            span.what {
                (url(it.endpoint, endpoints))
                span.soft {
                    "Since " (exact_time(it.since)) ": " (count_text(it.done)) " of " (count_text(it.total))
                    " sent, " (count_text(it.delivered)) " delivered."
                }
                progress max=(it.total) value=(it.done) aria-label="Sent again" {}
            }
            span.badge.(class) { (state) }
        }
    }
}

/// A button that sends one message again.
pub(super) fn send_button(manager: &EndpointManager, it: &DeliveryDetail) -> Markup {
    let inner = html! {
        input type="hidden" name="endpoint" value=(it.endpoint);
        input type="hidden" name="event" value=(it.event);
        button.quiet type="submit" { "Send again" span.hush { ": " (it.event_type) } }
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
                    ", given up " (exact_time(it.updated_at))
                }
            }
            @if is_on {
                (send_button(manager, it))
            } @else {
                a href=(manager.at(&format!("/{}", it.endpoint))) { "Its endpoint is off" }
            }
        }
    }
}
