//! Parses and verifies the responses of authenticators. This file does not use the database.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::public_key::PublicKey;
use super::relying_party::RelyingParty;
use crate::{Error, Result};

const PRESENT: u8 = 0x01;
const VERIFIED: u8 = 0x04;
const HAS_CREDENTIAL: u8 = 0x40;
/// The longest credential id that the specification allows.
const CREDENTIAL_ID_MAX: usize = 1_023;

/// Bytes that are encoded in base64url in the JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Bytes, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('='));
        bytes.map(Bytes).map_err(serde::de::Error::custom)
    }
}

/// The `toJSON()` form of a new credential.
#[derive(Debug, Deserialize)]
pub(super) struct Registration {
    #[serde(rename = "rawId")]
    pub(super) id: Bytes,
    pub(super) response: RegistrationResponse,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RegistrationResponse {
    #[serde(rename = "clientDataJSON")]
    pub(super) client_data: Bytes,
    authenticator_data: Bytes,
    public_key: Bytes,
    public_key_algorithm: i64,
}

/// The `toJSON()` form of a credential that signed a challenge.
#[derive(Debug, Deserialize)]
pub(super) struct Assertion {
    #[serde(rename = "rawId")]
    pub(super) id: Bytes,
    pub(super) response: AssertionResponse,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AssertionResponse {
    #[serde(rename = "clientDataJSON")]
    pub(super) client_data: Bytes,
    authenticator_data: Bytes,
    signature: Bytes,
    pub(super) user_handle: Option<Bytes>,
}

pub(super) fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T> {
    serde_json::from_str(json)
        .map_err(|_| Error::Unauthenticated("the browser's response cannot be read; try again"))
}

/// The browser's part of a response: the page that asked, and the challenge.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClientData {
    #[serde(rename = "type")]
    kind: String,
    pub(super) challenge: Bytes,
    origin: String,
    #[serde(default)]
    cross_origin: Option<bool>,
}

impl ClientData {
    pub(super) fn parse(bytes: &Bytes) -> Result<ClientData> {
        serde_json::from_slice(&bytes.0)
            .map_err(|_| Error::Unauthenticated("the browser's response cannot be read; try again"))
    }

    fn check(&self, kind: &str, challenge: &[u8], party: &RelyingParty) -> Result<()> {
        let refused = |reason| Err(Error::Unauthenticated(reason));
        if self.kind != kind {
            return refused("this response is for another request; try again");
        }
        if verify_slices_are_equal(&self.challenge.0, challenge).is_err() {
            return refused("this response is for an older request; try again");
        }
        if !party.origins.contains(&self.origin) || self.cross_origin == Some(true) {
            return refused("this response comes from another site");
        }
        Ok(())
    }
}

/// The authenticator's part of a response.
struct AuthenticatorData<'a> {
    counter: i64,
    credential_id: Option<&'a [u8]>,
}

impl AuthenticatorData<'_> {
    fn parse<'a>(bytes: &'a [u8], party: &RelyingParty) -> Result<AuthenticatorData<'a>> {
        let incomplete =
            || Error::Unauthenticated("the passkey's response is incomplete; try again");
        let (party_hash, rest) = bytes.split_first_chunk::<32>().ok_or_else(incomplete)?;
        let (flags, rest) = rest.split_first().ok_or_else(incomplete)?;
        let (counter, rest) = rest.split_first_chunk::<4>().ok_or_else(incomplete)?;
        if verify_slices_are_equal(party_hash, &Sha256::digest(party.id.as_bytes())).is_err() {
            return Err(Error::Unauthenticated("this passkey belongs to another site"));
        }
        if flags & PRESENT == 0 || flags & VERIFIED == 0 {
            return Err(Error::Unauthenticated(
                "the passkey did not verify that it is you; unlock it with your PIN, fingerprint or face",
            ));
        }
        let credential_id = if flags & HAS_CREDENTIAL == 0 {
            None
        } else {
            let (length, rest) =
                rest.get(16..).and_then(<[u8]>::split_first_chunk::<2>).ok_or_else(incomplete)?;
            let length = usize::from(u16::from_be_bytes(*length));
            Some(rest.get(..length).ok_or_else(incomplete)?)
        };
        Ok(AuthenticatorData { counter: u32::from_be_bytes(*counter).into(), credential_id })
    }
}

/// The public key and the signature counter of a verified new credential.
pub(super) struct VerifiedCredential {
    pub(super) key: PublicKey,
    pub(super) counter: i64,
}

impl Registration {
    pub(super) fn verify(
        &self,
        challenge: &[u8],
        party: &RelyingParty,
    ) -> Result<VerifiedCredential> {
        let response = &self.response;
        ClientData::parse(&response.client_data)?.check("webauthn.create", challenge, party)?;
        let data = AuthenticatorData::parse(&response.authenticator_data.0, party)?;
        if data.credential_id != Some(&self.id.0) || self.id.0.is_empty() {
            return Err(Error::Unauthenticated("the passkey's response is for another passkey"));
        }
        if self.id.0.len() > CREDENTIAL_ID_MAX {
            return Err(Error::Unauthenticated("the passkey's id is too long"));
        }
        let key = PublicKey::parse(&response.public_key.0)?;
        if key.algorithm() != response.public_key_algorithm {
            return Err(Error::Unauthenticated("the passkey's key does not match its algorithm"));
        }
        Ok(VerifiedCredential { key, counter: data.counter })
    }
}

impl Assertion {
    /// Verifies the signature, and returns the passkey's signature counter.
    pub(super) fn verify(
        &self,
        challenge: &[u8],
        party: &RelyingParty,
        key: &PublicKey,
    ) -> Result<i64> {
        let response = &self.response;
        ClientData::parse(&response.client_data)?.check("webauthn.get", challenge, party)?;
        let data = AuthenticatorData::parse(&response.authenticator_data.0, party)?;
        let mut signed = response.authenticator_data.0.clone();
        signed.extend_from_slice(&Sha256::digest(&response.client_data.0));
        if !key.has_signed(&signed, &response.signature.0) {
            return Err(Error::Unauthenticated("the passkey's signature is not valid"));
        }
        Ok(data.counter)
    }
}
