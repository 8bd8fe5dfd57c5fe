//! Errors of a SimpleFIN server, as messages for the person that say what to do.

use std::fmt;

use net::{Failure, HttpResponse};

use super::AccessUrl;
use super::notice::{cleaned, is_about_requests};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SimplefinError {
    /// The token was already claimed, or never existed.
    TokenAlreadyClaimed,
    /// The access URL is no longer valid.
    Revoked,
    /// The person's subscription at the server has ended.
    PaymentRequired,
    RateLimited,
    Unreachable(Failure),
    /// The HTTP client does not allow this address.
    Forbidden(Failure),
    /// The server failed.
    ServerError(u16),
    /// The server refused for another reason, with its message.
    Refused {
        status: u16,
        message: String,
    },
    TooLarge,
    /// Not a valid SimpleFIN response, and why.
    InvalidResponse(String),
}

impl SimplefinError {
    /// Whether a retry may succeed without the person doing anything.
    pub fn is_temporary(&self) -> bool {
        match self {
            SimplefinError::RateLimited
            | SimplefinError::Unreachable(_)
            | SimplefinError::ServerError(_) => true,
            SimplefinError::InvalidResponse(_)
            | SimplefinError::TooLarge
            | SimplefinError::Refused { .. } => true,
            SimplefinError::TokenAlreadyClaimed | SimplefinError::Revoked => false,
            SimplefinError::PaymentRequired | SimplefinError::Forbidden(_) => false,
        }
    }

    pub(super) fn from_failure(failure: Failure) -> SimplefinError {
        match failure {
            Failure::BlockedAddress | Failure::BadUrl | Failure::NotHttps => {
                SimplefinError::Forbidden(failure)
            }
            _ => SimplefinError::Unreachable(failure),
        }
    }

    /// The error of a claim that returned no access URL.
    pub(super) fn from_claim_reply(reply: &HttpResponse) -> SimplefinError {
        let message = String::from_utf8_lossy(&reply.body);
        match reply.status {
            403 => SimplefinError::TokenAlreadyClaimed,
            200..=299 if message.contains("Forbidden") => SimplefinError::TokenAlreadyClaimed,
            200..=299 => SimplefinError::InvalidResponse("it contains no access URL".to_owned()),
            _ => SimplefinError::from_status(reply.status, cleaned(&message)),
        }
    }

    pub(super) fn from_fetch_reply(reply: &HttpResponse, access: &AccessUrl) -> SimplefinError {
        let message = cleaned(&access.redact(&String::from_utf8_lossy(&reply.body)));
        match reply.status {
            401 | 403 if is_about_requests(&message) => SimplefinError::RateLimited,
            401 | 403 => SimplefinError::Revoked,
            status => SimplefinError::from_status(status, message),
        }
    }

    fn from_status(status: u16, message: String) -> SimplefinError {
        match status {
            402 => SimplefinError::PaymentRequired,
            429 => SimplefinError::RateLimited,
            500..=599 => SimplefinError::ServerError(status),
            _ => SimplefinError::Refused { status, message },
        }
    }
}

impl fmt::Display for SimplefinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimplefinError::TokenAlreadyClaimed => f.write_str(
                "This setup token was already used or does not exist. Create a new one at \
                 SimpleFIN and paste it here. If you did not use the old one yourself, disconnect \
                 it at SimpleFIN: someone else may have used it.",
            ),
            SimplefinError::Revoked => f.write_str(
                "SimpleFIN no longer accepts this connection: it was revoked there. Create a new \
                 setup token at SimpleFIN and paste it here. Your accounts and their history stay.",
            ),
            SimplefinError::PaymentRequired => f.write_str(
                "Your SimpleFIN subscription has ended. Renew it at SimpleFIN; syncing then \
                 continues automatically.",
            ),
            SimplefinError::RateLimited => f.write_str(
                "SimpleFIN has received too many requests today. Wait until tomorrow, and check \
                 whether other programs use the same connection.",
            ),
            SimplefinError::Unreachable(failure) => write!(
                f,
                "SimpleFIN could not be reached: {failure}. We will try again later. If this \
                 continues, check the internet connection."
            ),
            SimplefinError::Forbidden(failure) => write!(
                f,
                "The address of this SimpleFIN server is not allowed: {failure}. Create a setup \
                 token at a server that you trust, or ask the operator of this installation to \
                 allow its network."
            ),
            SimplefinError::ServerError(status) => write!(
                f,
                "SimpleFIN has a problem ({status}). We will try again later; you do not need to \
                 do anything."
            ),
            SimplefinError::Refused { status, message } => {
                let message = message.trim_end_matches('.');
                let quoted =
                    if message.is_empty() { String::new() } else { format!(", \"{message}\"") };
                write!(
                    f,
                    "SimpleFIN did not accept the request ({status}{quoted}). If this continues, \
                     look for a newer version of Evenkeel."
                )
            }
            SimplefinError::TooLarge => f.write_str(
                "SimpleFIN's response is too large. Request fewer days or fewer accounts.",
            ),
            SimplefinError::InvalidResponse(reason) => write!(
                f,
                "This is not a valid response of a SimpleFIN server: {reason}. Check that the \
                 setup token comes from SimpleFIN; if it does, try again later."
            ),
        }
    }
}

impl std::error::Error for SimplefinError {}
