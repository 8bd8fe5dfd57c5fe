//! The truncation law: a file that is cut anywhere is refused, says that it is cut, or loses nothing. Checked on every
//! place of our own fixtures, and on some places of the statement files by others, where those are there.
#![expect(clippy::unwrap_used, reason = "a failed step of a test should panic")]

use std::fs;
use std::path::{Path, PathBuf};

use base::{Currency, Date};
use fuzz::evidence::Evidence;
use fuzz::statements;
use fuzz::truncation::{CutOutcome, cut};
use sources::files::{self, Limits, ParseOptions};

/// Longer fixtures are not cut at every byte.
const EVERY_BYTE_MAX: usize = 1_000;
/// The formats that state where they end.
const FORMATS: [&str; 4] = ["camt", "mt940", "ofx", "qif"];
const STATEMENTS: &str = "../../shared/realdata/statements";

fn options() -> ParseOptions {
    ParseOptions {
        today: Date::constant(2026, 11, 15),
        currency: Currency::USD,
        chosen_currency: None,
        dates: None,
        charges: None,
        limits: Limits::DEFAULT,
    }
}

fn fixtures(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/sources/fixtures").join(folder);
    let paths = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let paths = paths.filter(|it| it.extension().is_some_and(|it| it != "expected"));
    paths.map(|it| (it.clone(), fs::read(it).unwrap())).collect()
}

#[test]
fn a_cut_file_never_loses_rows_silently() {
    let mut silent = Vec::new();
    for (path, bytes) in FORMATS.iter().flat_map(|it| fixtures(it)) {
        let Ok(whole) = files::read(&bytes, &options()) else { continue };
        let step = bytes.len() / EVERY_BYTE_MAX + 1;
        let cuts = (0..bytes.len()).step_by(step);
        let cuts = cuts.filter(|at| cut(&bytes, &whole, *at) == CutOutcome::Silent);
        let places: Vec<usize> = cuts.take(5).collect();
        if !places.is_empty() {
            silent.push(format!("{} at {places:?}", path.display()));
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn a_complete_file_has_no_warning_without_reason() {
    let mut warned = Vec::new();
    for (path, bytes) in FORMATS.iter().flat_map(|it| fixtures(it)) {
        let Ok(read) = files::read(&bytes, &options()) else { continue };
        if read.notes.warnings().next().is_some() {
            warned.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    warned.sort();
    let expected = [
        "breaks_off.xml",
        "cut-after-statement.ofx",
        "cut-between-rows.ofx",
        "cut-off.ofx",
        "cut-off.qif",
        "cut_between_rows.sta",
        "cut_in_amount.sta",
        "does_not_add_up.sta",
        "does_not_add_up.xml",
        "end-missing.qif",
        "header_after_text.sta",
        "interim_report.sta",
        "missing_page.sta",
        "no_closing_balance.sta",
        "not_the_last_page.xml",
        "old-lines.qif",
        "summary.xml",
    ];
    assert_eq!(warned, expected);
}

#[test]
fn statement_files_by_others_lose_nothing_silently() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(STATEMENTS);
    if !folder.join("expected.json").is_file() {
        println!("SKIPPED: there are no statement files");
        return;
    }
    let files = statements::load(&folder).unwrap();
    for (format, tally) in statements::measure(&files) {
        assert_eq!(tally.wrong, 0, "{format}: {}", tally.remarks.join("\n"));
        assert_eq!(tally.without_answer.get(&Evidence::Lost), None, "{}", tally.remarks.join("\n"));
        assert_eq!(tally.cuts.get(&CutOutcome::Silent), None, "{}", tally.remarks.join("\n"));
    }
}
