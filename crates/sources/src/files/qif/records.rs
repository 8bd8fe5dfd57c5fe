//! Splits QIF into sections that begin with `!`, and records with one value per line that end with `^`.

use memchr::memchr2;

/// The content of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// Names the account of the section that follows.
    Account,
    Rows(Kind),
    /// Names securities, with their symbols.
    Securities,
    /// Categories, classes, prices: no transactions.
    Skipped,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Bank,
    Cash,
    Card,
    Asset,
    Liability,
    Investment,
}

impl Kind {
    pub(super) fn parse(word: &str) -> Option<Kind> {
        match word.trim().to_ascii_lowercase().as_str() {
            // Translated versions of Quicken and Money translate the word.
            "bank" | "banque" | "banco" | "banca" => Some(Kind::Bank),
            "cash" => Some(Kind::Cash),
            "ccard" => Some(Kind::Card),
            "oth a" => Some(Kind::Asset),
            "oth l" => Some(Kind::Liability),
            "invst" | "port" | "mutual" | "401(k)/403(b)" => Some(Kind::Investment),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(super) enum Item<'a> {
    Begin {
        section: Section,
        header: &'a str,
        line: usize,
    },
    /// The end of an account list: its accounts do not name the section that follows.
    EndOfList,
    Record(Record<'a>),
    /// The file ends within a line of a record.
    Cut {
        line: usize,
    },
    /// The last record does not end with `^`.
    EndMissing {
        line: usize,
    },
}

/// The values of a record that are used. Where one repeats, as in the parts of a split, the first is the whole.
#[derive(Debug, Default, Clone)]
pub(super) struct Record<'a> {
    pub(super) line: usize,
    pub(super) date: Option<&'a str>,
    pub(super) amount: Option<&'a str>,
    pub(super) precise_amount: Option<&'a str>,
    pub(super) payee: Option<&'a str>,
    pub(super) memo: Option<&'a str>,
    /// The check number, the investment action, or the account name.
    pub(super) number: Option<&'a str>,
    pub(super) category: Option<&'a str>,
    pub(super) security: Option<&'a str>,
    pub(super) quantity: Option<&'a str>,
    /// The symbol, in a list of securities.
    pub(super) symbol: Option<&'a str>,
    /// Whether the amount is split into several categories.
    pub(super) is_split: bool,
}

impl<'a> Record<'a> {
    fn set(&mut self, text: &'a str) {
        let Some(code) = text.chars().next() else { return };
        let value = text[code.len_utf8()..].trim();
        self.is_split |= code == 'S';
        let slot = match code {
            'D' => &mut self.date,
            'T' => &mut self.amount,
            'U' => &mut self.precise_amount,
            'P' => &mut self.payee,
            'M' => &mut self.memo,
            'N' => &mut self.number,
            'L' => &mut self.category,
            'Y' => &mut self.security,
            'Q' => &mut self.quantity,
            'S' => &mut self.symbol,
            _ => return,
        };
        if !value.is_empty() {
            slot.get_or_insert(value);
        }
    }
}

pub(super) struct Records<'a> {
    lines: Lines<'a>,
    /// The record being read.
    open: Option<Record<'a>>,
    /// The item that began before the record was ended.
    next: Option<Item<'a>>,
}

impl<'a> Records<'a> {
    pub(super) fn new(text: &'a str) -> Records<'a> {
        Records { lines: Lines { rest: text, line: 0, is_ended: true }, open: None, next: None }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        if let Some(next) = self.next.take() {
            return Some(next);
        }
        loop {
            let Some(text) = self.lines.next() else {
                let last = self.open.take()?;
                // A last line without a line ending may lack digits.
                if !self.lines.is_ended {
                    return Some(Item::Cut { line: last.line });
                }
                self.next = Some(Item::EndMissing { line: self.lines.line });
                return Some(Item::Record(last));
            };
            let line = self.lines.line;
            if let Some(header) = text.strip_prefix('!') {
                let next = match begin(header) {
                    Some(section) => Some(Item::Begin { section, header, line }),
                    None if header.to_ascii_lowercase().starts_with("clear:") => {
                        Some(Item::EndOfList)
                    }
                    None => None,
                };
                match self.open.take() {
                    Some(record) => {
                        self.next = next;
                        return Some(Item::Record(record));
                    }
                    None if next.is_some() => return next,
                    None => {}
                }
            } else if text.starts_with('^') {
                if let Some(record) = self.open.take() {
                    return Some(Item::Record(record));
                }
            } else if !text.is_empty() {
                let record = self.open.get_or_insert(Record { line, ..Record::default() });
                record.set(text);
            }
        }
    }
}

/// The section that a header begins; none for options.
fn begin(header: &str) -> Option<Section> {
    let header = header.trim().to_ascii_lowercase();
    let (word, rest) = header.split_once(':').unwrap_or((&header, ""));
    match word.trim() {
        "account" => Some(Section::Account),
        "type" => Some(match rest.trim() {
            "security" => Section::Securities,
            "cat" | "class" | "memorized" | "prices" | "budget" | "tag" => Section::Skipped,
            rest => Kind::parse(rest).map_or(Section::Unknown, Section::Rows),
        }),
        "option" | "clear" => None,
        _ => Some(Section::Unknown),
    }
}

/// Iterates over lines with any of the three line endings.
struct Lines<'a> {
    rest: &'a str,
    line: usize,
    is_ended: bool,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        let bytes = self.rest.as_bytes();
        let end = memchr2(b'\n', b'\r', bytes);
        self.is_ended = end.is_some();
        let end = end.unwrap_or(bytes.len());
        let both = bytes.get(end..end + 2) == Some(b"\r\n");
        let line = self.rest[..end].trim();
        self.rest = &self.rest[(end + 1 + usize::from(both)).min(bytes.len())..];
        Some(line)
    }
}
