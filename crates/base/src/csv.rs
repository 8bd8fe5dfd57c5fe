//! Cells of CSV files that we write: quotation marks, and a guard against text that a spreadsheet would run as a
//! formula.
//!
//! Every CSV file that leaves Evenkeel is written with these functions, and imports of our own files remove the guard.

use std::borrow::Cow;

/// Guards text of a bank or a merchant that a spreadsheet would run as a formula: an apostrophe in front makes it plain
/// text.
pub fn guard_formula(text: &str) -> Cow<'_, str> {
    if is_formula(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// The text without its guard; none if it has none.
pub fn strip_guard(text: &str) -> Option<&str> {
    text.strip_prefix('\'').filter(|it| is_formula(it))
}

/// A cell as RFC 4180 writes it: between quotation marks where it needs them. Semicolons and tabs need them too,
/// because some spreadsheets separate cells by them.
pub fn quote(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\r', '\n', ';', '\t']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

/// A cell of text: guarded, then quoted. Numbers need only `quote`.
pub fn text_cell(text: &str) -> String {
    quote(&guard_formula(text)).into_owned()
}

/// Whether a spreadsheet may run the text. Spreadsheets skip leading blanks, know full-width signs, and split cells at
/// tabs and line ends.
fn is_formula(text: &str) -> bool {
    let start = text.trim_start_matches(|it: char| it.is_whitespace() || it.is_control());
    start.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '|', '%'])
        || text.starts_with(['\t', '\r', '\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_begins_like_a_formula_is_guarded() {
        for text in [
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            " =1",
            "\r=1",
            "\nx",
            "|cmd",
            "＝1",
            "＋1",
            "－1",
            "＠x",
            "%0A=1",
            "\u{a0}=1",
            "\u{1}=1",
            "+49 30 1234",
            "-rent",
            "-",
        ] {
            assert!(guard_formula(text).starts_with('\''), "{text:?}");
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in ["", "Rent", "a=b", "2-1", "'quoted'", "100 %"] {
            assert_eq!(text_cell(text), text);
            assert_eq!(strip_guard(text), None);
        }
    }

    #[test]
    fn the_guard_is_inside_the_quotation_marks() {
        assert_eq!(text_cell("=cmd|' /C calc'!A0,x"), "\"'=cmd|' /C calc'!A0,x\"");
        assert_eq!(text_cell("say \"hi\""), "\"say \"\"hi\"\"\"");
        assert_eq!(text_cell("a;b"), "\"a;b\"");
        assert_eq!(text_cell("two\r\nlines"), "\"two\r\nlines\"");
    }

    #[test]
    fn a_guard_is_stripped_again() {
        for text in ["=1+1", " -1", "\t@x", "＝1"] {
            assert_eq!(strip_guard(&guard_formula(text)), Some(text));
        }
    }
}
