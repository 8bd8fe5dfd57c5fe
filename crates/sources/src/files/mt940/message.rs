//! Builds MT940 messages from fields, and accounts from messages.

use base::draft::{BalanceDraft, TransactionDraft};
use base::{Currency, Date, Money};

use super::entry::{Balance, Entry, Total};
use super::fields::{Field, LINES_MAX};
use super::pages::Pages;
use super::remittance::{self, Remittance};
use crate::files::accounts::{
    AccountIdentity, StatementAccounts, StatementContent, counts_differ, unbalanced,
};
use crate::files::{FileContents, Format, NoteKind, Notes, ParseOptions, Rejections};

pub(super) struct AccountsBuilder<'a> {
    options: &'a ParseOptions,
    rejected: Rejections,
    notes: Notes,
    accounts: StatementAccounts,
    pages: Pages,
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
    /// Whether its balances are those of a page within a statement (`60M` and `62M`).
    opens_page: bool,
    closes_page: bool,
    /// Whether a closing balance is there, even if it cannot be read.
    has_closing_field: bool,
    closing: Option<Balance>,
    available: Option<Balance>,
    /// The totals of debits and credits that an interim report (MT942) ends with.
    debits: Option<Total>,
    credits: Option<Total>,
    rows: Vec<TransactionDraft>,
    booked: i128,
    /// Whether an entry was rejected, so that the total cannot be checked.
    is_partial: bool,
    last: PreviousField,
    /// The line on which the last field begins, and whether that is an entry.
    last_field: (usize, bool),
}

/// How a message ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// With its own mark (`-`).
    Mark,
    /// Where the next message begins.
    NextMessage,
    /// With the file; the last line may be cut.
    File { has_line_end: bool },
}

/// The previous field, to which a following `:86:` field belongs.
#[derive(Default, PartialEq)]
enum PreviousField {
    Entry(EntryText),
    #[default]
    Other,
}

/// The lines of an entry's `:86:` and `:NS:` fields, and the text to use if there are none.
#[derive(Default, PartialEq)]
struct EntryText {
    lines: Vec<String>,
    numbered_lines: Vec<String>,
    /// The counterparty that the entry itself names.
    name: Option<String>,
    fallback: Option<String>,
}

impl<'a> AccountsBuilder<'a> {
    pub(super) fn new(options: &'a ParseOptions) -> AccountsBuilder<'a> {
        AccountsBuilder {
            options,
            rejected: Rejections::default(),
            notes: Notes::default(),
            accounts: StatementAccounts::new(options.limits.rows),
            pages: Pages::default(),
            message: None,
            found: 0,
        }
    }

    pub(super) fn take(&mut self, field: &Field<'_>) {
        match field.tag {
            "20" => self.close(End::NextMessage),
            "25" | "25P" if self.is_other_account(field) => self.close(End::NextMessage),
            "-" => return self.close(End::Mark),
            _ => {}
        }
        let message = self.message.get_or_insert_with(|| Message::new(field.line));
        let today = self.options.today;
        message.last_field = (field.line, field.tag == "61");
        if !matches!(field.tag, "86" | "NS") {
            message.describe_last_row();
        }
        let result = match field.tag {
            "25" | "25P" => {
                // Once there are entries, another account is a mistyped tag: the entries belong to the first.
                if message.account.is_empty() || message.rows.is_empty() {
                    message.account = account_lines(field);
                }
                Ok(())
            }
            "60F" | "60M" => {
                message.opens_page = field.tag == "60M";
                message.balance(field, today, |it| &mut it.opening)
            }
            "62F" | "62M" => {
                message.closes_page = field.tag == "62M";
                message.has_closing_field = true;
                message.balance(field, today, |it| &mut it.closing)
            }
            "64" => message.balance(field, today, |it| &mut it.available),
            "34F" => {
                let code = field.lines[0].get(..3).and_then(|it| Currency::parse(it).ok());
                message.currency = message.currency.or(code);
                Ok(())
            }
            "90D" => {
                message.debits = Total::read(field.lines[0]);
                Ok(())
            }
            "90C" => {
                message.credits = Total::read(field.lines[0]);
                Ok(())
            }
            "61" => {
                let notes = &mut self.notes;
                self.accounts.admit(1).and_then(|()| message.enter(field, self.options, notes))
            }
            "86" | "NS" => {
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

    /// Whether an account field begins the statement of another account, although no `:20:` does.
    fn is_other_account(&self, field: &Field<'_>) -> bool {
        let finished = self.message.as_ref().filter(|it| it.has_closing_field);
        finished.is_some_and(|it| !it.account.is_empty() && it.account != account_lines(field))
    }

    fn close(&mut self, end: End) {
        let Some(mut message) = self.message.take() else { return };
        message.describe_last_row();
        if message.is_cut(end) {
            self.note_cut(&mut message, end);
        }
        if !message.is_partial {
            self.check(&message);
        }
        let closing = message.closing();
        if message.account.is_empty() && closing.is_none() && message.rows.is_empty() {
            return;
        }
        self.found += 1;
        let currency = message.currency.unwrap_or(self.options.default_currency());
        let identity = identity(&message.account, currency);
        if (message.opens_page || message.closes_page) && !message.rows.is_empty() {
            let [opening, closing] = [
                message.opening.as_ref().filter(|_| message.opens_page),
                message.closing.as_ref().filter(|_| message.closes_page),
            ];
            let balances = [opening, closing].map(|it| it.map(|it| it.minor));
            self.pages.add(&identity.number, currency, balances, message.line);
        }
        let change_minor = message.change_minor();
        let content = StatementContent { rows: message.rows, closing, change_minor };
        if let Err(reason) = self.accounts.add(identity, currency, content) {
            self.rejected.add(message.line, reason);
        }
    }

    /// Notes that a message breaks off. An entry on a cut line may lack digits, so it is rejected.
    fn note_cut(&mut self, message: &mut Message, end: End) {
        let (line, is_entry) = message.last_field;
        if end == (End::File { has_line_end: false }) && is_entry && !message.is_partial {
            message.is_partial = true;
            message.rows.pop();
            self.rejected.add(line, "the file breaks off within this row");
        }
        let text = match end {
            End::File { .. } => {
                "the file breaks off here: the closing balance of the statement is missing, so rows may be missing too"
            }
            _ => "the statement has no closing balance (:62F:), so rows may be missing",
        };
        self.notes.warn(NoteKind::CutOff, line, text);
    }

    /// Compares the entries with the balances and totals that the message states.
    fn check(&mut self, message: &Message) {
        if let (Some(opening), Some(closing)) = (&message.opening, &message.closing) {
            let (booked, currency) = (message.booked, closing.currency);
            if let Some(text) = unbalanced(opening.minor, booked, closing.minor, currency) {
                self.notes.warn(NoteKind::Unbalanced, message.line, text);
            }
        }
        let currency = message.currency.unwrap_or(self.options.default_currency());
        for (total, name, is_credit) in
            [(&message.debits, "debits", false), (&message.credits, "credits", true)]
        {
            let rows = message.rows.iter().filter(|it| (it.amount.minor() > 0) == is_credit);
            let sum: i128 = rows.clone().map(|it| i128::from(it.amount.minor().abs())).sum();
            if let Some(total) = total
                && let Some(text) =
                    counts_differ(name, (rows.count(), sum), (total.count, total.minor), currency)
            {
                self.notes.warn(NoteKind::Unbalanced, message.line, text);
            }
        }
    }

    /// None if there was no statement at all. `has_line_end` tells whether the last line is complete.
    pub(super) fn finish(mut self, has_line_end: bool) -> Option<FileContents> {
        self.close(End::File { has_line_end });
        if self.found == 0 && self.rejected.count == 0 {
            return None;
        }
        self.pages.note_missing(&mut self.notes);
        let (mut rejected, mut notes) = (self.rejected, self.notes);
        rejected.rows.sort_by_key(|it| it.line);
        notes.sort();
        let accounts = self.accounts.finish();
        let format = Format::Mt940;
        Some(FileContents {
            format,
            accounts,
            rejected,
            questions: Vec::new(),
            notes,
            assumed_currency: None,
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
        let balance = Balance::read(field.lines[0], self.currency, today)?;
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

    /// Whether rows may be missing at its end. A statement ends with its closing balance, and an interim report, which
    /// has none, with its totals or the mark.
    fn is_cut(&self, end: End) -> bool {
        let is_report = self.opening.is_none();
        let is_ended = match end {
            End::Mark => true,
            End::NextMessage => is_report,
            End::File { .. } => is_report && (self.debits.is_some() || self.credits.is_some()),
        };
        // The closing balance itself may be cut.
        let may_be_cut = end == (End::File { has_line_end: false });
        let has_closing = self.closing.is_some() || self.has_closing_field && !may_be_cut;
        !has_closing && !is_ended
    }

    fn change_minor(&self) -> Option<i64> {
        let (opening, closing) = (self.opening.as_ref()?, self.closing.as_ref()?);
        closing.minor.checked_sub(opening.minor)
    }

    fn enter(
        &mut self,
        field: &Field<'_>,
        options: &ParseOptions,
        notes: &mut Notes,
    ) -> Result<(), String> {
        let currency = *self.currency.get_or_insert(options.default_currency());
        let mut entry = Entry::read(field.lines[0], currency, options.today)?;
        if let Some(text) = entry.note.take() {
            notes.add(Some(field.line), text);
        }
        if !entry.is_expected {
            self.booked += i128::from(entry.minor);
        }
        let more = field.lines[1..].join(" ");
        let more = Some(more.trim().to_owned()).filter(|it| !it.is_empty());
        let kind = Some(entry.kind).filter(|it| !it.is_empty());
        let fallback = more.or(entry.reference).or(kind);
        let name = entry.name;
        self.last = PreviousField::Entry(EntryText { name, fallback, ..EntryText::default() });
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

    /// Adds the lines of a `:86:` or `:NS:` field to the entry before it. After the balances, the field describes the whole
    /// statement and is ignored.
    fn add_description_lines(&mut self, field: &Field<'_>) {
        if let PreviousField::Entry(text) = &mut self.last {
            let lines = match field.tag {
                "NS" => &mut text.numbered_lines,
                _ => &mut text.lines,
            };
            let room = LINES_MAX.saturating_sub(lines.len());
            lines.extend(field.lines.iter().take(room).map(|it| (*it).to_owned()));
        }
    }

    /// Sets the description of the last row, once all its lines are read.
    fn describe_last_row(&mut self) {
        let PreviousField::Entry(text) = std::mem::take(&mut self.last) else { return };
        let Some(row) = self.rows.last_mut() else { return };
        let lines: Vec<&str> = text.lines.iter().map(String::as_str).collect();
        let mut words = remittance::read(&lines);
        if words == Remittance::default() {
            words = remittance::read_numbered(&text.numbered_lines);
        }
        let name = words.name.or(text.name);
        let memo = words.memo.or(if name.is_none() { text.fallback } else { None });
        row.description = match (&name, memo) {
            (Some(name), Some(memo)) if !memo.contains(name.as_str()) => format!("{name} {memo}"),
            (_, Some(memo)) => memo,
            (Some(name), None) => name.clone(),
            (None, None) => String::new(),
        };
        row.counterparty = name;
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

fn account_lines(field: &Field<'_>) -> Vec<String> {
    field.lines.iter().map(|it| it.trim().to_owned()).collect()
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
    let number = plain.unwrap_or(number);
    // German banks write account numbers with and without the zeros that make ten digits of them in an IBAN.
    let is_digits = |text: &str| text.bytes().all(|it| it.is_ascii_digit());
    let is_german = is_digits(number)
        && !number.is_empty()
        && bank.as_deref().is_some_and(|it| it.len() == 8 && is_digits(it));
    AccountIdentity {
        number: if is_german { format!("{number:0>10}") } else { number.to_owned() },
        name: None,
        bank: bank.filter(|it| !it.is_empty()),
        institution: None,
    }
}
