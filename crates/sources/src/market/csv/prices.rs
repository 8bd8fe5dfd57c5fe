//! Parses a price file into the latest quote of each symbol.

use std::collections::BTreeMap;

use base::{Date, Fixed9, Timestamp};

use super::super::calendar::{day_of, previous_session, session_on};
use super::super::{InstrumentKind, Quote, names};
use super::SourceFile;
use super::table::{Row, Table};

/// More symbols than any hand-kept price list has.
const MOST_SYMBOLS: usize = 20_000;
const MOST_NAME_LETTERS: usize = 100;

/// The last price of each symbol on its two latest days: the quote and the previous close.
#[derive(Default)]
pub(super) struct Prices(BTreeMap<String, BTreeMap<Date, Price>>);

struct Price {
    at: Timestamp,
    price: Fixed9,
    previous_close: Option<Fixed9>,
    name: Option<String>,
    kind: Option<InstrumentKind>,
}

/// The columns of a price table.
struct Columns {
    price: &'static str,
    at: Option<&'static str>,
    /// The symbol of all lines, if the table has no symbol column.
    symbol: Option<String>,
}

impl Prices {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn quote(&self, symbol: &str, now: Timestamp) -> Option<Quote> {
        let mut days = self.0.get(symbol)?.values().rev();
        let last = days.next()?;
        let name = last.name.clone().or_else(|| names::name_of(symbol).map(str::to_owned));
        Some(Quote {
            symbol: symbol.to_owned(),
            name,
            kind: last.kind.or_else(|| names::kind_of(symbol)).unwrap_or(InstrumentKind::Equity),
            price: last.price,
            previous_close: last.previous_close.or_else(|| days.next().map(|it| it.price)),
            // Today's line may exist before the close that it stands for.
            at: last.at.min(now),
        })
    }

    /// Reads all valid lines, and adds a warning for each of the others.
    pub(super) fn read(&mut self, table: &Table<'_>, source: &mut SourceFile<'_>) {
        let columns = match Columns::of(table, source) {
            Ok(columns) => columns,
            Err(reason) => return source.warn(1, &reason),
        };
        for (number, row) in table.rows() {
            let row = row.map_err(str::to_owned);
            let read = row.and_then(|row| columns.read(&row, source.modified_at));
            if let Err(reason) = read.and_then(|(symbol, day, price)| self.add(symbol, day, price))
            {
                source.warn(number, &reason);
            }
        }
    }

    fn add(&mut self, symbol: String, day: Date, price: Price) -> Result<(), String> {
        if self.0.len() >= MOST_SYMBOLS && !self.0.contains_key(&symbol) {
            return Err(format!("only the first {MOST_SYMBOLS} symbols are read"));
        }
        let days = self.0.entry(symbol).or_default();
        if days.get(&day).is_none_or(|it| it.at <= price.at) {
            days.insert(day, price);
        }
        if days.len() > 2 {
            days.pop_first();
        }
        Ok(())
    }
}

impl Columns {
    fn of(table: &Table<'_>, source: &SourceFile<'_>) -> Result<Columns, String> {
        let price = table.column(&["price", "close"]).ok_or("there is no column price or close")?;
        let symbol = match table.column(&["symbol"]) {
            Some(_) => None,
            None => {
                let named = symbol_from(source.name.rsplit_once('.').map_or("", |(it, _)| it));
                Some(named.ok_or("there is no column symbol, and the file's name is none")?)
            }
        };
        Ok(Columns { price, at: table.column(&["at", "date"]), symbol })
    }

    fn read(&self, row: &Row<'_>, modified_at: Timestamp) -> Result<(String, Date, Price), String> {
        let symbol = match &self.symbol {
            Some(symbol) => symbol.clone(),
            None => symbol_in(row)?,
        };
        let price = row.positive(self.price)?;
        let (day, at) = match self.at {
            Some(column) => moment(row, column)?,
            None => (day_of(modified_at), modified_at),
        };
        let previous_close = match row.text("previous_close") {
            Some(_) => Some(row.positive("previous_close")?),
            None => None,
        };
        let kind = match row.text("type") {
            Some(word) => {
                let kind = InstrumentKind::parse(&word.to_lowercase());
                Some(kind.ok_or("type must be equity or etf")?)
            }
            None => None,
        };
        let name = row.text("name").map(str::to_owned);
        if name.as_ref().is_some_and(|it| it.chars().count() > MOST_NAME_LETTERS) {
            return Err(format!("name must have at most {MOST_NAME_LETTERS} letters"));
        }
        Ok((symbol, day, Price { at, price, previous_close, name, kind }))
    }
}

pub(super) fn symbol_in(row: &Row<'_>) -> Result<String, String> {
    let symbol = symbol_from(row.text("symbol").unwrap_or_default());
    symbol.ok_or_else(|| "symbol must be 1 to 10 letters, digits, dots or dashes".to_owned())
}

/// The symbol in capitals, without the US suffixes that some download pages add.
fn symbol_from(text: &str) -> Option<String> {
    let text = text.to_ascii_uppercase();
    let bare = text.trim_end_matches("_US_D").trim_end_matches(".US");
    let plain = |it: u8| it.is_ascii_alphanumeric() || it == b'.' || it == b'-';
    ((1..=10).contains(&bare.len()) && bare.bytes().all(plain)).then(|| bare.to_owned())
}

/// Parses a moment, or a day, which means the close of its session, or of the previous one if it has none.
fn moment(row: &Row<'_>, column: &str) -> Result<(Date, Timestamp), String> {
    if let Some(at) = row.text(column).and_then(|it| it.parse::<Timestamp>().ok()) {
        return Ok((day_of(at), at));
    }
    let unusable =
        || format!("{column} must be a day such as 2026-11-25 or an instant with a zone");
    let day = row.day(column).map_err(|_| unusable())?;
    let session = session_on(day).or_else(|| session_on(previous_session(day)));
    Ok((day, session.ok_or_else(unusable)?.closes_at))
}
