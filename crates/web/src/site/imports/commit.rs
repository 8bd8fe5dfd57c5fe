//! Imports files in the background. The page waits a moment and then shows the progress.

use std::time::Duration;

use axum::extract::Path;
use base::FileId;
use http::StatusCode;
use service::ingest::imports::files::{self, CommitOutcome, State};
use service::{Error, Result};

use super::{HOME, parse, preview, preview_form, result, staged, url_of};
use crate::site::app_page::see_other;
use crate::site::errors::PageResult;
use crate::site::fields::FormError;
use crate::site::form::Form;
use crate::site::format::plural;
use crate::site::person::Person;

/// How long the request waits; most imports finish within it.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) async fn commit(person: Person, path: Path<String>, form: Form) -> PageResult {
    let id = parse(path)?;
    let file = files::get(person.app(), &person.caller, id).await?;
    if file.state == State::Done {
        return Ok(see_other(&person, &url_of(id), ""));
    }
    if file.state == State::Open {
        let mut preview = files::preview(person.app(), &person.caller, id).await?;
        let submitted = preview_form::read(&person, &preview, &form).await?;
        if submitted.choices != preview.choices {
            files::choose(person.app(), &person.caller, id, submitted.choices).await?;
            preview = files::preview(person.app(), &person.caller, id).await?;
        }
        let message = match submitted.columns_changed {
            true => "You changed the columns. Review the rows, then import.".to_owned(),
            false if !preview.is_ready() => preview::missing(&preview),
            false => String::new(),
        };
        if !message.is_empty() {
            let wrong = FormError::general(message);
            return Ok(preview::page(&person, StatusCode::BAD_REQUEST, &preview, &wrong));
        }
    }
    match within_patience(&person, commit_file(&person, id)).await {
        Some(Ok(_)) => Ok(see_other(&person, &url_of(id), "")),
        Some(Err(error)) => Err(error.into()),
        None => Ok(see_other(&person, &format!("{}?{}", url_of(id), result::WAITED), "")),
    }
}

/// Imports all ready files in order, because each may settle the account of the next one.
pub(super) async fn all(person: Person, _form: Form) -> PageResult {
    let staged = files::list(person.app(), &person.caller).await?;
    let open: Vec<FileId> =
        staged.iter().filter(|it| it.state == State::Open).map(|it| it.id).collect();
    let (app, caller) = (person.app().clone(), person.caller.clone());
    let work = async move {
        let (mut imported, mut left) = (0, 0);
        for id in open {
            let preview = match files::preview(&app, &caller, id).await {
                // The file was imported or discarded meanwhile.
                Err(Error::NotFound(_)) => continue,
                // The file can be reviewed on its own page later.
                Err(Error::Conflict { .. }) => {
                    left += 1;
                    continue;
                }
                preview => preview?,
            };
            if !preview.is_ready() || preview.is_nothing_new() {
                left += 1;
                continue;
            }
            match files::commit(&app, &caller, id).await {
                Ok(_) => imported += 1,
                // The file stays open, and its own page shows the error.
                Err(Error::Invalid { .. } | Error::Conflict { .. }) => left += 1,
                Err(error) => return Err(error),
            }
        }
        Ok((imported, left))
    };
    match within_patience(&person, work).await {
        Some(result) => {
            let (imported, left) = result?;
            Ok(see_other(&person, HOME, &import_message(imported, left)))
        }
        None => Ok(see_other(&person, HOME, "Importing your files.")),
    }
}

fn import_message(imported: i64, left: i64) -> String {
    let mut message = format!("{} imported.", plural(imported, "file", "files"));
    match left {
        0 => {}
        1 => message.push_str(" 1 file needs your input or has nothing new."),
        _ => message.push_str(&format!(" {left} files need your input or have nothing new.")),
    }
    message
}

pub(super) async fn discard(person: Person, path: Path<String>, _form: Form) -> PageResult {
    let id = parse(path)?;
    let file = files::get(person.app(), &person.caller, id).await?;
    if file.state == State::Committing {
        let message = "This file is being imported. Wait until it finishes, then undo the import.";
        return Ok(see_other(&person, &url_of(id), message));
    }
    files::discard(person.app(), &person.caller, id).await?;
    Ok(see_other(&person, HOME, "File discarded. Nothing was imported."))
}

fn commit_file(
    person: &Person,
    id: FileId,
) -> impl Future<Output = Result<CommitOutcome>> + Send + use<> {
    let (app, caller) = (person.app().clone(), person.caller.clone());
    async move { files::commit(&app, &caller, id).await }
}

/// Runs the work in a task that outlives the request; none if it takes longer than `PATIENCE`.
async fn within_patience<T: Send + 'static>(
    person: &Person,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Option<Result<T>> {
    let (app, caller) = (person.app().clone(), person.caller.clone());
    let task = tokio::spawn(async move {
        let done = work.await;
        match &done {
            // Rows of other files may no longer be new.
            Ok(_) => staged::refresh(&app, &caller).await,
            Err(error) => tracing::warn!(%error, user = %caller.user, "file import failed"),
        }
        done
    });
    match tokio::time::timeout(PATIENCE, task).await {
        Ok(Ok(done)) => Some(done),
        Ok(Err(error)) => Some(Err(Error::internal(format!("an import task failed: {error}")))),
        Err(_) => None,
    }
}
