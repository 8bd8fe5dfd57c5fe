//! Errors in OAuth's own terms, and token requests that commit although they are refused.

use crate::{Error, Result};

base::words!(
    /// The error codes of the OAuth specifications.
    OAuthErrorCode {
        InvalidRequest => "invalid_request",
        InvalidClient => "invalid_client",
        InvalidGrant => "invalid_grant",
        InvalidScope => "invalid_scope",
        InvalidTarget => "invalid_target",
        UnsupportedGrantType => "unsupported_grant_type",
        UnsupportedResponseType => "unsupported_response_type",
        AccessDenied => "access_denied",
        InvalidRedirectUri => "invalid_redirect_uri",
        InvalidClientMetadata => "invalid_client_metadata",
    }
);

/// A mistake of the app: OAuth's code, and a sentence for the app's developer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuthError {
    pub code: OAuthErrorCode,
    pub message: String,
}

impl OAuthError {
    pub fn new(code: OAuthErrorCode, message: impl Into<String>) -> OAuthError {
        OAuthError { code, message: message.into() }
    }
}

/// The reason why an OAuth request failed.
#[derive(Debug)]
pub enum OAuthFailure {
    /// The app made a mistake.
    Refused(OAuthError),
    /// Something failed on this side.
    Internal(Error),
}

pub type OAuthResult<T> = Result<T, OAuthFailure>;

impl From<OAuthError> for OAuthFailure {
    fn from(error: OAuthError) -> OAuthFailure {
        OAuthFailure::Refused(error)
    }
}

impl From<Error> for OAuthFailure {
    fn from(error: Error) -> OAuthFailure {
        OAuthFailure::Internal(error)
    }
}

impl From<db::Error> for OAuthFailure {
    fn from(error: db::Error) -> OAuthFailure {
        OAuthFailure::Internal(error.into())
    }
}
