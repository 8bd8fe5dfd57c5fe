//! Requests whose responses are JSON.

use std::time::Duration;

use net::{Failure, HttpClient, HttpRequest, HttpResponse, Limits};
use serde::de::DeserializeOwned;

use super::BankError;

/// Pages of transactions have about a megabyte.
const BODY_BYTES: usize = 16 * 1024 * 1024;

/// Why a request has no usable response.
pub(crate) enum JsonError {
    Unreachable(Failure),
    /// A response other than success.
    Refused(HttpResponse),
    Unreadable,
}

/// Sends a request and parses the response, which must come within this time.
pub(crate) async fn send_json<T: DeserializeOwned>(
    http: &HttpClient,
    request: HttpRequest,
    within: Duration,
) -> Result<T, JsonError> {
    let limits = Limits { connect: Duration::from_secs(10), total: within, body_max: BODY_BYTES };
    let reply = http.send(request, limits).await.map_err(JsonError::Unreachable)?;
    match (reply.failure(), reply.status) {
        (Some(failure), _) => Err(JsonError::Unreachable(failure)),
        (None, 200..=299) => serde_json::from_slice(&reply.body).map_err(|_| JsonError::Unreadable),
        (None, _) => Err(JsonError::Refused(reply)),
    }
}

impl BankError {
    pub(crate) fn unreachable(provider: &str, failure: &Failure) -> BankError {
        BankError::temporary(format!(
            "{provider} could not be reached: {failure}. We'll try again later. If this continues, \
             check the internet connection."
        ))
    }

    pub(crate) fn unreadable(provider: &str) -> BankError {
        BankError::temporary(format!(
            "{provider}'s response can't be read. We'll try again later. If this continues, look \
             for a newer version of Evenkeel."
        ))
    }
}
