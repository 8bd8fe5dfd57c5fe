//! Tests the built program in a real browser: Chromium, controlled over WebDriver by our own client.

pub mod audit;
pub mod axe;
pub mod bank;
pub mod browser;
pub mod browser_log;
mod empty_pages;
pub mod http;
pub mod input;
pub mod listener;
pub mod pages;
pub mod program;
pub mod scenes;
pub mod session;
pub mod viewport;

use std::time::{Duration, Instant};

pub use browser::Browser;
pub use program::Program;

/// Nothing here takes nearly as long, so a test that waits longer has failed.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// Polls until there is a result. It waits in real time, because another process has no clock that a test can move.
#[track_caller]
pub fn until<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    let mut attempts = 0;
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(start.elapsed() < TIMEOUT, "timed out waiting until {what}");
        pause_after(attempts);
        attempts += 1;
    }
}

/// Asking takes a part of a processor that the other process needs, so what takes long is asked less often.
#[expect(clippy::disallowed_methods, reason = "another process has no clock that a test can move")]
fn pause_after(attempts: u32) {
    std::thread::sleep(Duration::from_millis(if attempts < 10 { 20 } else { 100 }));
}
