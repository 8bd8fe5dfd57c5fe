//! Opens the web app in the browser of this desktop, for `evenkeel demo --open`.

use std::process::{Command, Stdio};

/// Programs that open an address in the default browser: on Linux and BSD, on macOS, and on Windows inside WSL.
const OPENERS: [&str; 3] = ["xdg-open", "open", "wslview"];

/// Failures are printed and not fatal: the link was printed, too.
pub(super) fn open(url: &str) {
    let mut started = OPENERS.iter().filter_map(|program| start(program, url));
    let Some(mut child) = started.next() else {
        eprintln!("evenkeel: no browser could be opened; open the link above yourself");
        return;
    };
    // Waits for the opener on its own thread, so that it does not stay as a zombie.
    std::thread::spawn(move || {
        if !child.wait().is_ok_and(|it| it.success()) {
            eprintln!("evenkeel: no browser could be opened; open the link above yourself");
        }
    });
}

fn start(program: &str, url: &str) -> Option<std::process::Child> {
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().ok()
}
