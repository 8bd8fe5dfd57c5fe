//! Public functions over a person's data take a `Caller`.

use super::source::Source;
use super::{assert_no_breaches, files};

/// Functions without a `Caller`: by file and name, by file, or by folder (with a slash at the end), each with the reason.
/// Worker steps (`*_once`) need no entry: they work for all people.
const WITHOUT_CALLER: &[(&str, &str)] = &[
    ("access/", "establishes who the caller is, or is for the operator at the command line"),
    ("backup/", "the operator's backup of the whole installation"),
    ("chains.rs", "the operator's check of the whole installation"),
    (
        "platform/",
        "the installation itself, or called by capabilities that have checked their caller",
    ),
    ("insights/pipeline/mod.rs", "recomputes derived data; returns none of it"),
    ("actions/", "renders or executes an action that its caller has already read"),
    ("ingest/imports/files/", "progress of an import, by an id that its caller was given"),
    ("trading/quotes.rs", "market prices belong to nobody"),
    ("webhooks/", "checks an address, or authenticates a visitor of the webhook portal"),
];

#[test]
fn public_functions_over_a_persons_data_take_a_caller() {
    let mut breaches = Vec::new();
    let mut used = Vec::new();
    for file in files("crates/service/src", ".rs") {
        let code = Source::parse(&file.text).code;
        let code = code.split("#[cfg(test)]").next().unwrap_or_default();
        for name in functions_without_caller(code) {
            let path = file.path.trim_start_matches("crates/service/src/");
            let full = format!("{path}::{name}");
            let fits = |entry: &str| match entry.strip_suffix('/') {
                Some(_) => path.starts_with(entry),
                None => entry == full || entry == path,
            };
            let exempt = WITHOUT_CALLER.iter().find(|(it, _)| fits(it));
            match exempt {
                Some((entry, _)) => used.push(*entry),
                None => breaches.push(full),
            }
        }
    }
    assert_no_breaches("Take a `&Caller`, or add the reason to WITHOUT_CALLER.", &breaches);
    let unused = WITHOUT_CALLER.iter().map(|(it, _)| *it).filter(|it| !used.contains(it));
    let unused: Vec<String> = unused.map(str::to_owned).collect();
    assert_no_breaches("Remove these entries of WITHOUT_CALLER: nothing needs them.", &unused);
}

/// The public functions that take the application or a transaction, but no caller.
fn functions_without_caller(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for start in ["pub fn ", "pub async fn "] {
        for (at, _) in code.match_indices(start) {
            let rest = &code[at + start.len()..];
            let name = rest.split(['(', '<']).next().unwrap_or_default();
            let parameters = parameters(rest);
            let reads = ["&App", "Tx<", "&Db"].iter().any(|it| parameters.contains(it));
            if reads && !parameters.contains("Caller") && !name.ends_with("_once") {
                found.push(name.to_owned());
            }
        }
    }
    found.sort();
    found
}

/// The text between the parentheses of a function's parameters.
fn parameters(function: &str) -> &str {
    let open = function.find('(').unwrap_or(function.len());
    let mut depth = 0;
    for (at, letter) in function[open..].char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &function[open..open + at];
        }
    }
    ""
}

#[test]
fn functions_without_a_caller_are_found() {
    let code = "pub async fn list(app: &App, user: UserId) {}\npub(crate) fn inner(tx: &mut Tx<'_>) {}\n\
        pub fn get(app: &App, caller: &Caller, visit: impl FnMut(i64)) {}\n\
        pub async fn send_once(app: &App) {}\npub fn add<T>(tx: &mut Tx<'_>, f: fn(T)) {}\npub fn sum(a: i64) {}";
    assert_eq!(functions_without_caller(code), ["add", "list"]);
}
