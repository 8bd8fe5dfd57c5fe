//! Trades with paper money: what an order costs, what it does to a position, and the double entries
//! that record it.
//!
//! Money is US dollars in minor units. Rounding never favours the person. Nothing costs a
//! commission, so there is no book for fees.

mod balances;
mod collar;
mod corporate;
pub mod entries;
mod fill;
#[cfg(test)]
mod tests;

pub use balances::Balances;
pub use collar::{moved_too_far, reserve};
pub use corporate::{Split, dividend, split};
pub use entries::{Book, Leg};
pub use fill::{Fill, Refusal, fill};

use base::Fixed9;

base::words!(
    Side {
        Buy => "buy",
        Sell => "sell",
    }
);

/// How much is ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    Shares(Fixed9),
    /// For so many minor units.
    Cash(i64),
}

/// What is held of one security, at average cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    pub quantity: Fixed9,
    pub basis_minor: i64,
}

/// A cent, in what billionths of a share times billionths of a dollar count.
const CENT: i128 = 10_i128.pow(16);

/// Where the numbers end that `Fixed9` reads, in billionths: a position beyond it could be stored,
/// but never be read again.
const BOUND: i128 = 10_i128.pow(28);

fn divide_up(value: i128, divisor: i128) -> i128 {
    value.div_euclid(divisor) + i128::from(value.rem_euclid(divisor) > 0)
}
