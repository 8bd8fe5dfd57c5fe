//! The layers that settings come from: flags over environment over a file over defaults.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};

use super::keys::{KEYS, Key};
use super::value::Value;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File(PathBuf),
    Variable(String),
    Flag(&'static str),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File(path) => write!(f, "{}", path.display()),
            Origin::Variable(name) => f.write_str(name),
            Origin::Flag(flag) => f.write_str(flag),
        }
    }
}

#[derive(Clone)]
pub(crate) struct Setting {
    pub(crate) key: &'static Key,
    pub(crate) value: Option<Value>,
    pub(crate) origin: Origin,
}

/// All settings, in the order of their table.
pub(crate) struct Settings(Vec<Setting>);

/// Prefix of variables that control the project's own tests; they are not settings.
const NOT_OURS: &str = "EVENKEEL_TEST_";

impl Settings {
    pub(super) fn defaults() -> Result<Settings> {
        let mut settings = Vec::new();
        for key in KEYS {
            let value = key.default.map(|it| key.kind.parse(it)).transpose();
            let value = value.map_err(|expected| anyhow!("{} must be {expected}", key.name))?;
            settings.push(Setting { key, value, origin: Origin::Default });
        }
        Ok(Settings(settings))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Setting> {
        self.0.iter()
    }

    fn find(&self, name: &str) -> Option<&Setting> {
        self.iter().find(|it| it.key.name == name)
    }

    /// The flag that set a value.
    pub(super) fn flag_of(&self, name: &str) -> Option<&'static str> {
        match self.find(name)?.origin {
            Origin::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    pub(super) fn is_given(&self, name: &str) -> bool {
        self.find(name).is_some_and(|it| it.origin != Origin::Default)
    }

    pub(super) fn maybe_text(&self, name: &str) -> Option<String> {
        match self.find(name)?.value.as_ref()? {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<String> {
        self.maybe_text(name).with_context(|| format!("{name} has no value"))
    }

    pub(super) fn maybe_count(&self, name: &str) -> Option<i64> {
        match self.find(name)?.value.as_ref()? {
            Value::Count(count) => Some(*count),
            _ => None,
        }
    }

    pub(super) fn count(&self, name: &str) -> Result<i64> {
        self.maybe_count(name).with_context(|| format!("{name} has no value"))
    }

    pub(super) fn list(&self, name: &str) -> Vec<String> {
        match self.find(name).and_then(|it| it.value.as_ref()) {
            Some(Value::List(items)) => items.clone(),
            _ => Vec::new(),
        }
    }

    fn set(&mut self, key: &'static Key, value: Value, origin: Origin) {
        let known = self.0.iter_mut().filter(|it| it.key.name == key.name);
        known.for_each(|it| (it.value, it.origin) = (Some(value.clone()), origin.clone()));
    }

    pub(super) fn add_file(&mut self, path: &Path) -> Result<()> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the configuration file {}", path.display()))?;
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|it| text.get(..it.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            anyhow!("{} is not TOML in line {line}: {}", path.display(), error.message())
        })?;
        let mut found = Vec::new();
        flatten(&table, "", &mut found);
        for (name, value) in found {
            let Some(key) = Key::find(&name) else {
                bail!("{}: {}", path.display(), unknown(&name, KEYS.iter().map(|it| it.name)));
            };
            let wrong = |expected: String| {
                let found = if key.secret { String::new() } else { format!(", not {value}") };
                anyhow!("{name} in {} must be {expected}{found}", path.display())
            };
            let value = key.kind.parse_toml(value).map_err(wrong)?;
            self.set(key, value, Origin::File(path.to_owned()));
        }
        Ok(())
    }

    pub(super) fn add_environment(
        &mut self,
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<()> {
        let mut set_by: Vec<(&'static str, String)> = Vec::new();
        for (name, text) in variables {
            let Some(name) = name.to_str().filter(|it| it.starts_with("EVENKEEL_")) else {
                continue;
            };
            // Many tools write an unset variable as an empty one.
            if name.starts_with(NOT_OURS) || text.is_empty() {
                continue;
            }
            let text = text.to_str().with_context(|| format!("{name} is not UTF-8"))?;
            let key = self.add_variable(name, text)?;
            if let Some((_, other)) = set_by.iter().find(|(it, _)| *it == key) {
                bail!("{name} and {other} are both set; keep one of them");
            }
            set_by.push((key, name.to_owned()));
        }
        Ok(())
    }

    fn add_variable(&mut self, name: &str, text: &str) -> Result<&'static str> {
        if let Some(key) = KEYS.iter().find(|it| it.variable() == name) {
            self.add_text(key, text, Origin::Variable(name.to_owned()))?;
            return Ok(key.name);
        }
        let named = |it: &&Key| it.file_variable().as_deref() == Some(name);
        if let Some(key) = KEYS.iter().find(named) {
            let secret = std::fs::read_to_string(text)
                .with_context(|| format!("cannot read the file {text} that {name} names"))?;
            self.add_text(key, &secret, Origin::Variable(name.to_owned()))?;
            return Ok(key.name);
        }
        let known: Vec<String> = KEYS
            .iter()
            .flat_map(|it| [Some(it.variable()), it.file_variable()])
            .flatten()
            .collect();
        bail!(unknown(name, known.iter().map(String::as_str)))
    }

    pub(super) fn add_flags(&mut self, flags: &[(&str, &'static str, String)]) -> Result<()> {
        for (name, flag, text) in flags {
            let key = Key::find(name).with_context(|| format!("{flag} sets no setting"))?;
            if key.secret && flag.ends_with("-file") {
                let secret = std::fs::read_to_string(text)
                    .with_context(|| format!("cannot read the file {text} that {flag} names"))?;
                self.add_text(key, &secret, Origin::Flag(flag))?;
            } else {
                self.add_text(key, text, Origin::Flag(flag))?;
            }
        }
        Ok(())
    }

    fn add_text(&mut self, key: &'static Key, text: &str, origin: Origin) -> Result<()> {
        let value = key.kind.parse(text).map_err(|expected| {
            let found = if key.secret { String::new() } else { format!(", not {text:?}") };
            anyhow!("{origin} must be {expected}{found}")
        })?;
        self.set(key, value, origin);
        Ok(())
    }
}

/// Turns TOML sections into dotted names. An unknown section becomes an unknown name, reported like any other.
fn flatten<'a>(table: &'a toml::Table, prefix: &str, found: &mut Vec<(String, &'a toml::Value)>) {
    for (name, value) in table {
        let name = format!("{prefix}{name}");
        match value {
            toml::Value::Table(inner) if Key::find(&name).is_none() => {
                flatten(inner, &format!("{name}."), found);
            }
            value => found.push((name, value)),
        }
    }
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    // Names are long, so a third of the letters may differ and the suggestion still helps.
    match base::nearest(name, known, (name.chars().count() / 3).max(1)) {
        Some(meant) => format!("{name} is not a setting; did you mean {meant}?"),
        None => format!("{name} is not a setting; `evenkeel config` lists all settings"),
    }
}
