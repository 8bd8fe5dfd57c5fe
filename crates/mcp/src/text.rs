//! Text of others in answers: banks, files and webhooks write it, so it must not hide or reorder what a reader sees.

/// Removes control characters and those that are invisible or change the direction of text from a JSON document. They can
/// only be inside its strings, written as they are or escaped. Line breaks and tabs stay.
pub(crate) fn clean_json(json: String) -> String {
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

/// The beginning of a text on one line, with at most so many bytes of JSON.
pub(crate) fn shorten(text: &str, longest: usize) -> String {
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
    }
}
