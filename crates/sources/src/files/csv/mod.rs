//! Tables (CSV) that banks offer for download, each with its own columns. The layout is detected, shown to the user
//! as a mapping, and the file is then read by that mapping.

mod account_names;
mod account_number;
mod account_rows;
mod accounts;
mod balance_notes;
mod cells;
mod charges;
mod currency_columns;
mod currency_evidence;
mod currency_notes;
mod detect;
mod dialect;
mod ending;
mod kinds;
mod mapping;
mod money_columns;
mod presets;
mod read;
mod reader;
mod repeated_rows;
mod row_money;
mod rows;
mod running_balance;
mod sample;
mod stated_change;
mod stated_totals;
mod table;
mod text_columns;
mod title_words;
mod titles;
mod trades;
mod words;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use super::{BYTES_MAX, FileContents, FileError, ParseOptions, number_duplicate_accounts, text};

pub use super::table_amount::DecimalMark;
pub use dialect::Delimiter;
pub(crate) use dialect::Records;
pub use kinds::apply_file_name;
pub use mapping::{Column, Complaint, Field, Mapping};
pub use presets::presets;
pub use sample::Row;

/// The detected layout of a table, for the user to confirm or correct.
#[derive(Debug, Clone)]
pub struct Detection {
    pub mapping: Mapping,
    /// The bank whose known format fits.
    pub preset: Option<&'static str>,
    /// From 0 to 100.
    pub confidence: u8,
    pub sheet: Sheet,
}

/// The beginning of a table under a mapping, as a page needs it to let the user choose columns.
#[derive(Debug, Clone)]
pub struct Sheet {
    pub columns: Vec<SheetColumn>,
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone)]
pub struct SheetColumn {
    /// The column as a mapping names it.
    pub column: Column,
    /// The column's title for the user.
    pub title: String,
    /// Example values, without repeats.
    pub samples: Vec<String>,
}

impl Sheet {
    /// The column titles, for `Mapping::check`.
    pub fn titles(&self) -> Vec<String> {
        self.columns.iter().map(|it| it.title.clone()).collect()
    }
}

const SHOWN_ROWS: usize = 10;
const SHOWN_SAMPLES: usize = 5;
/// Only the first bytes are used to recognize the format.
const SNIFFED: usize = 4_096;

/// Whether some row has a date and an amount, or titles for them.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(SNIFFED)];
    // A row that is cut off by the limit is ignored.
    let whole =
        head.iter().rposition(|it| matches!(it, b'\n' | b'\r')).map_or(head, |it| &head[..it]);
    let text = text::decode(if bytes.len() > SNIFFED { whole } else { head });
    let is_text = !text.contains('\0');
    let today = base::date_from_days(20_000);
    is_text && detect::find(&text, today).is_some()
}

pub(super) fn read(bytes: &[u8], options: &ParseOptions) -> Result<FileContents, FileError> {
    let text = decoded(bytes)?;
    let found = detect::find(&text, options.today).ok_or(FileError::Unknown)?;
    read::read(&text, &found.mapping, options)
}

/// Detects the layout of a table. `Unknown` if no row has a date and an amount.
pub fn detect(bytes: &[u8], options: &ParseOptions) -> Result<Detection, FileError> {
    let text = decoded(bytes)?;
    let found = detect::find(&text, options.today).ok_or(FileError::Unknown)?;
    let sheet = sheet_of(&text, &found.mapping);
    let detect::DetectedLayout { mapping, preset, confidence } = found;
    Ok(Detection { mapping, preset, confidence, sheet })
}

/// The mapping for this file by a preset that the user chose by name.
pub fn mapping_of_preset(name: &str, bytes: &[u8], options: &ParseOptions) -> Option<Mapping> {
    let preset = presets::named(name)?;
    let found = detect(bytes, options).ok()?;
    let mapping = preset.mapping(&found.sheet.titles());
    let Mapping { delimiter, skip_lines, .. } = found.mapping;
    Some(Mapping { delimiter, skip_lines, ..mapping })
}

/// The beginning of the file as this mapping splits it.
pub fn sheet(bytes: &[u8], mapping: &Mapping) -> Result<Sheet, FileError> {
    Ok(sheet_of(&decoded(bytes)?, mapping))
}

/// Reads a file with a mapping. `Broken` if the mapping does not fit; `Mapping::check` explains why.
pub fn read_with(
    bytes: &[u8],
    mapping: &Mapping,
    options: &ParseOptions,
) -> Result<FileContents, FileError> {
    read::read(&decoded(bytes)?, mapping, options).map(number_duplicate_accounts)
}

fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>, FileError> {
    if bytes.len() > BYTES_MAX { Err(FileError::TooLarge) } else { Ok(text::decode(bytes)) }
}

fn sheet_of(text: &str, mapping: &Mapping) -> Sheet {
    let mut rows = sample::rows(text, mapping.delimiter, mapping.skip_lines);
    let titles = match mapping.has_header && !rows.is_empty() {
        true => rows.remove(0).cells,
        false => Vec::new(),
    };
    rows.truncate(SHOWN_ROWS);
    let width = match mapping.has_header {
        true => titles.len(),
        false => rows.iter().map(|it| it.cells.len()).max().unwrap_or(0),
    };
    let column = |index: usize| {
        let title = titles.get(index).map_or("", String::as_str);
        let mut samples: Vec<String> = Vec::new();
        for cell in rows.iter().filter_map(|row| row.cells.get(index)) {
            if !cell.is_empty() && samples.len() < SHOWN_SAMPLES && !samples.contains(cell) {
                samples.push(cell.clone());
            }
        }
        let name = detect::column_of(&titles, index.min(titles.len()), title);
        let column = if title.is_empty() { Column::Number(index + 1) } else { name };
        let title =
            if title.is_empty() { format!("Column {}", index + 1) } else { title.to_owned() };
        SheetColumn { column, title, samples }
    };
    Sheet { columns: (0..width).map(column).collect(), rows }
}
