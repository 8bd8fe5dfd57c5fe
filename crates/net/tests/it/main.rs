//! Tests of the HTTP client against servers on real sockets, many of which misbehave on purpose.
#![expect(clippy::unwrap_used, reason = "a failed step of a test should panic")]

mod floods;
mod guard;
mod hostile;
mod limits;
mod messages;
mod pooling;
mod receiver;
mod server;
mod smtp;
mod tls;

use std::time::Duration;

use net::{Guard, HttpClient, Limits, Policy};

/// Generous, so that a slow machine does not change the result of a test.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(20),
    total: Duration::from_secs(20),
    body_max: 64 * 1024,
};

fn unguarded_client() -> HttpClient {
    HttpClient::new(Policy { guard: Guard::Any, extra_ca: None }).unwrap()
}
