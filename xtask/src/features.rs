//! Checks that the tests of one crate are built with the features the product is built with.
//!
//! Cargo builds a dependency with the features that the selected packages request. If only one crate requested a
//! feature that changes behavior, such as the order of JSON fields, `cargo test -p service` would not test what is
//! shipped.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};

use crate::{cargo, output_of};

const PRODUCT: &str = "evenkeel";
/// Packages whose tests use the product's dependencies. The others are too small for a difference to matter.
const TESTED: [&str; 8] =
    ["db", "evenkeel", "mcp", "service", "sources", "testkit", "web", "webhooks"];
/// Features that only tests have: tokio's to move its clock, the others because a test dependency requests them.
const ONLY_IN_TESTS: [(&str, &str); 3] =
    [("regex-syntax", "unicode"), ("time", "default"), ("tokio", "test-util")];

/// The features of each package, by its name and version.
type Features = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn check() -> Result<()> {
    let product = features(PRODUCT, "normal,no-proc-macro")?;
    let mut differences = Vec::new();
    for package in TESTED {
        let tested = features(package, "normal,dev,no-proc-macro")?;
        differences.extend(compare(&product, &tested).map(|it| format!("{package}: {it}")));
    }
    if !differences.is_empty() {
        bail!(
            "tests of these packages are built with other features than the product; list the features in \
             [workspace.dependencies] of Cargo.toml, or in crates/testkit/Cargo.toml:\n  {}",
            differences.join("\n  ")
        );
    }
    Ok(())
}

fn features(package: &str, edges: &str) -> Result<Features> {
    let mut command = cargo(&["tree", "--package", package, "--edges", edges]);
    let lines = output_of(command.args(["--prefix", "none", "--format", "{p}|{f}"]))?;
    Ok(read(&String::from_utf8(lines)?))
}

/// Reads lines such as `tokio v1.54.1|macros,net (*)`.
fn read(lines: &str) -> Features {
    let mut found = Features::new();
    for line in lines.lines() {
        let line = line.trim_end_matches(" (*)");
        if let Some((package, features)) = line.split_once('|') {
            let features = features.split(',').filter(|it| !it.is_empty()).map(str::to_owned);
            found.entry(package.trim().to_owned()).or_default().extend(features);
        }
    }
    found
}

/// The differences between the packages that both have.
fn compare<'a>(product: &'a Features, tested: &'a Features) -> impl Iterator<Item = String> + 'a {
    product.iter().filter_map(|(package, shipped)| {
        let tested = tested.get(package)?;
        let missing: Vec<_> = shipped.difference(tested).map(String::as_str).collect();
        let added = tested.difference(shipped).map(String::as_str);
        let added: Vec<_> = added.filter(|feature| !is_only_in_tests(package, feature)).collect();
        (!missing.is_empty() || !added.is_empty()).then(|| {
            format!("{package} lacks [{}] and adds [{}]", missing.join(", "), added.join(", "))
        })
    })
}

fn is_only_in_tests(package: &str, feature: &str) -> bool {
    let name = package.split(' ').next().unwrap_or_default();
    ONLY_IN_TESTS.iter().any(|(package, prefix)| {
        *package == name && (feature.starts_with(prefix) || feature == "default")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_that_one_side_lacks_is_named() {
        let product = read("serde_json v1.0.154|preserve_order,std\ntokio v1.54.1|net (*)\na v1|");
        let tested = read("serde_json v1.0.154|std\ntokio v1.54.1|net,test-util\na v1|b\n\nc v1|d");
        let found: Vec<String> = compare(&product, &tested).collect();
        let expected = [
            "a v1 lacks [] and adds [b]",
            "serde_json v1.0.154 lacks [preserve_order] and adds []",
        ];
        assert_eq!(found, expected);
    }
}
