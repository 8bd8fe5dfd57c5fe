//! Parses a price list with a header line by line with the CSV reader of bank files, so that a bad line only affects
//! itself.

use std::borrow::Cow;

use base::{Date, Fixed9};

use crate::files::csv::{Delimiter, Records};

/// Longer lines do not occur in price lists.
const MOST_LINE_BYTES: usize = 10_000;

pub(super) struct Table<'a> {
    delimiter: Delimiter,
    columns: Vec<String>,
    body: &'a str,
}

/// One line below the header.
pub(super) struct Row<'a> {
    table: &'a Table<'a>,
    cells: Vec<Cow<'a, str>>,
}

impl<'a> Table<'a> {
    /// Parses the header. The separator is whichever of comma, semicolon and tab occurs most in it.
    pub(super) fn parse(text: &'a str) -> Result<Table<'a>, &'static str> {
        let text = text.trim_start_matches('\u{feff}');
        let (header, body) = text.split_once('\n').unwrap_or((text, ""));
        let count = |it: &Delimiter| header.bytes().filter(|byte| *byte == it.byte()).count();
        let delimiters = [Delimiter::Semicolon, Delimiter::Tab, Delimiter::Comma];
        let delimiter = delimiters.into_iter().max_by_key(count).unwrap_or_default();
        let columns = cells(header.trim_end_matches('\r'), delimiter)?;
        let plain = |it: &Cow<'_, str>| it.trim().to_lowercase().replace([' ', '-'], "_");
        Ok(Table { delimiter, columns: columns.iter().map(plain).collect(), body })
    }

    /// The first of these names that the header has.
    pub(super) fn column(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.columns.iter().any(|it| it == name))
    }

    /// The rows with their line numbers; empty lines are skipped.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, Result<Row<'_>, &'static str>)> {
        let lines = self.body.lines().zip(2..).filter(|(line, _)| !line.trim().is_empty());
        lines.map(|(line, number)| {
            let cells = cells(line, self.delimiter);
            (number, cells.map(|cells| Row { table: self, cells }))
        })
    }
}

impl Row<'_> {
    /// None if the row has no such cell, or an empty one.
    pub(super) fn text(&self, column: &str) -> Option<&str> {
        let index = self.table.columns.iter().position(|it| it == column)?;
        self.cells.get(index).map(|it| it.trim()).filter(|it| !it.is_empty())
    }

    pub(super) fn positive(&self, column: &str) -> Result<Fixed9, String> {
        let text = self.text(column).unwrap_or_default();
        // Where semicolons separate cells, a comma is the decimal mark.
        let number = match self.table.delimiter {
            Delimiter::Semicolon => Fixed9::parse(&text.replacen(',', ".", 1)),
            _ => Fixed9::parse(text),
        };
        match number {
            Ok(number) if number > Fixed9::ZERO => Ok(number),
            Err(base::DecimalError::TooPrecise) => {
                Err(format!("{column} must have at most nine decimals"))
            }
            _ => Err(format!("{column} must be a number greater than zero")),
        }
    }

    pub(super) fn day(&self, column: &str) -> Result<Date, String> {
        let day = self.text(column).and_then(|it| it.parse().ok());
        day.ok_or_else(|| format!("{column} must be a day such as 2026-11-25"))
    }
}

/// The cells of a line. A quotation mark must be closed within the line.
fn cells(line: &str, delimiter: Delimiter) -> Result<Vec<Cow<'_, str>>, &'static str> {
    if line.len() > MOST_LINE_BYTES {
        return Err("the line is too long");
    }
    let (mut records, mut cells) = (Records::new(line, delimiter), Vec::new());
    records.next(&mut cells);
    if records.has_unclosed_quote() {
        return Err("a quotation mark is not closed");
    }
    Ok(cells)
}
