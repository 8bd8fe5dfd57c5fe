//! The audit trail page: what was done, by whom and from where, and whether the trail is intact.

use std::collections::HashMap;

use axum::extract::RawQuery;
use maud::{Markup, html};
use service::platform::audit::{self, ActorKind, AuditEntry, Verdict};

use super::{Settings, Tab};
use crate::site::errors::PageResult;
use crate::site::format::plural;
use crate::site::person::Person;
use crate::site::urls;

const PAGE: usize = 50;

pub(super) async fn get(person: Person, RawQuery(query): RawQuery) -> PageResult {
    let pairs = query.and_then(|it| urls::parse_pairs(&it)).unwrap_or_default();
    let before = pairs.iter().find(|(name, _)| name == "before").map(|(_, it)| it.as_str());
    let before = before.and_then(|it| it.parse::<i64>().ok());
    let (app, caller) = (person.app(), &person.caller);
    // One extra entry tells whether there are older ones.
    let mut entries = audit::list(app, caller, before, PAGE + 1).await?;
    let older = entries.len() > PAGE;
    entries.truncate(PAGE);
    let names = audit::actor_names(app, caller).await?;
    let verdict = audit::verify(app, caller).await?;
    let older = entries.last().filter(|_| older).map(|it| it.number);
    let main = html! {
        (integrity(&verdict))
        section.card aria-labelledby="trail" {
            h2 id="trail" { "Activity" }
            @if entries.is_empty() {
                p { "No activity yet." }
            } @else {
                div.scroll {
                    table.audit {
                        thead {
                            tr {
                                th scope="col" { "When" }
                                th scope="col" { "Activity" }
                                th scope="col" { "Who" }
                                th scope="col" { "From" }
                            }
                        }
                        tbody { @for entry in &entries { (row(&person, entry, &names)) } }
                    }
                }
            }
            (pages(before.is_some(), older))
        }
    };
    Ok(Settings::new(Tab::Audit).page(&person, main))
}

fn integrity(verdict: &Verdict) -> Markup {
    html! {
        @match verdict {
            Verdict::Intact { entries, unanchored, .. } => p.notice {
                "The audit trail is intact (" (plural(*entries, "entry", "entries")) "). Each entry is \
                    cryptographically linked to the one before. If an entry is changed or removed, you'll see a \
                    warning here."
                @if *unanchored > 0 {
                    " The first " (unanchored) " entries are protected since the trail was sealed."
                }
            },
            Verdict::AnchorMismatch(mismatch) => p.warning role="alert" {
                "Your audit trail does not match its anchor: " (mismatch.to_string()) ". Contact the administrator \
                    of this installation and change your password."
            },
            Verdict::Broken { number } => p.warning role="alert" {
                "The audit trail was altered at entry " (number) ". Older entries can still be trusted. Contact \
                    the administrator of this installation and change your password."
            },
        }
    }
}

fn row(person: &Person, entry: &AuditEntry, names: &HashMap<String, String>) -> Markup {
    html! {
        tr {
            td {
                (person.view.day_at(entry.at)) " "
                span.soft { (person.view.local(entry.at, "%H:%M %Z")) }
            }
            td { (person.view.mask_amounts(&entry.details)) }
            td { (who(person, entry, names)) }
            td.soft { (entry.actor.address.as_deref().unwrap_or("")) }
        }
    }
}

fn who(person: &Person, entry: &AuditEntry, names: &HashMap<String, String>) -> String {
    let actor = &entry.actor;
    let id = actor.id.as_deref().unwrap_or_default();
    let name = actor.label.as_deref().or_else(|| names.get(id).map(String::as_str));
    let named = |what: &str| match name {
        Some(name) => format!("{what} \"{name}\""),
        None => what.to_owned(),
    };
    match actor.kind {
        ActorKind::Person if id == person.session.id.to_string() => {
            "You, in this session".to_owned()
        }
        ActorKind::Person => "You".to_owned(),
        ActorKind::Operator => "Administrator".to_owned(),
        ActorKind::Key => named("API key"),
        ActorKind::App => named("App"),
        ActorKind::System => "Evenkeel".to_owned(),
        ActorKind::Visitor => "Not signed in".to_owned(),
    }
}

fn pages(later: bool, older: Option<i64>) -> Markup {
    html! {
        @if later || older.is_some() {
            nav.pages aria-label="Audit trail pages" {
                @if later { a href="/settings/audit" { "Newest" } } @else { span {} }
                @if let Some(number) = older {
                    a href={ "/settings/audit?before=" (number) } { "Older" }
                }
            }
        }
    }
}
