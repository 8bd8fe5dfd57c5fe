//! Encryption of backups with a passphrase, in the format of age (https://age-encryption.org/v1), so that the program
//! `age` can decrypt them without Evenkeel.
//!
//! A header holds the key of the file, encrypted with a key that scrypt derives from the passphrase. The content follows
//! in chunks of 64 KiB. The last chunk is marked, so that a truncated file is detected.

use std::io::{self, BufRead, Read, Write};

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::hmac;
use base::Entropy;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::refused;
use crate::{Error, Result};

/// The first line of an encrypted file.
pub(super) const FIRST_LINE: &str = "age-encryption.org/v1";
const SALT_LABEL: &str = "age-encryption.org/v1/scrypt";
/// The work of scrypt for a new file, as a power of two: 128 MiB of memory, and a third of a second.
const LOG_N: u8 = 17;
/// The most work that is done for a file that is read: 1 GiB of memory.
const LOG_N_MAX: u8 = 20;
const CHUNK: usize = 64 * 1_024;
const TAG: usize = 16;
/// Lines of the header are shorter. The limit keeps a file without line ends from filling the memory.
const LINE_MAX: u64 = 512;

/// Encrypts what is written to it. `finish` writes the last chunk; without it the file counts as truncated.
pub struct Encryptor<W: Write> {
    output: W,
    key: LessSafeKey,
    chunk: Vec<u8>,
    chunks_sealed: u64,
}

impl<W: Write> Encryptor<W> {
    pub fn new(output: W, passphrase: &str, entropy: &Entropy) -> Result<Encryptor<W>> {
        Encryptor::with_work(output, passphrase, entropy, LOG_N)
    }

    fn with_work(
        mut output: W,
        passphrase: &str,
        entropy: &Entropy,
        log_n: u8,
    ) -> Result<Encryptor<W>> {
        let (file_key, salt, nonce): ([u8; 16], [u8; 16], [u8; 16]) =
            (entropy.bytes(), entropy.bytes(), entropy.bytes());
        let mut wrapped = file_key.to_vec();
        let wrapping_key = aead_key(&stretch(passphrase, &salt, log_n)?)?;
        seal(&wrapping_key, Nonce::assume_unique_for_key([0; 12]), &mut wrapped)?;
        let header = format!(
            "{FIRST_LINE}\n-> scrypt {} {log_n}\n{}\n---",
            STANDARD_NO_PAD.encode(salt),
            STANDARD_NO_PAD.encode(wrapped)
        );
        let mac = hmac::sign(&header_key(&file_key), header.as_bytes());
        let header = format!("{header} {}\n", STANDARD_NO_PAD.encode(mac.as_ref()));
        output.write_all(header.as_bytes()).map_err(super::unwritable)?;
        output.write_all(&nonce).map_err(super::unwritable)?;
        let key = aead_key(&derive(&file_key, &nonce, "payload"))?;
        Ok(Encryptor { output, key, chunk: Vec::with_capacity(CHUNK + TAG), chunks_sealed: 0 })
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
    /// Reads the header, and derives the key from the passphrase.
    pub(super) fn new(mut input: R, passphrase: &str) -> Result<Decryptor<R>> {
        let first = header_line(&mut input)?;
        let stanza = header_line(&mut input)?;
        let wrapped = header_line(&mut input)?;
        let last = header_line(&mut input)?;
        let parts: Vec<&str> = stanza.split(' ').collect();
        let ["->", "scrypt", salt, log_n] = parts[..] else {
            return Err(refused(
                "the backup is encrypted for a key, not with a passphrase; decrypt it with `age --decrypt` first",
            ));
        };
        let log_n: u8 = log_n.parse().map_err(|_| bad_header())?;
        if !(1..=LOG_N_MAX).contains(&log_n) {
            return Err(refused(
                "the backup's passphrase needs more memory than allowed; decrypt it with `age --decrypt` first",
            ));
        }
        let file_key = unwrap_key(passphrase, &decode(salt)?, log_n, &decode(&wrapped)?)?;
        let mac = decode(last.strip_prefix("--- ").ok_or_else(bad_header)?)?;
        let authenticated = format!("{first}\n{stanza}\n{wrapped}\n---");
        hmac::verify(&header_key(&file_key), authenticated.as_bytes(), &mac)
            .map_err(|_| bad_header())?;
        let mut nonce = [0; 16];
        input.read_exact(&mut nonce).map_err(|_| bad_header())?;
        let key = aead_key(&derive(&file_key, &nonce, "payload"))?;
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

fn header_line(input: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    let read = input.take(LINE_MAX).read_line(&mut line);
    read.map_err(|_| bad_header())?;
    Ok(line.strip_suffix('\n').ok_or_else(bad_header)?.to_owned())
}

fn decode(text: &str) -> Result<Vec<u8>> {
    STANDARD_NO_PAD.decode(text).map_err(|_| bad_header())
}

fn unwrap_key(passphrase: &str, salt: &[u8], log_n: u8, wrapped: &[u8]) -> Result<[u8; 16]> {
    let mut wrapped = wrapped.to_vec();
    let wrapping_key = aead_key(&stretch(passphrase, salt, log_n)?)?;
    let nonce = Nonce::assume_unique_for_key([0; 12]);
    let opened = wrapping_key.open_in_place(nonce, Aad::empty(), &mut wrapped);
    let opened = opened.map_err(|_| {
        refused(
            "the backup was encrypted with another passphrase; set backups.passphrase to the one of that time",
        )
    })?;
    <[u8; 16]>::try_from(&*opened).map_err(|_| bad_header())
}

fn bad_header() -> Error {
    refused("the head of the encrypted backup is damaged; use another copy")
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

/// HKDF with SHA-256 for one block of output.
fn derive(key: &[u8], salt: &[u8], info: &str) -> [u8; 32] {
    let sign = |key: &[u8], data: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), data);
    let extracted = sign(salt, key);
    let expanded = sign(extracted.as_ref(), &[info.as_bytes(), &[1]].concat());
    let mut derived = [0; 32];
    derived.copy_from_slice(expanded.as_ref());
    derived
}

/// The key that authenticates the header. Its salt is empty, which HMAC fills up with zeros.
fn header_key(file_key: &[u8; 16]) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, &derive(file_key, &[0; 32], "header"))
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Little work, so that the tests are quick.
    fn encrypt(content: &[u8], passphrase: &str) -> Vec<u8> {
        let entropy = Entropy::seeded(1);
        let mut encryptor = Encryptor::with_work(Vec::new(), passphrase, &entropy, 2).unwrap();
        encryptor.write_all(content).unwrap();
        encryptor.finish().unwrap()
    }

    fn decrypt(file: &[u8], passphrase: &str) -> Option<Vec<u8>> {
        let mut content = Vec::new();
        Decryptor::new(file, passphrase).ok()?.read_to_end(&mut content).ok()?;
        Some(content)
    }

    #[test]
    fn files_of_every_length_survive_and_any_cut_is_found() {
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 5] {
            let content: Vec<u8> = (0..length).map(|it| it as u8).collect();
            let file = encrypt(&content, "correct horse");
            assert_eq!(decrypt(&file, "correct horse"), Some(content), "{length}");
            // Also a cut between two chunks, where every chunk that is left is whole.
            let header = file.len() - 16 - length - TAG * length.div_ceil(CHUNK).max(1);
            for cut in [file.len() - 1, header + 16 + CHUNK + TAG, header + 16, header, 30] {
                if cut < file.len() {
                    assert_eq!(decrypt(&file[..cut], "correct horse"), None, "{length}, {cut}");
                }
            }
        }
    }

    #[test]
    fn another_passphrase_and_a_file_for_a_key_are_refused_with_advice() {
        let file = encrypt(b"content", "correct horse");
        let error = |file: &[u8]| match Decryptor::new(file, "wrong horse") {
            Ok(_) => panic!("the file was opened"),
            Err(error) => error.to_string(),
        };
        assert!(error(&file).contains("another passphrase"), "{}", error(&file));
        let other = b"age-encryption.org/v1\n-> X25519 abc\nabc\n--- abc\n";
        assert!(error(other).contains("age --decrypt"), "{}", error(other));
    }

    /// Written by the program `age` 1.1.1 for the content "hello" and a line end.
    #[test]
    fn a_file_of_age_is_read() {
        let file = STANDARD_NO_PAD.decode(FILE_OF_AGE).unwrap();
        assert_eq!(decrypt(&file, "correct horse battery"), Some(b"hello\n".to_vec()));
    }

    const FILE_OF_AGE: &str = "\
        YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBpK1lQY3NabVIyOHdjV2xLVSt1L3dnIDE4CmRwZy81MzJYUH\
        l2YUNOTWhuVXRzSTdQNmhXZFhRZ04rSUNrMUZQU0FDeUUKLS0tIG9sUFVIclh6TkZCNXlHMTZyWnFnMGRWMW03MVE3\
        RFlXcGRVbVhNWS9VYVUKPrXCNEWF68e4i+/jvqaC7VvDnHd2Q2WXRkE2LJ9CAtQrLqrBMZA";

    proptest! {
        #[test]
        fn a_changed_byte_is_found(at in 0_usize..1_000, bit in 0_u32..8, content: Vec<u8>) {
            let mut file = encrypt(&content, "p");
            let at = at % file.len();
            file[at] ^= 1 << bit;
            prop_assert_ne!(decrypt(&file, "p"), Some(content));
        }

        #[test]
        fn any_bytes_cause_no_panic(bytes: Vec<u8>) {
            prop_assert_eq!(decrypt(&bytes, "p"), None);
        }
    }
}
