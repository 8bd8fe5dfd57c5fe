//! The import pages: upload files, review them, import them and undo an import.

mod accounts;
mod columns;
mod commit;
mod history;
mod preview;
mod preview_form;
mod questions;
mod result;
mod staged;
mod start;

use axum::Router;
use axum::extract::Path;
use base::FileId;

pub(super) use history::rows as history_rows;

use super::app_page::AppPage;
use super::assets::Asset;
use super::errors::PageError;
use super::format::count_text;
use super::navigation::NavItem;
use crate::WebState;
use crate::routing::{get_and_post, post};

const HOME: &str = "/import";

pub(super) fn router() -> Router<WebState> {
    Router::new()
        .route(HOME, get_and_post(start::get, start::post))
        .route("/import/all", post(commit::all))
        .route("/import/{file}", get_and_post(preview::get, preview::update))
        .route("/import/{file}/commit", post(commit::commit))
        .route("/import/{file}/discard", post(commit::discard))
        .route("/imports/{import}/undo", post(history::undo))
}

fn new_page(title: &str) -> AppPage<'_> {
    AppPage { scripts: &[Asset::Imports], ..AppPage::new(NavItem::Import, title) }
}

/// Parses the id in a path. A malformed id gets the same page as an unknown one.
fn parse(Path(id): Path<String>) -> Result<FileId, PageError> {
    FileId::parse(&id).map_err(|_| PageError::not_found())
}

fn url_of(id: FileId) -> String {
    format!("{HOME}/{id}")
}

/// A file size: "312 KB".
fn size(bytes: i64) -> String {
    match bytes {
        ..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{}.{} MB", count_text(bytes / 1_000_000), bytes % 1_000_000 / 100_000),
    }
}
