//! Rules that the compiler does not check, tested over the whole repository.

mod bounded_lists;
mod callers;
mod crates;
mod documents;
mod files;
mod imports;
mod lists;
mod modules;
mod source;
mod stored_words;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A text file of the repository, by its path from the root.
struct File {
    path: String,
    text: String,
}

/// Every file under a folder whose path has this ending, sorted; none if there is no such folder.
fn files(folder: &str, ending: &str) -> Vec<File> {
    let mut paths = Vec::new();
    walk(&root(), folder, &mut paths);
    paths.retain(|it| it.ends_with(ending));
    paths.sort();
    let read = |path: String| {
        let text = fs::read_to_string(root().join(&path));
        File { text: text.unwrap_or_else(|error| panic!("{path}: {error}")), path }
    };
    paths.into_iter().map(read).collect()
}

fn walk(root: &Path, folder: &str, paths: &mut Vec<String>) {
    for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                // Build output and downloads are not ours.
                if !path.ends_with("/target") && !path.ends_with("/node_modules") {
                    walk(root, &path, paths);
                }
            }
            _ => paths.push(path),
        }
    }
}

/// Every Rust file of the crates, `e2e` and `xtask`.
fn rust_files() -> Vec<File> {
    let mut found = files("crates", ".rs");
    found.extend(files("e2e", ".rs"));
    found.extend(files("xtask", ".rs"));
    assert!(found.len() > 10, "the repository is not at {:?}", root());
    found
}

/// Fails with all breaches at once, so that one run shows all of them.
fn assert_no_breaches(rule: &str, breaches: &[String]) {
    assert!(breaches.is_empty(), "{rule}\n  {}\n", breaches.join("\n  "));
}
