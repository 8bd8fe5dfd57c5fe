//! Reads an image with buildah, which has the storage and the readers of Podman: the architecture that it chooses, the
//! settings that it understands, and the root that it would mount.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::unpacked::UnpackedImage;
use super::{Target, read};
use crate::{install, output_of};

/// Settings that every container engine knows, under the same names.
const SETTINGS: [&str; 9] = [
    "User",
    "ExposedPorts",
    "Env",
    "Entrypoint",
    "Cmd",
    "Volumes",
    "WorkingDir",
    "Labels",
    "StopSignal",
];

/// Checks that buildah reads from the archive what umoci has unpacked from it.
pub(crate) fn check(archive: &Path, target: &Target, unpacked: &UnpackedImage) -> Result<()> {
    if !install::is_root()? {
        println!("buildah has not read the image, because only root can mount it");
        return Ok(());
    }
    let store = Store::new(archive.with_file_name("buildah"))?;
    let container = store.run(&["from", "--quiet", "--arch", target.oci, &source(archive)?])?;
    let inspected: Value = serde_json::from_str(&store.run(&["inspect", &container])?)?;
    let settings = &inspected["OCIv1"]["config"];
    let architecture = &inspected["OCIv1"]["architecture"];
    ensure!(architecture == target.oci, "buildah chooses the architecture {architecture}");
    for name in SETTINGS {
        let (found, own) = (&settings[name], &unpacked.settings[name]);
        ensure!(!own.is_null() && found == own, "buildah reads {name} as {found}, not as {own}");
    }
    // The specification of OCI images has no health check. Engines read it as Docker writes it.
    let health = &inspected["Docker"]["config"]["Healthcheck"];
    for name in ["Test", "Interval", "Timeout", "StartPeriod"] {
        let (found, own) = (&health[name], &unpacked.settings["Healthcheck"][name]);
        ensure!(!own.is_null() && found == own, "the {name} of the health check is {found}");
    }
    let mounted = files(Path::new(&store.run(&["mount", &container])?))?;
    let expected = files(&unpacked.root)?;
    for path in expected.keys().chain(mounted.keys()) {
        let (found, own) = (mounted.get(path), expected.get(path));
        ensure!(found == own, "buildah and umoci unpack /{} differently", path.display());
    }
    store.remove()
}

fn source(archive: &Path) -> Result<String> {
    let path = archive.to_str().context("the path of the image is no text")?;
    Ok(format!("oci-archive:{path}"))
}

/// Buildah's images and containers, in a folder that this check empties and deletes.
struct Store {
    folder: PathBuf,
}

impl Store {
    fn new(folder: PathBuf) -> Result<Store> {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(Store { folder })
    }

    fn run(&self, arguments: &[&str]) -> Result<String> {
        let mut command = Command::new("buildah");
        // The driver `vfs` copies files, and needs nothing from the kernel.
        command.args(["--storage-driver", "vfs", "--root"]).arg(self.folder.join("root"));
        command.arg("--runroot").arg(self.folder.join("run")).args(arguments);
        Ok(String::from_utf8(output_of(&mut command)?)?.trim().to_owned())
    }

    fn remove(self) -> Result<()> {
        self.run(&["rm", "--all"])?;
        self.run(&["rmi", "--all"])?;
        Ok(fs::remove_dir_all(&self.folder)?)
    }
}

/// Permissions, owner, group and content of a file.
#[derive(Debug, Eq, PartialEq)]
struct Unpacked {
    mode: u32,
    owner: (u32, u32),
    content: Vec<u8>,
}

/// The files and folders below a folder, by their paths. The folder itself belongs to the engine.
fn files(root: &Path) -> Result<BTreeMap<PathBuf, Unpacked>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let about = fs::symlink_metadata(&path)?;
            let kind = about.file_type();
            ensure!(kind.is_file() || kind.is_dir(), "{} is no file", path.display());
            let content = if kind.is_file() { read(&path)? } else { Vec::new() };
            if kind.is_dir() {
                folders.push(path.clone());
            }
            let owner = (about.uid(), about.gid());
            let path = path.strip_prefix(root)?.to_owned();
            found.insert(path, Unpacked { mode: about.mode(), owner, content });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_permission_or_content_makes_two_folders_differ() {
        let folder = std::env::temp_dir().join(format!("evenkeel-files-{}", std::process::id()));
        let make = |name: &str, content: &str| {
            fs::create_dir_all(folder.join(name).join("etc")).unwrap();
            fs::write(folder.join(name).join("etc/file"), content).unwrap();
            files(&folder.join(name)).unwrap()
        };
        let (first, same, other) = (make("a", "1"), make("b", "1"), make("c", "2"));
        let mut open = fs::metadata(folder.join("b/etc")).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut open, 0o700);
        fs::set_permissions(folder.join("b/etc"), open).unwrap();
        let closed = files(&folder.join("b")).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(first.len(), 2);
        assert_eq!(first, same);
        assert_ne!(first, other);
        assert_ne!(first, closed);
    }
}
