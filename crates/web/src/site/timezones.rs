//! The field for a person's time zone.

use base::TimeZone;
use maud::{Markup, html};
use service::{Error, Result};

/// The list of time zones. With `from_browser`, a script chooses the browser's; a name that the browser reports but that
/// is not in the list is added.
pub(crate) fn field(chosen: &str, from_browser: bool) -> Markup {
    let known = TimeZone::choices().any(|it| it == chosen);
    let added = TimeZone::parse(chosen).ok().filter(|_| !known).map(TimeZone::name);
    html! {
        div.field {
            label for="f-timezone" { "Time zone" }
            select id="f-timezone" name="timezone" aria-describedby="h-timezone"
                data-from-browser[from_browser] {
                @for name in TimeZone::choices().chain(added) {
                    option value=(name) selected[name == chosen] { (name.replace('_', " ")) }
                }
            }
            p.soft id="h-timezone" { "Decides when your days and months begin, and how times are shown." }
        }
    }
}

/// Parses the field. If a form was sent without it, `otherwise` holds.
pub(crate) fn parse(text: &str, otherwise: TimeZone) -> Result<TimeZone> {
    if text.is_empty() {
        return Ok(otherwise);
    }
    let wrong = |error| Error::invalid("timezone", format!("the time zone {error}"));
    TimeZone::parse(text).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_time_zone_is_in_the_list_once() {
        for (chosen, selected) in [
            ("Europe/Berlin", "value=\"Europe/Berlin\" selected"),
            ("UTC", "value=\"UTC\" selected"),
            ("US/Pacific", "value=\"US/Pacific\" selected"),
        ] {
            let page = field(chosen, false).into_string();
            assert_eq!(page.matches(selected).count(), 1, "{chosen}");
            assert_eq!(page.matches(" selected").count(), 1, "{chosen}");
            assert!(!page.contains("data-from-browser"));
        }
        let strange = field("<script>", true).into_string();
        assert!(!strange.contains("script>") && strange.contains("data-from-browser"));
    }
}
