//! Sources against stand-ins for those they ask.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod alpaca;
mod simplefin;
