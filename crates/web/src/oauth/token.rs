//! The token endpoints: issue, refresh, introspect and revoke.

use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};
use service::access::oauth::codes::{self, CodeExchange};
use service::access::oauth::token_pairs::{self, ACCESS_SECONDS, RefreshRequest, TokenPair};
use service::access::oauth::{OAuthError, OAuthErrorCode, OAuthResult, introspection};

use super::fields::Fields;
use super::metadata::resource_identifier;
use super::{answer, close};
use crate::WebState;

pub(super) async fn token(State(web): State<WebState>, request: Request) -> Response {
    close(issue(&web, request).await)
}

pub(super) async fn revoke(State(web): State<WebState>, request: Request) -> Response {
    close(give_back(&web, request).await)
}

pub(super) async fn introspect(State(web): State<WebState>, request: Request) -> Response {
    close(tell(&web, request).await)
}

async fn issue(web: &WebState, request: Request) -> OAuthResult<Response> {
    let (app, issuer) = (&web.app, &web.settings.public_url);
    let fields = Fields::read(request).await?;
    let client = fields.client(app).await?;
    let issued = match fields.get("grant_type")? {
        "authorization_code" => {
            let redemption = CodeExchange {
                code: fields.get("code")?.to_owned(),
                verifier: fields.get("code_verifier")?.to_owned(),
                redirect_uri: fields.owned("redirect_uri"),
                resource: fields.owned("resource"),
            };
            codes::exchange(app, issuer, &client, redemption).await
        }
        "refresh_token" => {
            let renewal = RefreshRequest {
                token: fields.get("refresh_token")?.to_owned(),
                scope: fields.owned("scope"),
                resource: fields.owned("resource"),
            };
            token_pairs::refresh(app, issuer, &client, renewal).await
        }
        _ => {
            let message = "grant_type must be authorization_code or refresh_token";
            return Err(OAuthError::new(OAuthErrorCode::UnsupportedGrantType, message).into());
        }
    };
    let TokenPair { access, refresh, scopes } = fields.counted(app, issued).await?;
    let body = json!({
        "access_token": access,
        "token_type": "Bearer",
        "expires_in": ACCESS_SECONDS,
        "refresh_token": refresh,
        "scope": scopes.to_words(),
    });
    Ok(answer(StatusCode::OK, &body))
}

/// Revokes a token, known or not (RFC 7009).
async fn give_back(web: &WebState, request: Request) -> OAuthResult<Response> {
    let fields = Fields::read(request).await?;
    let client = fields.client(&web.app).await?;
    introspection::revoke(&web.app, &client, fields.get("token")?).await?;
    Ok(answer(StatusCode::OK, &json!({})))
}

/// Introspects a token (RFC 7662), for authenticated clients and their own tokens only.
async fn tell(web: &WebState, request: Request) -> OAuthResult<Response> {
    let fields = Fields::read(request).await?;
    let client = fields.client(&web.app).await?;
    if !fields.has_secret() {
        let message = "only a client with a secret can introspect tokens";
        return Err(OAuthError::new(OAuthErrorCode::InvalidClient, message).into());
    }
    let found = introspection::introspect(&web.app, &client, fields.get("token")?).await?;
    let Some(details) = found else {
        return Ok(answer(StatusCode::OK, &json!({ "active": false })));
    };
    let url = &web.settings.public_url;
    // A token can be bound to the address that this installation had before; then it is refused everywhere.
    let audience = audience(url, details.resource.as_deref());
    let body = json!({
        "active": true,
        "scope": details.scopes.to_words(),
        "client_id": client.id.to_string(),
        "token_type": "Bearer",
        "exp": details.expires_at.as_second(),
        "iat": details.issued_at.as_second(),
        "sub": details.user.to_string(),
        "aud": audience,
        "iss": url,
    });
    Ok(answer(StatusCode::OK, &body))
}

/// The audience of a token: what it was issued for, or the API if it was issued for the whole installation.
fn audience(url: &str, resource: Option<&str>) -> Value {
    let parts: Vec<&str> = resource.unwrap_or_default().split_ascii_whitespace().collect();
    match parts.as_slice() {
        [] => json!(resource_identifier(url)),
        [one] if *one == url => json!(resource_identifier(url)),
        [one] => json!(one),
        several => json!(several),
    }
}
