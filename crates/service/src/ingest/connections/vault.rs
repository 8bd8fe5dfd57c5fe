//! Encryption of stored access URLs with the installation's key, each bound to its connection.

use base::{ConnectionId, Entropy};
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sources::simplefin::AccessUrl;

use crate::platform::installation::Key;
use crate::{Error, Result};

/// The nonce of XChaCha20 is long enough to be random; aws-lc-rs has only ChaCha20, whose nonce has 12 bytes.
const NONCE_BYTES: usize = 24;

pub(super) struct Vault(XChaCha20Poly1305);

impl Vault {
    pub(super) fn new(key: &Key) -> Vault {
        Vault(XChaCha20Poly1305::new(&key.derive("access of connections").into()))
    }

    /// Encrypts an access URL for one connection. Moved to another row, it cannot be decrypted.
    pub(super) fn encrypt(
        &self,
        entropy: &Entropy,
        connection: ConnectionId,
        access: &AccessUrl,
    ) -> Result<Vec<u8>> {
        let nonce: [u8; NONCE_BYTES] = entropy.bytes();
        let plain = access.expose();
        let payload = Payload { msg: plain.as_bytes(), aad: connection.as_bytes() };
        let encrypted = self.0.encrypt(&XNonce::from(nonce), payload);
        let encrypted =
            encrypted.map_err(|_| Error::internal("an access URL could not be encrypted"))?;
        Ok([&nonce[..], &encrypted].concat())
    }

    /// None when it was encrypted with another key, for another connection, or is damaged.
    pub(super) fn decrypt(&self, connection: ConnectionId, encrypted: &[u8]) -> Option<AccessUrl> {
        let (nonce, encrypted) = encrypted.split_at_checked(NONCE_BYTES)?;
        let nonce = XNonce::from(<[u8; NONCE_BYTES]>::try_from(nonce).ok()?);
        let payload = Payload { msg: encrypted, aad: connection.as_bytes() };
        let plain = self.0.decrypt(&nonce, payload).ok()?;
        AccessUrl::parse(std::str::from_utf8(&plain).ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encrypted_access_url_is_readable_for_its_connection_alone() {
        let entropy = Entropy::seeded(1);
        let vault = Vault::new(&Key::generate(&entropy));
        let (one, other) = (ConnectionId::from_bytes([1; 16]), ConnectionId::from_bytes([2; 16]));
        let access = AccessUrl::parse("https://robin:p%40ss@bank.example/simplefin").unwrap();
        let encrypted = vault.encrypt(&entropy, one, &access).unwrap();
        assert_eq!(vault.decrypt(one, &encrypted), Some(access.clone()));
        assert_ne!(vault.encrypt(&entropy, one, &access).unwrap(), encrypted);
        assert_eq!(vault.decrypt(other, &encrypted), None);
        assert_eq!(vault.decrypt(one, &encrypted[..encrypted.len() - 1]), None);
        assert_eq!(vault.decrypt(one, b"short"), None);
        assert_eq!(Vault::new(&Key::generate(&entropy)).decrypt(one, &encrypted), None);
    }
}
