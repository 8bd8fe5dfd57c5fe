//! The Dockerfile makes the image that `cargo xtask image` writes: the same settings, labels and files.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value, json};

use super::source;
use crate::dist::version;

pub(super) fn check(image: &Value) -> Result<()> {
    let text = source("deploy/docker/Dockerfile")?;
    let last = Stage::last(&text).context("there is no stage")?;
    let variables: Vec<String> = last.words("ENV");
    ensure!(json!(variables) == image["Env"], "ENV: {variables:?}");
    ensure!(json!(last.one("USER")?) == image["User"], "USER {}", last.one("USER")?);
    ensure!(json!(last.one("WORKDIR")?) == image["WorkingDir"], "WORKDIR {}", last.one("WORKDIR")?);
    ensure!(json!(last.one("STOPSIGNAL")?) == image["StopSignal"], "the signal differs");
    ensure!(image["Volumes"].get(last.one("VOLUME")?).is_some(), "the volume differs");
    let port = format!("{}/tcp", last.one("EXPOSE")?);
    ensure!(image["ExposedPorts"].get(&port).is_some(), "EXPOSE {port}");
    for (instruction, name) in [("ENTRYPOINT", "Entrypoint"), ("CMD", "Cmd")] {
        let command: Value = serde_json::from_str(last.one(instruction)?)?;
        ensure!(command == image[name], "{instruction} {command}");
    }
    let (options, command) =
        last.one("HEALTHCHECK")?.split_once(" CMD ").context("the health check has no command")?;
    let mut test: Value = serde_json::from_str(command.trim())?;
    test.as_array_mut().context("the health check is for a shell")?.insert(0, json!("CMD"));
    ensure!(test == image["Healthcheck"]["Test"], "HEALTHCHECK {test}");
    for (option, name) in [
        ("interval", "Interval"),
        ("timeout", "Timeout"),
        ("start-period", "StartPeriod"),
        ("start-interval", "StartInterval"),
    ] {
        let seconds = image["Healthcheck"][name].as_u64().unwrap_or_default() / 1_000_000_000;
        let expected = format!("--{option}={seconds}s");
        ensure!(
            options.split_whitespace().any(|it| it == expected),
            "HEALTHCHECK has no {expected}"
        );
    }
    let labels: Map<String, Value> = last
        .words("LABEL")
        .iter()
        .filter_map(|it| it.split_once('='))
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect();
    let known = image["Labels"].as_object().context("the image has no labels")?;
    for (name, value) in known {
        let label = labels.get(name).with_context(|| format!("there is no label {name}"))?;
        // These two are given to the build.
        let is_given = ["$VERSION", "$CREATED"].iter().any(|it| label == it);
        ensure!(is_given || label == value, "the label {name} is {label}, not {value}");
    }
    let given = format!("ARG VERSION={}", version());
    ensure!(last.0.contains(&given), "there is no {given}");
    let license = "/root-of-image/usr/share/licenses/evenkeel/LICENSE";
    ensure!(text.contains(license), "the license is not in the image");
    Ok(())
}

/// The instructions of the stage that becomes the image, each on one line.
struct Stage(Vec<String>);

impl Stage {
    fn last(dockerfile: &str) -> Option<Stage> {
        let joined = dockerfile.replace("\\\n", " ");
        let lines: Vec<String> =
            joined.lines().filter(|it| !it.starts_with('#')).map(str::to_owned).collect();
        let from = lines.iter().rposition(|it| it.starts_with("FROM "))?;
        Some(Stage(lines[from..].to_vec()))
    }

    /// The arguments of an instruction that must appear exactly once.
    fn one(&self, instruction: &str) -> Result<&str> {
        let mut found =
            self.0.iter().filter_map(|it| it.strip_prefix(instruction)?.strip_prefix(' '));
        let first = found.next().with_context(|| format!("there is no {instruction}"))?;
        ensure!(found.next().is_none(), "{instruction} appears twice");
        Ok(first.trim())
    }

    /// The words of an instruction, without quotes. A quoted word may contain spaces.
    fn words(&self, instruction: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for letter in self.one(instruction).unwrap_or_default().chars() {
            match letter {
                '"' => is_quoted = !is_quoted,
                ' ' if !is_quoted => words.push(String::new()),
                letter => words.last_mut().into_iter().for_each(|it| it.push(letter)),
            }
        }
        words.retain(|it| !it.is_empty());
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_stage_is_read_with_its_continued_lines() {
        let text = "FROM a\nUSER 1\nFROM scratch\n# note\nENV A=1 \\\n    B=2\nUSER 5:5\nLABEL x=\"a b\" y=c\n";
        let stage = Stage::last(text).unwrap();
        assert_eq!(stage.words("ENV"), ["A=1", "B=2"]);
        assert_eq!(stage.words("LABEL"), ["x=a b", "y=c"]);
        assert_eq!(stage.one("USER").unwrap(), "5:5");
        assert!(stage.one("CMD").is_err());
    }
}
