//! What a server says beside the data: which login needs the person, what to try again, and what was cut off.

/// One sentence of the server, made fit to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Such as `con.auth`; version 1 has none.
    pub code: Option<String>,
    /// Without markup and control characters, at most 300 characters.
    pub text: String,
    /// The id of the connection that it is about.
    pub connection: Option<String>,
    /// The server's id of the account that it is about.
    pub account: Option<String>,
    pub matter: Matter,
}

/// What to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matter {
    /// The person has to sign in at the institution again, over the SimpleFIN server's own page.
    Reauthenticate,
    /// The institution did not answer, or not with all; the next sync may bring it.
    Retry,
    /// The answer has only so many days.
    RangeCapped(i64),
    TooManyRequests,
    Other,
}

const LONGEST: usize = 300;

impl Matter {
    pub(super) fn of(code: Option<&str>, text: &str) -> Matter {
        if is_about_requests(text) {
            return Matter::TooManyRequests;
        }
        if let Some(days) = capped_at(text) {
            return Matter::RangeCapped(days);
        }
        match code {
            Some("con.auth") => Matter::Reauthenticate,
            // A code that is not known counts as what it begins with.
            Some(code) if code.starts_with("con.") || code.starts_with("act.") => Matter::Retry,
            Some(_) => Matter::Other,
            None if attention_of(text).is_some() => Matter::Reauthenticate,
            None => Matter::Other,
        }
    }
}

/// The institution that version 1 names in "Connection to X may need attention".
pub(super) fn attention_of(text: &str) -> Option<&str> {
    text.strip_prefix("Connection to ")?.split_once(" may need attention").map(|(name, _)| name)
}

pub(super) fn is_about_requests(text: &str) -> bool {
    let text = text.to_lowercase();
    ["make fewer requests", "only refreshed once every 24 hours", "rate limit", "too many requests"]
        .iter()
        .any(|it| text.contains(it))
}

/// From "Requested date range exceeds limit of 90 days and was capped."
fn capped_at(text: &str) -> Option<i64> {
    let text = text.to_lowercase();
    if !text.contains("date range") && !text.contains("capped") {
        return None;
    }
    let (before, _) = text.split_once(" day")?;
    let digits = before.rsplit(|it: char| !it.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|it| (1..=3_660).contains(it))
}

/// The words of a text that may hold markup or worse.
pub(super) fn cleaned(text: &str) -> String {
    let stripped = unmarked(text);
    let mut kept = String::new();
    let mut length = 0;
    for word in stripped.split(|it: char| it.is_whitespace() || it.is_control()) {
        let word: String = word.chars().filter(|it| !is_invisible(*it)).collect();
        if word.is_empty() {
            continue;
        }
        if length > 0 {
            kept.push(' ');
            length += 1;
        }
        length += word.chars().count();
        kept.push_str(&word);
        if length > LONGEST {
            let cut: String = kept.chars().take(LONGEST - 1).collect();
            return format!("{cut}…");
        }
    }
    kept
}

/// Marks that turn text around or hide within it.
fn is_invisible(it: char) -> bool {
    matches!(it, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}')
        || it == '\u{FEFF}'
}

/// Without tags, comments, and what is inside scripts and styles.
fn unmarked(text: &str) -> String {
    let mut kept = String::with_capacity(text.len().min(4 * LONGEST));
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        kept.push_str(&plain(&rest[..at]));
        let tag = &rest[at + 1..];
        if !tag.starts_with(|it: char| it.is_ascii_alphabetic() || "/!?".contains(it)) {
            kept.push('<');
            rest = tag;
            continue;
        }
        kept.push(' ');
        let name: String = tag.chars().take(6).collect::<String>().to_ascii_lowercase();
        let closing = match name.as_str() {
            "script" => "</script",
            it if it.starts_with("style") => "</style",
            it if it.starts_with("!--") => "-->",
            _ => ">",
        };
        let Some(end) = find_caseless(tag, closing) else { return kept };
        rest = &tag[end + closing.len()..];
        if closing.starts_with("</") {
            rest = rest.split_once('>').map_or("", |(_, it)| it);
        }
    }
    kept.push_str(&plain(rest));
    kept
}

fn find_caseless(text: &str, lower: &str) -> Option<usize> {
    let (text, lower) = (text.as_bytes(), lower.as_bytes());
    text.windows(lower.len()).position(|it| it.eq_ignore_ascii_case(lower))
}

/// Entities that sentences have. Brackets stay as they are, so that no markup comes out of this.
fn plain(text: &str) -> String {
    let pairs = [("&nbsp;", " "), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'")];
    let plain = pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    plain.replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sentences_are_shown_without_markup() {
        for (text, expected) in [
            ("Plain words.", "Plain words."),
            ("<b>Bold</b> &amp; <a href=\"https://evil.example\">link</a>", "Bold & link"),
            ("One<br/>two\r\n\tthree", "One two three"),
            ("<script>alert('x')</script>After", "After"),
            ("<STYLE>p { }</Style >After", "After"),
            ("a <!-- hidden > --> b", "a b"),
            ("5 < 6 and 7 > 6", "5 < 6 and 7 > 6"),
            ("cut <img src=x onerror=alert(1)", "cut"),
            ("\u{202E}back\u{0}wards\u{7}", "back wards"),
            ("", ""),
        ] {
            assert_eq!(cleaned(text), expected, "{text}");
        }
        let long = cleaned(&"word ".repeat(1_000));
        assert_eq!(long.chars().count(), 300);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn each_matter_is_told_by_code_or_words() {
        for (code, text, matter) in [
            (Some("con.auth"), "Sign in again", Matter::Reauthenticate),
            (Some("con."), "Bank is down", Matter::Retry),
            (Some("con.new"), "Bank is down", Matter::Retry),
            (Some("act.failed"), "Try later", Matter::Retry),
            (Some("act.missingdata"), "Incomplete", Matter::Retry),
            (Some("gen.api"), "Do not do that", Matter::Other),
            (
                Some("gen.api"),
                "Requested date range exceeds limit of 90 days and was capped.",
                Matter::RangeCapped(90),
            ),
            (None, "Date range limited to 45 days", Matter::RangeCapped(45)),
            (None, "Connection to First Bank may need attention", Matter::Reauthenticate),
            (None, "Please make fewer requests", Matter::TooManyRequests),
            (Some("gen."), "Rate Limit exceeded", Matter::TooManyRequests),
            (None, "Data is only refreshed once every 24 hours", Matter::TooManyRequests),
            (None, "Hello", Matter::Other),
        ] {
            assert_eq!(Matter::of(code, text), matter, "{text}");
        }
        assert_eq!(attention_of("Connection to First Bank may need attention"), Some("First Bank"));
    }

    proptest! {
        #[test]
        fn nothing_makes_a_sentence_long_or_marked(text in ".{0,600}") {
            let shown = cleaned(&text);
            prop_assert!(shown.chars().count() <= 300);
            prop_assert!(!shown.contains(char::is_control));
            prop_assert_eq!(cleaned(&text), shown);
        }
    }
}
