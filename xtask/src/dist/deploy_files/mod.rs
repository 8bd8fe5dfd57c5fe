//! Checks the files under `deploy` that nothing here can run: compose files, Kubernetes manifests, the Dockerfile, and the
//! settings of Traefik, Tailscale and Cloudflare. What they name must exist, and agree with the program and its image.

mod compose;
mod dockerfile;
mod kubernetes;
mod proxies;

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::read;
use crate::{install, output_of, root, target_folder};

pub(crate) use compose::{command, environment};

const REQUIREMENTS: &str = "xtask/packages/requirements.txt";
/// The folder of the reader below the target folder, where `packages` is the folder of what is shipped.
const FOLDER: &str = "package-tools";
/// Prints the documents of a YAML file as a JSON list. A key that appears twice is an error.
const TO_JSON: &str = r#"
import json, sys, yaml
class Strict(yaml.SafeLoader):
    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"a key appears twice, {node.start_mark}"
        return super().construct_mapping(node, deep)
with open(sys.argv[1]) as file:
    json.dump(list(yaml.load_all(file, Strict)), sys.stdout, default=str)
"#;

pub(crate) fn install() -> Result<()> {
    install::python_packages(FOLDER, REQUIREMENTS).map(|_| ())
}

/// Checks all files. `image` has the settings of the container image.
pub(crate) fn check(image: &Value) -> Result<()> {
    compose::check(image).context("compose files")?;
    kubernetes::check(image).context("Kubernetes manifests")?;
    proxies::check().context("deploy/proxy")?;
    dockerfile::check(image).context("deploy/docker/Dockerfile")
}

/// The documents of a YAML file of the repository.
fn documents(path: &str) -> Result<Vec<Value>> {
    let python = install::python_packages(FOLDER, REQUIREMENTS)?.join("python");
    let output = output_of(Command::new(python).args(["-c", TO_JSON]).arg(root().join(path)))?;
    serde_json::from_slice(&output).with_context(|| path.to_owned())
}

/// The only document of a YAML file.
fn document(path: &str) -> Result<Value> {
    let mut documents = documents(path)?;
    ensure!(documents.len() == 1, "{path} has {} documents", documents.len());
    Ok(documents.remove(0))
}

/// The value below a chain of names. An error names the first that is missing.
fn at<'a>(value: &'a Value, path: &[&str]) -> Result<&'a Value> {
    path.iter().try_fold(value, |value, name| {
        let found = value.get(name);
        found.with_context(|| format!("{name} of {} is missing", path.join(".")))
    })
}

fn list<'a>(value: &'a Value, path: &[&str]) -> Result<&'a [Value]> {
    let found = at(value, path)?.as_array();
    found.map(Vec::as_slice).with_context(|| format!("{} is no list", path.join(".")))
}

fn text<'a>(value: &'a Value, path: &[&str]) -> Result<&'a str> {
    let found = at(value, path)?.as_str();
    found.with_context(|| format!("{} is no text", path.join(".")))
}

/// The settings of the program in an environment. It refuses variables that it does not know.
fn settings(environment: &[(String, String)]) -> Result<Value> {
    let folder = target_folder()?.join(FOLDER).join("secrets");
    fs::create_dir_all(&folder)?;
    let mut command = Command::new(std::env::current_exe()?.with_file_name("evenkeel"));
    command.env_clear().args(["config", "--json"]).current_dir(&folder);
    for (name, value) in environment {
        // The program reads these files at once, and they exist only where it is installed.
        if name.ends_with("_FILE") {
            let file = folder.join(name);
            let secret = match name.contains("URL") {
                true => "postgres://evenkeel:secret@localhost/evenkeel".to_owned(),
                false => "ab".repeat(32),
            };
            fs::write(&file, secret)?;
            command.env(name, file);
        } else {
            command.env(name, value);
        }
    }
    let output = output_of(&mut command).context("the program refuses these settings")?;
    let settings: Value = serde_json::from_slice(&output)?;
    let known = settings.as_object().context("`evenkeel config` prints no object")?;
    let set = known.values().filter(|it| it["from"] == "environment").count();
    let named = environment.iter().filter(|(name, _)| name.starts_with("EVENKEEL_")).count();
    ensure!(set == named, "{named} variables set {set} settings");
    Ok(settings)
}

/// The address that the server listens on, unless it is told otherwise.
fn listen() -> Result<String> {
    Ok(text(&settings(&[])?, &["listen", "value"])?.to_owned())
}

/// A variable of a compose file or a shell, `${NAME:-default}`, is replaced by its default.
fn with_defaults(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (variable, after) = after.split_once('}').unwrap_or((after, ""));
        result.push_str(before);
        result.push_str(variable.split_once(":-").map_or("", |(_, default)| default));
        rest = after;
    }
    result + rest
}

/// The text of a file of the repository.
fn source(path: &str) -> Result<String> {
    Ok(String::from_utf8(read(&root().join(path))?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn variables_are_replaced_by_their_defaults() {
        assert_eq!(with_defaults("https://${HOST:-localhost}/a"), "https://localhost/a");
        assert_eq!(with_defaults("${A:-1}${B}${C:-http://x:1}"), "1http://x:1");
        assert_eq!(with_defaults("plain"), "plain");
    }

    #[test]
    fn a_missing_member_is_named() {
        let value = json!({ "a": { "b": [1] } });
        assert_eq!(list(&value, &["a", "b"]).unwrap().len(), 1);
        assert!(at(&value, &["a", "c"]).unwrap_err().to_string().contains("c of a.c"));
        assert!(text(&value, &["a", "b"]).is_err());
    }
}
