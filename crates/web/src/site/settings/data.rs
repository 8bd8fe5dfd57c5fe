//! One's data: all of it, to take along.

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
            h2 id="download" { "Take your data along" }
            p {
                "One zip file with everything that is kept of you: accounts, balances, \
                 transactions, investments, goals, recurring payments, income, scores, benefits, \
                 your rules and corrections, your keys without their secrets, connected apps and \
                 the audit trail. Each is there as JSON for programs and as CSV for spreadsheets; \
                 README.txt says what is what."
            }
            p.soft {
                "The file holds your whole financial life in plain text. Keep it somewhere safe. \
                 That you downloaded it is written into your audit trail."
            }
            (fields::button(
                "/settings/data/download", &person.form_token, "Download everything", "primary"
            ))
        }
        section.card aria-labelledby="bring" {
            h2 id="bring" { "Bring data in" }
            p {
                "Files from your bank are looked at first, and every import can be undone. "
                a href="/import" { "Import files" } "."
            }
        }
        section.card aria-labelledby="leave" {
            h2 id="leave" { "Leave" }
            p {
                "Deleting your account removes all of this for good. You can do so under "
                a href="/settings/security" { "Security" } "."
            }
        }
    };
    Ok(Settings::new(Tab::Data).page(&person, main))
}

/// Sent while it is made: the browser sets the pace, and little of it is ever in memory.
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

/// A failure on the way cuts the download off, which the browser shows as failed.
async fn next(mut export: Export) -> Result<Option<(Vec<u8>, Export)>, service::Error> {
    let bytes = export.next().await.inspect_err(|error| {
        tracing::error!(%error, "a download of everything was cut off");
    })?;
    Ok(bytes.map(|it| (it, export)))
}
