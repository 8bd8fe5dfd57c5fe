//! Tests of the protocol and its tools on a household, as a client sees them, without HTTP.
#![expect(clippy::unwrap_used, reason = "a failed step of a test should panic")]

mod assistant;
mod elicitation;
mod hostile;
mod proposing;
mod reading;
mod refusals;
mod surface;
