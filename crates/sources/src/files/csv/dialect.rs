//! Splits a table into records and cells: delimiters, quoting, and the line on which each record begins.

use std::borrow::Cow;

use base::words;
use memchr::{memchr, memchr_iter, memchr2};

use crate::files::FileError;

words!(
    /// The character between the cells of a row.
    #[derive(Default)]
    Delimiter {
        #[default]
        Comma => "comma",
        Semicolon => "semicolon",
        Tab => "tab",
        Pipe => "pipe",
    }
);

impl Delimiter {
    pub(crate) fn byte(self) -> u8 {
        match self {
            Delimiter::Comma => b',',
            Delimiter::Semicolon => b';',
            Delimiter::Tab => b'\t',
            Delimiter::Pipe => b'|',
        }
    }
}

/// No bank writes as many columns. Further cells are ignored, so that a line of commas stays cheap.
pub(super) const CELLS_MAX: usize = 256;

/// Limit on delimiters, line ends and quotation marks in a file. The largest real files have a third of it; more
/// would keep a processor busy for long.
const MARKS_MAX: usize = 32_000_000;

/// Rejects a file with too many separators before parsing it. Counting is much faster than parsing.
pub(super) fn check_size(text: &str, delimiter: Delimiter) -> Result<(), FileError> {
    let count = |byte: u8| memchr_iter(byte, text.as_bytes()).count();
    let marks = [delimiter.byte(), b'\n', b'\r', b'"'].map(count);
    if marks.iter().sum::<usize>() > MARKS_MAX { Err(FileError::TooManyCells) } else { Ok(()) }
}

/// Iterates over the records. Cells borrow from the text unless they contain doubled quotation marks.
pub(crate) struct Records<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    delimiter: u8,
    line_end: u8,
    /// Set after a quotation mark that is never closed; from then on a quoted cell must end on its line.
    is_broken: bool,
    /// Quotation marks before this position are treated as ordinary characters.
    literal_until: usize,
    /// The end of the current line, so that each line is scanned for its end once.
    line_stop: usize,
}

impl<'a> Records<'a> {
    pub(crate) fn new(text: &'a str, delimiter: Delimiter) -> Records<'a> {
        // Files of old Macs end lines with a carriage return alone.
        let is_old = memchr(b'\n', text.as_bytes()).is_none();
        Records {
            text,
            at: 0,
            line: 1,
            delimiter: delimiter.byte(),
            line_end: if is_old { b'\r' } else { b'\n' },
            is_broken: false,
            literal_until: 0,
            line_stop: 0,
        }
    }

    /// Limits the text to `bytes` from here, and returns whether this cuts something off.
    pub(super) fn end_after(&mut self, bytes: usize) -> bool {
        let end = self.text.floor_char_boundary(self.at.saturating_add(bytes));
        let is_cut = end < self.text.len();
        self.text = &self.text[..end];
        is_cut
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Skips whole lines without parsing them.
    pub(super) fn skip_lines(&mut self, count: usize) {
        for _ in 0..count {
            let rest = &self.text.as_bytes()[self.at..];
            if rest.is_empty() {
                return;
            }
            self.at += memchr(self.line_end, rest).map_or(rest.len(), |it| it + 1);
            self.line += 1;
        }
    }

    /// Whether a quotation mark was found that is never closed.
    pub(crate) fn has_unclosed_quote(&self) -> bool {
        self.is_broken
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Reads the next non-empty record into `cells` and returns its line.
    pub(crate) fn next(&mut self, cells: &mut Vec<Cow<'a, str>>) -> Option<usize> {
        loop {
            self.skip_empty_lines();
            if self.at >= self.text.len() {
                return None;
            }
            let line = self.line;
            cells.clear();
            while self.cell(cells) {}
            if cells.iter().any(|it| !tidy(it).is_empty()) {
                return Some(line);
            }
        }
    }

    /// Skips empty lines quickly; a file may contain millions.
    fn skip_empty_lines(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(byte) if *byte == self.line_end => self.at += 1,
                Some(b'\r') if bytes.get(self.at + 1) == Some(&self.line_end) => self.at += 2,
                _ => return,
            }
            self.line += 1;
        }
    }

    /// Appends a cell, and returns whether another follows in the same record.
    fn cell(&mut self, cells: &mut Vec<Cow<'a, str>>) -> bool {
        let bytes = self.text.as_bytes();
        let mut start = self.at;
        while matches!(bytes.get(start), Some(b' ' | b'\t')) && bytes[start] != self.delimiter {
            start += 1;
        }
        if bytes.get(start) == Some(&b'"')
            && start >= self.literal_until
            && let Some(more) = self.quoted(start + 1, cells)
        {
            return more;
        }
        let rest = &bytes[self.at..];
        let length = memchr2(self.delimiter, self.line_end, rest).unwrap_or(rest.len());
        let cell = &self.text[self.at..self.at + length];
        self.at += length;
        push(cells, Cow::Borrowed(cell));
        self.step()
    }

    /// Reads a quoted cell; doubled quotation marks stand for one. Banks forget to double them, so only a mark before
    /// the end of a cell closes it. None if no mark does: then it is an ordinary character.
    fn quoted(&mut self, start: usize, cells: &mut Vec<Cow<'a, str>>) -> Option<bool> {
        let bytes = self.text.as_bytes();
        if self.is_broken && self.line_stop < start {
            let length = memchr(self.line_end, &bytes[start..]);
            self.line_stop = length.map_or(bytes.len(), |it| start + it);
        }
        let stop = if self.is_broken { self.line_stop } else { bytes.len() };
        let (mut at, mut has_doubled) = (start, false);
        let end = loop {
            let Some(found) = memchr(b'"', &bytes[at..stop]) else {
                if self.is_broken {
                    self.literal_until = stop;
                    return None;
                }
                self.is_broken = true;
                return self.quoted(start, cells);
            };
            let mark = at + found;
            match bytes.get(mark + 1) {
                Some(b'"') => (has_doubled, at) = (true, mark + 2),
                _ if self.ends_cell(mark + 1) => break mark,
                _ => at = mark + 1,
            }
            if at > stop {
                at = stop;
            }
        };
        let inner = &self.text[start..end];
        self.line += inner.bytes().filter(|it| *it == self.line_end).count();
        let rest = &bytes[end + 1..];
        self.at = end + 1 + memchr2(self.delimiter, self.line_end, rest).unwrap_or(rest.len());
        let cell = match has_doubled {
            true => Cow::Owned(inner.replace("\"\"", "\"")),
            false => Cow::Borrowed(inner),
        };
        push(cells, cell);
        Some(self.step())
    }

    fn ends_cell(&self, mut at: usize) -> bool {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(at), Some(b' ' | b'\t')) && bytes[at] != self.delimiter {
            at += 1;
        }
        match bytes.get(at) {
            None | Some(b'\r' | b'\n') => true,
            Some(byte) => *byte == self.delimiter,
        }
    }

    /// Steps over the end of a cell, and returns whether it was a delimiter.
    fn step(&mut self) -> bool {
        let Some(byte) = self.text.as_bytes().get(self.at) else { return false };
        self.at += 1;
        let is_line_end = *byte == self.line_end;
        self.line += usize::from(is_line_end);
        !is_line_end
    }
}

fn push<'a>(cells: &mut Vec<Cow<'a, str>>, cell: Cow<'a, str>) {
    if cells.len() < CELLS_MAX {
        cells.push(cell);
    }
}

/// The cell without surrounding spaces, tabs and byte order marks, and without the formula that keeps a spreadsheet from
/// reading a number: `="0123"`.
pub(super) fn tidy(cell: &str) -> &str {
    match cell.as_bytes() {
        [] => cell,
        [b'=', b'"', .., b'"'] if cell.len() > 3 => &cell[2..cell.len() - 1],
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => cell,
        _ => cell.trim_matches(|it: char| it.is_whitespace() || it == '\u{feff}'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str, delimiter: Delimiter) -> Vec<(usize, Vec<String>)> {
        let (mut records, mut cells) = (Records::new(text, delimiter), Vec::new());
        let mut found = Vec::new();
        while let Some(line) = records.next(&mut cells) {
            found.push((line, cells.iter().map(|it| tidy(it).to_owned()).collect()));
        }
        found
    }

    fn shown(text: &str) -> String {
        let rows = records(text, Delimiter::Comma);
        let rows: Vec<_> =
            rows.iter().map(|(line, cells)| format!("{line}:{}", cells.join("|"))).collect();
        rows.join(" ")
    }

    #[test]
    fn records_are_split_into_cells_with_their_lines() {
        for (text, expected) in [
            ("a,b\nc,d\n", "1:a|b 2:c|d"),
            ("a,b\r\nc,d", "1:a|b 2:c|d"),
            ("a,b\rc,d\r", "1:a|b 2:c|d"),
            ("a,b,\n", "1:a|b|"),
            ("\n,,\n a , b \n\n", "3:a|b"),
            ("\"a,1\",b\nc", "1:a,1|b 2:c"),
            ("\"a\nb\",c\nd,e\n", "1:a\nb|c 3:d|e"),
            ("\"say \"\"hi\"\"\",b", "1:say \"hi\"|b"),
            ("\"say \"hi\" now\",b", "1:say \"hi\" now|b"),
            (" \"a\" ,\t\"b\"\n", "1:a|b"),
            ("a\"b,c\n", "1:a\"b|c"),
            ("\"\",\"\"\"\"\n", "1:|\""),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn an_unclosed_quotation_mark_is_an_ordinary_character() {
        assert_eq!(shown("\"a,b\nc,\"d\"\n"), "1:a,b\nc,\"d");
        assert_eq!(shown("\"a,b\nc,d\n"), "1:\"a|b 2:c|d");
        assert_eq!(shown("a,\"b\nc,d\ne,\"f"), "1:a|\"b 2:c|d 3:e|\"f");
    }

    #[test]
    fn lines_can_be_skipped() {
        let mut records = Records::new("Report \"of\nall\n\na,b\n", Delimiter::Comma);
        records.skip_lines(2);
        let mut cells = Vec::new();
        assert_eq!(records.next(&mut cells), Some(4));
        assert_eq!(cells, ["a", "b"]);
        records.skip_lines(9);
        assert_eq!(records.next(&mut cells), None);
    }

    #[test]
    fn a_line_of_commas_has_a_limited_number_of_cells() {
        let rows = records(&format!("x{}\na,b\n", ",".repeat(1_000_000)), Delimiter::Comma);
        assert_eq!((rows[0].1.len(), rows[1].0), (CELLS_MAX, 2));
    }

    /// The first mark is never closed, which is known only at the end of the file; those of the long line are closed.
    #[test]
    fn a_long_line_after_an_unclosed_mark_is_scanned_for_its_end_once() {
        let cells = 300_000;
        let text = format!("\"a\"\",b\nx,{}\n", "\"\",".repeat(cells));
        let rows = records(&text, Delimiter::Comma);
        assert_eq!((rows.len(), rows[1].0, rows[1].1.len()), (2, 2, CELLS_MAX));
    }

    #[test]
    fn empty_lines_are_counted_and_skipped() {
        assert_eq!(shown("\n\r\n\na,b\n\n\r\nc,d\n\n"), "4:a|b 7:c|d");
        assert_eq!(shown("\r\ra,b\r\rc"), "3:a|b 5:c");
    }

    #[test]
    fn a_file_of_mostly_separators_is_refused_before_parsing() {
        for mark in ["\n", "\"", ",", "\r"] {
            let text = mark.repeat(MARKS_MAX);
            assert_eq!(check_size(&text, Delimiter::Comma), Ok(()));
            assert_eq!(check_size(&(text + ","), Delimiter::Comma), Err(FileError::TooManyCells));
        }
        assert_eq!(check_size(&"|".repeat(MARKS_MAX + 1), Delimiter::Comma), Ok(()));
    }

    #[test]
    fn many_unclosed_marks_are_read_in_linear_time() {
        for text in ["\"a,".repeat(300_000), "\"a\n".repeat(300_000), "\"".repeat(600_001)] {
            assert!(!records(&text, Delimiter::Comma).is_empty());
        }
    }
}
