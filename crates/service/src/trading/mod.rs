//! Paper trading and quotes.

pub mod paper;
pub mod quotes;
