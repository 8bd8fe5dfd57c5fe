//! OAuth metadata documents, by which an app discovers all endpoints from the address alone (RFC 8414 and RFC 9728).

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use serde_json::{Value, json};
use service::access::oauth::clients::AuthMethod;
use service::access::oauth::{Audience, OFFLINE_ACCESS, grantable_scopes};
use wire::v1::{Scope, Scopes};

use super::{answer, error_body};
use crate::{McpMode, WebState};

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
    document(&resource_document(&web, Audience::Api))
}

/// The well-known path for the path of the API or of the MCP server.
pub(super) async fn resource_at(State(web): State<WebState>, Path(path): Path<String>) -> Response {
    let own = own_path(&web.settings.public_url);
    let is_asked = |it: &&Audience| format!("{own}{}", it.path()).trim_start_matches('/') == path;
    match Audience::ALL.iter().find(is_asked) {
        Some(Audience::Mcp) if web.settings.mcp == McpMode::Off => nothing(),
        Some(audience) => document(&resource_document(&web, *audience)),
        None => nothing(),
    }
}

/// The address of a metadata document: the well-known path goes between the host and the path of the resource (RFC 9728,
/// section 3.1).
pub(crate) fn resource_metadata_url(public_url: &str, audience: Audience) -> String {
    let path = own_path(public_url);
    let origin = public_url.strip_suffix(path).unwrap_or(public_url).trim_end_matches('/');
    let slash = if path.is_empty() { "" } else { "/" };
    let end = audience.path();
    format!("{origin}/.well-known/oauth-protected-resource{slash}{path}{end}")
}

/// The identifier of the API as a protected resource.
pub(super) fn resource_identifier(public_url: &str) -> String {
    format!("{public_url}{}", Audience::Api.path())
}

/// The path of an address, without a leading slash.
fn own_path(public_url: &str) -> &str {
    let behind = public_url.split_once("://").map_or("", |(_, it)| it);
    behind.split_once('/').map_or("", |(_, path)| path)
}

fn server_document(web: &WebState) -> Value {
    let url = &web.settings.public_url;
    let methods: Vec<&str> = AuthMethod::ALL.iter().map(|it| it.as_str()).collect();
    let mut all = words(grantable_scopes());
    all.push(OFFLINE_ACCESS);
    let mut document = json!({
        "issuer": url,
        "authorization_endpoint": format!("{url}/oauth/authorize"),
        "token_endpoint": format!("{url}/oauth/token"),
        "revocation_endpoint": format!("{url}/oauth/revoke"),
        "introspection_endpoint": format!("{url}/oauth/introspect"),
        "scopes_supported": all,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "introspection_endpoint_auth_methods_supported":
            ["client_secret_basic", "client_secret_post"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
        "service_documentation": format!("{url}/docs"),
    });
    if web.settings.oauth_registration {
        document["registration_endpoint"] = json!(format!("{url}/oauth/register"));
    }
    document
}

fn resource_document(web: &WebState, audience: Audience) -> Value {
    let url = &web.settings.public_url;
    // Clients request every listed scope. An assistant begins with reading and asks for more when it needs it.
    let scopes = match audience {
        Audience::Api => grantable_scopes(),
        Audience::Mcp => mcp::minimal_scopes(),
    };
    json!({
        "resource": format!("{url}{}", audience.path()),
        "resource_name": "Evenkeel",
        "resource_documentation": format!("{url}/docs"),
        "authorization_servers": [url],
        "bearer_methods_supported": ["header"],
        "scopes_supported": words(scopes),
    })
}

fn words(scopes: Scopes) -> Vec<&'static str> {
    scopes.iter().map(Scope::as_str).collect()
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
