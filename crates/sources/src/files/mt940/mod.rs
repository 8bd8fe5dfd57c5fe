//! MT940, the SWIFT bank statement: with or without an envelope, and with the remittance formats of German and Dutch
//! banks.

mod entry;
mod fields;
mod message;
mod pages;
mod remittance;

use super::text::decode;
use super::{FileContents, FileError, Format, ParseOptions};

const SNIFFED: usize = 4_096;

pub(super) fn looks_like(bytes: &[u8]) -> bool {
    let head = decode(&bytes[..bytes.len().min(SNIFFED)]);
    let has = |tags: &[&str]| {
        fields::fields(&head).any(|it| tags.contains(&it.tag) && !it.lines[0].is_empty())
    };
    // Some banks leave the reference empty; an account with an opening balance is enough then.
    let opens = fields::fields(&head)
        .any(|it| matches!(it.tag, "60F" | "60M") && entry::begins_like_balance(it.lines[0]));
    has(&["20"]) && has(&["25", "25P", "28C", "60F", "60M"]) || has(&["25", "25P"]) && opens
}

pub(super) fn read(bytes: &[u8], options: &ParseOptions) -> Result<FileContents, FileError> {
    let text = decode(bytes);
    let mut book = message::AccountsBuilder::new(options);
    for field in fields::fields(&text) {
        book.take(&field);
    }
    match book.finish(text.ends_with(['\n', '\r'])) {
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
