//! What a file without a known answer says about its own rows. It is weaker than an answer, but can be wrong.

use sources::files::csv::{self, Delimiter};
use sources::files::{FileContents, FileError, Format};

use crate::invariants::proven_sum;
use crate::options;
use crate::statements::is_asked;

/// How far the rows of a file are checked by the file itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// The balances of every account lead from the first to the last by its rows.
    Proven,
    /// The person is asked or warned before the import.
    Asked,
    /// Every line of a table with a date and an amount is read or rejected.
    EveryLine,
    /// The file is refused.
    Refused,
    /// Nothing in the file tells.
    Nothing,
    /// Lines with a date and an amount are neither read nor reported.
    Lost,
}

impl Evidence {
    pub const ALL: [Evidence; 6] = [
        Evidence::Proven,
        Evidence::Asked,
        Evidence::EveryLine,
        Evidence::Refused,
        Evidence::Nothing,
        Evidence::Lost,
    ];

    pub(crate) fn of(bytes: &[u8], read: &Result<FileContents, FileError>) -> Evidence {
        let Ok(contents) = read else { return Evidence::Refused };
        let is_warned = contents.notes.warnings().next().is_some();
        let is_complete = contents.rejected.count == 0 && !is_warned;
        let is_proven = contents.accounts.iter().all(|it| proven_sum(it) == Some(true));
        if is_complete && is_proven && !contents.accounts.is_empty() {
            return Evidence::Proven;
        }
        let lines = if contents.format == Format::Csv { dated_amounts(bytes) } else { None };
        let rows = contents.accounts.iter().map(|it| it.draft.transactions.len()).sum::<usize>();
        let is_lost = lines.is_some_and(|it| it > rows + contents.rejected.count);
        match lines {
            _ if is_lost && !is_warned => Evidence::Lost,
            _ if is_asked(contents) => Evidence::Asked,
            Some(_) => Evidence::EveryLine,
            None => Evidence::Nothing,
        }
    }
}

/// How many lines below the titles have a date in one cell and an amount in another. This does not use the columns of
/// the mapping, which may be wrong.
fn dated_amounts(bytes: &[u8]) -> Option<usize> {
    let mapping = csv::detect(bytes, &options()).ok()?.mapping;
    let text = String::from_utf8_lossy(bytes);
    let below = mapping.skip_lines + usize::from(mapping.has_header);
    let is_row = |line: &&str| {
        let cells = cells(line, mapping.delimiter);
        cells.iter().any(|it| is_date(it)) && cells.iter().any(|it| is_amount(it))
    };
    Some(text.lines().skip(below).filter(is_row).count())
}

fn cells(line: &str, delimiter: Delimiter) -> Vec<&str> {
    let mark = match delimiter {
        Delimiter::Comma => ',',
        Delimiter::Semicolon => ';',
        Delimiter::Tab => '\t',
        Delimiter::Pipe => '|',
    };
    let mut is_quoted = false;
    let ends = |it: char| {
        is_quoted ^= it == '"';
        it == mark && !is_quoted
    };
    line.split(ends).map(|it| it.trim_matches(|it: char| it == '"' || it.is_whitespace())).collect()
}

/// Whether a cell is three numbers with the same mark between them.
fn is_date(cell: &str) -> bool {
    ['-', '/', '.'].iter().any(|mark| {
        let parts: Vec<&str> = cell.split(*mark).collect();
        let is_number =
            |it: &&str| (1..=4).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_digit());
        parts.len() == 3 && parts.iter().all(is_number) && cell.len() >= "1/2/26".len()
    })
}

/// Whether a cell is a number with two decimals that is not zero.
fn is_amount(cell: &str) -> bool {
    let digits = cell.trim_matches(|it: char| !it.is_ascii_digit());
    let is_money = |it: char| it.is_ascii_digit() || matches!(it, '.' | ',' | '\'' | ' ');
    let has_cents = digits.len() > 3 && matches!(digits.as_bytes()[digits.len() - 3], b'.' | b',');
    has_cents
        && digits.chars().all(is_money)
        && digits.bytes().any(|it| (b'1'..=b'9').contains(&it))
}
