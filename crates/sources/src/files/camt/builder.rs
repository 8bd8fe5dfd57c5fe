//! Builds accounts from CAMT statements: entries become transactions, and totals are checked against the balances.

use std::collections::BTreeMap;

use base::draft::{BalanceDraft, TransactionDraft};
use base::{Currency, Date};

use super::broken;
use super::row::{Row, signed, unsigned};
use super::statement::{StatedKind, Statement};
use super::values::noon_of;
use crate::files::accounts::{
    AccountIdentity, StatementAccounts, StatementContent, counts_differ, cut, unbalanced,
};
use crate::files::{
    FileAccount, FileContents, FileError, Format, NoteKind, Notes, ParseOptions, Rejections,
};

pub(super) struct AccountsBuilder<'a> {
    options: &'a ParseOptions,
    pub(super) rejected: Rejections,
    pub(super) notes: Notes,
    accounts: StatementAccounts,
    /// The kinds of accounts whose statements tell it, by number and currency.
    kinds: BTreeMap<(String, Currency), StatedKind>,
    statements: usize,
    /// The transactions of the current statement.
    rows: Vec<TransactionDraft>,
}

impl<'a> AccountsBuilder<'a> {
    pub(super) fn new(options: &'a ParseOptions) -> AccountsBuilder<'a> {
        AccountsBuilder {
            options,
            rejected: Rejections::default(),
            notes: Notes::default(),
            accounts: StatementAccounts::new(options.limits.rows),
            kinds: BTreeMap::new(),
            statements: 0,
            rows: Vec::new(),
        }
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
            Row::read(&entry, currency, statement.day())
        });
        let read = read.and_then(|row| {
            let drafts = row.drafts(&entry);
            self.accounts.admit(drafts.len()).map(|()| (row, drafts))
        });
        match read {
            Ok((row, drafts)) => {
                let totals = match row.credit {
                    true => &mut statement.sums.credits,
                    false => &mut statement.sums.debits,
                };
                totals.0 += 1;
                totals.1 += i128::from(row.amount.minor().abs());
                if let Some(text) = row.note {
                    self.notes.add(Some(entry.line), text);
                }
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

    /// The currency of the account.
    fn currency(&self, statement: &Statement, stated: Option<&str>) -> Result<Currency, String> {
        let own = statement.currency.as_deref();
        let balance = statement.balances.iter().find_map(|it| it.currency.as_deref());
        let Some(code) = own.or(balance).or(stated) else {
            return Ok(self.options.default_currency());
        };
        let unknown = |_| format!("the currency is \"{}\", which is none of ISO 4217", cut(code));
        Currency::parse(code).map_err(unknown)
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
        let change_minor = self.check(&statement, currency);
        self.check_summary(&statement, currency);
        if statement.is_continued {
            let text = "the bank says that this is not the last page of the statement; import its other pages too";
            self.notes.warn(NoteKind::CutOff, statement.line, text);
        }
        let closing = closing(&statement, currency);
        let number = statement.iban.or(statement.other_id).unwrap_or_default();
        let number: String = number.split_whitespace().collect();
        if number.is_empty() && rows.is_empty() && closing.is_none() {
            return;
        }
        let key = statement.kind.map(|_| (number.clone(), currency));
        let identity = AccountIdentity {
            number,
            name: statement.name,
            bank: statement.bic,
            institution: statement.institution,
        };
        let content = StatementContent { rows, closing, change_minor };
        if let Err(reason) = self.accounts.add(identity, currency, content) {
            self.rejected.add(statement.line, reason);
        } else if let (Some(key), Some(kind)) = (key, statement.kind) {
            self.kinds.entry(key).or_insert(kind);
        }
    }

    /// Rejects unreadable balances, and checks that the opening balance plus booked entries equals the closing
    /// balance. Returns the difference of the balances.
    fn check(&mut self, statement: &Statement, currency: Currency) -> Option<i64> {
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
        let (opening, closing) = (opening?, closing?);
        if !statement.sums.is_partial
            && let Some(text) = unbalanced(opening, statement.sums.booked, closing, currency)
        {
            self.notes.warn(NoteKind::Unbalanced, statement.line, text);
        }
        closing.checked_sub(opening)
    }

    /// Compares the entries with the numbers and sums that the bank states for them.
    fn check_summary(&mut self, statement: &Statement, currency: Currency) {
        let (summary, sums) = (&statement.summary, &statement.sums);
        let all = (sums.credits.0 + sums.debits.0, sums.credits.1 + sums.debits.1);
        // Entries that are rejected, or only announced, are in the totals but not among the rows.
        let is_complete = all.0 == sums.entries && !sums.is_partial;
        for (stated, name, found) in [
            (&summary.all, "entries", if is_complete { all } else { (sums.entries, all.1) }),
            (&summary.credits, "credits", sums.credits),
            (&summary.debits, "debits", sums.debits),
        ] {
            let Some(count) = stated.count.filter(|_| is_complete || name == "entries") else {
                continue;
            };
            let sum = stated.sum.as_deref().and_then(|it| unsigned(it, currency).ok());
            let sum = sum.map(|it| it.minor()).filter(|_| is_complete);
            let sum = sum.or(i64::try_from(found.1).ok()).unwrap_or_default();
            if let Some(text) = counts_differ(name, found, (count, sum), currency) {
                self.notes.warn(NoteKind::Unbalanced, statement.line, text);
            }
        }
    }

    pub(super) fn finish(self) -> Result<FileContents, FileError> {
        if self.statements == 0 {
            return Err(broken("there is no statement in it"));
        }
        let mut rejected = self.rejected;
        rejected.rows.sort_by_key(|it| it.line);
        let mut notes = self.notes;
        notes.sort();
        let mut accounts = self.accounts.finish();
        for account in &mut accounts {
            set_stated_kind(account, &self.kinds);
            if let Some(balance) = &mut account.draft.balance {
                balance.as_of = noon_of(balance.as_of);
            }
        }
        let format = Format::Camt053;
        Ok(FileContents {
            format,
            accounts,
            rejected,
            questions: Vec::new(),
            notes,
            assumed_currency: None,
        })
    }
}

fn set_stated_kind(account: &mut FileAccount, kinds: &BTreeMap<(String, Currency), StatedKind>) {
    let (id, currency) = (&account.draft.external_id, account.draft.currency);
    // Further accounts of a number have their currency behind it.
    let number = id.strip_suffix(currency.code()).and_then(|it| it.strip_suffix('/'));
    let kind = [Some(id.as_str()), number]
        .into_iter()
        .flatten()
        .find_map(|it| kinds.get(&(it.to_owned(), currency)));
    if let Some((kind, subtype)) = kind {
        account.set_kind(*kind, Some(subtype));
    }
}

/// The closing balance, and the available balance if stated.
fn closing(statement: &Statement, currency: Currency) -> Option<(Date, BalanceDraft)> {
    let last = |code: &str| statement.balances.iter().rev().find(|it| it.code == code);
    let balance = last("CLBD").or_else(|| last("ITBD"))?;
    let available = last("CLAV").or_else(|| last("ITAV"));
    let draft = BalanceDraft {
        as_of: balance.when.local_as_utc()?,
        current_minor: signed(balance, currency).ok()?,
        available_minor: available.and_then(|it| signed(it, currency).ok()),
        limit_minor: None,
    };
    Some((balance.when.day?, draft))
}
