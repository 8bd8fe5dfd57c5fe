//! Tests of the built binary, and the repository's own rules (`tidy`).
#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails at once")]

mod assistants;
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
mod migrating;
mod people;
mod program;
mod sending;
mod serving;
mod sharding;
mod tidy;
mod traces;
mod zip_bombs;
