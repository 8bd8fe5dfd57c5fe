//! Splits an OFX file into tags and values. SGML and XML are read by the same rule: the text between a tag and the
//! next one is its value. A `<` that begins no tag is text, and nothing is scanned twice.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memmem};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A tag without a value: an aggregate, or an empty element.
    Open(Cow<'a, str>),
    Leaf(Cow<'a, str>, Cow<'a, str>),
    Close(Cow<'a, str>),
}

pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// Where the last token began.
    pub(super) began: usize,
    /// The tag that ended the last value, already parsed.
    ahead: Option<(usize, Tag<'a>)>,
    /// Set once a search for the end of a section failed: it would fail again.
    endless: bool,
}

#[derive(Debug, Clone, Copy)]
struct Tag<'a> {
    name: &'a str,
    closes: bool,
    is_empty: bool,
    end: usize,
}

enum Markup<'a> {
    Tag(Tag<'a>),
    /// A CDATA section: its content and its end.
    Verbatim(&'a str, usize),
    /// The end of a comment, declaration or processing instruction.
    Skipped(usize),
    Text,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Tokens<'a> {
        Tokens { text, at: 0, began: 0, ahead: None, endless: false }
    }

    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let (began, tag) = self.next_tag()?;
            self.at = tag.end;
            self.began = began;
            if tag.is_empty {
                continue;
            }
            let name = upper(tag.name);
            if tag.closes {
                return Some(Token::Close(name));
            }
            let value = self.value();
            // A value at the end of the file may be cut off.
            self.ahead?;
            if value.is_empty() {
                return Some(Token::Open(name));
            }
            // The element's own end tag adds nothing.
            if let Some((_, end)) = self.ahead
                && end.closes
                && end.name == tag.name
            {
                self.at = end.end;
                self.ahead = None;
            }
            return Some(Token::Leaf(name, value));
        }
    }

    fn next_tag(&mut self) -> Option<(usize, Tag<'a>)> {
        if let Some(ahead) = self.ahead.take() {
            return Some(ahead);
        }
        loop {
            let began = self.at + memchr(b'<', &self.text.as_bytes()[self.at..])?;
            self.at = match self.markup(began) {
                Markup::Tag(tag) => return Some((began, tag)),
                Markup::Verbatim(_, end) | Markup::Skipped(end) => end,
                Markup::Text => began + 1,
            };
        }
    }

    /// The text up to the next tag, which is remembered.
    fn value(&mut self) -> Cow<'a, str> {
        let from = self.at;
        let mut whole: Option<String> = None;
        let mut piece = from;
        let end = loop {
            let Some(next) = memchr(b'<', &self.text.as_bytes()[self.at..]) else {
                self.at = self.text.len();
                break self.at;
            };
            let mark = self.at + next;
            let (verbatim, end) = match self.markup(mark) {
                Markup::Tag(tag) => {
                    self.ahead = Some((mark, tag));
                    break mark;
                }
                Markup::Verbatim(inside, end) => (inside, end),
                Markup::Skipped(end) => ("", end),
                Markup::Text => {
                    self.at = mark + 1;
                    continue;
                }
            };
            let whole = whole.get_or_insert_default();
            whole.push_str(&clean(&self.text[piece..mark]));
            whole.push_str(verbatim);
            self.at = end;
            piece = end;
        };
        let last = &self.text[piece..end];
        match whole {
            None => clean(last.trim()),
            Some(whole) => {
                let whole = whole + &clean(last);
                Cow::Owned(one_line(whole.trim()))
            }
        }
    }

    fn markup(&mut self, mark: usize) -> Markup<'a> {
        let rest = &self.text[mark..];
        match rest.as_bytes().get(1) {
            Some(b'!') if rest.starts_with("<![CDATA[") => match self.find(mark + 9, "]]>") {
                Some(end) => Markup::Verbatim(&self.text[mark + 9..end], end + 3),
                None => Markup::Skipped(mark + 9),
            },
            Some(b'!') if rest.starts_with("<!--") => match self.find(mark + 4, "-->") {
                Some(end) => Markup::Skipped(end + 3),
                None => Markup::Skipped(mark + 4),
            },
            Some(b'!' | b'?') => match memchr2(b'<', b'>', &rest.as_bytes()[1..]) {
                Some(at) if rest.as_bytes()[at + 1] == b'>' => Markup::Skipped(mark + at + 2),
                _ => Markup::Skipped(mark + 2),
            },
            _ => tag(rest, mark).map_or(Markup::Text, Markup::Tag),
        }
    }

    fn find(&mut self, from: usize, end: &str) -> Option<usize> {
        if self.endless {
            return None;
        }
        let found = memmem::find(&self.text.as_bytes()[from..], end.as_bytes());
        self.endless = found.is_none();
        found.map(|it| from + it)
    }
}

/// Parses the tag that `rest` begins with: a name, and perhaps attributes.
fn tag(rest: &str, mark: usize) -> Option<Tag<'_>> {
    let bytes = rest.as_bytes();
    let closes = bytes.get(1) == Some(&b'/');
    let start = 1 + usize::from(closes);
    let is_name = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'_' | b'-' | b':');
    let length = bytes[start..].iter().take_while(|it| is_name(it)).count();
    let name = &rest[start..start + length];
    if !name.starts_with(|it: char| it.is_ascii_alphabetic()) {
        return None;
    }
    let after = start + length;
    if bytes.get(after) == Some(&b'>') {
        return Some(Tag { name, closes, is_empty: false, end: mark + after + 1 });
    }
    let until = after + memchr2(b'<', b'>', &bytes[after..])?;
    let inside = rest[after..until].trim();
    let is_empty = inside.ends_with('/');
    let is_tag = bytes[until] == b'>' && (inside.is_empty() || is_empty || inside.contains('='));
    is_tag.then_some(Tag { name, closes, is_empty, end: mark + until + 1 })
}

fn upper(name: &str) -> Cow<'_, str> {
    match name.bytes().any(|it| it.is_ascii_lowercase()) {
        true => Cow::Owned(name.to_ascii_uppercase()),
        false => Cow::Borrowed(name),
    }
}

/// The text on one line with entities decoded.
pub(in crate::files) fn clean(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|it| it == b'&' || it < b' ') {
        return Cow::Borrowed(text);
    }
    if text.contains('&') {
        return Cow::Owned(one_line(&decoded(text)));
    }
    Cow::Owned(one_line(text))
}

fn one_line(text: &str) -> String {
    let text = text.replace("\r\n", " ");
    text.replace(|it: char| it.is_control(), " ")
}

/// Decodes entities once; a `&` that begins none stays as it is.
fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(mark) = rest.find('&') {
        out.push_str(&rest[..mark]);
        rest = &rest[mark + 1..];
        match entity(rest) {
            Some((character, length)) => {
                out.push(character);
                rest = &rest[length..];
            }
            None => out.push('&'),
        }
    }
    out + rest
}

/// The character of an entity, and its length after the `&`.
fn entity(rest: &str) -> Option<(char, usize)> {
    const LONGEST: usize = 9;
    let end = rest.bytes().take(LONGEST).position(|it| it == b';')?;
    let character = match &rest[..end] {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        code => {
            let code = code.strip_prefix('#')?;
            let value = match code.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => code.parse(),
            };
            char::from_u32(value.ok()?)?
        }
    };
    Some((character, end + 1))
}
