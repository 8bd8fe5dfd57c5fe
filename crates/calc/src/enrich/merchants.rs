//! The merchants of everyday life, `data/merchants.txt`.

use std::sync::LazyLock;

use base::category::Category;
use base::words;

use super::clean::clean;
use super::phrases::WordMap;

words!(
    /// What is known of a merchant beside its category.
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
    /// The key of its name, which stands for every spelling of it.
    pub key: String,
    /// What a purchase there is; what is paid out may be something else.
    pub category: Category,
    flags: Vec<Flag>,
}

impl Merchant {
    pub fn is(&self, flag: Flag) -> bool {
        self.flags.contains(&flag)
    }

    /// What a row with this merchant is. None where the table speaks of the other direction only:
    /// nobody earns a salary by paying it.
    pub fn category(&self, inflow: bool) -> Option<Category> {
        let earned = [
            (Flag::Payroll, "INCOME_SALARY"),
            (Flag::Gig, "INCOME_GIG_ECONOMY"),
            (Flag::Rental, "INCOME_RENTAL"),
        ];
        let earned = earned.iter().find(|(flag, _)| inflow && self.is(*flag));
        match earned {
            Some((_, code)) => Category::parse(code),
            None => facing(self.category, inflow),
        }
    }
}

/// The category as money in, or as money out.
fn facing(category: Category, inflow: bool) -> Option<Category> {
    match (category.primary(), inflow) {
        ("TRANSFER_OUT", true) => {
            Category::parse(&category.detailed().replace("TRANSFER_OUT", "TRANSFER_IN"))
        }
        ("INCOME" | "LOAN_DISBURSEMENTS" | "TRANSFER_IN", false) => None,
        ("LOAN_PAYMENTS" | "BANK_FEES", true) => None,
        _ => Some(category),
    }
}

/// Whose spelling it is, and whether it stands for all that starts with it.
pub(super) struct Alias {
    pub(super) merchant: usize,
    is_prefix: bool,
}

pub(super) struct Table {
    pub(super) merchants: Vec<Merchant>,
    pub(super) aliases: WordMap<String, Alias>,
}

pub(super) static MERCHANTS: LazyLock<Table> = LazyLock::new(|| read(TEXT));

pub(super) const TEXT: &str = include_str!("../../../../data/merchants.txt");

/// The merchant of a key: by its exact spelling, else by the longest one that the key starts with.
pub fn merchant(key: &str) -> Option<&'static Merchant> {
    let table = &*MERCHANTS;
    let exact = table.aliases.get(key);
    let prefix = || {
        let shorter = key.rmatch_indices(' ').map(|(end, _)| &key[..end]);
        shorter.filter_map(|it| table.aliases.get(it)).find(|it| it.is_prefix)
    };
    exact.or_else(prefix).map(|it| &table.merchants[it.merchant])
}

/// Reads the table; a line that makes no sense panics, and so no build of it passes its tests.
pub(super) fn read(text: &'static str) -> Table {
    let mut table = Table { merchants: Vec::new(), aliases: WordMap::default() };
    let mut section: Option<(Category, Vec<Flag>)> = None;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(head) = line.strip_prefix('[') {
            let (code, shared) = head.split_once(']').unwrap_or((head, ""));
            let category = Category::parse(code).filter(|it| it.detailed() == code);
            section =
                Some((category.unwrap_or_else(|| panic!("no category: {line}")), flags(shared)));
            continue;
        }
        let (category, shared) = section.as_ref().unwrap_or_else(|| panic!("no section: {line}"));
        let (entry, own) = line.split_once(';').unwrap_or((line, ""));
        let (name, spellings) = match entry.split_once(" = ") {
            Some((name, spellings)) => (name.trim(), spellings),
            None => (entry.trim(), ""),
        };
        let flags = shared.iter().copied().chain(flags(own)).collect();
        let own = clean(name).key;
        table.merchants.push(Merchant { name, key: own.clone(), category: *category, flags });
        let is_prefix = is_telling(&own);
        table.spell(own, is_prefix);
        for spelling in spellings.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            let key = spelling.trim_end_matches(['*', '!']);
            let is_prefix = match spelling.as_bytes().last() {
                Some(b'*') => true,
                Some(b'!') => false,
                _ => is_telling(key),
            };
            table.spell(key.to_owned(), is_prefix);
        }
    }
    table
}

impl Table {
    /// Gives the last merchant one more spelling. What is written out says more about a name's own
    /// spelling than the name does.
    fn spell(&mut self, key: String, is_prefix: bool) {
        let merchant = self.merchants.len() - 1;
        if let Some(other) = self.aliases.get(&key).filter(|it| it.merchant != merchant) {
            let name = |at: usize| self.merchants[at].name;
            panic!("{key} is a spelling of {} and of {}", name(other.merchant), name(merchant));
        }
        self.aliases.insert(key, Alias { merchant, is_prefix });
    }
}

/// Whether hardly anybody else's name starts so.
fn is_telling(key: &str) -> bool {
    key.contains(' ') || key.chars().count() >= 6
}

fn flags(text: &str) -> Vec<Flag> {
    let flag = |word| Flag::parse(word).unwrap_or_else(|| panic!("no flag: {word}"));
    text.split_whitespace().map(flag).collect()
}
