//! Verifies Plaid's webhooks: a JWT in the header `Plaid-Verification`, signed with ES256, that contains the hash of the
//! body.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use base::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::Client;
use crate::jws::{self, Algorithm, PublicKey};
use crate::provider::{BankError, NewsKind, WebhookError, WebhookNews};

/// Plaid's limit, and what clocks may differ by.
const OLDEST_SECONDS: i64 = 5 * 60;
const AHEAD_SECONDS: i64 = 60;
/// A longer signature is none of Plaid's.
const SIGNATURE_BYTES: usize = 4_096;

#[derive(Deserialize)]
struct Claims {
    iat: i64,
    request_body_sha256: String,
}

/// The part of a key, as `/webhook_verification_key/get` returns it, that is Plaid's own.
#[derive(Deserialize)]
struct KeyLife {
    #[serde(default)]
    expired_at: Option<i64>,
}

#[derive(Deserialize)]
struct KeyResponse {
    key: Value,
}

#[derive(Deserialize)]
struct Body {
    webhook_type: String,
    webhook_code: String,
    item_id: Option<String>,
}

pub(super) async fn fetch_key(client: &Client<'_>, key_id: &str) -> Result<String, BankError> {
    let found: KeyResponse = client
        .post("/webhook_verification_key/get", &json!({ "key_id": key_id }))
        .await
        .map_err(|error| error.for_person())?;
    Ok(found.key.to_string())
}

/// The id of the key that signed; none if the signature is malformed or uses another algorithm.
pub(super) fn key_id(signature: &str) -> Option<String> {
    let header = jws::header(signature).filter(|_| signature.len() <= SIGNATURE_BYTES)?;
    let is_plain = |it: &u8| it.is_ascii_alphanumeric() || *it == b'-' || *it == b'_';
    let key_id = header.key_id.filter(|_| header.algorithm == Algorithm::Es256)?;
    let is_id = (1..=128).contains(&key_id.len()) && key_id.as_bytes().iter().all(is_plain);
    is_id.then_some(key_id)
}

/// The item that a webhook names, before it is verified.
pub(super) fn login(body: &[u8]) -> Option<String> {
    let body: Body = serde_json::from_slice(body).ok()?;
    body.item_id.filter(|it| (1..=128).contains(&it.len()))
}

pub(super) fn read(
    key: &str,
    signature: &str,
    body: &[u8],
    now: Timestamp,
) -> Result<WebhookNews, WebhookError> {
    let claims = verified_claims(key, signature, now).ok_or(WebhookError::Forged)?;
    let hash = digest(&SHA256, body);
    let hash: String = hash.as_ref().iter().map(|it| format!("{it:02x}")).collect();
    verify_slices_are_equal(hash.as_bytes(), claims.request_body_sha256.as_bytes())
        .map_err(|_| WebhookError::Forged)?;
    let age = now.as_second().saturating_sub(claims.iat);
    if !(-AHEAD_SECONDS..=OLDEST_SECONDS).contains(&age) {
        return Err(WebhookError::Stale);
    }
    let body: Body = serde_json::from_slice(body).map_err(|_| WebhookError::Unreadable)?;
    Ok(WebhookNews { kind: kind(&body), login: body.item_id.ok_or(WebhookError::Unreadable)? })
}

fn verified_claims(key: &str, signature: &str, now: Timestamp) -> Option<Claims> {
    key_id(signature)?;
    let key: Value = serde_json::from_str(key).ok()?;
    let life: KeyLife = serde_json::from_value(key.clone()).ok()?;
    if life.expired_at.is_some_and(|it| it <= now.as_second()) {
        return None;
    }
    PublicKey::from_jwk(key)?.verified(signature)
}

/// A webhook is only a hint: the sync that follows reads everything from Plaid itself.
fn kind(body: &Body) -> NewsKind {
    let syncs = match (body.webhook_type.as_str(), body.webhook_code.as_str()) {
        ("TRANSACTIONS", "SYNC_UPDATES_AVAILABLE") => true,
        ("HOLDINGS" | "INVESTMENTS_TRANSACTIONS" | "LIABILITIES", code) => {
            code.ends_with("_UPDATE")
        }
        ("ITEM", code) => code != "WEBHOOK_UPDATE_ACKNOWLEDGED",
        // The older codes about transactions arrive beside SYNC_UPDATES_AVAILABLE.
        _ => false,
    };
    if syncs { NewsKind::SyncNow } else { NewsKind::Nothing }
}
