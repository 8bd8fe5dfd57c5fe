//! Category options of a select box, grouped by primary category.

use base::category::Category;
use maud::{Markup, html};

use crate::site::format::code_to_words;

/// The label of a primary or detailed category code.
pub(super) fn name_of(code: &str) -> Option<String> {
    if let Some(category) = Category::ALL.iter().find(|it| it.primary() == code) {
        return Some(code_to_words(category.primary()));
    }
    let found = Category::ALL.iter().find(|it| it.detailed() == code);
    found.map(|it| it.label().to_owned())
}

/// The options of a select box. With `groups`, a whole primary category can be chosen too.
pub(in crate::site) fn options(chosen: &str, groups: bool) -> Markup {
    let mut primaries: Vec<&str> = Category::ALL.iter().map(|it| it.primary()).collect();
    primaries.dedup();
    html! {
        @for primary in primaries {
            @let name = code_to_words(primary);
            optgroup label=(name) {
                @if groups {
                    option value=(primary) selected[chosen == primary] { (name) " (all)" }
                }
                @for category in members(primary, chosen) {
                    option value=(category.detailed()) selected[chosen == category.detailed()] {
                        (category.label())
                    }
                }
            }
        }
    }
}

/// The categories of a group. Of two codes with the same label only one is offered: the chosen one, or the first.
fn members(primary: &str, chosen: &str) -> Vec<Category> {
    let mut shown: Vec<Category> = Vec::new();
    for category in Category::ALL.into_iter().filter(|it| it.primary() == primary) {
        match shown.iter().position(|it| it.label() == category.label()) {
            Some(index) if category.detailed() == chosen => shown[index] = category,
            Some(_) => {}
            None => shown.push(category),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_label_is_offered_once_including_the_current_one() {
        let page = options("INCOME_WAGES", false).into_string();
        assert_eq!(page.matches("Paycheck").count(), 1);
        assert!(page.contains("value=\"INCOME_WAGES\" selected"), "{page}");
        assert!(page.contains("optgroup label=\"Food and drink\""));
        for category in Category::ALL {
            let page = options(category.detailed(), true).into_string();
            assert_eq!(page.matches(" selected").count(), 1, "{category:?}");
        }
        assert_eq!(name_of("TRAVEL_FLIGHTS").as_deref(), Some("Flights"));
        assert_eq!(name_of("TRAVEL").as_deref(), Some("Travel"));
        assert_eq!(name_of("NOTHING"), None);
    }
}
