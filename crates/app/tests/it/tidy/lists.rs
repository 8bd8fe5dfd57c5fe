//! Statements that return many rows have a limit.

use std::collections::BTreeMap;

use super::bounded_lists::BOUNDED;
use super::source::{Source, words};
use super::{File, assert_no_breaches, files};

/// Methods of `Db` and `Tx` that visit or collect every row.
const METHODS: [&str; 4] = [".all(", ".each(", ".each_slow(", ".each_resumable("];

#[test]
fn every_list_statement_has_a_limit_or_a_known_bound() {
    let mut breaches = Vec::new();
    let mut used = Vec::new();
    for folder in ["crates/service/src", "crates/webhooks/src"] {
        for file in files(folder, ".rs") {
            for name in unlimited(&file) {
                let full = format!("{}::{name}", file.path.trim_start_matches("crates/"));
                match BOUNDED.iter().find(|(it, _)| *it == full) {
                    Some((entry, _)) => used.push(*entry),
                    None => breaches.push(full),
                }
            }
        }
    }
    assert_no_breaches("Add a limit to the statement, or its bound to BOUNDED.", &breaches);
    let unused = BOUNDED.iter().map(|(it, _)| *it).filter(|it| !used.contains(it));
    let unused: Vec<String> = unused.map(str::to_owned).collect();
    assert_no_breaches("Remove these entries of BOUNDED: nothing needs them.", &unused);
}

/// The constants of a file's list statements that have no limit. A statement that is built at run time counts by the
/// name of its variable.
fn unlimited(file: &File) -> Vec<String> {
    let code = &Source::parse(&file.text).code;
    let statements = statements(&file.text);
    let mut found: Vec<String> = Vec::new();
    for method in METHODS {
        for (at, _) in code.match_indices(method) {
            let rest = code[at + method.len()..].trim_start().trim_start_matches('&');
            let argument = rest.split([',', ')']).next().unwrap_or_default();
            // A closure means that this is a method of an iterator.
            if argument.contains('|') || !rest.contains(',') {
                continue;
            }
            let name = words(argument).last().unwrap_or_default().to_owned();
            let is_statement = name.chars().all(|it| it.is_ascii_uppercase() || it == '_')
                || ["sql", "statement", "query"].contains(&name.as_str());
            let has_limit =
                statements.get(&name).is_some_and(|sql| sql_words(sql).any(|it| it == "limit"));
            if is_statement && !name.is_empty() && !has_limit && !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

#[test]
fn every_known_bound_is_named() {
    let unnamed = BOUNDED.iter().filter(|(_, reason)| !names_a_bound(reason));
    let unnamed: Vec<String> = unnamed.map(|(name, reason)| format!("{name}: {reason}")).collect();
    assert_no_breaches(
        "Name the constant or setting that bounds these rows, or say that they are visited row by row, are one for \
         each of something, or are unlimited.",
        &unnamed,
    );
    assert!(
        names_a_bound("one person's rules, at most RULES_MAX")
            && !names_a_bound("one person's goals")
    );
}

fn names_a_bound(reason: &str) -> bool {
    let bounds = [
        "_MAX",
        "at most ",
        "visited row by row",
        "one row for each ",
        "one transaction",
        " between ",
        "with a limit",
    ];
    bounds.iter().any(|it| reason.contains(it))
}

fn sql_words(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(|it: char| !it.is_ascii_alphabetic())
}

/// The text of every string constant of a file.
fn statements(text: &str) -> BTreeMap<String, String> {
    let constants = text.split("const ").skip(1);
    let parsed = constants.filter_map(|it| {
        let (name, rest) = it.split_once(": &str =")?;
        let end = rest.find(";\n").unwrap_or(rest.len());
        Some((name.to_owned(), rest[..end].to_owned()))
    });
    parsed.collect()
}

#[test]
fn statements_without_a_limit_are_found() {
    let text = "fn f() { tx.all(LIST, params![user], read)?; tx.all(PAGE, params![user], read)?;\n\
        names.iter().all(|it| it.is_empty()); db.each(&sql, &[], visit).await?; tx.all(super::OTHER, &[], read) }\n\
        const LIST: &str =\n    \"select id from goals where user_id = $1\";\n\
        const PAGE: &str = \"select id from goals where user_id = $1\n    limit 50\";\n";
    let file = File { path: String::new(), text: text.to_owned() };
    assert_eq!(unlimited(&file), ["LIST", "OTHER", "sql"]);
}
