//! The double entries of each event: legs that add up to zero in money and in each security.

use std::collections::BTreeMap;

use super::{Fill, Position, Side, Split};

base::words!(
    /// The ledger book whose balance a leg changes. Books for the outside world are negative.
    Book {
        Cash => "cash",
        /// Cash reserved for buys that wait for the market to open.
        Reserved => "reserved",
        Deposits => "deposits",
        Realised => "realised",
        Dividends => "dividends",
        /// The cost basis of the shares of a symbol, in money.
        Basis => "basis",
        /// Shares of a symbol that are held.
        Shares => "shares",
        /// The counterpart of shares bought and sold.
        Market => "market",
    }
);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leg {
    pub book: Book,
    /// Set for the books by symbol: basis, shares and market.
    pub symbol: Option<String>,
    /// Minor units, or billionths of a share.
    pub amount: i128,
}

impl Book {
    pub fn counts_shares(self) -> bool {
        matches!(self, Book::Shares | Book::Market)
    }
}

impl Leg {
    fn money(book: Book, amount: i128) -> Leg {
        Leg { book, symbol: None, amount }
    }

    fn of(symbol: &str, book: Book, amount: i128) -> Leg {
        Leg { book, symbol: Some(symbol.to_owned()), amount }
    }

    /// The security that the amount counts; none for money.
    pub fn unit(&self) -> Option<&str> {
        self.symbol.as_deref().filter(|_| self.book.counts_shares())
    }
}

pub fn deposit(minor: i64) -> Vec<Leg> {
    moved(minor, Book::Deposits, Book::Cash)
}

/// Reserves cash.
pub fn reservation(minor: i64) -> Vec<Leg> {
    moved(minor, Book::Cash, Book::Reserved)
}

/// Releases reserved cash, before its order is filled, or when it is canceled.
pub fn release(minor: i64) -> Vec<Leg> {
    moved(minor, Book::Reserved, Book::Cash)
}

pub fn dividend(minor: i64) -> Vec<Leg> {
    moved(minor, Book::Dividends, Book::Cash)
}

pub fn trade(symbol: &str, fill: &Fill) -> Vec<Leg> {
    let sign = match fill.side {
        Side::Buy => 1,
        Side::Sell => -1,
    };
    let quantity = sign * fill.quantity.billionths();
    without_zeros([
        Leg::money(Book::Cash, -sign * i128::from(fill.cash_minor)),
        Leg::of(symbol, Book::Basis, sign * i128::from(fill.basis_minor)),
        Leg::money(Book::Realised, -i128::from(fill.realised_minor)),
        Leg::of(symbol, Book::Shares, quantity),
        Leg::of(symbol, Book::Market, -quantity),
    ])
}

/// The change from the position before to the one after the split.
pub fn split(symbol: &str, before: Position, split: &Split) -> Vec<Leg> {
    let after = split.position;
    let quantity = after.quantity.billionths() - before.quantity.billionths();
    let basis = i128::from(after.basis_minor) - i128::from(before.basis_minor);
    without_zeros([
        Leg::money(Book::Cash, i128::from(split.in_lieu_minor)),
        Leg::of(symbol, Book::Basis, basis),
        Leg::money(Book::Realised, -i128::from(split.realised_minor)),
        Leg::of(symbol, Book::Shares, quantity),
        Leg::of(symbol, Book::Market, -quantity),
    ])
}

/// Whether the legs add up to zero in every unit.
pub fn are_balanced(legs: &[Leg]) -> bool {
    let mut sums: BTreeMap<Option<&str>, i128> = BTreeMap::new();
    for leg in legs {
        let sum = sums.entry(leg.unit()).or_default();
        *sum = sum.saturating_add(leg.amount);
    }
    sums.into_values().all(|it| it == 0)
}

fn moved(minor: i64, from: Book, to: Book) -> Vec<Leg> {
    let amount = i128::from(minor);
    without_zeros([Leg::money(from, -amount), Leg::money(to, amount)])
}

fn without_zeros<const COUNT: usize>(legs: [Leg; COUNT]) -> Vec<Leg> {
    legs.into_iter().filter(|it| it.amount != 0).collect()
}
