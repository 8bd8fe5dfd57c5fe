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
    let mut lines = text.lines().zip(1..).peekable();
    std::iter::from_fn(move || {
        loop {
            let (line, number) = lines.next()?;
            let Some((tag, first)) = begun(line) else { continue };
            let mut found = Field { line: number, tag, lines: vec![first] };
            while let Some((line, _)) = lines.next_if(|(it, _)| tag != "-" && begun(it).is_none()) {
                if found.lines.len() < LINES_MAX {
                    found.lines.push(line.trim_end());
                }
            }
            return Some(found);
        }
    })
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
        [a, b] => a.is_ascii_digit() && b.is_ascii_digit(),
        [a, b, c] => a.is_ascii_digit() && b.is_ascii_digit() && c.is_ascii_uppercase(),
        _ => false,
    };
    is_tag.then_some((tag, rest))
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
}
