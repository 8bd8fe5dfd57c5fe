//! Turns each row of a table into an entry, or a reason why it is rejected.

use std::borrow::Cow;

use base::{Currency, Date};

use super::cells::{Cells, cell, quote};
use super::dialect::tidy;
use super::reader::Reader;
use super::row_money::{RowMoney, Sign};
use super::stated_totals::SumColumns;
use super::trades::RowTrade;
use super::words::has_words;
use crate::files::source_category::{self, SourceCategory};
use crate::files::table_amount::{self, Direction};
use crate::files::{DateOrder, dates};

/// The values of a row, before it is known which sign the file gives to charges.
pub(super) struct Entry<'c> {
    pub(super) posted_on: Date,
    pub(super) authorized_on: Option<Date>,
    pub(super) is_pending: bool,
    pub(super) currency: Currency,
    pub(super) minor: i64,
    pub(super) sign: Sign,
    /// Whether the amount is written with a plus.
    pub(super) has_plus: bool,
    /// What the person should know about the amount.
    pub(super) note: Option<String>,
    pub(super) fee_minor: i64,
    pub(super) balance_minor: Option<i64>,
    pub(super) account: &'c str,
    pub(super) account_name: Cow<'c, str>,
    pub(super) account_type: &'c str,
    pub(super) card: &'c str,
    pub(super) id: Option<String>,
    pub(super) description: String,
    pub(super) counterparty: Option<String>,
    pub(super) logo: Option<String>,
    pub(super) category: Option<SourceCategory>,
    pub(super) trade: Option<RowTrade>,
}

/// Why a row is no transaction.
pub(super) struct RowRejection {
    pub(super) reason: String,
    pub(super) kind: RejectedKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RejectedKind {
    /// A transaction that cannot be read.
    Row,
    /// A row with an amount and without a date, which may state a total.
    Undated,
    /// A row with neither a date nor an amount; such rows at the end are the footer of the file.
    Footer,
    /// A row that only states a balance.
    Balance,
}

/// More categories are not remembered, so that a hostile file does not fill the memory.
const CATEGORIES_MAX: usize = 1_000;

/// Descriptions of rows that state a balance and not a transaction.
const BALANCE_ROWS: [&str; 16] = [
    "anfangssaldo",
    "balance b/f",
    "balance brought forward",
    "balance c/f",
    "balance carried forward",
    "endsaldo",
    "saldo anterior",
    "saldo do dia",
    "saldo final",
    "saldo inicial",
    "solde",
    "beginning balance",
    "opening balance",
    "starting balance",
    "ending balance",
    "closing balance",
];

/// Types of rows in which a person asked another for money, who then paid it.
const REQUESTS: [&str; 2] = ["charge", "request"];

impl Reader<'_> {
    /// Passes the row's content to `add`: nothing, one entry, or two for an exchange.
    pub(super) fn row<'c>(
        &self,
        cells: Cells<'c>,
        mut add: impl FnMut(Entry<'c>) -> Result<(), String>,
    ) -> Result<(), RowRejection> {
        let clear = |reason| RowRejection { reason, kind: RejectedKind::Row };
        if self.width.is_some_and(|it| cells.iter().skip(it).any(|it| !tidy(it).is_empty())) {
            let (found, expected) = (cells.len(), self.width.unwrap_or(0));
            let reason = format!("The row has {found} cells, and there are {expected} columns.");
            return Err(self.rejection(cells, reason));
        }
        if self.has_status(cells, &self.mapping.ignored_words) {
            return Ok(());
        }
        if self.is_balance_row(cells) {
            return Err(RowRejection { reason: String::new(), kind: RejectedKind::Balance });
        }
        let (posted_on, authorized_on, is_booked) =
            self.dates(cells).map_err(|reason| self.rejection(cells, reason))?;
        let is_pending = !is_booked || self.has_status(cells, &self.mapping.pending_words);
        let [first, second] = self.directions(cells).map_err(clear)?;
        let dates = (posted_on, authorized_on);
        let entry = |direction| self.entry(cells, dates, direction).map_err(clear);
        let mut add = |entry| add(Entry { is_pending, ..entry }).map_err(clear);
        match (first, second) {
            // Both sides of an exchange are read before one is added.
            (Some(first), Some(second)) => {
                let (first, second) = (entry(first)?, entry(second)?);
                add(first)?;
                add(second)
            }
            (Some(only), None) | (None, Some(only)) => add(entry(only)?),
            (None, None) => Ok(()),
        }
    }

    fn rejection(&self, cells: Cells<'_>, reason: String) -> RowRejection {
        let has_amount = self
            .amounts()
            .iter()
            .any(|it| it.is_some() && table_amount::looks_like(cell(cells, *it)));
        let is_dated = [self.date, self.authorized]
            .iter()
            .any(|it| it.is_some() && dates::looks_like(cell(cells, *it), self.today));
        let kind = match (has_amount, is_dated) {
            (_, true) => RejectedKind::Row,
            (true, false) => RejectedKind::Undated,
            (false, false) => RejectedKind::Footer,
        };
        RowRejection { reason, kind }
    }

    /// The columns of money that moved.
    fn amounts(&self) -> [Option<usize>; 4] {
        [self.amount, self.other_amount.map(|it| it.0), self.debit, self.credit]
    }

    /// The columns that a row of sums is compared with.
    pub(super) fn sum_columns(&self) -> SumColumns {
        SumColumns { amount: self.amount, debit: self.debit, credit: self.credit }
    }

    /// The text of a row that only continues the description of the row above it.
    pub(super) fn continuation<'c>(&self, cells: Cells<'c>) -> Option<Cow<'c, str>> {
        let mapped = [self.date, self.authorized, self.balance];
        let is_empty = mapped.iter().chain(&self.amounts()).all(|it| cell(cells, *it).is_empty());
        let text = cell(cells, Some(*self.description.first()?));
        (is_empty && !text.is_empty()).then_some(Cow::Borrowed(text))
    }

    /// The last column that a row needs to be a transaction.
    pub(super) fn last_needed(&self) -> usize {
        let needed = [self.date, self.direction].into_iter().chain(self.amounts());
        let currencies = self.currencies.iter().copied();
        needed.flatten().chain(currencies).max().unwrap_or(0)
    }

    /// Whether the column has amounts of money.
    pub(super) fn is_money(&self, column: usize) -> bool {
        self.amounts().contains(&Some(column)) || [self.balance, self.fee].contains(&Some(column))
    }

    fn has_status(&self, cells: Cells<'_>, words: &[String]) -> bool {
        !words.is_empty()
            && self.status.iter().any(|column| {
                let status = cell(cells, Some(*column));
                words.iter().any(|it| it.eq_ignore_ascii_case(status))
            })
    }

    /// Whether a row only states a balance: its text says so, or it has no date, text and amount.
    fn is_balance_row(&self, cells: Cells<'_>) -> bool {
        let is_blank = |column: Option<usize>| cell(cells, column).is_empty();
        if !self.amounts().into_iter().all(is_blank) {
            return false;
        }
        let is_dated = !is_blank(self.date) || !is_blank(self.authorized);
        if !is_dated && self.description.iter().all(|it| is_blank(Some(*it))) {
            return true;
        }
        let text = cell(cells, self.description.first().copied()).to_lowercase();
        BALANCE_ROWS.iter().any(|it| text.starts_with(it))
    }

    /// The booking date, the purchase date, and whether the row is booked. A row with only a purchase date is pending,
    /// unless the file has no column for booking dates.
    fn dates(&self, cells: Cells<'_>) -> Result<(Date, Option<Date>, bool), String> {
        let (booked, bought) = (cell(cells, self.date), cell(cells, self.authorized));
        let read = |text: &str| {
            dates::read(text, self.order, self.today).ok_or_else(|| self.no_date(text))
        };
        match (booked.is_empty(), bought.is_empty()) {
            (true, true) => {
                Err(format!("The date is missing; expected one such as {}.", self.sample_date()))
            }
            (true, false) => read(bought).map(|it| (it, Some(it), self.date.is_none())),
            (false, true) => {
                let effective = dates::as_of(booked, self.order, self.today);
                read(booked).map(|it| (it, effective, true))
            }
            (false, false) => Ok((read(booked)?, read(bought).ok(), true)),
        }
    }

    fn no_date(&self, text: &str) -> String {
        format!("{} is no date; expected one such as {}.", quote(text), self.sample_date())
    }

    fn sample_date(&self) -> &'static str {
        match self.order {
            DateOrder::DayFirst => "31/01/2026",
            DateOrder::MonthFirst => "01/31/2026",
        }
    }

    /// The direction of the money, if the file has a column for it. An exchange has both directions.
    fn directions(&self, cells: Cells<'_>) -> Result<[Option<Option<Direction>>; 2], String> {
        let Some(column) = self.direction else { return Ok(self.filled_sides(cells)) };
        let word = cell(cells, Some(column));
        let is_in = |words: &[String]| words.iter().any(|it| it.eq_ignore_ascii_case(word));
        let mapping = self.mapping;
        if is_in(&mapping.both_words) {
            Ok([Some(Some(Direction::Out)), Some(Some(Direction::In))])
        } else if is_in(&mapping.out_words) {
            Ok([Some(Some(Direction::Out)), None])
        } else if is_in(&mapping.in_words) || (mapping.in_words.is_empty() && !word.is_empty()) {
            Ok([Some(Some(Direction::In)), None])
        } else {
            let known = [&mapping.out_words, &mapping.in_words].map(|it| it.first());
            let known = known.into_iter().flatten().map(String::as_str).collect::<Vec<_>>();
            let known = known.join(" or ");
            Err(format!("{} does not say in or out; expected {known}.", quote(word)))
        }
    }

    fn entry<'c>(
        &self,
        cells: Cells<'c>,
        (posted_on, authorized_on): (Date, Option<Date>),
        direction: Option<Direction>,
    ) -> Result<Entry<'c>, String> {
        let currency = self.row_currency(cells, direction)?;
        let RowMoney { minor, sign, has_plus, note } = self.money(cells, direction, currency)?;
        let note = note.or_else(|| self.unread_side_note(cells, direction));
        let fee_minor = match (self.amount, direction) {
            // The amount that arrives is stated after fees.
            (None, Some(Direction::In)) => 0,
            _ => self.optional(cells, self.fee, currency)?.unwrap_or(0),
        };
        let is_out = match (direction, sign) {
            (Some(direction), _) | (None, Sign::Stated(direction)) => direction == Direction::Out,
            (None, _) => minor < 0,
        };
        let counterparty = self.counterparty(cells, is_out);
        let description = match self.description(cells) {
            text if text.is_empty() => counterparty.clone().unwrap_or_default(),
            text => text,
        };
        let id = cell(cells, self.id);
        let id = id.strip_prefix('\'').and_then(|it| it.strip_suffix('\'')).unwrap_or(id);
        Ok(Entry {
            posted_on,
            authorized_on,
            is_pending: false,
            currency,
            minor,
            sign,
            has_plus,
            note,
            fee_minor,
            // An unreadable balance does not invalidate a transaction.
            balance_minor: self.optional(cells, self.balance, currency).ok().flatten(),
            account: cell(cells, self.account).trim_matches(['"', '\'']),
            account_name: self.text(without_guard(cell(cells, self.account_name))),
            account_type: cell(cells, self.account_type),
            card: cell(cells, self.card),
            id: some(id),
            description,
            counterparty,
            logo: some(cell(cells, self.logo)),
            category: self.category(cells),
            trade: self.trades.and_then(|it| it.read(cells, self.mark)),
        })
    }

    /// The source's category by its word, else by the merchant's code.
    fn category(&self, cells: Cells<'_>) -> Option<SourceCategory> {
        let word = || {
            let word = cell(cells, Some(self.category?));
            // A file has few categories, and looking one up takes longer than parsing a row.
            let mut known = self.categories.borrow_mut();
            if let Some(category) = known.get(word) {
                return *category;
            }
            let category = source_category::of_words(word);
            if known.len() < CATEGORIES_MAX {
                known.insert(word.to_owned(), category);
            }
            category
        };
        let code = || source_category::of_merchant_code(cell(cells, Some(self.merchant_code?)));
        word().or_else(code)
    }

    /// The description columns joined, without repeats.
    fn description(&self, cells: Cells<'_>) -> String {
        let mut joined = String::new();
        let mut seen: [&str; 4] = [""; 4];
        for (index, column) in self.description.iter().enumerate() {
            let text = without_guard(cell(cells, Some(*column)));
            // Some brokers write the symbol into the action, and some banks the counterparty into the reference.
            let may_repeat = self.trades.is_some() || self.counterparty.contains(column);
            let is_said = || may_repeat && has_words(&joined, text);
            if text.is_empty() || text == "--" || seen.contains(&text) || is_said() {
                continue;
            }
            seen[index % seen.len()] = text;
            if !joined.is_empty() {
                joined.push(' ');
            }
            joined.push_str(&self.text(text));
        }
        joined
    }

    /// The counterparty. With two columns, the first is the payee and the second the payer.
    fn counterparty(&self, cells: Cells<'_>, is_out: bool) -> Option<String> {
        // In a request, the first column names the person who asks for money, and the second the one who pays.
        let is_asked = self.requests.is_some()
            && REQUESTS.iter().any(|it| it.eq_ignore_ascii_case(cell(cells, self.requests)));
        let is_out = is_out != is_asked;
        let column = match self.counterparty.as_slice() {
            [_, payer, ..] if !is_out => Some(*payer),
            columns => columns.first().copied(),
        };
        some(&self.text(cell(cells, column)))
    }

    /// The text without the apostrophe that keeps spreadsheets from evaluating it.
    fn text<'c>(&self, text: &'c str) -> Cow<'c, str> {
        if !self.mapping.formulas_are_marked {
            return Cow::Borrowed(text);
        }
        Cow::Borrowed(base::csv::strip_guard(text).map_or(text, tidy))
    }
}

/// The text without the apostrophe with which some banks begin all texts, so that spreadsheets do not change them.
fn without_guard(text: &str) -> &str {
    text.strip_prefix('\'').filter(|it| !it.contains('\'')).unwrap_or(text)
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
