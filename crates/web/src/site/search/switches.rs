//! Actions of the search that are done at once: hiding amounts, choosing a theme and signing out.

use maud::{Markup, html};

use crate::site::fields;
use crate::site::format::Theme;
use crate::site::person::Person;

/// An action with the form that does it.
pub(super) struct Switch {
    pub(super) name: &'static str,
    path: &'static str,
    /// The field of the form and its value.
    field: Option<(&'static str, &'static str)>,
}

const THEMES: [(Theme, &str); 3] = [
    (Theme::Light, "Use light theme"),
    (Theme::Dark, "Use dark theme"),
    (Theme::System, "Use system theme"),
];

impl Switch {
    /// The actions that would change something.
    pub(super) fn offered(person: &Person) -> impl Iterator<Item = Switch> {
        let view = |name, field, value| Switch { name, path: "/view", field: Some((field, value)) };
        let amounts = match person.view.hide_amounts {
            true => view("Show amounts", "hide", "0"),
            false => view("Hide amounts", "hide", "1"),
        };
        let current = person.view.theme;
        let themes = THEMES.into_iter().filter(move |(theme, _)| *theme != current);
        let themes = themes.map(move |(theme, name)| view(name, "theme", theme.as_str()));
        let sign_out = Switch { name: "Sign out", path: "/sign-out", field: None };
        [amounts].into_iter().chain(themes).chain([sign_out])
    }

    /// A form of one button. The search dialog sets `next` to the page that it was opened on.
    pub(super) fn button(&self, person: &Person) -> Markup {
        let body = html! {
            input type="hidden" name="next" value=(person.here);
            button.link type="submit" name=[self.field.map(|it| it.0)] value=[self.field.map(|it| it.1)] {
                (self.name)
            }
        };
        fields::form(self.path, &person.form_token, body)
    }
}
