//! Prices from files that the operator keeps: one list, or a folder of lists and histories.

mod actions;
mod prices;
mod table;
#[cfg(test)]
mod tests;

use std::fs;
use std::future::ready;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use base::{Date, Timestamp};

use super::{CorporateAction, MarketError, ProviderFuture, Quote, QuoteProvider};
use prices::Prices;
use table::Table;

const MOST_FILES: usize = 1_000;
const MOST_BYTES: u64 = 16 * 1024 * 1024;
const MOST_COMPLAINTS: usize = 100;

/// In a folder, the file with splits and dividends.
const ACTIONS: &str = "corporate-actions.csv";

/// Quotes from CSV files, cached until a file changes.
pub struct CsvMarket {
    path: PathBuf,
    last: Mutex<LoadedFiles>,
}

/// The parsed content of all files.
#[derive(Default)]
struct LoadedFiles {
    files: Vec<FileVersion>,
    prices: Prices,
    actions: Vec<CorporateAction>,
    warnings: Warnings,
}

/// A file with its modification time and size, to detect changes.
#[derive(PartialEq, Eq)]
struct FileVersion {
    path: PathBuf,
    modified: SystemTime,
    bytes: u64,
}

/// The file being read, and its warnings.
struct SourceFile<'a> {
    name: &'a str,
    modified_at: Timestamp,
    warnings: &'a mut Warnings,
}

/// The first warnings, and their total number.
#[derive(Default)]
struct Warnings {
    first: Vec<String>,
    count: usize,
}

impl CsvMarket {
    pub fn new(path: PathBuf) -> CsvMarket {
        CsvMarket { path, last: Mutex::default() }
    }

    /// The skipped lines of the last read, with reasons. Beyond a limit they are only counted.
    pub fn warnings(&self) -> Vec<String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut warnings = last.warnings.first.clone();
        let more = last.warnings.count - warnings.len();
        if more > 0 {
            warnings.push(format!("and {more} more"));
        }
        warnings
    }

    fn current(&self) -> Result<MutexGuard<'_, LoadedFiles>, MarketError> {
        let (files, left_out) = files(&self.path)
            .map_err(|error| MarketError(format!("{}: {error}", self.path.display())))?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.files != files {
            *last = LoadedFiles::of(files);
            if left_out > 0 {
                last.warnings.add(format!("only the first {MOST_FILES} files are read"));
            }
        }
        if last.prices.is_empty() && last.actions.is_empty() {
            let reason =
                last.warnings.first.first().map_or("there is no .csv file", String::as_str);
            return Err(MarketError(format!(
                "{}: nothing could be read: {reason}",
                self.path.display()
            )));
        }
        Ok(last)
    }
}

impl QuoteProvider for CsvMarket {
    fn source(&self) -> &'static str {
        "Price file"
    }

    fn cache_seconds(&self) -> i64 {
        0
    }

    /// Daily closes are only as new as the operator keeps them; a long weekend must not make them unusable.
    fn stale_after_seconds(&self) -> i64 {
        7 * 86_400
    }

    fn quotes(&self, symbols: Vec<String>, now: Timestamp) -> ProviderFuture<'_, Vec<Quote>> {
        let found = self
            .current()
            .map(|reading| symbols.iter().filter_map(|it| reading.prices.quote(it, now)).collect());
        Box::pin(ready(found))
    }

    fn corporate_actions(
        &self,
        symbols: Vec<String>,
        from: Date,
        to: Date,
    ) -> ProviderFuture<'_, Vec<CorporateAction>> {
        let found = self.current().map(|reading| {
            let within = |it: &&CorporateAction| from <= it.ex_on && it.ex_on <= to;
            let within = reading.actions.iter().filter(within);
            within.filter(|it| symbols.contains(&it.symbol)).cloned().collect()
        });
        Box::pin(ready(found))
    }
}

impl LoadedFiles {
    fn of(files: Vec<FileVersion>) -> LoadedFiles {
        let mut loaded = LoadedFiles::default();
        for file in &files {
            loaded.read(file);
        }
        LoadedFiles { files, ..loaded }
    }

    fn read(&mut self, file: &FileVersion) {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let text = match text_of(&file.path) {
            Ok(text) => text,
            Err(reason) => return self.warnings.add(format!("{name}: {reason}")),
        };
        let modified_at = Timestamp::try_from(file.modified).unwrap_or(Timestamp::UNIX_EPOCH);
        let mut source =
            SourceFile { name: name.as_ref(), modified_at, warnings: &mut self.warnings };
        match Table::parse(&text) {
            Ok(table) if name.eq_ignore_ascii_case(ACTIONS) => {
                self.actions.extend(actions::read(&table, &mut source));
            }
            Ok(table) => self.prices.read(&table, &mut source),
            Err(reason) => source.warn(1, reason),
        }
    }
}

impl SourceFile<'_> {
    fn warn(&mut self, line: usize, reason: &str) {
        self.warnings.add(format!("{} line {line}: {reason}", self.name));
    }
}

impl Warnings {
    fn add(&mut self, complaint: String) {
        self.count += 1;
        if self.first.len() < MOST_COMPLAINTS {
            self.first.push(complaint);
        }
    }
}

/// The file itself, or the files of a folder by name; and how many more the folder has.
fn files(path: &Path) -> std::io::Result<(Vec<FileVersion>, usize)> {
    let mut paths = vec![path.to_owned()];
    if fs::metadata(path)?.is_dir() {
        let entries = fs::read_dir(path)?.flatten().map(|it| it.path());
        let is_list =
            |it: &PathBuf| it.extension().is_some_and(|it| it.eq_ignore_ascii_case("csv"));
        paths = entries.filter(is_list).collect();
        paths.sort();
    }
    let left_out = paths.len().saturating_sub(MOST_FILES);
    paths.truncate(MOST_FILES);
    let stamped = |path: PathBuf| {
        let known = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        Some(FileVersion { path, modified: known.modified().ok()?, bytes: known.len() })
    };
    Ok((paths.into_iter().filter_map(stamped).collect(), left_out))
}

fn text_of(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err("the file is larger than 16 MiB".to_owned());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
