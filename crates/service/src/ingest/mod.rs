//! How data comes in: imported files, bank connections and manual accounts.

pub mod connections;
pub mod imports;
pub mod manual;
