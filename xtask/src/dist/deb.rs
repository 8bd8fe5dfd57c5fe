//! The Debian package: program, service, settings and documents.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::archive::{self, Compression, Entry};
use super::{Release, Target, read};

/// Files of the repository and their places in the package.
const FILES: [(&str, &str); 16] = [
    ("deploy/systemd/evenkeel.service", "usr/lib/systemd/system/evenkeel.service"),
    ("deploy/systemd/sysusers.conf", "usr/lib/sysusers.d/evenkeel.conf"),
    ("deploy/evenkeel.toml", "etc/evenkeel/evenkeel.toml"),
    ("deploy/systemd/postgres.conf", "usr/share/evenkeel/systemd/postgres.conf"),
    ("deploy/systemd/mail.conf", "usr/share/evenkeel/systemd/mail.conf"),
    ("deploy/systemd/s3.conf", "usr/share/evenkeel/systemd/s3.conf"),
    ("deploy/proxy/Caddyfile", "usr/share/evenkeel/proxy/Caddyfile"),
    ("deploy/proxy/nginx.conf", "usr/share/evenkeel/proxy/nginx.conf"),
    ("deploy/proxy/traefik.yaml", "usr/share/evenkeel/proxy/traefik.yaml"),
    ("deploy/proxy/tailscale-serve.json", "usr/share/evenkeel/proxy/tailscale-serve.json"),
    ("deploy/proxy/cloudflared.yml", "usr/share/evenkeel/proxy/cloudflared.yml"),
    ("docs/installing.md", "usr/share/doc/evenkeel/installing.md"),
    ("docs/running.md", "usr/share/doc/evenkeel/running.md"),
    ("docs/security.md", "usr/share/doc/evenkeel/security.md"),
    ("docs/sign-on.md", "usr/share/doc/evenkeel/sign-on.md"),
    ("LICENSE", "usr/share/doc/evenkeel/copyright"),
];

/// Scripts that dpkg runs.
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

pub(crate) fn package(
    root: &Path,
    target: &Target,
    program: &[u8],
    release: &Release,
) -> Result<Vec<u8>> {
    let files = files(root, program)?;
    let sizes = files.iter().filter_map(|it| it.content.as_ref()).map(Vec::len);
    let kib: usize = sizes.map(|it| it.div_ceil(1_024)).sum();
    let control = control(root, target, release.version, kib)?;
    let tar = |entries: &[Entry]| {
        archive::gzip(&archive::tar(entries, "./", release.seconds)?, release.compression)
    };
    let members: [(&str, &[u8]); 3] = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", &tar(&control)?),
        ("data.tar.gz", &tar(&files)?),
    ];
    Ok(archive::ar(&members, release.seconds))
}

/// The name that Debian's tools expect.
pub(crate) fn file_name(target: &Target, version: &str) -> String {
    format!("evenkeel_{version}_{}.deb", target.debian)
}

fn files(root: &Path, program: &[u8]) -> Result<Vec<Entry>> {
    let mut files = vec![Entry::file("usr/bin/evenkeel", 0o755, program)];
    for (from, to) in FILES {
        files.push(Entry::file(to, 0o644, read(&root.join(from))?));
    }
    let changes = archive::gzip(&read(&root.join("CHANGELOG.md"))?, Compression::Best)?;
    files.push(Entry::file("usr/share/doc/evenkeel/changelog.gz", 0o644, changes));
    Ok(archive::with_folders(files))
}

fn control(root: &Path, target: &Target, version: &str, kib: usize) -> Result<Vec<Entry>> {
    let folder = root.join("deploy/debian");
    let text = String::from_utf8(read(&folder.join("control"))?).context("control is no text")?;
    let text = text
        .replace("@VERSION@", version)
        .replace("@ARCHITECTURE@", target.debian)
        .replace("@INSTALLED_KIB@", &kib.to_string());
    let mut entries = vec![
        Entry::file("control", 0o644, text),
        Entry::file("conffiles", 0o644, read(&folder.join("conffiles"))?),
    ];
    for script in SCRIPTS {
        entries.push(Entry::file(script, 0o755, read(&folder.join(script))?));
    }
    Ok(entries)
}
