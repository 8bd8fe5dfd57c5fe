//! Authorization requests of apps: validated before the person sees them, and again when they decide.

use super::client_documents::{self, DescribedClient, DocumentSource};
use super::clients::{self, Client, is_document};
use super::errors::{OAuthError, OAuthErrorCode};
use super::redirects::Redirect;
use super::scopes::{OFFLINE_ACCESS, parse_resource, parse_scopes};
use crate::{App, Error, Scopes};

/// The length of a SHA-256 in base64url.
const CHALLENGE_LENGTH: usize = 43;

/// The parameters of a request before validation.
#[derive(Debug, Clone, Default)]
pub struct AuthorizationParams {
    pub client_id: Option<String>,
    pub redirect_uri: Option<String>,
    pub response_type: Option<String>,
    pub response_mode: Option<String>,
    pub code_challenge: Option<String>,
    pub code_challenge_method: Option<String>,
    pub scope: Option<String>,
    pub resource: Option<String>,
    pub state: Option<String>,
    /// The name of a parameter that was given more than once.
    pub repeated: Option<String>,
    /// The allowed source of the document of a client that did not register.
    pub documents: DocumentSource,
}

/// A valid request, which the person can decide.
#[derive(Debug, Clone)]
pub struct AuthorizationRequest {
    pub client: Client,
    pub redirect: Redirect,
    pub state: Option<String>,
    pub scopes: Scopes,
    pub challenge: String,
    pub resource: Option<String>,
}

/// The reason why a request is invalid.
#[derive(Debug)]
pub enum InvalidRequest {
    /// The client or the redirect address is unknown, so only the person is told.
    Unknown(&'static str),
    /// The document that describes the client cannot be used, so only the person is told.
    Undescribed(String),
    /// The app made another mistake. It is told only if the person has granted it access before (`grants::is_granted`):
    /// anyone can register an address, and must not be able to send people there through this installation.
    Refused { client: Box<Client>, redirect: Redirect, state: Option<String>, error: OAuthError },
    /// Something failed on this side.
    Internal(Error),
}

impl From<Error> for InvalidRequest {
    fn from(error: Error) -> InvalidRequest {
        InvalidRequest::Internal(error)
    }
}

pub async fn check(
    app: &App,
    issuer: &str,
    params: AuthorizationParams,
) -> Result<AuthorizationRequest, InvalidRequest> {
    if matches!(params.repeated.as_deref(), Some("client_id" | "redirect_uri")) {
        return Err(InvalidRequest::Unknown("The link that the app sent you to is malformed."));
    }
    let client = find_client(app, &params).await?;
    let redirect = redirect(&client, params.redirect_uri.as_deref()).ok_or(
        InvalidRequest::Unknown("The app gave a return address that it has not registered."),
    )?;
    match validate(issuer, &params) {
        Ok((scopes, challenge, resource)) => Ok(AuthorizationRequest {
            client,
            redirect,
            state: params.state,
            scopes,
            challenge,
            resource,
        }),
        Err(error) => {
            let repeated = params.repeated.as_deref() == Some("state");
            let state = params.state.filter(|_| !repeated);
            Err(InvalidRequest::Refused { client: Box::new(client), redirect, state, error })
        }
    }
}

async fn find_client(app: &App, params: &AuthorizationParams) -> Result<Client, InvalidRequest> {
    let id = params.client_id.as_deref().unwrap_or_default();
    if is_document(id) {
        return match client_documents::find(app, id, params.documents).await? {
            DescribedClient::Found(client) => Ok(client),
            DescribedClient::Unusable(why) => Err(InvalidRequest::Undescribed(why)),
        };
    }
    let unknown = "The app that sent you here is not registered with this installation.";
    clients::find(app, id).await?.ok_or(InvalidRequest::Unknown(unknown))
}

/// The redirect address of a request. It may be left out if the client has only one.
fn redirect(client: &Client, requested: Option<&str>) -> Option<Redirect> {
    match requested {
        Some(text) => {
            let requested = Redirect::parse(text).ok()?;
            client.redirects.iter().any(|it| it.matches(&requested)).then_some(requested)
        }
        None => match client.redirects.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        },
    }
}

/// The scopes, the code challenge and the resource of a request.
type RequestTerms = (Scopes, String, Option<String>);

fn validate(issuer: &str, params: &AuthorizationParams) -> Result<RequestTerms, OAuthError> {
    if let Some(name) = &params.repeated {
        let message = format!("{name} is given more than once");
        return Err(OAuthError::new(OAuthErrorCode::InvalidRequest, message));
    }
    match params.response_type.as_deref() {
        Some("code") => {}
        None => {
            return Err(OAuthError::new(
                OAuthErrorCode::InvalidRequest,
                "response_type is missing",
            ));
        }
        Some(_) => {
            let message = "response_type must be code";
            return Err(OAuthError::new(OAuthErrorCode::UnsupportedResponseType, message));
        }
    }
    if params.response_mode.as_deref().is_some_and(|it| it != "query") {
        return Err(OAuthError::new(OAuthErrorCode::InvalidRequest, "response_mode must be query"));
    }
    let challenge = params.code_challenge.as_deref().unwrap_or_default();
    if params.code_challenge_method.as_deref() != Some("S256") || !is_challenge(challenge) {
        let message = "send code_challenge with code_challenge_method S256";
        return Err(OAuthError::new(OAuthErrorCode::InvalidRequest, message));
    }
    let scopes = match params.scope.as_deref().map(str::trim) {
        None | Some("" | OFFLINE_ACCESS) => Scopes::read_only(),
        Some(words) => parse_scopes(words)?,
    };
    let resource = params.resource.as_deref().map(|it| parse_resource(issuer, it)).transpose()?;
    Ok((scopes, challenge.to_owned(), resource))
}

fn is_challenge(text: &str) -> bool {
    let letter = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
    text.len() == CHALLENGE_LENGTH && text.bytes().all(letter)
}
