//! One endpoint: how it stands, its secrets, a way to try it, and everything that can be done with it.

use axum::extract::Path;
use http::StatusCode;
use maud::{Markup, html};
use service::platform::cursors::Page;
use service::webhooks::{self, AttemptFilter, Endpoint, EndpointStatus, TestResult};
use wire::v1::EventType;

use super::create::type_boxes;
use super::manager::{EndpointManager, Section, disabled_text, is_key_revoked};
use super::{attempts, badge, exact_time, parse, types, when};
use crate::site::errors::PageResult;
use crate::site::fields::{self, Field, FormError};
use crate::site::format::time_ago;

/// The last attempts that are shown with an endpoint.
const RECENT: usize = 10;

pub(super) async fn get(manager: EndpointManager, Path(id): Path<String>) -> PageResult {
    let endpoint = webhooks::get(manager.app(), manager.caller(), parse(&id)?).await?;
    show(&manager, &endpoint, None, &FormError::default()).await
}

/// With what a trial just brought, or what is wrong with a change.
pub(super) async fn show(
    manager: &EndpointManager,
    endpoint: &Endpoint,
    trial: Option<&TestResult>,
    wrong: &FormError,
) -> PageResult {
    let filter = AttemptFilter { endpoint: Some(endpoint.id), ..AttemptFilter::default() };
    let page = Page { cursor: None, limit: RECENT };
    let recent = webhooks::list_attempts(manager.app(), manager.caller(), &filter, page).await?;
    let names = manager.key_names().await?;
    let key = names.get(&endpoint.key).map_or("a key that is gone", String::as_str);
    let all = manager.at(&format!("/attempts?endpoint={}", endpoint.id));
    let main = html! {
        (wrong.summary())
        @if let Some(said) = disabled_text(endpoint) {
            p.warning role="status" {
                (said)
                @if !is_key_revoked(endpoint) { " " a href="#ending" { "Switch it on again" } }
            }
        }
        (facts(manager, endpoint, key))
        (trying(manager, endpoint, trial))
        section.card aria-labelledby="recent" {
            header { h2 id="recent" { "Last attempts" } a.more href=(all) { "All attempts" } }
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
                div { dt { "Id" } dd { code { (endpoint.id) } } }
                div { dt { "Key" } dd { (key) } }
                div { dt { "Hears of" } dd { (types(endpoint)) } }
                div { dt { "Last delivery" } dd { (when(endpoint.last_delivery_at, now)) } }
                div {
                    dt { "Failing since" }
                    dd { (endpoint.failing_since.map_or("Not failing".to_owned(), |at| time_ago(at, now))) }
                }
                div { dt { "Made" } dd { (time_ago(endpoint.created_at, now)) } }
            }
        }
    }
}

fn trying(manager: &EndpointManager, endpoint: &Endpoint, trial: Option<&TestResult>) -> Markup {
    let options: Vec<(&str, &str)> = EventType::ALL.iter().map(|it| (it.name, it.name)).collect();
    let chosen = trial.map_or("webhook.test", |it| it.event_type.as_str());
    let inner = html! {
        (fields::select("event_type", "Kind of event", &options, chosen))
        button.primary type="submit" { "Send a test" }
    };
    let action = manager.at(&format!("/{}/test", endpoint.id));
    html! {
        section.card aria-labelledby="try" {
            h2 id="try" { "Try it" }
            p.soft {
                "One message with example data and " code { "test: true" } ", at once. It is not repeated, \
                 and counts for nothing."
            }
            @if let Some(trial) = trial { (outcome(trial)) }
            (fields::form(&action, manager.form_token(), inner))
        }
    }
}

fn outcome(trial: &TestResult) -> Markup {
    let said = attempts::outcome_text(&trial.attempt);
    html! {
        div role="status" {
            @if trial.delivered {
                p.notice { "It was delivered: " (said) ", in " (trial.attempt.duration_ms) " ms." }
            } @else {
                p.warning { "It was not delivered: " (said) ", after " (trial.attempt.duration_ms) " ms." }
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
                div { dt { "Current secret" } dd { "Signs every message" } }
                div {
                    dt { "Previous secrets" }
                    dd {
                        @match before {
                            Some(until) => { "Sign beside it, the last until " (exact_time(until)) }
                            None => { "None" }
                        }
                    }
                }
            }
            p.soft { "A secret is shown when it is made, and never again. " a href="/docs/webhooks" { "How to verify a message" } }
            details.confirm {
                summary { "Change the secret" }
                p {
                    "You are shown a new secret. For a day messages are signed with the old one \
                     too, so that your receiver can change over."
                }
                (fields::button(&action, manager.form_token(), "Make a new secret", "primary"))
            }
        }
    }
}

fn change(manager: &EndpointManager, endpoint: &Endpoint, wrong: &FormError) -> Markup {
    let description = endpoint.description.as_deref().unwrap_or_default();
    let inner = html! {
        (Field::text("url", "Address", &endpoint.url).kind("url").show(wrong))
        (Field::text("description", "Description", description).optional().show(wrong))
        (type_boxes(&endpoint.filter_types))
        button.primary type="submit" { "Save" }
    };
    html! {
        section.card aria-labelledby="change" {
            h2 id="change" { "Change it" }
            (fields::form(&manager.at(&format!("/{}", endpoint.id)), manager.form_token(), inner))
        }
    }
}

fn ending(manager: &EndpointManager, endpoint: &Endpoint) -> Markup {
    let act = |verb: &str| manager.at(&format!("/{}/{verb}", endpoint.id));
    html! {
        section.card aria-labelledby="ending" {
            @if endpoint.status == EndpointStatus::Active {
                h2 id="ending" { "Switch it off" }
                p.soft {
                    "Nothing is sent there until you switch it on again. What waits now is kept under Not \
                     delivered; what happens while it is off is not kept for it."
                }
                (fields::button(&act("disable"), manager.form_token(), "Disable", "outlined"))
            } @else if is_key_revoked(endpoint) {
                h2 id="ending" { "It has ended" }
                p.soft { "It ended with its key. Make a new endpoint for a key that is in use." }
            } @else {
                h2 id="ending" { "Switch it on" }
                p.soft {
                    "It hears of what happens from then on. What waited when it was switched off is under \
                     Not delivered; what happened meanwhile was not kept for it."
                }
                (fields::button(&act("enable"), manager.form_token(), "Enable", "primary"))
            }
            details.confirm {
                summary { "Delete" span.hush { " " (endpoint.url) } }
                p { "Its attempts and what was not delivered are deleted with it. This cannot be undone." }
                (fields::button(&act("delete"), manager.form_token(), "Delete this endpoint", "danger"))
            }
        }
    }
}
