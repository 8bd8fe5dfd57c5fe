//! Signatures by the Standard Webhooks specification: signing a delivery, and verifying one as its receiver.

use aws_lc_rs::hmac;
use base::{Entropy, Timestamp};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const PREFIX: &str = "whsec_";
const VERSION: &str = "v1,";
/// How far the clocks of sender and receiver may be apart. It also bounds for how long a message can be replayed.
const TOLERANCE_SECONDS: i64 = 300;

/// The secret that an endpoint and its receiver share: 32 random bytes, shown once when they are made.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret([u8; 32]);

impl SigningSecret {
    pub(crate) fn new(bytes: [u8; 32]) -> SigningSecret {
        SigningSecret(bytes)
    }

    pub(crate) fn generate(entropy: &Entropy) -> SigningSecret {
        SigningSecret(entropy.bytes())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The secret as its owner configures it in the receiver.
    pub(crate) fn text(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(self.0))
    }

    /// Reads the form that `text` writes.
    pub fn parse(text: &str) -> Option<SigningSecret> {
        let bytes = STANDARD.decode(text.trim().strip_prefix(PREFIX)?).ok()?;
        bytes.try_into().ok().map(SigningSecret)
    }
}

/// The HMAC-SHA256 over id, timestamp and body.
fn hmac(key: &[u8], id: &str, timestamp: i64, body: &[u8]) -> Vec<u8> {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    context.update(format!("{id}.{timestamp}.").as_bytes());
    context.update(body);
    context.sign().as_ref().to_vec()
}

/// The value of the `webhook-signature` header: one signature for each secret, newest first.
pub(crate) fn sign(secrets: &[SigningSecret], id: &str, at: Timestamp, body: &[u8]) -> String {
    let sign = |it: &SigningSecret| STANDARD.encode(hmac(&it.0, id, at.as_second(), body));
    let entries: Vec<String> = secrets.iter().map(|it| format!("{VERSION}{}", sign(it))).collect();
    entries.join(" ")
}

/// A received message: the three headers and the raw body.
pub struct SignedMessage<'a> {
    pub id: Option<&'a str>,
    pub timestamp: Option<&'a str>,
    pub signature: Option<&'a str>,
    pub body: &'a [u8],
}

/// Why a received message is not authentic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerificationError {
    #[error("the header {0} is missing")]
    Missing(&'static str),
    #[error("webhook-timestamp is not a number of seconds")]
    InvalidTimestamp,
    #[error("it was signed {0} seconds ago; more than {TOLERANCE_SECONDS} are not accepted")]
    TooOld(i64),
    #[error("it was signed {0} seconds in the future; check both clocks")]
    InFuture(i64),
    #[error("no signature matches a known secret")]
    WrongSignature,
}

/// Verifies that one of the secrets signed the message, and that it is recent.
pub fn verify(
    secrets: &[SigningSecret],
    it: &SignedMessage<'_>,
    now: Timestamp,
) -> Result<(), VerificationError> {
    let id = it.id.ok_or(VerificationError::Missing("webhook-id"))?;
    let timestamp = it.timestamp.ok_or(VerificationError::Missing("webhook-timestamp"))?;
    let signature = it.signature.ok_or(VerificationError::Missing("webhook-signature"))?;
    let at: i64 = timestamp.parse().map_err(|_| VerificationError::InvalidTimestamp)?;
    let age = now.as_second().saturating_sub(at);
    if age > TOLERANCE_SECONDS {
        return Err(VerificationError::TooOld(age));
    }
    if age < -TOLERANCE_SECONDS {
        return Err(VerificationError::InFuture(age.saturating_neg()));
    }
    let entries = signature.split_ascii_whitespace().filter_map(|it| it.strip_prefix(VERSION));
    let tags: Vec<Vec<u8>> = entries.filter_map(|it| STANDARD.decode(it).ok()).collect();
    let is_of = |secret: &SigningSecret| {
        let expected = hmac(&secret.0, id, at, it.body);
        let same = |tag: &Vec<u8>| {
            aws_lc_rs::constant_time::verify_slices_are_equal(tag, &expected).is_ok()
        };
        tags.iter().any(same)
    };
    if secrets.iter().any(is_of) { Ok(()) } else { Err(VerificationError::WrongSignature) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_vector_of_standard_webhooks_is_met() {
        let key = STANDARD.decode("C2FVsBQIhrscChlQIMV+b5sSYspob7oD").unwrap();
        let body = br#"{"email":"test@example.com","username":"test_user"}"#;
        let tag = hmac(&key, "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", 1_649_367_553, body);
        assert_eq!(STANDARD.encode(tag), "tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=");
    }

    #[test]
    fn a_signed_message_verifies_until_it_is_old_or_changed() {
        let entropy = Entropy::seeded(1);
        let (old, new) = (SigningSecret::generate(&entropy), SigningSecret::generate(&entropy));
        let at: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        let both = sign(&[new.clone(), old.clone()], "evt_1", at, b"{}");
        let second = at.as_second().to_string();
        let signed = |signature, body| SignedMessage {
            id: Some("evt_1"),
            timestamp: Some(second.as_str()),
            signature: Some(signature),
            body,
        };
        let later = |seconds: i64| Timestamp::from_second(at.as_second() + seconds).unwrap();
        for known in [&old, &new] {
            let known = SigningSecret::parse(&known.text()).unwrap();
            let known = std::slice::from_ref(&known);
            let good = signed(&both, b"{}");
            assert_eq!(verify(known, &good, later(300)), Ok(()));
            assert_eq!(verify(known, &good, later(-300)), Ok(()));
            assert_eq!(verify(known, &good, later(301)), Err(VerificationError::TooOld(301)));
            assert_eq!(verify(known, &good, later(-301)), Err(VerificationError::InFuture(301)));
            assert_eq!(
                verify(known, &signed(&both, b"{ }"), at),
                Err(VerificationError::WrongSignature)
            );
        }
        let other = SigningSecret::generate(&entropy);
        assert_eq!(
            verify(&[other], &signed(&both, b"{}"), at),
            Err(VerificationError::WrongSignature)
        );
        assert_eq!(verify(&[], &signed(&both, b"{}"), at), Err(VerificationError::WrongSignature));
        let first = both.split(' ').next().unwrap();
        for bad in ["", "v1", "v1,", "v1,!", &first[3..], &first.replace("v1", "v2")] {
            let known = std::slice::from_ref(&new);
            assert_eq!(
                verify(known, &signed(bad, b"{}"), at),
                Err(VerificationError::WrongSignature),
                "{bad}"
            );
        }
    }

    #[test]
    fn the_error_names_the_header_that_is_missing() {
        let nothing = SignedMessage { id: None, timestamp: None, signature: None, body: b"" };
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(verify(&[], &nothing, now), Err(VerificationError::Missing("webhook-id")));
        let message = SignedMessage { id: Some("evt_1"), timestamp: Some("soon"), ..nothing };
        assert_eq!(
            verify(&[], &message, now),
            Err(VerificationError::Missing("webhook-signature"))
        );
        let message = SignedMessage { signature: Some("v1,"), ..message };
        assert_eq!(verify(&[], &message, now), Err(VerificationError::InvalidTimestamp));
    }

    #[test]
    fn malformed_secrets_are_refused() {
        for bad in ["", "whsec_", "whsec_AAAA", "AAAA", "whsec_!!!!"] {
            assert!(SigningSecret::parse(bad).is_none(), "{bad}");
        }
    }
}
