//! The truncation law: a file that is cut anywhere is refused, says that it is cut, or loses nothing.

use std::collections::BTreeMap;

use base::Currency;
use sources::files::{self, FileContents, Format, Note};

use crate::options;

/// What became of a cut file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CutOutcome {
    Refused,
    /// It is read with a warning or a rejected row that the complete file does not have.
    SaysSo,
    /// Every row is still there.
    LosesNothing,
    /// Rows are missing, but what is left is a complete file of its format, as that has no end mark.
    EndsBetweenRecords,
    /// Rows are missing or changed without a word.
    Silent,
}

/// Cuts a file behind `length` bytes and compares what is read with `whole`, the reading of the complete file.
pub fn cut(bytes: &[u8], whole: &FileContents, length: usize) -> CutOutcome {
    let rest = &bytes[..length.min(bytes.len())];
    let Ok(read) = files::read(rest, &options()) else { return CutOutcome::Refused };
    // A warning that the complete file has too says nothing about the cut.
    let is_new = |it: &Note| whole.notes.warnings().all(|known| known != it);
    if read.notes.warnings().any(is_new) || read.rejected.count > whole.rejected.count {
        return CutOutcome::SaysSo;
    }
    if totals(&read) == totals(whole) {
        return CutOutcome::LosesNothing;
    }
    match ends_between_records(whole.format, rest) {
        true => CutOutcome::EndsBetweenRecords,
        false => CutOutcome::Silent,
    }
}

/// The number of rows and their sum, for each currency.
fn totals(contents: &FileContents) -> BTreeMap<Currency, (usize, i128)> {
    let mut totals = BTreeMap::new();
    for account in &contents.accounts {
        for row in &account.draft.transactions {
            let total: &mut (usize, i128) = totals.entry(row.amount.currency()).or_default();
            total.0 += 1;
            total.1 += i128::from(row.amount.minor());
        }
    }
    totals
}

/// Whether the bytes are a complete file of a format without an end mark.
fn ends_between_records(format: Format, bytes: &[u8]) -> bool {
    // The marks are ASCII, also in UTF-16.
    let text: String = bytes.iter().filter(|it| **it != 0).map(|it| char::from(*it)).collect();
    let last_line = text.trim_end().lines().last().unwrap_or_default().trim();
    match format {
        Format::Qif => last_line.starts_with('^') || last_line.starts_with('!'),
        Format::Csv => text.ends_with(['\n', '\r']),
        // A message is complete with its closing balance or its end mark.
        Format::Mt940 => {
            let end = [":62F:", ":62M:", ":90C:", ":90D:", "\n-"]
                .iter()
                .filter_map(|it| text.rfind(it))
                .max();
            end.is_some() && end > text.rfind(":61:")
        }
        // A fragment of a file, without the tags around the rows.
        Format::Ofx | Format::Qfx => {
            !text.to_ascii_uppercase().contains("<OFX>") && text.trim_end().ends_with('>')
        }
        Format::Camt053 | Format::Evenkeel => false,
    }
}
