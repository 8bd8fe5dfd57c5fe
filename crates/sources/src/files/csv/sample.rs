//! The first rows of a table, to detect its layout and to show it.

use std::cmp::Reverse;

use super::dialect::{Delimiter, Records, tidy};
use crate::files::limits::head;

/// Titles stand no lower than this line.
pub(super) const PREAMBLE_LINES: usize = 21;
/// Enough rows to judge by, and few enough to be cheap.
const ROWS: usize = 60;
const BYTES: usize = 128 * 1_024;
/// Only this much of the text is examined: a file may begin with a cell or a gap of any length.
const WINDOW: usize = 2 * BYTES;
/// Longer cells are cut, because a sample is only for display and detection.
pub(super) const CELL_CHARS: usize = 200;

/// A row as written, with its cells trimmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The line on which it begins, counted from 1.
    pub line: usize,
    pub cells: Vec<String>,
}

pub(super) fn rows(text: &str, delimiter: Delimiter, skip_lines: usize) -> Vec<Row> {
    let mut records = Records::new(text, delimiter);
    records.skip_lines(skip_lines);
    let is_cut = records.end_after(WINDOW);
    let (mut rows, mut cells, begin) = (Vec::new(), Vec::new(), records.position());
    while rows.len() < ROWS && records.position() - begin < BYTES {
        let Some(line) = records.next(&mut cells) else { break };
        // A row that reaches the end of the window may be cut off.
        if is_cut && records.is_at_end() && !rows.is_empty() {
            break;
        }
        let cells = cells.iter().map(|it| head(tidy(it), CELL_CHARS).to_owned()).collect();
        rows.push(Row { line, cells });
    }
    rows
}

/// The delimiters that may be a text's own, the likeliest first: those with which the rows of the most common width have
/// the most cells. Decimal commas make rows of two cells in nearly every row of a file with other delimiters, and above
/// and below its table, too.
pub(super) fn delimiters(text: &str) -> Vec<Delimiter> {
    let score = |delimiter: &Delimiter| {
        let mut widths: Vec<usize> = rows(text, *delimiter, 0)
            .iter()
            .map(|it| it.cells.len())
            .filter(|it| *it > 1)
            .collect();
        widths.sort_unstable();
        widths.chunk_by(|a, b| a == b).map(|it| (it.len() * (it[0] - 1), it.len())).max()
    };
    let scored = Delimiter::ALL.iter().filter_map(|it| score(it).map(|score| (score, *it)));
    let mut scored: Vec<_> = scored.collect();
    scored.sort_by_key(|(score, _)| Reverse(*score));
    scored.into_iter().map(|(_, delimiter)| delimiter).collect()
}
