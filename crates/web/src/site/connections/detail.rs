//! The page of one connection: status, accounts, available accounts, import history and access.

use axum::extract::Path;
use http::StatusCode;
use maud::{Markup, html};
use service::ingest::connections::{
    self, ConnectMethod, Connection, OfferedAccount, Remedy, State,
};
use service::ingest::imports;
use service::ledger::accounts::{self, Filter, Status};

use super::add_parts::URL;
use super::progress::Progress;
use super::{HOME, badge, is_synced, new_page, offers, parse, source_name, url_of};
use crate::site::app_page::AppPage;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, Field, FormError};
use crate::site::format::plural;
use crate::site::imports::history_rows;
use crate::site::person::Person;

const BATCHES: usize = 20;

pub(super) async fn get(person: Person, id: Path<String>) -> PageResult {
    let id = parse(id)?;
    show(&person, id, StatusCode::OK, &FormError::default()).await
}

pub(super) async fn show(
    person: &Person,
    id: base::ConnectionId,
    status: StatusCode,
    wrong: &FormError,
) -> PageResult {
    let (app, caller) = (person.app(), &person.caller);
    let it = connections::get(app, caller, id).await?;
    let offered =
        if is_synced(&it) { connections::list_offers(app, caller, id).await? } else { vec![] };
    let filter = Filter { status: Status::All, include_hidden: true };
    let own = accounts::list(app, caller, filter).await?;
    let batches = imports::list(app, caller, Some(id), BATCHES).await?;
    let progress = Progress::of(&it, &offered);
    let is_followed = progress.is_followed(&it, app.clock.now());
    let main = html! {
        p.trail { a href=(HOME) { "Connections" } }
        div.heading { h1 { (it.name) } (badge(&it)) }
        (wrong.summary())
        (progress.show(person, &it, &batches, is_followed))
        (state(person, &it))
        @if is_synced(&it) && it.state != State::Disconnected {
            @if it.access_ends_at.is_some() && it.synced_at.is_none() && !offered.is_empty() {
                p { "Choose your accounts now. Many banks share full history only for a few minutes after you connect." }
            }
            (offers::card(person, id, &offered, &own))
        }
        (held(&it))
        section.card aria-labelledby="brought" {
            h2 id="brought" { "Import history" }
            @if batches.is_empty() { p.soft { "No imports yet." } } @else {
                (history_rows(person, &batches))
            }
        }
        @if is_synced(&it) { (access(person, &it, &offered, wrong)) }
    };
    let page = AppPage { waits: is_followed, ..new_page(&it.name) };
    Ok::<_, PageError>(page.page_with(status, person, main))
}

fn state(person: &Person, it: &Connection) -> Markup {
    let now = person.app().clock.now();
    let day = |on| person.view.day(on);
    html! {
        section.card aria-labelledby="state" {
            h2 id="state" { "Status" }
            @if let Some(text) = &it.attention { p.wrong role="alert" { (text) } }
            (remedy(person, it))
            @if it.is_revoking {
                p.soft { (source_name(it.source)) " has not confirmed the end of this access yet. We keep trying." }
            }
            dl.facts-of {
                div { dt { "Source" } dd { (source_name(it.source)) } }
                @if !it.institutions.is_empty() {
                    div { dt { "Banks" } dd { (it.institutions.join(", ")) } }
                }
                div {
                    dt { "Last update" }
                    dd { @match it.synced_at { Some(at) => (person.view.time_ago(at, now)), None => "Not yet" } }
                }
                @if is_synced(it) {
                    div {
                        dt { "Next update" }
                        dd {
                            @match it.next_sync_at {
                                Some(at) => (person.view.time_until(at, now)),
                                None => "Not scheduled",
                            }
                        }
                    }
                    @if let Some(at) = it.access_ends_at {
                        div { dt { "Consent ends" } dd { (person.view.day_at(at)) } }
                    }
                    div {
                        dt { "Updates today" }
                        dd { (it.requests_today) " of " (it.requests_max) }
                    }
                    @if let Some(past) = it.history {
                        div {
                            dt { "History" }
                            dd {
                                "Back to " (day(past.from))
                                @if !past.is_complete { ", still loading" }
                            }
                        }
                    }
                }
            }
            @if is_synced(it) && it.state != State::Disconnected {
                (fields::button(&format!("{}/sync", url_of(it.id)), &person.form_token, "Sync now", "outlined"))
            }
            @if it.source == base::draft::Source::File {
                a.button.outlined href="/import" { "Import files" }
            }
        }
    }
}

/// The button for the problem, if there is one. A connection by token has a form for a new token instead.
fn remedy(person: &Person, it: &Connection) -> Markup {
    let by_link = it.provider().is_some_and(|it| it.method() == ConnectMethod::Link);
    let button =
        |remedy: Remedy, label| remedy_button(person, it.id, remedy.as_str(), label, "primary");
    html! {
        @if by_link {
            @match it.remedy {
                Some(Remedy::Repair) => { (button(Remedy::Repair, "Repair")) }
                Some(Remedy::AddAccounts) => { (button(Remedy::AddAccounts, "Add accounts")) }
                Some(Remedy::Reconnect) => { (button(Remedy::Reconnect, "Connect again")) }
                Some(Remedy::ChangeKeys) => { a.button.primary href=(URL) { "Change keys" } }
                None => {}
            }
        }
    }
}

fn held(it: &Connection) -> Markup {
    html! {
        @if !it.accounts.is_empty() {
            section.card aria-labelledby="accounts" {
                h2 id="accounts" { (plural(it.accounts.len() as i64, "account", "accounts")) }
                ul.rows {
                    @for account in &it.accounts {
                        li {
                            span.what {
                                a href=(format!("/accounts/{}", account.id)) { (account.name) }
                                @if let Some(bank) = &account.institution_name { span.soft { (bank) } }
                                @if let Some(text) = &account.attention { span.wrong { (text) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn access(
    person: &Person,
    it: &Connection,
    offered: &[OfferedAccount],
    wrong: &FormError,
) -> Markup {
    if it.provider().is_some_and(|it| it.method() == ConnectMethod::Link) {
        return link_access(person, it, offered);
    }
    let token = Field::text("token", "New setup token", "")
        .hint("Get a new token from SimpleFIN if access was revoked.");
    let action = format!("{}/access", url_of(it.id));
    let ending = format!("{}/disconnect", url_of(it.id));
    html! {
        section.card aria-labelledby="access" {
            h2 id="access" { "Access" }
            (fields::form(&action, &person.form_token, html! {
                (token.show(wrong))
                button.outlined type="submit" { "Restore access" }
            }))
            @if it.state != State::Disconnected {
                details.confirm {
                    summary { "Disconnect" }
                    p {
                        "Evenkeel deletes its access and stops updating. "
                        (plural(offered.len() as i64, "account", "accounts"))
                        " and all imported data are kept. To revoke access at SimpleFIN too, do so on their \
                            site."
                    }
                    (fields::button(&ending, &person.form_token, "Disconnect source", "danger"))
                }
            }
        }
    }
}

/// Access that the person gave on the provider's page.
fn link_access(person: &Person, it: &Connection, offered: &[OfferedAccount]) -> Markup {
    let ending = format!("{}/disconnect", url_of(it.id));
    let button =
        |remedy: Remedy, label| remedy_button(person, it.id, remedy.as_str(), label, "outlined");
    html! {
        section.card aria-labelledby="access" {
            h2 id="access" { "Access" }
            @if it.state == State::Disconnected {
                p { "Connect the bank again to continue. Your accounts and their history are still here." }
                (button(Remedy::Reconnect, "Connect again"))
            } @else {
                @if it.access_ends_at.is_none() { (button(Remedy::AddAccounts, "Add accounts")) }
                (button(Remedy::Repair, "Sign in again"))
                details.confirm {
                    summary { "Disconnect" }
                    p {
                        "Evenkeel deletes its access and tells " (source_name(it.source)) " to end it. "
                        (plural(offered.len() as i64, "account", "accounts"))
                        " and all imported data are kept. Connecting again may count as another bank in your plan."
                    }
                    (fields::button(&ending, &person.form_token, "Disconnect source", "danger"))
                }
            }
        }
    }
}

/// The button that solves a problem of a connection.
fn remedy_button(
    person: &Person,
    id: base::ConnectionId,
    remedy: &str,
    label: &str,
    class: &str,
) -> Markup {
    let action = format!("{}/repair", url_of(id));
    fields::form(
        &action,
        &person.form_token,
        html! {
            input type="hidden" name="remedy" value=(remedy);
            button.(class) type="submit" { (label) }
        },
    )
}
