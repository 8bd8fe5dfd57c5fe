//! Paper trading.

pub mod paper;
