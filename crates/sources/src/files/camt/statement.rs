//! The CAMT statement being read: its account, its balances, and the current entry.

use super::entry::{Detail, Entry, WrittenDate};

/// Batches with more details are imported as one entry: a hostile file could contain millions of empty ones.
const MOST_DETAILS: usize = 20_000;

#[derive(Default)]
pub(super) struct Statement {
    pub(super) line: usize,
    pub(super) iban: Option<String>,
    pub(super) other_id: Option<String>,
    pub(super) currency: Option<String>,
    pub(super) name: Option<String>,
    pub(super) bic: Option<String>,
    pub(super) institution: Option<String>,
    pub(super) balances: Vec<Balance>,
    pub(super) entry: Entry,
    pub(super) sums: Sums,
}

/// Totals of the entries read so far, in minor units.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) booked: i128,
    /// Whether an entry was rejected, so that the total cannot be checked.
    pub(super) is_partial: bool,
    pub(super) entries: usize,
}

#[derive(Default)]
pub(super) struct Balance {
    pub(super) code: String,
    pub(super) amount: String,
    pub(super) currency: Option<String>,
    pub(super) credit: Option<bool>,
    pub(super) when: WrittenDate,
}

impl Statement {
    pub(super) fn new(line: usize) -> Statement {
        Statement { line, ..Statement::default() }
    }

    pub(super) fn open_entry(&mut self, line: usize) {
        self.entry = Entry { line, ..Entry::default() };
    }

    /// Handles an opening tag; the path starts below the statement.
    pub(super) fn open(&mut self, path: &[&str]) {
        match path {
            // There are fewer than 100 balance codes.
            ["Bal"] if self.balances.len() < 100 => self.balances.push(Balance::default()),
            ["Ntry", "NtryDtls", "TxDtls"] => {
                self.entry.details_count += 1;
                if self.entry.details.len() < MOST_DETAILS {
                    self.entry.details.push(Detail::default());
                }
            }
            _ => {}
        }
    }

    /// Handles the text of an element when it closes.
    pub(super) fn leaf(&mut self, path: &[&str], text: &str, currency: Option<&str>) {
        if text.is_empty() {
            return;
        }
        let kept = || Some(text.to_owned());
        match path {
            ["Acct", "Id", "IBAN"] => self.iban = kept(),
            ["Acct", "Id", "Othr", "Id"] => self.other_id = kept(),
            ["Acct", "Ccy"] => self.currency = kept(),
            ["Acct", "Nm"] => self.name = kept(),
            ["Acct", "Svcr", "FinInstnId", "BIC" | "BICFI"] => self.bic = kept(),
            ["Acct", "Svcr", "FinInstnId", "Nm"] => self.institution = kept(),
            ["Bal", rest @ ..] => {
                if let Some(balance) = self.balances.last_mut() {
                    balance.leaf(rest, text, currency);
                }
            }
            ["Ntry", "NtryDtls", "TxDtls", rest @ ..] => {
                if let Some(detail) = self.entry.details.last_mut() {
                    detail.leaf(rest, text, currency);
                }
            }
            ["Ntry", rest @ ..] => self.entry.leaf(rest, text, currency),
            _ => {}
        }
    }
}

impl Balance {
    fn leaf(&mut self, path: &[&str], text: &str, currency: Option<&str>) {
        match path {
            ["Tp", "CdOrPrtry", "Cd"] => self.code = text.to_owned(),
            ["Amt"] => {
                self.amount = text.to_owned();
                self.currency = currency.map(str::to_owned);
            }
            ["CdtDbtInd"] => self.credit = credit(text),
            ["Dt", "Dt" | "DtTm"] => self.when = WrittenDate::read(text),
            _ => {}
        }
    }
}

pub(super) fn credit(text: &str) -> Option<bool> {
    match text {
        "CRDT" => Some(true),
        "DBIT" => Some(false),
        _ => None,
    }
}
