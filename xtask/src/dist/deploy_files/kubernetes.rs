//! The Kubernetes manifests: they agree with the image, the program and each other. Where kubectl is installed, it builds
//! them too.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::{at, document, list, settings, text};
use crate::dist::version;
use crate::{install, output_of, root};

const FOLDERS: [&str; 2] = ["deploy/kubernetes/sqlite", "deploy/kubernetes/postgres"];

pub(super) fn check(image: &Value) -> Result<()> {
    let has_kubectl = install::on_path("kubectl").is_some();
    if !has_kubectl {
        println!("the Kubernetes manifests were read but not built, because there is no kubectl");
    }
    for folder in FOLDERS {
        check_folder(folder, image).with_context(|| folder.to_owned())?;
        if has_kubectl {
            let mut kubectl = Command::new("kubectl");
            let built = output_of(kubectl.arg("kustomize").arg(root().join(folder)))?;
            let built = String::from_utf8_lossy(&built);
            let named = format!("image: evenkeel:{}", version());
            ensure!(built.contains(&named), "kustomize does not name the image");
        }
    }
    Ok(())
}

fn check_folder(folder: &str, image: &Value) -> Result<()> {
    let kustomization = document(&format!("{folder}/kustomization.yaml"))?;
    let mut resources = Vec::new();
    for resource in list(&kustomization, &["resources"])? {
        let path = format!("{folder}/{}", resource.as_str().unwrap_or_default());
        let parsed = document(&path)?;
        for member in [&["apiVersion"][..], &["kind"], &["metadata", "name"]] {
            text(&parsed, member).with_context(|| path.clone())?;
        }
        resources.push(parsed);
    }
    let of_kind = |kind: &str| resources.iter().find(|it| it["kind"] == kind);
    let workload = of_kind("Deployment").or_else(|| of_kind("StatefulSet"));
    let workload = workload.context("there is no Deployment or StatefulSet")?;
    let images = list(&kustomization, &["images"])?;
    let named = json!([{ "name": "evenkeel", "newTag": version() }]);
    ensure!(json!(images) == named, "the image is {}", json!(images));
    check_settings(&kustomization, workload)?;
    check_pod(workload, image)?;
    let service = of_kind("Service").context("there is no Service")?;
    let port = text(&list(service, &["spec", "ports"])?[0], &["targetPort"])?;
    ensure!(port_number(workload, port)?.is_some(), "the service names the port {port}");
    let namespace = of_kind("Namespace").context("there is no Namespace")?;
    let namespaces =
        (text(namespace, &["metadata", "name"])?, text(&kustomization, &["namespace"])?);
    ensure!(namespaces.0 == namespaces.1, "the namespaces differ");
    Ok(())
}

/// The program knows every setting, and the containers read the map that has them.
fn check_settings(kustomization: &Value, workload: &Value) -> Result<()> {
    let map = &list(kustomization, &["configMapGenerator"])?[0];
    let literals = list(map, &["literals"])?.iter().filter_map(Value::as_str);
    let pairs: Option<Vec<(String, String)>> = literals
        .map(|it| it.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())))
        .collect();
    settings(&pairs.context("a setting has no value")?)?;
    let read = &container(workload)?["envFrom"][0]["configMapRef"]["name"];
    ensure!(*read == map["name"], "the container reads its settings from {read}");
    Ok(())
}

fn container(workload: &Value) -> Result<&Value> {
    let containers = list(workload, &["spec", "template", "spec", "containers"])?;
    containers.first().context("there is no container")
}

fn port_number(workload: &Value, name: &str) -> Result<Option<u64>> {
    let ports = list(container(workload)?, &["ports"])?;
    Ok(ports.iter().find(|it| it["name"] == name).and_then(|it| it["containerPort"].as_u64()))
}

/// The container serves the image's port as the image's user, its probes ask pages that exist, and its folders have volumes.
fn check_pod(workload: &Value, image: &Value) -> Result<()> {
    let pod = at(workload, &["spec", "template", "spec"])?;
    let container = container(workload)?;
    ensure!(container["image"] == "evenkeel", "the container's image is {}", container["image"]);
    ensure!(container["args"] == image["Cmd"], "the container starts {}", container["args"]);
    let user =
        format!("{}:{}", pod["securityContext"]["runAsUser"], pod["securityContext"]["runAsGroup"]);
    ensure!(image["User"] == user, "the image runs as {}, the pod as {user}", image["User"]);
    ensure!(
        container["securityContext"]["readOnlyRootFilesystem"] == true,
        "the root can be written"
    );
    for (probe, path) in
        [("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")]
    {
        let request = at(container, &[probe, "httpGet"])?;
        ensure!(request["path"] == path, "{probe} asks {}", request["path"]);
        let port = port_number(workload, text(request, &["port"])?)?.unwrap_or_default();
        let exposed = &image["ExposedPorts"][format!("{port}/tcp")];
        ensure!(
            exposed.is_object(),
            "{probe} asks the port {port}, which the image does not serve"
        );
    }
    let volumes = pod["volumes"].as_array().into_iter().flatten().map(|it| &it["name"]);
    let claims = workload["spec"]["volumeClaimTemplates"].as_array().into_iter().flatten();
    let known: Vec<&Value> = volumes.chain(claims.map(|it| &it["metadata"]["name"])).collect();
    let mounts = list(container, &["volumeMounts"])?;
    for mount in mounts {
        ensure!(known.contains(&&mount["name"]), "there is no volume {}", mount["name"]);
    }
    for folder in ["/data", "/tmp"] {
        ensure!(mounts.iter().any(|it| it["mountPath"] == folder), "{folder} has no volume");
    }
    Ok(())
}
