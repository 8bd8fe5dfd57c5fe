//! The binary from outside, and the rules of the house.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say so at once")]

mod backups;
mod configuration;
mod connecting;
mod demos;
mod doctors;
mod faults;
mod fencing;
mod floods;
mod importing;
mod killed;
mod listening;
mod people;
mod program;
mod sending;
mod serving;
mod tidy;
mod zip_bombs;
