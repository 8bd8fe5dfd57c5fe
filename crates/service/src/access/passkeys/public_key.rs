//! Public keys of passkeys (SubjectPublicKeyInfo) of three algorithms.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256,
    VerificationAlgorithm,
};

use crate::{Error, Result};

/// The COSE numbers of the supported algorithms, preferred first.
pub(super) const ALGORITHMS: [i64; 3] = [ES256, EDDSA, RS256];
const ES256: i64 = -7;
const EDDSA: i64 = -8;
const RS256: i64 = -257;

/// The first bytes of a key, which identify its algorithm. All P-256 keys begin with the same bytes, as do all Ed25519
/// keys. RSA keys differ in length, so only the algorithm identifier behind the length is compared.
const P256: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
];
const CURVE_25519: &[u8] =
    &[0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const RSA: &[u8] = &[
    0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00, 0x03,
    0x82,
];
/// The longest key in bytes. An RSA key of 8,192 bits has about 1,050.
const LENGTH_MAX: usize = 2_048;

pub(super) struct PublicKey {
    algorithm: i64,
    parsed: ParsedPublicKey,
    bytes: Vec<u8>,
}

impl PublicKey {
    pub(super) fn parse(bytes: &[u8]) -> Result<PublicKey> {
        let unknown =
            || Error::Unauthenticated("the passkey uses an algorithm that is not supported");
        let algorithm = algorithm_of(bytes).ok_or_else(unknown)?;
        let parsed = ParsedPublicKey::new(verification(algorithm), bytes).map_err(|_| unknown())?;
        Ok(PublicKey { algorithm, parsed, bytes: bytes.to_vec() })
    }

    pub(super) fn algorithm(&self) -> i64 {
        self.algorithm
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        self.parsed.verify_sig(message, signature).is_ok()
    }
}

fn algorithm_of(bytes: &[u8]) -> Option<i64> {
    if bytes.len() > LENGTH_MAX {
        None
    } else if bytes.starts_with(P256) {
        Some(ES256)
    } else if bytes.starts_with(CURVE_25519) {
        Some(EDDSA)
    } else if bytes.starts_with(&[0x30, 0x82]) && bytes.get(4..)?.starts_with(RSA) {
        Some(RS256)
    } else {
        None
    }
}

fn verification(algorithm: i64) -> &'static dyn VerificationAlgorithm {
    match algorithm {
        ES256 => &ECDSA_P256_SHA256_ASN1,
        EDDSA => &ED25519,
        _ => &RSA_PKCS1_2048_8192_SHA256,
    }
}
