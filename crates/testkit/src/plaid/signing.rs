//! Signs webhooks as Plaid does, or wrongly where a test wants it.

use std::sync::Arc;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::hex;

#[derive(Clone)]
pub struct WebhookSigner {
    pub key_id: String,
    key: Arc<EcdsaKeyPair>,
}

impl WebhookSigner {
    pub fn generate() -> WebhookSigner {
        let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        WebhookSigner {
            key_id: "bfbd5111-8e33-4643-8ced-b2e642a72f3c".to_owned(),
            key: Arc::new(key),
        }
    }

    /// The same signer under another id of its key, which the server does not know.
    pub fn named(self, key_id: &str) -> WebhookSigner {
        WebhookSigner { key_id: key_id.to_owned(), ..self }
    }

    /// The public key as `/webhook_verification_key/get` returns it.
    pub fn jwk(&self) -> Value {
        let point = self.key.public_key().as_ref();
        let (x, y) =
            (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..65]));
        json!({
            "alg": "ES256", "crv": "P-256", "kid": self.key_id, "kty": "EC", "use": "sig",
            "x": x, "y": y, "created_at": 1_560_466_143, "expired_at": null,
        })
    }

    /// The header `Plaid-Verification` for a body, signed at a time in seconds since 1970.
    pub fn sign(&self, body: &[u8], at: i64) -> String {
        self.sign_with("ES256", body, at)
    }

    /// Like `sign`, with another algorithm in the header.
    pub fn sign_with(&self, algorithm: &str, body: &[u8], at: i64) -> String {
        let header = json!({ "alg": algorithm, "kid": self.key_id, "typ": "JWT" });
        let claims = json!({ "iat": at, "request_body_sha256": hex(&Sha256::digest(body)) });
        let [header, claims] = [header, claims].map(|it| URL_SAFE_NO_PAD.encode(it.to_string()));
        let signed = format!("{header}.{claims}");
        let signature = self.key.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }

    /// A webhook's body, printed with two spaces as Plaid does.
    pub fn body(kind: &str, code: &str, item: &str) -> Vec<u8> {
        let body = json!({
            "webhook_type": kind, "webhook_code": code, "item_id": item, "environment": "sandbox",
        });
        serde_json::to_vec_pretty(&body).unwrap()
    }
}
