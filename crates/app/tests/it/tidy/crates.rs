//! Dependencies between crates point one way, and all crates use the workspace's lints.

use super::{File, assert_no_breaches, files};

/// Each crate with the crates it may import. A new dependency is a design decision and belongs in ARCHITECTURE.md
/// first.
const MAY_IMPORT: [(&str, &[&str]); 20] = [
    ("base", &[]),
    ("memops", &[]),
    ("calc", &["base"]),
    ("wire", &["base"]),
    ("trace", &["base"]),
    ("db", &["base", "trace"]),
    ("net", &["base", "trace"]),
    ("sources", &["base", "net"]),
    ("s3", &["base", "net"]),
    ("demo", &["base"]),
    ("webhooks", &["base", "db", "wire", "net", "trace"]),
    ("service", &["base", "db", "calc", "wire", "net", "sources", "s3", "trace", "webhooks"]),
    ("mcp", &["base", "wire", "service"]),
    ("web", &["base", "wire", "service", "mcp", "trace"]),
    (
        "app",
        &[
            "base", "calc", "wire", "db", "net", "sources", "s3", "demo", "trace", "webhooks",
            "service", "mcp", "web", "memops",
        ],
    ),
    (
        "testkit",
        &[
            "base", "calc", "wire", "db", "net", "s3", "sources", "demo", "webhooks", "service",
            "mcp", "web",
        ],
    ),
    (
        "bench",
        &[
            "base", "calc", "wire", "db", "net", "sources", "demo", "webhooks", "service", "mcp",
            "web", "memops",
        ],
    ),
    ("storm", &["base", "db", "service", "sources", "testkit"]),
    ("e2e", &["testkit"]),
    ("xtask", &["calc"]),
];

fn manifests() -> Vec<File> {
    let mut found = files("crates", "/Cargo.toml");
    found.extend(files("e2e", "/Cargo.toml"));
    found.extend(files("xtask", "/Cargo.toml"));
    assert!(!found.is_empty(), "there are no manifests");
    found
}

#[test]
fn dependencies_between_crates_point_one_way() {
    let breaches: Vec<String> =
        manifests().iter().flat_map(|it| forbidden_dependencies(&it.path, &it.text)).collect();
    assert_no_breaches(
        "A crate imports only what MAY_IMPORT in crates/app/tests/it/tidy lets it.",
        &breaches,
    );
}

/// The only manifest with lints of its own: the crate is assembly, and the workspace forbids unsafe code.
const UNSAFE_CRATE: &str = "crates/memops/Cargo.toml";

#[test]
fn every_crate_uses_the_lints_of_the_workspace() {
    let lacks = |it: &File| {
        it.path != UNSAFE_CRATE
            && !section(&it.text, "lints").any(|(_, line)| line == "workspace = true")
    };
    let breaches: Vec<String> = manifests().into_iter().filter(lacks).map(|it| it.path).collect();
    assert_no_breaches("Add `[lints]` with `workspace = true` to these manifests.", &breaches);
}

fn forbidden_dependencies(path: &str, manifest: &str) -> Vec<String> {
    let folder = path.split('/').rev().nth(1).unwrap_or_default();
    let Some((_, allowed)) = MAY_IMPORT.iter().find(|(name, _)| *name == folder) else {
        return vec![format!("{path}: the crate is not in MAY_IMPORT; add it there")];
    };
    let ours = |name: &str| MAY_IMPORT.iter().any(|(it, _)| *it == name) || name == "evenkeel";
    dependencies(manifest)
        .filter(|(_, name)| ours(name) && !allowed.contains(name))
        .map(|(line, name)| format!("{path}:{line}: {folder} must not import {name}"))
        .collect()
}

/// The dependencies of the crate itself, on all systems or on some. Its tests may use more, so theirs are not included.
fn dependencies(manifest: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    manifest.lines().enumerate().filter_map(move |(index, line)| {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            inside = ["dependencies", "build-dependencies"].contains(&header)
                || header.starts_with("target.") && header.ends_with(".dependencies");
            let own_section = header.strip_prefix("dependencies.");
            return own_section.map(|name| (index + 1, name));
        }
        let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
        (inside && !name.is_empty() && !name.starts_with('#')).then_some((index + 1, name))
    })
}

fn section<'a>(manifest: &'a str, name: &str) -> impl Iterator<Item = (usize, &'a str)> {
    let header = format!("[{name}]");
    let numbered = manifest.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    numbered
        .skip_while(move |(_, it)| *it != header)
        .skip(1)
        .take_while(|(_, it)| !it.starts_with('['))
}

#[test]
fn a_forbidden_dependency_is_found_in_every_notation() {
    for bad in [
        "[dependencies]\nbase.workspace = true\nservice.workspace = true",
        "[dependencies]\n\nservice = { path = \"../service\" }",
        "[package]\nname = \"calc\"\n[dependencies.service]\nworkspace = true",
        "[target.'cfg(unix)'.dependencies]\n# for now\nservice.workspace = true",
    ] {
        let found = forbidden_dependencies("crates/calc/Cargo.toml", bad);
        assert!(
            found.len() == 1 && found[0].ends_with("calc must not import service"),
            "{found:?}"
        );
    }
    assert_eq!(forbidden_dependencies("crates/new/Cargo.toml", "").len(), 1);
}

#[test]
fn allowed_and_dev_dependencies_are_accepted() {
    let good = "[dependencies]\nbase.workspace = true\njiff.workspace = true\n\
                [dev-dependencies]\ntestkit.workspace = true";
    assert_eq!(forbidden_dependencies("crates/calc/Cargo.toml", good), [""; 0]);
    let kit = good.replace("dev-dependencies", "dependencies");
    assert_eq!(forbidden_dependencies("crates/calc/Cargo.toml", &kit).len(), 1);
}

#[test]
fn lints_count_only_in_their_own_section() {
    let has = |it: &str| section(it, "lints").any(|(_, line)| line == "workspace = true");
    assert!(has("[package]\n[lints]\nworkspace = true\n[dependencies]"));
    assert!(!has("[lints]\n[dependencies.base]\nworkspace = true"));
}
