//! The balances of the ledger books, summed over legs.

use std::collections::BTreeMap;

use base::Fixed9;

use super::Position;
use super::entries::{Book, Leg};

/// The balance of every book, starting empty. Two are equal if every book has the same balance.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Balances(BTreeMap<(Book, Option<String>), i128>);

impl Balances {
    pub fn apply(&mut self, legs: &[Leg]) {
        for leg in legs {
            let key = (leg.book, leg.symbol.clone());
            match self.0.get(&key).copied().unwrap_or(0).saturating_add(leg.amount) {
                0 => self.0.remove(&key),
                sum => self.0.insert(key, sum),
            };
        }
    }

    /// The cash available to spend, without reservations.
    pub fn cash(&self) -> i64 {
        minor(self.of(Book::Cash))
    }

    pub fn reserved(&self) -> i64 {
        minor(self.of(Book::Reserved))
    }

    pub fn deposits(&self) -> i64 {
        minor(-self.of(Book::Deposits))
    }

    pub fn realised(&self) -> i64 {
        minor(-self.of(Book::Realised))
    }

    pub fn dividends(&self) -> i64 {
        minor(-self.of(Book::Dividends))
    }

    pub fn basis_total(&self) -> i64 {
        minor(self.of(Book::Basis))
    }

    /// Empty for a symbol that is not held.
    pub fn position(&self, symbol: &str) -> Position {
        let sum = |book| self.0.get(&(book, Some(symbol.to_owned()))).copied().unwrap_or(0);
        Position {
            quantity: Fixed9::from_billionths(sum(Book::Shares)),
            basis_minor: minor(sum(Book::Basis)),
        }
    }

    /// All positions, by symbol.
    pub fn positions(&self) -> BTreeMap<&str, Position> {
        let held = self.0.keys().filter(|(book, _)| *book == Book::Shares);
        let symbols = held.filter_map(|(_, symbol)| symbol.as_deref());
        symbols.map(|symbol| (symbol, self.position(symbol))).collect()
    }

    /// The total over all symbols.
    fn of(&self, book: Book) -> i128 {
        let sums = self.0.iter().filter(|((it, _), _)| *it == book).map(|(_, sum)| *sum);
        sums.fold(0, i128::saturating_add)
    }
}

fn minor(sum: i128) -> i64 {
    let nearest = if sum < 0 { i64::MIN } else { i64::MAX };
    i64::try_from(sum).unwrap_or(nearest)
}
