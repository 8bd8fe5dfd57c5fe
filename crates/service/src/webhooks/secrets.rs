//! How secrets lie in the database: sealed, each for its endpoint.

use base::{EndpointId, Entropy, Timestamp};
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use super::signatures::Secret;
use crate::platform::installation::Key;
use crate::{Error, Result};

const NONCE: usize = 24;
const SECRET: usize = 32;
/// A secret and a moment.
const ENTRY: usize = SECRET + 8;

/// What keeps secrets readable for this installation alone.
pub(crate) struct Vault(XChaCha20Poly1305);

impl Vault {
    pub(crate) fn new(key: &Key) -> Vault {
        Vault(XChaCha20Poly1305::new(&key.derive("webhook secrets").into()))
    }

    pub(super) fn seal(
        &self,
        entropy: &Entropy,
        endpoint: EndpointId,
        secret: &Secret,
    ) -> Result<Vec<u8>> {
        self.seal_bytes(entropy, endpoint, secret.bytes())
    }

    pub(super) fn open(&self, endpoint: EndpointId, sealed: &[u8]) -> Result<Secret> {
        let plain = self.open_bytes(endpoint, sealed)?;
        plain.try_into().map(Secret::new).map_err(|_| broken())
    }

    /// Secrets that were replaced, each with the moment until which it signs.
    pub(super) fn seal_former(
        &self,
        entropy: &Entropy,
        endpoint: EndpointId,
        all: &[(Secret, Timestamp)],
    ) -> Result<Vec<u8>> {
        // As it always was, so that a server of an earlier version beside this one reads it too.
        if let [(only, _)] = all {
            return self.seal(entropy, endpoint, only);
        }
        let mut plain = Vec::with_capacity(all.len() * ENTRY);
        for (secret, until) in all {
            plain.extend_from_slice(secret.bytes());
            plain.extend_from_slice(&until.as_microsecond().to_be_bytes());
        }
        self.seal_bytes(entropy, endpoint, &plain)
    }

    /// The opposite. One alone has its moment beside it.
    pub(super) fn open_former(
        &self,
        endpoint: EndpointId,
        sealed: &[u8],
        until: Timestamp,
    ) -> Result<Vec<(Secret, Timestamp)>> {
        let plain = self.open_bytes(endpoint, sealed)?;
        if let Ok(alone) = <[u8; SECRET]>::try_from(plain.as_slice()) {
            return Ok(vec![(Secret::new(alone), until)]);
        }
        let (entries, rest) = plain.as_chunks::<ENTRY>();
        let read = |entry: &[u8; ENTRY]| {
            let (secret, until) = entry.split_first_chunk::<SECRET>()?;
            let until = i64::from_be_bytes(until.try_into().ok()?);
            Some((Secret::new(*secret), Timestamp::from_microsecond(until).ok()?))
        };
        let all: Option<Vec<_>> = entries.iter().map(read).collect();
        all.filter(|_| rest.is_empty()).ok_or_else(broken)
    }

    /// Bound to its endpoint: moved to another row it cannot be opened.
    fn seal_bytes(&self, entropy: &Entropy, endpoint: EndpointId, msg: &[u8]) -> Result<Vec<u8>> {
        let nonce: [u8; NONCE] = entropy.bytes();
        let payload = Payload { msg, aad: endpoint.as_bytes() };
        let sealed = self.0.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| Error::internal("a secret could not be sealed"))?;
        Ok([&nonce[..], &sealed].concat())
    }

    fn open_bytes(&self, endpoint: EndpointId, sealed: &[u8]) -> Result<Vec<u8>> {
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
        let vault = Vault::new(&Key::generate(&entropy));
        let (one, other) = (EndpointId::from_bytes([1; 16]), EndpointId::from_bytes([2; 16]));
        let secret = Secret::generate(&entropy);
        let sealed = vault.seal(&entropy, one, &secret).unwrap();
        assert!(vault.open(one, &sealed).unwrap() == secret);
        assert!(vault.open(other, &sealed).is_err());
        assert!(vault.open(one, &sealed[..sealed.len() - 1]).is_err());
        assert!(Vault::new(&Key::generate(&entropy)).open(one, &sealed).is_err());
    }

    #[test]
    fn several_that_were_replaced_keep_their_times() {
        let entropy = Entropy::seeded(1);
        let vault = Vault::new(&Key::generate(&entropy));
        let one = EndpointId::from_bytes([1; 16]);
        let until = |second| Timestamp::from_second(second).unwrap();
        let all: Vec<(Secret, Timestamp)> =
            (1..4).map(|it| (Secret::generate(&entropy), until(it))).collect();
        let sealed = vault.seal_former(&entropy, one, &all).unwrap();
        assert!(vault.open_former(one, &sealed, until(9)).unwrap() == all);
        let alone = vault.seal_former(&entropy, one, &all[..1]).unwrap();
        assert!(vault.open(one, &alone).unwrap() == all[0].0);
        let opened = vault.open_former(one, &alone, until(9)).unwrap();
        assert!(opened.len() == 1 && opened[0].0 == all[0].0 && opened[0].1 == until(9));
    }
}
