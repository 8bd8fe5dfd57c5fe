//! Files that banks let people download: each format is read into drafts, and every row that cannot be understood is
//! reported with its line. Nothing is guessed silently: what a file leaves open is a doubt that the person settles.

mod amount;
mod camt;
pub mod csv;
mod dates;
mod decimals;
#[cfg(test)]
mod golden;
mod ledger;
mod limits;
mod mt940;
mod ofx;
mod own;
mod qif;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeSet;

use base::draft::AccountDraft;
use base::words;
use base::{Currency, Date};

pub use limits::Limits;
use limits::{MIB, REASON_CHARS_MAX, counted, head};

/// More than any statement, and little enough to be held in memory at once.
pub const BYTES_MAX: usize = 64 * 1_024 * 1_024;
/// Reports beyond this say nothing new; they are counted only.
pub const REJECTED_MAX: usize = 1_000;

words!(
    Format {
        Camt053 => "camt053",
        Csv => "csv",
        /// What was exported from here.
        Evenkeel => "evenkeel",
        Mt940 => "mt940",
        Ofx => "ofx",
        /// OFX with the tags that Intuit adds.
        Qfx => "qfx",
        Qif => "qif",
    }
);

impl Format {
    /// What the person calls it.
    pub fn label(self) -> &'static str {
        match self {
            Format::Camt053 => "CAMT.053",
            Format::Csv => "CSV",
            Format::Evenkeel => "an export of Evenkeel",
            Format::Mt940 => "MT940",
            Format::Ofx => "OFX",
            Format::Qfx => "QFX (Quicken)",
            Format::Qif => "QIF",
        }
    }

    /// Who speaks in such a file, for telling sources apart. OFX and QFX of a bank have the same ids.
    pub fn giver(self) -> &'static str {
        match self {
            Format::Camt053 => "file:camt",
            Format::Csv => "file:csv",
            Format::Evenkeel => "file:evenkeel",
            Format::Mt940 => "file:mt940",
            Format::Ofx | Format::Qfx => "file:ofx",
            Format::Qif => "file:qif",
        }
    }
}

/// What a reader is told beside the file: defaults for what it does not say, and the person's word on earlier doubts.
#[derive(Debug, Clone)]
pub struct Hints {
    /// For years of two digits.
    pub today: Date,
    /// Where the file names none.
    pub currency: Currency,
    pub dates: Option<DateOrder>,
    pub charges: Option<Charges>,
    pub limits: Limits,
}

words!(
    /// How a date of three numbers is meant when it begins with no year.
    DateOrder {
        DayFirst => "day_first",
        MonthFirst => "month_first",
    }
);

words!(
    /// Which sign a file gives to money that leaves the account.
    Charges {
        Negative => "negative",
        Positive => "positive",
    }
);

type LooksLike = fn(&[u8]) -> bool;
type Read = fn(&[u8], &Hints) -> Result<Reading, FileError>;

/// In the order in which they are tried: what marks itself clearly first, and tables, which can look like anything, last.
const READERS: &[(LooksLike, Read)] = &[
    (ofx::looks_like, ofx::read),
    (camt::looks_like, camt::read),
    (mt940::looks_like, mt940::read),
    (own::looks_like, own::read),
    (qif::looks_like, qif::read),
    (csv::looks_like, csv::read),
];

/// Reads a file of any format. What it is shows in its content; names of files promise too much.
pub fn read(bytes: &[u8], hints: &Hints) -> Result<Reading, FileError> {
    if bytes.len() > BYTES_MAX {
        return Err(FileError::TooLarge);
    }
    let reader = READERS.iter().find(|(looks_like, _)| looks_like(bytes));
    let read = reader.map_or(Err(FileError::Unknown), |(_, read)| read(bytes, hints));
    read.map(named_apart)
}

/// Reads a file as the format that somebody says it is, whatever it looks like.
pub fn read_as(format: Format, bytes: &[u8], hints: &Hints) -> Result<Reading, FileError> {
    if bytes.len() > BYTES_MAX {
        return Err(FileError::TooLarge);
    }
    let read = match format {
        Format::Camt053 => camt::read,
        Format::Csv => csv::read,
        Format::Evenkeel => own::read,
        Format::Mt940 => mt940::read,
        Format::Ofx | Format::Qfx => ofx::read,
        Format::Qif => qif::read,
    };
    read(bytes, hints).map(named_apart)
}

/// An account is known again by its bank and number. Where a file has several of one name, such as a checking and a
/// savings account, those that come later are counted: else the next import would put their rows together.
fn named_apart(mut reading: Reading) -> Reading {
    let mut taken: BTreeSet<(Option<String>, String)> = BTreeSet::new();
    for account in &mut reading.accounts {
        let name = account.draft.external_id.clone();
        let mut count = 1;
        while !name.is_empty()
            && !taken.insert((account.bank.clone(), account.draft.external_id.clone()))
        {
            count += 1;
            account.draft.external_id = format!("{name} ({count})");
        }
    }
    reading
}

/// What a file says, and what in it could not be understood.
#[derive(Debug, Clone)]
pub struct Reading {
    pub format: Format,
    pub accounts: Vec<FileAccount>,
    pub rejected: Rejections,
    pub doubts: Vec<Doubt>,
}

/// One account of a file. `draft.external_id` is the account's number as the file writes it, and empty where it does
/// not name the account at all; the person then says which one it is.
#[derive(Debug, Clone)]
pub struct FileAccount {
    /// Who keeps the account, as the format names them: a routing number, a BIC, a broker's domain.
    pub bank: Option<String>,
    pub draft: AccountDraft,
}

/// What the file leaves open. It was read by the likelier answer; nothing may be written until the person agrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// No date in the file tells the day from the month.
    Dates { read_as: DateOrder },
    /// Nothing in the file tells whether a positive amount is a purchase or a deposit.
    Charges { read_as: Charges },
    /// A card's balance is written as a positive number, which may be owed or owned. It was read as owed.
    CardBalance { account: usize },
}

/// Rows that are left out, and why.
#[derive(Debug, Clone, Default)]
pub struct Rejections {
    /// The first of them, in the order of the file.
    pub rows: Vec<Rejected>,
    /// How many there are in all.
    pub count: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The line on which the row begins, counted from 1.
    pub line: usize,
    /// What is wrong with it, in words for the person.
    pub reason: String,
}

impl Rejections {
    pub(crate) fn add(&mut self, line: usize, reason: impl Into<String>) {
        self.count += 1;
        if self.rows.len() < REJECTED_MAX {
            let mut reason = reason.into();
            reason.truncate(head(&reason, REASON_CHARS_MAX).len());
            self.rows.push(Rejected { line, reason });
        }
    }
}

/// The file as a whole cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileError {
    /// Looks like none of the formats.
    Unknown,
    /// Is of that format, but is broken in a way that leaves nothing to keep.
    Broken {
        format: Format,
        reason: String,
    },
    TooLarge,
    /// A zip file that unpacks to more than it may.
    UnpacksTooLarge {
        most_bytes: u64,
    },
    TooManyRows {
        most: usize,
    },
    /// A table of so many separators and quotation marks that reading it would take long.
    TooManyCells,
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FileError::Unknown => write!(
                f,
                "this is none of the files that can be read: OFX, QFX, QIF, CSV, CAMT.053 or MT940; \
                 download one of these from your bank"
            ),
            FileError::Broken { format, reason } => {
                write!(f, "this is a file in {}, but {reason}", format.label())
            }
            FileError::TooLarge => {
                let most = BYTES_MAX / 1_024 / 1_024;
                write!(f, "a file may have {most} MiB at most; download a shorter time at once")
            }
            FileError::UnpacksTooLarge { most_bytes } => write!(
                f,
                "this file unpacks to more than {} MiB; export fewer years at a time, or have the \
                 setting imports.unpacked_mib raised",
                most_bytes / MIB
            ),
            FileError::TooManyRows { most } => write!(
                f,
                "this file has more than {} rows; download a shorter time at once, or have the \
                 setting imports.rows raised",
                counted(*most)
            ),
            FileError::TooManyCells => write!(
                f,
                "this table has more separators and quotation marks than any statement of a bank; \
                 download it anew, a shorter time at once"
            ),
        }
    }
}

impl std::error::Error for FileError {}
