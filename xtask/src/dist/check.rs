//! Checks packages, images and the files under `deploy` with the programs that will read them. A tiny program is packed in
//! place of Evenkeel, so that the check takes seconds; the ways of installing are then tried with the real one.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::{TARGETS, Target, deb, oci, read, ways};
use crate::{install, output_of, root, run, target_folder};

/// Ten times the highest exposure that `systemd-analyze security` may report.
const EXPOSURE_MAX_TENTHS: &str = "20";
const SECONDS: u64 = 1_700_000_000;
const OUTPUT: &[u8] = b"ready\n";

pub(crate) fn run_all() -> Result<()> {
    install::package_tools()?;
    let folder = target_folder()?.join("tests/packages");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for target in &TARGETS {
        image(target, &folder.join(target.oci))?;
        package(target, &folder.join(target.debian))?;
    }
    service()?;
    proxies(&folder)
}

/// The image is written twice with the same bytes, and umoci unpacks it to a root with the right owners and command.
fn image(target: &Target, folder: &Path) -> Result<()> {
    let layout = folder.join("layout");
    fs::create_dir_all(&layout)?;
    let authorities = super::authorities()?;
    let write = || -> Result<Vec<u8>> {
        let image = oci::Image::new(&oci::Contents {
            target,
            program: &stand_in(),
            authorities: &authorities,
            license: b"license",
            version: "1.2.3",
            seconds: SECONDS,
            created: "2023-11-14T22:13:20Z",
        })?;
        image.to_archive()
    };
    let archive = write()?;
    ensure!(archive == write()?, "two images of the same content differ");
    let file = folder.join("image.tar");
    fs::write(&file, archive)?;
    run(Command::new("tar")
        .arg("--extract")
        .arg("--file")
        .arg(&file)
        .arg("--directory")
        .arg(&layout))?;
    let bundle = folder.join("bundle");
    let image = format!("{}:1.2.3", layout.display());
    let mut umoci = Command::new("umoci");
    umoci.args(["unpack", "--rootless", "--image", &image]).arg(&bundle);
    output_of(&mut umoci).context("umoci cannot unpack the image")?;
    let config: Value = serde_json::from_slice(&read(&bundle.join("config.json"))?)?;
    let process = &config["process"];
    let arguments = serde_json::json!(["/usr/bin/evenkeel", "serve"]);
    ensure!(process["args"] == arguments, "the image starts {}", process["args"]);
    ensure!(process["user"]["uid"] == 1_000, "the image runs as {}", process["user"]);
    ensure!(process["cwd"] == "/data", "the image starts in {}", process["cwd"]);
    let unpacked = bundle.join("rootfs");
    ensure!(unpacked.join("data").is_dir() && unpacked.join("tmp").is_dir(), "a folder is missing");
    ensure!(
        read(&unpacked.join("etc/ssl/certs/ca-certificates.crt"))? == authorities,
        "the authorities are not in their place"
    );
    starts(&unpacked.join("usr/bin/evenkeel"))?;
    if target.architecture == std::env::consts::ARCH { ways::container(&unpacked) } else { Ok(()) }
}

/// dpkg-deb reads the package, and its files are in their places.
fn package(target: &Target, folder: &Path) -> Result<()> {
    let unpacked = folder.join("unpacked");
    fs::create_dir_all(&unpacked)?;
    let write = || deb::package(&root(), target, &stand_in(), ("1.2.3", SECONDS));
    let package = write()?;
    ensure!(package == write()?, "two packages of the same content differ");
    let file = folder.join(deb::file_name(target, "1.2.3"));
    fs::write(&file, package)?;
    let field = |name: &str| -> Result<String> {
        let output = output_of(Command::new("dpkg-deb").arg("--field").arg(&file).arg(name))?;
        Ok(String::from_utf8_lossy(&output).trim().to_owned())
    };
    ensure!(field("Architecture")? == target.debian, "the package is for another architecture");
    ensure!(field("Version")? == "1.2.3", "the package has another version");
    output_of(Command::new("dpkg-deb").arg("--info").arg(&file))
        .context("the control files are wrong")?;
    run(Command::new("dpkg-deb").arg("--extract").arg(&file).arg(&unpacked))?;
    for place in ["etc/evenkeel/evenkeel.toml", "usr/lib/systemd/system/evenkeel.service"] {
        ensure!(unpacked.join(place).is_file(), "{place} is not in the package");
    }
    ways::settings(&unpacked)?;
    starts(&unpacked.join("usr/bin/evenkeel"))
}

/// The stand-in starts from where it was unpacked, on machines of its architecture.
fn starts(program: &Path) -> Result<()> {
    ensure!(read(program)? == stand_in(), "the unpacked program has other bytes");
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        let output = output_of(&mut Command::new(program))?;
        ensure!(output == OUTPUT, "the unpacked program does not run");
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

/// nginx and Caddy accept their configurations.
fn proxies(folder: &Path) -> Result<()> {
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]);
    openssl.args(["-subj", "/CN=money.example.com"]).arg("-keyout").arg(&key);
    output_of(openssl.arg("-out").arg(&certificate))?;
    let site = String::from_utf8(read(&root().join("deploy/proxy/nginx.conf"))?)?;
    let live = "/etc/letsencrypt/live/money.example.com";
    let site = site
        .replace(&format!("{live}/fullchain.pem"), &certificate.display().to_string())
        .replace(&format!("{live}/privkey.pem"), &key.display().to_string());
    let pid = folder.join("nginx.pid");
    let whole =
        format!("pid {};\nevents {{}}\nhttp {{\naccess_log off;\n{site}}}\n", pid.display());
    let file = folder.join("nginx.conf");
    fs::write(&file, whole)?;
    let mut nginx = Command::new("nginx");
    output_of(nginx.args(["-t", "-q", "-e", "stderr", "-c"]).arg(&file))?;
    for caddyfile in ["deploy/proxy/Caddyfile", "deploy/compose/postgres/Caddyfile"] {
        let mut caddy = Command::new("caddy");
        caddy.args(["validate", "--adapter", "caddyfile", "--config"]).arg(root().join(caddyfile));
        output_of(caddy.env("XDG_DATA_HOME", folder).env("XDG_CONFIG_HOME", folder))?;
    }
    Ok(())
}

/// A static program for x86-64 Linux of 159 bytes, which prints "ready" and ends.
pub(crate) fn stand_in() -> Vec<u8> {
    let mut code: Vec<u8> = Vec::new();
    code.extend([0xb8, 1, 0, 0, 0, 0xbf, 1, 0, 0, 0]); // write(1,
    code.extend([0x48, 0x8d, 0x35, 16, 0, 0, 0, 0xba, 6, 0, 0, 0, 0x0f, 0x05]); // the text below, 6)
    code.extend([0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05]); // exit(0)
    code.extend(OUTPUT);
    let size = (120 + code.len() as u64).to_le_bytes();
    let mut program = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0\x01\0\0\0".to_vec();
    program.extend(0x40_0078_u64.to_le_bytes()); // the first instruction
    program.extend(64_u64.to_le_bytes()); // the segments' place
    program.extend([0; 12]);
    program.extend([64, 0, 56, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    program.extend([1, 0, 0, 0, 5, 0, 0, 0]); // one segment to load and execute
    program.extend([0; 8]);
    program.extend(0x40_0000_u64.to_le_bytes());
    program.extend(0x40_0000_u64.to_le_bytes());
    program.extend(size);
    program.extend(size);
    program.extend(0x1000_u64.to_le_bytes());
    program.extend(code);
    program
}
