//! Where data comes from: every source with its state, what it offers, and what can be done about it.

mod acts;
mod claim;
mod list;
mod offers;
mod one;

use axum::Router;
use axum::extract::Path;
use axum::routing::{get, post};
use base::ConnectionId;
use base::draft::Source;
use maud::{Markup, html};
use service::ingest::connections::{Connection, State};

use super::shell::{Place, Shell};
use super::trouble::Trouble;
use crate::Door;

const HOME: &str = "/connections";

pub(super) fn router() -> Router<Door> {
    Router::new()
        .route(HOME, get(list::get).post(claim::post))
        .route("/connections/{connection}", get(one::get))
        .route("/connections/{connection}/accounts", post(offers::post))
        .route("/connections/{connection}/sync", post(acts::sync))
        .route("/connections/{connection}/access", post(acts::reauthorize))
        .route("/connections/{connection}/disconnect", post(acts::disconnect))
}

fn shell(title: &str) -> Shell<'_> {
    Shell::new(Place::Connections, title)
}

/// What cannot be an id is as unknown as one that is not there.
fn parse(Path(id): Path<String>) -> Result<ConnectionId, Trouble> {
    ConnectionId::parse(&id).map_err(|_| Trouble::not_found())
}

fn address(id: ConnectionId) -> String {
    format!("{HOME}/{id}")
}

/// Where it comes from, as one says it.
fn source_name(source: Source) -> &'static str {
    match source {
        Source::Demo => "The demo",
        Source::File => "Files",
        Source::Manual => "By hand",
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
            State::Manual => { span.badge { "Kept by you" } }
        }
    }
}

/// Only these are asked by us.
fn is_asked(connection: &Connection) -> bool {
    connection.source == Source::Simplefin
}
