//! The layers that settings come from: flags over environment over a file over defaults.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};

use super::key::Key;
use super::keys::{self, find_variable};
use super::value::Value;

/// The origin of a value.
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
    /// The key's name, with the operator's own in place of `*`.
    pub(crate) name: String,
    pub(crate) value: Option<Value>,
    pub(crate) origin: Origin,
}

/// All settings, in the order of their table.
pub(crate) struct Settings(Vec<Setting>);

/// Prefix of variables that control the project's own tests; they are not settings.
const OF_TESTS: &str = "EVENKEEL_TEST_";
/// The variable for an API key in the example requests of the demo and the documentation. It is not a setting; people set it in the
/// terminal in which they also start this program.
const OF_REQUESTS: &str = "EVENKEEL_KEY";

impl Settings {
    pub(super) fn defaults() -> Result<Settings> {
        let mut settings = Vec::new();
        for key in keys::all().filter(|it| !it.is_repeated()) {
            settings.push(default_setting(key, key.name)?);
        }
        Ok(Settings(settings))
    }

    /// The names that the operator chose in a section, such as those of providers in `oidc`, in alphabetical order.
    pub(super) fn chosen_names(&self, section: &str) -> Vec<String> {
        let named = self.iter().filter(|it| it.key.is_repeated());
        let inside =
            |it: &Setting| it.name.strip_prefix(section)?.strip_prefix('.').map(str::to_owned);
        let mut names: Vec<String> = named
            .filter_map(inside)
            .filter_map(|it| it.split_once('.').map(|(name, _)| name.to_owned()))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Adds the defaults of all settings that exist once for each chosen name, beside the one that was set.
    fn add_siblings(&mut self, key: &'static Key, name: &str) -> Result<()> {
        let Some((before, after)) = key.name.split_once('*') else { return Ok(()) };
        if self.find(name).is_some() {
            return Ok(());
        }
        let chosen = name.strip_prefix(before).and_then(|it| it.strip_suffix(after));
        let siblings = keys::all().filter(|it| it.is_repeated() && it.name.starts_with(before));
        for sibling in siblings {
            let name = sibling.name.replace('*', chosen.unwrap_or_default());
            self.0.push(default_setting(sibling, &name)?);
        }
        Ok(())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Setting> {
        self.0.iter()
    }

    fn find(&self, name: &str) -> Option<&Setting> {
        self.iter().find(|it| it.name == name)
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

    fn set(&mut self, key: &'static Key, name: &str, value: Value, origin: Origin) -> Result<()> {
        self.add_siblings(key, name)?;
        let known = self.0.iter_mut().filter(|it| it.name == name);
        known.for_each(|it| (it.value, it.origin) = (Some(value.clone()), origin.clone()));
        Ok(())
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
            let Some(key) = keys::find(&name) else {
                bail!("{}: {}", path.display(), unknown(&name, &known_names()));
            };
            let wrong = |expected: String| {
                let found = if key.secret { String::new() } else { format!(", not {value}") };
                anyhow!("{name} in {} must be {expected}{found}", path.display())
            };
            let value = key.kind.parse_toml(value).map_err(wrong)?;
            self.set(key, &name, value, Origin::File(path.to_owned()))?;
        }
        Ok(())
    }

    pub(super) fn add_environment(
        &mut self,
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<()> {
        let mut set_by: Vec<(String, String)> = Vec::new();
        for (name, text) in variables {
            let Some(name) = name.to_str().filter(|it| it.starts_with("EVENKEEL_")) else {
                continue;
            };
            // Many tools write an unset variable as an empty one.
            if name.starts_with(OF_TESTS) || name == OF_REQUESTS || text.is_empty() {
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

    /// Sets what a variable says, and returns the name of the setting.
    fn add_variable(&mut self, name: &str, text: &str) -> Result<String> {
        let origin = Origin::Variable(name.to_owned());
        if let Some((key, setting)) = find_variable(name) {
            self.add_text(key, &setting, text, origin)?;
            return Ok(setting);
        }
        let of_file = name.strip_suffix("_FILE").and_then(find_variable);
        if let Some((key, setting)) = of_file.filter(|(key, _)| key.secret) {
            let secret = std::fs::read_to_string(text)
                .with_context(|| format!("cannot read the file {text} that {name} names"))?;
            self.add_text(key, &setting, &secret, origin)?;
            return Ok(setting);
        }
        let known: Vec<String> = keys::all()
            .flat_map(|it| [Some(it.variable()), it.file_variable()])
            .flatten()
            .collect();
        bail!(unknown(name, &known))
    }

    pub(super) fn add_flags(&mut self, flags: &[(&str, &'static str, String)]) -> Result<()> {
        for (name, flag, text) in flags {
            let key = keys::find(name).with_context(|| format!("{flag} sets no setting"))?;
            if key.secret && flag.ends_with("-file") {
                let secret = std::fs::read_to_string(text)
                    .with_context(|| format!("cannot read the file {text} that {flag} names"))?;
                self.add_text(key, name, &secret, Origin::Flag(flag))?;
            } else {
                self.add_text(key, name, text, Origin::Flag(flag))?;
            }
        }
        Ok(())
    }

    fn add_text(
        &mut self,
        key: &'static Key,
        name: &str,
        text: &str,
        origin: Origin,
    ) -> Result<()> {
        let value = key.kind.parse(text).map_err(|expected| {
            let found = if key.secret { String::new() } else { format!(", not {text:?}") };
            anyhow!("{origin} must be {expected}{found}")
        })?;
        self.set(key, name, value, origin)
    }
}

fn default_setting(key: &'static Key, name: &str) -> Result<Setting> {
    let value = key.default.map(|it| key.kind.parse(it)).transpose();
    let value = value.map_err(|expected| anyhow!("{name} must be {expected}"))?;
    Ok(Setting { key, name: name.to_owned(), value, origin: Origin::Default })
}

/// Turns TOML sections into dotted names. An unknown section becomes an unknown name, reported like any other.
fn flatten<'a>(table: &'a toml::Table, prefix: &str, found: &mut Vec<(String, &'a toml::Value)>) {
    for (name, value) in table {
        let name = format!("{prefix}{name}");
        match value {
            toml::Value::Table(inner) if keys::find(&name).is_none() => {
                flatten(inner, &format!("{name}."), found);
            }
            value => found.push((name, value)),
        }
    }
}

fn known_names() -> Vec<String> {
    keys::all().map(Key::shown_name).collect()
}

fn unknown(name: &str, known: &[String]) -> String {
    // Names are long, so a third of the letters may differ and the suggestion still helps.
    let known = known.iter().map(String::as_str);
    match base::nearest(name, known, (name.chars().count() / 3).max(1)) {
        Some(meant) => format!("{name} is not a setting; did you mean {meant}?"),
        None => format!("{name} is not a setting; `evenkeel config` lists all settings"),
    }
}
