//! The end of a table: rows that are its footer, and whether it was cut off.

use std::borrow::Cow;

use super::accounts::{RowPlace, TableAccounts};
use super::dialect::{CELLS_MAX, tidy};
use super::reader::Reader;
use crate::files::{NoteKind, Notes, REJECTED_MAX, Rejections};

/// The reason to reject a row in which the file ends.
pub(super) const CUT: &str = "The file ends inside this row. Download it again.";
const UNENDED: &str = "The file does not end with a line break, so it may be cut off. Check that its last row is \
                       complete and that no rows are missing.";
const UNCLOSED: &str = "A quotation mark in the file is never closed, so it may be cut off or damaged. Check that no \
                        rows are missing.";

/// Rows without a date and an amount. If no transaction follows, they are the footer of the file; if one does, they
/// continue the description of the row above them, or are rejected.
#[derive(Default)]
pub(super) struct Footer {
    rows: Vec<FooterRow>,
    count: usize,
    /// How many rows are continued by the row below them, and how many are not; the beginning of the table is one of these.
    continued: usize,
    single: usize,
}

struct FooterRow {
    line: usize,
    reason: String,
    text: Option<(RowPlace, String)>,
}

impl Footer {
    pub(super) fn add(&mut self, line: usize, reason: String, text: Option<(RowPlace, String)>) {
        self.count += 1;
        if self.rows.len() < REJECTED_MAX {
            self.rows.push(FooterRow { line, reason, text });
        }
    }

    pub(super) fn flush(&mut self, ledger: &mut TableAccounts, rejected: &mut Rejections) {
        if self.count == 0 {
            self.single += 1;
            return;
        }
        let Footer { continued, single, .. } = *self;
        let next = Footer { continued: continued + 1, single, ..Footer::default() };
        let before = std::mem::replace(self, next);
        rejected.count += before.count - before.rows.len();
        for row in before.rows {
            match row.text {
                Some((place, text)) => ledger.continue_description(place, &text),
                None => rejected.add(row.line, row.reason),
            }
        }
    }
}

impl Footer {
    /// Continues the description of the last transaction, if all before it are continued by the row below them.
    pub(super) fn finish(self, ledger: &mut TableAccounts) {
        let is_usual = self.continued > 0 && self.single <= 1;
        let first = self.rows.into_iter().next().filter(|_| is_usual);
        if let Some((place, text)) = first.and_then(|it| it.text) {
            ledger.continue_description(place, &text);
        }
    }
}

/// Evidence whether the file was cut off in its last row.
pub(super) struct Ending {
    is_unended: bool,
    /// How many rows have how many cells.
    widths: Vec<usize>,
    /// The fewest decimals of the last cell of a row, if it is an amount.
    least_decimals: Option<usize>,
}

impl Ending {
    pub(super) fn of(text: &str) -> Ending {
        let is_unended = !text.ends_with(['\n', '\r']);
        // Only an unended file has to be examined.
        let widths = if is_unended { vec![0; CELLS_MAX + 1] } else { Vec::new() };
        Ending { is_unended, widths, least_decimals: None }
    }

    pub(super) fn count(&mut self, cells: &[Cow<'_, str>], reader: &Reader<'_>) {
        if !self.is_unended {
            return;
        }
        self.widths[cells.len().min(CELLS_MAX)] += 1;
        if let Some(decimals) = last_decimals(cells, reader) {
            let least = self.least_decimals.map_or(decimals, |it| it.min(decimals));
            self.least_decimals = Some(least);
        }
    }

    /// Whether the last row of the file lacks a part that a transaction needs: cells, or decimals of its last amount.
    pub(super) fn is_cut(&self, cells: &[Cow<'_, str>], reader: &Reader<'_>) -> bool {
        if !self.is_unended {
            return false;
        }
        let all: usize = self.widths.iter().sum();
        let usual = self.widths.iter().enumerate().max_by_key(|(_, count)| **count);
        let is_usual = |count: usize| count * 5 >= all * 4 && all > 0;
        let is_short = usual.is_some_and(|(width, count)| is_usual(*count) && cells.len() < width);
        let is_in_needed = is_short && cells.len() <= reader.last_needed() + 1;
        let lacks_decimals = last_decimals(cells, reader)
            .zip(self.least_decimals)
            .is_some_and(|(decimals, least)| decimals < least);
        is_in_needed || lacks_decimals
    }

    /// Warns that the file may be cut off; `last` is the line of its last row, or of its titles.
    pub(super) fn warn(&self, last: usize, has_unclosed_quote: bool, notes: &mut Notes) {
        if has_unclosed_quote {
            notes.warn(NoteKind::CutOff, last, UNCLOSED);
        }
        if self.is_unended {
            notes.warn(NoteKind::CutOff, last, UNENDED);
        }
    }
}

/// How many decimals the last cell has, if it is in a column of amounts.
fn last_decimals(cells: &[Cow<'_, str>], reader: &Reader<'_>) -> Option<usize> {
    let last = cells.len().checked_sub(1)?;
    let text = tidy(&cells[last]);
    if !reader.is_money(last) || text.is_empty() {
        return None;
    }
    let digits = text.trim_end_matches(|it: char| !it.is_ascii_digit() && it != '.' && it != ',');
    Some(digits.rfind(['.', ',']).map_or(0, |it| digits.len() - it - 1))
}
