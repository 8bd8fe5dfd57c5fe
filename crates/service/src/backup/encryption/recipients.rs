//! A file's key that the secret key of a recipient opens. The server knows only the public key, so whoever takes over the
//! server cannot read its backups.

use std::str::FromStr;

use aws_lc_rs::agreement::{PrivateKey, UnparsedPublicKey, X25519, agree};
use base::Entropy;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bech32::Bech32;
use bech32::primitives::decode::CheckedHrpstring;

use super::header::{Stanza, decode};
use super::{FileKey, derive, refused, unwrap_key, wrap_key};
use crate::{Error, Result};

pub(super) const KIND: &str = "X25519";
const LABEL: &str = "age-encryption.org/v1/X25519";
/// How a public key begins, before the 1 that ends this part.
const PUBLIC: &str = "age";
const SECRET: &str = "age-secret-key-";

/// The public key of somebody who can open backups, such as `age-keygen` prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient([u8; 32]);

#[cfg(test)]
impl Recipient {
    pub(super) fn of_bytes(bytes: [u8; 32]) -> Recipient {
        Recipient(bytes)
    }
}

impl FromStr for Recipient {
    type Err = Error;

    fn from_str(text: &str) -> Result<Recipient> {
        decode_key(text, PUBLIC).map(Recipient).ok_or_else(|| {
            refused(format!(
                "{text} is not a public key of age, such as `age-keygen` prints: age1..."
            ))
        })
    }
}

/// The secret key of a recipient. The type has no `Debug`, so that it is never logged.
#[derive(Clone)]
pub struct Identity([u8; 32]);

impl Identity {
    /// Reads the secret keys in a file as `age-keygen` writes it: a key a line, and comments that begin with `#`.
    pub fn parse_file(text: &str) -> Result<Vec<Identity>> {
        let lines = text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'));
        let key = |line: &str| {
            decode_key(line, SECRET).map(Identity).ok_or_else(|| {
                refused("a line is not a secret key of age, such as `age-keygen` writes: AGE-SECRET-KEY-1...")
            })
        };
        lines.map(key).collect()
    }

    fn public(&self) -> Option<[u8; 32]> {
        let public = private_key(&self.0)?.compute_public_key().ok()?;
        <[u8; 32]>::try_from(public.as_ref()).ok()
    }
}

fn decode_key(text: &str, kind: &str) -> Option<[u8; 32]> {
    let parsed = CheckedHrpstring::new::<Bech32>(text.trim()).ok()?;
    if !parsed.hrp().as_str().eq_ignore_ascii_case(kind) {
        return None;
    }
    <[u8; 32]>::try_from(parsed.byte_iter().collect::<Vec<u8>>()).ok()
}

pub(super) fn wrap(file_key: &FileKey, recipient: &Recipient, entropy: &Entropy) -> Result<Stanza> {
    let unusable = || refused("a public key in backups.recipients cannot be used");
    let ours = Identity(entropy.bytes());
    let share = ours.public().ok_or_else(unusable)?;
    let key = shared_key(&ours, &recipient.0, (&share, &recipient.0)).ok_or_else(unusable)?;
    let arguments = vec![KIND.to_owned(), STANDARD_NO_PAD.encode(share)];
    Ok(Stanza { arguments, body: wrap_key(file_key, &key)? })
}

/// The file's key, if the stanza is for this secret key.
pub(super) fn unwrap(stanza: &Stanza, identity: &Identity) -> Option<FileKey> {
    let [_, share] = &stanza.arguments[..] else { return None };
    let share = <[u8; 32]>::try_from(decode(share).ok()?).ok()?;
    let key = shared_key(identity, &share, (&share, &identity.public()?))?;
    unwrap_key(&stanza.body, &key)
}

/// The key that both sides derive: from one side's secret key, the other's public key, and the two public keys.
fn shared_key(
    mine: &Identity,
    theirs: &[u8; 32],
    (share, recipient): (&[u8; 32], &[u8; 32]),
) -> Option<[u8; 32]> {
    let salt = [&share[..], &recipient[..]].concat();
    let theirs = UnparsedPublicKey::new(&X25519, theirs);
    agree(&private_key(&mine.0)?, theirs, (), |secret| Ok(derive(secret, &salt, LABEL))).ok()
}

fn private_key(bytes: &[u8; 32]) -> Option<PrivateKey> {
    PrivateKey::from_private_key(&X25519, bytes).ok()
}
