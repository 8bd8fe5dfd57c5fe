//! Files of backups: plain or encrypted.

use std::io::{self, BufRead as _, BufReader, Read, Write};

use base::Entropy;

use super::encryption::{Decryptor, Encryption, Encryptor, FIRST_LINE, FileKey, Secrets};
use super::refused;
use crate::Result;

/// A file or an upload that a backup is written to.
pub enum Output<W: Write> {
    Plain(W),
    Encrypted(Box<Encryptor<W>>),
}

impl<W: Write> Output<W> {
    /// Deriving the key from a passphrase takes a moment of CPU time.
    pub fn new(output: W, encryption: Option<&Encryption>, entropy: &Entropy) -> Result<Output<W>> {
        Ok(match encryption {
            None => Output::Plain(output),
            Some(it) => Output::Encrypted(Box::new(Encryptor::new(output, it, entropy)?)),
        })
    }

    /// What opens the file that was written, for reading it back.
    pub(super) fn opener(&self, encryption: Option<&Encryption>) -> Opener {
        match (self, encryption) {
            // The passphrase itself, so that reading back shows that it opens the file.
            (_, Some(Encryption::Passphrase(it))) => {
                Opener::Secrets(Secrets { passphrase: Some(it.clone()), ..Secrets::default() })
            }
            (Output::Encrypted(encryptor), _) => Opener::FileKey(encryptor.file_key()),
            (Output::Plain(_), _) => Opener::Secrets(Secrets::default()),
        }
    }

    /// Writes what is left.
    pub fn finish(self) -> io::Result<W> {
        match self {
            Output::Plain(output) => Ok(output),
            Output::Encrypted(encryptor) => encryptor.finish(),
        }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Plain(output) => output.write(bytes),
            Output::Encrypted(encryptor) => encryptor.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Plain(output) => output.flush(),
            Output::Encrypted(encryptor) => encryptor.flush(),
        }
    }
}

/// What an encrypted backup is opened with.
pub(super) enum Opener {
    Secrets(Secrets),
    FileKey(FileKey),
}

/// Opens a backup for reading, and decrypts it if it is encrypted.
pub fn open(input: impl Read + Send + 'static, secrets: &Secrets) -> Result<Box<dyn Read + Send>> {
    match plain_or_encrypted(input)? {
        (input, false) => Ok(Box::new(input)),
        (input, true) => Ok(Box::new(Decryptor::new(input, secrets)?)),
    }
}

/// Opens a backup that was just written.
pub(super) fn open_with(
    input: impl Read + Send + 'static,
    opener: &Opener,
) -> Result<Box<dyn Read + Send>> {
    match opener {
        Opener::Secrets(secrets) => open(input, secrets),
        Opener::FileKey(key) => {
            Ok(Box::new(Decryptor::with_file_key(plain_or_encrypted(input)?.0, key)?))
        }
    }
}

/// The content, and whether it is encrypted.
fn plain_or_encrypted<R: Read>(input: R) -> Result<(BufReader<R>, bool)> {
    let mut input = BufReader::with_capacity(1 << 18, input);
    let start =
        input.fill_buf().map_err(|error| refused(format!("the backup cannot be read: {error}")))?;
    let is_encrypted = start.starts_with(FIRST_LINE.as_bytes());
    Ok((input, is_encrypted))
}
