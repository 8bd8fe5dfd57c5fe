//! How files are called, how long they are, and that each is used.

use std::collections::BTreeSet;

use super::source::{Source, words};
use super::{File, assert_no_breaches, files, rust_files};

const MOST_LINES: usize = 600;

/// Names that say nothing about what is inside, and so attract everything.
const EMPTY_NAMES: [&str; 9] =
    ["common", "core", "helper", "helpers", "misc", "shared", "util", "utilities", "utils"];

#[test]
fn files_stay_short() {
    let long = rust_files().into_iter().filter_map(|it| match it.text.lines().count() {
        lines if lines > MOST_LINES => Some(format!("{}: {lines} lines", it.path)),
        _ => None,
    });
    assert_no_breaches(
        "Split along what the parts are about: 600 lines are the limit.",
        &long.collect::<Vec<_>>(),
    );
}

#[test]
fn names_say_what_is_inside() {
    let empty: Vec<String> =
        rust_files().into_iter().map(|it| it.path).filter(|it| has_empty_name(it)).collect();
    assert_no_breaches(
        "Name it after what it holds, or move its parts to where they are used.",
        &empty,
    );
}

fn has_empty_name(path: &str) -> bool {
    let parts = path.trim_end_matches(".rs").split('/');
    !path.contains("/tests/") && parts.into_iter().any(|it| EMPTY_NAMES.contains(&it))
}

#[test]
fn every_file_belongs_to_its_crate() {
    let dead = unreachable(&rust_files());
    assert_no_breaches(
        "Nothing declares these with `mod`, so they are never compiled: do so, or delete.",
        &dead,
    );
}

/// The files that no root of a crate leads to.
fn unreachable(all: &[File]) -> Vec<String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&File> = all.iter().filter(|it| is_root(&it.path)).collect();
    while let Some(file) = open.pop() {
        if reached.insert(file.path.as_str()) {
            let places = declared(file);
            open.extend(all.iter().filter(|it| places.contains(&it.path)));
        }
    }
    let paths = all.iter().map(|it| it.path.clone());
    paths.filter(|it| !reached.contains(it.as_str())).collect()
}

/// Where cargo starts to read. One integration binary per crate, because each is linked anew.
fn is_root(path: &str) -> bool {
    let inside = path.strip_prefix("crates/").and_then(|it| it.split_once('/'));
    let beside = path.trim_start_matches("xtask/").trim_start_matches("e2e/");
    let inside = inside.map_or(beside, |(_, it)| it);
    let alone = ["src/bin/", "benches/", "examples/"]
        .iter()
        .any(|it| inside.strip_prefix(it).is_some_and(|name| !name.contains('/')));
    alone
        || ["src/lib.rs", "src/main.rs", "tests/it/main.rs", "tests/browser/main.rs", "build.rs"]
            .contains(&inside)
}

/// Every place where a module that this file declares could be.
fn declared(file: &File) -> Vec<String> {
    let (folder, name) = file.path.rsplit_once('/').unwrap_or_default();
    let folder = match name.trim_end_matches(".rs") {
        "mod" | "lib" | "main" => folder.to_owned(),
        own => format!("{folder}/{own}"),
    };
    let code = Source::parse(&file.text).code;
    let mut places = Vec::new();
    for statement in code.split_inclusive([';', '{', '}']) {
        let mut last = words(statement).collect::<Vec<_>>().into_iter().rev();
        if let (true, Some(module), Some("mod")) =
            (statement.ends_with(';'), last.next(), last.next())
        {
            places.push(format!("{folder}/{module}.rs"));
            places.push(format!("{folder}/{module}/mod.rs"));
        }
    }
    places
}

#[test]
fn migrations_are_numbered_without_gaps() {
    let names: Vec<String> = files("migrations", "")
        .iter()
        .map(|it| it.path.trim_start_matches("migrations/").to_owned())
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
        file("xtask/src/main.rs", "mod chore;"),
        file("xtask/src/chore.rs", ""),
    ];
    let dead = ["crates/a/src/gone.rs", "crates/a/src/lost.rs", "crates/a/tests/second.rs"];
    assert_eq!(unreachable(&all), dead);
}

#[test]
fn empty_names_are_found_as_files_and_as_folders() {
    assert!(has_empty_name("crates/web/src/utils.rs"));
    assert!(has_empty_name("crates/web/src/common/money.rs"));
    assert!(!has_empty_name("crates/web/tests/it/common.rs"));
    assert!(!has_empty_name("crates/web/src/commons.rs"));
}

#[test]
fn gaps_and_bad_names_of_migrations_are_found() {
    assert_eq!(misnumbered(["0001_first.sql", "0002_more_2.sql"].into_iter()), [""; 0]);
    let wrong = ["0001_first.sql", "0003_gap.sql", "0003_Case.sql", "4_short.sql", "notes.md"];
    assert_eq!(misnumbered(wrong.into_iter()).len(), 4);
}
