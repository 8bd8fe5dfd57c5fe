//! The icons of pages and categories, and the round marks of categories, accounts and merchants. All are inline SVG with
//! one stroke weight, so nothing is fetched.

use base::category::Category;
use maud::{Markup, html};
use xxhash_rust::xxh3::xxh3_64;

/// The number of colors for categories. The one after them is gray, and a lighter gray is for the rest of a chart.
const HUES: u64 = 13;

/// The path of an icon in a square of 16.
#[derive(Clone, Copy)]
pub(super) struct Icon(&'static str);

pub(super) const OVERVIEW: Icon = Icon("M2 8.2 8 3l6 5.2M4 7v6.5h8V7");
pub(super) const ACCOUNTS: Icon =
    Icon("M2 6.5 8 3l6 3.5zM3.5 6.5V12M8 6.5V12M12.5 6.5V12M2 13.5h12");
pub(super) const TRANSACTIONS: Icon = Icon("M2.5 4h11M2.5 8h11M2.5 12h7");
pub(super) const SPENDING: Icon =
    Icon("M7.5 3a5.5 5.5 0 1 0 5.5 5.5H7.5zM10 1.8A5 5 0 0 1 14.2 6H10z");
pub(super) const RECURRING: Icon =
    Icon("M3 8a5 5 0 0 1 8.6-3.4L13 6M13 3v3h-3M13 8a5 5 0 0 1-8.6 3.4L3 10M3 13v-3h3");
pub(super) const INCOME: Icon = Icon("M8 2v7.5M5 6.5l3 3 3-3M2.5 10v3.5h11V10");
pub(super) const INVESTMENTS: Icon = Icon("M2 12l4-4.5 3 2.5 5-6M10.5 4H14v3.5");
pub(super) const GOALS: Icon = Icon("M4 14V2.5M4 3h8.5l-2 2.75 2 2.75H4");
pub(super) const SCORES: Icon = Icon("M2.5 12.5a5.5 5.5 0 1 1 11 0M8 12.5 10.5 8");
pub(super) const BENEFITS: Icon = Icon(
    "M3 7.5h10V14H3zM2 4.5h12v3H2zM8 4.5V14M8 4.5c-2.2 0-3.5-.6-3.5-1.6S6.6 1.4 8 4.5c\
     1.4-3.1 3.5-2.6 3.5-1.6S10.2 4.5 8 4.5",
);
pub(super) const APPROVALS: Icon = Icon("M2 9l2-6h8l2 6v4.5H2zM2 9h3.5l1 2h3l1-2H14");
pub(super) const PAPER: Icon = Icon("M3 2h7l3 3v9H3zM10 2v3h3M5.5 11l2-2.5L9 10l2-3");
pub(super) const ASSISTANTS: Icon = Icon("M2 3h12v8H8l-3 3v-3H2zM5 7h.01M8 7h.01M11 7h.01");
pub(super) const CONNECTIONS: Icon = Icon(
    "M6.5 9.5l3-3M7 4.7l1.6-1.6a3 3 0 0 1 4.3 4.3L11.3 9M9 11.3l-1.6 1.6a3 3 0 0 1-4.3-4.3L4.7 7",
);
pub(super) const IMPORT: Icon = Icon("M8 10V2.5M5 5.5l3-3 3 3M2.5 10v3.5h11V10");
pub(super) const RULES: Icon =
    Icon("M2 4h5M10 4h4M8.5 2.5v3M2 12h2.5M7.5 12H14M6 10.5v3M2 8h7.5M12.5 8H14M11 6.5v3");
pub(super) const SETTINGS: Icon = Icon(
    "M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4\
     M11.2 11.2l1.4 1.4M3.4 12.6l1.4-1.4M11.2 4.8l1.4-1.4",
);
pub(super) const API: Icon = Icon("M5.5 4 2 8l3.5 4M10.5 4 14 8l-3.5 4");
pub(super) const SIGN_OUT: Icon = Icon("M6.5 2.5h-4v11h4M6 8h8M11 5l3 3-3 3");
pub(super) const MORE: Icon = Icon("M3 8h.01M8 8h.01M13 8h.01");

impl Icon {
    /// Draws the icon. A text beside it says what it means, so it is hidden from screen readers.
    pub(super) fn draw(self) -> Markup {
        html! {
            svg.icon viewBox="0 0 16 16" aria-hidden="true" focusable="false" { path d=(self.0) {} }
        }
    }
}

/// The icon of a primary category and its color. Transfers and what has no category are gray.
fn category_look(primary: &str) -> (&'static str, u64) {
    match primary {
        "FOOD_AND_DRINK" => ("M5 2v12M3 2v3.5a2 2 0 0 0 4 0V2M11.5 14V2c-1.5 1-2 3-2 5.5h2", 0),
        "RENT_AND_UTILITIES" => ("M9 1.5 3.5 9H8l-1 5.5L12.5 7H8z", 1),
        "GENERAL_MERCHANDISE" => ("M3.5 5.5h9l.8 8.5H2.7zM5.5 7.5V4.5a2.5 2.5 0 0 1 5 0v3", 2),
        "TRANSPORTATION" => {
            ("M2.5 11.5v-3L4 5h8l1.5 3.5v3zM2.5 8.5h11M4.5 11.5V13M11.5 11.5V13", 3)
        }
        "ENTERTAINMENT" => ("M2 4.5h12V7a1 1 0 0 0 0 2v2.5H2V9a1 1 0 0 0 0-2zM10 4.5v7", 4),
        "TRAVEL" => ("M2.5 5.5h11v8h-11zM6 5.5v-3h4v3M5.5 5.5v8M10.5 5.5v8", 5),
        "MEDICAL" => ("M6 2.5h4V6h3.5v4H10v3.5H6V10H2.5V6H6z", 6),
        "GENERAL_SERVICES" => ("M2 5.5h12v8H2zM5.5 5.5V3h5v2.5M2 9h12", 7),
        "HOME_IMPROVEMENT" => ("M2.5 7.2 8 2.5l5.5 4.7M4 6.2v7.3h8V6.2M8 13.5v-4", 8),
        "PERSONAL_CARE" => {
            ("M8 13.5S2.5 10.3 2.5 6.3A3 3 0 0 1 8 4.7a3 3 0 0 1 5.5 1.6c0 4-5.5 7.2-5.5 7.2z", 9)
        }
        "LOAN_PAYMENTS" | "LOAN_DISBURSEMENTS" | "BANK_FEES" => {
            ("M1.5 4.5h13v7h-13zM8 6.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zM4 8h.01M12 8h.01", 10)
        }
        "GOVERNMENT_AND_NON_PROFIT" => {
            ("M2 6.5 8 3l6 3.5zM4 6.5V12M8 6.5V12M12 6.5V12M2 13.5h12", 11)
        }
        "INCOME" => ("M8 3v9.5M4.5 9 8 12.5 11.5 9", 12),
        "TRANSFER_IN" | "TRANSFER_OUT" => {
            ("M2.5 5.5h10M10 3l2.5 2.5L10 8M13.5 10.5h-10M6 8l-2.5 2.5L6 13", HUES)
        }
        _ => ("M4 8h.01M8 8h.01M12 8h.01", HUES),
    }
}

/// The class that gives an element the color of a primary category.
pub(super) fn category_color(primary: &str) -> String {
    format!("c{}", category_look(primary).1)
}

/// The round mark of a primary category.
pub(super) fn primary_mark(primary: &str) -> Markup {
    let (path, _) = category_look(primary);
    html! { span.face.(category_color(primary)) { (Icon(path).draw()) } }
}

/// The round mark of a transaction: that of its category, or of a transfer.
pub(super) fn category_mark(category: Option<Category>, is_transfer: bool) -> Markup {
    primary_mark(match category {
        _ if is_transfer => "TRANSFER_OUT",
        Some(category) => category.primary(),
        None => "",
    })
}

/// A round mark with the initials of an institution or merchant, in a color that stays the same for the name.
pub(super) fn initials_mark(name: &str) -> Markup {
    let color = format!("c{}", xxh3_64(name.as_bytes()) % HUES);
    html! { span.face.initials.(color) aria-hidden="true" { (initials(name)) } }
}

/// The first letters of the first two words.
fn initials(name: &str) -> String {
    let words = name.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let letters: String = words.filter_map(|it| it.chars().next()).take(2).collect();
    letters.to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spending_category_has_a_color_and_an_icon_of_its_own() {
        let mut seen = std::collections::BTreeMap::new();
        for category in Category::ALL {
            let primary = category.primary();
            let is_plain = matches!(primary, "TRANSFER_IN" | "TRANSFER_OUT" | "OTHER");
            assert_eq!(category_look(primary).1 == HUES, is_plain, "{primary}");
            if !primary.starts_with("LOAN") && primary != "BANK_FEES" && !is_plain {
                let taken = seen.insert(category_look(primary).1, primary);
                assert!(taken.is_none_or(|it| it == primary), "{taken:?} and {primary}");
            }
        }
    }

    #[test]
    fn initials_are_of_the_first_two_words() {
        assert_eq!(initials("Harbor Savings Bank"), "HS");
        assert_eq!(initials("ING-DiBa"), "ID");
        assert_eq!(initials("  ölbank  "), "Ö");
        assert_eq!(initials("***"), "");
    }
}
