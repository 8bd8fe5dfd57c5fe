//! Form fields of OAuth requests, and client authentication.

use std::collections::HashSet;
use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use base::AddressGroup;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, header};
use http_body_util::{BodyExt as _, Limited};
use service::App;
use service::access::oauth::clients::{self, Client, ClientCredentials};
use service::access::oauth::{OAuthError, OAuthErrorCode, OAuthFailure, OAuthResult};
use service::platform::limits;

use crate::site::urls;

const BYTES_MAX: usize = 64 * 1_024;
/// The most fields accepted; OAuth requests have far fewer.
pub(super) const FIELDS_MAX: usize = 100;

/// The fields of a form. A repeated field is an error.
pub(super) struct Fields {
    pairs: Vec<(String, String)>,
    claim: ClientCredentials,
    from: AddressGroup,
}

impl Fields {
    pub(super) async fn read(request: Request) -> OAuthResult<Fields> {
        let (parts, body) = request.into_parts();
        let from = group_of(&parts);
        let bytes = body_of(&parts, body, "application/x-www-form-urlencoded").await?;
        let text = std::str::from_utf8(&bytes).ok();
        let pairs = text.and_then(urls::parse_pairs);
        let pairs = pairs.ok_or_else(|| wrong("the body is not a valid form"))?;
        if pairs.len() > FIELDS_MAX {
            return Err(wrong(&format!("the body must have at most {FIELDS_MAX} fields")));
        }
        if let Some(name) = repeated(&pairs) {
            return Err(wrong(&format!("{name} is given more than once")));
        }
        let mut fields = Fields { pairs, claim: ClientCredentials::default(), from };
        fields.claim = fields.claim_of(&parts.headers)?;
        Ok(fields)
    }

    /// A field's value; an empty one counts as absent.
    pub(super) fn find(&self, name: &str) -> Option<&str> {
        let found = self.pairs.iter().find(|(it, _)| it == name);
        found.map(|(_, value)| value.as_str()).filter(|it| !it.is_empty())
    }

    pub(super) fn owned(&self, name: &str) -> Option<String> {
        self.find(name).map(str::to_owned)
    }

    pub(super) fn get(&self, name: &str) -> OAuthResult<&str> {
        self.find(name).ok_or_else(|| wrong(&format!("{name} is missing")))
    }

    pub(super) fn has_secret(&self) -> bool {
        self.claim.secret.is_some()
    }

    /// Authenticates the client that sent these fields.
    pub(super) async fn client(&self, app: &App) -> OAuthResult<Client> {
        let found = clients::authenticate(app, &self.claim).await;
        self.counted(app, found).await
    }

    /// Failed authentications count against the sender's address group, which slows guessing.
    pub(super) async fn counted<T>(&self, app: &App, outcome: OAuthResult<T>) -> OAuthResult<T> {
        if let Err(OAuthFailure::Refused(OAuthError { code, .. })) = &outcome
            && matches!(code, OAuthErrorCode::InvalidClient | OAuthErrorCode::InvalidGrant)
        {
            app.meters.count_failed_authentication("oauth_client");
            limits::count_failure(app, self.from).await?;
        }
        outcome
    }

    fn claim_of(&self, headers: &HeaderMap) -> OAuthResult<ClientCredentials> {
        let (id, secret) = (self.owned("client_id"), self.owned("client_secret"));
        let Some(value) = headers.get(header::AUTHORIZATION) else {
            return Ok(ClientCredentials { id, secret });
        };
        let unreadable =
            || OAuthError::new(OAuthErrorCode::InvalidClient, "send Basic client authentication");
        let (basic_id, basic_secret) =
            basic(value.to_str().unwrap_or_default()).ok_or_else(unreadable)?;
        if secret.is_some() || id.is_some_and(|it| it != basic_id) {
            return Err(wrong("use only one method of client authentication"));
        }
        Ok(ClientCredentials {
            id: Some(basic_id),
            secret: Some(basic_secret).filter(|it| !it.is_empty()),
        })
    }
}

/// Parses HTTP Basic credentials, whose parts are form-encoded (RFC 6749 section 2.3.1).
fn basic(value: &str) -> Option<(String, String)> {
    let (scheme, encoded) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let joined = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (id, secret) = joined.split_once(':')?;
    Some((urls::decode(id)?, urls::decode(secret)?))
}

/// The first repeated name.
pub(super) fn repeated(pairs: &[(String, String)]) -> Option<&str> {
    let mut seen = HashSet::with_capacity(pairs.len());
    pairs.iter().map(|(name, _)| name.as_str()).find(|name| !seen.insert(*name))
}

/// The address group that a request is counted under.
pub(super) fn group_of(parts: &Parts) -> AddressGroup {
    let address = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    address.map_or(AddressGroup::Unknown, |it| AddressGroup::of(it.0.ip()))
}

pub(super) async fn body_of(parts: &Parts, body: Body, media: &str) -> OAuthResult<Bytes> {
    let declared = parts.headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let declared = declared.and_then(|it| it.split(';').next()).unwrap_or_default();
    if !declared.trim().eq_ignore_ascii_case(media) {
        return Err(wrong(&format!("the body must be sent as Content-Type: {media}")));
    }
    match Limited::new(body, BYTES_MAX).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(_) => Err(wrong("the body must be at most 64 KiB")),
    }
}

fn wrong(message: &str) -> OAuthFailure {
    OAuthError::new(OAuthErrorCode::InvalidRequest, message).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: impl Iterator<Item = String>) -> Vec<(String, String)> {
        names.map(|it| (it, String::new())).collect()
    }

    #[test]
    fn the_first_name_that_comes_twice_is_found() {
        let pairs = |names: &[&str]| named(names.iter().map(|it| (*it).to_owned()));
        assert_eq!(repeated(&pairs(&[])), None);
        assert_eq!(repeated(&pairs(&["a", "b", "c"])), None);
        assert_eq!(repeated(&pairs(&["a", "b", "c", "b", "a"])), Some("b"));
    }

    #[test]
    fn a_million_names_are_looked_through_in_one_walk() {
        // A quadratic check would take hours.
        let mut pairs = named((0..1_000_000).map(|it| it.to_string()));
        assert_eq!(repeated(&pairs), None);
        pairs.push(("999999".to_owned(), String::new()));
        assert_eq!(repeated(&pairs), Some("999999"));
    }
}
