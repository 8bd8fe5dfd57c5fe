//! What an app asks of a person: checked in full before the person sees it, and again when they answer.

use super::clients::{self, Client};
use super::redirects::Redirect;
use super::{Fault, Refusal, is_within, offered, resource};
use crate::{App, Error, Scopes};

/// A SHA-256 in base64url.
const CHALLENGE_LENGTH: usize = 43;

/// The parameters as they came.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub client_id: Option<String>,
    pub redirect_uri: Option<String>,
    pub response_type: Option<String>,
    pub response_mode: Option<String>,
    pub code_challenge: Option<String>,
    pub code_challenge_method: Option<String>,
    pub scope: Option<String>,
    pub resource: Option<String>,
    pub state: Option<String>,
    /// The name of one that came more than once.
    pub repeated: Option<String>,
}

/// A request that a person can be asked about.
#[derive(Debug, Clone)]
pub struct Request {
    pub client: Client,
    pub redirect: Redirect,
    pub state: Option<String>,
    pub scopes: Scopes,
    pub challenge: String,
    pub resource: Option<String>,
}

/// Why there is nothing to ask.
#[derive(Debug)]
pub enum Problem {
    /// Who asks, or where they want the answer, is not known: only the person is told.
    Unknown(&'static str),
    /// The app made a mistake. It is told only where the person has let it in before (`grants::is_granted`): anyone can
    /// register an address, and must not be able to send people there through this installation.
    Answered {
        client: Box<Client>,
        redirect: Redirect,
        state: Option<String>,
        refusal: Refusal,
    },
    Own(Error),
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        Problem::Own(error)
    }
}

pub async fn check(app: &App, issuer: &str, asked: Asked) -> Result<Request, Problem> {
    if matches!(asked.repeated.as_deref(), Some("client_id" | "redirect_uri")) {
        return Err(Problem::Unknown("The address that the app sent you to is malformed."));
    }
    let found = clients::find(app, asked.client_id.as_deref().unwrap_or_default()).await?;
    let unknown = "The app that sent you here is not registered with this installation.";
    let client = found.ok_or(Problem::Unknown(unknown))?;
    let redirect = redirect(&client, asked.redirect_uri.as_deref()).ok_or(Problem::Unknown(
        "The app asks for an answer at an address that it did not register.",
    ))?;
    match terms(issuer, &asked) {
        Ok((scopes, challenge, resource)) => {
            Ok(Request { client, redirect, state: asked.state, scopes, challenge, resource })
        }
        Err(refusal) => {
            let repeated = asked.repeated.as_deref() == Some("state");
            let state = asked.state.filter(|_| !repeated);
            Err(Problem::Answered { client: Box::new(client), redirect, state, refusal })
        }
    }
}

/// The address to answer at; it may be left out where there is only one.
fn redirect(client: &Client, asked: Option<&str>) -> Option<Redirect> {
    match asked {
        Some(asked) => {
            let asked = Redirect::parse(asked).ok()?;
            client.redirects.iter().any(|it| it.admits(&asked)).then_some(asked)
        }
        None => match client.redirects.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        },
    }
}

type Terms = (Scopes, String, Option<String>);

fn terms(issuer: &str, asked: &Asked) -> Result<Terms, Refusal> {
    if let Some(name) = &asked.repeated {
        let message = format!("{name} is given more than once");
        return Err(Refusal::new(Fault::InvalidRequest, message));
    }
    match asked.response_type.as_deref() {
        Some("code") => {}
        None => return Err(Refusal::new(Fault::InvalidRequest, "response_type is missing")),
        Some(_) => {
            let message = "response_type must be code";
            return Err(Refusal::new(Fault::UnsupportedResponseType, message));
        }
    }
    if asked.response_mode.as_deref().is_some_and(|it| it != "query") {
        return Err(Refusal::new(Fault::InvalidRequest, "response_mode must be query"));
    }
    let challenge = asked.code_challenge.as_deref().unwrap_or_default();
    if asked.code_challenge_method.as_deref() != Some("S256") || !is_challenge(challenge) {
        let message = "send code_challenge with code_challenge_method S256";
        return Err(Refusal::new(Fault::InvalidRequest, message));
    }
    let scopes = match asked.scope.as_deref().map(str::trim) {
        None | Some("") => Scopes::read_only(),
        Some(words) => scopes(words)?,
    };
    let resource = asked.resource.as_deref().map(|it| resource(issuer, it)).transpose()?;
    Ok((scopes, challenge.to_owned(), resource))
}

fn is_challenge(text: &str) -> bool {
    let letter = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
    text.len() == CHALLENGE_LENGTH && text.bytes().all(letter)
}

/// Scopes that an app may have.
pub(super) fn scopes(words: &str) -> Result<Scopes, Refusal> {
    let refused = |message: String| Refusal::new(Fault::InvalidScope, message);
    let scopes = Scopes::parse(words).map_err(|error| refused(error.to_string()))?;
    if is_within(scopes, offered()) {
        Ok(scopes)
    } else {
        Err(refused("webhooks:manage is for API keys only".to_owned()))
    }
}
