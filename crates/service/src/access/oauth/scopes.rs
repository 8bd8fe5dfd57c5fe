//! Scopes and resources that an app may ask for.

use wire::v1::Scope;

use super::errors::{OAuthError, OAuthErrorCode};
use crate::Scopes;

/// The parts of an installation that tokens are issued for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    Api,
    Mcp,
}

impl Audience {
    pub const ALL: [Audience; 2] = [Audience::Api, Audience::Mcp];

    /// The path under the address of the installation.
    pub fn path(self) -> &'static str {
        match self {
            Audience::Api => "/v1",
            Audience::Mcp => "/mcp",
        }
    }
}

/// The scope by which apps ask for a refresh token. Every app gets one, so it is accepted and means nothing more.
pub const OFFLINE_ACCESS: &str = "offline_access";

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
    let words: Vec<&str> =
        words.split_ascii_whitespace().filter(|it| *it != OFFLINE_ACCESS).collect();
    let scopes = Scopes::parse(&words.join(" ")).map_err(|error| refused(error.to_string()))?;
    if is_subset(scopes, grantable_scopes()) {
        Ok(scopes)
    } else {
        Err(refused("webhooks:manage is for API keys only".to_owned()))
    }
}

/// Parses the resources that tokens are for (RFC 8707), separated by spaces: the address of this installation, of its API
/// or of its MCP server.
pub(super) fn parse_resource(issuer: &str, text: &str) -> Result<String, OAuthError> {
    let words: Vec<&str> =
        text.split_ascii_whitespace().map(|it| it.trim_end_matches('/')).collect();
    let plain = words.join(" ");
    if is_own_resource(issuer, &plain) {
        return Ok(plain);
    }
    let message = format!("resource must be {issuer}, {issuer}/v1 or {issuer}/mcp");
    Err(OAuthError::new(OAuthErrorCode::InvalidTarget, message))
}

/// Whether resources are this installation or parts of it.
fn is_own_resource(issuer: &str, resource: &str) -> bool {
    let is_part = |path: &str| path.is_empty() || Audience::ALL.iter().any(|it| it.path() == path);
    let mut words = resource.split_ascii_whitespace().peekable();
    words.peek().is_some() && words.all(|it| it.strip_prefix(issuer).is_some_and(is_part))
}

/// Whether a token for these resources may be used at a part of this installation.
pub(super) fn covers(issuer: &str, resource: &str, audience: Audience) -> bool {
    let fits = |path: &str| path.is_empty() || path == audience.path();
    resource.split_ascii_whitespace().any(|it| it.strip_prefix(issuer).is_some_and(fits))
}

/// Whether each of the asked resources is among the granted ones, which may be the whole installation.
pub(super) fn is_within(asked: &str, granted: &str) -> bool {
    let is_granted = |asked: &str| {
        let mut granted = granted.split_ascii_whitespace();
        granted.any(|it| {
            asked.strip_prefix(it).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    asked.split_ascii_whitespace().all(is_granted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_for_the_parts_that_it_was_issued_for() {
        let issuer = "https://e.example";
        for (resource, parsed, api, mcp) in [
            ("https://e.example", true, true, true),
            ("https://e.example/", true, true, true),
            ("https://e.example/v1", true, true, false),
            ("https://e.example/mcp/", true, false, true),
            ("https://e.example/v1 https://e.example/mcp", true, true, true),
            ("https://e.example/mcp https://other.example", false, false, false),
            ("https://e.example.org/mcp", false, false, false),
            ("", false, false, false),
        ] {
            let found = parse_resource(issuer, resource);
            assert_eq!(found.is_ok(), parsed, "{resource}");
            let Ok(found) = found else { continue };
            assert_eq!(covers(issuer, &found, Audience::Api), api, "{resource}");
            assert_eq!(covers(issuer, &found, Audience::Mcp), mcp, "{resource}");
        }
    }

    #[test]
    fn a_code_is_exchanged_for_no_more_than_was_granted() {
        for (asked, granted, is_fine) in [
            ("https://e/mcp", "https://e/mcp", true),
            ("https://e/mcp", "https://e", true),
            ("https://e/mcp", "https://e/v1 https://e/mcp", true),
            ("https://e/mcp https://e/v1", "https://e/mcp", false),
            ("https://e/v1", "https://e/mcp", false),
            ("https://e", "https://e/mcp", false),
        ] {
            assert_eq!(is_within(asked, granted), is_fine, "{asked} of {granted}");
        }
    }

    #[test]
    fn offline_access_is_accepted_and_grants_nothing() {
        let scopes = parse_scopes("accounts:read offline_access").unwrap();
        assert_eq!(scopes.to_words(), "accounts:read");
        assert!(parse_scopes("offline").is_err());
    }
}
