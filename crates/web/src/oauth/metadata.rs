//! OAuth metadata documents, by which an app discovers all endpoints from the address alone (RFC 8414 and RFC 9728).

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use serde_json::{Value, json};
use service::access::oauth::clients::AuthMethod;
use service::access::oauth::grantable_scopes;
use wire::v1::Scope;

use super::{answer, error_body};
use crate::WebState;

pub(super) async fn server(State(web): State<WebState>) -> Response {
    document(&server_document(&web))
}

/// The well-known path, followed by the path of the installation's own address if it has one.
pub(super) async fn server_at(State(web): State<WebState>, Path(path): Path<String>) -> Response {
    if path == own_path(&web.settings.public_url) && !path.is_empty() {
        document(&server_document(&web))
    } else {
        nothing()
    }
}

pub(super) async fn resource(State(web): State<WebState>) -> Response {
    document(&resource_document(&web))
}

/// The well-known path for the API's path.
pub(super) async fn resource_at(State(web): State<WebState>, Path(path): Path<String>) -> Response {
    let api = format!("{}/v1", own_path(&web.settings.public_url));
    if path == api.trim_start_matches('/') { document(&resource_document(&web)) } else { nothing() }
}

/// The address of the API's metadata document: the well-known path goes between the host and the path of the API (RFC
/// 9728, section 3.1).
pub(crate) fn resource_metadata_url(public_url: &str) -> String {
    let path = own_path(public_url);
    let origin = public_url.strip_suffix(path).unwrap_or(public_url).trim_end_matches('/');
    let slash = if path.is_empty() { "" } else { "/" };
    format!("{origin}/.well-known/oauth-protected-resource{slash}{path}/v1")
}

/// The identifier of the API as a protected resource.
pub(super) fn resource_identifier(public_url: &str) -> String {
    format!("{public_url}/v1")
}

/// The path of an address, without a leading slash.
fn own_path(public_url: &str) -> &str {
    let behind = public_url.split_once("://").map_or("", |(_, it)| it);
    behind.split_once('/').map_or("", |(_, path)| path)
}

fn server_document(web: &WebState) -> Value {
    let url = &web.settings.public_url;
    let methods: Vec<&str> = AuthMethod::ALL.iter().map(|it| it.as_str()).collect();
    let mut document = json!({
        "issuer": url,
        "authorization_endpoint": format!("{url}/oauth/authorize"),
        "token_endpoint": format!("{url}/oauth/token"),
        "revocation_endpoint": format!("{url}/oauth/revoke"),
        "introspection_endpoint": format!("{url}/oauth/introspect"),
        "scopes_supported": scopes(),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "introspection_endpoint_auth_methods_supported":
            ["client_secret_basic", "client_secret_post"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "service_documentation": format!("{url}/docs"),
    });
    if web.settings.oauth_registration {
        document["registration_endpoint"] = json!(format!("{url}/oauth/register"));
    }
    document
}

fn resource_document(web: &WebState) -> Value {
    let url = &web.settings.public_url;
    json!({
        "resource": resource_identifier(url),
        "resource_name": "Evenkeel",
        "resource_documentation": format!("{url}/docs"),
        "authorization_servers": [url],
        "bearer_methods_supported": ["header"],
        "scopes_supported": scopes(),
    })
}

/// The scopes that an app can request. Clients request every listed scope, so those that are always refused are left out.
fn scopes() -> Vec<&'static str> {
    grantable_scopes().iter().map(Scope::as_str).collect()
}

fn document(document: &Value) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, document.to_string()).into_response()
}

fn nothing() -> Response {
    answer(StatusCode::NOT_FOUND, &error_body("not_found", "there is nothing at this address"))
}
