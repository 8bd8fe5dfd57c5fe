//! Reads the imports between the modules of a crate from its sources.

use std::collections::BTreeSet;

use super::source::Source;
use super::{File, files, rust_files};

/// A module as its path inside its crate: `["ledger", "accounts"]`. The crate's root is empty.
pub(super) type ModulePath = Vec<String>;

/// One import, with the file and line of its `use` or path.
pub(super) struct Import {
    pub(super) from: ModulePath,
    pub(super) to: ModulePath,
    pub(super) location: String,
}

/// The folder of every crate's sources.
pub(super) fn crate_folders() -> BTreeSet<String> {
    let all = rust_files();
    let folders = all.iter().filter_map(|it| it.path.split_once("/src/").map(|(name, _)| name));
    folders.map(|it| format!("{it}/src")).collect()
}

/// Every import of one module of the crate in this folder by another, outside of tests.
pub(super) fn imports(folder: &str) -> Vec<Import> {
    let mut sources = files(folder, ".rs");
    let tests: BTreeSet<ModulePath> =
        sources.iter().flat_map(|it| test_modules(folder, it)).collect();
    sources.retain(|it| {
        let path = module_path(folder, &it.path);
        !(0..=path.len()).any(|length| tests.contains(&path[..length]))
    });
    let modules: BTreeSet<ModulePath> =
        sources.iter().map(|it| module_path(folder, &it.path)).collect();
    let mut found = Vec::new();
    for file in &sources {
        let from = module_path(folder, &file.path);
        for (line, path) in paths_in(&Source::parse(&file.text).code) {
            let Some(path) = absolute(&from, &path) else { continue };
            let to = longest_module(&modules, &path);
            if to != from {
                found.push(Import {
                    from: from.clone(),
                    to,
                    location: format!("{}:{line}", file.path),
                });
            }
        }
    }
    found
}

/// The modules that a file declares for tests only.
fn test_modules(folder: &str, file: &File) -> Vec<ModulePath> {
    let from = module_path(folder, &file.path);
    let declared = file.text.split("#[cfg(test)]\nmod ").skip(1);
    let names = declared.filter_map(|it| it.split_once(';').map(|(name, _)| name));
    let names = names.filter(|it| it.chars().all(|it| it.is_alphanumeric() || it == '_'));
    names.map(|name| [from.clone(), vec![name.to_owned()]].concat()).collect()
}

pub(super) fn module_path(folder: &str, path: &str) -> ModulePath {
    let inside = path.trim_start_matches(folder).trim_start_matches('/').trim_end_matches(".rs");
    let mut parts: ModulePath = inside.split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|it| ["mod", "lib", "main"].contains(&it.as_str())) {
        parts.pop();
    }
    parts
}

/// Resolves `crate::` and `super::`; none for paths into other crates.
fn absolute(from: &ModulePath, path: &[String]) -> Option<ModulePath> {
    let mut base = match path.first()?.as_str() {
        "crate" => ModulePath::new(),
        "super" | "self" => from.clone(),
        _ => return None,
    };
    for part in path {
        match part.as_str() {
            "crate" | "self" => {}
            "super" => drop(base.pop()),
            part => base.push(part.to_owned()),
        }
    }
    Some(base)
}

fn longest_module(modules: &BTreeSet<ModulePath>, path: &ModulePath) -> ModulePath {
    let lengths = (0..=path.len()).rev();
    let prefixes = lengths.map(|length| path[..length].to_vec());
    prefixes.into_iter().find(|it| modules.contains(it)).unwrap_or_default()
}

/// Every path that begins with `crate::`, `super::` or `self::`, with `use` trees expanded, each with its line.
fn paths_in(code: &str) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|it| it.is_alphanumeric() || it == '_' || it == ':') {
                continue;
            }
            let line = code[..at].matches('\n').count() + 1;
            let mut paths = Vec::new();
            expand(&code[at..], &mut Vec::new(), &mut paths);
            found.extend(paths.into_iter().map(|it| (line, it)));
        }
    }
    found
}

/// Reads one path or tree from the start of the text. Returns the number of bytes read.
fn expand(text: &str, prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let depth = prefix.len();
    let mut at = 0;
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        let rest = &text[at..];
        let length = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
        if length > 0 {
            prefix.push(rest[..length].to_owned());
            at += length;
        }
        match &text.as_bytes()[at..] {
            [b':', b':', b'{', ..] => {
                at += 3;
                while !text[at..].is_empty() && !text[at..].trim_start().starts_with('}') {
                    let length_read = expand(&text[at..], prefix, found);
                    at += length_read.max(1);
                    let rest = &text[at..];
                    let trimmed = rest.trim_start();
                    at += rest.len() - trimmed.len() + usize::from(trimmed.starts_with(','));
                }
                at += text[at..].find('}').map_or(0, |it| it + 1);
                break;
            }
            [b':', b':', next, ..] if next.is_ascii_alphabetic() || *next == b'_' => at += 2,
            _ => {
                found.push(prefix.clone());
                let rest = &text[at..];
                if let Some(alias) = rest.strip_prefix(" as ") {
                    let name = alias.find(|it: char| !it.is_alphanumeric() && it != '_');
                    at += 4 + name.unwrap_or(alias.len());
                }
                break;
            }
        }
    }
    prefix.truncate(depth);
    at
}

#[test]
fn use_trees_are_expanded_and_relative_paths_resolved() {
    let code = "use crate::{a::{self, b as c}, d};\nfn f() { super::e::g(crate::h::I::new()) }";
    let paths: Vec<String> =
        paths_in(code).iter().map(|(line, it)| format!("{line} {}", it.join("::"))).collect();
    let expected =
        ["1 crate::a::self", "1 crate::a::b", "1 crate::d", "2 crate::h::I::new", "2 super::e::g"];
    assert_eq!(paths, expected);
    let from: ModulePath = ["x", "y"].map(str::to_owned).to_vec();
    let path = ["super", "e"].map(str::to_owned);
    assert_eq!(absolute(&from, &path).unwrap(), ["x", "e"]);
    assert!(absolute(&from, &["std".to_owned()]).is_none());
}
