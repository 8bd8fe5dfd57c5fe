//! Laws of tables: a file that is cut off says so, and what is left of it is not changed. Real files of others are
//! checked too where they are at hand (`../shared/realdata`); they are not part of the project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::files::fixtures::{options, show};
use crate::files::{FileContents, Note, read};

/// Amounts without their sign, by how often they occur.
fn amounts(contents: &FileContents) -> BTreeMap<u64, usize> {
    let mut amounts = BTreeMap::new();
    for row in contents.accounts.iter().flat_map(|it| &it.draft.transactions) {
        *amounts.entry(row.amount.minor().unsigned_abs()).or_default() += 1;
    }
    amounts
}

fn rows(contents: &FileContents) -> usize {
    contents.accounts.iter().map(|it| it.draft.transactions.len()).sum()
}

/// Cuts a file, and checks that the reading is refused, says so, or loses nothing. The cut file is read as the person who
/// has only it would: with the layout that is detected from it. `is_exact` also requires that no amount is changed.
fn check_cut(bytes: &[u8], at: usize, is_exact: bool) -> Result<(), String> {
    let Ok(whole) = read(bytes, &options()) else { return Ok(()) };
    // A table has no end mark, so a cut between two lines cannot be seen.
    let is_line_end = |it: Option<&u8>| it.is_none_or(|it| matches!(it, b'\n' | b'\r'));
    let is_between = is_line_end(bytes.get(at)) || is_line_end(bytes[..at].last());
    let Ok(cut) = read(&bytes[..at], &options()) else { return Ok(()) };
    let is_new = |it: &Note| whole.notes.warnings().all(|known| known != it);
    let is_said = cut.rejected.count > whole.rejected.count || cut.notes.warnings().any(is_new);
    if rows(&cut) < rows(&whole) && !is_said && !is_between {
        return Err(format!("{} of {} rows without a word", rows(&cut), rows(&whole)));
    }
    let all = amounts(&whole);
    let changed =
        amounts(&cut).into_iter().find(|(it, count)| all.get(it).is_none_or(|all| all < count));
    match changed {
        // A single row cannot be compared with others.
        Some((minor, _)) if is_exact && rows(&cut) > 1 => {
            Err(format!("the amount {minor} is not in the whole file"))
        }
        _ => Ok(()),
    }
}

#[derive(Debug, Clone, Copy)]
enum Place {
    First,
    Middle,
    Last,
}

/// A table with exact amounts, which are in the first, a middle or the last column.
fn table(rows: &[(i64, String)], place: Place, quoted: bool, end: &str) -> String {
    let quote = |text: &str| if quoted { format!("\"{text}\"") } else { text.to_owned() };
    let line = |date: &str, amount: &str, text: &str| {
        let [date, amount, text] = [date, amount, text].map(quote);
        match place {
            Place::First => format!("{amount},{date},{text},x{end}"),
            Place::Middle => format!("{date},{amount},{text},x{end}"),
            Place::Last => format!("{date},{text},x,{amount}{end}"),
        }
    };
    let mut all = line("Date", "Amount", "Description");
    for (day, (minor, text)) in (1..).zip(rows) {
        let sign = if *minor < 0 { "-" } else { "" };
        let minor = minor.unsigned_abs();
        let amount = format!("{sign}{}.{:02}", minor / 100, minor % 100);
        all += &line(&format!("2026-03-{day:02}"), &amount, text);
    }
    all
}

proptest! {
    #[test]
    fn a_table_that_is_cut_anywhere_says_so_and_changes_no_amount(
        rows in prop::collection::vec((-99_999_i64..99_999, "[A-Z]{3,8} [A-Z]{3,8}"), 2..12),
        place in prop::sample::select(vec![Place::First, Place::Middle, Place::Last]),
        quoted: bool,
        end in prop::sample::select(vec!["\n", "\r\n"]),
        at: prop::sample::Index,
    ) {
        let text = table(&rows, place, quoted, end);
        let checked = check_cut(text.as_bytes(), at.index(text.len()), true);
        prop_assert!(checked.is_ok(), "{:?}: {}", checked, text);
    }
}

/// The real files at hand; none if they are not.
fn real_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/realdata");
    let mut folders: Vec<PathBuf> =
        ["csv", "csv-expected"].map(|it| root.join("statements").join(it)).into();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

#[test]
fn real_tables_are_read_the_same_twice_and_say_so_when_they_are_cut() {
    let mut wrong = Vec::new();
    for path in real_files() {
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(show(&read(&bytes, &options())), show(&read(&bytes, &options())));
        for part in 1..12 {
            let at = bytes.len() * part / 12;
            if let Err(error) = check_cut(&bytes, at, false) {
                wrong.push(format!("{} at {at}: {error}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
