//! The page of one endpoint: status, test, recent attempts, signing secrets and settings.

use axum::extract::Path;
use http::StatusCode;
use maud::{Markup, html};
use service::platform::cursors::Page;
use service::webhooks::{
    self, AttemptFilter, Endpoint, EndpointHealth, EndpointStatus, TestResult,
};
use wire::v1::EventType;

use super::create::{ChosenTypes, type_boxes};
use super::manager::{EndpointManager, Section, disabled_text, is_key_revoked};
use super::{attempts, badge, parse, success_rate, types, when};
use crate::site::errors::PageResult;
use crate::site::fields::{self, Field, FormError};
use crate::site::format::plural;

/// How many recent attempts are shown.
const RECENT: usize = 10;

pub(super) async fn get(manager: EndpointManager, Path(id): Path<String>) -> PageResult {
    let endpoint = webhooks::get(manager.app(), manager.caller(), parse(&id)?).await?;
    show(&manager, &endpoint, None, &FormError::default()).await
}

/// Renders the page, with the result of a test or the error of a form.
pub(super) async fn show(
    manager: &EndpointManager,
    endpoint: &Endpoint,
    trial: Option<&TestResult>,
    wrong: &FormError,
) -> PageResult {
    let filter = AttemptFilter { endpoint: Some(endpoint.id), ..AttemptFilter::default() };
    let page = Page { cursor: None, limit: RECENT };
    let recent = webhooks::list_attempts(manager.app(), manager.caller(), &filter, page).await?;
    let health = webhooks::health(manager.app(), manager.caller(), endpoint.id).await?;
    let names = manager.key_names().await?;
    let key = names.get(&endpoint.key).map_or("a deleted key", String::as_str);
    let all = manager.at(&format!("/attempts?endpoint={}", endpoint.id));
    let main = html! {
        (wrong.summary())
        @if let Some(reason) = disabled_text(endpoint) {
            p.warning role="status" {
                (reason)
                @if !is_key_revoked(endpoint) { " " a href="#ending" { "Enable endpoint" } }
            }
        }
        (facts(manager, endpoint, key))
        (responses(manager, health.as_ref()))
        (trying(manager, endpoint, trial))
        section.card aria-labelledby="recent" {
            header { h2 id="recent" { "Recent attempts" } a.more href=(all) { "All attempts" } }
            (attempts::table(manager, &recent.attempts))
        }
        (secrets(manager, endpoint))
        (change(manager, endpoint, wrong))
        (ending(manager, endpoint))
    };
    let bad = !wrong.message.is_empty();
    let status = if bad { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(manager.page(status, Section::Endpoints, main))
}

fn facts(manager: &EndpointManager, endpoint: &Endpoint, key: &str) -> Markup {
    let now = manager.now();
    html! {
        section.card aria-labelledby="endpoint" {
            div.heading { h2 id="endpoint" { code { (endpoint.url) } } (badge(endpoint)) }
            @if let Some(text) = &endpoint.description { p { (text) } }
            dl.key-facts {
                div { dt { "ID" } dd { code { (endpoint.id) } } }
                div { dt { "Key" } dd { (key) } }
                div { dt { "Events" } dd { (types(endpoint)) } }
                div { dt { "Last delivery" } dd { (when(manager, endpoint.last_delivery_at)) } }
                div {
                    dt { "Failing since" }
                    dd { (endpoint.failing_since.map_or("Not failing".to_owned(), |at| manager.view().time_ago(at, now))) }
                }
                div { dt { "Created" } dd { (manager.view().time_ago(endpoint.created_at, now)) } }
            }
        }
    }
}

/// How well the endpoint responded lately.
fn responses(manager: &EndpointManager, health: Option<&EndpointHealth>) -> Markup {
    html! {
        section.card aria-labelledby="health" {
            h2 id="health" { "How well does it respond?" }
            @match health {
                Some(it) => {
                    dl.numbers.amounts {
                        div { dt { "Success rate" } dd { (success_rate(it)) } }
                        div { dt { "Typical response time" } dd { (it.median_ms) " ms" } }
                        div { dt { "95% within" } dd { (it.p95_ms) " ms" } }
                    }
                    p.soft {
                        (it.succeeded) " of the last " (plural(it.attempts as i64, "attempt", "attempts"))
                        " succeeded, since " (manager.view().exact_time(it.since)) ". Tests don't count."
                    }
                }
                None => p.soft { "The success rate and response times appear after the first delivery." },
            }
        }
    }
}

fn trying(manager: &EndpointManager, endpoint: &Endpoint, trial: Option<&TestResult>) -> Markup {
    let options: Vec<(&str, &str)> = EventType::ALL.iter().map(|it| (it.name, it.name)).collect();
    let chosen = trial.map_or("webhook.test", |it| it.event_type.as_str());
    let inner = html! {
        (fields::select("event_type", "Event type", &options, chosen))
        button.primary type="submit" { "Send test event" }
    };
    let action = manager.at(&format!("/{}/test", endpoint.id));
    html! {
        section.card aria-labelledby="try" {
            h2 id="try" { "Test endpoint" }
            p.soft {
                "Sends one event with sample data and " code { "test: true" } ". Tests are not retried and don't \
                    affect endpoint health."
            }
            @if let Some(trial) = trial { (outcome(trial)) }
            (fields::form(&action, manager.form_token(), inner))
        }
    }
}

fn outcome(trial: &TestResult) -> Markup {
    let result = attempts::outcome_text(&trial.attempt);
    html! {
        div role="status" {
            @if trial.delivered {
                p.notice { "Delivered: " (result) ", in " (trial.attempt.duration_ms) " ms." }
            } @else {
                p.warning { "Delivery failed: " (result) ", after " (trial.attempt.duration_ms) " ms." }
            }
            (attempts::answer(&trial.attempt))
        }
    }
}

fn secrets(manager: &EndpointManager, endpoint: &Endpoint) -> Markup {
    let before = endpoint.previous_until.filter(|until| *until > manager.now());
    let action = manager.at(&format!("/{}/rotate", endpoint.id));
    html! {
        section.card aria-labelledby="secrets" {
            h2 id="secrets" { "Signing secrets" }
            dl.key-facts {
                div { dt { "Current secret" } dd { "Signs every event" } }
                div {
                    dt { "Previous secrets" }
                    dd {
                        @match before {
                            Some(until) => { "Also used until " (manager.view().exact_time(until)) }
                            None => { "None" }
                        }
                    }
                }
            }
            p.soft { "A secret is shown only when it is created. " a href="/docs/webhooks" { "How to verify events" } }
            details.confirm {
                summary { "Rotate secret" }
                p {
                    "We'll show you a new secret. For 24 hours, events are signed with both secrets, so you can \
                     update your receiver."
                }
                (fields::button(&action, manager.form_token(), "Rotate signing secret", "primary"))
            }
        }
    }
}

fn change(manager: &EndpointManager, endpoint: &Endpoint, wrong: &FormError) -> Markup {
    let description = endpoint.description.as_deref().unwrap_or_default();
    let inner = html! {
        (Field::text("url", "URL", &endpoint.url).kind("url").show(wrong))
        (Field::text("description", "Description", description).optional().show(wrong))
        (type_boxes(&ChosenTypes::of(endpoint)))
        button.primary type="submit" { "Save endpoint" }
    };
    html! {
        section.card aria-labelledby="change" {
            h2 id="change" { "Edit endpoint" }
            (fields::form(&manager.at(&format!("/{}", endpoint.id)), manager.form_token(), inner))
        }
    }
}

fn ending(manager: &EndpointManager, endpoint: &Endpoint) -> Markup {
    let act = |verb: &str| manager.at(&format!("/{}/{verb}", endpoint.id));
    html! {
        section.card aria-labelledby="ending" {
            @if endpoint.status == EndpointStatus::Active {
                h2 id="ending" { "Disable endpoint" }
                p.soft {
                    "No events are sent until you enable it again. Pending events move to Failed. Events that \
                     happen while it is disabled are not stored."
                }
                (fields::button(&act("disable"), manager.form_token(), "Disable endpoint", "outlined"))
            } @else if is_key_revoked(endpoint) {
                h2 id="ending" { "API key revoked" }
                p.soft { "This endpoint's API key was revoked. Create a new endpoint for an active key." }
            } @else {
                h2 id="ending" { "Enable endpoint" }
                p.soft {
                    "It will receive new events. Events that were pending when it was disabled are under Failed. \
                     Events in between were not stored."
                }
                (fields::button(&act("enable"), manager.form_token(), "Enable endpoint", "primary"))
            }
            details.confirm {
                summary { "Delete endpoint" span.hush { " " (endpoint.url) } }
                p { "This also deletes its attempts and failed deliveries. This can't be undone." }
                (fields::button(&act("delete"), manager.form_token(), "Delete endpoint", "danger"))
            }
        }
    }
}
