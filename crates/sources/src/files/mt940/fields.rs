//! Splits an MT940 file into fields: a tag such as `:61:` and all lines until the next tag or the end of the message.

/// Banks write up to six lines. Further lines are ignored, so that a file of empty lines stays cheap.
pub(super) const LINES_MAX: usize = 1_000;

/// One field. The end of a message is a field with the tag `-`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field<'a> {
    /// The first line, counted from 1.
    pub(super) line: usize,
    pub(super) tag: &'a str,
    /// At least one line; the first without the tag.
    pub(super) lines: Vec<&'a str>,
}

pub(super) fn fields(text: &str) -> impl Iterator<Item = Field<'_>> {
    Fields { lines: numbered(text).peekable(), ahead: numbered(text), next_tag: Some((0, "")) }
}

type NumberedLines<'a> = std::iter::Zip<std::str::Lines<'a>, std::ops::RangeFrom<usize>>;

fn numbered(text: &str) -> NumberedLines<'_> {
    text.lines().zip(1..)
}

struct Fields<'a> {
    lines: std::iter::Peekable<NumberedLines<'a>>,
    /// The lines after `next_tag`. They are read once, so looking ahead takes linear time.
    ahead: NumberedLines<'a>,
    /// The line and the tag of a known field ahead; none behind the last one.
    next_tag: Option<(usize, &'a str)>,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let (mut found, mut last) = loop {
            let (line, number) = self.lines.next()?;
            if let Some((tag, first)) = begun(line) {
                break (Field { line: number, tag, lines: vec![without_header(first)] }, first);
            }
        };
        let mut is_text = found.lines[0].len() == last.len();
        while let Some((line, number)) = self.lines.peek().copied() {
            if found.tag == "-" || self.is_field(line, number, found.tag, last) {
                break;
            }
            self.lines.next();
            last = line.trim_end();
            let text = without_header(last);
            if is_text && found.lines.len() < LINES_MAX && (!text.is_empty() || last.is_empty()) {
                found.lines.push(text);
            }
            is_text &= text.len() == last.len();
        }
        Some(found)
    }
}

impl<'a> Fields<'a> {
    /// Whether a line begins another field than the current one. `last` is the line before.
    fn is_field(&mut self, line: &str, number: usize, current: &str, last: &str) -> bool {
        let Some((tag, rest)) = begun(line) else { return false };
        if !is_free_text(current) {
            return true;
        }
        // A dash alone on a line, and a time that is wrapped after the hour, may be part of the text.
        let is_doubtful = match tag {
            "-" => line.trim_end() == "-",
            _ if !is_known(tag) => return false,
            _ => is_wrapped_time(last, rest) && tag.len() == 2,
        };
        !(is_doubtful && self.tag_after(number).is_some_and(is_within_statement))
    }

    /// The tag of the first known field after a line.
    fn tag_after(&mut self, line: usize) -> Option<&'a str> {
        while self.next_tag?.0 <= line {
            self.next_tag = self.ahead.find_map(|(text, number)| {
                begun(text).filter(|it| is_known(it.0)).map(|it| (number, it.0))
            });
        }
        self.next_tag.map(|it| it.1)
    }
}

/// Whether a field ends with text that the bank or the payer has written.
fn is_free_text(tag: &str) -> bool {
    matches!(tag, "61" | "86" | "NS")
}

/// Whether MT940 or MT942 has such a field. In free text, `:12:11` is the rest of a time and no field.
fn is_known(tag: &str) -> bool {
    let digits = tag.trim_end_matches(|it: char| it.is_ascii_uppercase());
    matches!(digits, "13" | "20" | "21" | "25" | "28" | "86" | "90")
        || matches!(tag, "34F" | "NS")
        || ("60".."66").contains(&digits)
}

/// Whether such a field follows entries of the same statement, and never begins a message.
fn is_within_statement(tag: &str) -> bool {
    matches!(tag, "61" | "62F" | "62M" | "64" | "65" | "86" | "90C" | "90D" | "NS")
}

/// Whether a line ends with an hour and the next continues with the seconds, as in `at 12` and `:25:15 BAKERY`.
fn is_wrapped_time(last: &str, rest: &str) -> bool {
    let is_digit = |it: Option<&u8>| it.is_some_and(u8::is_ascii_digit);
    let (mut before, after) = (last.as_bytes().iter().rev(), rest.as_bytes());
    let is_hour = is_digit(before.next()) && is_digit(before.next()) && !is_digit(before.next());
    is_hour && is_digit(after.first()) && is_digit(after.get(1)) && !is_digit(after.get(2))
}

/// The tag that begins on this line, and the rest of the line.
fn begun(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_end();
    if line == "-" || line.starts_with("-}") {
        return Some(("-", ""));
    }
    let line = without_envelope(line);
    let (tag, rest) = line.strip_prefix(':')?.split_once(':')?;
    let is_tag = match tag.as_bytes() {
        [b'N', b'S'] => true,
        [a, b] => a.is_ascii_digit() && b.is_ascii_digit(),
        [a, b, c] => a.is_ascii_digit() && b.is_ascii_digit() && c.is_ascii_uppercase(),
        _ => false,
    };
    is_tag.then_some((tag, rest))
}

/// Cuts off the header of the next message, such as `{1:F01...}{2:...}{4:` or `:940:`.
fn without_header(line: &str) -> &str {
    match line {
        ":940:" | ":942:" => "",
        _ => line.find("{1:F").map_or(line, |at| &line[..at]),
    }
}

/// Skips an envelope such as `{1:...}{2:...}{4:` before a field.
fn without_envelope(line: &str) -> &str {
    let mut rest = line.trim_start_matches(['\u{FEFF}', '\u{1}']);
    while let Some(block) = rest.strip_prefix('{') {
        rest = match block.strip_prefix("4:") {
            Some(text) => return text,
            None => match block.split_once('}') {
                Some((_, after)) => after,
                None => return rest,
            },
        };
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::fields;

    fn shown(text: &str) -> Vec<(&str, Vec<&str>)> {
        fields(text).map(|it| (it.tag, it.lines)).collect()
    }

    #[test]
    fn fields_are_found_in_an_envelope_and_without() {
        let text = "{1:F01TESTNL2AXXXX0000000000}{2:I940X}{4:\r\n:20:A\r\n:86:one\r\n two \r\n:x\r\n-}\r\n\
                    noise\r\n{1:X}{4::20:B\n:61:x\n-\n:20:C";
        let found: Vec<(usize, &str, Vec<&str>)> =
            fields(text).map(|it| (it.line, it.tag, it.lines)).collect();
        assert_eq!(
            found,
            [
                (2, "20", vec!["A"]),
                (3, "86", vec!["one", " two", ":x"]),
                (6, "-", vec![""]),
                (8, "20", vec!["B"]),
                (9, "61", vec!["x"]),
                (10, "-", vec![""]),
                (11, "20", vec!["C"]),
            ]
        );
    }

    #[test]
    fn a_dash_within_a_text_does_not_end_the_message() {
        let text =
            ":86:Deposit -\n-\nfor May\n:62F:x\n:86:total\n-\nTESTNL2A\n940\n:20:B\n:86:end\n-\n";
        assert_eq!(
            shown(text),
            [
                ("86", vec!["Deposit -", "-", "for May"]),
                ("62F", vec!["x"]),
                ("86", vec!["total"]),
                ("-", vec![""]),
                ("20", vec!["B"]),
                ("86", vec!["end"]),
                ("-", vec![""]),
            ]
        );
    }

    #[test]
    fn a_wrapped_time_is_no_field() {
        for time in [":30:15 BAKERY", ":25:15 BAKERY", ":20:15", ":00:00/"] {
            let text = format!(":61:x\n:86:Card at 12\n{time}\n:61:y");
            let expected = [("61", vec!["x"]), ("86", vec!["Card at 12", time]), ("61", vec!["y"])];
            assert_eq!(shown(&text), expected, "{time}");
        }
        let next = ":86:Card at 12\n:20:15\n:25:1";
        let expected = [("86", vec!["Card at 12"]), ("20", vec!["15"]), ("25", vec!["1"])];
        assert_eq!(shown(next), expected);
    }

    #[test]
    fn the_header_of_the_next_message_is_no_text() {
        let header = "{1:F01TESTNL2AXXXX0000000000}{2:I940X}{4:";
        for text in [
            format!(":86:one\ntwo\n{header}\n:20:B"),
            format!(":86:one\ntwo{header}\nnoise\n:20:B"),
            ":86:one\ntwo\n:940:\n:20:B".to_owned(),
        ] {
            assert_eq!(shown(&text), [("86", vec!["one", "two"]), ("20", vec!["B"])], "{text}");
        }
        let first = format!(":86:one{header}\n:20:B");
        assert_eq!(shown(&first), [("86", vec!["one"]), ("20", vec!["B"])]);
    }
}
