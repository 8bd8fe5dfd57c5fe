//! The data page: downloading everything as a zip file.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use http::header;
use maud::html;
use service::exports::{self, Export};

use super::{Settings, Tab};
use crate::site::errors::PageResult;
use crate::site::fields;
use crate::site::form::Form;
use crate::site::person::Person;

pub(super) async fn get(person: Person) -> PageResult {
    let main = html! {
        section.card aria-labelledby="download" {
            h2 id="download" { "Download your data" }
            p {
                "Download a zip file with all your data: accounts, balances, transactions, investments, goals, \
                 recurring payments, income, scores, benefits, rules and corrections, API keys (without secrets), \
                 connected apps and the audit trail. Each is included as JSON and CSV."
            }
            p.soft {
                "The file is not encrypted, so keep it safe. The download is recorded in your audit trail."
            }
            (fields::button(
                "/settings/data/download", &person.form_token, "Download data", "primary"
            ))
        }
        section.card aria-labelledby="bring" {
            h2 id="bring" { "Import data" }
            p {
                "You can review bank files before importing them, and undo every import. "
                a href="/import" { "Import files" } "."
            }
        }
        section.card aria-labelledby="leave" {
            h2 id="leave" { "Delete account" }
            p {
                "Deleting your account permanently removes all your data. You can delete it under "
                a href="/settings/security" { "Security" } "."
            }
        }
    };
    Ok(Settings::new(Tab::Data).page(&person, main))
}

/// Streams the zip file while it is created, so that little of it is in memory.
pub(super) async fn download(person: Person, _form: Form) -> PageResult {
    let export = exports::start(person.app(), &person.caller).await?;
    let name = format!("attachment; filename=\"evenkeel-{}.zip\"", person.view.today);
    let headers = [
        (header::CONTENT_TYPE, "application/zip".to_owned()),
        (header::CONTENT_DISPOSITION, name),
        (header::CACHE_CONTROL, "private, no-store".to_owned()),
    ];
    let body = Body::from_stream(stream::try_unfold(export, next).fuse());
    Ok((headers, body).into_response() as Response)
}

/// The next part of the file. An error aborts the download, which the browser shows as failed.
async fn next(mut export: Export) -> Result<Option<(Vec<u8>, Export)>, service::Error> {
    let bytes = export.next().await.inspect_err(|error| {
        tracing::error!(%error, "data download aborted");
    })?;
    Ok(bytes.map(|it| (it, export)))
}
