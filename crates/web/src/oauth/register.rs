//! Dynamic client registration (RFC 7591).

use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use serde_json::{Map, Value, json};
use service::access::oauth::clients::{self, AuthMethod, NewClient};
use service::access::oauth::redirects::Redirect;
use service::access::oauth::{OAuthError, OAuthErrorCode, OAuthResult};
use service::platform::limits;

use super::fields::{body_of, group_of};
use super::{answer, close};
use crate::WebState;

pub(super) async fn post(State(web): State<WebState>, request: Request) -> Response {
    close(register(&web, request).await)
}

async fn register(web: &WebState, request: Request) -> OAuthResult<Response> {
    if !web.settings.oauth_registration {
        let message = "app registration is turned off; ask the operator of this installation";
        return Err(OAuthError::new(OAuthErrorCode::AccessDenied, message).into());
    }
    let (parts, body) = request.into_parts();
    let from = group_of(&parts);
    limits::count_registration(&web.app, from)?;
    let bytes = body_of(&parts, body, "application/json").await?;
    let new = NewClient { registered_from: from, ..read(&bytes)? };
    let (client, secret) = clients::register(&web.app, new).await?;
    let redirects: Vec<&str> = client.redirects.iter().map(Redirect::as_str).collect();
    let mut body = json!({
        "client_id": client.id.to_string(),
        "client_id_issued_at": client.registered_at.as_second(),
        "client_name": client.name,
        "redirect_uris": redirects,
        "token_endpoint_auth_method": client.auth_method.as_str(),
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    });
    if let Some(secret) = secret {
        body["client_secret"] = json!(secret);
        body["client_secret_expires_at"] = json!(0);
    }
    Ok(answer(StatusCode::CREATED, &body))
}

/// The client metadata of a registration. Unknown members are ignored, as the standard requires.
fn read(bytes: &[u8]) -> Result<NewClient, OAuthError> {
    let Ok(Value::Object(members)) = serde_json::from_slice(bytes) else {
        return Err(wrong("the body must be a JSON object"));
    };
    let auth_method = match text(&members, "token_endpoint_auth_method")? {
        None => None,
        Some(word) => Some(AuthMethod::parse(word).ok_or_else(|| {
            wrong("token_endpoint_auth_method must be none, client_secret_basic or client_secret_post")
        })?),
    };
    for (name, required) in [("grant_types", "authorization_code"), ("response_types", "code")] {
        let given = texts(&members, name)?;
        if given.is_some_and(|it| !it.iter().any(|word| word == required)) {
            return Err(wrong(&format!("{name} must have {required} in it")));
        }
    }
    Ok(NewClient {
        name: text(&members, "client_name")?.map(str::to_owned),
        redirect_uris: texts(&members, "redirect_uris")?.unwrap_or_default(),
        auth_method,
        ..NewClient::default()
    })
}

fn text<'a>(members: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, OAuthError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong(&format!("{name} must be text"))),
    }
}

fn texts(members: &Map<String, Value>, name: &str) -> Result<Option<Vec<String>>, OAuthError> {
    let wrong = || wrong(&format!("{name} must be a list of texts"));
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) => {
            let texts = items.iter().map(|it| it.as_str().map(str::to_owned));
            texts.collect::<Option<_>>().map(Some).ok_or_else(wrong)
        }
        Some(_) => Err(wrong()),
    }
}

fn wrong(message: &str) -> OAuthError {
    OAuthError::new(OAuthErrorCode::InvalidClientMetadata, message)
}
