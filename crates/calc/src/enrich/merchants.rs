//! The table of well-known merchants, `data/merchants.txt`.

use std::sync::LazyLock;

use base::category::Category;
use base::words;

use super::descriptor_parser::key_of_name;
use super::fuzzy_spellings::{FuzzySpellings, Spelling};
use super::phrases::WordMap;

words!(
    /// Properties of a merchant besides its category.
    Flag {
        Service => "service",
        Payroll => "payroll",
        Gig => "gig",
        Rental => "rental",
        Benefit => "benefit",
        P2p => "p2p",
    }
);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merchant {
    pub name: &'static str,
    /// The key of its name, which stands for all its spellings.
    pub key: &'static str,
    /// The category of a purchase there; payouts may have another one.
    pub category: Category,
    flags: Vec<Flag>,
}

impl Merchant {
    pub fn is(&self, flag: Flag) -> bool {
        self.flags.contains(&flag)
    }

    /// The category of a row with this merchant. None if the table only covers the other direction: paying an
    /// employer is not a salary.
    pub fn category(&self, inflow: bool) -> Option<Category> {
        let received = [
            (Flag::Payroll, "INCOME_SALARY"),
            (Flag::Gig, "INCOME_GIG_ECONOMY"),
            (Flag::Rental, "INCOME_RENTAL"),
            (Flag::P2p, "TRANSFER_IN_OTHER_TRANSFER_IN"),
        ];
        let received = received.iter().find(|(flag, _)| inflow && self.is(*flag));
        match received {
            Some((_, code)) => Category::parse(code),
            None => facing(self.category, inflow),
        }
    }
}

/// The category for money in, or for money out.
fn facing(category: Category, inflow: bool) -> Option<Category> {
    match (category.primary(), inflow) {
        ("TRANSFER_OUT", true) => {
            Category::parse(&category.detailed().replace("TRANSFER_OUT", "TRANSFER_IN"))
        }
        ("INCOME" | "LOAN_DISBURSEMENTS" | "TRANSFER_IN", false) => None,
        ("LOAN_PAYMENTS", true) if category.detailed() == "LOAN_PAYMENTS_PERSONAL_LOAN_PAYMENT" => {
            Category::parse("LOAN_DISBURSEMENTS_PERSONAL")
        }
        ("LOAN_PAYMENTS" | "BANK_FEES", true) => None,
        _ => Some(category),
    }
}

pub(super) struct Table {
    pub(super) merchants: Vec<Merchant>,
    pub(super) spellings: WordMap<&'static str, Spelling>,
    pub(super) letters: FuzzySpellings,
}

pub(super) static MERCHANTS: LazyLock<Table> = LazyLock::new(|| read(TEXT));

pub(super) const TEXT: &str = include_str!("../../../../data/merchants.txt");

/// The merchant of a key: by its exact spelling, else by the longest prefix spelling, else by its letters.
pub fn merchant(key: &str) -> Option<&'static Merchant> {
    let table = &*MERCHANTS;
    let exact = table.spellings.get(key);
    let prefix = || {
        let shorter = key.rmatch_indices([' ', '-']).map(|(end, _)| &key[..end]);
        shorter.filter_map(|it| table.spellings.get(it)).find(|it| it.is_prefix)
    };
    let normalized_words = exact.or_else(prefix).map(|it| it.merchant);
    normalized_words.or_else(|| table.letters.merchant(key)).map(|it| &table.merchants[it])
}

/// Reads the table. An invalid line panics, so that tests fail.
pub(super) fn read(text: &'static str) -> Table {
    let mut reader = Reader::default();
    // About the final size; growing would take a third of the reading time.
    reader.spellings.reserve(text.len() / 12);
    reader.merchants.reserve(text.len() / 20);
    text.lines().map(str::trim).for_each(|it| reader.line(it));
    let Reader { merchants, spellings, .. } = reader;
    let letters = FuzzySpellings::new(spellings.values().copied());
    Table { merchants, spellings, letters }
}

#[derive(Default)]
struct Reader {
    section: Option<(Category, Vec<Flag>)>,
    merchants: Vec<Merchant>,
    spellings: WordMap<&'static str, Spelling>,
}

impl Reader {
    fn line(&mut self, line: &'static str) {
        if line.is_empty() || line.starts_with('#') {
            return;
        }
        if let Some(head) = line.strip_prefix('[') {
            let (code, shared) = head.split_once(']').unwrap_or((head, ""));
            let category = Category::parse(code).filter(|it| it.detailed() == code);
            let category = category.unwrap_or_else(|| panic!("no category: {line}"));
            self.section = Some((category, flags(shared)));
        } else if let Some(more) = line.strip_prefix("= ") {
            self.spell_all(more);
        } else {
            self.entry(line);
        }
    }

    fn entry(&mut self, line: &'static str) {
        let (category, shared) =
            self.section.as_ref().unwrap_or_else(|| panic!("no section: {line}"));
        let (entry, own) = line.split_once(';').unwrap_or((line, ""));
        let (name, spellings) = entry.split_once(" = ").unwrap_or((entry, ""));
        let name = name.trim();
        let flags = shared.iter().copied().chain(flags(own)).collect();
        // The table lives as long as the program.
        let key: &'static str = key_of_name(name).leak();
        self.merchants.push(Merchant { name, key, category: *category, flags });
        self.spell(key, is_distinctive(key));
        self.spell_all(spellings);
    }

    fn spell_all(&mut self, spellings: &'static str) {
        for spelling in spellings.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            let key = spelling.trim_end_matches(['*', '!']);
            let is_prefix = match spelling.as_bytes().last() {
                Some(b'*') => true,
                Some(b'!') => false,
                _ => is_distinctive(key),
            };
            self.spell(key, is_prefix);
        }
    }

    /// Adds a spelling to the last merchant. An explicit spelling overrides one derived from a name.
    fn spell(&mut self, text: &'static str, is_prefix: bool) {
        let merchant = self.merchants.len() - 1;
        if let Some(other) = self.spellings.get(text).filter(|it| it.merchant != merchant) {
            let name = |at: usize| self.merchants[at].name;
            panic!("{text} is a spelling of {} and of {}", name(other.merchant), name(merchant));
        }
        self.spellings.insert(text, Spelling { text, merchant, is_prefix });
    }
}

/// Whether the key is long enough that hardly any other name starts with it.
fn is_distinctive(key: &str) -> bool {
    key.contains(' ') || key.chars().count() >= 6
}

fn flags(text: &str) -> Vec<Flag> {
    let flag = |word| Flag::parse(word).unwrap_or_else(|| panic!("no flag: {word}"));
    text.split_whitespace().map(flag).collect()
}
