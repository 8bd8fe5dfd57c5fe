//! The door, against servers that listen on a real socket and behave as badly as they can.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod bounds;
mod floods;
mod guarding;
mod hostile;
mod keeping;
mod messages;
mod receiver;
mod server;
mod tls;

use std::time::Duration;

use net::{Door, Guard, Limits, Policy};

/// Generous, so that a slow machine does not change what a test says.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(20),
    whole: Duration::from_secs(20),
    body_max: 64 * 1024,
};

fn open_door() -> Door {
    Door::new(Policy { guard: Guard::Any, extra_ca: None }).unwrap()
}
