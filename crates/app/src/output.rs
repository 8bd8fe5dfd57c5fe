//! Printing to standard output.

use std::io::{self, Write as _};

use anyhow::Result;

/// Prints to standard output without control characters, since the text may come from banks and apps. A closed pipe, as
/// with `head`, is not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    let text = text.replace(|it: char| it.is_control() && it != '\n' && it != '\t', "\u{fffd}");
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

pub(crate) fn print_json(value: &serde_json::Value) -> Result<()> {
    print(&format!("{}\n", serde_json::to_string_pretty(value)?))
}
