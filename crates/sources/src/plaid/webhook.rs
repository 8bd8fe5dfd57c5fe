//! Verifies Plaid's webhooks: a JWT in the header `Plaid-Verification`, signed with ES256, that contains the hash of the
//! body.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use base::Timestamp;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::client::Client;
use crate::provider::{BankError, NewsKind, WebhookError, WebhookNews};

/// Plaid's limit, and what clocks may differ by.
const OLDEST_SECONDS: i64 = 5 * 60;
const AHEAD_SECONDS: i64 = 60;
/// A longer signature is none of Plaid's.
const SIGNATURE_BYTES: usize = 4_096;

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: String,
}

#[derive(Deserialize)]
struct Claims {
    iat: i64,
    request_body_sha256: String,
}

/// A public key as `/webhook_verification_key/get` returns it.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    crv: String,
    x: String,
    y: String,
    #[serde(default)]
    expired_at: Option<i64>,
}

#[derive(Deserialize)]
struct KeyResponse {
    key: serde_json::Value,
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
    let header = signature.split('.').next().filter(|_| signature.len() <= SIGNATURE_BYTES)?;
    let header: Header = part(header)?;
    let is_plain = |it: &u8| it.is_ascii_alphanumeric() || *it == b'-' || *it == b'_';
    let is_id = (1..=128).contains(&header.kid.len()) && header.kid.as_bytes().iter().all(is_plain);
    (header.alg == "ES256" && is_id).then_some(header.kid)
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
    let key: Jwk = serde_json::from_str(key).ok()?;
    let is_expired = key.expired_at.is_some_and(|it| it <= now.as_second());
    if key.kty != "EC" || key.crv != "P-256" || is_expired {
        return None;
    }
    let [x, y] = [&key.x, &key.y].map(|it| URL_SAFE_NO_PAD.decode(it).ok());
    let (x, y) = (x?, y?);
    if x.len() != 32 || y.len() != 32 {
        return None;
    }
    // An uncompressed point begins with 4.
    let point = [&[4][..], &x, &y].concat();
    let (signed, signature) = signature.rsplit_once('.')?;
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    key.verify(signed.as_bytes(), &signature).ok()?;
    let (_, claims) = signed.split_once('.')?;
    part(claims)
}

fn part<T: DeserializeOwned>(encoded: &str) -> Option<T> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(encoded).ok()?).ok()
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
