//! Golden examples and properties of enrichment.

mod cascade;
mod keys;
mod laws;
mod tables;
mod teaching;
