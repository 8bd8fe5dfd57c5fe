//! Encryption of backups with a passphrase or for recipients, in the format of age (https://age-encryption.org/v1), so that
//! the program `age` can decrypt them without Evenkeel.
//!
//! A header holds the key of the file, encrypted once for each way to open it. The content follows in chunks of 64 KiB.
//! The last chunk is marked, so that a truncated file is detected.

mod header;
mod passphrase;
mod recipients;

use std::io::{self, BufRead, Read, Write};

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::hmac;
use base::Entropy;

use super::refused;
use crate::{Error, Result};
use header::{Header, damaged};

pub use recipients::{Identity, Recipient};

/// The first line of an encrypted file.
pub(super) const FIRST_LINE: &str = "age-encryption.org/v1";
const CHUNK: usize = 64 * 1_024;
const TAG: usize = 16;

/// How new backups are encrypted. The type has no `Debug`, so that the passphrase is never logged.
#[derive(Clone)]
pub enum Encryption {
    Passphrase(String),
    /// Each of them can open the file. There is at least one.
    Recipients(Vec<Recipient>),
}

/// What opens encrypted backups.
#[derive(Clone, Default)]
pub struct Secrets {
    pub passphrase: Option<String>,
    pub identities: Vec<Identity>,
}

/// The key of one file.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct FileKey([u8; 16]);

/// Encrypts what is written to it. `finish` writes the last chunk; without it the file counts as truncated.
pub struct Encryptor<W: Write> {
    output: W,
    file_key: FileKey,
    key: LessSafeKey,
    chunk: Vec<u8>,
    chunks_sealed: u64,
}

impl<W: Write> Encryptor<W> {
    pub fn new(output: W, encryption: &Encryption, entropy: &Entropy) -> Result<Encryptor<W>> {
        let file_key = FileKey(entropy.bytes());
        let stanzas = match encryption {
            Encryption::Passphrase(it) => {
                vec![passphrase::wrap(&file_key, it, entropy, passphrase::LOG_N)?]
            }
            Encryption::Recipients(them) => {
                let wrap = |it| recipients::wrap(&file_key, it, entropy);
                them.iter().map(wrap).collect::<Result<_>>()?
            }
        };
        Encryptor::with_header(output, file_key, &stanzas, entropy)
    }

    fn with_header(
        mut output: W,
        file_key: FileKey,
        stanzas: &[header::Stanza],
        entropy: &Entropy,
    ) -> Result<Encryptor<W>> {
        let nonce: [u8; 16] = entropy.bytes();
        let header = header::write(stanzas, &file_key);
        output.write_all(header.as_bytes()).map_err(super::unwritable)?;
        output.write_all(&nonce).map_err(super::unwritable)?;
        let key = aead_key(&derive(&file_key.0, &nonce, "payload"))?;
        let chunk = Vec::with_capacity(CHUNK + TAG);
        Ok(Encryptor { output, file_key, key, chunk, chunks_sealed: 0 })
    }

    /// The key of the file, for reading it back: its recipients' secret keys are elsewhere.
    pub(super) fn file_key(&self) -> FileKey {
        self.file_key.clone()
    }

    pub fn finish(mut self) -> io::Result<W> {
        self.write_chunk(true)?;
        Ok(self.output)
    }

    fn write_chunk(&mut self, is_last: bool) -> io::Result<()> {
        let nonce = chunk_nonce(self.chunks_sealed, is_last);
        seal(&self.key, nonce, &mut self.chunk).map_err(io::Error::other)?;
        self.output.write_all(&self.chunk)?;
        self.chunk.clear();
        self.chunks_sealed += 1;
        Ok(())
    }
}

impl<W: Write> Write for Encryptor<W> {
    /// A full chunk is written when more follows, so that the last one is never empty.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.chunk.len() == CHUNK && !bytes.is_empty() {
            self.write_chunk(false)?;
        }
        let count = bytes.len().min(CHUNK - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Decrypts what is read from it. Nothing of a changed or truncated chunk is returned.
pub(super) struct Decryptor<R: BufRead> {
    input: R,
    key: LessSafeKey,
    chunk: Vec<u8>,
    /// How much of the chunk has been returned.
    returned: usize,
    chunks_opened: u64,
    is_over: bool,
}

impl<R: BufRead> Decryptor<R> {
    /// Reads the header, and finds a secret that opens it.
    pub(super) fn new(mut input: R, secrets: &Secrets) -> Result<Decryptor<R>> {
        let header = Header::read(&mut input)?;
        let file_key = open_header(&header, secrets)?;
        Decryptor::with_key(input, &header, &file_key)
    }

    /// Reads a file whose key is known.
    pub(super) fn with_file_key(mut input: R, file_key: &FileKey) -> Result<Decryptor<R>> {
        let header = Header::read(&mut input)?;
        Decryptor::with_key(input, &header, file_key)
    }

    fn with_key(mut input: R, header: &Header, file_key: &FileKey) -> Result<Decryptor<R>> {
        header.verify(file_key)?;
        let mut nonce = [0; 16];
        input.read_exact(&mut nonce).map_err(|_| damaged())?;
        let key = aead_key(&derive(&file_key.0, &nonce, "payload"))?;
        let chunk = Vec::new();
        Ok(Decryptor { input, key, chunk, returned: 0, chunks_opened: 0, is_over: false })
    }

    fn read_chunk(&mut self) -> io::Result<()> {
        self.chunk.clear();
        self.returned = 0;
        self.input.by_ref().take((CHUNK + TAG) as u64).read_to_end(&mut self.chunk)?;
        self.is_over = self.input.fill_buf()?.is_empty();
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a chunk is damaged");
        let nonce = chunk_nonce(self.chunks_opened, self.is_over);
        let opened = self.key.open_in_place(nonce, Aad::empty(), &mut self.chunk);
        let length = opened.map_err(|_| damaged())?.len();
        if length == 0 && self.chunks_opened > 0 {
            return Err(damaged());
        }
        self.chunk.truncate(length);
        self.chunks_opened += 1;
        Ok(())
    }
}

impl<R: BufRead> Read for Decryptor<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.returned == self.chunk.len() && !self.is_over {
            self.read_chunk()?;
        }
        let left = &self.chunk[self.returned..];
        let count = left.len().min(out.len());
        out[..count].copy_from_slice(&left[..count]);
        self.returned += count;
        Ok(count)
    }
}

fn open_header(header: &Header, secrets: &Secrets) -> Result<FileKey> {
    let of_kind = |kind: &'static str| {
        header.stanzas.iter().filter(move |it| it.arguments.first().is_some_and(|it| it == kind))
    };
    if let Some(stanza) = of_kind(passphrase::KIND).next() {
        // A second stanza beside a passphrase would let somebody who knows the passphrase pretend to be someone else.
        if header.stanzas.len() > 1 {
            return Err(damaged());
        }
        let Some(passphrase) = &secrets.passphrase else {
            return Err(refused(
                "the backup is encrypted; set backups.passphrase, such as with EVENKEEL_BACKUPS__PASSPHRASE_FILE",
            ));
        };
        return passphrase::unwrap(stanza, passphrase);
    }
    let mut found = secrets.identities.iter().flat_map(|identity| {
        of_kind(recipients::KIND).filter_map(move |stanza| recipients::unwrap(stanza, identity))
    });
    found.next().ok_or_else(|| {
        refused(if secrets.identities.is_empty() {
            "the backup is encrypted for a public key; set backups.identity to its secret key, such as with \
             EVENKEEL_BACKUPS__IDENTITY_FILE"
        } else {
            "the backup is encrypted for other public keys; set backups.identity to the secret key of one of them, or \
             decrypt it with `age --decrypt` first"
        })
    })
}

/// Encrypts a file's key with another key, which is used only once.
fn wrap_key(file_key: &FileKey, key: &[u8; 32]) -> Result<Vec<u8>> {
    let mut wrapped = file_key.0.to_vec();
    seal(&aead_key(key)?, Nonce::assume_unique_for_key([0; 12]), &mut wrapped)?;
    Ok(wrapped)
}

/// The file's key, or none if it was encrypted with another key.
fn unwrap_key(wrapped: &[u8], key: &[u8; 32]) -> Option<FileKey> {
    let (mut wrapped, nonce) = (wrapped.to_vec(), Nonce::assume_unique_for_key([0; 12]));
    let opened = aead_key(key).ok()?.open_in_place(nonce, Aad::empty(), &mut wrapped).ok()?;
    <[u8; 16]>::try_from(&*opened).ok().map(FileKey)
}

/// HKDF with SHA-256 for one block of output.
fn derive(key: &[u8], salt: &[u8], info: &str) -> [u8; 32] {
    let sign = |key: &[u8], data: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), data);
    let extracted = sign(salt, key);
    let expanded = sign(extracted.as_ref(), &[info.as_bytes(), &[1]].concat());
    let mut derived = [0; 32];
    derived.copy_from_slice(expanded.as_ref());
    derived
}

fn aead_key(key: &[u8; 32]) -> Result<LessSafeKey> {
    let key = UnboundKey::new(&CHACHA20_POLY1305, key);
    Ok(LessSafeKey::new(key.map_err(|_| Error::internal("the length of a key is wrong"))?))
}

fn seal(key: &LessSafeKey, nonce: Nonce, content: &mut Vec<u8>) -> Result<()> {
    let sealed = key.seal_in_place_append_tag(nonce, Aad::empty(), content);
    sealed.map_err(|_| Error::internal("a part of the backup cannot be encrypted"))
}

/// The number of the chunk, and whether it is the last.
fn chunk_nonce(number: u64, is_last: bool) -> Nonce {
    let mut nonce = [0; 12];
    nonce[3..11].copy_from_slice(&number.to_be_bytes());
    nonce[11] = u8::from(is_last);
    Nonce::assume_unique_for_key(nonce)
}

#[cfg(test)]
mod tests;
