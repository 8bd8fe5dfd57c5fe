//! Idempotent changes: repeating a request has no further effect.

use http::HeaderName;
use service::platform::idempotency::{self, IdempotentOutcome, Request, StoredResponse};
use service::{Error, Result};
use sha2::{Digest as _, Sha256};

use super::{Answer, Call, Refusal};

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// Runs a change in one transaction and, if the client sent an Idempotency-Key, stores its response in the same
/// transaction. Every POST, PUT and DELETE goes through here.
pub async fn change(
    call: &Call,
    work: impl FnOnce(&mut service::Tx<'_>) -> Result<Answer> + Send + 'static,
) -> Result<Answer> {
    let work =
        move |tx: &mut service::Tx<'_>, ()| Ok(ChangeAnswers { first: work(tx)?, again: None });
    change_prepared(call, std::future::ready(Ok(())), work).await
}

/// The response of a change, and the response to a repeated request if it differs: a secret is sent only once.
pub(super) struct ChangeAnswers {
    pub(super) first: Answer,
    pub(super) again: Option<Answer>,
}

/// Like `change`, with preparation before the transaction, which a repeated request skips.
pub(super) async fn change_prepared<T: Send + 'static>(
    call: &Call,
    prepare: impl Future<Output = Result<T>>,
    work: impl FnOnce(&mut service::Tx<'_>, T) -> Result<ChangeAnswers> + Send + 'static,
) -> Result<Answer> {
    let Some(key) = key(call)? else {
        let prepared = prepare.await?;
        return call.app.db.write(move |tx| work(tx, prepared).map(|it| it.first)).await;
    };
    let scope = format!("{} {}", call.method, call.uri.path());
    let request = Request { key, fingerprint: fingerprint(call), scope };
    let refuse = |error: &Error| domain_refusal(error, &call.public_url);
    let work = move |tx: &mut service::Tx<'_>, prepared: T| {
        let ChangeAnswers { first, again } = work(tx, prepared)?;
        Ok(idempotency::ChangeResponse { first: kept(&first), replay: again.as_ref().map(kept) })
    };
    let IdempotentOutcome { response, replayed } =
        idempotency::run_prepared(&call.app, &call.caller, request, prepare, work, refuse).await?;
    Ok(Answer::stored(response.status, response.body, replayed))
}

fn kept(answer: &Answer) -> StoredResponse {
    StoredResponse { status: answer.status, body: answer.open_text() }
}

fn key(call: &Call) -> Result<Option<String>> {
    let mut values = call.headers.get_all(&HEADER).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => idempotency::parse_key(value.to_str().unwrap_or_default()).map(Some),
        _ => Err(Error::invalid("Idempotency-Key", "Idempotency-Key is given more than once")),
    }
}

fn fingerprint(call: &Call) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [call.method.as_str(), call.uri.path(), call.uri.query().unwrap_or_default()] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.update(&call.body);
    hash.finalize().into()
}

/// Whether to store the response of an error: decisions are stored; errors that the client or we can fix are not.
fn domain_refusal(error: &Error, public_url: &str) -> Option<StoredResponse> {
    match error {
        Error::NotFound(_) | Error::Conflict { .. } => {
            let refusal = Refusal::from(error.clone());
            let body = String::from_utf8_lossy(&refusal.open_body(public_url)).into_owned();
            Some(StoredResponse { status: refusal.code.status(), body })
        }
        Error::Invalid { .. }
        | Error::Unauthenticated(_)
        | Error::Forbidden(_)
        | Error::KeyRequired
        | Error::Limited { .. }
        | Error::InProgress { .. }
        | Error::ProposalLimit { .. }
        | Error::TooSlow
        | Error::Unavailable(_)
        | Error::Internal(_) => None,
    }
}
