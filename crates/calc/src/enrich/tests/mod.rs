//! Golden examples and properties of enrichment.

mod cascade;
mod guesses;
mod keys;
mod laws;
mod money_in;
mod rules;
mod second_pass;
mod tables;
mod teaching;
