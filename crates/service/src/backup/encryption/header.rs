//! The header of a file in the format of age: a stanza for each way to open the file, and a code that authenticates them.

use std::io::{BufRead, Read as _};

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::{FIRST_LINE, FileKey, derive, refused};
use crate::{Error, Result};

/// Lines of the header are shorter. The limit keeps a file without line ends from filling the memory.
const LINE_MAX: u64 = 512;
/// More lines than the recipients of a file need.
const LINES_MAX: usize = 1_000;
/// A line of a stanza's body with this many characters is followed by another.
const BODY_COLUMNS: usize = 64;

/// One way to open the file: the file's key, encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stanza {
    /// The kind, such as `scrypt`, and its arguments.
    pub(super) arguments: Vec<String>,
    pub(super) body: Vec<u8>,
}

impl Stanza {
    fn text(&self) -> String {
        let body = STANDARD_NO_PAD.encode(&self.body);
        let mut text = format!("-> {}\n", self.arguments.join(" "));
        for line in body.as_bytes().chunks(BODY_COLUMNS) {
            text.extend(line.iter().map(|it| char::from(*it)));
            text.push('\n');
        }
        // A last line that is full, or a body without bytes, ends with an empty line.
        if body.len().is_multiple_of(BODY_COLUMNS) {
            text.push('\n');
        }
        text
    }
}

/// The header's text for these stanzas.
pub(super) fn write(stanzas: &[Stanza], file_key: &FileKey) -> String {
    let stanzas: String = stanzas.iter().map(Stanza::text).collect();
    let authenticated = format!("{FIRST_LINE}\n{stanzas}---");
    let code = hmac::sign(&authentication_key(file_key), authenticated.as_bytes());
    format!("{authenticated} {}\n", STANDARD_NO_PAD.encode(code.as_ref()))
}

/// A header as it was read. It is not authentic until `verify` succeeds.
pub(super) struct Header {
    pub(super) stanzas: Vec<Stanza>,
    authenticated: String,
    code: Vec<u8>,
}

impl Header {
    pub(super) fn read(input: &mut impl BufRead) -> Result<Header> {
        let mut authenticated = line(input)? + "\n";
        let mut stanzas: Vec<Stanza> = Vec::new();
        // The lines of the body of the stanza that is read, while more can follow.
        let mut body: Option<String> = None;
        for _ in 0..LINES_MAX {
            let line = line(input)?;
            if let Some(mut text) = body.take() {
                text += &line;
                if line.len() == BODY_COLUMNS {
                    body = Some(text);
                } else {
                    stanzas.last_mut().ok_or_else(damaged)?.body = decode(&text)?;
                }
            } else if let Some(arguments) = line.strip_prefix("-> ") {
                let arguments = arguments.split(' ').map(str::to_owned).collect();
                stanzas.push(Stanza { arguments, body: Vec::new() });
                body = Some(String::new());
            } else {
                let code = decode(line.strip_prefix("--- ").ok_or_else(damaged)?)?;
                authenticated += "---";
                return Ok(Header { stanzas, authenticated, code });
            }
            authenticated += &line;
            authenticated.push('\n');
        }
        Err(damaged())
    }

    pub(super) fn verify(&self, file_key: &FileKey) -> Result<()> {
        let key = authentication_key(file_key);
        hmac::verify(&key, self.authenticated.as_bytes(), &self.code).map_err(|_| damaged())
    }
}

/// The key that authenticates the header. Its salt is empty, which HMAC fills up with zeros.
fn authentication_key(file_key: &FileKey) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, &derive(&file_key.0, &[0; 32], "header"))
}

fn line(input: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    let read = input.take(LINE_MAX).read_line(&mut line);
    read.map_err(|_| damaged())?;
    Ok(line.strip_suffix('\n').ok_or_else(damaged)?.to_owned())
}

pub(super) fn decode(text: &str) -> Result<Vec<u8>> {
    STANDARD_NO_PAD.decode(text).map_err(|_| damaged())
}

pub(super) fn damaged() -> Error {
    refused("the head of the encrypted backup is damaged; use another copy")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn stanzas_of_every_size_are_read_back(
            bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..6),
        ) {
            let stanza = |body: Vec<u8>| Stanza { arguments: vec!["kind".to_owned()], body };
            let stanzas: Vec<Stanza> = bodies.into_iter().map(stanza).collect();
            let file_key = FileKey([7; 16]);
            let text = write(&stanzas, &file_key);
            let header = Header::read(&mut text.as_bytes()).unwrap();
            prop_assert_eq!(&header.stanzas, &stanzas);
            prop_assert!(header.verify(&file_key).is_ok());
            prop_assert!(header.verify(&FileKey([8; 16])).is_err());
        }
    }

    #[test]
    fn a_header_without_end_is_refused() {
        let endless = format!("{FIRST_LINE}\n{}", "-> kind\nYQ\n".repeat(LINES_MAX));
        assert!(Header::read(&mut endless.as_bytes()).is_err());
        assert!(Header::read(&mut "x".repeat(100_000).as_bytes()).is_err());
    }
}
