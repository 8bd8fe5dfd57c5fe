//! What is shipped: static programs with checksums and a dependency list, Debian packages, and container images.

mod archive;
mod buildah;
pub(crate) mod check;
pub(crate) mod compare;
mod deb;
mod dependencies;
mod deploy_files;
mod oci;
mod pack;
pub(crate) mod program;
mod stand_in;
mod trials;
mod unpacked;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{cargo, output_of, root, target_folder};
use archive::Compression;
use pack::Release;

/// The largest image of one architecture that is shipped.
const IMAGE_BYTES_MAX: u64 = 45_000_000;

/// An architecture that the program is shipped for, with its names.
pub(crate) struct Target {
    pub(crate) triple: &'static str,
    /// As Rust names it.
    architecture: &'static str,
    pub(crate) debian: &'static str,
    pub(crate) oci: &'static str,
    /// The C compiler on a machine of another architecture.
    cross_compiler: &'static str,
    /// The compiler and a header of the C library, with their packages on Debian.
    cross_packages: [(&'static str, &'static str); 2],
}

pub(crate) const TARGETS: [Target; 2] = [
    Target {
        triple: "x86_64-unknown-linux-musl",
        architecture: "x86_64",
        debian: "amd64",
        oci: "amd64",
        cross_compiler: "x86_64-linux-gnu-gcc",
        cross_packages: [
            ("x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu"),
            ("/usr/x86_64-linux-gnu/include/stdlib.h", "libc6-dev-amd64-cross"),
        ],
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        architecture: "aarch64",
        debian: "arm64",
        oci: "arm64",
        cross_compiler: "aarch64-linux-gnu-gcc",
        cross_packages: [
            ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
            ("/usr/aarch64-linux-gnu/include/stdlib.h", "libc6-dev-arm64-cross"),
        ],
    },
];

/// The target that this machine can run, if it is shipped for it.
pub(crate) fn own_target() -> Option<&'static Target> {
    let is_own = |it: &&Target| it.architecture == std::env::consts::ARCH;
    TARGETS.iter().find(is_own).filter(|_| cfg!(target_os = "linux"))
}

/// The target among these that this machine can run. If there is none, this says that nothing is tried.
fn own_of(targets: &[&'static Target]) -> Option<&'static Target> {
    let own = own_target().filter(|own| targets.iter().any(|it| it.triple == own.triple));
    if own.is_none() {
        println!("nothing was tried, because this machine cannot run what was built");
    }
    own
}

/// The targets that are named, or all.
fn chosen(names: &[&str]) -> Result<Vec<&'static Target>> {
    let known = || TARGETS.map(|it| it.triple).join(", ");
    for name in names {
        if !TARGETS.iter().any(|it| it.triple == *name) {
            bail!("{name} is not shipped: give {}", known());
        }
    }
    Ok(TARGETS.iter().filter(|it| names.is_empty() || names.contains(&it.triple)).collect())
}

/// `cargo xtask dist`: programs, Debian packages, dependency lists and checksums in `target/packages`. Those for this
/// machine are then installed and tried.
pub(crate) fn programs(names: &[&str]) -> Result<()> {
    let targets = chosen(names)?;
    build(&targets)?;
    match own_of(&targets) {
        Some(own) => trials::packages(&packages()?, own),
        None => Ok(()),
    }
}

/// `cargo xtask dist --build-only`: the same without trying it.
pub(crate) fn programs_untried(names: &[&str]) -> Result<()> {
    build(&chosen(names)?)
}

fn build(targets: &[&'static Target]) -> Result<()> {
    let release = release()?;
    let folder = packages()?;
    for target in targets {
        let program = program::build(target, release.seconds)?;
        write(&folder.join(program_name(target)), &program)?;
        pack::packages(&folder, target, &program, &release)?;
        let list = serde_json::to_string_pretty(&dependencies_of(target)?)?;
        write(&folder.join(dependencies_name(target)), list.as_bytes())?;
    }
    pack::checksums(&folder)
}

/// What a build writes for an architecture: the program, its archive, the Debian package and the dependency list.
fn files_of(target: &Target) -> [String; 4] {
    [
        program_name(target),
        format!("{}.tar.gz", pack::archive_stem(target)),
        deb::file_name(target, version()),
        dependencies_name(target),
    ]
}

fn dependencies_name(target: &Target) -> String {
    format!("{}.cdx.json", pack::archive_stem(target))
}

/// `cargo xtask image`: container images of the programs that `cargo xtask dist` has built. The one for this machine is
/// then tried.
pub(crate) fn images(names: &[&str]) -> Result<()> {
    let release = release()?;
    let folder = packages()?;
    let targets = chosen(names)?;
    let mut images = Vec::new();
    for target in &targets {
        let program = read(&folder.join(program_name(target)))
            .with_context(|| format!("run `cargo xtask dist {}` first", target.triple))?;
        images.push(pack::image(&folder, target, &program, &release)?);
        let bytes = fs::metadata(folder.join(pack::image_name(target)))?.len();
        ensure!(
            bytes <= IMAGE_BYTES_MAX,
            "the image has {bytes} bytes; the limit is {IMAGE_BYTES_MAX}"
        );
    }
    if images.len() > 1 {
        let archive = oci::to_archive_of_all(&images)?;
        write(&folder.join(format!("evenkeel-{}.oci.tar", release.version)), &archive)?;
    }
    pack::checksums(&folder)?;
    match own_of(&targets) {
        Some(own) => trials::image(&folder, own),
        None => Ok(()),
    }
}

fn release() -> Result<Release<'static>> {
    let seconds = program::commit_seconds()?;
    Ok(Release { version: version(), seconds, compression: Compression::Best })
}

fn dependencies_of(target: &Target) -> Result<Value> {
    let mut command = cargo(&["metadata", "--format-version", "1", "--locked"]);
    let metadata = output_of(command.args(["--filter-platform", target.triple]))?;
    let lock = String::from_utf8(read(&root().join("Cargo.lock"))?)?;
    dependencies::list(&serde_json::from_slice(&metadata)?, &lock, "evenkeel")
}

/// Seconds since 1970 as RFC 3339, by the calendar's arithmetic (Howard Hinnant's civil-from-days).
fn instant(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn program_name(target: &Target) -> String {
    format!("evenkeel-{}-{}", version(), target.triple)
}

fn packages() -> Result<PathBuf> {
    let folder = target_folder()?.join("packages");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

pub(crate) fn hex_sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|it| format!("{it:02x}")).collect()
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    println!("{} ({} bytes)", path.display(), bytes.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_targets_are_built_unless_some_are_named() {
        assert_eq!(chosen(&[]).unwrap().len(), TARGETS.len());
        assert_eq!(chosen(&["aarch64-unknown-linux-musl"]).unwrap()[0].debian, "arm64");
        assert!(chosen(&["riscv64gc-unknown-linux-musl"]).is_err());
    }

    #[test]
    fn instants_are_written_as_dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(instant(seconds), text);
        }
    }

    #[test]
    fn the_digest_is_that_of_the_standard() {
        let of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex_sha256(b"abc"), of_abc);
    }
}
