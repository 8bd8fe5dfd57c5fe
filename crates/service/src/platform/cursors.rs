//! Cursors for paging through lists. They are encrypted, so that a client cannot read, forge or reuse one for another
//! list.

use base::{Entropy, Timestamp, UserId};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead as _, KeyInit as _};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sha2::{Digest as _, Sha256};

use crate::platform::installation::Key;
use crate::{Error, Result};

const LIFE_SECONDS: i64 = 24 * 3600;
const VERSION: u8 = 1;
/// XChaCha20's nonce, long enough to be random. aws-lc-rs has only ChaCha20 with 12 bytes.
const NONCE: usize = 24;
/// The longest text that is decoded; real cursors are shorter.
const TEXT_MAX: usize = 512;

/// The requested page of a list.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    pub cursor: Option<&'a str>,
    pub limit: usize,
}

pub const LIMIT_DEFAULT: usize = 50;
pub const LIMIT_MAX: usize = 100;

/// Encrypts and decrypts cursors.
pub struct CursorCipher {
    cipher: XChaCha20Poly1305,
}

/// The person, list and filter that a cursor is bound to. It is refused for any other.
pub struct CursorScope<'a> {
    pub user: UserId,
    pub list: &'static str,
    /// A text that is different for different filters.
    pub filter: &'a str,
}

impl CursorCipher {
    pub fn new(key: &Key) -> CursorCipher {
        CursorCipher { cipher: XChaCha20Poly1305::new(&key.derive("cursors").into()) }
    }

    pub fn seal(
        &self,
        scope: &CursorScope<'_>,
        now: Timestamp,
        entropy: &Entropy,
        position: &[u8],
    ) -> Result<String> {
        let mut plain = Vec::with_capacity(64);
        plain.push(VERSION);
        plain.extend_from_slice(&now.as_second().to_be_bytes());
        plain.extend_from_slice(&digest(scope));
        plain.extend_from_slice(position);
        let nonce: [u8; NONCE] = entropy.bytes();
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), plain.as_slice());
        let sealed = sealed.map_err(|_| Error::internal("a cursor could not be encrypted"))?;
        Ok(URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat()))
    }

    /// The position in the list that a cursor stands for, if it is valid, not expired, and of this list.
    pub fn open(&self, scope: &CursorScope<'_>, now: Timestamp, cursor: &str) -> Result<Vec<u8>> {
        let is_fresh = |issued: i64| now.as_second() - issued < LIFE_SECONDS;
        self.try_open(scope, is_fresh, cursor).ok_or_else(refused)
    }

    /// Like `open`, for a cursor that does not expire.
    pub fn open_lasting(&self, scope: &CursorScope<'_>, cursor: &str) -> Result<Vec<u8>> {
        self.try_open(scope, |_| true, cursor).ok_or_else(refused)
    }

    fn try_open(
        &self,
        scope: &CursorScope<'_>,
        is_fresh: impl Fn(i64) -> bool,
        cursor: &str,
    ) -> Option<Vec<u8>> {
        if cursor.len() > TEXT_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE)?;
        let nonce = XNonce::from(<[u8; NONCE]>::try_from(nonce).ok()?);
        let plain = self.cipher.decrypt(&nonce, sealed).ok()?;
        let (version, rest) = plain.split_first()?;
        let (issued, rest) = rest.split_at_checked(8)?;
        let (bound_to, position) = rest.split_at_checked(16)?;
        let issued = i64::from_be_bytes(issued.try_into().ok()?);
        let is_valid = *version == VERSION && bound_to == digest(scope) && is_fresh(issued);
        is_valid.then(|| position.to_vec())
    }
}

/// The error for a cursor that is not valid here.
pub(crate) fn refused() -> Error {
    Error::invalid(
        "cursor",
        "invalid or expired cursor: start again without it, and keep the filters the same between pages",
    )
}

fn digest(scope: &CursorScope<'_>) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(scope.user.as_bytes());
    hash.update(scope.list.as_bytes());
    hash.update([0]);
    hash.update(scope.filter.as_bytes());
    let full: [u8; 32] = hash.finalize().into();
    let mut short = [0; 16];
    short.copy_from_slice(&full[..16]);
    short
}
