//! Bringing in files: dropped, looked at, mended where they were misread, taken in, and taken back.

mod accounts;
mod desk;
mod doubts;
mod editor;
mod history;
mod one;
mod outcome;
mod said;
mod taking;

use axum::Router;
use axum::extract::Path;
use axum::routing::{get, post};
use base::FileId;

pub(super) use history::rows as history_rows;

use super::assets::Asset;
use super::shell::{Place, Shell};
use super::show::counted;
use super::trouble::Trouble;
use crate::Door;

const DESK: &str = "/import";

pub(super) fn router() -> Router<Door> {
    Router::new()
        .route(DESK, get(desk::get).post(desk::post))
        .route("/import/all", post(taking::all))
        .route("/import/{file}", get(one::get).post(one::update))
        .route("/import/{file}/commit", post(taking::commit))
        .route("/import/{file}/discard", post(taking::discard))
        .route("/imports/{import}/undo", post(history::undo))
}

fn shell(title: &str) -> Shell<'_> {
    Shell { scripts: &[Asset::Imports], ..Shell::new(Place::Import, title) }
}

/// What cannot be an id is as unknown as one that is not there.
fn parse(Path(id): Path<String>) -> Result<FileId, Trouble> {
    FileId::parse(&id).map_err(|_| Trouble::not_found())
}

fn address(id: FileId) -> String {
    format!("{DESK}/{id}")
}

/// "312 KB", as people compare files.
fn size(bytes: i64) -> String {
    match bytes {
        ..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{}.{} MB", counted(bytes / 1_000_000), bytes % 1_000_000 / 100_000),
    }
}
