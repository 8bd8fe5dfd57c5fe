//! Detects how a table is built: by a known preset, or else by its column titles and contents.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use base::{Currency, Date};

use super::dialect::Delimiter;
use super::mapping::{Column, Field, Mapping};
use super::money_columns::Found;
use super::presets::{self, Kind};
use super::running_balance;
use super::sample;
use super::table::Table;
use super::titles;
use super::trades::TradeColumns;
use crate::files::table_amount::{self, DecimalMark};
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
    // A text full of semicolons may give more cells than the delimiter does, but no dates and amounts.
    sample::delimiters(text).into_iter().find_map(|it| find_with(text, it, today))
}

fn find_with(text: &str, delimiter: Delimiter, today: Date) -> Option<DetectedLayout> {
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
    let skip_lines = table.begin - 1;
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

impl Table<'_> {
    fn guess(&self) -> Option<DetectedLayout> {
        if self.titles.is_some_and(|it| titles::are_of_positions(&it.cells)) {
            return None;
        }
        let mut columns: BTreeMap<Field, usize> = BTreeMap::new();
        if let Some(titles) = self.titles {
            self.by_words(&titles.cells, &mut columns);
        }
        let by_words = columns.len();
        let found = self.by_content(&mut columns);
        let has = |field: Field| columns.contains_key(&field);
        if !has(Field::Date) || !(has(Field::Amount) || has(Field::Debit) || has(Field::Credit)) {
            return None;
        }
        let is_proven = self.is_proven(&columns);
        let confidence = 30
            + 10 * by_words.min(3)
            + if has(Field::Description) { 10 } else { 0 }
            + if is_proven { 15 } else { 0 };
        let mapping = self.mapping(&columns, found);
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
        self.find_currency_columns(titles, columns);
        self.find_paired_currency(titles, columns);
        // Signs are more reliable than words beside them.
        let is_signed = columns.get(&Field::Amount).is_none_or(|it| self.has_signs(*it));
        if is_signed {
            columns.remove(&Field::Direction);
        }
        self.prefer_own_currency(titles, columns);
    }

    /// Whether the contents of a column fit the field that its title names.
    fn suits(&self, field: Field, column: usize) -> bool {
        match field {
            Field::Date | Field::Authorized => self.is_date(column),
            Field::Amount | Field::OtherAmount | Field::Debit | Field::Credit | Field::Balance => {
                self.is_amount(column)
            }
            Field::Direction => self.direction_of(column, None).is_some_and(|it| !it.blank_is_out),
            Field::Currency => self.has_codes(column),
            Field::Card => {
                let digits = |it: &str| it.bytes().filter(u8::is_ascii_digit).count();
                self.holds(column, |it| digits(it) >= 4 && !dates::looks_like(it, self.today))
                    && self.cells(column).any(|it| !it.is_empty())
            }
            Field::Account => self.is_own_account(column) && !self.is_behind_counterparty(column),
            Field::MerchantCode => {
                self.holds(column, |it| it.len() <= 4 && it.bytes().all(|it| it.is_ascii_digit()))
            }
            Field::Id => {
                let mut ids: Vec<&str> = self.cells(column).collect();
                ids.sort_unstable();
                ids.windows(2).all(|it| it[0] != it[1])
                    && ids.first().is_none_or(|it| !it.is_empty())
            }
            Field::Description | Field::Counterparty => {
                let is_filled = || self.cells(column).any(|it| !it.is_empty());
                self.rows.is_empty() || (is_filled() && !self.has_ibans(column))
            }
            _ => true,
        }
    }

    /// Whether the column can be the person's own account: nearly every row would be another account otherwise.
    fn is_own_account(&self, column: usize) -> bool {
        let mut distinct: Vec<&str> = self.cells(column).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let is_number = |it: &&&str| {
            let digits = it.bytes().filter(u8::is_ascii_digit).count();
            digits * 2 > it.len()
        };
        let numbers = distinct.iter().filter(is_number).count();
        self.rows.len() < 4 || numbers * 2 <= self.rows.len()
    }

    /// Whether the column is the IBAN of the counterparty, whose name stands before it.
    fn is_behind_counterparty(&self, column: usize) -> bool {
        let titles = self.titles.map_or(&[][..], |it| &it.cells);
        let is_bare = titles.get(column).is_some_and(|it| it.eq_ignore_ascii_case("iban"));
        is_bare && titles[..column].iter().any(|it| titles::is_counterparty(it))
    }

    /// Assigns the fields that no title named, by the contents of the columns.
    fn by_content(&self, columns: &mut BTreeMap<Field, usize>) -> Found {
        let free = |columns: &BTreeMap<Field, usize>| {
            let used: Vec<usize> = columns.values().copied().collect();
            (0..self.width).filter(move |it| !used.contains(it)).collect::<Vec<usize>>()
        };
        if !columns.contains_key(&Field::Date) {
            let dates: Vec<usize> =
                free(columns).into_iter().filter(|it| self.is_date(*it)).collect();
            // Dates that are the same in each row may be those of the statement.
            let varied = dates.iter().find(|it| self.is_varied(**it)).copied();
            let date = varied.or(dates.first().copied());
            columns.extend(date.map(|it| (Field::Date, it)));
        }
        let has_amount =
            [Field::Amount, Field::Debit, Field::Credit].iter().any(|it| columns.contains_key(it));
        let mut found = if has_amount { Found::default() } else { self.find_money(columns) };
        found.blank_is_out = self.find_direction(columns).blank_is_out;
        if self.titles.is_none() && !columns.contains_key(&Field::Currency) {
            let is_code = |it: &str| it.len() == 3 && Currency::parse(it).is_ok();
            let holds =
                |it: &usize| self.holds(*it, is_code) && self.cells(*it).any(|it| !it.is_empty());
            let currency = free(columns).into_iter().find(holds);
            columns.extend(currency.map(|it| (Field::Currency, it)));
        }
        if let Some(name) = columns.get(&Field::Counterparty).copied() {
            columns.entry(Field::Description).or_insert(name);
        }
        if !columns.contains_key(&Field::Description) {
            let longest = self.best_text(free(columns));
            // A category or a type is better than no description.
            let other = columns.get(&Field::Category).or(columns.get(&Field::Direction)).copied();
            let longest = longest.or(other);
            columns.extend(longest.map(|it| (Field::Description, it)));
        }
        found
    }

    fn is_proven(&self, columns: &BTreeMap<Field, usize>) -> bool {
        let both = columns.get(&Field::Amount).zip(columns.get(&Field::Balance));
        both.is_some_and(|(a, b)| running_balance::prove(&self.steps(*a, None, *b)).is_some())
    }

    fn mapping(&self, indexes: &BTreeMap<Field, usize>, found: Found) -> Mapping {
        let titles = self.titles.map_or(&[][..], |it| &it.cells);
        let column = |index: usize| match titles.get(index) {
            Some(title) => column_of(titles, index, title),
            None => Column::Number(index + 1),
        };
        let mut columns: BTreeMap<Field, Vec<Column>> =
            indexes.iter().map(|(field, index)| (*field, vec![column(*index)])).collect();
        if let Some(index) = self.more_text(titles, indexes) {
            columns.entry(Field::Description).or_default().push(column(index));
        }
        if let Some(index) = self.second_currency(titles, indexes) {
            columns.entry(Field::Currency).or_default().push(column(index));
        }
        if !indexes.contains_key(&Field::Counterparty) {
            let parties = self.parties(titles, indexes);
            columns.extend((!parties.is_empty()).then(|| {
                (Field::Counterparty, parties.into_iter().map(column).collect::<Vec<_>>())
            }));
        }
        if let Some(trades) = TradeColumns::find(titles) {
            let texts = columns.entry(Field::Description).or_default();
            let before: Vec<Column> = trades.texts().map(column).collect();
            texts.retain(|it| !before.contains(it));
            texts.splice(..0, before);
        }
        let words = |field: Field, words: &[&str]| match indexes.contains_key(&field) {
            true => words.iter().map(|it| (*it).to_owned()).collect(),
            false => Vec::new(),
        };
        let amount = indexes.get(&Field::Amount).or(indexes.get(&Field::Debit));
        let currency = amount.and_then(|it| titles.get(*it)).and_then(|it| titles::currency(it));
        let mut out_words: Vec<String> = words(Field::Direction, titles::OUT_WORDS);
        out_words.extend(found.blank_is_out.then(String::new));
        Mapping {
            has_header: self.titles.is_some(),
            columns,
            out_words,
            sides_are_assumed: found.sides_are_assumed,
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
