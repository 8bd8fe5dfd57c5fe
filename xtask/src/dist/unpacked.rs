//! Reads an image back with umoci: its files with their owners, and what a container engine would start.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::{Target, pack, read};
use crate::{install, output_of, run};

/// The number of the image's user and group.
const USER: u32 = 1_000;

pub(crate) struct UnpackedImage {
    pub(crate) root: PathBuf,
    /// What an engine starts: `args`, `env`, `user` and `cwd`, as umoci translates the image.
    pub(crate) process: Value,
    /// The image's own settings, with what umoci does not translate.
    pub(crate) settings: Value,
    architecture: String,
    pub(crate) created: String,
}

impl UnpackedImage {
    /// Unpacks an archive into a folder, which is emptied first. Of an archive with several architectures, this one.
    pub(crate) fn new(
        archive: &Path,
        folder: &Path,
        version: &str,
        target: &Target,
    ) -> Result<UnpackedImage> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        let layout = folder.join("layout");
        fs::create_dir_all(&layout)?;
        let mut tar = Command::new("tar");
        tar.arg("--extract").arg("--file").arg(archive).arg("--directory").arg(&layout);
        run(&mut tar)?;
        choose(&layout, target)?;
        let bundle = folder.join("bundle");
        let mut umoci = Command::new("umoci");
        umoci.args(["unpack", "--image", &format!("{}:{version}", layout.display())]);
        if !install::is_root()? {
            umoci.arg("--rootless");
        }
        output_of(umoci.arg(&bundle)).context("umoci cannot unpack the image")?;
        let index = json_of(&layout.join("index.json"))?;
        let manifest = blob(&layout, &index["manifests"][0])?;
        let mut image = blob(&layout, &manifest["config"])?;
        let config = json_of(&bundle.join("config.json"))?;
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        Ok(UnpackedImage {
            root: bundle.join("rootfs"),
            process: config["process"].clone(),
            settings: image["config"].take(),
            architecture: text(&image["architecture"]),
            created: text(&image["created"]),
        })
    }

    /// The image's files and settings are as documented.
    pub(crate) fn check(&self, target: &Target, version: &str) -> Result<()> {
        ensure!(self.architecture == target.oci, "the image is for {}", self.architecture);
        let process = &self.process;
        let arguments = json!(["/usr/bin/evenkeel", "serve"]);
        ensure!(process["args"] == arguments, "the image starts {}", process["args"]);
        let user = (&process["user"]["uid"], &process["user"]["gid"]);
        ensure!(user == (&json!(USER), &json!(USER)), "the image runs as {}", process["user"]);
        ensure!(process["cwd"] == "/data", "the image starts in {}", process["cwd"]);
        let health = &self.settings["Healthcheck"]["Test"];
        ensure!(
            *health == json!(["CMD", "/usr/bin/evenkeel", "healthy"]),
            "the health check is {health}"
        );
        let ports = &self.settings["ExposedPorts"];
        ensure!(*ports == json!({"4680/tcp": {}}), "the image exposes {ports}");
        let labels = &self.settings["Labels"];
        for (name, value) in [
            ("title", "Evenkeel"),
            ("licenses", "Apache-2.0"),
            ("version", version),
            ("created", &self.created),
        ] {
            let label = &labels[format!("org.opencontainers.image.{name}")];
            ensure!(label == value, "the label {name} is {label}");
        }
        self.check_files()
    }

    fn check_files(&self) -> Result<()> {
        for (path, mode, owner) in [
            ("data", 0o700, USER),
            ("tmp", 0o1777, 0),
            ("usr/bin/evenkeel", 0o755, 0),
            ("usr/share/licenses/evenkeel/LICENSE", 0o644, 0),
        ] {
            let found = fs::metadata(self.root.join(path)).with_context(|| path.to_owned())?;
            let permissions = found.permissions().mode() & 0o7777;
            ensure!(permissions == mode, "/{path} has the permissions {permissions:o}");
            if install::is_root()? {
                let (user, group) = (found.uid(), found.gid());
                ensure!((user, group) == (owner, owner), "/{path} belongs to {user}:{group}");
            }
        }
        let authorities = read(&self.root.join("etc/ssl/certs/ca-certificates.crt"))?;
        ensure!(authorities == pack::authorities()?, "the image has other certificate authorities");
        Ok(())
    }
}

/// Names the image of one architecture alone in the layout's index, as an engine of that architecture would choose. umoci
/// takes no choice.
fn choose(layout: &Path, target: &Target) -> Result<()> {
    let mut index = json_of(&layout.join("index.json"))?;
    let first = index["manifests"][0].clone();
    if first["mediaType"] != "application/vnd.oci.image.index.v1+json" {
        return Ok(());
    }
    let inner = blob(layout, &first)?;
    let manifests = inner["manifests"].as_array().context("the index lists no images")?;
    let is_chosen =
        |it: &&Value| it["platform"] == json!({"architecture": target.oci, "os": "linux"});
    let found = manifests.iter().find(is_chosen);
    let mut chosen = found.with_context(|| format!("no image for {}", target.oci))?.clone();
    chosen["annotations"] = first["annotations"].clone();
    index["manifests"] = json!([chosen]);
    fs::write(layout.join("index.json"), index.to_string())?;
    Ok(())
}

fn blob(layout: &Path, descriptor: &Value) -> Result<Value> {
    let digest = descriptor["digest"].as_str().context("a descriptor has no digest")?;
    json_of(&layout.join("blobs").join(digest.replace(':', "/")))
}

fn json_of(path: &Path) -> Result<Value> {
    serde_json::from_slice(&read(path)?).with_context(|| path.display().to_string())
}
