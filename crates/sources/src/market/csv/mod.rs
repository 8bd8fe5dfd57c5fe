//! Prices from files that the person keeps: one list, or a folder of lists and of histories.

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

use super::{Answer, CorporateAction, Quote, QuoteProvider, Trouble};
use prices::Prices;
use table::Table;

const MOST_FILES: usize = 1_000;
const MOST_BYTES: u64 = 16 * 1024 * 1024;
const MOST_COMPLAINTS: usize = 100;

/// In a folder, the file that tells of splits and dividends instead of prices.
const ACTIONS: &str = "corporate-actions.csv";

/// Reads anew when a file has changed, and answers from memory until then.
pub struct CsvMarket {
    path: PathBuf,
    last: Mutex<Reading>,
}

/// What the files said when they were last read.
#[derive(Default)]
struct Reading {
    files: Vec<Stamped>,
    prices: Prices,
    actions: Vec<CorporateAction>,
    complaints: Complaints,
}

/// A file, and how to see that it has changed.
#[derive(PartialEq, Eq)]
struct Stamped {
    path: PathBuf,
    modified: SystemTime,
    bytes: u64,
}

/// The file that is being read, and where to complain about it.
struct Source<'a> {
    name: &'a str,
    modified_at: Timestamp,
    complaints: &'a mut Complaints,
}

/// The first ones, and how many there were.
#[derive(Default)]
struct Complaints {
    first: Vec<String>,
    count: usize,
}

impl CsvMarket {
    pub fn new(path: PathBuf) -> CsvMarket {
        CsvMarket { path, last: Mutex::default() }
    }

    /// Which lines of the last reading were skipped, and why. What is wrong a hundred times over is
    /// only counted.
    pub fn complaints(&self) -> Vec<String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut told = last.complaints.first.clone();
        let more = last.complaints.count - told.len();
        if more > 0 {
            told.push(format!("and {more} more"));
        }
        told
    }

    fn current(&self) -> Result<MutexGuard<'_, Reading>, Trouble> {
        let (files, left_out) = files(&self.path)
            .map_err(|error| Trouble(format!("{}: {error}", self.path.display())))?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.files != files {
            *last = Reading::of(files);
            if left_out > 0 {
                last.complaints.add(format!("only the first {MOST_FILES} files are read"));
            }
        }
        if last.prices.is_empty() && last.actions.is_empty() {
            let why = last.complaints.first.first().map_or("there is no .csv file", String::as_str);
            return Err(Trouble(format!("{}: nothing could be read: {why}", self.path.display())));
        }
        Ok(last)
    }
}

impl QuoteProvider for CsvMarket {
    fn source(&self) -> &'static str {
        "Price file"
    }

    fn fresh_seconds(&self) -> i64 {
        0
    }

    /// Files of daily closes are as new as people keep them; a long weekend must not make them worthless.
    fn patience_seconds(&self) -> i64 {
        7 * 86_400
    }

    fn quotes(&self, symbols: Vec<String>, now: Timestamp) -> Answer<'_, Vec<Quote>> {
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
    ) -> Answer<'_, Vec<CorporateAction>> {
        let found = self.current().map(|reading| {
            let within = |it: &&CorporateAction| from <= it.ex_on && it.ex_on <= to;
            let within = reading.actions.iter().filter(within);
            within.filter(|it| symbols.contains(&it.symbol)).cloned().collect()
        });
        Box::pin(ready(found))
    }
}

impl Reading {
    fn of(files: Vec<Stamped>) -> Reading {
        let mut reading = Reading::default();
        for file in &files {
            reading.read(file);
        }
        Reading { files, ..reading }
    }

    fn read(&mut self, file: &Stamped) {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let text = match text_of(&file.path) {
            Ok(text) => text,
            Err(what) => return self.complaints.add(format!("{name}: {what}")),
        };
        let modified_at = Timestamp::try_from(file.modified).unwrap_or(Timestamp::UNIX_EPOCH);
        let mut source =
            Source { name: name.as_ref(), modified_at, complaints: &mut self.complaints };
        match Table::parse(&text) {
            Ok(table) if name.eq_ignore_ascii_case(ACTIONS) => {
                self.actions.extend(actions::read(&table, &mut source));
            }
            Ok(table) => self.prices.read(&table, &mut source),
            Err(what) => source.complain(1, what),
        }
    }
}

impl Source<'_> {
    fn complain(&mut self, line: usize, what: &str) {
        self.complaints.add(format!("{} line {line}: {what}", self.name));
    }
}

impl Complaints {
    fn add(&mut self, complaint: String) {
        self.count += 1;
        if self.first.len() < MOST_COMPLAINTS {
            self.first.push(complaint);
        }
    }
}

/// The file itself, or what a folder has of them, by name; and how many more it has.
fn files(path: &Path) -> std::io::Result<(Vec<Stamped>, usize)> {
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
        Some(Stamped { path, modified: known.modified().ok()?, bytes: known.len() })
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
