//! Builds accounts from CAMT statements: entries become transactions, and totals are checked against the balances.

use base::draft::{BalanceDraft, TransactionDraft};
use base::{Currency, Date};

use super::broken;
use super::row::{Row, signed};
use super::statement::Statement;
use crate::files::accounts::{AccountIdentity, StatementAccounts, cut, unbalanced};
use crate::files::{FileContents, FileError, Format, Notes, ParseOptions, Rejections};

pub(super) struct AccountsBuilder<'a> {
    options: &'a ParseOptions,
    pub(super) rejected: Rejections,
    accounts: StatementAccounts,
    statements: usize,
    /// The transactions of the current statement.
    rows: Vec<TransactionDraft>,
}

impl<'a> AccountsBuilder<'a> {
    pub(super) fn new(options: &'a ParseOptions) -> AccountsBuilder<'a> {
        let (rejected, accounts) =
            (Rejections::default(), StatementAccounts::new(options.limits.rows));
        AccountsBuilder { options, rejected, accounts, statements: 0, rows: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    /// Adds the entry that was just read.
    pub(super) fn enter(&mut self, statement: &mut Statement) {
        let entry = std::mem::take(&mut statement.entry);
        statement.sums.entries += 1;
        // Informational and future entries are not booked on the account.
        if matches!(entry.status.as_str(), "INFO" | "FUTR") {
            return;
        }
        let read = self.currency(statement, entry.currency.as_deref()).and_then(|currency| {
            if statement.currency.is_none() {
                statement.currency = Some(currency.code().to_owned());
            }
            Row::read(&entry, currency)
        });
        let read = read.and_then(|row| {
            let drafts = row.drafts(&entry);
            self.accounts.admit(drafts.len()).map(|()| (row, drafts))
        });
        match read {
            Ok((row, drafts)) => {
                if !row.pending {
                    statement.sums.booked += i128::from(row.amount.minor());
                }
                self.rows.extend(drafts);
            }
            Err(reason) => {
                statement.sums.is_partial = true;
                self.rejected.add(entry.line, reason);
            }
        }
    }

    /// The currency of the account, if the stated currency agrees with it.
    fn currency(&self, statement: &Statement, stated: Option<&str>) -> Result<Currency, String> {
        let own = statement.currency.as_deref();
        let balance = statement.balances.iter().find_map(|it| it.currency.as_deref());
        let Some(code) = own.or(balance).or(stated) else { return Ok(self.options.currency) };
        let unknown = |_| format!("the currency is \"{}\", which is none of ISO 4217", cut(code));
        let currency = Currency::parse(code).map_err(unknown)?;
        match stated {
            Some(stated) if stated != code => {
                Err(format!("the amount is in {}, but the account is in {currency}", cut(stated)))
            }
            _ => Ok(currency),
        }
    }

    pub(super) fn close(&mut self, statement: Statement) {
        self.statements += 1;
        let rows = std::mem::take(&mut self.rows);
        let currency = match self.currency(&statement, None) {
            Ok(currency) => currency,
            // Each entry was already rejected for its currency.
            Err(_) if statement.sums.entries > 0 => return,
            Err(reason) => return self.rejected.add(statement.line, reason),
        };
        self.check(&statement, currency);
        let closing = closing(&statement, currency);
        let number = statement.iban.or(statement.other_id).unwrap_or_default();
        let number: String = number.split_whitespace().collect();
        if number.is_empty() && rows.is_empty() && closing.is_none() {
            return;
        }
        let identity = AccountIdentity {
            number,
            name: statement.name,
            bank: statement.bic,
            institution: statement.institution,
        };
        if let Err(reason) = self.accounts.add(identity, currency, rows, closing) {
            self.rejected.add(statement.line, reason);
        }
    }

    /// Rejects unreadable balances, and checks that the opening balance plus booked entries equals the closing
    /// balance.
    fn check(&mut self, statement: &Statement, currency: Currency) {
        let find = |codes: [&str; 2]| {
            let coded = |code: &str| statement.balances.iter().find(|it| it.code == code);
            coded(codes[0]).or_else(|| coded(codes[1])).and_then(|it| signed(it, currency).ok())
        };
        // Intraday balances (ITBD) are left out: such reports need not start where the last one ended.
        let (opening, closing) = (find(["OPBD", "PRCD"]), find(["CLBD", "CLBD"]));
        for balance in &statement.balances {
            if let Err(reason) = signed(balance, currency) {
                let reason = format!("balance {}: {reason}", cut(&balance.code));
                self.rejected.add(statement.line, reason);
            }
        }
        let (Some(opening), Some(closing)) = (opening, closing) else { return };
        if !statement.sums.is_partial
            && let Some(reason) = unbalanced(opening, statement.sums.booked, closing, currency)
        {
            self.rejected.add(statement.line, reason);
        }
    }

    pub(super) fn finish(self) -> Result<FileContents, FileError> {
        if self.statements == 0 {
            return Err(broken("there is no statement in it"));
        }
        let mut rejected = self.rejected;
        rejected.rows.sort_by_key(|it| it.line);
        let accounts = self.accounts.finish();
        Ok(FileContents {
            format: Format::Camt053,
            accounts,
            rejected,
            notes: Notes::default(),
            questions: Vec::new(),
        })
    }
}

/// The closing balance, and the available balance if stated.
fn closing(statement: &Statement, currency: Currency) -> Option<(Date, BalanceDraft)> {
    let last = |code: &str| statement.balances.iter().rev().find(|it| it.code == code);
    let balance = last("CLBD").or_else(|| last("ITBD"))?;
    let available = last("CLAV").or_else(|| last("ITAV"));
    let draft = BalanceDraft {
        as_of: balance.when.as_of()?,
        current_minor: signed(balance, currency).ok()?,
        available_minor: available.and_then(|it| signed(it, currency).ok()),
        limit_minor: None,
    };
    Some((balance.when.day?, draft))
}
