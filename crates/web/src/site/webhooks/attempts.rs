//! Every attempt with its code, its duration and what the receiver said, newest first.

use axum::extract::RawQuery;
use base::EndpointId;
use http::StatusCode;
use maud::{Markup, html};
use service::platform::cursors::Page;
use service::webhooks::{self, Attempt, AttemptFilter, Endpoint};

use super::exact_time;
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
            p.soft { "Every message that was sent, kept for 90 days." }
            form method="get" action=(manager.at("/attempts")) {
                (endpoint_choice("endpoint", &endpoints, &of, Some("All endpoints")))
                (fields::check("status", "failed", "Only those that failed", !status.is_empty()))
                button type="submit" { "Show" }
            }
            (table(&manager, &found.attempts))
            @if let Some(cursor) = &found.next_cursor {
                nav.pages aria-label="Pages of attempts" {
                    span {}
                    a href=(here(cursor)) { "Older" }
                }
            }
        }
    };
    Ok(manager.page(StatusCode::OK, Section::Attempts, main))
}

/// One of these; what is none of them narrows nothing.
pub(super) fn chosen(text: Option<String>, endpoints: &[Endpoint]) -> Option<EndpointId> {
    let id = EndpointId::parse(&text?).ok()?;
    endpoints.iter().any(|it| it.id == id).then_some(id)
}

/// A choice among endpoints, or all of them where that has a name.
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
            p.soft { "None yet." }
        } @else {
            div.scroll {
                table.labelled {
                    thead {
                        tr {
                            th scope="col" { "Event" }
                            th scope="col" { "When" }
                            th scope="col" { "Attempt" }
                            th scope="col" { "Answer" }
                            th.figure scope="col" { "Took" }
                        }
                    }
                    tbody { @for it in attempts { (row(manager, it)) } }
                }
            }
        }
    }
}

fn row(manager: &EndpointManager, it: &Attempt) -> Markup {
    let failed = it.status != "succeeded";
    html! {
        tr {
            th scope="row" {
                a href=(manager.at(&format!("/events/{}", it.event))) { (it.event_type) }
                span.soft { (it.url) }
            }
            td data-label="When" { (exact_time(it.at)) }
            td data-label="Attempt" {
                (number(it))
                @if let Some(next) = it.next_at { span.soft { "Next at " (exact_time(next)) } }
            }
            td data-label="Answer" {
                span.badge.(if failed { "warn" } else { "good" }) { (outcome_text(it)) }
                (answer(it))
            }
            td.figure data-label="Took" { (it.duration_ms) " ms" }
        }
    }
}

fn number(it: &Attempt) -> String {
    match it.trigger.as_str() {
        "test" => "Test".to_owned(),
        "manual" => "By hand".to_owned(),
        _ => format!("{} of 8", it.attempt),
    }
}

/// The code, or what stood in the way of one.
pub(super) fn outcome_text(it: &Attempt) -> String {
    let fault = match it.error.as_deref() {
        Some("timeout") => "No answer in time",
        Some("dns") => "The name is not known",
        Some("connect") => "Nobody listens there",
        Some("tls") => "The certificate is not trusted",
        Some("blocked_address") => "The address is not public",
        Some("redirect") => "It leads elsewhere",
        Some("body_too_large") => "The answer is too long",
        Some(_) => "It could not be sent",
        None => "",
    };
    match (it.code, fault) {
        (Some(code), "") => code.to_string(),
        (Some(code), fault) => format!("{code}, {fault}"),
        (None, fault) => fault.to_owned(),
    }
}

/// What the receiver said, which is text and nothing else.
pub(super) fn answer(it: &Attempt) -> Markup {
    let text = it.body.as_deref().filter(|it| !it.trim().is_empty());
    html! {
        @if let Some(text) = text {
            details { summary { "What it said" } pre tabindex="0" role="group" aria-label="What it said" { (text) } }
        }
    }
}
