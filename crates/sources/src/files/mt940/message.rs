//! Messages put together from fields, and accounts from messages.

use base::draft::{BalanceDraft, TransactionDraft};
use base::{Currency, Date, Money};

use super::entry::{Balance, Entry};
use super::fields::{Field, LINES_MAX};
use super::words;
use crate::files::ledger::{Holder, Ledger, unbalanced};
use crate::files::{Format, Hints, Reading, Rejections};

pub(super) struct Book<'a> {
    hints: &'a Hints,
    rejected: Rejections,
    ledger: Ledger,
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
    /// Whether something was left out, so that nothing can be said about the sum.
    is_partial: bool,
    last: Last,
}

/// What the field before was, to which words may belong.
#[derive(Default, PartialEq)]
enum Last {
    Entry(Told),
    #[default]
    Other,
}

/// What an entry says by itself, should no words follow.
#[derive(Default, PartialEq)]
struct Told {
    lines: Vec<String>,
    fallback: Option<String>,
}

impl<'a> Book<'a> {
    pub(super) fn new(hints: &'a Hints) -> Book<'a> {
        let (rejected, ledger) = (Rejections::default(), Ledger::new(hints.limits.rows));
        Book { hints, rejected, ledger, message: None, found: 0 }
    }

    pub(super) fn take(&mut self, field: &Field<'_>) {
        if matches!(field.tag, "20" | "-") {
            self.close();
        }
        if field.tag == "-" {
            return;
        }
        let message = self.message.get_or_insert_with(|| Message::new(field.line));
        let today = self.hints.today;
        if field.tag != "86" {
            message.tell();
        }
        let taken = match field.tag {
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
            "61" => self.ledger.admit(1).and_then(|()| message.enter(field, self.hints)),
            "86" => {
                message.explain(field);
                Ok(())
            }
            _ => Ok(()),
        };
        if let Err(reason) = taken {
            message.is_partial = true;
            self.rejected.add(field.line, reason);
        }
    }

    fn close(&mut self) {
        let Some(mut message) = self.message.take() else { return };
        message.tell();
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
        let currency = message.currency.unwrap_or(self.hints.currency);
        let holder = holder(&message.account, currency);
        if let Err(reason) = self.ledger.add(holder, currency, message.rows, closing) {
            self.rejected.add(message.line, reason);
        }
    }

    /// None when there was no statement at all.
    pub(super) fn finish(mut self) -> Option<Reading> {
        self.close();
        if self.found == 0 && self.rejected.count == 0 {
            return None;
        }
        let mut rejected = self.rejected;
        rejected.rows.sort_by_key(|it| it.line);
        let accounts = self.ledger.finish();
        Some(Reading { format: Format::Mt940, accounts, rejected, doubts: Vec::new() })
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
        place: impl FnOnce(&mut Message) -> &mut Option<Balance>,
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
        *place(self) = Some(balance);
        Ok(())
    }

    fn enter(&mut self, field: &Field<'_>, hints: &Hints) -> Result<(), String> {
        let currency = *self.currency.get_or_insert(hints.currency);
        let entry = Entry::read(field.lines[0], currency, hints.today)?;
        if !entry.is_expected {
            self.booked += i128::from(entry.minor);
        }
        let more = field.lines[1..].join(" ");
        let more = Some(more.trim().to_owned()).filter(|it| !it.is_empty());
        let kind = Some(entry.kind).filter(|it| !it.is_empty());
        let fallback = more.or(entry.reference).or(kind);
        self.last = Last::Entry(Told { lines: Vec::new(), fallback });
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

    /// Words belong to the entry before them; behind the balances they are about the whole statement.
    fn explain(&mut self, field: &Field<'_>) {
        if let Last::Entry(told) = &mut self.last {
            let room = LINES_MAX.saturating_sub(told.lines.len());
            told.lines.extend(field.lines.iter().take(room).map(|it| (*it).to_owned()));
        }
    }

    /// Gives the last row its words, once all of them are known.
    fn tell(&mut self) {
        let Last::Entry(told) = std::mem::take(&mut self.last) else { return };
        let Some(row) = self.rows.last_mut() else { return };
        let lines: Vec<&str> = told.lines.iter().map(String::as_str).collect();
        let words = words::read(&lines);
        let memo = words.memo.or(if words.name.is_none() { told.fallback } else { None });
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

/// `BLZ/KTO`, an IBAN, an IBAN with the currency behind it, or a number with the bank on the next line.
fn holder(lines: &[String], currency: Currency) -> Holder {
    let first: String = lines.first().map(String::as_str).unwrap_or_default().replace(' ', "");
    let second = lines.get(1).cloned().filter(|it| !it.is_empty());
    let (bank, number) = match first.split_once('/') {
        Some((bank, number)) if !number.is_empty() => (Some(bank.to_owned()), number),
        _ => (second, first.as_str()),
    };
    let is_iban = number.len() > 15 && number.starts_with(|it: char| it.is_ascii_uppercase());
    let plain = number.strip_suffix(currency.code());
    let plain = plain.map(|it| it.trim_end_matches('/')).filter(|it| is_iban || it.len() >= 5);
    Holder {
        number: plain.unwrap_or(number).to_owned(),
        name: None,
        bank: bank.filter(|it| !it.is_empty()),
        institution: None,
    }
}
