//! Text in columns with a header, as spreadsheets and download pages write it.

use base::{Date, Fixed9};

/// Longer lines are no price list.
const MOST_LINE_BYTES: usize = 10_000;

pub(super) struct Table<'a> {
    separator: char,
    columns: Vec<String>,
    body: &'a str,
}

/// One line under the header.
pub(super) struct Row<'a> {
    table: &'a Table<'a>,
    cells: Vec<String>,
}

impl<'a> Table<'a> {
    /// The header says what separates: whichever of comma, semicolon and tab it has most of.
    pub(super) fn parse(text: &'a str) -> Result<Table<'a>, &'static str> {
        let text = text.trim_start_matches('\u{feff}');
        let (header, body) = text.split_once('\n').unwrap_or((text, ""));
        let count = |separator: &char| header.matches(*separator).count();
        let separator = [';', '\t', ','].into_iter().max_by_key(count).unwrap_or(',');
        let columns = cells(header.trim_end_matches('\r'), separator)?;
        let plain = |it: &String| it.trim().to_lowercase().replace([' ', '-'], "_");
        Ok(Table { separator, columns: columns.iter().map(plain).collect(), body })
    }

    /// The first of these names that the header has.
    pub(super) fn column(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.columns.iter().any(|it| it == name))
    }

    /// With their numbers as an editor counts them; empty lines are passed over.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, Result<Row<'_>, &'static str>)> {
        let lines = self.body.lines().zip(2..).filter(|(line, _)| !line.trim().is_empty());
        lines.map(|(line, number)| {
            let cells = cells(line, self.separator);
            (number, cells.map(|cells| Row { table: self, cells }))
        })
    }
}

impl Row<'_> {
    /// None where the line has no such cell, or an empty one.
    pub(super) fn text(&self, column: &str) -> Option<&str> {
        let place = self.table.columns.iter().position(|it| it == column)?;
        self.cells.get(place).map(|it| it.trim()).filter(|it| !it.is_empty())
    }

    pub(super) fn positive(&self, column: &str) -> Result<Fixed9, String> {
        let text = self.text(column).unwrap_or_default();
        // Where semicolons separate, commas are what decimals begin with.
        let number = match self.table.separator {
            ';' => Fixed9::parse(&text.replacen(',', ".", 1)),
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

/// Quotation marks hold a cell together within its line; two of them are one inside.
fn cells(line: &str, separator: char) -> Result<Vec<String>, &'static str> {
    if line.len() > MOST_LINE_BYTES {
        return Err("the line is too long");
    }
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut is_quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted => match letters.next_if_eq(&'"') {
                Some(mark) => cell.push(mark),
                None => is_quoted = false,
            },
            '"' if cell.trim().is_empty() => is_quoted = true,
            _ if letter == separator && !is_quoted => cells.push(std::mem::take(&mut cell)),
            _ => cell.push(letter),
        }
    }
    cells.push(cell);
    if is_quoted {
        return Err("a quotation mark is not closed");
    }
    Ok(cells)
}
