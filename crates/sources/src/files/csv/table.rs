//! The part of a sample that is a table, and what its columns contain.

use base::Date;

use super::sample::{self, Row};
use super::titles;
use crate::files::{dates, table_amount};

/// The part of a sample that is a table.
pub(super) struct Table<'a> {
    pub(super) titles: Option<&'a Row>,
    /// Rows with a date and an amount.
    pub(super) rows: Vec<&'a Row>,
    pub(super) today: Date,
    pub(super) width: usize,
    /// The line of the titles, or of the first row.
    pub(super) begin: usize,
}

impl<'a> Table<'a> {
    pub(super) fn find(rows: &'a [Row], today: Date) -> Option<Table<'a>> {
        let is_date = |cell: &String| dates::looks_like(cell, today);
        let is_amount = |cell: &String| table_amount::looks_like(cell) && !is_date(cell);
        let is_data = |row: &Row| row.cells.iter().any(is_date) && row.cells.iter().any(is_amount);
        let first = rows.iter().position(is_data);
        let is_title = |row: &&Row| {
            let filled = row.cells.iter().filter(|it| !it.is_empty()).count();
            row.line <= sample::PREAMBLE_LINES
                && filled > 1
                && !row.cells.iter().any(|it| is_date(it) || is_amount(it))
        };
        let above = &rows[..first.unwrap_or(rows.len())];
        let titles = above.iter().filter(is_title).max_by_key(|it| titles::known(&it.cells));
        // A summary above the titles may have a date and an amount too.
        let width = first.map(|it| rows[it].cells.len());
        let below = rows
            .iter()
            .filter(is_title)
            .find(|it| titles::known(&it.cells) > 2 && Some(it.cells.len()) != width);
        let titles = titles.or(below);
        let begin = titles.map_or(0, |it| it.line);
        let data: Vec<&Row> = rows.iter().filter(|it| it.line > begin && is_data(it)).collect();
        if data.is_empty() && titles.is_none_or(|it| titles::known(&it.cells) < 2) {
            return None;
        }
        let widest = data.iter().map(|it| it.cells.len()).max().unwrap_or(0);
        let width = titles.map_or(widest, |it| it.cells.len());
        // Rows right above the first readable one that are as wide belong to the table, and are reported.
        let is_row = |row: &&Row| row.cells.len() == widest && row.cells.iter().any(is_amount);
        let first_row = above.iter().rev().take_while(is_row).last().or(data.first().copied());
        let begin = titles.or(first_row).map_or(1, |it| it.line);
        Some(Table { titles, rows: data, today, width, begin })
    }

    pub(super) fn cells(&self, column: usize) -> impl Iterator<Item = &str> {
        self.rows.iter().map(move |row| row.cells.get(column).map_or("", String::as_str))
    }

    /// Whether all non-empty cells of a column satisfy the predicate.
    pub(super) fn holds(&self, column: usize, is_such: impl Fn(&str) -> bool) -> bool {
        self.cells(column).all(|it| it.is_empty() || is_such(it))
    }

    /// Whether the cells of a column can be currencies. A code that is none, such as BTC, is reported for each row.
    pub(super) fn has_codes(&self, column: usize) -> bool {
        self.holds(column, |it| !dates::looks_like(it, self.today) && !table_amount::looks_like(it))
    }

    pub(super) fn is_date(&self, column: usize) -> bool {
        let count = self.cells(column).filter(|it| dates::looks_like(it, self.today)).count();
        count * 2 > self.rows.len() || self.rows.is_empty()
    }

    /// Whether a column has at least two different cells.
    pub(super) fn is_varied(&self, column: usize) -> bool {
        let first = self.cells(column).next();
        self.cells(column).any(|it| Some(it) != first)
    }

    /// Whether most non-empty cells are amounts: one broken row must not hide the column.
    pub(super) fn is_amount(&self, column: usize) -> bool {
        let filled = || self.cells(column).filter(|it| !it.is_empty());
        let count = filled().filter(|it| table_amount::looks_like(it)).count();
        count * 2 > filled().count() || filled().next().is_none()
    }
}
