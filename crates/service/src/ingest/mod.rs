//! How data comes in: imported files, bank connections and manual accounts.

pub mod account_split;
pub mod account_types;
pub mod connections;
pub mod imports;
pub mod manual;
