//! Files that the program writes about itself, kept in the repository so that changes are seen.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::{cargo, output_of, root};

/// What to ask of the program, and where its answer is kept.
const GENERATED: &[(&[&str], &str)] = &[(&["openapi"], "docs/openapi.json")];

pub(crate) fn write() -> Result<()> {
    for (question, path) in GENERATED {
        let mut program = cargo(&["run", "--quiet", "--package", "evenkeel", "--"]);
        fs::write(root().join(path), answer(&mut program, question)?)
            .with_context(|| format!("writing {path}"))?;
        println!("wrote {path}");
    }
    Ok(())
}

pub(crate) fn check() -> Result<()> {
    for (question, path) in GENERATED {
        let kept = fs::read(root().join(path))
            .with_context(|| format!("cannot read {path}: run `cargo xtask generate`"))?;
        if let Some(line) = first_difference(&kept, &answer(&mut built()?, question)?) {
            bail!("{path} is out of date from line {line} on: run `cargo xtask generate`");
        }
    }
    Ok(())
}

/// The program that was built beside this one.
fn built() -> Result<Command> {
    Ok(Command::new(std::env::current_exe()?.with_file_name("evenkeel")))
}

fn answer(program: &mut Command, question: &[&str]) -> Result<Vec<u8>> {
    let answer = output_of(program.args(question))?;
    ensure!(!answer.is_empty(), "`evenkeel {}` printed nothing", question.join(" "));
    Ok(answer)
}

/// The first line that is not the same in both, counted from one.
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
    fn the_first_different_line_is_named() {
        assert_eq!(first_difference(b"{\n}\n", b"{\n}\n"), None);
        assert_eq!(first_difference(b"{\n}\n", b"[\n}\n"), Some(1));
        assert_eq!(first_difference(b"{\n\n}\n", b"{\n}\n"), Some(2));
        assert_eq!(first_difference(b"{\n}", b"{\n}\n"), Some(3));
    }
}
