//! Encryption of access, keys and sessions with the installation's key, each bound to the row that it belongs to.

use base::Entropy;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sources::provider::Secret;

use crate::platform::installation::Key;
use crate::{Error, Result};

/// The nonce of XChaCha20 is long enough to be random; aws-lc-rs has only ChaCha20, whose nonce has 12 bytes.
const NONCE_BYTES: usize = 24;

pub(super) struct Vault(XChaCha20Poly1305);

impl Vault {
    pub(super) fn new(key: &Key) -> Vault {
        Vault(XChaCha20Poly1305::new(&key.derive("access of connections").into()))
    }

    /// Encrypts a secret for one row, by its id. Moved to another row, it cannot be decrypted.
    pub(super) fn encrypt(
        &self,
        entropy: &Entropy,
        row: &[u8],
        secret: &Secret,
    ) -> Result<Vec<u8>> {
        let nonce: [u8; NONCE_BYTES] = entropy.bytes();
        let plain = secret.expose();
        let payload = Payload { msg: plain.as_bytes(), aad: row };
        let encrypted = self.0.encrypt(&XNonce::from(nonce), payload);
        let encrypted =
            encrypted.map_err(|_| Error::internal("a secret could not be encrypted"))?;
        Ok([&nonce[..], &encrypted].concat())
    }

    /// None when it was encrypted with another key, for another row, or is damaged.
    pub(super) fn decrypt(&self, row: &[u8], encrypted: &[u8]) -> Option<Secret> {
        let (nonce, encrypted) = encrypted.split_at_checked(NONCE_BYTES)?;
        let nonce = XNonce::from(<[u8; NONCE_BYTES]>::try_from(nonce).ok()?);
        let payload = Payload { msg: encrypted, aad: row };
        let plain = self.0.decrypt(&nonce, payload).ok()?;
        String::from_utf8(plain).ok().map(Secret::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encrypted_secret_is_readable_for_its_row_alone() {
        let entropy = Entropy::seeded(1);
        let vault = Vault::new(&Key::generate(&entropy));
        let (one, other): (&[u8], &[u8]) = (&[1; 16], &[2; 16]);
        let access = Secret::new("https://robin:p%40ss@bank.example/simplefin");
        let encrypted = vault.encrypt(&entropy, one, &access).unwrap();
        assert_eq!(vault.decrypt(one, &encrypted), Some(access.clone()));
        assert_ne!(vault.encrypt(&entropy, one, &access).unwrap(), encrypted);
        assert_eq!(vault.decrypt(other, &encrypted), None);
        assert_eq!(vault.decrypt(one, &encrypted[..encrypted.len() - 1]), None);
        assert_eq!(vault.decrypt(one, b"short"), None);
        assert_eq!(Vault::new(&Key::generate(&entropy)).decrypt(one, &encrypted), None);
    }
}
