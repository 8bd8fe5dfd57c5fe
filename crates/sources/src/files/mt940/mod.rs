//! MT940, the bank statement of SWIFT: one field a line or several, in an envelope or without, with the habits of German
//! and Dutch banks for what a payment was for.

mod entry;
mod fields;
mod message;
mod words;

use super::text::decode;
use super::{FileError, Format, Hints, Reading};

const SNIFFED: usize = 4_096;

pub(super) fn looks_like(bytes: &[u8]) -> bool {
    let head = decode(&bytes[..bytes.len().min(SNIFFED)]);
    let has = |tags: &[&str]| {
        fields::fields(&head).any(|it| tags.contains(&it.tag) && !it.lines[0].is_empty())
    };
    has(&["20"]) && has(&["25", "25P", "28C", "60F", "60M"])
}

pub(super) fn read(bytes: &[u8], hints: &Hints) -> Result<Reading, FileError> {
    let text = decode(bytes);
    let mut book = message::Book::new(hints);
    for field in fields::fields(&text) {
        book.take(&field);
    }
    match book.finish() {
        Some(reading) => Ok(reading),
        None => Err(FileError::Broken {
            format: Format::Mt940,
            reason: "there is no statement in it, which would begin with :20: and name an account \
                     in :25:"
                .to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests;
