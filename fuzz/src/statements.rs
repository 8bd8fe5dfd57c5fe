//! Measures reading on a folder of statement files by others, with answers in `expected.json`: the number of
//! transactions and their sum, or that the file must be refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use sources::files::{self, FileContents, FileError};

use crate::evidence::Evidence;
use crate::options;
use crate::truncation::{CutOutcome, cut};

/// Amounts of all currencies are compared with this many decimals.
const DECIMALS: u32 = 9;
/// How many times each file is cut.
const CUTS: usize = 24;

/// A file and its answer.
pub struct StatementFile {
    pub name: String,
    pub format: String,
    pub bytes: Vec<u8>,
    status: String,
    count: Option<usize>,
    sum: Option<i128>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Right,
    /// Refused, as it should be.
    Refused,
    /// Not the expected rows, but the person is asked or warned before anything is imported.
    Asked(String),
    /// Read, although other programs refuse it.
    Unexpected(String),
    Wrong(String),
    /// Nobody knows what is in the file; what the file itself says about its rows.
    WithoutAnswer(Evidence),
}

/// The counts of one format.
#[derive(Debug, Default)]
pub struct Tally {
    pub right: usize,
    pub refused: usize,
    pub asked: usize,
    pub unexpected: usize,
    pub wrong: usize,
    pub without_answer: BTreeMap<Evidence, usize>,
    /// Right files with a question, and with a warning.
    pub questions: usize,
    pub warnings: usize,
    pub cuts: BTreeMap<CutOutcome, usize>,
    /// What is to be looked at, for a list.
    pub remarks: Vec<String>,
}

/// All files of a folder that has an `expected.json`.
pub fn load(folder: &Path) -> Result<Vec<StatementFile>, String> {
    let path = folder.join("expected.json");
    let text = fs::read_to_string(&path).map_err(|it| format!("{}: {it}", path.display()))?;
    let answers: BTreeMap<String, Value> =
        serde_json::from_str(&text).map_err(|it| it.to_string())?;
    answers.into_iter().map(|(name, answer)| StatementFile::load(folder, name, &answer)).collect()
}

impl StatementFile {
    fn load(folder: &Path, name: String, answer: &Value) -> Result<StatementFile, String> {
        let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        let sum = answer["sum"].as_str().map(|it| {
            base::parse_scaled(it, DECIMALS).map_err(|error| format!("{name}: {it}: {error:?}"))
        });
        Ok(StatementFile {
            bytes: fs::read(folder.join(&name)).map_err(|it| format!("{name}: {it}"))?,
            format: text("format"),
            status: text("status"),
            count: answer["count"].as_u64().and_then(|it| usize::try_from(it).ok()),
            sum: sum.transpose()?,
            name,
        })
    }

    pub fn read(&self) -> Result<FileContents, FileError> {
        files::read(&self.bytes, &options())
    }

    pub fn verdict(&self, read: &Result<FileContents, FileError>) -> Verdict {
        let contents = match (self.status.as_str(), read) {
            ("must not crash", read) => {
                return Verdict::WithoutAnswer(Evidence::of(&self.bytes, read));
            }
            ("no_transactions", Err(_)) => return Verdict::Right,
            ("reject", Err(_)) => return Verdict::Refused,
            (_, Err(error)) => return Verdict::Wrong(format!("refused: {error}")),
            (_, Ok(contents)) => contents,
        };
        let (count, sum) = totals(contents);
        let found = format!("{count} rows, sum {}", decimal(sum));
        match self.status.as_str() {
            // Other programs leave out investment accounts.
            "reject" | "no_transactions" if bank_rows(contents) == 0 => return Verdict::Right,
            "reject" if !is_asked(contents) => return Verdict::Unexpected(found),
            _ => {}
        }
        // CAMT batches are split into their payments.
        let is_split = self.format == "camt053" && self.count.is_some_and(|it| it < count);
        // Each rounded row may differ by half a cent from the exact sum.
        let tolerance = contents.notes.count as u128 * 10_u128.pow(DECIMALS - 2) / 2;
        let is_right = self.status != "reject"
            && self.sum.is_none_or(|it| it.abs_diff(sum) <= tolerance)
            && self.count.is_none_or(|it| it == count || is_split);
        let wanted = match (self.count, self.sum) {
            (Some(count), Some(sum)) => format!("{count} rows, sum {}", decimal(sum)),
            (Some(count), None) => format!("{count} rows"),
            _ => self.status.clone(),
        };
        match (is_right, is_asked(contents)) {
            (true, _) => Verdict::Right,
            (false, true) => Verdict::Asked(format!("{found}; expected {wanted}")),
            (false, false) => Verdict::Wrong(format!("{found}; expected {wanted}")),
        }
    }

    /// Cuts the file at evenly spaced places, the last of them just before its end.
    fn cuts(&self, whole: &FileContents) -> impl Iterator<Item = (usize, CutOutcome)> {
        let length = self.bytes.len();
        let places = (1..=CUTS).map(move |it| length * it / CUTS).map(|it| it.saturating_sub(3));
        places.map(|it| (it, cut(&self.bytes, whole, it)))
    }
}

/// Whether the person is asked or told something before the import.
pub(crate) fn is_asked(contents: &FileContents) -> bool {
    let is_warned = contents.notes.warnings().next().is_some();
    is_warned || contents.rejected.count > 0 || !contents.questions.is_empty()
}

fn totals(contents: &FileContents) -> (usize, i128) {
    let rows = || contents.accounts.iter().flat_map(|it| &it.draft.transactions);
    let scaled = |minor: i64, decimals: u32| i128::from(minor) * 10_i128.pow(DECIMALS - decimals);
    let sum = rows().map(|it| scaled(it.amount.minor(), it.amount.currency().decimals())).sum();
    (rows().count(), sum)
}

fn bank_rows(contents: &FileContents) -> usize {
    let is_bank = |it: &&files::FileAccount| it.draft.kind != base::draft::AccountKind::Investment;
    contents.accounts.iter().filter(is_bank).map(|it| it.draft.transactions.len()).sum()
}

fn decimal(sum: i128) -> String {
    let mut text = Vec::new();
    base::write_scaled(&mut text, sum, DECIMALS);
    String::from_utf8(text).unwrap_or_default()
}

/// Reads, judges and cuts every file; the counts by format.
pub fn measure(files: &[StatementFile]) -> BTreeMap<String, Tally> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for file in files {
        let tally = tallies.entry(file.format.clone()).or_default();
        let read = file.read();
        let verdict = file.verdict(&read);
        let mut remark = |text: &str| tally.remarks.push(format!("{}: {text}", file.name));
        match &verdict {
            Verdict::Right => tally.right += 1,
            Verdict::Refused => tally.refused += 1,
            Verdict::Asked(text) => {
                remark(&format!("asked: {text}"));
                tally.asked += 1;
            }
            Verdict::Unexpected(text) => {
                remark(&format!("read, though others refuse it: {text}"));
                tally.unexpected += 1;
            }
            Verdict::Wrong(text) => {
                remark(&format!("WRONG: {text}"));
                tally.wrong += 1;
            }
            Verdict::WithoutAnswer(evidence) => {
                if *evidence == Evidence::Lost {
                    remark("has rows that are neither read nor reported");
                }
                *tally.without_answer.entry(*evidence).or_default() += 1;
            }
        }
        if let Ok(whole) = &read {
            tally.count_notes(file, whole, &verdict);
            tally.count_cuts(file, whole);
        }
    }
    tallies
}

impl Tally {
    fn count_notes(&mut self, file: &StatementFile, whole: &FileContents, verdict: &Verdict) {
        let is_right = *verdict == Verdict::Right;
        self.questions += usize::from(is_right && !whole.questions.is_empty());
        self.warnings += usize::from(is_right && whole.notes.warnings().next().is_some());
        for note in &whole.notes.all {
            let (kind, line) = (note.kind.as_str(), note.line.unwrap_or_default());
            self.remarks.push(format!("{}: {kind}, line {line}: {}", file.name, note.text));
        }
        for row in whole.rejected.rows.iter().take(3) {
            self.remarks.push(format!("{}: rejected {}: {}", file.name, row.line, row.reason));
        }
    }

    fn count_cuts(&mut self, file: &StatementFile, whole: &FileContents) {
        for (at, outcome) in file.cuts(whole) {
            *self.cuts.entry(outcome).or_default() += 1;
            if outcome == CutOutcome::Silent {
                let name = &file.name;
                self.remarks.push(format!("{name}: rows are lost silently if cut at {at}"));
            }
        }
    }
}
