//! Handles the person's decision about a proposal. It is bound to exactly what the page showed.

use axum::extract::Path;
use axum::response::Response;
use base::{Fixed9, ThreadId};
use http::HeaderMap;
use serde_json::Value;
use service::Error;
use service::actions::{self, Action, SeenProposal, Status};

use super::detail;
use crate::site::app_page::see_other;
use crate::site::auth::passkeys::{Refused, answer, asked, credential, json, next_page_json};
use crate::site::cookies;
use crate::site::errors::{PageError, PageResult, sentence};
use crate::site::form::Form;
use crate::site::person::Person;

pub(super) async fn decide(person: Person, Path(thread): Path<String>, form: Form) -> PageResult {
    let action = find(&person, &thread).await?;
    let Some(seen) = read_seen(form.text("digest"), form.text("price")) else {
        let message = "We couldn't confirm what you reviewed. Review the proposal again.";
        return detail::page(&person, &thread, Some(message)).await;
    };
    let (app, caller) = (person.app(), &person.caller);
    let decided = match form.text("decision") {
        "approve" => actions::approve(app, caller, action.id, seen, None).await,
        "reject" => {
            let reason = Some(form.text("reason").to_owned());
            actions::reject(app, caller, action.id, seen, reason).await
        }
        _ => return Err(PageError::not_found()),
    };
    match decided {
        Ok(action) => Ok(see_other(&person, &here(&action), decision_message(&action))),
        // It was decided in another window, or it expired meanwhile. The page shows the current status.
        Err(Error::Conflict { message, .. } | Error::Invalid { message, .. }) => {
            detail::page(&person, &thread, Some(&sentence(&message))).await
        }
        Err(Error::Unauthenticated(message)) => {
            detail::page(&person, &thread, Some(&sentence(message))).await
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn confirm(person: Person, Path(thread): Path<String>, form: Form) -> PageResult {
    let action = find(&person, &thread).await?;
    let is_done = form.text("done") == "yes";
    let action = actions::confirm(person.app(), &person.caller, action.id, is_done).await?;
    let message = if is_done { "Marked as done." } else { "Marked as not done." };
    Ok(see_other(&person, &here(&action), message))
}

pub(super) async fn undo(person: Person, Path(thread): Path<String>, _form: Form) -> PageResult {
    let action = find(&person, &thread).await?;
    let action = actions::undo(person.app(), &person.caller, action.id).await?;
    Ok(see_other(&person, &here(&action), "Undone."))
}

pub(super) async fn start_passkey(person: Person, headers: HeaderMap, body: String) -> Response {
    answer(async {
        let party = asked(&person.web, &headers, cookies::SESSION)?;
        let (thread, seen) = about(&body)?;
        let action = actions::get_by_thread(person.app(), &person.caller, thread).await?;
        let ask = actions::ask_passkey(person.app(), &person.caller, &party, action.id, seen);
        Ok(json(&ask.await?))
    })
    .await
}

pub(super) async fn finish_passkey(person: Person, headers: HeaderMap, body: String) -> Response {
    answer(async {
        let party = asked(&person.web, &headers, cookies::SESSION)?;
        let (given, sent) = credential(&body)?;
        let (thread, seen) = about(&body)?;
        let action = actions::get_by_thread(person.app(), &person.caller, thread).await?;
        let passkey = Some((&party, given.as_str()));
        actions::approve(person.app(), &person.caller, action.id, seen, passkey).await?;
        Ok(next_page_json(&sent))
    })
    .await
}

/// The proposal that the page showed, as the script reports it.
fn about(body: &str) -> Result<(ThreadId, SeenProposal), Refused> {
    let unreadable = || Refused::unreadable();
    let sent: Value = serde_json::from_str(body).map_err(|_| unreadable())?;
    let about: Value = serde_json::from_str(sent["about"].as_str().unwrap_or_default())
        .map_err(|_| unreadable())?;
    let text = |name: &str| about[name].as_str().unwrap_or_default();
    let thread = ThreadId::parse(text("thread")).map_err(|_| unreadable())?;
    let seen = read_seen(text("digest"), text("price")).ok_or_else(unreadable)?;
    Ok((thread, seen))
}

fn read_seen(digest: &str, price: &str) -> Option<SeenProposal> {
    let digits: Option<Vec<u8>> = (0..digest.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(digest.get(at..at + 2)?, 16).ok())
        .collect();
    let price = match price {
        "" => None,
        price => Some(Fixed9::parse(price).ok()?),
    };
    Some(SeenProposal { digest: digits?.try_into().ok()?, price })
}

async fn find(person: &Person, thread: &str) -> Result<Action, PageError> {
    let thread = ThreadId::parse(thread).map_err(|_| PageError::not_found())?;
    Ok(actions::get_by_thread(person.app(), &person.caller, thread).await?)
}

fn here(action: &Action) -> String {
    format!("/approvals/{}", action.thread)
}

/// The message after a decision.
fn decision_message(action: &Action) -> &'static str {
    match action.status {
        Status::Rejected => "Proposal rejected.",
        Status::Failed => "You approved it, but it failed.",
        _ => "Proposal approved.",
    }
}
