//! Splits Rust source text into code, strings and comments, so that a rule can look at one of them.

use std::collections::BTreeMap;
use std::sync::Mutex;

/// The parts of one text. In each part the others are blank, so that lines keep their numbers.
pub(super) struct Source {
    pub(super) code: String,
    pub(super) comments: String,
    /// Each string literal with the line it begins on.
    pub(super) strings: Vec<(usize, String)>,
}

impl Source {
    /// The parts of a text. A text is parsed once and kept, because almost every rule reads all files.
    pub(super) fn parse(text: &str) -> &'static Source {
        static PARSED: Mutex<BTreeMap<String, &'static Source>> = Mutex::new(BTreeMap::new());
        let known = PARSED.lock().unwrap().get(text).copied();
        known.unwrap_or_else(|| {
            let source: &Source = Box::leak(Box::new(Source::split(text)));
            PARSED.lock().unwrap().insert(text.to_owned(), source);
            source
        })
    }

    fn split(text: &str) -> Source {
        let mut source =
            Source { code: String::new(), comments: String::new(), strings: Vec::new() };
        let mut rest = text;
        let mut line = 1;
        while !rest.is_empty() {
            let (kind, length) = next_piece(rest);
            let (piece, after) = rest.split_at(length);
            let blank: String =
                piece.chars().map(|it| if it == '\n' { '\n' } else { ' ' }).collect();
            source.code.push_str(if kind == Kind::Code { piece } else { &blank });
            source.comments.push_str(if kind == Kind::Comment { piece } else { &blank });
            if kind == Kind::String {
                let inner = piece.trim_start_matches(['b', 'c', 'r', '#']).trim_end_matches('#');
                source.strings.push((line, inner.trim_matches('"').to_owned()));
            }
            line += piece.matches('\n').count();
            rest = after;
        }
        source
    }
}

/// The lines of a text that satisfy `is_bad`, each with its number.
pub(super) fn lines_with(text: &str, is_bad: impl Fn(&str) -> bool) -> Vec<(usize, &str)> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    numbered.filter(|(_, line)| is_bad(line)).collect()
}

/// The names and numbers in a piece of code.
pub(super) fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|it: char| !it.is_alphanumeric() && it != '_').filter(|it| !it.is_empty())
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    String,
}

fn next_piece(rest: &str) -> (Kind, usize) {
    if rest.starts_with("//") {
        return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Kind::Comment, block_comment(rest));
    }
    if let Some(length) = string(rest) {
        return (Kind::String, length);
    }
    if let Some(length) = character(rest) {
        return (Kind::Code, length);
    }
    // A whole word at once, so that the `r` of `for"` is never taken for the start of a raw string.
    let word = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
    (Kind::Code, if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) })
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let tail = &rest.as_bytes()[at..];
        if tail.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if tail.starts_with(b"*/") {
            depth -= 1;
            at += 2;
        } else {
            at += 1;
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of the string literal that the text begins with.
fn string(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|it| {
        let after = rest.strip_prefix(it).unwrap_or_default();
        let after = if it.ends_with('r') { after.trim_start_matches('#') } else { after };
        after.starts_with('"')
    })?;
    let after = &rest[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = after.len() - after.trim_start_matches('#').len();
        let close = format!("\"{}", "#".repeat(hashes));
        let body = &after[hashes + 1..];
        let end = body.find(&close).map_or(body.len(), |it| it + close.len());
        return Some(prefix.len() + hashes + 1 + end);
    }
    let mut escaped = false;
    for (at, byte) in after.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(prefix.len() + at + 1),
            _ => {}
        }
    }
    Some(rest.len())
}

/// The length of the character literal that the text begins with. A lifetime is no character literal.
fn character(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    let first = inner.chars().next()?;
    if first == '\\' {
        // The character after the backslash may itself be a quote.
        return inner.get(2..)?.find('\'').map(|it| it + 4);
    }
    inner[first.len_utf8()..].starts_with('\'').then(|| first.len_utf8() + 2)
}

#[test]
fn code_strings_and_comments_are_separated() {
    let text = r##"let a = "one // \" two"; // three "four"
let b = ('"', '\'', '\u{41}', b'"'); /* five /* six */ seven */ fn eight<'nine>() {}
let c = r#"ten "eleven"#; let d = b"twelve
thirteen"; for_r"fourteen";
"##;
    let source = Source::parse(text);
    let code: Vec<&str> = words(&source.code).collect();
    assert_eq!(
        code,
        ["let", "a", "let", "b", "u", "41", "b", "fn", "eight", "nine", "let", "c", "let", "d"]
            .into_iter()
            .chain(["for_r"])
            .collect::<Vec<_>>()
    );
    let comments: Vec<&str> = words(&source.comments).collect();
    assert_eq!(comments, ["three", "four", "five", "six", "seven"]);
    let strings: Vec<(usize, &str)> =
        source.strings.iter().map(|(line, text)| (*line, text.as_str())).collect();
    assert_eq!(
        strings,
        [(1, "one // \\\" two"), (3, "ten \"eleven"), (3, "twelve\nthirteen"), (4, "fourteen")]
    );
    assert_eq!(source.code.lines().count(), text.lines().count());
    assert_eq!(lines_with(&source.comments, |it| it.contains("seven"))[0].0, 2);
}
