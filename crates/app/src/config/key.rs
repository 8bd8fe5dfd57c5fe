//! A setting: its name, in a file and in the environment, its type and its default.

use super::value::Kind;

pub(crate) struct Key {
    /// `section.name`, or a bare name at the top. `*` in the middle stands for a name that the operator chooses: the
    /// setting exists once for each.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) default: Option<&'static str>,
    /// Never printed, and may be read from a file that a `..._FILE` variable names.
    pub(crate) secret: bool,
    pub(crate) about: &'static str,
}

/// How long a name that the operator chooses may be.
const CHOSEN_NAME_MAX: usize = 32;

impl Key {
    /// Whether the setting has a `*` in its name, in whose place the operator writes names of their own (`oidc.home.issuer`).
    pub(crate) fn is_repeated(&self) -> bool {
        self.name.contains('*')
    }

    pub(super) fn is_named(&self, name: &str) -> bool {
        let Some((before, after)) = self.name.split_once('*') else { return self.name == name };
        let chosen = name.strip_prefix(before).and_then(|it| it.strip_suffix(after));
        let is_plain = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
        chosen
            .is_some_and(|it| (1..=CHOSEN_NAME_MAX).contains(&it.len()) && it.bytes().all(is_plain))
    }

    /// The setting as documents call it.
    pub(crate) fn shown_name(&self) -> String {
        self.name.replace('*', "NAME")
    }

    /// The name in the environment.
    pub(crate) fn variable(&self) -> String {
        variable(&self.shown_name())
    }

    pub(crate) fn file_variable(&self) -> Option<String> {
        self.secret.then(|| format!("{}_FILE", self.variable()))
    }
}

/// The name of a setting in the environment.
pub(crate) fn variable(name: &str) -> String {
    format!("EVENKEEL_{}", name.replace('.', "__").to_uppercase())
}
