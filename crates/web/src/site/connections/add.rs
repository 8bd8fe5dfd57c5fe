//! The page that adds a bank: where the accounts are, which ways lead to them, and three steps for each way.

use axum::extract::RawQuery;
use http::StatusCode;
use maud::{Markup, html};
use service::ingest::connections;

use super::add_parts::{Region, elsewhere, heading, region_field, url_of};
use super::{HOME, enable_banking, new_page, plaid};
use crate::site::errors::PageResult;
use crate::site::fields::{self, Field, FormError};
use crate::site::person::Person;
use crate::site::urls;

const BRIDGE_TOKEN: &str = "https://bridge.simplefin.org/simplefin/create";

pub(super) async fn get(person: Person, RawQuery(query): RawQuery) -> PageResult {
    let region = query.as_deref().and_then(|it| urls::find_param(it, "region"));
    let region = region.and_then(|it| Region::parse(&it));
    show(&person, StatusCode::OK, region, &FormError::default(), "").await
}

/// Shows the page. A form that was refused is shown again with its error, and what was typed as `name`.
pub(super) async fn show(
    person: &Person,
    status: StatusCode,
    region: Option<Region>,
    wrong: &FormError,
    name: &str,
) -> PageResult {
    let connected = connections::list(person.app(), &person.caller).await?;
    let (keys, application) = (plaid::status(person).await?, enable_banking::status(person).await?);
    let region = region.unwrap_or_else(|| Region::likely(&person.user));
    let main = html! {
        div.lead-in {
            p.trail { a href=(HOME) { "Connections" } }
            h1 { "Add a bank" }
            p {
                "Evenkeel reads your accounts and transactions. It cannot move money and never sees your bank \
                 password."
            }
        }
        (wrong.summary())
        h2 { "Where are your accounts?" }
        (regions(region))
        @if region.has_plaid() { (plaid::card(person, region, keys, &connected, wrong)) }
        @if region == Region::Europe { (enable_banking::card(person, application, &connected, wrong)) }
        (simplefin(person, region, wrong, name))
        (files())
    };
    Ok(new_page("Add a bank").page_with(status, person, main))
}

fn regions(chosen: Region) -> Markup {
    html! {
        ul.tabs {
            @for &it in Region::ALL {
                @let current = (chosen == it).then_some("page");
                li { a href=(url_of(Some(it))) aria-current=[current] { (it.name()) } }
            }
        }
    }
}

fn simplefin(person: &Person, region: Region, wrong: &FormError, name: &str) -> Markup {
    let is_bridge = region == Region::UnitedStates || region == Region::Canada;
    let token = Field::text("token", "Setup token", "")
        .hint("Copy it from SimpleFIN. It works once and is not stored.");
    let name = Field::text("name", "Connection name", name).optional();
    html! {
        section.card aria-labelledby="simplefin" {
            @if is_bridge {
                (heading("simplefin", "SimpleFIN", "15 USD a year"))
                p { "SimpleFIN Bridge connects to banks in the US, and to some in Canada. It needs no keys." }
            } @else {
                (heading("simplefin", "SimpleFIN", "Depends on the server"))
                p {
                    "Some services for banks in your region speak SimpleFIN. If yours does, create a setup token there."
                }
            }
            ol.steps {
                li {
                    p {
                        strong { "Connect your banks at SimpleFIN." }
                        @if is_bridge {
                            " Subscribe to " (elsewhere("https://bridge.simplefin.org", "SimpleFIN Bridge"))
                            " and sign in to your banks there."
                        } @else { " Sign in to your banks on the service's page." }
                    }
                }
                li {
                    p {
                        strong { "Create a setup token." }
                        @if is_bridge {
                            " "
                            (elsewhere(BRIDGE_TOKEN, "This page of SimpleFIN Bridge"))
                            " shows it."
                        } @else { " The service shows it under a name such as API access." }
                    }
                }
                li {
                    p { strong { "Paste it here." } " Evenkeel then updates four times a day." }
                    (fields::form(HOME, &person.form_token, html! {
                        (region_field(region))
                        (token.show(wrong))
                        (name.show(wrong))
                        button.primary type="submit" { "Connect" }
                    }))
                }
            }
        }
    }
}

fn files() -> Markup {
    html! {
        section.card aria-labelledby="files" {
            (heading("files", "Files from your bank", "Free"))
            ol.steps {
                li { p { strong { "Download a file." } " On your bank's website, look for Export or Download." } }
                li { p { strong { "Import it." } " OFX, QFX, QIF, CSV, CAMT.053 and MT940 work." } }
                li { p { strong { "Repeat it when you like." } " Transactions that you have are recognized." } }
            }
            a.button.outlined href="/import" { "Import bank files" }
            p { "You can also " a href="/accounts/new" { "add a manual account" } "." }
        }
    }
}
