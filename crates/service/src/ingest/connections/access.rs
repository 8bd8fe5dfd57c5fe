//! Access URLs at rest: sealed with the installation's key, each for its own connection.

use base::{ConnectionId, Entropy};
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sources::simplefin::AccessUrl;

use crate::platform::installation::Key;
use crate::{Error, Result};

/// XChaCha20's nonce, long enough to be random. aws-lc-rs has only ChaCha20 with 12 bytes.
const NONCE: usize = 24;

/// What keeps access URLs readable for this installation alone.
pub(super) struct Vault(XChaCha20Poly1305);

impl Vault {
    pub(super) fn new(key: &Key) -> Vault {
        Vault(XChaCha20Poly1305::new(&key.derive("access of connections").into()))
    }

    /// Bound to its connection: moved to another row it cannot be opened.
    pub(super) fn seal(
        &self,
        entropy: &Entropy,
        connection: ConnectionId,
        access: &AccessUrl,
    ) -> Result<Vec<u8>> {
        let nonce: [u8; NONCE] = entropy.bytes();
        let plain = access.expose();
        let payload = Payload { msg: plain.as_bytes(), aad: connection.as_bytes() };
        let sealed = self.0.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| Error::internal("an access URL could not be sealed"))?;
        Ok([&nonce[..], &sealed].concat())
    }

    /// None when it was sealed with another key, for another connection, or is damaged.
    pub(super) fn open(&self, connection: ConnectionId, sealed: &[u8]) -> Option<AccessUrl> {
        let (nonce, sealed) = sealed.split_at_checked(NONCE)?;
        let nonce = XNonce::from(<[u8; NONCE]>::try_from(nonce).ok()?);
        let payload = Payload { msg: sealed, aad: connection.as_bytes() };
        let plain = self.0.decrypt(&nonce, payload).ok()?;
        AccessUrl::parse(std::str::from_utf8(&plain).ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_access_url_opens_for_its_connection_alone() {
        let entropy = Entropy::seeded(1);
        let vault = Vault::new(&Key::generate(&entropy));
        let (one, other) = (ConnectionId::from_bytes([1; 16]), ConnectionId::from_bytes([2; 16]));
        let access = AccessUrl::parse("https://robin:p%40ss@bank.example/simplefin").unwrap();
        let sealed = vault.seal(&entropy, one, &access).unwrap();
        assert_eq!(vault.open(one, &sealed), Some(access.clone()));
        assert_ne!(vault.seal(&entropy, one, &access).unwrap(), sealed);
        assert_eq!(vault.open(other, &sealed), None);
        assert_eq!(vault.open(one, &sealed[..sealed.len() - 1]), None);
        assert_eq!(vault.open(one, b"short"), None);
        assert_eq!(Vault::new(&Key::generate(&entropy)).open(one, &sealed), None);
    }
}
