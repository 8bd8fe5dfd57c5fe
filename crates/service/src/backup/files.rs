//! Files of backups: plain, or encrypted with a passphrase.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Write};

use base::Entropy;

use super::encryption::{Decryptor, Encryptor, FIRST_LINE};
use super::refused;
use crate::Result;

/// A file that a backup is written to.
pub enum Output {
    Plain(File),
    Encrypted(Box<Encryptor<File>>),
}

impl Output {
    /// Encrypts if there is a passphrase. Deriving the key takes a moment of CPU time.
    pub fn new(file: File, passphrase: Option<&str>, entropy: &Entropy) -> Result<Output> {
        Ok(match passphrase {
            None => Output::Plain(file),
            Some(it) => Output::Encrypted(Box::new(Encryptor::new(file, it, entropy)?)),
        })
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

/// Opens a backup for reading, and decrypts it if it is encrypted.
pub fn open(file: File, passphrase: Option<&str>) -> Result<Box<dyn Read + Send>> {
    let mut input = BufReader::with_capacity(1 << 18, file);
    let start =
        input.fill_buf().map_err(|error| refused(format!("the backup cannot be read: {error}")))?;
    if !start.starts_with(FIRST_LINE.as_bytes()) {
        return Ok(Box::new(input));
    }
    let Some(passphrase) = passphrase else {
        return Err(refused(
            "the backup is encrypted; set backups.passphrase, such as with EVENKEEL_BACKUPS__PASSPHRASE_FILE",
        ));
    };
    Ok(Box::new(Decryptor::new(input, passphrase)?))
}
