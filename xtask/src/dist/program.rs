//! Builds the static program for an architecture.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::{Target, read};
use crate::{cargo, install, output_of, root, run, target_folder};

/// The largest program that is shipped.
const BYTES_MAX: usize = 40_000_000;

/// Builds the program, and returns it after checking that it needs no file of the system that runs it.
pub(crate) fn build(target: &Target, seconds: u64) -> Result<Vec<u8>> {
    let program = read(&compile(target, "evenkeel", seconds)?)?;
    check(&program)
        .with_context(|| format!("the program for {} cannot be shipped", target.triple))?;
    Ok(program)
}

/// Compiles a package of the workspace as it is shipped, and returns the path of its program.
pub(crate) fn compile(target: &Target, package: &str, seconds: u64) -> Result<PathBuf> {
    let (compiler, linker) = tools(target)?;
    if let Some(rustup) = install::on_path("rustup") {
        run(Command::new(rustup).args(["target", "add", target.triple]))?;
    }
    let mut command = cargo(&["build", "--locked", "--profile", "dist", "--package", package]);
    command.args(["--target", target.triple]).arg("--target-dir").arg(folder()?);
    let variable = target.triple.replace('-', "_");
    command
        .env(format!("CC_{variable}"), compiler)
        .env(format!("CFLAGS_{variable}"), c_flags(&root(), &cargo_home()?))
        .env(format!("CARGO_TARGET_{}_LINKER", variable.to_uppercase()), linker)
        .env("CARGO_ENCODED_RUSTFLAGS", rust_flags(&root(), &cargo_home()?))
        .env("COMPILER_PATH", linker_folder()?)
        .env("CARGO_INCREMENTAL", "0")
        .env("SOURCE_DATE_EPOCH", seconds.to_string())
        .env_remove("RUSTFLAGS");
    run(&mut command)?;
    path(target, package)
}

/// Where `compile` leaves the program of a package.
pub(crate) fn path(target: &Target, package: &str) -> Result<PathBuf> {
    Ok(folder()?.join(target.triple).join("dist").join(package))
}

/// A target folder of its own, because the flags differ from those of other builds.
fn folder() -> Result<PathBuf> {
    Ok(target_folder()?.join("shipped"))
}

/// The C compiler and the linker. Rust brings musl itself; the C parts need a compiler, on this architecture one that
/// knows musl's headers.
fn tools(target: &Target) -> Result<(&'static str, &'static str)> {
    if target.architecture == std::env::consts::ARCH {
        install::c_compiler(&[("musl-gcc", "musl-tools")])?;
        return Ok(("musl-gcc", "cc"));
    }
    install::c_compiler(&target.cross_packages)?;
    Ok((target.cross_compiler, target.cross_compiler))
}

fn check(program: &[u8]) -> Result<()> {
    ensure!(!needs_loader(program)?, "it is not static: it needs the system's dynamic loader");
    ensure!(program.len() <= BYTES_MAX, "it has {} bytes; the limit is {BYTES_MAX}", program.len());
    Ok(())
}

/// Paths of this machine are replaced in the program, so that two machines build the same bytes.
fn rust_flags(root: &Path, cargo_home: &Path) -> String {
    let flags = [
        format!("--remap-path-prefix={}=/evenkeel", root.display()),
        format!("--remap-path-prefix={}=/cargo", cargo_home.display()),
        "-Ctarget-feature=+crt-static".to_owned(),
        // Relocations of a program that can be loaded anywhere, packed: a tenth of the file otherwise.
        "-Clink-arg=-Wl,-z,pack-relative-relocs".to_owned(),
        // The linker's identifier of a build is derived from its content or left out.
        "-Clink-arg=-Wl,--build-id=none".to_owned(),
        // Rust's own linker stores functions with the same code once. The table tells it whose address is never compared; C
        // code has none and is left alone.
        "-Cllvm-args=-addrsig".to_owned(),
        "-Clink-arg=-fuse-ld=lld".to_owned(),
        "-Clink-arg=-Wl,--icf=safe".to_owned(),
    ];
    flags.join("\x1f")
}

/// The folder of the linker that comes with Rust, where C compilers look for `ld.lld`. It is no flag, because Cargo puts a
/// hash of all flags into the program.
fn linker_folder() -> Result<PathBuf> {
    let ask = |what: &str| -> Result<String> {
        let answer = output_of(Command::new("rustc").args(["--print", what]).current_dir(root()))?;
        Ok(String::from_utf8(answer)?.trim().to_owned())
    };
    let libraries = Path::new(&ask("sysroot")?).join("lib/rustlib");
    let folder = libraries.join(ask("host-tuple")?).join("bin/gcc-ld");
    ensure!(folder.join("ld.lld").is_file(), "this Rust has no linker: install Rust with rustup");
    Ok(folder)
}

/// Without what glibc's headers add for glibc alone: checked functions, and a second set of functions for large files, which
/// SQLite would ask for. Files are large on both architectures without them.
fn c_flags(root: &Path, cargo_home: &Path) -> String {
    format!(
        "-U_FORTIFY_SOURCE -DSQLITE_DISABLE_LFS -ffile-prefix-map={}=/evenkeel -ffile-prefix-map={}=/cargo",
        root.display(),
        cargo_home.display()
    )
}

fn cargo_home() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("CARGO_HOME") {
        return Ok(home.into());
    }
    let home = std::env::var_os("HOME").context("neither CARGO_HOME nor HOME is set")?;
    Ok(Path::new(&home).join(".cargo"))
}

/// Whether a 64-bit ELF program names a dynamic loader (a segment of the type PT_INTERP).
pub(crate) fn needs_loader(program: &[u8]) -> Result<bool> {
    const PT_INTERP: u64 = 3;
    ensure!(program.starts_with(b"\x7fELF\x02\x01"), "it is no 64-bit little-endian ELF program");
    let number = |at: usize, bytes: usize| -> Result<u64> {
        let bytes = program.get(at..at + bytes).context("the program is cut")?;
        Ok(bytes.iter().rev().fold(0, |sum, byte| (sum << 8) | u64::from(*byte)))
    };
    let (start, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    for index in 0..count {
        if number(usize::try_from(start + index * size)?, 4)? == PT_INTERP {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The time of the last commit, which every packed file gets, so that packages do not depend on when they are made.
pub(crate) fn commit_seconds() -> Result<u64> {
    if let Some(given) = std::env::var_os("SOURCE_DATE_EPOCH") {
        let given = given.to_string_lossy().into_owned();
        return given.parse().context("SOURCE_DATE_EPOCH must be a number of seconds");
    }
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%ct"]).current_dir(root());
    let output = output_of(&mut git).context("set SOURCE_DATE_EPOCH if there is no git here")?;
    String::from_utf8_lossy(&output).trim().parse().context("git names no time")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::stand_in;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_static_program_needs_no_loader_and_a_shell_does() {
        assert!(!needs_loader(&stand_in::program()).unwrap());
        assert!(needs_loader(&std::fs::read("/bin/sh").unwrap()).unwrap());
        assert!(needs_loader(b"#!/bin/sh").is_err());
    }

    #[test]
    fn paths_of_this_machine_are_replaced() {
        let flags = rust_flags(Path::new("/home/robin/evenkeel"), Path::new("/home/robin/.cargo"));
        assert!(flags.starts_with("--remap-path-prefix=/home/robin/evenkeel=/evenkeel\x1f"));
        let flags = c_flags(Path::new("/src"), Path::new("/c"));
        assert!(flags.contains("-ffile-prefix-map=/src=/evenkeel"));
    }
}
