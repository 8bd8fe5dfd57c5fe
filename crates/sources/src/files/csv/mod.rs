//! Tables that banks let people download, each with columns of its own: how a file is built is found out, shown to the
//! person as a mapping, and then read by it.

mod detect;
mod dialect;
mod ledger;
mod mapping;
mod presets;
mod reading;
mod rows;
mod running;
mod sample;
mod titles;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use super::{BYTES_MAX, FileError, Hints, Reading, named_apart, text};

pub use super::amount::DecimalMark;
pub use dialect::Delimiter;
pub(crate) use dialect::Records;
pub use mapping::{Column, Complaint, Field, Mapping};
pub use presets::presets;
pub use sample::Row;

/// How a file seems to be built, and what it looks like, for a person to agree with or to mend.
#[derive(Debug, Clone)]
pub struct Detection {
    pub mapping: Mapping,
    /// The source that is known to write such files.
    pub preset: Option<&'static str>,
    /// From 0 to 100.
    pub confidence: u8,
    pub sheet: Sheet,
}

/// The beginning of a file under a mapping: everything that a page needs to let a person choose columns.
#[derive(Debug, Clone)]
pub struct Sheet {
    pub columns: Vec<SheetColumn>,
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone)]
pub struct SheetColumn {
    /// What a mapping calls it.
    pub column: Column,
    /// What the person calls it.
    pub title: String,
    /// What is in it, without repeats.
    pub samples: Vec<String>,
}

impl Sheet {
    /// For `Mapping::check`.
    pub fn titles(&self) -> Vec<String> {
        self.columns.iter().map(|it| it.title.clone()).collect()
    }
}

const SHOWN_ROWS: usize = 10;
const SHOWN_SAMPLES: usize = 5;
/// The first bytes tell what a file is.
const SNIFFED: usize = 4_096;

/// Whether some row has a date and an amount, or titles that say so.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(SNIFFED)];
    // A row that is cut in the middle says nothing.
    let whole =
        head.iter().rposition(|it| matches!(it, b'\n' | b'\r')).map_or(head, |it| &head[..it]);
    let text = text::decode(if bytes.len() > SNIFFED { whole } else { head });
    let is_text = !text.contains('\0');
    let today = base::date_from_days(20_000);
    is_text && detect::find(&text, today).is_some()
}

pub(super) fn read(bytes: &[u8], hints: &Hints) -> Result<Reading, FileError> {
    let text = decoded(bytes)?;
    let found = detect::find(&text, hints.today).ok_or(FileError::Unknown)?;
    reading::read(&text, &found.mapping, hints)
}

/// Finds out how a file is built. Unknown if no row has a date and an amount.
pub fn detect(bytes: &[u8], hints: &Hints) -> Result<Detection, FileError> {
    let text = decoded(bytes)?;
    let found = detect::find(&text, hints.today).ok_or(FileError::Unknown)?;
    let sheet = sheet_of(&text, &found.mapping);
    let detect::Found { mapping, preset, confidence } = found;
    Ok(Detection { mapping, preset, confidence, sheet })
}

/// The mapping of a preset that the person chose by its name, for this file.
pub fn mapping_of_preset(name: &str, bytes: &[u8], hints: &Hints) -> Option<Mapping> {
    let preset = presets::named(name)?;
    let found = detect(bytes, hints).ok()?;
    let mapping = preset.mapping(&found.sheet.titles());
    let Mapping { delimiter, skip_lines, .. } = found.mapping;
    Some(Mapping { delimiter, skip_lines, ..mapping })
}

/// The beginning of the file as this mapping cuts it.
pub fn sheet(bytes: &[u8], mapping: &Mapping) -> Result<Sheet, FileError> {
    Ok(sheet_of(&decoded(bytes)?, mapping))
}

/// Reads a file by a mapping. Broken if the mapping does not fit it; `Mapping::check` says why beforehand.
pub fn read_with(bytes: &[u8], mapping: &Mapping, hints: &Hints) -> Result<Reading, FileError> {
    reading::read(&decoded(bytes)?, mapping, hints).map(named_apart)
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
    let column = |place: usize| {
        let title = titles.get(place).map_or("", String::as_str);
        let mut samples: Vec<String> = Vec::new();
        for cell in rows.iter().filter_map(|row| row.cells.get(place)) {
            if !cell.is_empty() && samples.len() < SHOWN_SAMPLES && !samples.contains(cell) {
                samples.push(cell.clone());
            }
        }
        let name = detect::column_of(&titles, place.min(titles.len()), title);
        let column = if title.is_empty() { Column::Number(place + 1) } else { name };
        let title =
            if title.is_empty() { format!("Column {}", place + 1) } else { title.to_owned() };
        SheetColumn { column, title, samples }
    };
    Sheet { columns: (0..width).map(column).collect(), rows }
}
