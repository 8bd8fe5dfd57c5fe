//! A progress line on the terminal for long work. Without a terminal nothing is printed.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

pub(crate) const REDRAW: Duration = Duration::from_millis(150);

pub(crate) struct Progress {
    what: &'static str,
    total: Option<u64>,
    started: Instant,
    drawn: Option<Instant>,
    on_terminal: bool,
}

impl Progress {
    pub(crate) fn new(what: &'static str, total: Option<u64>) -> Progress {
        let on_terminal = std::io::stderr().is_terminal();
        Progress { what, total, started: Instant::now(), drawn: None, on_terminal }
    }

    pub(crate) fn show(&mut self, rows: u64) {
        if self.on_terminal && self.drawn.is_none_or(|it| it.elapsed() >= REDRAW) {
            self.drawn = Some(Instant::now());
            let line = line(self.what, rows, self.total, self.started.elapsed());
            eprint!("\r\x1b[K{line}");
            let _ = std::io::stderr().flush();
        }
    }
}

impl Drop for Progress {
    /// Clears the progress line when the work ends, however it ends.
    fn drop(&mut self) {
        if self.drawn.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

fn line(what: &str, rows: u64, total: Option<u64>, elapsed: Duration) -> String {
    let each_second = u128::from(rows) * 1_000 / elapsed.as_millis().max(1);
    let percent = match total {
        Some(total) if total > 0 => format!("{} %, ", rows.min(total) * 100 / total),
        _ => String::new(),
    };
    format!("{what}: {percent}{} rows, {} rows/s", grouped(rows.into()), grouped(each_second))
}

/// A count with its noun: "1 row", "1,200 rows". Only for nouns with a plural in s.
pub(crate) fn counted(count: usize, one: &str) -> String {
    format!("{} {one}{}", grouped(count as u128), if count == 1 { "" } else { "s" })
}

/// Formats 1234567 as 1,234,567.
pub(crate) fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_line_shows_share_rows_and_speed() {
        let shown = line("Backing up", 1_234_567, Some(4_938_268), Duration::from_secs(10));
        assert_eq!(shown, "Backing up: 25 %, 1,234,567 rows, 123,456 rows/s");
        assert_eq!(line("Reading", 0, None, Duration::ZERO), "Reading: 0 rows, 0 rows/s");
        assert_eq!(
            line("Reading", 9, Some(0), Duration::from_secs(1)),
            "Reading: 9 rows, 9 rows/s"
        );
    }
}
