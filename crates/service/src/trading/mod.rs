//! Paper trading: orders, positions and quotes.

pub mod paper;
pub mod quotes;
