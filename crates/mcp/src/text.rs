//! Text of others in answers: banks, files and webhooks write it, so it must not hide or reorder what a reader sees.

use std::borrow::Cow;

use wire::json::write_str;

/// Removes control characters and those that are invisible or change the direction of text from a JSON document. They can
/// only be inside its strings, written as they are or escaped. Line breaks and tabs stay.
pub(crate) fn clean_json(json: String) -> String {
    if is_plain(json.as_bytes()) {
        return json;
    }
    let suspicious = |it: char| it == '\\' || is_removed(it);
    if !json.contains(suspicious) {
        return json;
    }
    let mut clean = String::with_capacity(json.len());
    let mut letters = json.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            if !is_removed(letter) {
                clean.push(letter);
            }
            continue;
        }
        let Some(escaped) = letters.next() else { break };
        match escaped {
            'b' | 'f' | 'r' => {}
            'u' => {
                let digits: String = letters.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).unwrap_or(u32::from(u16::MAX));
                // Half of a pair stays with its other half.
                let is_removed = char::from_u32(code).is_some_and(is_removed);
                if !is_removed {
                    clean.push_str("\\u");
                    clean.push_str(&digits);
                }
            }
            other => clean.extend(['\\', other]),
        }
    }
    clean
}

/// Whether all bytes are printable ASCII characters and none is a backslash, as in most answers.
fn is_plain(json: &[u8]) -> bool {
    // No early end inside a piece, so that many bytes are compared at once.
    let is_plain = |it: &u8| (b' '..=b'~').contains(it) & (*it != b'\\');
    json.chunks(512).all(|piece| piece.iter().fold(true, |plain, it| plain & is_plain(it)))
}

/// Appends a JSON document as a JSON string. A document has a quote every few bytes, so each byte is written without a
/// branch instead of looking for the next that needs escaping.
pub(crate) fn write_document_str(out: &mut Vec<u8>, json: &str) {
    let start = out.len();
    // Room for two quotes, and for a backslash before every byte.
    out.resize(start + 2 * json.len() + 2, b'"');
    let room = &mut out[start..];
    let (mut at, mut lowest) = (1, u8::MAX);
    for byte in json.bytes() {
        room[at] = b'\\';
        at += usize::from((byte == b'"') | (byte == b'\\'));
        room[at] = byte;
        at += 1;
        lowest = lowest.min(byte);
    }
    if lowest < b' ' {
        // Line breaks between the members, which are escaped by a letter.
        out.truncate(start);
        return write_str(out, json);
    }
    room[at] = b'"';
    out.truncate(start + at + 1);
}

/// The beginning of a text on one line, with at most so many bytes of JSON.
pub(crate) fn shorten(text: &str, longest: usize) -> Cow<'_, str> {
    if text.len() <= longest && is_one_plain_line(text.as_bytes()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(shorten_any(text, longest))
}

/// Whether `shorten` has nothing to change but the length: plain characters, no quotes, and single spaces between words.
fn is_one_plain_line(text: &[u8]) -> bool {
    let mut before = b' ';
    for byte in text {
        let is_plain = (b' '..=b'~').contains(byte) && !matches!(byte, b'"' | b'\\');
        if !is_plain || (*byte == b' ' && before == b' ') {
            return false;
        }
        before = *byte;
    }
    before != b' ' || text.is_empty()
}

fn shorten_any(text: &str, longest: usize) -> String {
    let mut words = text.split_whitespace();
    let mut line = words.next().unwrap_or_default().to_owned();
    for word in words {
        line.push(' ');
        line.push_str(word);
    }
    let mut bytes = 0;
    let end = line.char_indices().find(|(_, letter)| {
        bytes += letter.len_utf8() + usize::from(matches!(letter, '"' | '\\'));
        bytes > longest
    });
    match end {
        Some((at, _)) => line[..at].trim_end().to_owned(),
        None => line,
    }
}

fn is_removed(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hidden_characters_are_removed_and_the_rest_stays() {
        for (text, expected) in [
            ("PAY\u{202e}PAL", "PAYPAL"),
            ("a\u{0}b\u{7f}c\u{9f}", "abc"),
            ("tag\u{e0041}ged", "tagged"),
            ("Café \"家計\" \\n/", "Café \"家計\" \\n/"),
            ("one\ntwo\tthree", "one\ntwo\tthree"),
        ] {
            let json = clean_json(serde_json::to_string(text).unwrap());
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), expected);
        }
        assert_eq!(clean_json(r#""a\u202eb\ud83d\ude00\u0007""#.to_owned()), r#""ab\ud83d\ude00""#);
    }

    #[test]
    fn a_shortened_text_is_on_one_line() {
        assert_eq!(shorten("  two \n words ", 20), "two words");
        assert_eq!(shorten("abcdef", 3), "abc");
        assert_eq!(shorten("éèê", 5), "éè");
        assert_eq!(shorten("a\"b", 3), "a\"");
    }

    proptest! {
        #[test]
        fn clean_json_is_json_with_the_letters_that_are_seen(text in ".*") {
            let json = clean_json(serde_json::to_string(&text).unwrap());
            let read: String = serde_json::from_str(&json).unwrap();
            let seen = |it: &char| !is_removed(*it) || matches!(it, '\n' | '\t');
            let expected: String = text.chars().filter(seen).collect();
            prop_assert_eq!(read, expected);
        }

        #[test]
        fn documents_are_written_as_strings(text in "\\PC*|[\\x00-\\x7f]{0,40}|.*[\"\\\\\n].*") {
            let mut ours = b"before".to_vec();
            write_document_str(&mut ours, &text);
            prop_assert_eq!(&ours[6..], serde_json::to_vec(&text).unwrap());
        }

        #[test]
        fn a_plain_text_is_shortened_like_any_other(text in "[ -~]{0,30}|[a-c ]{0,8}", longest in 0..32_usize) {
            prop_assert_eq!(shorten(&text, longest), shorten_any(&text, longest));
        }
    }
}
