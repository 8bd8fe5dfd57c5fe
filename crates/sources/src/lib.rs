//! Sources of accounts and prices: parses foreign formats into drafts and quotes. Knows nothing of users or of the
//! database.

pub mod files;
mod json_decimal;
pub mod market;
mod percent;
mod plausibility;
pub mod simplefin;
mod unique_ids;
