//! The totals that a table states above or below its rows, such as opening and closing balances and the sums of money in
//! and out, compared with its rows. The closing balance becomes that of the account.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base::draft::{AccountKind, BalanceDraft, TransactionDraft};
use base::{Currency, Date, Money};

use super::dialect::tidy;
use super::words::plain;
use crate::files::limits::head;
use crate::files::table_amount::{self, DecimalMark, Direction};
use crate::files::{DateOrder, FileAccount, NoteKind, Notes, dates};
use crate::plausibility::is_implausible_amount;

/// What a total is the total of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Total {
    Opening,
    Closing,
    In,
    Out,
    /// Money in less money out.
    Net,
}

/// The words with which the label of a total begins, in small letters without accents.
const LABELS: &[(Total, &[&str])] = &[
    (
        Total::Opening,
        &[
            "alter kontostand",
            "alter saldo",
            "ancien solde",
            "anfangssaldo",
            "balance b f",
            "balance brought forward",
            "beginning balance",
            "beginsaldo",
            "initial balance",
            "ingaende saldo",
            "kontostand alt",
            "old balance",
            "opening bal",
            "opening balance",
            "previous balance",
            "saldo alt",
            "saldo anterior",
            "saldo inicial",
            "saldo iniziale",
            "saldo początkowe",
            "solde d ouverture",
            "solde initial",
            "solde precedent",
            "start balance",
            "starting balance",
        ],
    ),
    (
        Total::Closing,
        &[
            "balance c f",
            "balance carried forward",
            "closing bal",
            "closing balance",
            "eindsaldo",
            "end balance",
            "ending balance",
            "endsaldo",
            "final balance",
            "kontostand neu",
            "ledger balance",
            "neuer kontostand",
            "neuer saldo",
            "new balance",
            "nouveau solde",
            "saldo final",
            "saldo finale",
            "saldo końcowe",
            "saldo neu",
            "schlusssaldo",
            "solde de cloture",
            "solde final",
            "utgaende saldo",
        ],
    ),
    (
        Total::In,
        &[
            "credits total",
            "summe der gutschriften",
            "summe gutschriften",
            "summe haben",
            "total abonos",
            "total credit",
            "total creditos",
            "total credits",
            "total deposits",
            "total entradas",
            "total money in",
            "total paid in",
            "totale accrediti",
            "totale avere",
            "totale entrate",
        ],
    ),
    (
        Total::Out,
        &[
            "debits total",
            "summe belastungen",
            "summe der lastschriften",
            "summe soll",
            "total cargos",
            "total debit",
            "total debitos",
            "total debits",
            "total money out",
            "total paid out",
            "total saidas",
            "total withdrawals",
            "totale addebiti",
            "totale dare",
            "totale uscite",
        ],
    ),
];

/// Labels that are understood only beside an opening or closing balance.
const SHORT_LABELS: &[(Total, &[&str])] =
    &[(Total::In, &["credits", "deposits"]), (Total::Out, &["debits", "withdrawals"])];

/// Labels of a row that has its sums below the columns of the table.
const SUM_LABELS: &[&str] = &[
    "gesamt",
    "gesamtsumme",
    "grand total",
    "sum",
    "suma",
    "summa",
    "summe",
    "sums",
    "totaal",
    "total",
    "total general",
    "totale",
    "totals",
    "totaux",
    "transactions total",
];

/// Longer text is no label.
const LABEL_BYTES: usize = 80;

/// A total as it is written.
#[derive(Debug, PartialEq, Eq)]
struct StatedTotal {
    line: usize,
    text: String,
    is_negative: bool,
    /// The label beside it, which may name its day.
    label: String,
}

#[derive(Default)]
pub(super) struct StatedTotals {
    /// None if the file states several amounts for a total.
    totals: BTreeMap<Total, Option<StatedTotal>>,
    /// The totals in the columns of the record above, which has labels and no amounts.
    header: Vec<(usize, Total)>,
    /// The totals in columns of the table itself, and whether the column has running balances, so that it states a total
    /// only in a row of its own.
    columns: Vec<(usize, Total, bool)>,
}

/// The columns of a table that a row of sums is compared with.
#[derive(Debug, Clone, Copy)]
pub(super) struct SumColumns {
    pub(super) amount: Option<usize>,
    pub(super) debit: Option<usize>,
    pub(super) credit: Option<usize>,
}

impl StatedTotals {
    /// Remembers the columns of the table that have totals, such as "Ending balance".
    pub(super) fn find_columns(&mut self, titles: &[String], balance: Option<usize>) {
        let totals = titles.iter().enumerate().filter_map(|(column, title)| {
            let found = label(title).filter(|it| matches!(it, Total::Opening | Total::Closing));
            found.map(|it| (column, it, balance == Some(column)))
        });
        self.columns = totals.collect();
    }

    /// Keeps the totals in the columns of a row of the table. Tells whether it has any.
    pub(super) fn add_columns(
        &mut self,
        line: usize,
        cells: &[Cow<'_, str>],
        is_transaction: bool,
    ) -> bool {
        let mut has_total = false;
        for index in 0..self.columns.len() {
            let (column, total, is_running) = self.columns[index];
            if !(is_transaction && is_running) {
                let text = cells.get(column).map_or("", |it| tidy(it));
                has_total |= self.set(total, line, (text, ""), false);
            }
        }
        has_total
    }

    /// Keeps the totals of a record above or below the rows. Tells whether it has any.
    pub(super) fn add<T: AsRef<str>>(&mut self, line: usize, cells: &[T]) -> bool {
        let cells: Vec<&str> = cells.iter().map(|it| tidy(it.as_ref())).collect();
        let below = std::mem::take(&mut self.header);
        let mut has_total = false;
        for (column, total) in below {
            let text = cells.get(column).copied().unwrap_or_default();
            has_total |= self.set(total, line, (text, ""), false);
        }
        let labels: Vec<(usize, Total)> = cells
            .iter()
            .enumerate()
            .filter_map(|(column, cell)| label(cell).map(|it| (column, it)))
            .collect();
        if labels.is_empty() || has_total {
            return has_total;
        }
        let has_amount = cells.iter().any(|it| table_amount::looks_like(it));
        if labels.len() > 1 && !has_amount {
            let short = |(column, cell): (usize, &&str)| short_label(cell).map(|it| (column, it));
            self.header = labels;
            self.header.extend(cells.iter().enumerate().filter_map(short));
            return true;
        }
        for (at, (column, total)) in labels.iter().enumerate() {
            let end = labels.get(at + 1).map_or(cells.len(), |it| it.0);
            let behind = &cells[column + 1..end];
            let found = behind.iter().position(|it| table_amount::looks_like(it));
            let inside = cells[*column].rsplit_once(':').map_or("", |(_, it)| it.trim());
            has_total |= match found {
                Some(found) => {
                    let is_negative = behind.get(found + 1).is_some_and(|it| is_debit(it));
                    self.set(*total, line, (behind[found], cells[*column]), is_negative)
                }
                None => self.set(*total, line, (inside, cells[*column]), false),
            };
        }
        has_total
    }

    /// Keeps the sums of a row that has them below the columns of the table. Tells whether it is such a row.
    pub(super) fn add_sums(
        &mut self,
        line: usize,
        cells: &[Cow<'_, str>],
        columns: SumColumns,
    ) -> bool {
        let is_label = |it: &Cow<'_, str>| {
            let text = tidy(it);
            text.len() <= LABEL_BYTES && SUM_LABELS.contains(&plain(text).trim())
        };
        if !cells.iter().any(is_label) {
            return false;
        }
        let SumColumns { amount, debit, credit } = columns;
        let mut has_total = false;
        for (total, column) in [(Total::Net, amount), (Total::Out, debit), (Total::In, credit)] {
            let text = column.and_then(|it| cells.get(it)).map_or("", |it| tidy(it));
            has_total |= self.set(total, line, (text, ""), false);
        }
        has_total
    }

    fn set(
        &mut self,
        total: Total,
        line: usize,
        (text, label): (&str, &str),
        is_negative: bool,
    ) -> bool {
        if !table_amount::looks_like(text) {
            return false;
        }
        let is_other = |it: &StatedTotal| it.text != text || it.is_negative != is_negative;
        match self.totals.get_mut(&total) {
            Some(known) if known.as_ref().is_some_and(is_other) => *known = None,
            Some(_) => {}
            None => {
                let (text, label) = (text.to_owned(), head(label, LABEL_BYTES).to_owned());
                self.totals.insert(total, Some(StatedTotal { line, text, is_negative, label }));
            }
        }
        true
    }

    /// Warns if the totals contradict the rows of the only account, and else gives it the closing balance. Totals of
    /// several accounts cannot be told apart.
    pub(super) fn compare(
        &self,
        accounts: &mut [FileAccount],
        (order, mark): (DateOrder, DecimalMark),
        today: Date,
        notes: &mut Notes,
    ) {
        let [account] = accounts else { return };
        let currency = account.draft.currency;
        let sums = Sums::of(&account.draft.transactions);
        let read = |total: Total| self.read(total, mark, currency);
        let is_debt = account.draft.kind.is_debt();
        let stated = [(Total::In, sums.into, "money in"), (Total::Out, sums.out, "money out")];
        for (total, sum, name) in stated {
            if let Some((minor, line)) = read(total)
                && i128::from(minor).abs() != sum
            {
                warn(notes, line, name, (minor.saturating_abs(), sum), currency);
            }
        }
        if let Some((minor, line)) = read(Total::Net)
            && i128::from(minor).abs() != (sums.into - sums.out).abs()
        {
            warn(notes, line, "all rows", (minor, sums.into - sums.out), currency);
        }
        let Some((closing, line)) = read(Total::Closing) else { return };
        let Some((opening, _)) = read(Total::Opening) else {
            // Without an opening balance, nothing tells whether a positive balance of a card is owed.
            if account.draft.kind == AccountKind::Depository {
                self.set_balance(account, closing, (order, today));
            }
            return;
        };
        let (change, sum) = (i128::from(closing) - i128::from(opening), sums.into - sums.out);
        if !is_debt {
            account.stated_change_minor = i64::try_from(change).ok();
        }
        if change != sum && !(is_debt && change == -sum) {
            let [opening, closing] = [opening, closing].map(|it| Money::new(it, currency));
            let text = format!(
                "The balances that the file states do not follow from its rows: it opens with {opening}, its rows come \
                 to {}, and it closes with {closing}. Rows may be missing or wrong.",
                money(sum, currency)
            );
            notes.warn(NoteKind::Unbalanced, line, text);
        } else if !is_debt || change == -sum {
            self.set_balance(account, closing, (order, today));
        } else {
            self.set_balance(account, closing.saturating_neg(), (order, today));
        }
    }

    /// Sets the balance of an account whose rows have none: on the day that the label names, else on that of the last row.
    fn set_balance(
        &self,
        account: &mut FileAccount,
        minor: i64,
        (order, today): (DateOrder, Date),
    ) {
        let draft = &mut account.draft;
        let stated = self.totals.get(&Total::Closing).and_then(Option::as_ref);
        let words = stated.iter().flat_map(|it| it.label.split([' ', ':', '(', ')']));
        let named = words.filter(|it| it.len() > 7).find_map(|it| dates::read(it, order, today));
        let booked = draft.transactions.iter().filter(|it| !it.pending);
        let last = booked.map(|it| it.posted_on).max();
        let on = named.filter(|it| *it <= today).or(last);
        if draft.balance.is_none()
            && !is_implausible_amount(minor)
            && let Some(as_of) = on.and_then(dates::midday)
        {
            let (available_minor, limit_minor) = (None, None);
            let balance =
                BalanceDraft { as_of, current_minor: minor, available_minor, limit_minor };
            draft.balance = Some(balance);
        }
    }

    fn read(&self, total: Total, mark: DecimalMark, currency: Currency) -> Option<(i64, usize)> {
        let stated = self.totals.get(&total)?.as_ref()?;
        let written = table_amount::read(&stated.text, mark, currency).ok()?;
        let is_out = stated.is_negative || written.direction == Some(Direction::Out);
        Some((if is_out { -written.minor.saturating_abs() } else { written.minor }, stated.line))
    }
}

fn warn(
    notes: &mut Notes,
    line: usize,
    name: &str,
    (stated, sum): (i64, i128),
    currency: Currency,
) {
    let text = format!(
        "The file states a total of {} for {name}, but its rows come to {}. Rows may be missing or wrong.",
        Money::new(stated, currency),
        money(sum, currency)
    );
    notes.warn(NoteKind::Unbalanced, line, text);
}

fn money(minor: i128, currency: Currency) -> String {
    match i64::try_from(minor) {
        Ok(minor) => Money::new(minor, currency).to_string(),
        Err(_) => "more than can be counted".to_owned(),
    }
}

/// The sums of money in and of money out.
struct Sums {
    into: i128,
    out: i128,
}

impl Sums {
    fn of(rows: &[TransactionDraft]) -> Sums {
        let mut sums = Sums { into: 0, out: 0 };
        for minor in rows.iter().filter(|it| !it.pending).map(|it| i128::from(it.amount.minor())) {
            sums.into += minor.max(0);
            sums.out += (-minor).max(0);
        }
        sums
    }
}

/// The total that a label names.
fn label(cell: &str) -> Option<Total> {
    if !cell.starts_with(|it: char| it.is_alphabetic() || it == '#') {
        return None;
    }
    let text = plain(head(cell, LABEL_BYTES));
    let text = text.trim_start();
    let is_begun = |it: &&str| text.strip_prefix(*it).is_some_and(|rest| rest.starts_with(' '));
    LABELS.iter().find(|(_, labels)| labels.iter().any(is_begun)).map(|it| it.0)
}

fn short_label(cell: &str) -> Option<Total> {
    let text = plain(head(cell, LABEL_BYTES));
    SHORT_LABELS.iter().find(|(_, labels)| labels.contains(&text.trim())).map(|it| it.0)
}

/// Whether a cell beside an amount says that it is owed.
fn is_debit(cell: &str) -> bool {
    ["s", "soll", "d", "dr", "debit"].contains(&cell.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use crate::files::fixtures;

    /// The balance in cents and its day.
    fn balance(table: &str) -> Option<(i64, String)> {
        let read = crate::files::read(table.as_bytes(), &fixtures::options()).unwrap();
        let balance = read.accounts[0].draft.balance?;
        Some((balance.current_minor, balance.as_of.to_string()[..10].to_owned()))
    }

    #[test]
    fn the_closing_balance_is_that_of_the_account() {
        let rows = "Date,Description,Amount\n2026-03-22,ATM WITHDRAWAL,-20.00\n2026-03-23,DIRECT DEP,50.00\n";
        let on = |minor: i64, day: &str| Some((minor, day.to_owned()));
        let checking = |above: &str| balance(&format!("My checking account\n{above}{rows}"));
        assert_eq!(checking("Closing balance,80.00\n"), on(8_000, "2026-03-23"));
        assert_eq!(checking("Ledger Balance as of 2026-03-31,80.00\n"), on(8_000, "2026-03-31"));
        let both = "Opening balance,50.00\nClosing balance,80.00\n";
        assert_eq!(checking(both), on(8_000, "2026-03-23"));
        assert_eq!(checking("Opening balance,50.00\nClosing balance,99.00\n"), None);
        assert_eq!(checking("Closing balance,80.00\nClosing balance,99.00\n"), None);
        assert_eq!(checking("Available balance,80.00\n"), None);
    }

    #[test]
    fn the_closing_balance_of_a_card_counts_if_the_opening_balance_tells_its_sign() {
        let rows = "Date,Description,Amount\n2026-03-22,HARBOR BOOKS,-20.00\n2026-03-23,PAYMENT THANK YOU,50.00\n";
        let card = |above: &str| balance(&format!("My credit card\n{above}{rows}")).map(|it| it.0);
        assert_eq!(card("Opening balance,50.00\nClosing balance,20.00\n"), Some(2_000));
        assert_eq!(card("Opening balance,-50.00\nClosing balance,-20.00\n"), Some(2_000));
        assert_eq!(card("Closing balance,20.00\n"), None);
    }
}
