//! The list of connections, and the form to add one.

use http::StatusCode;
use maud::{Markup, html};
use service::ingest::connections::{self, Connection};

use super::{HOME, badge, is_synced, new_page, source_name, url_of};
use crate::site::errors::PageResult;
use crate::site::fields::{self, Field, FormError};
use crate::site::format::plural;
use crate::site::person::Person;

pub(super) async fn get(person: Person) -> PageResult {
    show(&person, StatusCode::OK, &FormError::default(), "").await
}

pub(super) async fn show(
    person: &Person,
    status: StatusCode,
    wrong: &FormError,
    name: &str,
) -> PageResult {
    let all = connections::list(person.app(), &person.caller).await?;
    let main = html! {
        h1 { "Connections" }
        p { "The sources of your account data and their status." }
        @if !all.is_empty() {
            div.card { ul.rows { @for it in &all { (row(person, it)) } } }
        }
        (adding(person, wrong, name))
    };
    Ok(new_page("Connections").page_with(status, person, main))
}

fn row(person: &Person, it: &Connection) -> Markup {
    let now = person.app().clock.now();
    let accounts = plural(it.accounts.len() as i64, "account", "accounts");
    html! {
        li {
            span.what {
                a href=(url_of(it.id)) { (it.name) }
                " " (badge(it))
                span.soft {
                    (source_name(it.source)) ", " (accounts)
                    @if let Some(at) = it.synced_at { ", updated " (person.view.time_ago(at, now)) }
                    @if let Some(at) = it.next_sync_at.filter(|_| is_synced(it)) {
                        ", next update " (person.view.time_until(at, now))
                    }
                }
                @if let Some(text) = &it.attention { span.wrong { (text) } }
                @if it.open_offers > 0 {
                    span { (plural(it.open_offers as i64, "account is", "accounts are")) " waiting for your choice." }
                }
            }
        }
    }
}

fn adding(person: &Person, wrong: &FormError, name: &str) -> Markup {
    let token = Field::text("token", "Setup token", "")
        .hint("Copy it from SimpleFIN. It works once and is not stored.");
    let name = Field::text("name", "Connection name", name).optional();
    html! {
        section.card aria-labelledby="add" {
            h2 id="add" { "Add a connection" }
            p { "You can also " a href="/import" { "import bank files" } " or " a href="/accounts/new" { "add a manual account" } "." }
            h3 { "SimpleFIN" }
            p {
                "SimpleFIN is a US service that connects to your banks. Sign in to SimpleFIN, connect your banks \
                 and copy a setup token. Evenkeel updates four times a day, has read-only access and never sees \
                 your bank passwords."
            }
            (wrong.summary())
            (fields::form(HOME, &person.form_token, html! {
                (token.show(wrong))
                (name.show(wrong))
                button.primary type="submit" { "Connect" }
            }))
        }
    }
}
