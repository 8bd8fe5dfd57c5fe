//! What a browser answers, taken apart and checked against what was asked; no database here.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::Party;
use super::public_key::PublicKey;
use crate::{Error, Result};

const PRESENT: u8 = 0x01;
const VERIFIED: u8 = 0x04;
const HAS_CREDENTIAL: u8 = 0x40;
/// The longest id that the specification lets a credential have.
const CREDENTIAL_ID_MAX: usize = 1_023;

/// Bytes in base64url, as every member of an answer that is not text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Bytes, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('='));
        bytes.map(Bytes).map_err(serde::de::Error::custom)
    }
}

/// What `toJSON()` of a new credential says.
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

/// What `toJSON()` of a used credential says.
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
        .map_err(|_| Error::Unauthenticated("the browser's answer cannot be read; try again"))
}

/// What the browser saw: which page asked, and with which challenge.
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
            .map_err(|_| Error::Unauthenticated("the browser's answer cannot be read; try again"))
    }

    fn check(&self, kind: &str, challenge: &[u8], party: &Party) -> Result<()> {
        let wrong = |reason| Err(Error::Unauthenticated(reason));
        if self.kind != kind {
            return wrong("this answer is to another question; try again");
        }
        if verify_slices_are_equal(&self.challenge.0, challenge).is_err() {
            return wrong("this answer is to an older question; try again");
        }
        if !party.origins.contains(&self.origin) || self.cross_origin == Some(true) {
            return wrong("this answer comes from another site");
        }
        Ok(())
    }
}

/// What the authenticator vouches for.
struct AuthenticatorData<'a> {
    counter: i64,
    credential_id: Option<&'a [u8]>,
}

impl AuthenticatorData<'_> {
    fn parse<'a>(bytes: &'a [u8], party: &Party) -> Result<AuthenticatorData<'a>> {
        let cut = || Error::Unauthenticated("the passkey's answer is cut off; try again");
        let (party_hash, rest) = bytes.split_first_chunk::<32>().ok_or_else(cut)?;
        let (flags, rest) = rest.split_first().ok_or_else(cut)?;
        let (counter, rest) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
        if verify_slices_are_equal(party_hash, &Sha256::digest(party.id.as_bytes())).is_err() {
            return Err(Error::Unauthenticated("this passkey belongs to another site"));
        }
        if flags & PRESENT == 0 || flags & VERIFIED == 0 {
            return Err(Error::Unauthenticated(
                "the passkey did not check that it is you; unlock it with its code, finger or face",
            ));
        }
        let credential_id = if flags & HAS_CREDENTIAL == 0 {
            None
        } else {
            let (length, rest) =
                rest.get(16..).and_then(<[u8]>::split_first_chunk::<2>).ok_or_else(cut)?;
            let length = usize::from(u16::from_be_bytes(*length));
            Some(rest.get(..length).ok_or_else(cut)?)
        };
        Ok(AuthenticatorData { counter: u32::from_be_bytes(*counter).into(), credential_id })
    }
}

/// A credential that may be kept.
pub(super) struct Registered {
    pub(super) key: PublicKey,
    pub(super) counter: i64,
}

impl Registration {
    pub(super) fn verify(&self, challenge: &[u8], party: &Party) -> Result<Registered> {
        let response = &self.response;
        ClientData::parse(&response.client_data)?.check("webauthn.create", challenge, party)?;
        let data = AuthenticatorData::parse(&response.authenticator_data.0, party)?;
        if data.credential_id != Some(&self.id.0) || self.id.0.is_empty() {
            return Err(Error::Unauthenticated("the passkey's answer names another passkey"));
        }
        if self.id.0.len() > CREDENTIAL_ID_MAX {
            return Err(Error::Unauthenticated("the passkey's name is too long to be kept"));
        }
        let key = PublicKey::parse(&response.public_key.0)?;
        if key.algorithm() != response.public_key_algorithm {
            return Err(Error::Unauthenticated("the passkey's key is not of the kind it says"));
        }
        Ok(Registered { key, counter: data.counter })
    }
}

impl Assertion {
    /// Whether the holder of that key gave this answer; says how often the passkey was used.
    pub(super) fn verify(&self, challenge: &[u8], party: &Party, key: &PublicKey) -> Result<i64> {
        let response = &self.response;
        ClientData::parse(&response.client_data)?.check("webauthn.get", challenge, party)?;
        let data = AuthenticatorData::parse(&response.authenticator_data.0, party)?;
        let mut signed = response.authenticator_data.0.clone();
        signed.extend_from_slice(&Sha256::digest(&response.client_data.0));
        if !key.has_signed(&signed, &response.signature.0) {
            return Err(Error::Unauthenticated("the passkey's signature does not fit"));
        }
        Ok(data.counter)
    }
}
