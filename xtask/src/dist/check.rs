//! Checks packages, images and the files under `deploy` with the programs that will read them. For each architecture, a tiny
//! program is packed in place of Evenkeel. For this machine's, the program that the other steps have built is packed, and
//! every way of installing it is tried.
//!
//! Building from source needs no trial here: the other steps compile the same sources and run the program, and
//! `cargo xtask dist` compiles them as they are shipped.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::archive::Compression;
use super::unpacked::UnpackedImage;
use super::{
    Release, TARGETS, Target, buildah, deb, deploy_files, oci, own_target, pack, read, stand_in,
    trials, version,
};
use crate::{install, output_of, root, run, target_folder};

/// Ten times the highest exposure that `systemd-analyze security` may report.
const EXPOSURE_MAX_TENTHS: &str = "20";
const SECONDS: u64 = 1_700_000_000;
/// The packages of the stand-in.
const STAND_IN: Release<'_> =
    Release { version: "1.2.3", seconds: SECONDS, compression: Compression::Best };

pub(crate) fn install() -> Result<()> {
    install::package_tools()?;
    trials::database::install()?;
    deploy_files::install()
}

pub(crate) fn run_all() -> Result<()> {
    let folder = target_folder()?.join("tests/packages");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let mut settings = Value::Null;
    for target in &TARGETS {
        let folder = folder.join(target.debian);
        fs::create_dir_all(&folder)?;
        settings = image(target, &folder)?;
        package(target, &folder)?;
    }
    images(&folder)?;
    service()?;
    names()?;
    deploy_files::check(&settings)?;
    let Some(own) = own_target() else {
        println!(
            "no way of installing was tried, because the program is not shipped for this machine"
        );
        return Ok(());
    };
    ways(own, &folder.join("ways"))
}

/// Packs the program beside this one, and tries each way of installing it.
fn ways(target: &Target, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    // Without the names of its functions, a third of the program, as it is shipped.
    let stripped = folder.join("stripped");
    let mut strip = Command::new("strip");
    strip.arg("-o").arg(&stripped).arg(std::env::current_exe()?.with_file_name("evenkeel"));
    run(&mut strip)?;
    let program = read(&stripped)?;
    fs::remove_file(&stripped)?;
    let release =
        Release { version: version(), seconds: SECONDS, compression: Compression::Stored };
    pack::packages(folder, target, &program, &release)?;
    pack::image(folder, target, &program, &release)?;
    pack::checksums(folder)?;
    trials::all(folder, target)?;
    // They are large, and the next run makes them again.
    Ok(fs::remove_dir_all(folder)?)
}

/// The image is written twice with the same bytes, and umoci and buildah unpack it to a root with the right owners and command.
/// Returns the image's settings.
fn image(target: &Target, folder: &Path) -> Result<Value> {
    pack::image(folder, target, &stand_in::program(), &STAND_IN)?;
    let file = folder.join(pack::image_name(target));
    let first = read(&file)?;
    pack::image(folder, target, &stand_in::program(), &STAND_IN)?;
    ensure!(first == read(&file)?, "two images of the same content differ");
    let unpacked = UnpackedImage::new(&file, &folder.join("image"), STAND_IN.version, target)?;
    unpacked.check(target, STAND_IN.version)?;
    buildah::check(&file, target, &unpacked)?;
    ensure!(unpacked.created == "2023-11-14T22:13:20Z", "the image is of {}", unpacked.created);
    starts(&unpacked.root.join("usr/bin/evenkeel"))?;
    Ok(unpacked.settings)
}

/// The archive with the images of all architectures, from which an engine chooses one.
fn images(folder: &Path) -> Result<()> {
    let file = folder.join("images.oci.tar");
    let write = |it: &Target| pack::image(folder, it, &stand_in::program(), &STAND_IN);
    let images: Vec<oci::Image> = TARGETS.iter().map(write).collect::<Result<_>>()?;
    fs::write(&file, oci::to_archive_of_all(&images)?)?;
    for target in &TARGETS {
        let unpacked = UnpackedImage::new(&file, &folder.join("images"), STAND_IN.version, target)?;
        unpacked.check(target, STAND_IN.version)?;
        buildah::check(&file, target, &unpacked)?;
        starts(&unpacked.root.join("usr/bin/evenkeel"))?;
    }
    Ok(())
}

/// dpkg-deb reads the package, and its files are in their places.
fn package(target: &Target, folder: &Path) -> Result<()> {
    let unpacked = folder.join("unpacked");
    fs::create_dir_all(&unpacked)?;
    let write = || deb::package(&root(), target, &stand_in::program(), &STAND_IN);
    let package = write()?;
    ensure!(package == write()?, "two packages of the same content differ");
    let file = folder.join(deb::file_name(target, STAND_IN.version));
    fs::write(&file, package)?;
    let field = |name: &str| -> Result<String> {
        let output = output_of(Command::new("dpkg-deb").arg("--field").arg(&file).arg(name))?;
        Ok(String::from_utf8_lossy(&output).trim().to_owned())
    };
    ensure!(field("Architecture")? == target.debian, "the package is for another architecture");
    ensure!(field("Version")? == STAND_IN.version, "the package has another version");
    output_of(Command::new("dpkg-deb").arg("--info").arg(&file))
        .context("the control files are wrong")?;
    run(Command::new("dpkg-deb").arg("--extract").arg(&file).arg(&unpacked))?;
    for place in ["etc/evenkeel/evenkeel.toml", "usr/lib/systemd/system/evenkeel.service"] {
        ensure!(unpacked.join(place).is_file(), "{place} is not in the package");
    }
    starts(&unpacked.join("usr/bin/evenkeel"))
}

/// The stand-in starts from where it was unpacked, on machines of its architecture.
fn starts(program: &Path) -> Result<()> {
    ensure!(read(program)? == stand_in::program(), "the unpacked program has other bytes");
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        let output = output_of(&mut Command::new(program))?;
        ensure!(output == stand_in::OUTPUT, "the unpacked program does not run");
    }
    Ok(())
}

/// The documents name the files that are written.
fn names() -> Result<()> {
    let target = &TARGETS[0];
    let archive = format!("{}.tar.gz", pack::archive_stem(target));
    let (package, image) = (deb::file_name(target, version()), pack::image_name(target));
    for (document, names) in [
        ("README.md", &[&archive, &package][..]),
        ("docs/installing.md", &[&archive, &package, &image]),
    ] {
        let text = String::from_utf8(read(&root().join(document))?)?;
        for name in names {
            ensure!(text.contains(name.as_str()), "{document} does not name {name}");
        }
    }
    Ok(())
}

/// systemd finds the service's sandbox tight enough.
fn service() -> Result<()> {
    let unit = root().join("deploy/systemd/evenkeel.service");
    let mut analyze = Command::new("systemd-analyze");
    analyze.args(["security", "--offline=true", "--no-pager", "--threshold", EXPOSURE_MAX_TENTHS]);
    let output = output_of(analyze.arg(unit)).context("the service is too exposed")?;
    let output = String::from_utf8_lossy(&output).into_owned();
    let verdict = output.lines().find(|it| it.contains("Overall exposure")).unwrap_or_default();
    println!("{}", verdict.trim_start_matches(['→', ' ']));
    Ok(())
}
