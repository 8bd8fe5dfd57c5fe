//! Writes the packages of a program: the archive to download, the Debian package, the container image, and checksums.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::archive::{self, Compression, Entry};
use super::{Target, deb, hex_sha256, oci, read, version, write};
use crate::root;

/// The version of all packages of one run, and how they are packed.
pub(crate) struct Release<'a> {
    pub(crate) version: &'a str,
    /// The time of every packed file, in seconds since 1970.
    pub(crate) seconds: u64,
    pub(crate) compression: Compression,
}

/// Files of the repository, and their places in the archive to download.
const FILES: [(&str, &str); 15] = [
    ("LICENSE", "LICENSE"),
    ("licenses/name-suggestion-index.md", "licenses/name-suggestion-index.md"),
    ("docs/installing.md", "installing.md"),
    ("docs/running.md", "running.md"),
    ("docs/sign-on.md", "sign-on.md"),
    ("deploy/evenkeel.toml", "evenkeel.toml"),
    ("deploy/systemd/sysusers.conf", "sysusers.conf"),
    ("deploy/systemd/postgres.conf", "systemd/postgres.conf"),
    ("deploy/systemd/mail.conf", "systemd/mail.conf"),
    ("deploy/systemd/s3.conf", "systemd/s3.conf"),
    ("deploy/proxy/Caddyfile", "proxy/Caddyfile"),
    ("deploy/proxy/nginx.conf", "proxy/nginx.conf"),
    ("deploy/proxy/traefik.yaml", "proxy/traefik.yaml"),
    ("deploy/proxy/tailscale-serve.json", "proxy/tailscale-serve.json"),
    ("deploy/proxy/cloudflared.yml", "proxy/cloudflared.yml"),
];

/// The name of the archive without its ending, which is also the name of the folder inside it.
pub(crate) fn archive_stem(target: &Target) -> String {
    format!("evenkeel-{}-{}", version(), target.triple)
}

pub(crate) fn image_name(target: &Target) -> String {
    format!("evenkeel-{}-{}.oci.tar", version(), target.oci)
}

/// Writes the archive to download and the Debian package.
pub(crate) fn packages(
    folder: &Path,
    target: &Target,
    program: &[u8],
    release: &Release,
) -> Result<()> {
    let archive = download(target, program, release)?;
    write(&folder.join(format!("{}.tar.gz", archive_stem(target))), &archive)?;
    let package = deb::package(&root(), target, program, release)?;
    write(&folder.join(deb::file_name(target, release.version)), &package)
}

/// Writes the image of one architecture.
pub(crate) fn image(
    folder: &Path,
    target: &Target,
    program: &[u8],
    release: &Release,
) -> Result<oci::Image> {
    let image = oci::Image::new(&oci::Contents {
        target,
        program,
        authorities: &authorities()?,
        license: &read(&root().join("LICENSE"))?,
        release,
    })?;
    write(&folder.join(image_name(target)), &image.to_archive()?)?;
    Ok(image)
}

/// The archive that people download: the program, its license, and the files of a service and of proxies.
fn download(target: &Target, program: &[u8], release: &Release) -> Result<Vec<u8>> {
    let folder = archive_stem(target);
    let mut entries = vec![Entry::file(&format!("{folder}/evenkeel"), 0o755, program)];
    for (from, to) in FILES {
        entries.push(Entry::file(&format!("{folder}/{to}"), 0o644, read(&root().join(from))?));
    }
    let unit = local_unit(&read(&root().join("deploy/systemd/evenkeel.service"))?)?;
    entries.push(Entry::file(&format!("{folder}/evenkeel.service"), 0o644, unit));
    let tar = archive::tar(&archive::with_folders(entries), "", release.seconds)?;
    archive::gzip(&tar, release.compression)
}

/// The service of a program that no package manager has installed, which is under `/usr/local`.
fn local_unit(unit: &[u8]) -> Result<String> {
    let unit = String::from_utf8(unit.to_vec()).context("the unit is no text")?;
    let local = unit
        .replace("/usr/bin/evenkeel", "/usr/local/bin/evenkeel")
        .replace("Documentation=file:///usr/share/doc/evenkeel/running.md\n", "");
    ensure!(local != unit, "the unit does not start /usr/bin/evenkeel");
    Ok(local)
}

/// SHA256SUMS of every file, for `sha256sum --check`.
pub(crate) fn checksums(folder: &Path) -> Result<()> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != "SHA256SUMS" && entry.file_type()?.is_file() {
            lines.push((name, hex_sha256(&read(&entry.path())?)));
        }
    }
    lines.sort();
    let text: String = lines.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    write(&folder.join("SHA256SUMS"), text.as_bytes())
}

/// The certificate authorities of this machine, which the image gets.
pub(crate) fn authorities() -> Result<Vec<u8>> {
    let places = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ];
    let found = places.iter().find_map(|it| fs::read(it).ok());
    found
        .context("this machine has no certificate authorities: install the package ca-certificates")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::TARGETS;

    #[test]
    fn the_program_is_the_only_thing_that_differs_between_downloads() {
        let release = Release { version: "1.2.3", seconds: 1, compression: Compression::Best };
        let pack = |program: &[u8]| download(&TARGETS[0], program, &release).unwrap();
        assert_eq!(pack(b"program"), pack(b"program"));
        assert_ne!(pack(b"program"), pack(b"other"));
    }

    #[test]
    fn the_service_of_the_archive_starts_the_local_program() {
        let unit = local_unit(b"[Service]\nExecStart=/usr/bin/evenkeel serve\n").unwrap();
        assert_eq!(unit, "[Service]\nExecStart=/usr/local/bin/evenkeel serve\n");
        assert!(local_unit(b"[Service]\n").is_err());
    }
}
