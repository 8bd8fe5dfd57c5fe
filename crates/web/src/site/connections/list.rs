//! Every source, and how to add one.

use http::StatusCode;
use maud::{Markup, html};
use service::ingest::connections::{self, Connection};

use super::{HOME, badge, is_asked, new_page, source_name, url_of};
use crate::site::errors::PageResult;
use crate::site::fields::{self, Field, FormError};
use crate::site::format::{plural, time_ago, time_until};
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
        p { "Where your accounts come from, how fresh they are, and what to do where something is \
             wrong." }
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
                    @if let Some(at) = it.synced_at { ", last data " (time_ago(at, now)) }
                    @if let Some(at) = it.next_sync_at.filter(|_| is_asked(it)) {
                        ", next " (time_until(at, now))
                    }
                }
                @if let Some(text) = &it.attention { span.wrong { (text) } }
                @if it.open_offers > 0 {
                    span { (plural(it.open_offers as i64, "account waits", "accounts wait"))
                           " for you to choose." }
                }
            }
        }
    }
}

fn adding(person: &Person, wrong: &FormError, name: &str) -> Markup {
    let token = Field::text("token", "Setup token", "")
        .hint("Copied from SimpleFIN. It works once, and is not kept.");
    let name = Field::text("name", "What to call it", name).optional();
    html! {
        section.card aria-labelledby="add" {
            h2 id="add" { "Add a source" }
            p { "Files of your bank can be brought in at any time: " a href="/import" { "Import files" } ". \
                 Accounts that no bank tells of are kept by hand: "
                a href="/accounts" { "Accounts" } "." }
            h3 { "SimpleFIN" }
            p {
                "A service in the United States that reads your banks and passes on what it reads. You \
                 sign in there, connect your banks, and copy a setup token. Evenkeel asks it four times \
                 a day, can only read, and never sees the passwords of your banks."
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
