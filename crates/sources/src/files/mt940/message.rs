//! Builds MT940 messages from fields, and accounts from messages.

use base::draft::{BalanceDraft, TransactionDraft};
use base::{Currency, Date, Money};

use super::entry::{Balance, Entry};
use super::fields::{Field, LINES_MAX};
use super::remittance;
use crate::files::accounts::{AccountIdentity, StatementAccounts, unbalanced};
use crate::files::{FileContents, Format, Notes, ParseOptions, Rejections};

pub(super) struct AccountsBuilder<'a> {
    options: &'a ParseOptions,
    rejected: Rejections,
    accounts: StatementAccounts,
    message: Option<Message>,
    found: usize,
}

/// One message: a statement, or a page of one.
#[derive(Default)]
struct Message {
    line: usize,
    account: Vec<String>,
    currency: Option<Currency>,
    opening: Option<Balance>,
    closing: Option<Balance>,
    available: Option<Balance>,
    rows: Vec<TransactionDraft>,
    booked: i128,
    /// Whether an entry was rejected, so that the total cannot be checked.
    is_partial: bool,
    last: PreviousField,
}

/// The previous field, to which a following `:86:` field belongs.
#[derive(Default, PartialEq)]
enum PreviousField {
    Entry(EntryText),
    #[default]
    Other,
}

/// The lines of an entry's `:86:` fields, and the text to use if there are none.
#[derive(Default, PartialEq)]
struct EntryText {
    lines: Vec<String>,
    fallback: Option<String>,
}

impl<'a> AccountsBuilder<'a> {
    pub(super) fn new(options: &'a ParseOptions) -> AccountsBuilder<'a> {
        let (rejected, accounts) =
            (Rejections::default(), StatementAccounts::new(options.limits.rows));
        AccountsBuilder { options, rejected, accounts, message: None, found: 0 }
    }

    pub(super) fn take(&mut self, field: &Field<'_>) {
        if matches!(field.tag, "20" | "-") {
            self.close();
        }
        if field.tag == "-" {
            return;
        }
        let message = self.message.get_or_insert_with(|| Message::new(field.line));
        let today = self.options.today;
        if field.tag != "86" {
            message.describe_last_row();
        }
        let result = match field.tag {
            "25" | "25P" => {
                message.account = field.lines.iter().map(|it| it.trim().to_owned()).collect();
                Ok(())
            }
            "60F" | "60M" => message.balance(field, today, |it| &mut it.opening),
            "62F" | "62M" => message.balance(field, today, |it| &mut it.closing),
            "64" => message.balance(field, today, |it| &mut it.available),
            "34F" => {
                let code = field.lines[0].get(..3).and_then(|it| Currency::parse(it).ok());
                message.currency = message.currency.or(code);
                Ok(())
            }
            "61" => self.accounts.admit(1).and_then(|()| message.enter(field, self.options)),
            "86" => {
                message.add_description_lines(field);
                Ok(())
            }
            _ => Ok(()),
        };
        if let Err(reason) = result {
            message.is_partial = true;
            self.rejected.add(field.line, reason);
        }
    }

    fn close(&mut self) {
        let Some(mut message) = self.message.take() else { return };
        message.describe_last_row();
        if let (Some(opening), Some(closing), false) =
            (&message.opening, &message.closing, message.is_partial)
        {
            let (booked, currency) = (message.booked, closing.currency);
            if let Some(reason) = unbalanced(opening.minor, booked, closing.minor, currency) {
                self.rejected.add(message.line, reason);
            }
        }
        let closing = message.closing();
        if message.account.is_empty() && closing.is_none() && message.rows.is_empty() {
            return;
        }
        self.found += 1;
        let currency = message.currency.unwrap_or(self.options.currency);
        let identity = identity(&message.account, currency);
        if let Err(reason) = self.accounts.add(identity, currency, message.rows, closing) {
            self.rejected.add(message.line, reason);
        }
    }

    /// None if there was no statement at all.
    pub(super) fn finish(mut self) -> Option<FileContents> {
        self.close();
        if self.found == 0 && self.rejected.count == 0 {
            return None;
        }
        let mut rejected = self.rejected;
        rejected.rows.sort_by_key(|it| it.line);
        let accounts = self.accounts.finish();
        Some(FileContents {
            format: Format::Mt940,
            accounts,
            rejected,
            notes: Notes::default(),
            questions: Vec::new(),
        })
    }
}

impl Message {
    fn new(line: usize) -> Message {
        Message { line, ..Message::default() }
    }

    fn balance(
        &mut self,
        field: &Field<'_>,
        today: Date,
        target: impl FnOnce(&mut Message) -> &mut Option<Balance>,
    ) -> Result<(), String> {
        let balance = Balance::read(field.lines[0], today)?;
        match self.currency {
            Some(own) if own != balance.currency => {
                return Err(format!(
                    "the balance is in {}, but the account is in {own}",
                    balance.currency
                ));
            }
            _ => self.currency = Some(balance.currency),
        }
        *target(self) = Some(balance);
        Ok(())
    }

    fn enter(&mut self, field: &Field<'_>, options: &ParseOptions) -> Result<(), String> {
        let currency = *self.currency.get_or_insert(options.currency);
        let entry = Entry::read(field.lines[0], currency, options.today)?;
        if !entry.is_expected {
            self.booked += i128::from(entry.minor);
        }
        let more = field.lines[1..].join(" ");
        let more = Some(more.trim().to_owned()).filter(|it| !it.is_empty());
        let kind = Some(entry.kind).filter(|it| !it.is_empty());
        let fallback = more.or(entry.reference).or(kind);
        self.last = PreviousField::Entry(EntryText { lines: Vec::new(), fallback });
        self.rows.push(TransactionDraft {
            external_id: None,
            pending: entry.is_expected,
            settles: None,
            posted_on: entry.on,
            authorized_on: None,
            amount: Money::new(entry.minor, currency),
            description: String::new(),
            counterparty: None,
            counterparty_logo_url: None,
            category: None,
        });
        Ok(())
    }

    /// Adds the lines of a `:86:` field to the entry before it. After the balances, the field describes the whole
    /// statement and is ignored.
    fn add_description_lines(&mut self, field: &Field<'_>) {
        if let PreviousField::Entry(text) = &mut self.last {
            let room = LINES_MAX.saturating_sub(text.lines.len());
            text.lines.extend(field.lines.iter().take(room).map(|it| (*it).to_owned()));
        }
    }

    /// Sets the description of the last row, once all its lines are read.
    fn describe_last_row(&mut self) {
        let PreviousField::Entry(text) = std::mem::take(&mut self.last) else { return };
        let Some(row) = self.rows.last_mut() else { return };
        let lines: Vec<&str> = text.lines.iter().map(String::as_str).collect();
        let words = remittance::read(&lines);
        let memo = words.memo.or(if words.name.is_none() { text.fallback } else { None });
        row.description = match (&words.name, memo) {
            (Some(name), Some(memo)) if !memo.contains(name.as_str()) => format!("{name} {memo}"),
            (_, Some(memo)) => memo,
            (Some(name), None) => name.clone(),
            (None, None) => String::new(),
        };
        row.counterparty = words.name;
    }

    fn closing(&self) -> Option<(Date, BalanceDraft)> {
        let closing = self.closing.as_ref()?;
        let draft = BalanceDraft {
            as_of: closing.as_of()?,
            current_minor: closing.minor,
            available_minor: self.available.as_ref().map(|it| it.minor),
            limit_minor: None,
        };
        Some((closing.on, draft))
    }
}

/// Parses the account field: `BLZ/KTO`, an IBAN, an IBAN followed by the currency, or a number with the bank on the
/// next line.
fn identity(lines: &[String], currency: Currency) -> AccountIdentity {
    let first: String = lines.first().map(String::as_str).unwrap_or_default().replace(' ', "");
    let second = lines.get(1).cloned().filter(|it| !it.is_empty());
    let (bank, number) = match first.split_once('/') {
        Some((bank, number)) if !number.is_empty() => (Some(bank.to_owned()), number),
        _ => (second, first.as_str()),
    };
    let is_iban = number.len() > 15 && number.starts_with(|it: char| it.is_ascii_uppercase());
    let plain = number.strip_suffix(currency.code());
    let plain = plain.map(|it| it.trim_end_matches('/')).filter(|it| is_iban || it.len() >= 5);
    AccountIdentity {
        number: plain.unwrap_or(number).to_owned(),
        name: None,
        bank: bank.filter(|it| !it.is_empty()),
        institution: None,
    }
}
