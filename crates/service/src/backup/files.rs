//! Files of backups: plain or encrypted.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Write};

use base::Entropy;

use super::encryption::{Decryptor, Encryption, Encryptor, FIRST_LINE, FileKey, Secrets};
use super::refused;
use crate::Result;

/// A file that a backup is written to.
pub enum Output {
    Plain(File),
    Encrypted(Box<Encryptor<File>>),
}

impl Output {
    /// Deriving the key from a passphrase takes a moment of CPU time.
    pub fn new(file: File, encryption: Option<&Encryption>, entropy: &Entropy) -> Result<Output> {
        Ok(match encryption {
            None => Output::Plain(file),
            Some(it) => Output::Encrypted(Box::new(Encryptor::new(file, it, entropy)?)),
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

    /// Writes what is left, and waits until the disk has everything.
    pub fn finish(self) -> io::Result<File> {
        let file = match self {
            Output::Plain(file) => file,
            Output::Encrypted(encryptor) => encryptor.finish()?,
        };
        file.sync_all()?;
        Ok(file)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Plain(file) => file.write(bytes),
            Output::Encrypted(encryptor) => encryptor.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Plain(file) => file.flush(),
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
pub fn open(file: File, secrets: &Secrets) -> Result<Box<dyn Read + Send>> {
    match plain_or_encrypted(file)? {
        (input, false) => Ok(Box::new(input)),
        (input, true) => Ok(Box::new(Decryptor::new(input, secrets)?)),
    }
}

/// Opens a backup that was just written.
pub(super) fn open_with(file: File, opener: &Opener) -> Result<Box<dyn Read + Send>> {
    match opener {
        Opener::Secrets(secrets) => open(file, secrets),
        Opener::FileKey(key) => {
            Ok(Box::new(Decryptor::with_file_key(plain_or_encrypted(file)?.0, key)?))
        }
    }
}

/// The file's content, and whether it is encrypted.
fn plain_or_encrypted(file: File) -> Result<(BufReader<File>, bool)> {
    let mut input = BufReader::with_capacity(1 << 18, file);
    let start =
        input.fill_buf().map_err(|error| refused(format!("the backup cannot be read: {error}")))?;
    let is_encrypted = start.starts_with(FIRST_LINE.as_bytes());
    Ok((input, is_encrypted))
}
