//! Stored enumeration words are read through their type, so that an unknown word is an error, never a default.

use std::collections::BTreeSet;

use super::source::{Source, words};
use super::{assert_no_breaches, files, rust_files};

/// Calls of `parse` whose word does not come from a column, by file and type, each with its source.
const FROM_OUTSIDE: &[(&str, &str)] = &[
    ("service/src/actions/payload.rs::Side", "a member of a proposal's JSON"),
    ("service/src/actions/payload.rs::Direction", "a member of a proposal's JSON"),
    (
        "service/src/classify/bulk_edits/mod.rs::EditField",
        "several words in one column; an unknown word is an error there too",
    ),
    (
        "service/src/classify/transfers.rs::PairDecision",
        "the data to undo a proposal, which is JSON; an unknown word is an error",
    ),
    (
        "service/src/insights/household_ledger/months/packing.rs::TransferKind",
        "a packed month; an unknown word is an error there too",
    ),
];

#[test]
fn stored_words_are_read_by_their_type() {
    let types = word_types();
    assert!(types.len() > 10, "the rule finds too few types of words");
    let mut breaches = Vec::new();
    let mut used = BTreeSet::new();
    for folder in ["crates/service/src", "crates/webhooks/src"] {
        for file in files(folder, ".rs") {
            let code = &Source::parse(&file.text).code;
            let code = code.split("#[cfg(test)]").next().unwrap_or_default();
            for (line, name) in parsed(code, &types) {
                let full = format!("{}::{name}", file.path.trim_start_matches("crates/"));
                match FROM_OUTSIDE.iter().find(|(it, _)| *it == full) {
                    Some((entry, _)) => drop(used.insert(*entry)),
                    None => breaches.push(format!("{full} in line {line}")),
                }
            }
        }
    }
    assert_no_breaches(
        "Read the column as its type (`row.get`, `row.word`). If the word does not come from a column, add the call \
         to FROM_OUTSIDE.",
        &breaches,
    );
    let unused = FROM_OUTSIDE.iter().map(|(it, _)| *it).filter(|it| !used.contains(it));
    let unused: Vec<String> = unused.map(str::to_owned).collect();
    assert_no_breaches("Remove these entries of FROM_OUTSIDE: nothing needs them.", &unused);
}

/// The name of every enumeration that `base::words!` defines.
fn word_types() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in rust_files() {
        let code = &Source::parse(&file.text).code;
        for definition in code.split("words!").skip(1) {
            let inside = definition.trim_start().trim_start_matches(['(', '{']);
            let name = words(inside).find(|it| it.starts_with(|it: char| it.is_ascii_uppercase()));
            found.extend(name.map(str::to_owned));
        }
    }
    found
}

/// Calls of `parse` on a type of words, each with its line.
fn parsed(code: &str, types: &BTreeSet<String>) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("::parse(") {
        let name = words(&code[..at]).last().unwrap_or_default();
        if types.contains(name) {
            found.push((code[..at].matches('\n').count() + 1, name.to_owned()));
        }
    }
    found
}

#[test]
fn calls_of_parse_are_found_and_column_readers_are_not() {
    let types = BTreeSet::from(["Status".to_owned()]);
    let code = "a(Status::parse(row.get(1)?));\nrow.word(1, set, Status::parse); Other::parse(it)";
    assert_eq!(parsed(code, &types), [(1, "Status".to_owned())]);
}
