//! The CAMT statement being read: its account, its balances, and the current entry.

use base::Date;
use base::draft::AccountKind;

use super::entry::{Detail, Entry};
use super::values::{WrittenDate, credit};

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
    pub(super) kind: Option<StatedKind>,
    pub(super) balances: Vec<Balance>,
    /// The last day of the period, and the day on which the bank wrote the statement.
    period_end: WrittenDate,
    created: WrittenDate,
    /// Whether the bank says that further pages follow.
    pub(super) is_continued: bool,
    pub(super) summary: Summary,
    pub(super) entry: Entry,
    pub(super) sums: Sums,
}

/// Totals of the entries read so far, in minor units.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) booked: i128,
    /// The number and sum of credits, and of debits, pending ones included.
    pub(super) credits: (usize, i128),
    pub(super) debits: (usize, i128),
    /// Whether an entry was rejected, so that the total cannot be checked.
    pub(super) is_partial: bool,
    pub(super) entries: usize,
}

/// The totals that the bank states for all entries, for credits, and for debits.
#[derive(Default)]
pub(super) struct Summary {
    pub(super) all: StatedTotal,
    pub(super) credits: StatedTotal,
    pub(super) debits: StatedTotal,
}

#[derive(Default)]
pub(super) struct StatedTotal {
    pub(super) count: Option<usize>,
    pub(super) sum: Option<String>,
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

    /// The day of entries without one: that of the closing balance, or the end of the period, or the day on which the
    /// statement was written.
    pub(super) fn day(&self) -> Option<Date> {
        let closing = self.balances.iter().find(|it| it.code == "CLBD");
        let closing = closing.or(self.balances.last()).and_then(|it| it.when.day);
        closing.or(self.period_end.day).or(self.created.day)
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
            ["Acct", "Tp", "Cd"] => self.kind = stated_kind(text),
            ["Acct", "Svcr", "FinInstnId", "Nm"] => self.institution = kept(),
            ["CreDtTm"] => self.created = WrittenDate::read(text),
            ["FrToDt", "ToDtTm" | "ToDt"] => self.period_end = WrittenDate::read(text),
            ["StmtPgntn" | "RptPgntn", "LastPgInd"] => {
                self.is_continued = matches!(text, "false" | "0");
            }
            ["TxsSummry", "TtlNtries", rest] => self.summary.all.leaf(rest, text),
            ["TxsSummry", "TtlCdtNtries", rest] => self.summary.credits.leaf(rest, text),
            ["TxsSummry", "TtlDbtNtries", rest] => self.summary.debits.leaf(rest, text),
            ["Bal", rest @ ..] => {
                if let Some(balance) = self.balances.last_mut() {
                    balance.leaf(rest, text, currency);
                }
            }
            ["Ntry", "NtryDtls", "TxDtls", rest @ ..] => {
                if let ["AmtDtls", rest @ ..] = rest
                    && self.entry.details_count == 1
                {
                    self.entry.amount_details(rest, text, currency);
                }
                if let Some(detail) = self.entry.details.last_mut() {
                    detail.leaf(rest, text, currency);
                }
            }
            ["Ntry", rest @ ..] => self.entry.leaf(rest, text, currency),
            _ => {}
        }
    }
}

impl StatedTotal {
    fn leaf(&mut self, name: &str, text: &str) {
        match name {
            "NbOfNtries" => self.count = text.parse().ok(),
            "Sum" => self.sum = Some(text.to_owned()),
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

/// The kind of an account with Plaid's subtype.
pub(super) type StatedKind = (AccountKind, &'static str);

/// The kind for a code of ISO 20022 (ExternalCashAccountType1Code). Codes that a person's account hardly has, and an
/// overdraft (ODFT), which banks write for checking accounts too, tell nothing.
fn stated_kind(code: &str) -> Option<StatedKind> {
    match code {
        "CACC" | "SLRY" | "TRAN" => Some((AccountKind::Depository, "checking")),
        "LLSV" | "SVGS" => Some((AccountKind::Depository, "savings")),
        "MOMA" => Some((AccountKind::Depository, "money market")),
        "CARD" => Some((AccountKind::Credit, "credit card")),
        "LOAN" => Some((AccountKind::Loan, "loan")),
        _ => None,
    }
}
