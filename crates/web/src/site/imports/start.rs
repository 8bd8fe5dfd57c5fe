//! The import page: file upload, files ready to review and recent imports.

use axum::response::Response;
use base::FileId;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use maud::{Markup, html};
use service::ingest::imports::files::{self, PreviewOutcome, PreviewSummary, StagedFile, State};
use service::{Error, Result};

use super::history::{self, counts_text};
use super::{HOME, new_page, result, size, staged, url_of};
use crate::site::app_page::see_other;
use crate::site::errors::{PageResult, sentence};
use crate::site::fields::{self, FormError};
use crate::site::form::TOKEN_FIELD;
use crate::site::format::plural;
use crate::site::person::Person;
use crate::site::upload::{UploadedFile, Uploads};

pub(super) async fn get(person: Person) -> PageResult {
    show(&person, StatusCode::OK, &FormError::default()).await
}

/// Stages the uploaded files. A script gets the next URL as JSON, because the browser would follow a redirect unseen.
pub(super) async fn post(person: Person, headers: HeaderMap, uploads: Uploads) -> PageResult {
    let count = uploads.files.len();
    match stage_all(&person, uploads.files).await {
        Ok(ids) => {
            let (next, message) = match ids.as_slice() {
                [one] => (url_of(*one), String::new()),
                _ => {
                    // The list shows a summary of each file; errors are shown on the file's own page.
                    staged::refresh(person.app(), &person.caller).await;
                    (HOME.to_owned(), format!("{count} files ready to review"))
                }
            };
            let by_script = headers.get(header::ACCEPT).is_some_and(|it| it == "application/json");
            let answer = see_other(&person, &next, &message);
            Ok(if by_script { as_json(answer, &next) } else { answer })
        }
        Err(error) => show(&person, StatusCode::BAD_REQUEST, &FormError::from_error(error)?).await,
    }
}

/// Turns the redirect into JSON for the script. The message stays in its cookie.
fn as_json(mut answer: Response, next: &str) -> Response {
    *answer.status_mut() = StatusCode::OK;
    let headers = answer.headers_mut();
    headers.remove(header::LOCATION);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    *answer.body_mut() = serde_json::json!({ "next": next }).to_string().into();
    answer
}

/// Stages the files in order, up to the first that is refused. The error names that file.
async fn stage_all(person: &Person, sent: Vec<UploadedFile>) -> Result<Vec<FileId>> {
    if sent.is_empty() {
        return Err(Error::invalid("file", "choose at least one file"));
    }
    let mut ids = Vec::new();
    for UploadedFile { name, content } in sent {
        let staged = files::stage(person.app(), &person.caller, &name, content).await;
        ids.push(staged.map_err(|error| match error {
            Error::Invalid { param, message } => {
                Error::Invalid { param, message: format!("\u{201c}{name}\u{201d}: {message}") }
            }
            other => other,
        })?);
    }
    Ok(ids)
}

async fn show(person: &Person, status: StatusCode, wrong: &FormError) -> PageResult {
    // The list is drawn from stored summaries, so this page opens whatever the files contain.
    let staged = files::list(person.app(), &person.caller).await?;
    let waiting: Vec<StagedFile> =
        staged.into_iter().filter(|it| it.state != State::Done).collect();
    let is_committing = waiting.iter().any(|it| it.state == State::Committing);
    let main = html! {
        h1 { "Import" }
        (wrong.summary())
        (zone(person))
        @if !waiting.is_empty() { (list(person, &waiting, is_committing)) }
        (history::card(person).await?)
    };
    let mut page = new_page("Import");
    page.waits = is_committing;
    Ok(page.page_with(status, person, main))
}

/// The upload form. The script adds drag and drop and a progress bar.
fn zone(person: &Person) -> Markup {
    let most = files::BYTES_MAX;
    html! {
        form.drop method="post" action=(HOME) enctype="multipart/form-data" data-drop
            data-most=(most) {
            input type="hidden" name=(TOKEN_FIELD) value=(person.form_token);
            h2 { "Import bank files" }
            p { "OFX, QFX, QIF, CSV, CAMT.053 or MT940. You can review each file before importing, and undo every \
                 import." }
            div.field {
                label for="f-file" { "Files" }
                input id="f-file" name="file" type="file" multiple required
                    aria-describedby="h-file";
                p.soft id="h-file" {
                    "Up to " (most / 1_024 / 1_024) " MB in total. Files stay on this server and are deleted \
                                                     after a day."
                }
            }
            button.primary type="submit" { "Review files" }
            progress max="100" value="0" aria-label="Upload progress" hidden {}
            output role="status" {}
        }
    }
}

fn list(person: &Person, waiting: &[StagedFile], is_committing: bool) -> Markup {
    let is_ready = |it: &PreviewSummary| it.outcome == PreviewOutcome::Ready;
    let ready = waiting
        .iter()
        .filter(|it| it.state == State::Open && it.preview.as_ref().is_none_or(is_ready))
        .count();
    html! {
        section.card aria-labelledby="waiting" data-commit[is_committing] {
            header {
                h2 id="waiting" { "Files to review" }
                @if waiting.len() > 1 && ready > 0 {
                    (fields::button("/import/all", &person.form_token, "Import all ready files", "primary"))
                }
            }
            ul.rows { @for file in waiting { (row(person, file)) } }
        }
    }
}

fn row(person: &Person, file: &StagedFile) -> Markup {
    let (class, state) = match file.preview.as_ref().map(|it| it.outcome) {
        _ if file.state == State::Committing => ("", "Importing"),
        None => ("", "Not reviewed yet"),
        Some(PreviewOutcome::Unreadable) => ("warn", "Can't be read"),
        Some(PreviewOutcome::NeedsAnswer) => ("warn", "Needs your input"),
        Some(PreviewOutcome::NothingNew) => ("", "Nothing new"),
        Some(PreviewOutcome::Ready) => ("good", "Ready"),
    };
    html! {
        li {
            span.what {
                a href=(url_of(file.id)) { (file.name) }
                " " span.badge.(class) { (state) }
                span.soft { (about(file)) }
                @if file.state == State::Committing { (result::bar(person, file.id)) }
            }
            @if file.state == State::Open {
                (fields::form(&format!("{}/discard", url_of(file.id)), &person.form_token, html! {
                    button.quiet type="submit" { "Discard" span.hush { " " (file.name) } }
                }))
            }
        }
    }
}

fn about(file: &StagedFile) -> String {
    let size = size(file.size);
    let Some(found) = file.preview.as_ref().filter(|_| file.state == State::Open) else {
        return size;
    };
    if let Some(error) = &found.error {
        return sentence(error);
    }
    let format = found.format().map_or("", |it| it.label());
    let accounts = plural(found.accounts as i64, "account", "accounts");
    let counts = counts_text(&[(found.new, "new"), (found.seen, "already imported")]);
    format!("{format}, {size}, {accounts}: {counts}")
}
