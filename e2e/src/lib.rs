//! The built program seen through a real browser: Chromium, asked over WebDriver by a client of our own.

pub mod audit;
pub mod bank;
pub mod browser;
pub mod http;
pub mod listener;
pub mod look;
pub mod pages;
pub mod program;
pub mod scenes;
pub mod session;
pub mod watch;

use std::time::{Duration, Instant};

pub use browser::Browser;
pub use program::Program;

/// Nothing here takes nearly as long; a test that waits longer would wait for ever.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Asks again until there is an answer. Another process has no clock that we could move.
#[track_caller]
pub fn until<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        pause();
    }
}

#[expect(clippy::disallowed_methods, reason = "another process has no clock that we could move")]
fn pause() {
    std::thread::sleep(Duration::from_millis(20));
}
