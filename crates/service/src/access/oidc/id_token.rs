//! Verifies ID tokens (OpenID Connect Core 1.0, section 3.1.3.7).

use base::Timestamp;
use serde_json::{Map, Value};
use sources::jws;

use super::claims::Claims;
use super::metadata::Metadata;
use super::provider::{Provider, ProviderSettings};
use crate::Result;

/// The tolerated difference between clocks.
const SKEW_SECONDS: i64 = 60;
/// An older token is not the answer to a round trip of minutes.
const AGE_MAX_SECONDS: i64 = 3_600;
const SUBJECT_MAX: usize = 255;

/// The claims of a token that is signed by the provider, for this installation and for this round trip.
pub(super) async fn verify(
    provider: &Provider,
    metadata: &Metadata,
    token: &str,
    nonce: &str,
    now: Timestamp,
) -> Result<Claims> {
    let Some(header) = jws::header(token) else {
        let reason = "the ID token is not signed with RS256, ES256 or EdDSA";
        return Err(provider.refused(reason));
    };
    let key = provider.key_of(metadata, &header, now).await?;
    let Some(claims) = key.verified::<Map<String, Value>>(token) else {
        return Err(provider.refused("the signature of the ID token is wrong"));
    };
    let claims = Claims(claims);
    match check(&claims, &provider.settings, nonce, now.as_second()) {
        Ok(()) => Ok(claims),
        Err(reason) => Err(provider.refused(reason)),
    }
}

fn check(
    claims: &Claims,
    settings: &ProviderSettings,
    nonce: &str,
    now: i64,
) -> Result<(), &'static str> {
    if claims.text("iss") != Some(&settings.issuer) {
        return Err("the ID token comes from another provider");
    }
    let audiences = claims.audiences();
    if !audiences.contains(&settings.client_id) {
        return Err("the ID token is for another application");
    }
    let party = claims.text("azp");
    if party.is_some_and(|it| it != settings.client_id) || (audiences.len() > 1 && party.is_none())
    {
        return Err("the ID token was given to another application");
    }
    let (Some(expires_at), Some(issued_at)) = (claims.seconds("exp"), claims.seconds("iat")) else {
        return Err("the ID token does not say how long it is valid");
    };
    if expires_at.saturating_add(SKEW_SECONDS) <= now {
        return Err("the ID token has expired; check the clocks of both servers");
    }
    let begins_at = claims.seconds("nbf").unwrap_or(issued_at).max(issued_at);
    if begins_at.saturating_sub(SKEW_SECONDS) > now {
        return Err("the ID token is from the future; check the clocks of both servers");
    }
    if now.saturating_sub(issued_at) > AGE_MAX_SECONDS {
        return Err("the ID token is too old");
    }
    if claims.text("nonce") != Some(nonce) {
        return Err("the ID token belongs to another sign-in");
    }
    match claims.text("sub") {
        Some(subject) if (1..=SUBJECT_MAX).contains(&subject.len()) => Ok(()),
        _ => Err("the ID token names nobody"),
    }
}
