//! Form handlers for a connection: sync, reauthorize and disconnect.

use axum::extract::Path;
use base::ConnectionId;
use http::StatusCode;
use service::ingest::connections::{self, SyncResult};

use super::{HOME, detail, parse, url_of};
use crate::site::app_page::see_other;
use crate::site::errors::PageResult;
use crate::site::fields::FormError;
use crate::site::form::Form;
use crate::site::format::plural;
use crate::site::person::Person;

pub(super) async fn sync(person: Person, id: Path<String>, _form: Form) -> PageResult {
    let id = parse(id)?;
    match connections::sync(person.app(), &person.caller, id).await {
        Ok(synced) => Ok(see_other(&person, &url_of(id), &sync_message(&synced))),
        Err(error) => again(&person, id, error).await,
    }
}

fn sync_message(synced: &SyncResult) -> String {
    let news = match (synced.summary.new, synced.summary.changed) {
        (0, 0) => "No new transactions.".to_owned(),
        (new, changed) => {
            let new = plural(new as i64, "new transaction", "new transactions");
            format!("{new}, {changed} updated.")
        }
    };
    match synced.accounts_with_problems {
        0 => news,
        many => {
            let some = plural(many as i64, "account was", "accounts were");
            format!("{news} {some} incomplete. See the accounts for details.")
        }
    }
}

pub(super) async fn reauthorize(person: Person, id: Path<String>, form: Form) -> PageResult {
    let id = parse(id)?;
    let token = form.text("token");
    match connections::reauthorize(person.app(), &person.caller, id, token).await {
        Ok(()) => Ok(see_other(&person, &url_of(id), "Access restored.")),
        Err(error) => again(&person, id, error).await,
    }
}

pub(super) async fn disconnect(person: Person, id: Path<String>, _form: Form) -> PageResult {
    let id = parse(id)?;
    connections::disconnect(person.app(), &person.caller, id).await?;
    let message = "Disconnected. Its accounts and transactions are kept.";
    Ok(see_other(&person, HOME, message))
}

async fn again(person: &Person, id: ConnectionId, error: service::Error) -> PageResult {
    let wrong = FormError::from_error(error)?;
    detail::show(person, id, StatusCode::BAD_REQUEST, &wrong).await
}
