//! Paper trading: the cost of an order, its effect on a position, and the double entries that record it.
//!
//! Money is US dollars in minor units. Rounding never favors the person. There are no commissions, so there is no
//! book for fees.

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
pub use fill::{Fill, OrderRejection, fill};

use base::Fixed9;

base::words!(
    Side {
        Buy => "buy",
        Sell => "sell",
    }
);

/// The size of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    Shares(Fixed9),
    /// For an amount of cash in minor units.
    Cash(i64),
}

/// A position in one security, at average cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    pub quantity: Fixed9,
    pub basis_minor: i64,
}

/// A cent, in billionths of a share times billionths of a dollar.
const CENT: i128 = 10_i128.pow(16);

/// The limit of the numbers that `Fixed9` parses, in billionths: a larger position could be stored, but not read
/// again.
const BOUND: i128 = 10_i128.pow(28);

fn divide_up(value: i128, divisor: i128) -> i128 {
    value.div_euclid(divisor) + i128::from(value.rem_euclid(divisor) > 0)
}
