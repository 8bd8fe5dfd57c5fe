//! The key of the simulated application, and the signatures that are made with it.

use std::sync::LazyLock;

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::Value;

use super::EnableBanking;

/// Created once per process, because it takes a while.
static KEY: LazyLock<KeyPair> = LazyLock::new(|| KeyPair::generate(KeySize::Rsa2048).unwrap());

pub(super) fn private_key() -> String {
    pem(&KEY)
}

pub(super) fn another_private_key() -> String {
    pem(&KeyPair::generate(KeySize::Rsa2048).unwrap())
}

fn pem(key: &KeyPair) -> String {
    let der: Pkcs8V1Der<'_> = key.as_der().unwrap();
    let body = STANDARD.encode(der.as_ref());
    let lines: Vec<&str> =
        body.as_bytes().chunks(64).map(|it| std::str::from_utf8(it).unwrap()).collect();
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"))
}

/// Whether a request is authorized by the application's key at this time, in seconds since 1970.
pub(super) fn is_valid(authorization: &str, now: i64) -> bool {
    let Some(token) = authorization.strip_prefix("Bearer ") else { return false };
    let Some((signed, signature)) = token.rsplit_once('.') else { return false };
    let mut parts = signed.split('.').map(|it| URL_SAFE_NO_PAD.decode(it).unwrap_or_default());
    let mut next = || -> Value {
        serde_json::from_slice(&parts.next().unwrap_or_default()).unwrap_or_default()
    };
    let (header, claims) = (next(), next());
    let (from, until) = (claims["iat"].as_i64().unwrap_or(0), claims["exp"].as_i64().unwrap_or(0));
    let public =
        UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, KEY.public_key().as_ref().to_vec());
    let signature = URL_SAFE_NO_PAD.decode(signature).unwrap_or_default();
    header["alg"] == "RS256"
        && header["typ"] == "JWT"
        && header["kid"] == EnableBanking::APPLICATION
        && claims["iss"] == "enablebanking.com"
        && claims["aud"] == "api.enablebanking.com"
        && from <= now
        && until > now
        && until - from <= 86_400
        && public.verify(signed.as_bytes(), &signature).is_ok()
}
