//! Parsers for files that banks offer for download. Each format becomes account drafts, and every row that cannot be
//! parsed is reported with its line. Nothing is guessed silently: an ambiguity becomes a question for the user.

mod accounts;
mod amount_marks;
mod camt;
pub mod csv;
mod dates;
mod evenkeel;
#[cfg(test)]
mod fixtures;
mod limits;
mod mt940;
mod notes;
mod ofx;
mod plain_amount;
mod qif;
mod source_category;
mod table_amount;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeSet;

use base::draft::{AccountDraft, AccountKind};
use base::words;
use base::{Currency, Date};

pub use limits::Limits;
use limits::{MIB, REASON_CHARS_MAX, counted, head};
pub use notes::{Note, NoteKind, Notes};

/// Larger than any real statement, and small enough to be held in memory.
pub const BYTES_MAX: usize = 64 * 1_024 * 1_024;
/// Further rejected rows are only counted.
pub const REJECTED_MAX: usize = 1_000;

words!(
    Format {
        Camt053 => "camt053",
        Csv => "csv",
        /// Our own export.
        Evenkeel => "evenkeel",
        Mt940 => "mt940",
        Ofx => "ofx",
        /// OFX with Intuit's additional tags.
        Qfx => "qfx",
        Qif => "qif",
    }
);

impl Format {
    /// The name for people.
    pub fn label(self) -> &'static str {
        match self {
            Format::Camt053 => "CAMT.053",
            Format::Csv => "CSV",
            Format::Evenkeel => "an Evenkeel export",
            Format::Mt940 => "MT940",
            Format::Ofx => "OFX",
            Format::Qfx => "QFX (Quicken)",
            Format::Qif => "QIF",
        }
    }

    /// The provenance of transactions from such a file, as stored with an import. OFX and QFX files of a bank have
    /// the same ids, so they share one.
    pub fn provenance(self) -> &'static str {
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

/// Defaults for what a file does not say, and the user's answers to earlier questions.
#[derive(Debug, Clone)]
pub struct ParseOptions {
    /// Resolves two-digit years.
    pub today: Date,
    /// The person's own currency, for a file that neither names nor suggests one.
    pub currency: Currency,
    /// The currency that the person chose for amounts whose currency the file does not name. It counts more than what
    /// the file suggests.
    pub chosen_currency: Option<Currency>,
    pub dates: Option<DateOrder>,
    pub charges: Option<ChargeSign>,
    pub limits: Limits,
}

impl ParseOptions {
    /// The currency of a file that names none.
    fn default_currency(&self) -> Currency {
        self.chosen_currency.unwrap_or(self.currency)
    }
}

words!(
    /// The order of day and month in a date that does not begin with the year.
    DateOrder {
        DayFirst => "day_first",
        MonthFirst => "month_first",
    }
);

words!(
    /// The sign that a file gives to money leaving the account.
    ChargeSign {
        Negative => "negative",
        Positive => "positive",
    }
);

type LooksLikeFn = fn(&[u8]) -> bool;
type ReadFn = fn(&[u8], &ParseOptions) -> Result<FileContents, FileError>;

/// The formats in the order in which they are tried: those with a clear signature first, tables last.
const READERS: &[(LooksLikeFn, ReadFn)] = &[
    (ofx::looks_like, ofx::read),
    (camt::looks_like, camt::read),
    (mt940::looks_like, mt940::read),
    (evenkeel::looks_like, evenkeel::read),
    (qif::looks_like, qif::read),
    (csv::looks_like, csv::read),
];

/// Reads a file of any format, recognized by its content. File names are not reliable.
pub fn read(bytes: &[u8], options: &ParseOptions) -> Result<FileContents, FileError> {
    if bytes.len() > BYTES_MAX {
        return Err(FileError::TooLarge);
    }
    let reader = READERS.iter().find(|(looks_like, _)| looks_like(bytes));
    let read = reader.map_or(Err(FileError::Unknown), |(_, read)| read(bytes, options));
    read.map(number_duplicate_accounts)
}

/// Reads a file as the given format.
pub fn read_as(
    format: Format,
    bytes: &[u8],
    options: &ParseOptions,
) -> Result<FileContents, FileError> {
    if bytes.len() > BYTES_MAX {
        return Err(FileError::TooLarge);
    }
    let read = match format {
        Format::Camt053 => camt::read,
        Format::Csv => csv::read,
        Format::Evenkeel => evenkeel::read,
        Format::Mt940 => mt940::read,
        Format::Ofx | Format::Qfx => ofx::read,
        Format::Qif => qif::read,
    };
    read(bytes, options).map(number_duplicate_accounts)
}

/// Numbers accounts of one file that share bank and number, such as a checking and a savings account. Otherwise the
/// next import would merge their rows.
fn number_duplicate_accounts(mut reading: FileContents) -> FileContents {
    let mut seen: BTreeSet<(Option<String>, String)> = BTreeSet::new();
    for account in &mut reading.accounts {
        let name = account.draft.external_id.clone();
        let mut count = 1;
        while !name.is_empty()
            && !seen.insert((account.bank.clone(), account.draft.external_id.clone()))
        {
            count += 1;
            account.draft.external_id = format!("{name} ({count})");
        }
    }
    reading
}

/// The parsed content of a file, and what could not be parsed.
#[derive(Debug, Clone)]
pub struct FileContents {
    pub format: Format,
    pub accounts: Vec<FileAccount>,
    pub rejected: Rejections,
    /// What the person should know before committing, although every row was kept.
    pub notes: Notes,
    pub questions: Vec<FileQuestion>,
    /// The currency in which amounts were read for which the file names none.
    pub assumed_currency: Option<Currency>,
}

/// One account of a file. `draft.external_id` is the account number as written in the file, or empty if the file does
/// not name the account; then the user chooses one.
#[derive(Debug, Clone)]
pub struct FileAccount {
    /// The bank as the format identifies it: a routing number, a BIC, a broker's domain.
    pub bank: Option<String>,
    pub draft: AccountDraft,
    /// By how much the balance changes from the opening to the closing balances of the account's statements; none if one
    /// of them does not state both. Booked rows add up to it, unless rows are rejected or a note says otherwise.
    pub stated_change_minor: Option<i64>,
}

impl FileAccount {
    /// An account whose file states no opening and closing balance.
    pub(crate) fn new(bank: Option<String>, draft: AccountDraft) -> FileAccount {
        FileAccount { bank, draft, stated_change_minor: None }
    }
}

/// An ambiguity in a file. The file was read with the likelier answer; nothing may be written until the user confirms
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileQuestion {
    /// No date in the file tells the day from the month.
    Dates { read_as: DateOrder },
    /// Nothing in the file tells whether a positive amount is a purchase or a deposit.
    ChargeSign { read_as: ChargeSign },
    /// A card's balance is positive, which may be a debt or a credit. It was read as a debt.
    CardBalance { account: usize },
    /// Nothing in the file tells the kind of this account.
    AccountKind { account: usize, read_as: AccountKind },
}

impl FileAccount {
    /// Changes the kind. Debts are written as positive balances, so their sign changes with it.
    pub fn set_kind(&mut self, kind: AccountKind, subtype: Option<&str>) {
        let draft = &mut self.draft;
        if kind.is_debt() != draft.kind.is_debt() {
            if let Some(balance) = &mut draft.balance {
                balance.current_minor = balance.current_minor.saturating_neg();
            }
            for past in &mut draft.past_balances {
                past.current_minor = past.current_minor.saturating_neg();
            }
        }
        (draft.kind, draft.subtype) = (kind, subtype.map(str::to_owned));
    }
}

/// Rejected rows with their reasons.
#[derive(Debug, Clone, Default)]
pub struct Rejections {
    /// The first of them, in file order.
    pub rows: Vec<RejectedRow>,
    /// The total number.
    pub count: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedRow {
    /// The line on which the row begins, counted from 1.
    pub line: usize,
    /// The reason, in words for the user.
    pub reason: String,
}

impl Rejections {
    pub(crate) fn add(&mut self, line: usize, reason: impl Into<String>) {
        self.count += 1;
        if self.rows.len() < REJECTED_MAX {
            let mut reason = reason.into();
            reason.truncate(head(&reason, REASON_CHARS_MAX).len());
            self.rows.push(RejectedRow { line, reason });
        }
    }
}

/// Why a whole file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileError {
    /// The format is not recognized.
    Unknown,
    /// The format is recognized, but nothing in the file is usable.
    Broken {
        format: Format,
        reason: String,
    },
    TooLarge,
    /// A zip file whose unpacked size exceeds the limit.
    UnpacksTooLarge {
        most_bytes: u64,
    },
    TooManyRows {
        most: usize,
    },
    /// A table with so many separators and quotation marks that parsing it would take too long.
    TooManyCells,
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FileError::Unknown => write!(
                f,
                "this file format is not supported; download OFX, QFX, QIF, CSV, CAMT.053 or MT940 from \
                 your bank"
            ),
            FileError::Broken { format, reason } => {
                write!(f, "this is a file in {}, but {reason}", format.label())
            }
            FileError::TooLarge => {
                let most = BYTES_MAX / 1_024 / 1_024;
                write!(f, "a file may have {most} MiB at most; download a shorter period")
            }
            FileError::UnpacksTooLarge { most_bytes } => write!(
                f,
                "this file unpacks to more than {} MiB; export fewer years at a time, or ask \
                 the operator to raise imports.unpacked_mib",
                most_bytes / MIB
            ),
            FileError::TooManyRows { most } => write!(
                f,
                "this file has more than {} rows; download a shorter period, or ask the \
                 operator to raise imports.rows",
                counted(*most)
            ),
            FileError::TooManyCells => write!(
                f,
                "this table has more separators and quotation marks than any bank statement; \
                 download it again for a shorter period"
            ),
        }
    }
}

impl std::error::Error for FileError {}
