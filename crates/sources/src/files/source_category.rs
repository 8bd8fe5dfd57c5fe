//! The source's own category of a transaction, as one of our codes: category words of banks and apps, and merchant
//! category codes (MCC, also called SIC), by the table `data/source_categories.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use base::category::Category;

/// What a source's word or code means for money in and for money out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SourceCategory {
    inward: Option<Category>,
    outward: Option<Category>,
}

impl SourceCategory {
    /// The category of a transaction with this direction.
    pub(crate) fn facing(self, inflow: bool) -> Option<Category> {
        if inflow { self.inward } else { self.outward }
    }

    /// Whether money with this category usually arrives (true) or leaves (false); none if it may do either.
    pub(super) fn usual_inflow(self) -> Option<bool> {
        let is_income = |it: Category| it.primary() == "INCOME";
        match (self.inward, self.outward) {
            (Some(inward), None) => is_income(inward).then_some(true),
            (Some(inward), Some(outward)) if inward != outward => None,
            (_, Some(outward)) => {
                let either = ["TRANSFER_OUT", "LOAN_PAYMENTS", "OTHER"];
                (!either.contains(&outward.primary())).then_some(false)
            }
            (None, None) => None,
        }
    }
}

/// Longer text is not a category.
const BYTES_MAX: usize = 120;

/// The meaning of a category in the source's words. Of a path such as `Auto:Fuel` the last known part decides. Our own
/// codes mean themselves.
pub(crate) fn of_words(text: &str) -> Option<SourceCategory> {
    let text = text.trim();
    if text.is_empty() || text.len() > BYTES_MAX {
        return None;
    }
    if text.bytes().all(|it| it.is_ascii_uppercase() || it == b'_')
        && let Some(category) = Category::parse(text)
    {
        return Some(SourceCategory { inward: Some(category), outward: Some(category) });
    }
    let known = |part: &str| TABLE.words.get(plain(part).as_str()).copied();
    known(text).or_else(|| text.rsplit([':', '>', '|', '/', '\u{2192}', '-']).find_map(known))
}

/// The meaning of a merchant category code: four digits, as OFX writes in `SIC`.
pub(crate) fn of_merchant_code(text: &str) -> Option<SourceCategory> {
    let text = text.trim();
    let is_code = (3..=4).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
    let code = text.parse::<u16>().ok().filter(|_| is_code)?;
    let range = TABLE.codes.iter().find(|(first, last, _)| (*first..=*last).contains(&code));
    range.map(|(_, _, category)| *category)
}

/// Small letters and digits, one space between words, and `and` for `&`.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len() + 4);
    for letter in text.replace('&', " and ").chars().flat_map(char::to_lowercase) {
        let letter = match letter {
            'ä' | 'à' | 'á' | 'â' | 'ã' => 'a',
            'é' | 'è' | 'ê' | 'ë' => 'e',
            'í' | 'î' | 'ï' => 'i',
            'ö' | 'ó' | 'ô' => 'o',
            'ü' | 'ú' | 'û' | 'ù' => 'u',
            'ç' => 'c',
            letter if letter.is_alphanumeric() => letter,
            // Quicken begins its own categories with an underscore; others write one between words.
            '_' if plain.is_empty() => letter,
            _ => ' ',
        };
        if letter != ' ' || !(plain.is_empty() || plain.ends_with(' ')) {
            plain.push(letter);
        }
    }
    plain.truncate(plain.trim_end().len());
    plain
}

#[derive(Default)]
struct Table {
    words: HashMap<String, SourceCategory>,
    /// First and last code of each range.
    codes: Vec<(u16, u16, SourceCategory)>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| read(TEXT));

const TEXT: &str = include_str!("../../../../data/source_categories.txt");

fn read(text: &str) -> Table {
    let mut table = Table::default();
    let mut section = SourceCategory::default();
    for line in text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#')) {
        if let Some((code, direction)) = line.strip_prefix('[').and_then(|it| it.split_once(']')) {
            let category = Category::parse(code);
            let direction = direction.trim();
            section = SourceCategory {
                inward: category.filter(|_| direction != "out"),
                outward: category.filter(|_| direction != "in"),
            };
        } else if let Some(codes) = line.strip_prefix("mcc ") {
            let ranges = codes.split(',').filter_map(|it| range(it.trim()));
            table.codes.extend(ranges.map(|(first, last)| (first, last, section)));
        } else {
            for word in line.split(',').map(plain) {
                // A word may stand in a section for money in and in one for money out.
                let known = table.words.entry(word).or_default();
                known.inward = known.inward.or(section.inward);
                known.outward = known.outward.or(section.outward);
            }
        }
    }
    table
}

/// `5411`, or `5811-5812`.
fn range(text: &str) -> Option<(u16, u16)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    first.parse().ok().zip(last.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> [&'static str; 2] {
        let found = of_words(text).unwrap_or_default();
        [true, false].map(|inflow| found.facing(inflow).map_or("-", Category::detailed))
    }

    #[test]
    fn every_section_and_code_of_the_table_is_read() {
        for line in TEXT.lines().filter(|it| it.starts_with('[')) {
            let (code, direction) = line[1..].split_once(']').unwrap();
            let exact = Category::ALL.iter().any(|it| it.detailed() == code);
            assert!(exact && ["", "in", "out"].contains(&direction.trim()), "{line}");
        }
        let codes = TEXT.lines().filter_map(|it| it.strip_prefix("mcc "));
        let count = codes.clone().flat_map(|it| it.split(',')).count();
        assert_eq!((TABLE.codes.len(), count > 200), (count, true));
        assert!(TABLE.codes.iter().all(|(first, last, _)| first <= last));
        assert!(TABLE.words.len() > 500);
    }

    #[test]
    fn a_word_means_one_thing_for_each_direction() {
        let mut seen: HashMap<(String, bool), &str> = HashMap::new();
        let (mut section, mut way) = ("", "");
        for line in TEXT.lines().filter(|it| !it.starts_with('#') && !it.starts_with("mcc")) {
            if let Some((code, direction)) =
                line.strip_prefix('[').and_then(|it| it.split_once(']'))
            {
                (section, way) = (code, direction.trim());
                continue;
            }
            for word in line.split(',').map(plain).filter(|it| !it.is_empty()) {
                for inflow in [true, false] {
                    if way == if inflow { "out" } else { "in" } {
                        continue;
                    }
                    let other = seen.insert((word.clone(), inflow), section);
                    assert_eq!(other, None, "{word} is also in {section}");
                }
            }
        }
    }

    #[test]
    fn words_of_banks_and_apps_become_our_codes() {
        for (text, expected) in [
            ("Groceries", ["FOOD_AND_DRINK_GROCERIES"; 2]),
            ("  Food & Dining ", ["FOOD_AND_DRINK_RESTAURANT"; 2]),
            ("Gas/Automotive", ["TRANSPORTATION_GAS"; 2]),
            ("Auto:Fuel", ["TRANSPORTATION_GAS"; 2]),
            ("Travel-Airline", ["TRAVEL_FLIGHTS"; 2]),
            ("Möbel", ["HOME_IMPROVEMENT_FURNITURE"; 2]),
            ("EATING_OUT", ["FOOD_AND_DRINK_RESTAURANT"; 2]),
            ("_DivInc", ["INCOME_DIVIDENDS", "-"]),
            ("Paycheck", ["INCOME_WAGES", "-"]),
            ("Transfer", ["TRANSFER_IN_ACCOUNT_TRANSFER", "TRANSFER_OUT_ACCOUNT_TRANSFER"]),
            ("Interest", ["INCOME_INTEREST_EARNED", "BANK_FEES_INTEREST_CHARGE"]),
            ("TRAVEL_LODGING", ["TRAVEL_LODGING"; 2]),
            ("Misc", ["-", "-"]),
            ("", ["-", "-"]),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
        assert_eq!(of_words(&"x".repeat(BYTES_MAX + 1)), None);
    }

    #[test]
    fn merchant_codes_become_our_codes() {
        for (code, expected) in [
            ("5411", Some("FOOD_AND_DRINK_GROCERIES")),
            ("742", Some("MEDICAL_VETERINARY_SERVICES")),
            ("0742", Some("MEDICAL_VETERINARY_SERVICES")),
            ("3058", Some("TRAVEL_FLIGHTS")),
            ("3700", Some("TRAVEL_LODGING")),
            ("6011", Some("TRANSFER_OUT_WITHDRAWAL")),
            ("9999", None),
            ("54110", None),
            ("+541", None),
            ("", None),
        ] {
            let found = of_merchant_code(code).and_then(|it| it.facing(false));
            assert_eq!(found.map(Category::detailed), expected, "{code}");
        }
    }

    #[test]
    fn a_category_tells_the_usual_direction() {
        for (text, expected) in [
            ("Groceries", Some(false)),
            ("Salary", Some(true)),
            ("Transfer", None),
            ("Interest", None),
            ("Credit Card Payment", None),
        ] {
            assert_eq!(of_words(text).and_then(SourceCategory::usual_inflow), expected, "{text}");
        }
    }
}
