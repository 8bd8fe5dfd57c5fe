//! Scopes and resources that an app may ask for.

use wire::v1::Scope;

use super::errors::{OAuthError, OAuthErrorCode};
use crate::Scopes;

/// The scopes that an app can be granted: all but webhooks, whose endpoints belong to an API key.
pub fn grantable_scopes() -> Scopes {
    Scope::ALL.into_iter().filter(|it| *it != Scope::WebhooksManage).collect()
}

pub(super) fn is_subset(some: Scopes, all: Scopes) -> bool {
    some.iter().all(|it| all.has(it))
}

/// Parses the scopes that an app asks for.
pub(super) fn parse_scopes(words: &str) -> Result<Scopes, OAuthError> {
    let refused = |message: String| OAuthError::new(OAuthErrorCode::InvalidScope, message);
    let scopes = Scopes::parse(words).map_err(|error| refused(error.to_string()))?;
    if is_subset(scopes, grantable_scopes()) {
        Ok(scopes)
    } else {
        Err(refused("webhooks:manage is for API keys only".to_owned()))
    }
}

/// Parses the resource that tokens are for (RFC 8707): the address of this installation, or of its API.
pub(super) fn parse_resource(issuer: &str, text: &str) -> Result<String, OAuthError> {
    let plain = text.trim_end_matches('/');
    if is_own_resource(issuer, plain) {
        return Ok(plain.to_owned());
    }
    let message = format!("resource must be {issuer} or {issuer}/v1");
    Err(OAuthError::new(OAuthErrorCode::InvalidTarget, message))
}

/// Whether a resource is this installation or its API.
pub fn is_own_resource(issuer: &str, resource: &str) -> bool {
    resource.strip_prefix(issuer).is_some_and(|it| it.is_empty() || it == "/v1")
}
