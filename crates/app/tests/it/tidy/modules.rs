//! Imports between modules: groups of `service` import only lower groups, and no modules of a crate import each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::imports::{Import, ModulePath, crate_folders, imports, module_path};
use super::{assert_no_breaches, files, root};

/// The groups of `service`, from the bottom up. A group imports only the groups before it.
const GROUPS: [&str; 20] = [
    "platform",
    "placement",
    "access",
    "ledger",
    "classify",
    "ingest",
    "insights",
    "trading",
    "chains",
    "actions",
    "webhooks",
    "exports",
    "onboarding",
    "summary",
    "retention",
    "backup",
    "key_rotation",
    "mail",
    "metrics",
    "schema",
];

/// Modules of `service` that every group may import.
const SHARED: [&str; 1] = ["error"];

#[test]
fn groups_of_service_import_only_lower_groups() {
    let mut breaches = Vec::new();
    for import in imports("crates/service/src") {
        let (Some(from), Some(to)) = (import.from.first(), import.to.first()) else {
            // The root of the crate puts the groups together.
            continue;
        };
        if is_upward(from, to) {
            breaches.push(format!("{}: {from} must not import {to}", import.location));
        }
    }
    assert_no_breaches("Groups of `service` import only the groups below them.", &breaches);
}

/// A module that is neither shared nor a group imports nothing and is imported by nobody.
fn is_upward(from: &str, to: &str) -> bool {
    let rank = |name: &str| GROUPS.iter().position(|it| *it == name);
    match (rank(from), rank(to)) {
        (Some(from), Some(to)) => from < to,
        (Some(_), None) => !SHARED.contains(&to),
        (None, _) => from != to,
    }
}

#[test]
fn every_module_of_service_is_a_group_or_shared() {
    let modules: BTreeSet<String> = files("crates/service/src", ".rs")
        .iter()
        .filter_map(|it| module_path("crates/service/src", &it.path).into_iter().next())
        .collect();
    let known = || GROUPS.into_iter().chain(SHARED).map(str::to_owned);
    let unknown: Vec<String> =
        modules.iter().filter(|it| !known().any(|of| of == **it)).cloned().collect();
    assert_no_breaches("Add these modules of `service` to GROUPS, at their place.", &unknown);
    let missing: Vec<String> = known().filter(|it| !modules.contains(it)).collect();
    assert_no_breaches("Remove these entries of GROUPS: there are no such modules.", &missing);
    let table = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows: Vec<&str> = table.lines().filter(|it| it.starts_with("| `")).collect();
    let cell = |row: &str| row.split('|').nth(1).unwrap_or_default().to_owned();
    let is_described = |name: &str| rows.iter().any(|row| cell(row).contains(&format!("`{name}`")));
    let undescribed: Vec<String> =
        GROUPS.iter().filter(|it| !is_described(it)).map(|it| (*it).to_owned()).collect();
    assert_no_breaches("Describe these groups in the table of ARCHITECTURE.md.", &undescribed);
}

#[test]
fn imports_of_higher_and_of_unknown_groups_are_found() {
    assert!(
        is_upward("ledger", "insights") && is_upward("ledger", "new") && is_upward("new", "ledger")
    );
    assert!(!is_upward("insights", "ledger") && !is_upward("ledger", "error"));
}

/// Looks at modules, at their parts, and at single files. The groups of `service` are checked above.
#[test]
fn no_modules_import_each_other() {
    let mut breaches = Vec::new();
    for folder in crate_folders() {
        let imports = imports(&folder);
        for cycle in [1, 2, usize::MAX].into_iter().flat_map(|it| cycles(&imports, it)) {
            breaches.push(format!("{folder}: {}", cycle.join(" -> ")));
        }
    }
    assert_no_breaches(
        "These modules import each other: move their shared parts into a lower module.",
        &breaches,
    );
}

/// The import cycles between modules, where a module is the first `depth` parts of its path.
fn cycles(imports: &[Import], depth: usize) -> Vec<Vec<String>> {
    let node = |path: &ModulePath| path[..path.len().min(depth)].join("::");
    let mut imported: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for import in imports {
        let (from, to) = (node(&import.from), node(&import.to));
        // A parent declares its children, and children use their parent's definitions.
        let is_inside = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|it| it.is_empty() || it.starts_with("::"))
        };
        let is_family = to.is_empty() || is_inside(&from, &to) || is_inside(&to, &from);
        if !is_family {
            imported.entry(from).or_default().insert(to);
        }
    }
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for start in imported.keys() {
        let ahead = reachable(&imported, start);
        if !ahead.contains(start) || seen.contains(start) {
            continue;
        }
        let cycle: Vec<String> =
            ahead.into_iter().filter(|it| reachable(&imported, it).contains(start)).collect();
        seen.extend(cycle.iter().cloned());
        found.push(cycle);
    }
    found
}

fn reachable(imported: &BTreeMap<String, BTreeSet<String>>, start: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = vec![start];
    while let Some(from) = open.pop() {
        for to in imported.get(from).into_iter().flatten() {
            if found.insert(to.clone()) {
                open.push(to);
            }
        }
    }
    found
}

#[test]
fn cycles_are_found_and_parents_with_their_children_are_none() {
    let path = |it: &str| it.split("::").map(str::to_owned).collect::<ModulePath>();
    let import =
        |from: &str, to: &str| Import { from: path(from), to: path(to), location: String::new() };
    let all = [
        import("a", "b"),
        import("b", "c"),
        import("c", "a"),
        import("d", "a"),
        import("d::x", "d"),
    ];
    assert_eq!(cycles(&all, 1), [["a", "b", "c"]]);
    assert!(cycles(&all[..2], 1).is_empty());
}
