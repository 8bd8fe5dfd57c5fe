//! Detects how a table is built: by a known preset, or else by its column titles and contents.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use base::{Currency, Date};

use super::dialect::Delimiter;
use super::mapping::{Column, Field, Mapping};
use super::presets::{self, Kind};
use super::running_balance::{self, BalanceStep};
use super::sample::{self, Row};
use super::titles;
use crate::files::table_amount::{self, DecimalMark, DecimalMarkCounts};
use crate::files::{DateOrder, dates};

pub(super) struct DetectedLayout {
    pub(super) mapping: Mapping,
    pub(super) preset: Option<&'static str>,
    pub(super) confidence: u8,
}

/// Detects the layout of a table. None if no row has a date and an amount.
pub(super) fn find(text: &str, today: Date) -> Option<DetectedLayout> {
    for delimiter in Delimiter::ALL {
        let rows = sample::rows(text, *delimiter, 0);
        let above = rows.iter().take_while(|it| it.line <= sample::PREAMBLE_LINES);
        let known = above.filter_map(|row| {
            let found = presets::by_titles(&row.cells);
            found.map(|(preset, sure)| (row, preset, sure))
        });
        // The first of equal candidates wins: titles may repeat where files were concatenated.
        if let Some((row, preset, confidence)) = known.min_by_key(|(_, _, sure)| Reverse(*sure)) {
            let mapping = preset.mapping(&row.cells);
            let mapping = Mapping { delimiter: *delimiter, skip_lines: row.line - 1, ..mapping };
            return Some(DetectedLayout { mapping, preset: Some(preset.name), confidence });
        }
    }
    let delimiter = sample::delimiter(text)?;
    let rows = sample::rows(text, delimiter, 0);
    let table = Table::find(&rows, today)?;
    let is_titled = table.titles.is_some();
    let cells: Vec<Vec<String>> = table.rows.iter().map(|it| it.cells.clone()).collect();
    let mapping = match presets::by_shape(&cells, is_titled, |cell, kind| fits(cell, kind, today)) {
        Some(preset) => {
            let mapping = preset.mapping(table.titles.map_or(&[], |it| &it.cells));
            DetectedLayout { mapping, preset: Some(preset.name), confidence: 85 }
        }
        None => table.guess()?,
    };
    let skip_lines = table.begin() - 1;
    Some(DetectedLayout {
        mapping: Mapping { delimiter, skip_lines, ..mapping.mapping },
        ..mapping
    })
}

fn fits(cell: &str, kind: Kind, today: Date) -> bool {
    match kind {
        Kind::Date => dates::looks_like(cell, today),
        Kind::MaybeDate => cell.is_empty() || dates::looks_like(cell, today),
        Kind::Amount => table_amount::looks_like(cell),
        Kind::MaybeAmount => cell.is_empty() || table_amount::looks_like(cell),
        Kind::Text => !cell.is_empty() && !table_amount::looks_like(cell),
        Kind::Blank => cell.is_empty(),
        Kind::Any => true,
        Kind::Word(words) => words.iter().any(|it| it.eq_ignore_ascii_case(cell)),
    }
}

/// The part of a sample that is a table.
struct Table<'a> {
    titles: Option<&'a Row>,
    /// Rows with a date and an amount.
    rows: Vec<&'a Row>,
    today: Date,
    width: usize,
}

impl<'a> Table<'a> {
    fn find(rows: &'a [Row], today: Date) -> Option<Table<'a>> {
        let is_date = |cell: &String| dates::looks_like(cell, today);
        let is_amount = |cell: &String| table_amount::looks_like(cell) && !is_date(cell);
        let is_data = |row: &Row| row.cells.iter().any(is_date) && row.cells.iter().any(is_amount);
        let first = rows.iter().position(is_data);
        let is_title = |row: &&Row| {
            let filled = row.cells.iter().filter(|it| !it.is_empty()).count();
            row.line <= sample::PREAMBLE_LINES
                && filled > 1
                && !row.cells.iter().any(|it| is_date(it) || is_amount(it))
        };
        let above = &rows[..first.unwrap_or(rows.len())];
        let titles = above.iter().filter(is_title).max_by_key(|it| titles::known(&it.cells));
        let data: Vec<&Row> =
            rows[first.unwrap_or(rows.len())..].iter().filter(|it| is_data(it)).collect();
        if data.is_empty() && titles.is_none_or(|it| titles::known(&it.cells) < 2) {
            return None;
        }
        let widest = data.iter().map(|it| it.cells.len()).max().unwrap_or(0);
        let width = titles.map_or(widest, |it| it.cells.len());
        Some(Table { titles, rows: data, today, width })
    }

    /// The line of the titles, or of the first row.
    fn begin(&self) -> usize {
        self.titles.or(self.rows.first().copied()).map_or(1, |it| it.line)
    }

    fn cells(&self, column: usize) -> impl Iterator<Item = &str> {
        self.rows.iter().map(move |row| row.cells.get(column).map_or("", String::as_str))
    }

    /// Whether all non-empty cells of a column satisfy the predicate.
    fn holds(&self, column: usize, is_such: impl Fn(&str) -> bool) -> bool {
        self.cells(column).all(|it| it.is_empty() || is_such(it))
    }

    fn is_date(&self, column: usize) -> bool {
        let count = self.cells(column).filter(|it| dates::looks_like(it, self.today)).count();
        count * 2 > self.rows.len() || self.rows.is_empty()
    }

    /// Whether most non-empty cells are amounts: one broken row must not hide the column.
    fn is_amount(&self, column: usize) -> bool {
        let filled = || self.cells(column).filter(|it| !it.is_empty());
        let count = filled().filter(|it| table_amount::looks_like(it)).count();
        count * 2 > filled().count() || filled().next().is_none()
    }

    fn guess(&self) -> Option<DetectedLayout> {
        let mut columns: BTreeMap<Field, usize> = BTreeMap::new();
        if let Some(titles) = self.titles {
            self.by_words(&titles.cells, &mut columns);
        }
        let by_words = columns.len();
        self.by_content(&mut columns);
        let has = |field: Field| columns.contains_key(&field);
        if !has(Field::Date) || !(has(Field::Amount) || has(Field::Debit) || has(Field::Credit)) {
            return None;
        }
        let is_proven = self.is_proven(&columns);
        let confidence = 30
            + 10 * by_words.min(3)
            + if has(Field::Description) { 10 } else { 0 }
            + if is_proven { 15 } else { 0 };
        let mapping = self.mapping(&columns);
        Some(DetectedLayout { mapping, preset: None, confidence: confidence as u8 })
    }

    fn by_words(&self, titles: &[String], columns: &mut BTreeMap<Field, usize>) {
        for (field, _) in titles::WORDS {
            let free = |column: &usize| !columns.values().any(|it| it == column);
            let ranked = (0..titles.len()).filter(free).filter_map(|column| {
                titles::rank(*field, &titles[column]).map(|rank| (rank, column))
            });
            let fitting = ranked.filter(|(_, column)| self.suits(*field, *column)).min();
            if let Some((_, column)) = fitting {
                columns.insert(*field, column);
            }
        }
        // An amount column next to a debit or credit column would count the same money twice.
        let is_split = columns.contains_key(&Field::Debit) && columns.contains_key(&Field::Credit);
        if is_split {
            columns.remove(&Field::Amount);
        } else if columns.contains_key(&Field::Amount) {
            columns.remove(&Field::Debit);
            columns.remove(&Field::Credit);
        }
        if !columns.contains_key(&Field::Amount) {
            columns.remove(&Field::Direction);
        }
    }

    /// Whether the contents of a column fit the field that its title names.
    fn suits(&self, field: Field, column: usize) -> bool {
        match field {
            Field::Date | Field::Authorized => self.is_date(column),
            Field::Amount | Field::Debit | Field::Credit | Field::Balance => self.is_amount(column),
            Field::Direction => {
                let known = [titles::OUT_WORDS, titles::IN_WORDS].concat();
                let is_known = |it: &str| known.contains(&it.to_lowercase().as_str());
                self.cells(column).all(is_known) && !self.rows.is_empty()
            }
            Field::Currency => {
                self.holds(column, |it| it == "€" || Currency::parse(&it.to_uppercase()).is_ok())
            }
            Field::Id => {
                let mut ids: Vec<&str> = self.cells(column).collect();
                ids.sort_unstable();
                ids.windows(2).all(|it| it[0] != it[1])
                    && ids.first().is_none_or(|it| !it.is_empty())
            }
            _ => true,
        }
    }

    /// Assigns the fields that no title named, by the contents of the columns.
    fn by_content(&self, columns: &mut BTreeMap<Field, usize>) {
        let free = |columns: &BTreeMap<Field, usize>| {
            let used: Vec<usize> = columns.values().copied().collect();
            (0..self.width).filter(move |it| !used.contains(it)).collect::<Vec<usize>>()
        };
        if !columns.contains_key(&Field::Date) {
            let date = free(columns).into_iter().find(|it| self.is_date(*it));
            columns.extend(date.map(|it| (Field::Date, it)));
        }
        let has_amount =
            [Field::Amount, Field::Debit, Field::Credit].iter().any(|it| columns.contains_key(it));
        if !has_amount {
            let is_full = |column: &usize| {
                let filled = self.cells(*column).filter(|it| !it.is_empty()).count();
                filled * 2 > self.rows.len() && self.is_amount(*column) && !self.is_date(*column)
            };
            let amounts: Vec<usize> = free(columns).into_iter().filter(is_full).take(6).collect();
            let pairs = amounts.iter().flat_map(|a| amounts.iter().map(move |b| (*a, *b)));
            let running = pairs
                .filter(|(a, b)| a != b)
                .find(|(a, b)| running_balance::prove(&self.steps(*a, *b)).is_some());
            match running {
                Some((amount, balance)) => {
                    columns.insert(Field::Amount, amount);
                    columns.insert(Field::Balance, balance);
                }
                None => {
                    let has_decimals =
                        |it: &&usize| self.cells(**it).any(|it| it.contains(['.', ',']));
                    let amount = amounts.iter().find(has_decimals).or(amounts.first());
                    columns.extend(amount.map(|it| (Field::Amount, *it)));
                }
            }
        }
        if !columns.contains_key(&Field::Description) {
            let letters = |column: &usize| -> usize {
                self.cells(*column)
                    .map(|it| it.chars().filter(|it| it.is_alphabetic()).count())
                    .sum()
            };
            let longest = free(columns).into_iter().max_by_key(letters);
            columns.extend(longest.filter(|it| letters(it) > 0).map(|it| (Field::Description, it)));
        }
    }

    fn is_proven(&self, columns: &BTreeMap<Field, usize>) -> bool {
        let both = columns.get(&Field::Amount).zip(columns.get(&Field::Balance));
        both.is_some_and(|(a, b)| running_balance::prove(&self.steps(*a, *b)).is_some())
    }

    fn steps(&self, amount: usize, balance: usize) -> Vec<BalanceStep> {
        let mut marks = DecimalMarkCounts::default();
        self.cells(amount).chain(self.cells(balance)).for_each(|it| marks.count(it));
        let mark: DecimalMark = marks.mark();
        let read =
            |text: &str| table_amount::read(text, mark, Currency::USD).ok().map(|it| it.minor);
        let numbers = self.cells(amount).zip(self.cells(balance));
        numbers
            .filter_map(|(minor, balance)| read(minor).zip(read(balance)))
            .map(|(minor, balance_minor)| BalanceStep { day: 0, minor, balance_minor })
            .collect()
    }

    fn mapping(&self, indexes: &BTreeMap<Field, usize>) -> Mapping {
        let titles = self.titles.map_or(&[][..], |it| &it.cells);
        let column = |index: usize| match titles.get(index) {
            Some(title) => column_of(titles, index, title),
            None => Column::Number(index + 1),
        };
        let columns: BTreeMap<Field, Vec<Column>> =
            indexes.iter().map(|(field, index)| (*field, vec![column(*index)])).collect();
        let words = |field: Field, words: &[&str]| match indexes.contains_key(&field) {
            true => words.iter().map(|it| (*it).to_owned()).collect(),
            false => Vec::new(),
        };
        let amount = indexes.get(&Field::Amount).or(indexes.get(&Field::Debit));
        let currency = amount.and_then(|it| titles.get(*it)).and_then(|it| titles::currency(it));
        Mapping {
            has_header: self.titles.is_some(),
            columns,
            out_words: words(Field::Direction, titles::OUT_WORDS),
            in_words: words(Field::Direction, titles::IN_WORDS),
            pending_words: words(Field::Status, titles::PENDING_WORDS),
            ignored_words: words(Field::Status, titles::IGNORED_WORDS),
            currency: currency.map(str::to_owned),
            ..Mapping::default()
        }
    }
}

/// Names a column by its title, or by its number if the title is empty or was used before.
pub(super) fn column_of(titles: &[String], index: usize, title: &str) -> Column {
    match title.is_empty() || titles[..index].iter().any(|it| it == title) {
        true => Column::Number(index + 1),
        false => Column::Title(title.to_owned()),
    }
}

/// The default date order if neither file nor user says: month first, as in the United States, unless the file uses
/// another region's separators.
pub(super) fn usual_order(delimiter: Delimiter, mark: DecimalMark) -> DateOrder {
    match (delimiter, mark) {
        (Delimiter::Semicolon, _) | (_, DecimalMark::Comma) => DateOrder::DayFirst,
        _ => DateOrder::MonthFirst,
    }
}
