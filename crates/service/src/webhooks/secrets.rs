//! The secrets that deliveries are signed with: sealed at rest, and two of them for a day after a rotation.

use aws_lc_rs::hmac;
use base::{EndpointId, Entropy, Timestamp};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::installation::Key;
use crate::{Error, Result};

const NONCE: usize = 24;
const PREFIX: &str = "whsec_";

/// What keeps secrets readable for this installation alone.
pub(crate) struct Vault(XChaCha20Poly1305);

/// Thirty-two random bytes, never printed but once.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret([u8; 32]);

impl Secret {
    pub(super) fn generate(entropy: &Entropy) -> Secret {
        Secret(entropy.bytes())
    }

    /// As the receiver keeps it.
    pub(super) fn text(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(self.0))
    }

    /// One entry of the signature header, by the rules of Standard Webhooks.
    fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let mut context = hmac::Context::with_key(&key);
        context.update(format!("{id}.{timestamp}.").as_bytes());
        context.update(body);
        format!("v1,{}", STANDARD.encode(context.sign()))
    }
}

/// The signatures of every secret that is good now, the newest first.
pub(super) fn signature(secrets: &[Secret], id: &str, at: Timestamp, body: &[u8]) -> String {
    let entries: Vec<String> = secrets.iter().map(|it| it.sign(id, at.as_second(), body)).collect();
    entries.join(" ")
}

impl Vault {
    pub(crate) fn new(key: &Key) -> Vault {
        Vault(XChaCha20Poly1305::new(&key.derive("webhook secrets").into()))
    }

    /// Bound to its endpoint: moved to another row it cannot be opened.
    pub(super) fn seal(
        &self,
        entropy: &Entropy,
        endpoint: EndpointId,
        secret: &Secret,
    ) -> Result<Vec<u8>> {
        let nonce: [u8; NONCE] = entropy.bytes();
        let payload = Payload { msg: &secret.0, aad: endpoint.as_bytes() };
        let sealed = self.0.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| Error::internal("a secret could not be sealed"))?;
        Ok([&nonce[..], &sealed].concat())
    }

    pub(super) fn open(&self, endpoint: EndpointId, sealed: &[u8]) -> Result<Secret> {
        let broken = || Error::internal("the secret of a webhook endpoint cannot be opened");
        let (nonce, sealed) = sealed.split_at_checked(NONCE).ok_or_else(broken)?;
        let nonce = XNonce::from(<[u8; NONCE]>::try_from(nonce).map_err(|_| broken())?);
        let payload = Payload { msg: sealed, aad: endpoint.as_bytes() };
        let plain = self.0.decrypt(&nonce, payload).map_err(|_| broken())?;
        plain.try_into().map(Secret).map_err(|_| broken())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_vector_of_standard_webhooks_is_met() {
        let bytes = STANDARD.decode("C2FVsBQIhrscChlQIMV+b5sSYspob7oD").unwrap();
        let key = hmac::Key::new(hmac::HMAC_SHA256, &bytes);
        let body = br#"{"email":"test@example.com","username":"test_user"}"#;
        let signed = [b"msg_27UH4WbU6Z5A5EzD8u03UvzRbpk.1649367553.".as_slice(), body].concat();
        let tag = STANDARD.encode(hmac::sign(&key, &signed));
        assert_eq!(tag, "tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=");
    }

    #[test]
    fn a_sealed_secret_opens_for_its_endpoint_alone() {
        let entropy = Entropy::seeded(1);
        let vault = Vault::new(&Key::generate(&entropy));
        let (one, other) = (EndpointId::from_bytes([1; 16]), EndpointId::from_bytes([2; 16]));
        let secret = Secret::generate(&entropy);
        let sealed = vault.seal(&entropy, one, &secret).unwrap();
        assert!(vault.open(one, &sealed).unwrap() == secret);
        assert!(vault.open(other, &sealed).is_err());
        assert!(vault.open(one, &sealed[..sealed.len() - 1]).is_err());
        assert!(Vault::new(&Key::generate(&entropy)).open(one, &sealed).is_err());
    }
}
