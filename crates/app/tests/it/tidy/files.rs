//! Rules about files: their names, their length, and that each is compiled.

use std::collections::BTreeSet;

use super::source::{Source, words};
use super::{File, assert_no_breaches, files, rust_files};

const LINES_MAX: usize = 600;

/// Names that say nothing about the content, so that unrelated things collect there.
const VAGUE_NAMES: [&str; 9] =
    ["common", "core", "helper", "helpers", "misc", "shared", "util", "utilities", "utils"];

#[test]
fn files_stay_short() {
    let long = rust_files().into_iter().filter_map(|it| match it.text.lines().count() {
        lines if lines > LINES_MAX => Some(format!("{}: {lines} lines", it.path)),
        _ => None,
    });
    assert_no_breaches(
        "Split these files by topic: 600 lines are the limit.",
        &long.collect::<Vec<_>>(),
    );
}

#[test]
fn file_names_describe_their_content() {
    let vague: Vec<String> =
        rust_files().into_iter().map(|it| it.path).filter(|it| has_vague_name(it)).collect();
    assert_no_breaches(
        "Name the file after its content, or move its parts to where they are used.",
        &vague,
    );
}

fn has_vague_name(path: &str) -> bool {
    let parts = path.trim_end_matches(".rs").split('/');
    !path.contains("/tests/") && parts.into_iter().any(|it| VAGUE_NAMES.contains(&it))
}

/// Files that need no first sentence.
const WITHOUT_PURPOSE: &[&str] = &[
    // An example of the documentation, which readers copy.
    "crates/web/src/site/docs/verify_examples/verify.rs",
];

#[test]
fn every_file_begins_with_its_purpose() {
    let lacks = |it: &File| !has_purpose(&it.text);
    let found: Vec<String> = rust_files().into_iter().filter(lacks).map(|it| it.path).collect();
    let is_listed = |path: &String| WITHOUT_PURPOSE.contains(&path.as_str());
    let breaches: Vec<String> = found.iter().filter(|it| !is_listed(it)).cloned().collect();
    assert_no_breaches(
        "Begin these files with `//!` and a sentence that says what they are for.",
        &breaches,
    );
    let is_unused = |path: &&&str| !found.iter().any(|it| it == *path);
    let unused: Vec<String> =
        WITHOUT_PURPOSE.iter().filter(is_unused).map(|it| (*it).to_owned()).collect();
    assert_no_breaches("Remove these entries of WITHOUT_PURPOSE: nothing needs them.", &unused);
}

/// Whether a text begins with a sentence of documentation.
fn has_purpose(text: &str) -> bool {
    text.strip_prefix("//! ")
        .is_some_and(|it| it.starts_with(|it: char| it.is_alphanumeric() || it == '`'))
}

#[test]
fn every_file_is_compiled() {
    let dead = unreachable(&rust_files());
    assert_no_breaches(
        "No `mod` declares these files, so they are never compiled: declare or delete them.",
        &dead,
    );
}

/// The files that no root of a crate includes, directly or through other modules.
fn unreachable(all: &[File]) -> Vec<String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&File> = all.iter().filter(|it| is_root(&it.path)).collect();
    while let Some(file) = open.pop() {
        if reached.insert(file.path.as_str()) {
            let declared_paths = declared(file);
            open.extend(all.iter().filter(|it| declared_paths.contains(&it.path)));
        }
    }
    let paths = all.iter().map(|it| it.path.clone());
    paths.filter(|it| !reached.contains(it.as_str())).collect()
}

/// Whether cargo starts to compile at this file. Each crate has one integration test binary, because each is linked
/// separately.
fn is_root(path: &str) -> bool {
    let inside = path.strip_prefix("crates/").and_then(|it| it.split_once('/'));
    let outside_crates = path.trim_start_matches("xtask/").trim_start_matches("e2e/");
    let inside = inside.map_or(outside_crates, |(_, it)| it);
    let is_single_file = ["src/bin/", "benches/", "examples/"]
        .iter()
        .any(|it| inside.strip_prefix(it).is_some_and(|name| !name.contains('/')));
    let mut example = inside.strip_prefix("examples/").into_iter().flat_map(|it| it.split('/'));
    let is_example = (example.next().is_some(), example.next()) == (true, Some("main.rs"));
    is_single_file
        || is_example
        || ["src/lib.rs", "src/main.rs", "tests/it/main.rs", "tests/browser/main.rs", "build.rs"]
            .contains(&inside)
}

/// Every path at which a module that this file declares could be.
fn declared(file: &File) -> Vec<String> {
    let (folder, name) = file.path.rsplit_once('/').unwrap_or_default();
    let folder = match name.trim_end_matches(".rs") {
        "mod" | "lib" | "main" => folder.to_owned(),
        own => format!("{folder}/{own}"),
    };
    let code = &Source::parse(&file.text).code;
    let mut declared_paths = Vec::new();
    for statement in code.split_inclusive([';', '{', '}']) {
        let mut last = words(statement).collect::<Vec<_>>().into_iter().rev();
        if let (true, Some(module), Some("mod")) =
            (statement.ends_with(';'), last.next(), last.next())
        {
            declared_paths.push(format!("{folder}/{module}.rs"));
            declared_paths.push(format!("{folder}/{module}/mod.rs"));
        }
    }
    declared_paths
}

#[test]
fn migrations_are_numbered_without_gaps() {
    let names: Vec<String> = files("migrations", "")
        .iter()
        .map(|it| it.path.trim_start_matches("migrations/").to_owned())
        // The views are no migration: they are created after all of them.
        .filter(|it| it != "views.sql")
        .collect();
    assert_no_breaches(
        "Migrations are called NNNN_name.sql, from 0001 on, in lower case.",
        &misnumbered(names.iter().map(String::as_str)),
    );
}

fn misnumbered<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let well_named = |(index, name): (usize, &str)| {
        let rest = name.strip_prefix(&format!("{:04}_", index + 1))?.strip_suffix(".sql")?;
        let plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
        (!rest.is_empty() && rest.chars().all(plain)).then_some(())
    };
    let wrong = names.enumerate().filter(|it| well_named(*it).is_none());
    wrong.map(|(index, name)| format!("migrations/{name} should be number {}", index + 1)).collect()
}

#[test]
fn an_undeclared_file_is_found_and_declared_ones_are_not() {
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let all = [
        file("crates/a/src/lib.rs", "#[cfg(test)]\nmod tests { }\npub mod near; // mod gone;"),
        file("crates/a/src/near.rs", "pub(crate) mod far;"),
        file("crates/a/src/near/far/mod.rs", "mod end;"),
        file("crates/a/src/near/far/end.rs", ""),
        file("crates/a/src/gone.rs", "mod lost;"),
        file("crates/a/src/lost.rs", ""),
        file("crates/a/tests/it/main.rs", "mod part;"),
        file("crates/a/tests/it/part.rs", ""),
        file("crates/a/tests/second.rs", ""),
        file("crates/a/src/bin/tool.rs", ""),
        file("crates/a/examples/show/main.rs", "mod part;"),
        file("crates/a/examples/show/part.rs", ""),
        file("xtask/src/main.rs", "mod chore;"),
        file("xtask/src/chore.rs", ""),
    ];
    let dead = ["crates/a/src/gone.rs", "crates/a/src/lost.rs", "crates/a/tests/second.rs"];
    assert_eq!(unreachable(&all), dead);
}

#[test]
fn a_file_without_a_first_sentence_is_found() {
    assert!(
        has_purpose("//! Rules about files.\n") && has_purpose("//! `evenkeel key`: lists keys.\n")
    );
    for bad in ["use std::fs;\n", "//!\n//! Late.\n", "// A note.\n", "#![allow(x)]\n//! Late.\n"] {
        assert!(!has_purpose(bad), "{bad}");
    }
}

#[test]
fn vague_names_are_found_as_files_and_as_folders() {
    assert!(has_vague_name("crates/web/src/utils.rs"));
    assert!(has_vague_name("crates/web/src/common/money.rs"));
    assert!(!has_vague_name("crates/web/tests/it/common.rs"));
    assert!(!has_vague_name("crates/web/src/commons.rs"));
}

#[test]
fn gaps_and_bad_names_of_migrations_are_found() {
    assert_eq!(misnumbered(["0001_first.sql", "0002_more_2.sql"].into_iter()), [""; 0]);
    let wrong = ["0001_first.sql", "0003_gap.sql", "0003_Case.sql", "4_short.sql", "notes.md"];
    assert_eq!(misnumbered(wrong.into_iter()).len(), 4);
}
