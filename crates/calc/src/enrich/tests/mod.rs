//! Golden examples and laws of enrichment.

mod cascade;
mod keys;
mod laws;
mod tables;
mod teaching;
