//! Files that the program generates, kept in the repository so that their changes are reviewed.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::{cargo, output_of, root};

/// The arguments that print each file, and its path.
const GENERATED: &[(&[&str], &str)] = &[(&["openapi"], "docs/openapi.json")];
/// The model that guesses categories, trained from the tables beside it.
const MODEL: &str = "data/model.bin";

pub(crate) fn write() -> Result<()> {
    // First, because the program contains it.
    fs::write(root().join(MODEL), calc::enrich::train_model())
        .with_context(|| format!("writing {MODEL}"))?;
    println!("wrote {MODEL}");
    for (arguments, path) in GENERATED {
        let mut program = cargo(&["run", "--quiet", "--package", "evenkeel", "--"]);
        fs::write(root().join(path), output_with(&mut program, arguments)?)
            .with_context(|| format!("writing {path}"))?;
        println!("wrote {path}");
    }
    Ok(())
}

/// Compares the files with what the program prints. A test of `calc` compares the model.
pub(crate) fn check() -> Result<()> {
    for (arguments, path) in GENERATED {
        let kept = fs::read(root().join(path))
            .with_context(|| format!("cannot read {path}: run `cargo xtask generate`"))?;
        if let Some(line) = first_difference(&kept, &output_with(&mut built()?, arguments)?) {
            bail!("{path} is out of date from line {line} on: run `cargo xtask generate`");
        }
    }
    Ok(())
}

/// The program that was built next to this one.
fn built() -> Result<Command> {
    Ok(Command::new(std::env::current_exe()?.with_file_name("evenkeel")))
}

fn output_with(program: &mut Command, arguments: &[&str]) -> Result<Vec<u8>> {
    let output = output_of(program.args(arguments))?;
    ensure!(!output.is_empty(), "`evenkeel {}` printed nothing", arguments.join(" "));
    Ok(output)
}

/// The number of the first line that differs, counted from one.
fn first_difference(a: &[u8], b: &[u8]) -> Option<usize> {
    if a == b {
        return None;
    }
    let lines = a.split(|it| *it == b'\n').zip(b.split(|it| *it == b'\n'));
    Some(1 + lines.take_while(|(a, b)| a == b).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_different_line_is_found() {
        assert_eq!(first_difference(b"{\n}\n", b"{\n}\n"), None);
        assert_eq!(first_difference(b"{\n}\n", b"[\n}\n"), Some(1));
        assert_eq!(first_difference(b"{\n\n}\n", b"{\n}\n"), Some(2));
        assert_eq!(first_difference(b"{\n}", b"{\n}\n"), Some(3));
    }
}
