//! Checks that all dependencies have licenses that allow anyone to use, change and redistribute the product.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::{cargo, output_of, root};

const ALLOWED: [&str; 14] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "NCSA",
    "Unicode-3.0",
    "Zlib",
];

/// The sources of packages from crates.io, by the old index and by the sparse one.
const CRATES_IO: [&str; 2] =
    ["registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"];

/// The workspaces. The second one has its own lock file, because only it needs a C++ compiler.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "fuzz/libfuzzer/Cargo.toml"];

pub(crate) fn check() -> Result<()> {
    let (mut packages, mut members) = (Vec::new(), Vec::new());
    for manifest in MANIFESTS {
        let mut command = cargo(&["metadata", "--format-version", "1", "--locked"]);
        let metadata = output_of(command.arg("--manifest-path").arg(root().join(manifest)))?;
        let mut metadata: Value = serde_json::from_slice(&metadata)?;
        packages.extend(take_array(&mut metadata["packages"]));
        members.extend(take_array(&mut metadata["workspace_members"]));
    }
    ensure!(!packages.is_empty(), "`cargo metadata` names no packages");

    let problems: BTreeSet<String> =
        packages.iter().filter_map(|it| problem(it, members.contains(&it["id"]))).collect();
    ensure!(problems.is_empty(), "{}", problems.into_iter().collect::<Vec<_>>().join("\n"));
    println!("{} packages", packages.len());
    Ok(())
}

fn take_array(value: &mut Value) -> Vec<Value> {
    value.as_array_mut().map(std::mem::take).unwrap_or_default()
}

fn problem(package: &Value, is_member: bool) -> Option<String> {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    let named = format!("{} {}", text("name"), text("version"));
    if !is_member && !CRATES_IO.contains(&text("source")) {
        return Some(match text("source") {
            "" => format!("{named} is a folder outside this workspace"),
            source => format!("{named} comes from {source}, not from crates.io"),
        });
    }
    match text("license") {
        "" => Some(format!("{named} names no licence")),
        expression => match evaluate(expression) {
            Some(true) => None,
            Some(false) => Some(format!("{named} has a licence that is not allowed: {expression}")),
            None => Some(format!("{named} has a licence we cannot read: {expression}")),
        },
    }
}

/// Whether an SPDX expression can be met with allowed licenses alone. None if it is malformed.
fn evaluate(expression: &str) -> Option<bool> {
    // Old packages use a slash for OR.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let allowed = any(&mut rest)?;
    rest.is_empty().then_some(allowed)
}

fn any(rest: &mut &[&str]) -> Option<bool> {
    let mut allowed = all(rest)?;
    while take(rest, "OR") {
        allowed |= all(rest)?;
    }
    Some(allowed)
}

fn all(rest: &mut &[&str]) -> Option<bool> {
    let mut allowed = one(rest)?;
    while take(rest, "AND") {
        allowed &= one(rest)?;
    }
    Some(allowed)
}

fn one(rest: &mut &[&str]) -> Option<bool> {
    if take(rest, "(") {
        let allowed = any(rest)?;
        return take(rest, ")").then_some(allowed);
    }
    let mut licence = name(rest)?.to_owned();
    if take(rest, "WITH") {
        licence = format!("{licence} WITH {}", name(rest)?);
    }
    Some(ALLOWED.contains(&licence.as_str()))
}

fn name<'a>(rest: &mut &[&'a str]) -> Option<&'a str> {
    let (first, others) = rest.split_first()?;
    *rest = others;
    (!["AND", "OR", "WITH", "(", ")"].contains(first)).then_some(*first)
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    match rest.split_first() {
        Some((first, others)) if *first == word => {
            *rest = others;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_expression_is_met_if_one_choice_has_only_allowed_licenses() {
        for good in [
            "MIT",
            "GPL-3.0-only OR MIT",
            "MIT/Apache-2.0",
            "Unlicense / MIT",
            "(MIT OR GPL-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
            "GPL-2.0 AND MIT OR ISC",
            "ISC AND (Apache-2.0 OR (GPL-2.0 AND MIT))",
        ] {
            assert_eq!(evaluate(good), Some(true), "{good}");
        }
        for bad in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "ISC AND GPL-2.0 OR GPL-3.0",
            "GPL-2.0 WITH Classpath-exception-2.0",
            "MIT WITH LLVM-exception",
            "mit",
            "Apache-2.0+",
        ] {
            assert_eq!(evaluate(bad), Some(false), "{bad}");
        }
    }

    #[test]
    fn a_malformed_expression_is_rejected() {
        for broken in ["", "MIT OR", "(MIT", "MIT)", "MIT ISC", "AND MIT", "MIT WITH", "MIT OR OR"]
        {
            assert_eq!(evaluate(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_problem_names_the_package_and_the_cause() {
        let check = |source: Value, licence: Value, is_member: bool| {
            let package =
                json!({"name": "left", "version": "1.0.0", "source": source, "license": licence});
            problem(&package, is_member).unwrap_or_default()
        };
        let crates_io = json!(CRATES_IO[0]);
        assert_eq!(check(crates_io.clone(), json!("MIT"), false), "");
        assert_eq!(check(Value::Null, json!("Apache-2.0"), true), "");
        assert_eq!(check(crates_io.clone(), Value::Null, false), "left 1.0.0 names no licence");
        assert_eq!(
            check(crates_io, json!("SSPL-1.0"), false),
            "left 1.0.0 has a licence that is not allowed: SSPL-1.0"
        );
        assert_eq!(
            check(json!("git+https://example.org/left"), json!("MIT"), false),
            "left 1.0.0 comes from git+https://example.org/left, not from crates.io"
        );
        assert_eq!(
            check(Value::Null, json!("MIT"), false),
            "left 1.0.0 is a folder outside this workspace"
        );
    }
}
