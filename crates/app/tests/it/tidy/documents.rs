//! Paths and links in documents exist.

use std::fs;

use super::{File, assert_no_breaches, files, root};

/// Folders of the repository: a word that begins with one of them is meant as a path.
const FOLDERS: [&str; 6] = ["crates/", "docs/", "migrations/", "xtask/", "e2e/", ".ci/"];

#[test]
fn paths_named_in_documents_exist() {
    let exists = |path: &str| root().join(path).exists();
    let breaches: Vec<String> =
        documents().iter().flat_map(|it| missing(&it.path, &it.text, exists)).collect();
    assert_no_breaches("These paths do not exist: correct the document.", &breaches);
}

/// One version of the program: the crates', which `--version` prints, the OpenAPI document's and the newest of the
/// changelog.
#[test]
fn the_version_is_the_same_everywhere() {
    let version = env!("CARGO_PKG_VERSION");
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let openapi: serde_json::Value = serde_json::from_str(&read("docs/openapi.json")).unwrap();
    assert_eq!(openapi["info"]["version"], version);
    let changelog = read("CHANGELOG.md");
    let newest = changelog.lines().find_map(|it| it.strip_prefix("## ")).unwrap();
    assert_eq!(newest.split(' ').next(), Some(version));
}

/// The documents at the root and under `docs`, except the changelog, which may name files that no longer exist.
fn documents() -> Vec<File> {
    let mut found = files("docs", ".md");
    for entry in fs::read_dir(root()).into_iter().flatten().flatten() {
        let path = entry.file_name().to_string_lossy().into_owned();
        if path.ends_with(".md") && path != "CHANGELOG.md" {
            let text = fs::read_to_string(entry.path());
            found.push(File { text: text.unwrap_or_else(|error| panic!("{path}: {error}")), path });
        }
    }
    found
}

fn missing(document: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let named = line.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
        let paths = named.filter_map(path_in).map(|it| (it, it.to_owned()));
        let links = links_in(line).map(|it| (it, resolve(folder, it)));
        let broken = paths.chain(links).filter(|(_, path)| !exists(path));
        found.extend(broken.map(|(named, _)| format!("{document}:{}: {named}", index + 1)));
    }
    found
}

/// The path that a word in backticks means, without its line number, and up to any placeholder.
fn path_in(word: &str) -> Option<&str> {
    let word = word.trim_matches(|it| ",;:()\"'".contains(it)).trim_end_matches('.');
    let ours = FOLDERS.iter().any(|it| word.starts_with(it));
    let elsewhere = word.starts_with(['/', '~', '.']) || word.contains("://");
    let file = [".rs", ".sql", ".toml"].iter().any(|it| word.ends_with(it));
    if !ours && (elsewhere || !file || !word.contains('/')) {
        return None;
    }
    let word = word.split([':', '#']).next().unwrap_or(word);
    match word.find(['<', '*', '{', '$', '…']) {
        Some(at) => word[..at].rsplit_once('/').map(|(before, _)| before),
        None => Some(word),
    }
}

/// Targets of `[text](target)` that stay inside the repository.
fn links_in(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|it| it.split([')', ' ', '#']).next());
    targets.filter(|it| !it.is_empty() && !it.contains(':') && !it.starts_with('/'))
}

fn resolve(folder: &str, link: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for part in link.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn a_missing_path_is_found_with_its_line() {
    let text = "See `crates/base/src/gone.rs:12`,\nor `base/gone.rs`, [this](../gone.md#part) and\n\
                [that](sql.md); `cp docs/gone.md docs/sql.md`, `crates/gone/<name>.rs`.";
    let existing = ["docs/sql.md", "crates/base"];
    let found = missing("docs/a.md", text, |it| existing.contains(&it));
    assert_eq!(
        found,
        [
            "docs/a.md:1: crates/base/src/gone.rs",
            "docs/a.md:2: base/gone.rs",
            "docs/a.md:2: ../gone.md",
            "docs/a.md:3: docs/gone.md",
            "docs/a.md:3: crates/gone",
        ]
    );
}

#[test]
fn words_that_are_no_paths_of_the_repository_are_ignored() {
    let text = "`GET /v1/accounts`, `/etc/evenkeel.toml`, `~/keel.toml`, `and/or`\n\
                docs/gone.md without backticks, `crates/*/src`, `https://x.org/a.rs`\n\
                [web](https://example.org), [up](#here)\n\
                ```\n`docs/gone.md`\n```\n";
    assert_eq!(missing("README.md", text, |it| it == "crates"), [""; 0]);
}
