//! QIF, Quicken's format before OFX, which many banks still offer. It has no ids and no balances.

mod actions;
mod dates;
mod records;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use base::category::Category;
use base::draft::{AccountDraft, AccountKind, TradeDraft, TransactionDraft};
use base::{Currency, Date, Money};

use super::amount_marks::{AmountMarks, is_open};
use super::limits::{ACCOUNTS_MAX, counted};
use super::ofx::tokens::clean;
use super::plain_amount::{Comma, amount, quote, rounding_note};
use super::source_category::{self, SourceCategory};
use super::text::{decode, joined};
use super::{
    DateOrder, FileAccount, FileContents, FileError, FileQuestion, Format, NoteKind, Notes,
    ParseOptions, Rejections,
};
use dates::{Evidence, date};
use records::{Item, Kind, Record, Records, Section};

pub(super) fn looks_like(bytes: &[u8]) -> bool {
    const OPENING: usize = 1_024;
    // In UTF-16, every other byte is zero; a byte order mark may come first.
    let opening = bytes.iter().take(OPENING).filter(|it| **it != 0 && **it < 0x80);
    let opening: String = opening.map(|it| char::from(it.to_ascii_lowercase())).collect();
    let header = opening.trim_start().strip_prefix('!').map(str::trim_start);
    let begins = |it: &str| {
        ["type:", "account", "option:", "clear:"].iter().any(|word| it.starts_with(word))
    };
    header.map_or_else(|| is_headless(&opening), begins)
}

/// Whether the text begins with a record, so that the header is missing. Such a file is refused with that reason.
fn is_headless(opening: &str) -> bool {
    let mut lines = opening.lines().map(str::trim).skip_while(|it| it.is_empty());
    let first = lines.next().and_then(|it| it.strip_prefix('d'));
    first.is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
        && lines.take_while(|it| !it.is_empty()).any(|it| it == "^")
}

pub(super) fn read(bytes: &[u8], options: &ParseOptions) -> Result<FileContents, FileError> {
    let text = decode(bytes);
    let survey = survey(&text, options);
    let Survey { order, is_ambiguous, .. } = survey;
    let mut builder = AccountsBuilder::new(survey, options);
    for item in Records::new(&text) {
        builder.take(item);
    }
    if builder.accounts.is_empty() && builder.rejected.count == 0 {
        let reason = "there is no section with transactions in it; one begins with a line such as !Type:Bank".to_owned();
        return Err(FileError::Broken { format: Format::Qif, reason });
    }
    let questions =
        is_ambiguous.then_some(FileQuestion::Dates { read_as: order }).into_iter().collect();
    // The format has no field for the currency.
    let assumed_currency = (!builder.accounts.is_empty()).then_some(options.default_currency());
    if options.chosen_currency.is_none() && assumed_currency.is_some() {
        builder.notes.assume_currency(options.currency, None);
    }
    let accounts = builder.accounts.into_iter().map(|draft| FileAccount::new(None, draft));
    Ok(FileContents {
        format: Format::Qif,
        accounts: accounts.collect(),
        rejected: builder.rejected,
        questions,
        notes: builder.notes,
        assumed_currency,
    })
}

/// More symbols are not remembered, so that a hostile file does not fill the memory.
const SYMBOLS_MAX: usize = 10_000;

/// What the whole file says about each of its records.
struct Survey<'a> {
    /// The order of day and month, and whether it is ambiguous.
    order: DateOrder,
    is_ambiguous: bool,
    /// The symbols of securities by name.
    symbols: HashMap<&'a str, &'a str>,
    /// The decimal marks of the amounts.
    marks: AmountMarks,
}

fn survey<'a>(text: &'a str, options: &ParseOptions) -> Survey<'a> {
    let (mut evidence, mut symbols) = (Evidence::default(), HashMap::new());
    let (mut current, mut marks) = (Section::Unknown, AmountMarks::default());
    for item in Records::new(text) {
        match (item, current) {
            (Item::Begin { section, .. }, _) => current = section,
            (Item::Record(record), Section::Rows(_)) => {
                record.date.into_iter().for_each(|it| evidence.note(it));
                let amount = record.amount.or(record.precise_amount);
                amount.into_iter().for_each(|it| marks.count(it.trim().as_bytes()));
            }
            (Item::Record(record), Section::Securities) if symbols.len() < SYMBOLS_MAX => {
                symbols.extend(record.number.zip(record.symbol));
            }
            _ => {}
        }
    }
    let (order, is_ambiguous) = evidence.order(options);
    Survey { order, is_ambiguous, symbols, marks }
}

/// The accounts of a file while it is read.
struct AccountsBuilder<'a, 'h> {
    order: DateOrder,
    symbols: HashMap<&'a str, &'a str>,
    marks: AmountMarks,
    options: &'h ParseOptions,
    section: Section,
    /// The account named for the next section.
    named: Option<(&'a str, Option<Kind>)>,
    /// The account of the current rows.
    current: Option<usize>,
    known: BTreeMap<(&'a str, Kind), usize>,
    accounts: Vec<AccountDraft>,
    count: usize,
    rejected: Rejections,
    notes: Notes,
}

impl<'a, 'h> AccountsBuilder<'a, 'h> {
    fn new(survey: Survey<'a>, options: &'h ParseOptions) -> AccountsBuilder<'a, 'h> {
        let Survey { order, symbols, marks, .. } = survey;
        AccountsBuilder {
            order,
            symbols,
            marks,
            options,
            section: Section::Unknown,
            named: None,
            current: None,
            known: BTreeMap::new(),
            accounts: Vec::new(),
            count: 0,
            rejected: Rejections::default(),
            notes: Notes::default(),
        }
    }

    fn take(&mut self, item: Item<'a>) {
        match item {
            Item::EndOfList => self.named = None,
            Item::Cut { line } => {
                if !matches!(self.section, Section::Skipped | Section::Securities) {
                    self.rejected.add(line, "the file breaks off within this row");
                }
                self.note_cut(line);
            }
            Item::EndMissing { line } => self.note_cut(line),
            Item::Begin { section, header, line } => {
                self.section = section;
                match section {
                    Section::Rows(kind) => self.open(kind, line),
                    Section::Unknown => {
                        let reason = format!("the section {} is unknown", quote(header));
                        self.rejected.add(line, format!("{reason}, so it is left out"));
                    }
                    Section::Account | Section::Securities | Section::Skipped => {}
                }
            }
            Item::Record(record) => match self.section {
                Section::Account => {
                    let kind = record.amount.and_then(Kind::parse);
                    self.named = record.number.map(|it| (it, kind));
                }
                Section::Rows(kind) => self.enter(kind, &record),
                Section::Securities | Section::Skipped | Section::Unknown => {}
            },
        }
    }

    fn note_cut(&mut self, line: usize) {
        let text =
            "the last record does not end with ^: the file may be cut off, so rows may be missing";
        self.notes.warn(NoteKind::CutOff, line, text);
    }

    fn open(&mut self, kind: Kind, line: usize) {
        let (name, kind) = match self.named.take() {
            Some((name, named)) => (name, named.unwrap_or(kind)),
            None => ("", kind),
        };
        let known = self.known.get(&(name, kind)).copied();
        self.current = known.or_else(|| {
            if self.accounts.len() == ACCOUNTS_MAX {
                let reason = format!("the file has more than {ACCOUNTS_MAX} accounts");
                self.rejected.add(line, reason);
                return None;
            }
            self.known.insert((name, kind), self.accounts.len());
            self.accounts.push(account(name, kind, self.options.default_currency()));
            Some(self.accounts.len() - 1)
        });
    }

    fn enter(&mut self, kind: Kind, record: &Record<'a>) {
        let Some(current) = self.current else { return };
        self.count += 1;
        let row = match self.row(kind, record) {
            Ok(_) if self.count > self.options.limits.rows => {
                let most = counted(self.options.limits.rows);
                let reason = format!("the file has more than {most} rows");
                return self.rejected.add(record.line, reason);
            }
            Ok((row, note)) => {
                if let Some(text) = note {
                    self.notes.add(Some(record.line), text);
                }
                row
            }
            Err(reason) => return self.rejected.add(record.line, reason),
        };
        let trade = self.trade(kind, record, row.posted_on);
        let account = &mut self.accounts[current];
        account.trades.extend(trade);
        // Quicken begins each account with a row that names it.
        if let Some(own) = opening_of(record)
            && account.external_id.is_empty()
            && account.transactions.is_empty()
        {
            account.external_id = clean(own).into_owned();
            account.name.clone_from(&account.external_id);
        }
        account.transactions.push(row);
    }

    /// The trade of an investment record, if its effect on the position is known.
    fn trade(&self, kind: Kind, record: &Record<'_>, on: Date) -> Option<TradeDraft> {
        let name = record.security.filter(|_| kind == Kind::Investment)?;
        let security = self.symbols.get(name).copied().unwrap_or(name);
        actions::trade(record, clean(security).to_uppercase(), on, self.options.default_currency())
    }

    /// The transaction, and a note if its amount was rounded.
    fn row(
        &self,
        kind: Kind,
        record: &Record<'_>,
    ) -> Result<(TransactionDraft, Option<String>), String> {
        let written = record.date.ok_or("the transaction has no date (D)")?;
        let posted_on = date(written, self.order, self.options).ok_or_else(|| {
            let shape = match self.order {
                DateOrder::DayFirst => "31/01/2024",
                DateOrder::MonthFirst => "01/31/2024",
            };
            format!("the date {} is no day such as {shape}", quote(written))
        })?;
        let written = record.amount.or(record.precise_amount);
        let currency = self.options.default_currency();
        if kind == Kind::Investment {
            let (amount, description) = actions::cash_row(record, written, currency)?;
            return Ok((draft(posted_on, amount, description), None));
        }
        let written = written.ok_or("the transaction has no amount (T)")?;
        // The other amounts tell whether the mark of 1.234 separates thousands.
        let parsed = match self.marks.is_known() && is_open(written) {
            true => amount(&self.marks.settle(written.into()), Comma::Improper, currency)?,
            false => amount(written, Comma::Grouping, currency)?,
        };
        let note = parsed.is_rounded.then(|| rounding_note(written, parsed.money));
        let draft = draft(posted_on, parsed.money, description(record));
        let category = record.category.filter(|_| !record.is_split).and_then(source_category);
        let category = category.and_then(|it| it.facing(parsed.minor() > 0));
        let category = category.or_else(|| opening_category(record, parsed.minor()));
        Ok((TransactionDraft { category, ..draft }, note))
    }
}

fn draft(posted_on: Date, amount: Money, description: String) -> TransactionDraft {
    TransactionDraft {
        external_id: None,
        pending: false,
        settles: None,
        posted_on,
        authorized_on: None,
        amount,
        description,
        counterparty: None,
        counterparty_logo_url: None,
        category: None,
    }
}

/// The description: payee and memo, else the other account, the check number, or the category.
fn description(record: &Record<'_>) -> String {
    let transfer = record.category.and_then(other_account).map(|it| format!("Transfer [{it}]"));
    let payee = record.payee.or(transfer.as_deref());
    match (payee, record.memo) {
        (Some(payee), Some(memo)) => joined(&clean(payee), &clean(memo)),
        (Some(words), None) | (None, Some(words)) => clean(words).into_owned(),
        (None, None) => match (record.number, record.category) {
            (Some(number), _) if number.bytes().all(|it| it.is_ascii_digit()) => {
                format!("Check {number}")
            }
            (Some(words), _) | (None, Some(words)) => clean(words).into_owned(),
            (None, None) => String::new(),
        },
    }
}

/// The meaning of a category such as `Auto:Fuel`, or `Food/Class` with a class behind it. Another account is none.
fn source_category(text: &str) -> Option<SourceCategory> {
    if other_account(text).is_some() {
        return None;
    }
    let without_class = text.split_once('/').map_or(text, |it| it.0);
    source_category::of_words(without_class).or_else(|| source_category::of_words(text))
}

/// The account that a category such as `[Savings]/Class` names.
fn other_account(category: &str) -> Option<&str> {
    category.strip_prefix('[')?.split_once(']').map(|it| it.0.trim())
}

/// An opening balance is no income and no spending.
fn opening_category(record: &Record<'_>, minor: i64) -> Option<Category> {
    opening_of(record)?;
    let code = if minor < 0 { "TRANSFER_OUT" } else { "TRANSFER_IN" };
    Category::parse(&format!("{code}_ACCOUNT_TRANSFER"))
}

fn opening_of<'a>(record: &Record<'a>) -> Option<&'a str> {
    let is_opening = record.payee.is_some_and(|it| it.eq_ignore_ascii_case("Opening Balance"));
    record.category.filter(|_| is_opening).and_then(other_account)
}

fn account(name: &str, kind: Kind, currency: Currency) -> AccountDraft {
    let (kind, subtype, words) = match kind {
        Kind::Bank => (AccountKind::Depository, Some("checking"), "Bank account"),
        Kind::Cash => (AccountKind::Depository, None, "Cash"),
        Kind::Card => (AccountKind::Credit, Some("credit card"), "Credit card"),
        Kind::Asset => (AccountKind::Other, None, "Asset"),
        Kind::Liability => (AccountKind::Loan, None, "Loan"),
        Kind::Investment => (AccountKind::Investment, Some("brokerage"), "Brokerage"),
    };
    AccountDraft {
        subtype: subtype.map(str::to_owned),
        ..AccountDraft::new(
            clean(name).into_owned(),
            if name.is_empty() { words.to_owned() } else { clean(name).into_owned() },
            kind,
            currency,
        )
    }
}
