//! Taking files in, in the background: the page waits a moment, and then tells how far it is.

use std::time::Duration;

use axum::extract::Path;
use base::FileId;
use http::StatusCode;
use service::ingest::imports::files::{self, CommitOutcome, State};
use service::{Error, Result};

use super::{HOME, parse, preview, preview_form, result, start, url_of};
use crate::site::app_page::see_other;
use crate::site::errors::PageResult;
use crate::site::fields::FormError;
use crate::site::form::Form;
use crate::site::format::plural;
use crate::site::person::Person;

/// Most files are done within it, and need no page that says so.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) async fn commit(person: Person, path: Path<String>, form: Form) -> PageResult {
    let id = parse(path)?;
    let file = files::get(person.app(), &person.caller, id).await?;
    if file.state == State::Done {
        return Ok(see_other(&person, &url_of(id), ""));
    }
    if file.state == State::Open {
        let mut look = files::preview(person.app(), &person.caller, id).await?;
        let said = preview_form::read(&person, &look, &form).await?;
        if said.choices != look.choices {
            files::choose(person.app(), &person.caller, id, said.choices).await?;
            look = files::preview(person.app(), &person.caller, id).await?;
        }
        let message = match said.columns_changed {
            true => "The columns are other ones now. Look at the rows once more, then import."
                .to_owned(),
            false if !look.is_ready() => preview::missing(&look),
            false => String::new(),
        };
        if !message.is_empty() {
            let wrong = FormError { param: None, message };
            return Ok(preview::page(&person, StatusCode::BAD_REQUEST, &look, &wrong));
        }
    }
    match within_patience(&person, take(&person, id)).await {
        Some(Ok(_)) => {
            // Less of the other files may be new now.
            start::refresh(&person).await;
            Ok(see_other(&person, &url_of(id), ""))
        }
        Some(Err(error)) => Err(error.into()),
        None => Ok(see_other(&person, &format!("{}?{}", url_of(id), result::WAITED), "")),
    }
}

/// All files that leave nothing open, one after the other, because each may tell where the next one goes.
pub(super) async fn all(person: Person, _form: Form) -> PageResult {
    let held = files::list(person.app(), &person.caller).await?;
    let open: Vec<FileId> =
        held.iter().filter(|it| it.state == State::Open).map(|it| it.id).collect();
    let (app, caller) = (person.app().clone(), person.caller.clone());
    let work = async move {
        let (mut taken, mut left) = (0, 0);
        for id in open {
            let look = match files::preview(&app, &caller, id).await {
                // It was imported or discarded in between.
                Err(Error::NotFound(_)) => continue,
                // Its own page can be opened later.
                Err(Error::Conflict { .. }) => {
                    left += 1;
                    continue;
                }
                look => look?,
            };
            if !look.is_ready() || look.is_nothing_new() {
                left += 1;
                continue;
            }
            match files::commit(&app, &caller, id).await {
                Ok(_) => taken += 1,
                // It stays open, and its own page says why.
                Err(Error::Invalid { .. } | Error::Conflict { .. }) => left += 1,
                Err(error) => return Err(error),
            }
        }
        Ok((taken, left))
    };
    match within_patience(&person, work).await {
        Some(result) => {
            let (taken, left) = result?;
            start::refresh(&person).await;
            Ok(see_other(&person, HOME, &told(taken, left)))
        }
        None => Ok(see_other(&person, HOME, "The files are being imported.")),
    }
}

fn told(taken: i64, left: i64) -> String {
    let mut said = format!("{} imported.", plural(taken, "file is", "files are"));
    match left {
        0 => {}
        1 => said.push_str(" 1 other waits for your word, or has nothing new."),
        _ => said.push_str(&format!(" {left} others wait for your word, or have nothing new.")),
    }
    said
}

pub(super) async fn discard(person: Person, path: Path<String>, _form: Form) -> PageResult {
    let id = parse(path)?;
    let file = files::get(person.app(), &person.caller, id).await?;
    if file.state == State::Committing {
        let said = "The file is being imported. Wait for it, then undo the import.";
        return Ok(see_other(&person, &url_of(id), said));
    }
    files::discard(person.app(), &person.caller, id).await?;
    Ok(see_other(&person, HOME, "The file is discarded. Nothing was imported from it."))
}

fn take(person: &Person, id: FileId) -> impl Future<Output = Result<CommitOutcome>> + Send + use<> {
    let (app, caller) = (person.app().clone(), person.caller.clone());
    async move { files::commit(&app, &caller, id).await }
}

/// Goes on whatever becomes of the request; none if it takes longer than a page should.
async fn within_patience<T: Send + 'static>(
    person: &Person,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Option<Result<T>> {
    let user = person.caller.user;
    let task = tokio::spawn(async move {
        let done = work.await;
        if let Err(error) = &done {
            tracing::warn!(%error, %user, "a file was not imported");
        }
        done
    });
    match tokio::time::timeout(PATIENCE, task).await {
        Ok(Ok(done)) => Some(done),
        Ok(Err(error)) => Some(Err(Error::internal(format!("an import was cut off: {error}")))),
        Err(_) => None,
    }
}
