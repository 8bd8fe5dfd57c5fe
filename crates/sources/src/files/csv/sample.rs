//! The first rows of a table, to detect its layout and to show it.

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

/// The delimiter with which the rows of the most common width have the most cells. Decimal commas make rows of two cells
/// in nearly every row of a file with other delimiters, and above and below its table, too.
pub(super) fn delimiter(text: &str) -> Option<Delimiter> {
    let score = |delimiter: &Delimiter| {
        let mut widths: Vec<usize> = rows(text, *delimiter, 0)
            .iter()
            .map(|it| it.cells.len())
            .filter(|it| *it > 1)
            .collect();
        widths.sort_unstable();
        widths.chunk_by(|a, b| a == b).map(|it| (it.len() * (it[0] - 1), it.len())).max()
    };
    let best = Delimiter::ALL.iter().rev().max_by_key(|it| score(it))?;
    score(best).map(|_| *best)
}
