//! Tests of the sources against fake servers.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod alpaca;
mod simplefin;
