//! The cells of one row.

use std::borrow::Cow;

use super::dialect::tidy;

pub(super) type Cells<'c> = &'c [Cow<'c, str>];

/// The text of a cell; empty if the row is too short.
pub(super) fn cell<'c>(cells: Cells<'c>, column: Option<usize>) -> &'c str {
    column.and_then(|it| cells.get(it)).map_or("", |it| tidy(it))
}

/// The cell's text, cut to fit in a rejection.
pub(super) fn quote(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("\u{201c}{}…\u{201d}", &text[..end]),
        None => format!("\u{201c}{text}\u{201d}"),
    }
}
