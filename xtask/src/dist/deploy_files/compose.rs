//! The compose files: they agree with the image, with their own parts, and with each other.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value, json};

use super::{at, document, list, settings, text, with_defaults};
use crate::dist::version;
use crate::root;

const FILES: [&str; 2] =
    ["deploy/compose/sqlite/compose.yaml", "deploy/compose/postgres/compose.yaml"];

pub(super) fn check(image: &Value) -> Result<()> {
    let mut names = BTreeSet::new();
    let mut subnets = BTreeSet::new();
    for path in FILES {
        let compose = document(path)?;
        ensure!(names.insert(text(&compose, &["name"])?.to_owned()), "two projects have one name");
        for network in members(&compose, "networks")?.values() {
            if let Some(subnet) = network["ipam"]["config"][0]["subnet"].as_str() {
                ensure!(subnets.insert(subnet.to_owned()), "two networks have {subnet}");
            }
        }
        check_file(path, &compose, image).with_context(|| path.to_owned())?;
    }
    Ok(())
}

/// The environment of a service, with the defaults of its variables.
pub(crate) fn environment(path: &str, service: &str) -> Result<Vec<(String, String)>> {
    environment_of(at(&document(path)?, &["services", service])?)
}

/// The command that the container of a service runs, if the file names the whole of it.
pub(crate) fn command(path: &str, service: &str) -> Result<Vec<String>> {
    let document = document(path)?;
    let service = at(&document, &["services", service])?;
    let words = list(service, &["entrypoint"])?.iter().chain(list(service, &["command"])?);
    words
        .map(|it| Ok(plain_dollars(it.as_str().context("a word of the command is no text")?)))
        .collect()
}

/// Compose replaces variables, so a dollar sign for the shell is written twice.
fn plain_dollars(text: &str) -> String {
    text.replace("$$", "$")
}

fn environment_of(service: &Value) -> Result<Vec<(String, String)>> {
    let variables = service["environment"].as_object().cloned().unwrap_or_default();
    let pair = |(name, value): (String, Value)| {
        let value = value.as_str().with_context(|| format!("{name} is no text"))?;
        Ok((name, with_defaults(value)))
    };
    variables.into_iter().map(pair).collect()
}

fn members<'a>(compose: &'a Value, name: &str) -> Result<&'a Map<String, Value>> {
    at(compose, &[name])?.as_object().with_context(|| format!("{name} is no object"))
}

fn check_file(path: &str, compose: &Value, image: &Value) -> Result<()> {
    let folder = Path::new(path).parent().context("a file is in a folder")?;
    let services = members(compose, "services")?;
    for (name, service) in services {
        check_parts(folder, compose, service).with_context(|| format!("service {name}"))?;
    }
    let service = services.get("evenkeel").context("there is no service evenkeel")?;
    ensure!(service["image"] == format!("evenkeel:{}", version()), "image: {}", service["image"]);
    let context = root().join(folder).join(text(service, &["build", "context"])?);
    let dockerfile = context.join(text(service, &["build", "dockerfile"])?);
    ensure!(dockerfile.is_file(), "{} does not exist", dockerfile.display());
    let health = (&service["healthcheck"]["test"], &image["Healthcheck"]["Test"]);
    ensure!(health.0 == health.1, "the image's health check is {}, not {}", health.1, health.0);
    ensure!(service["read_only"] == true, "the root can be written");
    let temporary = list(service, &["tmpfs"])?;
    ensure!(temporary.contains(&json!("/tmp")), "/tmp cannot be written");
    for port in service["ports"].as_array().into_iter().flatten() {
        let port = port.as_str().and_then(|it| it.rsplit(':').next()).unwrap_or_default();
        let exposed = &image["ExposedPorts"][format!("{port}/tcp")];
        ensure!(exposed.is_object(), "the image does not serve port {port}");
    }
    check_proxies(compose, &settings(&environment_of(service)?)?)
}

/// The volumes, networks and services that a service names are declared, and the files exist.
fn check_parts(folder: &Path, compose: &Value, service: &Value) -> Result<()> {
    let has_image = service["image"].as_str().is_some_and(|it| it.contains(':'));
    ensure!(has_image, "image {} has no version", service["image"]);
    for volume in service["volumes"].as_array().into_iter().flatten() {
        let source = volume.as_str().and_then(|it| it.split(':').next()).unwrap_or_default();
        if source.starts_with('.') {
            ensure!(root().join(folder).join(source).is_file(), "{source} does not exist");
        } else {
            ensure!(compose["volumes"].get(source).is_some(), "volume {source} is not declared");
        }
    }
    for network in service["networks"].as_array().into_iter().flatten() {
        let name = network.as_str().unwrap_or_default();
        ensure!(compose["networks"].get(name).is_some(), "network {name} is not declared");
    }
    for (name, needed) in service["depends_on"].as_object().into_iter().flatten() {
        let other = at(compose, &["services", name])?;
        let needs_health = needed["condition"] == "service_healthy";
        // The image of Evenkeel has a health check of its own; others need one here.
        ensure!(!needs_health || other["healthcheck"].is_object(), "{name} has no health check");
    }
    Ok(())
}

/// The trusted proxies are in a network of the file, whose address is fixed.
fn check_proxies(compose: &Value, settings: &Value) -> Result<()> {
    let proxies = list(settings, &["proxies", "value"])?;
    ensure!(!proxies.is_empty(), "no proxy is trusted");
    let networks = members(compose, "networks")?.values();
    let subnets: Vec<&str> =
        networks.filter_map(|it| it["ipam"]["config"][0]["subnet"].as_str()).collect();
    for proxy in proxies {
        let proxy = proxy.as_str().unwrap_or_default();
        // All networks here have 24 bits, so that the first three numbers tell them apart.
        let prefix = |it: &str| it.rsplit_once('.').map(|(prefix, _)| prefix.to_owned());
        let is_inside = subnets.iter().any(|it| it.ends_with("/24") && prefix(it) == prefix(proxy));
        ensure!(is_inside, "the proxy {proxy} is in none of the networks {subnets:?}");
    }
    Ok(())
}
