//! Where files are dropped, with those that wait and what came in last.

use axum::response::Response;
use base::FileId;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use maud::{Markup, html};
use service::ingest::imports::files::{self, PreviewOutcome, PreviewSummary, StagedFile, State};
use service::{Error, Result};

use super::{HOME, history, new_page, size, url_of};
use crate::site::app_page::see_other;
use crate::site::errors::{PageResult, sentence};
use crate::site::fields::{self, FormError};
use crate::site::form::TOKEN_FIELD;
use crate::site::format::{count_text, plural};
use crate::site::person::Person;
use crate::site::upload::{Sent, Uploads};

pub(super) async fn get(person: Person) -> PageResult {
    show(&person, StatusCode::OK, &FormError::default()).await
}

/// Holds what was dropped. A script asks for where to go on, because it would else go there itself unseen.
pub(super) async fn post(person: Person, headers: HeaderMap, uploads: Uploads) -> PageResult {
    let count = uploads.files.len();
    match hold(&person, uploads.files).await {
        Ok(ids) => {
            let (next, said) = match ids.as_slice() {
                [one] => (url_of(*one), String::new()),
                _ => {
                    // The list tells what is in them; what cannot be read now says so on its own page.
                    refresh(&person).await;
                    (HOME.to_owned(), format!("{count} files are here to be looked at."))
                }
            };
            let by_script = headers.get(header::ACCEPT).is_some_and(|it| it == "application/json");
            let answer = see_other(&person, &next, &said);
            Ok(if by_script { told(answer, &next) } else { answer })
        }
        Err(error) => show(&person, StatusCode::BAD_REQUEST, &FormError::from_error(error)?).await,
    }
}

/// The same answer, for a script: the place in JSON, and what is to be said there in the cookie.
fn told(mut answer: Response, next: &str) -> Response {
    *answer.status_mut() = StatusCode::OK;
    let headers = answer.headers_mut();
    headers.remove(header::LOCATION);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    *answer.body_mut() = serde_json::json!({ "next": next }).to_string().into();
    answer
}

/// All of them, or as far as it went: the first that is refused says why, by its name.
async fn hold(person: &Person, sent: Vec<Sent>) -> Result<Vec<FileId>> {
    if sent.is_empty() {
        return Err(Error::invalid("file", "choose one or more files first"));
    }
    let mut ids = Vec::new();
    for Sent { name, content } in sent {
        let held = files::stage(person.app(), &person.caller, &name, content).await;
        ids.push(held.map_err(|error| match error {
            Error::Invalid { param, message } => {
                Error::Invalid { param, message: format!("\u{201c}{name}\u{201d}: {message}") }
            }
            other => other,
        })?);
    }
    Ok(ids)
}

async fn show(person: &Person, status: StatusCode, wrong: &FormError) -> PageResult {
    // No file is read to draw a list: whatever was staged, this page can be opened.
    let held = files::list(person.app(), &person.caller).await?;
    let waiting: Vec<StagedFile> = held.into_iter().filter(|it| it.state != State::Done).collect();
    let is_taking = waiting.iter().any(|it| it.state == State::Committing);
    let main = html! {
        h1 { "Import" }
        (wrong.summary())
        (zone(person))
        @if !waiting.is_empty() { (list(person, &waiting, is_taking)) }
        (history::card(person).await?)
    };
    let mut page = new_page("Import");
    page.waits = is_taking;
    Ok(page.page_with(status, person, main))
}

/// Reads the small files that wait anew, so that the list tells of each as things stand now. The list is shown in any
/// case.
pub(super) async fn refresh(person: &Person) {
    if let Err(error) = files::refresh(person.app(), &person.caller).await {
        tracing::warn!(%error, user = %person.caller.user, "staged files could not be previewed");
    }
}

/// A plain field for files; the script lets them be dropped anywhere on it and tells how far it is.
fn zone(person: &Person) -> Markup {
    let most = files::BYTES_MAX;
    html! {
        form.drop method="post" action=(HOME) enctype="multipart/form-data" data-drop
            data-most=(most) {
            input type="hidden" name=(TOKEN_FIELD) value=(person.form_token);
            h2 { "Drop files from your bank" }
            p { "OFX, QFX, QIF, CSV, CAMT.053 or MT940. You see what is in them before anything is \
                 changed, and every import can be undone." }
            div.field {
                label for="f-file" { "Files" }
                input id="f-file" name="file" type="file" multiple required
                    aria-describedby="h-file";
                p.soft id="h-file" {
                    "Several at once if you like, " (most / 1_024 / 1_024) " MiB at most together. \
                     They stay on this machine, and are forgotten after a day."
                }
            }
            button.primary type="submit" { "Look at these files" }
            progress max="100" value="0" aria-label="Sent" hidden {}
            output role="status" {}
        }
    }
}

fn list(person: &Person, waiting: &[StagedFile], is_taking: bool) -> Markup {
    let is_ready = |it: &PreviewSummary| it.outcome == PreviewOutcome::Ready;
    let ready = waiting
        .iter()
        .filter(|it| it.state == State::Open && it.preview.as_ref().is_none_or(is_ready))
        .count();
    html! {
        section.card aria-labelledby="waiting" data-commit[is_taking] {
            header {
                h2 id="waiting" { "Waiting for you" }
                @if waiting.len() > 1 && ready > 0 {
                    (fields::button("/import/all", &person.form_token, "Import all that are ready", "primary"))
                }
            }
            ul.rows { @for file in waiting { (row(person, file)) } }
        }
    }
}

fn row(person: &Person, file: &StagedFile) -> Markup {
    let (class, state) = match file.preview.as_ref().map(|it| it.outcome) {
        _ if file.state == State::Committing => ("", "Being imported"),
        None => ("", "Not looked at yet"),
        Some(PreviewOutcome::Unreadable) => ("warn", "Cannot be read"),
        Some(PreviewOutcome::NeedsAnswer) => ("warn", "Needs your word"),
        Some(PreviewOutcome::NothingNew) => ("", "Nothing new"),
        Some(PreviewOutcome::Ready) => ("good", "Ready"),
    };
    html! {
        li {
            span.what {
                a href=(url_of(file.id)) { (file.name) }
                " " span.badge.(class) { (state) }
                span.soft { (about(file)) }
                @if file.state == State::Committing { (super::result::bar(person, file.id)) }
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
    let [new, seen] = [found.new, found.seen].map(|it| count_text(it as i64));
    format!("{format}, {size}, {accounts}: {new} new, {seen} already there")
}
