//! Exchanges the code for tokens at the provider, and reads what the provider says about the person.

use base::{Timestamp, percent_encode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use net::HttpRequest;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::claims::Claims;
use super::flows::FlowSecrets;
use super::id_token;
use super::metadata::Metadata;
use super::provider::Provider;
use super::start::encode_pairs;
use crate::Result;

#[derive(Deserialize)]
struct Tokens {
    id_token: String,
    access_token: Option<String>,
}

/// The verified claims of the person whom a code stands for.
pub(super) async fn exchange(
    provider: &Provider,
    metadata: &Metadata,
    (code, redirect_uri): (&str, &str),
    secrets: &FlowSecrets,
    now: Timestamp,
) -> Result<Claims> {
    let request = token_request(provider, metadata, (code, redirect_uri), secrets);
    let (status, body) = provider.send(request, "a token").await?;
    if status != 200 {
        let reason = match error_word(&body) {
            Some(word) => format!("the provider refused the code with {word}"),
            None => format!("the provider answered {status} for a token"),
        };
        return Err(provider.refused(&reason));
    }
    let unreadable = |_| provider.refused("the provider answered without an ID token");
    let tokens: Tokens = serde_json::from_slice(&body).map_err(unreadable)?;
    let mut claims =
        id_token::verify(provider, metadata, &tokens.id_token, &secrets.nonce, now).await?;
    if let Some((address, token)) = userinfo(provider, metadata, &claims, &tokens) {
        claims.complete_with(fetch_userinfo(provider, &claims, address, token).await?);
    }
    Ok(claims)
}

fn token_request(
    provider: &Provider,
    metadata: &Metadata,
    (code, redirect_uri): (&str, &str),
    secrets: &FlowSecrets,
) -> HttpRequest {
    let settings = &provider.settings;
    let mut fields = vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", redirect_uri),
        ("code_verifier", &secrets.verifier),
    ];
    let basic = match &settings.client_secret {
        Some(secret) if metadata.takes_basic => {
            let (id, secret) = (percent_encode(&settings.client_id), percent_encode(secret));
            Some(STANDARD.encode(format!("{id}:{secret}")))
        }
        Some(secret) => {
            fields.extend([("client_id", settings.client_id.as_str()), ("client_secret", secret)]);
            None
        }
        None => {
            fields.push(("client_id", &settings.client_id));
            None
        }
    };
    let request = HttpRequest::post(metadata.token_endpoint.clone(), encode_pairs(&fields))
        .header("content-type", "application/x-www-form-urlencoded");
    match basic {
        Some(basic) => request.header("authorization", format!("Basic {basic}")),
        None => request,
    }
}

/// The error code of a refusal, if it looks like one.
fn error_word(body: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let word = answer.get("error")?.as_str()?;
    is_error_word(word).then(|| word.to_owned())
}

/// Whether a text from outside may be shown: a short word such as `invalid_grant`.
pub(super) fn is_error_word(word: &str) -> bool {
    (1..=50).contains(&word.len()) && word.bytes().all(|it| it.is_ascii_lowercase() || it == b'_')
}

/// The userinfo address for claims that the ID token lacks, and the token to ask with. Many providers keep ID tokens short.
fn userinfo<'a>(
    provider: &Provider,
    metadata: &'a Metadata,
    claims: &Claims,
    tokens: &'a Tokens,
) -> Option<(&'a str, &'a str)> {
    let settings = &provider.settings;
    let wants_groups = !settings.create_for_groups.is_empty() || !settings.admin_groups.is_empty();
    let lacks_groups = wants_groups && claims.groups(&settings.groups_claim).is_none();
    let is_needed = claims.text("email").is_none() || lacks_groups;
    let address = metadata.userinfo_endpoint.as_deref().filter(|_| is_needed)?;
    Some((address, tokens.access_token.as_deref()?))
}

async fn fetch_userinfo(
    provider: &Provider,
    claims: &Claims,
    address: &str,
    token: &str,
) -> Result<Claims> {
    let request = HttpRequest::get(address).header("authorization", format!("Bearer {token}"));
    let answer = provider.fetch(request, "your profile").await?;
    let invalid = |_| provider.refused("the provider's profile of you cannot be read");
    let found: Map<String, Value> = serde_json::from_value(answer).map_err(invalid)?;
    let found = Claims(found);
    // The access token could be somebody else's; only the subject ties the two answers together.
    if found.text("sub").is_none() || found.text("sub") != claims.text("sub") {
        return Err(provider.refused("the provider's profile is of another person"));
    }
    Ok(found)
}
