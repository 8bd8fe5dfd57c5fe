//! The provider's discovery document (OpenID Connect Discovery 1.0): the addresses that it names, and what it supports.

use serde::Deserialize;
use serde_json::Value;

use crate::access::oauth::redirects::Redirect;

/// The address of an issuer as it must be set: https, or http on this machine, without a query.
pub fn check_issuer(issuer: &str) -> Result<(), &'static str> {
    let address = Redirect::parse(issuer)?;
    match address.host() {
        _ if issuer.contains('?') => Err("must have no query"),
        "" => Err("must have a host"),
        _ if issuer.starts_with("https://") || issuer.starts_with("http://") => Ok(()),
        _ => Err("must begin with https://"),
    }
}

#[derive(Debug, Clone)]
pub(super) struct Metadata {
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    pub(super) jwks_uri: String,
    pub(super) userinfo_endpoint: Option<String>,
    /// Whether every answer names the issuer (RFC 9207), so that an answer without it is refused.
    pub(super) names_issuer: bool,
    /// Whether the client's secret is sent in a header; otherwise it is sent in the body.
    pub(super) takes_basic: bool,
}

#[derive(Deserialize)]
struct Document {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    userinfo_endpoint: Option<String>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
}

/// Reads the document of an issuer, or says what is wrong with it.
pub(super) fn read(issuer: &str, document: Value) -> Result<Metadata, String> {
    let found: Document = serde_json::from_value(document)
        .map_err(|_| "the provider's metadata is incomplete".to_owned())?;
    if found.issuer != issuer {
        let found: String = found.issuer.chars().take(200).collect();
        return Err(format!("the provider calls itself {found}, and not {issuer} as it is set"));
    }
    let endpoints = [&found.authorization_endpoint, &found.token_endpoint, &found.jwks_uri];
    for address in endpoints.into_iter().chain(&found.userinfo_endpoint) {
        check_endpoint(issuer, address)?;
    }
    let has_s256 = |it: &Vec<String>| it.iter().any(|it| it == "S256");
    if !found.code_challenge_methods_supported.as_ref().is_none_or(has_s256) {
        return Err("the provider does not support PKCE with S256".to_owned());
    }
    let methods = found.token_endpoint_auth_methods_supported.unwrap_or_default();
    Ok(Metadata {
        authorization_endpoint: found.authorization_endpoint,
        token_endpoint: found.token_endpoint,
        jwks_uri: found.jwks_uri,
        userinfo_endpoint: found.userinfo_endpoint,
        names_issuer: found.authorization_response_iss_parameter_supported,
        takes_basic: methods.is_empty() || methods.iter().any(|it| it == "client_secret_basic"),
    })
}

/// An endpoint is as safe as the issuer: only an issuer on this machine may name addresses without TLS.
fn check_endpoint(issuer: &str, address: &str) -> Result<(), String> {
    let plain = address.split('?').next().unwrap_or_default();
    let is_as_safe = address.starts_with("https://") || issuer.starts_with("http://");
    if check_issuer(plain).is_err() || !is_as_safe {
        let address: String = address.chars().take(200).collect();
        return Err(format!("the provider names {address}, which is no address with https"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ISSUER: &str = "https://auth.example.com";

    fn document() -> Value {
        json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://auth.example.com/authorize?tenant=1",
            "token_endpoint": "https://token.example.net/token",
            "jwks_uri": "https://auth.example.com/keys",
        })
    }

    #[test]
    fn a_document_of_the_issuer_names_the_addresses() {
        let found = read(ISSUER, document()).unwrap();
        assert_eq!(found.token_endpoint, "https://token.example.net/token");
        assert!(found.takes_basic && !found.names_issuer && found.userinfo_endpoint.is_none());
        let mut post = document();
        post["token_endpoint_auth_methods_supported"] = json!(["client_secret_post"]);
        assert!(!read(ISSUER, post).unwrap().takes_basic);
    }

    #[test]
    fn a_document_that_cannot_be_trusted_is_refused_with_the_reason() {
        let wrong = |name: &str, value: Value| {
            let mut changed = document();
            changed[name] = value;
            read(ISSUER, changed).unwrap_err()
        };
        assert_eq!(
            wrong("issuer", json!("https://auth.example.com/")),
            "the provider calls itself https://auth.example.com/, and not https://auth.example.com as it is set"
        );
        assert_eq!(
            wrong("jwks_uri", json!("http://auth.example.com/keys")),
            "the provider names http://auth.example.com/keys, which is no address with https"
        );
        assert!(wrong("token_endpoint", json!("http://localhost/token")).contains("no address"));
        assert!(wrong("userinfo_endpoint", json!("file:///etc/passwd")).contains("no address"));
        assert_eq!(wrong("token_endpoint", json!(5)), "the provider's metadata is incomplete");
        assert_eq!(
            wrong("code_challenge_methods_supported", json!(["plain"])),
            "the provider does not support PKCE with S256"
        );
        assert!(read(ISSUER, json!([])).is_err());
    }

    #[test]
    fn an_issuer_is_a_plain_address() {
        for good in [
            "https://auth.example.com",
            "https://auth.example.com/application/o/money/",
            "http://localhost:9091",
            "http://127.0.0.1:1/realms/home",
        ] {
            assert_eq!(check_issuer(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "auth.example.com",
            "http://auth.example.com",
            "https://",
            "https://me@auth.example.com",
            "https://auth.example.com?x=1",
            "https://auth.example.com#x",
            "com.example.app:/x",
        ] {
            assert!(check_issuer(bad).is_err(), "{bad}");
        }
    }
}
