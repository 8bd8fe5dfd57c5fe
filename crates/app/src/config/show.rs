//! The effective configuration, printed with the origin of each value, and the reference of all
//! settings.

use serde_json::json;

use super::Config;
use super::key::Key;
use super::keys;
use super::layers::{Origin, Setting};
use super::value::Value;

const HIDDEN: &str = "(hidden)";

impl Config {
    /// A TOML file that would give the same, secrets aside.
    pub(crate) fn to_toml(&self) -> String {
        let mut text = String::new();
        let mut section = "";
        for setting in self.settings.iter() {
            let (own, name) = setting.name.split_once('.').unwrap_or(("", &setting.name));
            if own != section {
                section = own;
                text.push_str(&format!("\n[{section}]\n"));
            }
            text.push_str(&format!("# {}\n", setting.key.about));
            match shown(setting) {
                Some(value) => {
                    text.push_str(&format!("{name} = {}  # {}\n", toml_of(&value), setting.origin));
                }
                None => text.push_str(&format!("# {name} is not set\n")),
            }
        }
        text
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        let member = |setting: &Setting| {
            let from = match &setting.origin {
                Origin::Default => "default",
                Origin::File(_) => "file",
                Origin::Variable(_) => "environment",
                Origin::Flag(_) => "flag",
            };
            let it = json!({
                "value": shown(setting), "from": from, "origin": setting.origin.to_string(),
            });
            (setting.name.clone(), it)
        };
        serde_json::Value::Object(self.settings.iter().map(member).collect())
    }
}

fn shown(setting: &Setting) -> Option<Value> {
    let value = setting.value.clone()?;
    Some(if setting.key.secret { Value::Text(HIDDEN.to_owned()) } else { value })
}

fn toml_of(value: &Value) -> String {
    match value {
        Value::Text(text) => toml::Value::from(text.as_str()).to_string(),
        Value::Count(count) => count.to_string(),
        Value::List(items) => toml::Value::from(items.clone()).to_string(),
    }
}

/// Every setting, as a table in Markdown for the documentation.
pub(crate) fn reference() -> String {
    let mut text =
        "| setting | variable | must be | default | for |\n|---|---|---|---|---|\n".to_owned();
    for key in keys::all() {
        text.push_str(&row(key));
    }
    text
}

fn row(key: &Key) -> String {
    let default = match key.default {
        Some("") => "none".to_owned(),
        Some(default) => format!("`{default}`"),
        None => "not set".to_owned(),
    };
    let variables = match key.file_variable() {
        Some(file) => format!("`{}` or `{file}`", key.variable()),
        None => format!("`{}`", key.variable()),
    };
    let expected = key.kind.expected();
    format!("| `{}` | {variables} | {expected} | {default} | {} |\n", key.shown_name(), key.about)
}
