//! Encryption of signing secrets in the database, each bound to its endpoint.

use base::{EndpointId, Entropy, Timestamp};
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::error::{Error, Result};
use crate::signatures::SigningSecret;

/// XChaCha20's nonce, long enough to be random. aws-lc-rs has only ChaCha20 with 12 bytes.
const NONCE: usize = 24;
const SECRET: usize = 32;
/// The bytes of a replaced secret: the secret, and the moment until which it signs.
const ENTRY: usize = SECRET + 8;

/// Encrypts and decrypts signing secrets with a key of the installation.
pub(crate) struct SecretCipher(XChaCha20Poly1305);

impl SecretCipher {
    pub(crate) fn new(key: [u8; 32]) -> SecretCipher {
        SecretCipher(XChaCha20Poly1305::new(&key.into()))
    }

    pub(crate) fn encrypt(
        &self,
        entropy: &Entropy,
        endpoint: EndpointId,
        secret: &SigningSecret,
    ) -> Result<Vec<u8>> {
        self.encrypt_bytes(entropy, endpoint, secret.bytes())
    }

    pub(crate) fn decrypt(&self, endpoint: EndpointId, encrypted: &[u8]) -> Result<SigningSecret> {
        let plain = self.decrypt_bytes(endpoint, encrypted)?;
        plain.try_into().map(SigningSecret::new).map_err(|_| undecryptable())
    }

    /// Encrypts replaced secrets, each with the moment until which it signs.
    pub(crate) fn encrypt_previous(
        &self,
        entropy: &Entropy,
        endpoint: EndpointId,
        all: &[(SigningSecret, Timestamp)],
    ) -> Result<Vec<u8>> {
        // A single secret is stored without its moment, which has a column of its own. Earlier versions, which may run
        // beside this one, read it that way.
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

    /// Decrypts replaced secrets. `until` is the moment of a single secret, which is stored without it.
    pub(crate) fn decrypt_previous(
        &self,
        endpoint: EndpointId,
        encrypted: &[u8],
        until: Timestamp,
    ) -> Result<Vec<(SigningSecret, Timestamp)>> {
        let plain = self.decrypt_bytes(endpoint, encrypted)?;
        if let Ok(single) = <[u8; SECRET]>::try_from(plain.as_slice()) {
            return Ok(vec![(SigningSecret::new(single), until)]);
        }
        let (entries, rest) = plain.as_chunks::<ENTRY>();
        let read = |entry: &[u8; ENTRY]| {
            let (secret, until) = entry.split_first_chunk::<SECRET>()?;
            let until = i64::from_be_bytes(until.try_into().ok()?);
            Some((SigningSecret::new(*secret), Timestamp::from_microsecond(until).ok()?))
        };
        let all: Option<Vec<_>> = entries.iter().map(read).collect();
        all.filter(|_| rest.is_empty()).ok_or_else(undecryptable)
    }

    /// Decrypts, and encrypts with another key.
    pub(crate) fn reencrypt(
        &self,
        new: &SecretCipher,
        entropy: &Entropy,
        endpoint: EndpointId,
        encrypted: &[u8],
    ) -> Result<Vec<u8>> {
        new.encrypt_bytes(entropy, endpoint, &self.decrypt_bytes(endpoint, encrypted)?)
    }

    /// Encrypts with the endpoint as associated data: moved to the row of another endpoint, it cannot be decrypted.
    fn encrypt_bytes(
        &self,
        entropy: &Entropy,
        endpoint: EndpointId,
        msg: &[u8],
    ) -> Result<Vec<u8>> {
        let nonce: [u8; NONCE] = entropy.bytes();
        let payload = Payload { msg, aad: endpoint.as_bytes() };
        let encrypted = self.0.encrypt(&XNonce::from(nonce), payload);
        let encrypted =
            encrypted.map_err(|_| Error::internal("a secret could not be encrypted"))?;
        Ok([&nonce[..], &encrypted].concat())
    }

    fn decrypt_bytes(&self, endpoint: EndpointId, encrypted: &[u8]) -> Result<Vec<u8>> {
        let (nonce, encrypted) = encrypted.split_at_checked(NONCE).ok_or_else(undecryptable)?;
        let nonce = XNonce::from(<[u8; NONCE]>::try_from(nonce).map_err(|_| undecryptable())?);
        let payload = Payload { msg: encrypted, aad: endpoint.as_bytes() };
        self.0.decrypt(&nonce, payload).map_err(|_| undecryptable())
    }
}

fn undecryptable() -> Error {
    Error::internal("the secret of a webhook endpoint cannot be decrypted")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encrypted_secret_decrypts_for_its_endpoint_alone() {
        let entropy = Entropy::seeded(1);
        let cipher = SecretCipher::new(entropy.bytes());
        let (one, other) = (EndpointId::from_bytes([1; 16]), EndpointId::from_bytes([2; 16]));
        let secret = SigningSecret::generate(&entropy);
        let encrypted = cipher.encrypt(&entropy, one, &secret).unwrap();
        assert!(cipher.decrypt(one, &encrypted).unwrap() == secret);
        assert!(cipher.decrypt(other, &encrypted).is_err());
        assert!(cipher.decrypt(one, &encrypted[..encrypted.len() - 1]).is_err());
        assert!(SecretCipher::new(entropy.bytes()).decrypt(one, &encrypted).is_err());
    }

    #[test]
    fn replaced_secrets_keep_the_moments_until_which_they_sign() {
        let entropy = Entropy::seeded(1);
        let cipher = SecretCipher::new(entropy.bytes());
        let one = EndpointId::from_bytes([1; 16]);
        let until = |second| Timestamp::from_second(second).unwrap();
        let all: Vec<(SigningSecret, Timestamp)> =
            (1..4).map(|it| (SigningSecret::generate(&entropy), until(it))).collect();
        let encrypted = cipher.encrypt_previous(&entropy, one, &all).unwrap();
        assert!(cipher.decrypt_previous(one, &encrypted, until(9)).unwrap() == all);
        let single = cipher.encrypt_previous(&entropy, one, &all[..1]).unwrap();
        assert!(cipher.decrypt(one, &single).unwrap() == all[0].0);
        let opened = cipher.decrypt_previous(one, &single, until(9)).unwrap();
        assert!(opened.len() == 1 && opened[0].0 == all[0].0 && opened[0].1 == until(9));
    }
}
