//! How secrets lie in the database: sealed, each for its endpoint.

use base::{EndpointId, Entropy};
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use super::signatures::Secret;
use crate::installation::Key;
use crate::{Error, Result};

const NONCE: usize = 24;

/// What keeps secrets readable for this installation alone.
pub(crate) struct Vault(XChaCha20Poly1305);

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
        let payload = Payload { msg: secret.bytes(), aad: endpoint.as_bytes() };
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
        plain.try_into().map(Secret::new).map_err(|_| broken())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
