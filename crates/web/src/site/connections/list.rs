//! The list of connections.

use maud::{Markup, html};
use service::ingest::connections::{self, Connection};

use super::{add_parts, badge, is_synced, new_page, source_name, url_of};
use crate::site::errors::PageResult;
use crate::site::format::plural;
use crate::site::person::Person;

pub(super) async fn get(person: Person) -> PageResult {
    let all = connections::list(person.app(), &person.caller).await?;
    let main = html! {
        div.heading {
            h1 { "Connections" }
            a.button href=(add_parts::URL) { "Add a bank" }
        }
        p { "These banks and files supply your data." }
        @if all.is_empty() {
            div.empty {
                h2 { "No connections yet" }
                p { "Connect a bank and your accounts update automatically, or import files." }
                a.button.outlined href="/import" { "Import bank files" }
            }
        } @else {
            div.card { ul.rows { @for it in &all { (row(&person, it)) } } }
        }
    };
    Ok(new_page("Connections").page(&person, main))
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
