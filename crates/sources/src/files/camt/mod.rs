//! CAMT.053 (the ISO 20022 bank statement) and its siblings 052 and 054, versions 02 to 08 and later. Read as a
//! stream of tags, with any namespace prefix.

mod builder;
mod entry;
mod row;
mod statement;
mod values;
mod walk;

use super::text::decode;
use super::{FileContents, FileError, Format, ParseOptions};

/// The elements around the statements in 053, 052 and 054.
const MESSAGES: [&str; 3] = ["BkToCstmrStmt", "BkToCstmrAcctRpt", "BkToCstmrDbtCdtNtfctn"];
const SNIFFED: usize = 4_096;

pub(super) fn looks_like(bytes: &[u8]) -> bool {
    let head = decode(&bytes[..bytes.len().min(SNIFFED)]);
    let head = head.trim_start_matches(['\u{FEFF}', ' ', '\t', '\r', '\n']);
    let names = ["camt.053.", "camt.052.", "camt.054."];
    head.starts_with('<') && names.iter().chain(&MESSAGES).any(|it| head.contains(it))
}

pub(super) fn read(bytes: &[u8], options: &ParseOptions) -> Result<FileContents, FileError> {
    walk::read(&decode(bytes), options)
}

fn broken(reason: impl Into<String>) -> FileError {
    FileError::Broken { format: Format::Camt053, reason: reason.into() }
}

#[cfg(test)]
mod tests;
