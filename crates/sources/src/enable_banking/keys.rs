//! The person's application: its id and its private key, with which every request is signed.

use std::fmt;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeyPair;
use aws_lc_rs::signature::RSA_PKCS1_SHA256;
use base::Timestamp;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::provider::{BankError, Secret};

/// How long a signed token is valid. Enable Banking allows a day.
const LIFE_SECONDS: i64 = 3_600;

#[derive(Clone, Serialize, Deserialize)]
pub struct Keys {
    /// A UUID.
    pub application_id: String,
    /// PKCS#8 in PEM, as Enable Banking's page generates it.
    pub private_key: String,
}

const ADVICE: &str = "Copy the application id from Enable Banking's control panel, and the whole \
     private key file, from -----BEGIN PRIVATE KEY----- to -----END PRIVATE KEY-----.";

impl Keys {
    pub fn to_secret(&self) -> Secret {
        Secret::new(serde_json::to_string(self).unwrap_or_default())
    }

    /// Reads keys, and says what is wrong with them.
    pub fn read(secret: &Secret) -> Result<Keys, BankError> {
        let keys: Keys =
            serde_json::from_str(secret.expose()).map_err(|_| BankError::invalid(ADVICE))?;
        let is_uuid = keys.application_id.len() == 36
            && keys.application_id.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-');
        if !is_uuid || keys.key_pair().is_none() {
            return Err(BankError::invalid(ADVICE));
        }
        Ok(keys)
    }

    fn key_pair(&self) -> Option<KeyPair> {
        let body = self.private_key.split("-----BEGIN PRIVATE KEY-----").nth(1)?;
        let body = body.split("-----END PRIVATE KEY-----").next()?;
        let body: String = body.chars().filter(|it| !it.is_whitespace()).collect();
        KeyPair::from_pkcs8(&STANDARD.decode(body).ok()?).ok()
    }

    /// The token that authorizes a request.
    pub(super) fn token(&self, now: Timestamp) -> Option<String> {
        let header = json!({ "typ": "JWT", "alg": "RS256", "kid": self.application_id });
        let claims = json!({
            "iss": "enablebanking.com", "aud": "api.enablebanking.com",
            "iat": now.as_second(), "exp": now.as_second() + LIFE_SECONDS,
        });
        let [header, claims] = [header, claims].map(|it| URL_SAFE_NO_PAD.encode(it.to_string()));
        let signed = format!("{header}.{claims}");
        let key = self.key_pair()?;
        let mut signature = vec![0; key.public_modulus_len()];
        let random = SystemRandom::new();
        key.sign(&RSA_PKCS1_SHA256, &random, signed.as_bytes(), &mut signature).ok()?;
        Some(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(hidden)")
    }
}
