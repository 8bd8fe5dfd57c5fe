//! The delivery attempts page: status code, duration and response of each attempt, newest first.

use axum::extract::RawQuery;
use base::EndpointId;
use http::StatusCode;
use maud::{Markup, html};
use service::platform::cursors::Page;
use service::webhooks::{self, Attempt, AttemptFilter, AttemptStatus, Endpoint};

use super::manager::{EndpointManager, Section};
use crate::site::errors::PageResult;
use crate::site::{fields, urls};

const PAGE: usize = 50;

pub(super) async fn get(manager: EndpointManager, RawQuery(query): RawQuery) -> PageResult {
    let query = query.unwrap_or_default();
    let asked = |name: &str| urls::find_param(&query, name).filter(|it| !it.is_empty());
    let endpoints = webhooks::list(manager.app(), manager.caller()).await?;
    let endpoint = chosen(asked("endpoint"), &endpoints);
    let status = asked("status").filter(|it| it == "failed");
    let filter = AttemptFilter { endpoint, status, ..AttemptFilter::default() };
    let cursor = asked("cursor");
    let page = Page { cursor: cursor.as_deref(), limit: PAGE };
    let found = webhooks::list_attempts(manager.app(), manager.caller(), &filter, page).await?;
    let of = filter.endpoint.map(|it| it.to_string()).unwrap_or_default();
    let status = filter.status.as_deref().unwrap_or_default();
    let here = |cursor: &str| {
        let pairs = [("endpoint", of.as_str()), ("status", status), ("cursor", cursor)];
        manager.at(&format!("/attempts{}", urls::query_string(&pairs)))
    };
    let main = html! {
        section.card aria-labelledby="attempts" {
            h2 id="attempts" { "Attempts" }
            p.soft { "Every delivery attempt of the last 90 days." }
            form method="get" action=(manager.at("/attempts")) {
                (endpoint_choice("endpoint", &endpoints, &of, Some("All endpoints")))
                (fields::check("status", "failed", "Failed only", !status.is_empty()))
                button type="submit" { "Apply filters" }
            }
            (table(&manager, &found.attempts))
            @if let Some(cursor) = &found.next_cursor {
                nav.pages aria-label="Attempt pages" {
                    span {}
                    a href=(here(cursor)) { "Older" }
                }
            }
        }
    };
    Ok(manager.page(StatusCode::OK, Section::Attempts, main))
}

/// The endpoint with that id, if it is one of these.
pub(super) fn chosen(text: Option<String>, endpoints: &[Endpoint]) -> Option<EndpointId> {
    let id = EndpointId::parse(&text?).ok()?;
    endpoints.iter().any(|it| it.id == id).then_some(id)
}

/// A select box for an endpoint; `all` is the label of the option for all endpoints.
pub(super) fn endpoint_choice(
    field: &str,
    endpoints: &[Endpoint],
    chosen: &str,
    all: Option<&str>,
) -> Markup {
    let ids: Vec<String> = endpoints.iter().map(|it| it.id.to_string()).collect();
    let each = ids.iter().zip(endpoints).map(|(id, it)| (id.as_str(), it.url.as_str()));
    let options: Vec<(&str, &str)> = all.map(|it| ("", it)).into_iter().chain(each).collect();
    fields::select(field, "Endpoint", &options, chosen)
}

pub(super) fn table(manager: &EndpointManager, attempts: &[Attempt]) -> Markup {
    html! {
        @if attempts.is_empty() {
            p.soft { "No attempts yet." }
        } @else {
            div.scroll {
                table.labelled {
                    thead {
                        tr {
                            th scope="col" { "Event" }
                            th scope="col" { "When" }
                            th scope="col" { "Attempt" }
                            th scope="col" { "Response" }
                            th.figure scope="col" { "Duration" }
                        }
                    }
                    tbody { @for it in attempts { (row(manager, it)) } }
                }
            }
        }
    }
}

fn row(manager: &EndpointManager, it: &Attempt) -> Markup {
    let failed = it.status == AttemptStatus::Failed;
    html! {
        tr {
            th scope="row" {
                a href=(manager.at(&format!("/events/{}", it.event))) { (it.event_type) }
                span.soft { (it.url) }
            }
            td data-label="When" { (manager.view().exact_time(it.at)) }
            td data-label="Attempt" {
                (number(it))
                @if let Some(next) = it.next_at { span.soft { "Next retry " (manager.view().exact_time(next)) } }
            }
            td data-label="Response" {
                span.badge.(if failed { "warn" } else { "good" }) { (outcome_text(it)) }
                (answer(it))
            }
            td.figure data-label="Duration" { (it.duration_ms) " ms" }
        }
    }
}

fn number(it: &Attempt) -> String {
    match it.trigger.as_str() {
        "test" => "Test".to_owned(),
        "manual" => "Manual".to_owned(),
        _ => format!("{} of 8", it.attempt),
    }
}

/// The status code, or the reason why there is none.
pub(super) fn outcome_text(it: &Attempt) -> String {
    let fault = match it.error.as_deref() {
        Some("timeout") => "Timed out",
        Some("dns") => "Host name not found",
        Some("connect") => "Connection refused",
        Some("tls") => "Certificate not trusted",
        Some("blocked_address") => "Address not public",
        Some("redirect") => "Redirects are not followed",
        Some("body_too_large") => "Response too large",
        Some(_) => "Could not be sent",
        None => "",
    };
    match (it.code, fault) {
        (Some(code), "") => code.to_string(),
        (Some(code), fault) => format!("{code}, {fault}"),
        (None, fault) => fault.to_owned(),
    }
}

/// The body of the response, as plain text.
pub(super) fn answer(it: &Attempt) -> Markup {
    let text = it.body.as_deref().filter(|it| !it.trim().is_empty());
    html! {
        @if let Some(text) = text {
            details { summary { "Response body" } pre tabindex="0" role="group" aria-label="Response body" { (text) } }
        }
    }
}
