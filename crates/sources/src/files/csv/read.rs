//! Reads a whole table with a mapping: first the properties of all rows together, then each row.

use std::borrow::Cow;

use base::Currency;

use super::account_number;
use super::accounts::{TableAccounts, TableFacts};
use super::currency_evidence::{CurrencyEvidence, TableTexts};
use super::detect;
use super::dialect::{Records, check_size, tidy};
use super::ending::{CUT, Ending, Footer};
use super::kinds::{self, KindOfAccount};
use super::mapping::{Column, Field, Layout, Mapping};
use super::reader::Reader;
use super::row_money::currency_of_iban;
use super::rows::{RejectedKind, RowRejection};
use super::sample;
use super::stated_totals::{StatedTotals, SumColumns};
use super::titles;
use super::trades::TradeColumns;
use crate::files::dates::DateOrderCounts;
use crate::files::limits::head;
use crate::files::table_amount::{self, DecimalMark, DecimalMarkCounts};
use crate::files::{
    DateOrder, FileAccount, FileContents, FileError, FileQuestion, Format, ParseOptions, Rejections,
};

pub(super) fn read(
    text: &str,
    mapping: &Mapping,
    options: &ParseOptions,
) -> Result<FileContents, FileError> {
    let broken = |reason| FileError::Broken { format: Format::Csv, reason };
    check_size(text, mapping.delimiter)?;
    let (_, titles) = begin(text, mapping);
    let layout = mapping.layout(&titles).map_err(broken)?;
    let evidence = ColumnEvidence::of(text, mapping, &layout, options)?;
    let mark = mapping.decimal_mark.unwrap_or_else(|| evidence.marks.mark());
    let (order, question) = evidence.order(mapping, options, mark);
    let reversals = evidence.has_reversals();
    let above = rows_above(text, mapping);
    let number = account_number::find_above(&above, options.today);
    let mut reader = Reader::new(mapping, &layout, options, (order, mark), reversals, titles.len());
    reader.trades = mapping.has_header.then(|| TradeColumns::find(&titles)).flatten();
    reader.requests = titles::requests(&titles);
    reader.other_amount = layout.one(Field::OtherAmount).map(|column| {
        let named = titles.get(column).and_then(|it| titles::currency(it));
        (column, named.and_then(|it| Currency::parse(it).ok()).unwrap_or(reader.currency))
    });
    // A single amount in another currency is rejected, a column of them is read.
    reader.currency_is_named &= evidence.named >= evidence.unnamed;
    let by_number = number.as_deref().filter(|_| options.chosen_currency.is_none());
    let by_number = by_number.and_then(currency_of_iban).map(CurrencyEvidence::Named);
    let found = by_number
        .unwrap_or_else(|| currency_evidence(text, (mapping, &layout, &titles), &above, options));
    reader.settle_currency(found);
    let mut totals = StatedTotals::default();
    for row in &above {
        totals.add(row.line, &row.cells);
    }
    if mapping.has_header {
        totals.find_columns(&titles, layout.one(Field::Balance));
    }
    let (ledger, mut rejected) = read_rows(text, mapping, &reader, options, &mut totals)?;
    let kind = kind_above(&above);
    let by_titles = || mapping.has_header.then(|| kinds::of_titles(&titles)).flatten();
    let facts = TableFacts { mapping, options, number, kind: kind.or_else(by_titles) };
    let (mut accounts, open, mut notes) = ledger.finish(&facts, &mut rejected);
    totals.compare(&mut accounts, (order, mark), options.today, &mut notes);
    let is_named = evidence.named > 0 && evidence.unnamed == 0;
    let is_assumed = !is_named && assumes_currency(&reader, found, &accounts);
    if is_assumed && !is_sure(&reader, found) {
        notes.assume_currency(reader.currency, found.reason());
    }
    notes.sort();
    // Rows rejected after all rows were read belong in line order as well.
    rejected.rows.sort_by_key(|it| it.line);
    let questions = question.into_iter().chain(open).collect();
    let assumed_currency = is_assumed.then_some(reader.currency);
    Ok(FileContents { format: Format::Csv, accounts, rejected, notes, questions, assumed_currency })
}

/// The records below the titles, and the titles. Columns without titles are numbered.
fn begin<'a>(text: &'a str, mapping: &Mapping) -> (Records<'a>, Vec<String>) {
    let mut records = Records::new(text, mapping.delimiter);
    records.skip_lines(mapping.skip_lines);
    if mapping.has_header {
        let mut cells = Vec::new();
        records.next(&mut cells);
        // Titles are cut to the same length as in a sample, so that a mapping names them alike.
        let title = |it: &Cow<'_, str>| head(tidy(it), sample::CELL_CHARS).to_owned();
        let mut titles: Vec<String> = cells.iter().map(title).collect();
        // A trailing delimiter in the title row does not begin a column, unless the mapping names it.
        let named = |number: usize| {
            mapping.columns.values().flatten().any(|it| *it == Column::Number(number))
        };
        while titles.last().is_some_and(String::is_empty) && !named(titles.len()) {
            titles.pop();
        }
        return (records, titles);
    }
    let rows = sample::rows(text, mapping.delimiter, mapping.skip_lines);
    let width = rows.iter().map(|it| it.cells.len()).max().unwrap_or(0);
    (records, (1..=width).map(|it| format!("Column {it}")).collect())
}

/// What the file says about its currency besides its amounts and account numbers.
fn currency_evidence(
    text: &str,
    (mapping, layout, titles): (&Mapping, &Layout, &[String]),
    above: &[sample::Row],
    options: &ParseOptions,
) -> CurrencyEvidence {
    let mut rows = sample::rows(text, mapping.delimiter, mapping.skip_lines);
    if mapping.has_header && !rows.is_empty() {
        rows.remove(0);
    }
    let amounts = [Field::Amount, Field::Debit, Field::Credit];
    let amounts: Vec<usize> = amounts.iter().filter_map(|it| layout.one(*it)).collect();
    let texts = TableTexts {
        amounts: &amounts,
        above,
        titles: if mapping.has_header { titles } else { &[] },
        rows: &rows,
        balance: layout.one(Field::Balance),
        account: layout.one(Field::Account),
        descriptions: layout.all(Field::Description),
    };
    texts.evidence(options.currency)
}

/// Whether the currency of an account was assumed, because the file does not name it.
fn assumes_currency(
    reader: &Reader<'_>,
    found: CurrencyEvidence,
    accounts: &[FileAccount],
) -> bool {
    // The layout of a file without titles does not tell for sure from which bank it is.
    let is_open = reader.currency_is_open || !reader.mapping.has_header;
    let is_of_iban = |it: &FileAccount| {
        !reader.currency_is_chosen && currency_of_iban(&it.draft.external_id).is_some()
    };
    let is_read = |it: &FileAccount| it.draft.currency == reader.currency && !is_of_iban(it);
    is_open
        && !matches!(found, CurrencyEvidence::Named(_))
        && reader.currencies.is_empty()
        && accounts.iter().any(is_read)
}

/// Whether an assumed currency needs no note: the person chose it, or the file suggests the person's own.
fn is_sure(reader: &Reader<'_>, found: CurrencyEvidence) -> bool {
    let suggests_own =
        matches!(found, CurrencyEvidence::Suggested(it, _) if it == reader.own_currency);
    reader.currency_is_chosen || suggests_own
}

/// Rejects a file with too many rows.
fn check_rows(count: usize, options: &ParseOptions) -> Result<(), FileError> {
    let most = options.limits.rows;
    if count > most { Err(FileError::TooManyRows { most }) } else { Ok(()) }
}

fn read_rows<'m>(
    text: &str,
    mapping: &Mapping,
    reader: &Reader<'m>,
    options: &ParseOptions,
    totals: &mut StatedTotals,
) -> Result<(TableAccounts, Rejections), FileError> {
    let (mut records, titles) = begin(text, mapping);
    let (mut ledger, mut rejected) = (TableAccounts::default(), Rejections::default());
    let mut cells = Vec::new();
    let mut footer = Footer::default();
    let mut ending = Ending::of(text);
    let (mut count, mut last) = (0, mapping.skip_lines + 1);
    while let Some(line) = records.next(&mut cells) {
        count += 1;
        last = line;
        check_rows(count, options)?;
        let place = ledger.last_row();
        let rejection = match records.is_at_end() && ending.is_cut(&cells, reader) {
            true => Some(RowRejection { reason: CUT.to_owned(), kind: RejectedKind::Row }),
            false => reader.row(&cells, |entry| ledger.add(line, entry)).err(),
        };
        ending.count(&cells, reader);
        let kind = rejection.as_ref().map(|it| it.kind);
        // The titles repeat where files were concatenated.
        let is_titles = kind == Some(RejectedKind::Footer) && is_same(&cells, &titles);
        if is_titles || states_total(totals, line, &cells, (kind, reader.sum_columns())) {
            continue;
        }
        match rejection {
            Some(RowRejection { kind: RejectedKind::Balance, .. }) => {}
            Some(RowRejection { kind: RejectedKind::Footer, reason }) => {
                let text = place.zip(reader.continuation(&cells));
                footer.add(line, reason, text.map(|(at, it)| (at, it.into_owned())));
            }
            rejection => {
                footer.flush(&mut ledger, &mut rejected);
                rejection.into_iter().for_each(|it| rejected.add(line, it.reason));
            }
        }
    }
    footer.finish(&mut ledger);
    ending.warn(last, records.has_unclosed_quote(), &mut ledger.notes);
    Ok((ledger, rejected))
}

/// Keeps the totals of a row that is no transaction. Tells whether it has any.
fn states_total(
    totals: &mut StatedTotals,
    line: usize,
    cells: &[Cow<'_, str>],
    (kind, columns): (Option<RejectedKind>, SumColumns),
) -> bool {
    match kind {
        Some(RejectedKind::Undated) => {
            totals.add_sums(line, cells, columns) || totals.add(line, cells)
        }
        Some(RejectedKind::Footer) => totals.add(line, cells),
        Some(RejectedKind::Balance) => {
            totals.add(line, cells) || totals.add_columns(line, cells, false)
        }
        Some(RejectedKind::Row) => false,
        None => {
            totals.add_columns(line, cells, true);
            false
        }
    }
}

fn is_same(cells: &[Cow<'_, str>], titles: &[String]) -> bool {
    let filled = |it: &&str| !it.is_empty();
    cells
        .iter()
        .map(|it| tidy(it))
        .filter(filled)
        .eq(titles.iter().map(String::as_str).filter(filled))
}

/// Evidence from the date and amount columns, for what the mapping leaves open.
#[derive(Default)]
struct ColumnEvidence {
    orders: DateOrderCounts,
    marks: DecimalMarkCounts,
    /// Amounts that name a currency, and those that do not.
    named: usize,
    unnamed: usize,
    /// Amounts without and with a minus, in the columns for money out and for money in.
    signs: [[usize; 2]; 2],
}

impl ColumnEvidence {
    fn of(
        text: &str,
        mapping: &Mapping,
        layout: &Layout,
        options: &ParseOptions,
    ) -> Result<ColumnEvidence, FileError> {
        let mut evidence = ColumnEvidence::default();
        if mapping.date_order.is_some() && mapping.decimal_mark.is_some() {
            return Ok(evidence);
        }
        let all = |fields: &[Field]| -> Vec<usize> {
            fields.iter().flat_map(|it| layout.all(*it)).copied().collect()
        };
        let dates = all(&[Field::Date, Field::Authorized]);
        let amounts = all(&[
            Field::Amount,
            Field::OtherAmount,
            Field::Debit,
            Field::Credit,
            Field::Fee,
            Field::Balance,
        ]);
        let sides = [layout.one(Field::Debit), layout.one(Field::Credit)];
        let (mut records, _) = begin(text, mapping);
        let (mut cells, mut count) = (Vec::new(), 0);
        while records.next(&mut cells).is_some() {
            count += 1;
            check_rows(count, options)?;
            let cell_text = |column: &usize| cells.get(*column).map(|it| tidy(it));
            dates.iter().filter_map(cell_text).for_each(|it| evidence.orders.count(it));
            amounts.iter().filter_map(cell_text).for_each(|it| evidence.marks.count(it));
            let first = amounts.iter().filter_map(cell_text).find(|it| !it.is_empty());
            match first.map(table_amount::named_currency) {
                Some(Some(_)) => evidence.named += 1,
                Some(None) => evidence.unnamed += 1,
                None => {}
            }
            for (side, signs) in sides.iter().zip(&mut evidence.signs) {
                let text = side.as_ref().and_then(cell_text).unwrap_or_default();
                if text.bytes().any(|it| (b'1'..=b'9').contains(&it)) {
                    signs[usize::from(text.contains(['-', '(']))] += 1;
                }
            }
        }
        Ok(evidence)
    }

    /// Whether the columns for money out and for money in have amounts with and without a minus.
    fn has_reversals(&self) -> [bool; 2] {
        self.signs.map(|[without, with]| without > 0 && with > 0)
    }

    /// The date order by the mapping, else as proven by the file, else by the user's earlier answer, else a question.
    fn order(
        &self,
        mapping: &Mapping,
        options: &ParseOptions,
        mark: DecimalMark,
    ) -> (DateOrder, Option<FileQuestion>) {
        match mapping.date_order.or(self.orders.proven()).or(options.dates) {
            Some(order) => (order, None),
            None => {
                let read_as = detect::usual_order(mapping.delimiter, mark);
                (read_as, self.orders.is_open().then_some(FileQuestion::Dates { read_as }))
            }
        }
    }
}

/// The kind of account that a record above the titles says.
fn kind_above(above: &[sample::Row]) -> Option<KindOfAccount> {
    above.iter().find_map(|row| kinds::of_name(&row.cells.join(" ")))
}

/// The records above the titles.
fn rows_above(text: &str, mapping: &Mapping) -> Vec<sample::Row> {
    if mapping.skip_lines == 0 {
        return Vec::new();
    }
    let mut rows = sample::rows(text, mapping.delimiter, 0);
    rows.retain(|it| it.line <= mapping.skip_lines.min(sample::PREAMBLE_LINES));
    rows
}
