//! Stored enumeration words are read through their type, so that an unknown word is an error, never a default.

use std::collections::BTreeSet;

use super::source::{Source, lines_with, words};
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

#[test]
fn stored_words_are_compared_as_their_type() {
    let mut found = Vec::new();
    for folder in ["crates/service/src", "crates/webhooks/src"] {
        for file in files(folder, ".rs") {
            let text = file.text.split("#[cfg(test)]").next().unwrap_or_default();
            let lines = lines_with(text, compares_text).into_iter();
            found.extend(lines.map(|(number, line)| format!("{}:{number}: {line}", file.path)));
        }
    }
    assert_no_breaches(
        "Read the column as its type and compare with a variant: text that the program does not know would count as \
         different.",
        &found,
    );
}

/// Whether a line of code compares a column's text, or a member that holds a stored word, with a literal.
fn compares_text(line: &str) -> bool {
    let is_comment = line.starts_with("//");
    let after = |start: &str| line.split_once(start).map(|(_, after)| after);
    let of_column =
        ["get::<&str>(", "get::<String>(", "get::<Option<&str>>(", "get::<Option<String>>("]
            .iter()
            .filter_map(|it| after(it))
            .any(|it| it.contains("== ") || it.contains("!= "));
    let members = ["status", "state", "trigger", "trigger_kind", "role", "outcome", "direction"];
    let of_member = members.iter().any(|name| {
        let compared = ["", ".as_str()", ".as_ref()"].iter();
        compared
            .flat_map(|by| ["==", "!="].map(|sign| format!(".{name}{by} {sign} \"")))
            .any(|it| line.contains(&it))
    });
    let of_match =
        ["match row.get::<&str>(", "match row.get::<String>("].iter().any(|it| line.contains(it))
            || members.iter().any(|name| {
                line.starts_with("match ") && line.contains(&format!(".{name}.as_str() {{"))
            });
    !is_comment && (of_column || of_member || of_match)
}

#[test]
fn comparisons_of_stored_text_are_found() {
    for bad in [
        "has_succeeded: row.get::<&str>(1)? == \"succeeded\",",
        "Ok((row.get::<String>(0)? != \"test\").then_some(it))",
        "let is_test = it.trigger == \"test\";",
        "if it.status.as_str() != \"failed\" {",
        "match row.get::<&str>(0)? {",
        "match it.status.as_str() {",
    ] {
        assert!(compares_text(bad), "{bad}");
    }
    for good in [
        "row.get::<AttemptStatus>(1)? == AttemptStatus::Succeeded",
        "let name = row.get::<String>(1)?;",
        "// it.status == \"failed\"",
        "match it.status {",
    ] {
        assert!(!compares_text(good), "{good}");
    }
}
