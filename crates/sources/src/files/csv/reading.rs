//! A whole file by a mapping: what all rows together say, then each of them.

use std::borrow::Cow;

use super::detect;
use super::dialect::{Records, check_size, tidy};
use super::ledger::Ledger;
use super::mapping::{Field, Layout, Mapping};
use super::rows::Reader;
use super::sample;
use crate::files::amount::{DecimalMark, Marks};
use crate::files::dates::Orders;
use crate::files::limits::head;
use crate::files::{DateOrder, Doubt, FileError, Format, Hints, Reading, Rejections};

pub(super) fn read(text: &str, mapping: &Mapping, hints: &Hints) -> Result<Reading, FileError> {
    let broken = |reason| FileError::Broken { format: Format::Csv, reason };
    check_size(text, mapping.delimiter)?;
    let (_, titles) = begin(text, mapping);
    let layout = mapping.layout(&titles).map_err(broken)?;
    let survey = Survey::of(text, mapping, &layout, hints)?;
    let mark = mapping.decimal_mark.unwrap_or_else(|| survey.marks.mark());
    let (order, doubt) = survey.order(mapping, hints, mark);
    let reader = Reader::new(mapping, &layout, hints, (order, mark), titles.len());
    let (ledger, mut rejected) = read_rows(text, mapping, &reader, hints)?;
    let number = number_above(text, mapping);
    let (accounts, charges) = ledger.finish(mapping, hints, number, &mut rejected);
    // Rows that fail only when all are known come last, but belong in their place.
    rejected.rows.sort_by_key(|it| it.line);
    let doubts = doubt.into_iter().chain(charges).collect();
    Ok(Reading { format: Format::Csv, accounts, rejected, doubts })
}

/// The rows below the titles, and those; columns without titles are counted.
fn begin<'a>(text: &'a str, mapping: &Mapping) -> (Records<'a>, Vec<String>) {
    let mut records = Records::new(text, mapping.delimiter);
    records.skip_lines(mapping.skip_lines);
    if mapping.has_header {
        let mut cells = Vec::new();
        records.next(&mut cells);
        // As long as a sample shows them, so that a mapping names them alike.
        let title = |it: &Cow<'_, str>| head(tidy(it), sample::CELL_CHARS).to_owned();
        let mut titles: Vec<String> = cells.iter().map(title).collect();
        // A delimiter at the end of the titles begins no column.
        while titles.last().is_some_and(String::is_empty) {
            titles.pop();
        }
        return (records, titles);
    }
    let rows = sample::rows(text, mapping.delimiter, mapping.skip_lines);
    let width = rows.iter().map(|it| it.cells.len()).max().unwrap_or(0);
    (records, (1..=width).map(|it| format!("Column {it}")).collect())
}

/// Refuses a file with more rows than may be kept, whatever is in them.
fn check_rows(count: usize, hints: &Hints) -> Result<(), FileError> {
    let most = hints.limits.rows;
    if count > most { Err(FileError::TooManyRows { most }) } else { Ok(()) }
}

fn read_rows<'m>(
    text: &str,
    mapping: &Mapping,
    reader: &Reader<'m>,
    hints: &Hints,
) -> Result<(Ledger, Rejections), FileError> {
    let (mut records, titles) = begin(text, mapping);
    let (mut ledger, mut rejected) = (Ledger::default(), Rejections::default());
    let mut cells = Vec::new();
    // Rows without a date or an amount, of which the last are the file's closing words.
    let mut prose = Rejections::default();
    let mut count = 0;
    while let Some(line) = records.next(&mut cells) {
        count += 1;
        check_rows(count, hints)?;
        let refusal = reader.row(&cells, |entry| ledger.add(line, entry)).err();
        match refusal {
            // Where files were joined, the titles come again.
            Some(refusal) if refusal.is_prose && is_same(&cells, &titles) => {}
            Some(refusal) if refusal.is_prose => prose.add(line, refusal.reason),
            refusal => {
                let before = std::mem::take(&mut prose);
                rejected.count += before.count - before.rows.len();
                before.rows.into_iter().for_each(|it| rejected.add(it.line, it.reason));
                refusal.into_iter().for_each(|it| rejected.add(line, it.reason));
            }
        }
    }
    Ok((ledger, rejected))
}

fn is_same(cells: &[Cow<'_, str>], titles: &[String]) -> bool {
    let filled = |it: &&str| !it.is_empty();
    cells
        .iter()
        .map(|it| tidy(it))
        .filter(filled)
        .eq(titles.iter().map(String::as_str).filter(filled))
}

/// What the columns of dates and amounts say together, where the mapping does not.
#[derive(Default)]
struct Survey {
    orders: Orders,
    marks: Marks,
}

impl Survey {
    fn of(
        text: &str,
        mapping: &Mapping,
        layout: &Layout,
        hints: &Hints,
    ) -> Result<Survey, FileError> {
        let mut survey = Survey::default();
        if mapping.date_order.is_some() && mapping.decimal_mark.is_some() {
            return Ok(survey);
        }
        let all = |fields: &[Field]| -> Vec<usize> {
            fields.iter().flat_map(|it| layout.all(*it)).copied().collect()
        };
        let dates = all(&[Field::Date, Field::Authorized]);
        let amounts =
            all(&[Field::Amount, Field::Debit, Field::Credit, Field::Fee, Field::Balance]);
        let (mut records, _) = begin(text, mapping);
        let (mut cells, mut count) = (Vec::new(), 0);
        while records.next(&mut cells).is_some() {
            count += 1;
            check_rows(count, hints)?;
            let told = |place: &usize| cells.get(*place).map(|it| tidy(it));
            dates.iter().filter_map(told).for_each(|it| survey.orders.see(it));
            amounts.iter().filter_map(told).for_each(|it| survey.marks.see(it));
        }
        Ok(survey)
    }

    /// The person's mapping, else what a date of the file proves, else the person's earlier word, else a doubt.
    fn order(
        &self,
        mapping: &Mapping,
        hints: &Hints,
        mark: DecimalMark,
    ) -> (DateOrder, Option<Doubt>) {
        match mapping.date_order.or(self.orders.proven()).or(hints.dates) {
            Some(order) => (order, None),
            None => {
                let read_as = detect::usual_order(mapping.delimiter, mark);
                (read_as, self.orders.is_open().then_some(Doubt::Dates { read_as }))
            }
        }
    }
}

/// Of a line above the titles; what comes later in it is no number of an account.
const LINE_CHARS: usize = 1_000;

/// The number of the account, if an IBAN stands above the titles.
fn number_above(text: &str, mapping: &Mapping) -> Option<String> {
    let above = text.lines().take(mapping.skip_lines.min(sample::PREAMBLE_LINES));
    above
        .map(|line| head(line, LINE_CHARS))
        .flat_map(|line| line.split(['"', ';', ',', '\t', '|', ':']))
        .find_map(iban)
}

fn iban(text: &str) -> Option<String> {
    let bare: String = text.chars().filter(|it| !it.is_whitespace()).take(40).collect();
    let (country, rest) = bare.split_at_checked(2)?;
    let digits = rest.bytes().filter(u8::is_ascii_digit).count();
    let is_iban = (15..=34).contains(&bare.len())
        && country.bytes().all(|it| it.is_ascii_uppercase())
        && rest.bytes().take(2).all(|it| it.is_ascii_digit())
        && rest.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit())
        && digits >= 10;
    is_iban.then_some(bare)
}
