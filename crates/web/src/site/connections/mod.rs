//! The connections pages: sources of account data, their status and the accounts they offer.

mod actions;
mod add;
mod add_parts;
mod claim;
mod detail;
mod enable_banking;
mod enable_banking_actions;
mod links;
mod list;
mod offer_choices;
mod offers;
mod plaid;
mod plaid_actions;
mod progress;

use axum::Router;
use axum::extract::Path;
use base::ConnectionId;
use base::draft::Source;
use maud::{Markup, html};
use service::ingest::connections::{Connection, State};

use super::app_page::AppPage;
use super::assets::Asset;
use super::errors::PageError;
use super::navigation::NavItem;
use crate::WebState;
use crate::routing::{get, get_and_post, post};

const HOME: &str = "/connections";

pub(super) fn router() -> Router<WebState> {
    Router::new()
        .route(HOME, get_and_post(list::get, claim::post))
        .route(add_parts::URL, get(add::get))
        .route("/connections/plaid/keys", post(plaid_actions::save))
        .route("/connections/plaid/keys/delete", post(plaid_actions::delete))
        .route("/connections/plaid/link", post(links::start))
        .route("/connections/plaid/back", get(links::back_from_plaid))
        .route("/connections/enable-banking/keys", post(enable_banking_actions::save))
        .route("/connections/enable-banking/keys/delete", post(enable_banking_actions::delete))
        .route("/connections/enable-banking/banks", get(enable_banking_actions::banks))
        .route("/connections/enable-banking/link", post(enable_banking_actions::link))
        .route("/connections/enable-banking/back", get(links::back_from_bank))
        .route("/connections/links/{link}", get(links::get))
        .route("/connections/links/{link}/keep", post(links::keep))
        .route("/connections/links/{link}/discard", post(links::discard))
        .route("/connections/{connection}", get(detail::get))
        .route("/connections/{connection}/repair", post(links::repair))
        .route("/connections/{connection}/accounts", post(offer_choices::post))
        .route("/connections/{connection}/sync", post(actions::sync))
        .route("/connections/{connection}/access", post(actions::reauthorize))
        .route("/connections/{connection}/disconnect", post(actions::disconnect))
}

fn new_page(title: &str) -> AppPage<'_> {
    AppPage { scripts: &[Asset::Imports], ..AppPage::new(NavItem::Connections, title) }
}

/// Parses the id in a path. A malformed id gets the same page as an unknown one.
fn parse(Path(id): Path<String>) -> Result<ConnectionId, PageError> {
    ConnectionId::parse(&id).map_err(|_| PageError::not_found())
}

fn url_of(id: ConnectionId) -> String {
    format!("{HOME}/{id}")
}

/// The name of a source for people.
fn source_name(source: Source) -> &'static str {
    match source {
        Source::Demo => "Demo",
        Source::File => "Files",
        Source::Manual => "Manual",
        Source::EnableBanking => "Enable Banking",
        Source::Plaid => "Plaid",
        Source::Simplefin => "SimpleFIN",
    }
}

fn badge(connection: &Connection) -> Markup {
    html! {
        @match connection.state {
            State::Connected => { span.badge.good { "Connected" } }
            State::NeedsAttention => { span.badge.warn { "Needs attention" } }
            State::Disconnected => { span.badge { "Disconnected" } }
            State::Manual => { span.badge { "Manual" } }
        }
    }
}

/// Whether we fetch data from this connection.
fn is_synced(connection: &Connection) -> bool {
    connection.provider().is_some()
}
