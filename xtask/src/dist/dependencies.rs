//! The list of the program's dependencies in the CycloneDX format, from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// The packages that are compiled into the program, with their licenses and checksums, and who needs whom. Packages
/// that only build scripts and tests use are not listed.
pub(crate) fn list(metadata: &Value, lock: &str, program: &str) -> Result<Value> {
    let packages = by_id(&metadata["packages"]);
    let nodes = by_id(&metadata["resolve"]["nodes"]);
    let (root, _) = packages
        .iter()
        .find(|(_, it)| it["name"] == program && it["source"].is_null())
        .with_context(|| format!("`cargo metadata` names no package {program}"))?;
    let checksums = checksums(lock);
    let mut open = vec![*root];
    let mut reached = BTreeSet::new();
    let mut graph = Vec::new();
    while let Some(id) = open.pop() {
        if !reached.insert(id) {
            continue;
        }
        let needed = nodes.get(id).map(|it| needed(it)).unwrap_or_default();
        let mut refs: Vec<String> =
            needed.iter().filter_map(|it| packages.get(it)).map(|it| purl(it)).collect();
        refs.sort();
        if let Some(package) = packages.get(id) {
            graph.push((purl(package), refs));
        }
        open.extend(needed);
    }
    graph.sort();
    let others = reached.iter().filter(|it| *it != root).filter_map(|it| packages.get(it));
    let mut components: Vec<Value> =
        others.map(|it| component(it, "library", &checksums)).collect();
    components.sort_by_key(|it| it["bom-ref"].to_string());
    let graph: Vec<Value> =
        graph.into_iter().map(|(name, refs)| json!({"ref": name, "dependsOn": refs})).collect();
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(packages[root], "application", &checksums)},
        "components": components,
        "dependencies": graph,
    }))
}

fn by_id(list: &Value) -> BTreeMap<&str, &Value> {
    let items = list.as_array().map_or(&[][..], Vec::as_slice);
    items.iter().filter_map(|it| Some((it["id"].as_str()?, it))).collect()
}

/// The packages that a package's own code uses.
fn needed(node: &Value) -> Vec<&str> {
    let deps = node["deps"].as_array().map_or(&[][..], Vec::as_slice);
    let is_compiled_in = |it: &&Value| {
        let kinds = it["dep_kinds"].as_array().map_or(&[][..], Vec::as_slice);
        kinds.iter().any(|it| it["kind"].is_null())
    };
    deps.iter().filter(is_compiled_in).filter_map(|it| it["pkg"].as_str()).collect()
}

fn component(package: &Value, kind: &str, checksums: &BTreeMap<(String, String), String>) -> Value {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    let mut component = json!({
        "type": kind,
        "bom-ref": purl(package),
        "name": text("name"),
        "version": text("version"),
        "purl": purl(package),
    });
    if let Some(license) = package["license"].as_str() {
        // Old packages use a slash for OR.
        let expression = license.replace(" / ", "/").replace('/', " OR ");
        component["licenses"] = json!([{"expression": expression}]);
    }
    let key = (text("name").to_owned(), text("version").to_owned());
    if let Some(checksum) = checksums.get(&key) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

fn purl(package: &Value) -> String {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    format!("pkg:cargo/{}@{}", text("name"), text("version").replace('+', "%2B"))
}

/// The checksums in Cargo.lock, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let mut found = BTreeMap::new();
    for part in lock.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let line = part.lines().find_map(|it| it.strip_prefix(key)?.strip_prefix(" = \""))?;
            line.strip_suffix('"').map(str::to_owned)
        };
        if let (Some(name), Some(version), Some(checksum)) =
            (value("name"), value("version"), value("checksum"))
        {
            found.insert((name, version), checksum);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependency(id: &str, kinds: &[Value]) -> Value {
        let kinds: Vec<Value> = kinds.iter().map(|it| json!({"kind": it})).collect();
        json!({"pkg": id, "dep_kinds": kinds})
    }

    fn metadata() -> Value {
        let normal = [Value::Null];
        json!({
            "packages": [
                {"id": "p", "name": "evenkeel", "version": "1.0.0", "license": "Apache-2.0", "source": null},
                {"id": "a", "name": "alpha", "version": "0.1.0+x", "license": "MIT/Apache-2.0", "source": "registry"},
                {"id": "b", "name": "beta", "version": "2.0.0", "license": "MIT", "source": "registry"},
                {"id": "t", "name": "tests", "version": "3.0.0", "license": "MIT", "source": "registry"},
                {"id": "u", "name": "unused", "version": "3.0.0", "license": "MIT", "source": "registry"},
            ],
            "resolve": {"nodes": [
                {"id": "p", "deps": [dependency("a", &normal), dependency("t", &[json!("dev")])]},
                {"id": "a", "deps": [dependency("b", &[json!("build"), Value::Null])]},
                {"id": "b", "deps": []},
            ]},
        })
    }

    #[test]
    fn what_is_compiled_in_is_listed_with_license_and_checksum() {
        let lock = "version = 4\n\n[[package]]\nname = \"beta\"\nversion = \"2.0.0\"\nchecksum = \"ab12\"\n";
        let list = list(&metadata(), lock, "evenkeel").unwrap();
        let names: Vec<&str> = list["components"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["alpha", "beta"]);
        assert_eq!(list["metadata"]["component"]["name"], "evenkeel");
        assert_eq!(list["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(list["components"][0]["purl"], "pkg:cargo/alpha@0.1.0%2Bx");
        assert_eq!(list["components"][1]["hashes"][0]["content"], "ab12");
        let alpha =
            json!({"ref": "pkg:cargo/alpha@0.1.0%2Bx", "dependsOn": ["pkg:cargo/beta@2.0.0"]});
        assert_eq!(list["dependencies"][0], alpha);
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        assert!(list(&metadata(), "", "other").is_err());
    }
}
