//! A file's key that a passphrase opens: scrypt derives the key that encrypts it.

use base::Entropy;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::header::{Stanza, damaged, decode};
use super::{FileKey, refused, unwrap_key, wrap_key};
use crate::{Error, Result};

pub(super) const KIND: &str = "scrypt";
const SALT_LABEL: &str = "age-encryption.org/v1/scrypt";
/// The work of scrypt for a new file, as a power of two: 128 MiB of memory, and a third of a second.
pub(super) const LOG_N: u8 = 17;
/// The most work that is done for a file that is read: 1 GiB of memory.
const LOG_N_MAX: u8 = 20;

pub(super) fn wrap(
    file_key: &FileKey,
    passphrase: &str,
    entropy: &Entropy,
    log_n: u8,
) -> Result<Stanza> {
    let salt: [u8; 16] = entropy.bytes();
    let body = wrap_key(file_key, &stretch(passphrase, &salt, log_n)?)?;
    let arguments = vec![KIND.to_owned(), STANDARD_NO_PAD.encode(salt), log_n.to_string()];
    Ok(Stanza { arguments, body })
}

pub(super) fn unwrap(stanza: &Stanza, passphrase: &str) -> Result<FileKey> {
    let [_, salt, log_n] = &stanza.arguments[..] else { return Err(damaged()) };
    let log_n: u8 = log_n.parse().map_err(|_| damaged())?;
    if !(1..=LOG_N_MAX).contains(&log_n) {
        return Err(refused(
            "the backup's passphrase needs more memory than allowed; decrypt it with `age --decrypt` first",
        ));
    }
    unwrap_key(&stanza.body, &stretch(passphrase, &decode(salt)?, log_n)?).ok_or_else(|| {
        refused(
            "the backup was encrypted with another passphrase; set backups.passphrase to the one of that time",
        )
    })
}

/// The key that scrypt makes of the passphrase.
fn stretch(passphrase: &str, salt: &[u8], log_n: u8) -> Result<[u8; 32]> {
    let failed = |error: &dyn std::error::Error| Error::internal(error.to_string());
    let params = scrypt::Params::new(log_n, 8, 1).map_err(|error| failed(&error))?;
    let salt = [SALT_LABEL.as_bytes(), salt].concat();
    let mut key = [0; 32];
    scrypt::scrypt(passphrase.as_bytes(), &salt, &params, &mut key)
        .map_err(|error| failed(&error))?;
    Ok(key)
}
