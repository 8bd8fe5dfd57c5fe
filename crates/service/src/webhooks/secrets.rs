//! How secrets lie in the database: sealed, each for its endpoint.

use base::{EndpointId, Entropy, Timestamp};
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use super::signatures::SigningSecret;
use crate::platform::installation::Key;
use crate::{Error, Result};

/// XChaCha20's nonce, long enough to be random. aws-lc-rs has only ChaCha20 with 12 bytes.
const NONCE: usize = 24;
const SECRET: usize = 32;
/// A secret and a moment.
const ENTRY: usize = SECRET + 8;

/// What keeps secrets readable for this installation alone.
pub(crate) struct SecretCipher(XChaCha20Poly1305);

impl SecretCipher {
    pub(crate) fn new(key: &Key) -> SecretCipher {
        SecretCipher(XChaCha20Poly1305::new(&key.derive("webhook secrets").into()))
    }

    pub(super) fn encrypt(
        &self,
        entropy: &Entropy,
        endpoint: EndpointId,
        secret: &SigningSecret,
    ) -> Result<Vec<u8>> {
        self.encrypt_bytes(entropy, endpoint, secret.bytes())
    }

    pub(super) fn decrypt(&self, endpoint: EndpointId, sealed: &[u8]) -> Result<SigningSecret> {
        let plain = self.decrypt_bytes(endpoint, sealed)?;
        plain.try_into().map(SigningSecret::new).map_err(|_| broken())
    }

    /// Secrets that were replaced, each with the moment until which it signs.
    pub(super) fn encrypt_previous(
        &self,
        entropy: &Entropy,
        endpoint: EndpointId,
        all: &[(SigningSecret, Timestamp)],
    ) -> Result<Vec<u8>> {
        // As it always was, so that a server of an earlier version beside this one reads it too.
        if let [(only, _)] = all {
            return self.encrypt(entropy, endpoint, only);
        }
        let mut plain = Vec::with_capacity(all.len() * ENTRY);
        for (secret, until) in all {
            plain.extend_from_slice(secret.bytes());
            plain.extend_from_slice(&until.as_microsecond().to_be_bytes());
        }
        self.encrypt_bytes(entropy, endpoint, &plain)
    }

    /// The opposite. One alone has its moment beside it.
    pub(super) fn decrypt_previous(
        &self,
        endpoint: EndpointId,
        sealed: &[u8],
        until: Timestamp,
    ) -> Result<Vec<(SigningSecret, Timestamp)>> {
        let plain = self.decrypt_bytes(endpoint, sealed)?;
        if let Ok(alone) = <[u8; SECRET]>::try_from(plain.as_slice()) {
            return Ok(vec![(SigningSecret::new(alone), until)]);
        }
        let (entries, rest) = plain.as_chunks::<ENTRY>();
        let read = |entry: &[u8; ENTRY]| {
            let (secret, until) = entry.split_first_chunk::<SECRET>()?;
            let until = i64::from_be_bytes(until.try_into().ok()?);
            Some((SigningSecret::new(*secret), Timestamp::from_microsecond(until).ok()?))
        };
        let all: Option<Vec<_>> = entries.iter().map(read).collect();
        all.filter(|_| rest.is_empty()).ok_or_else(broken)
    }

    /// Bound to its endpoint: moved to another row it cannot be opened.
    fn encrypt_bytes(
        &self,
        entropy: &Entropy,
        endpoint: EndpointId,
        msg: &[u8],
    ) -> Result<Vec<u8>> {
        let nonce: [u8; NONCE] = entropy.bytes();
        let payload = Payload { msg, aad: endpoint.as_bytes() };
        let sealed = self.0.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| Error::internal("a secret could not be sealed"))?;
        Ok([&nonce[..], &sealed].concat())
    }

    fn decrypt_bytes(&self, endpoint: EndpointId, sealed: &[u8]) -> Result<Vec<u8>> {
        let (nonce, sealed) = sealed.split_at_checked(NONCE).ok_or_else(broken)?;
        let nonce = XNonce::from(<[u8; NONCE]>::try_from(nonce).map_err(|_| broken())?);
        let payload = Payload { msg: sealed, aad: endpoint.as_bytes() };
        self.0.decrypt(&nonce, payload).map_err(|_| broken())
    }
}

fn broken() -> Error {
    Error::internal("the secret of a webhook endpoint cannot be opened")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_secret_opens_for_its_endpoint_alone() {
        let entropy = Entropy::seeded(1);
        let cipher = SecretCipher::new(&Key::generate(&entropy));
        let (one, other) = (EndpointId::from_bytes([1; 16]), EndpointId::from_bytes([2; 16]));
        let secret = SigningSecret::generate(&entropy);
        let sealed = cipher.encrypt(&entropy, one, &secret).unwrap();
        assert!(cipher.decrypt(one, &sealed).unwrap() == secret);
        assert!(cipher.decrypt(other, &sealed).is_err());
        assert!(cipher.decrypt(one, &sealed[..sealed.len() - 1]).is_err());
        assert!(SecretCipher::new(&Key::generate(&entropy)).decrypt(one, &sealed).is_err());
    }

    #[test]
    fn several_that_were_replaced_keep_their_times() {
        let entropy = Entropy::seeded(1);
        let cipher = SecretCipher::new(&Key::generate(&entropy));
        let one = EndpointId::from_bytes([1; 16]);
        let until = |second| Timestamp::from_second(second).unwrap();
        let all: Vec<(SigningSecret, Timestamp)> =
            (1..4).map(|it| (SigningSecret::generate(&entropy), until(it))).collect();
        let sealed = cipher.encrypt_previous(&entropy, one, &all).unwrap();
        assert!(cipher.decrypt_previous(one, &sealed, until(9)).unwrap() == all);
        let alone = cipher.encrypt_previous(&entropy, one, &all[..1]).unwrap();
        assert!(cipher.decrypt(one, &alone).unwrap() == all[0].0);
        let opened = cipher.decrypt_previous(one, &alone, until(9)).unwrap();
        assert!(opened.len() == 1 && opened[0].0 == all[0].0 && opened[0].1 == until(9));
    }
}
