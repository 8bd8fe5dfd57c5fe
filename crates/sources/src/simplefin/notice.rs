//! Notices: messages of the server beside the data, such as a login that needs attention, a temporary failure, or a
//! capped date range.

/// One message of the server, cleaned for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The code, such as `con.auth`; version 1 has none.
    pub code: Option<String>,
    /// Without markup and control characters, at most 300 characters.
    pub text: String,
    /// The id of the connection it refers to.
    pub connection: Option<String>,
    /// The server's id of the account it refers to.
    pub account: Option<String>,
    pub kind: NoticeKind,
}

/// The kind of a notice, by the action it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    /// The person has to sign in at the institution again, on the SimpleFIN server's page.
    Reauthenticate,
    /// The institution did not respond, or only in part; the next sync may succeed.
    Retry,
    /// The response was limited to this many days.
    RangeCapped(i64),
    TooManyRequests,
    Other,
}

const LONGEST: usize = 300;

impl NoticeKind {
    pub(super) fn of(code: Option<&str>, text: &str) -> NoticeKind {
        if is_about_requests(text) {
            return NoticeKind::TooManyRequests;
        }
        if let Some(days) = capped_at(text) {
            return NoticeKind::RangeCapped(days);
        }
        match code {
            Some("con.auth") => NoticeKind::Reauthenticate,
            // An unknown code counts by its prefix.
            Some(code) if code.starts_with("con.") || code.starts_with("act.") => NoticeKind::Retry,
            Some(_) => NoticeKind::Other,
            None if attention_of(text).is_some() => NoticeKind::Reauthenticate,
            None => NoticeKind::Other,
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

/// The limit in "Requested date range exceeds limit of 90 days and was capped."
fn capped_at(text: &str) -> Option<i64> {
    let text = text.to_lowercase();
    if !text.contains("date range") && !text.contains("capped") {
        return None;
    }
    let (before, _) = text.split_once(" day")?;
    let digits = before.rsplit(|it: char| !it.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|it| (1..=3_660).contains(it))
}

/// The plain text of a message that may contain markup.
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

/// Characters that reverse text or are invisible.
fn is_invisible(it: char) -> bool {
    matches!(it, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}')
        || it == '\u{FEFF}'
}

/// The text without tags, comments, scripts and styles.
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

/// Decodes common entities. Those for angle brackets stay, so that no markup can result.
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
    fn the_kind_of_a_notice_follows_from_its_code_or_text() {
        for (code, text, kind) in [
            (Some("con.auth"), "Sign in again", NoticeKind::Reauthenticate),
            (Some("con."), "Bank is down", NoticeKind::Retry),
            (Some("con.new"), "Bank is down", NoticeKind::Retry),
            (Some("act.failed"), "Try later", NoticeKind::Retry),
            (Some("act.missingdata"), "Incomplete", NoticeKind::Retry),
            (Some("gen.api"), "Do not do that", NoticeKind::Other),
            (
                Some("gen.api"),
                "Requested date range exceeds limit of 90 days and was capped.",
                NoticeKind::RangeCapped(90),
            ),
            (None, "Date range limited to 45 days", NoticeKind::RangeCapped(45)),
            (None, "Connection to First Bank may need attention", NoticeKind::Reauthenticate),
            (None, "Please make fewer requests", NoticeKind::TooManyRequests),
            (Some("gen."), "Rate Limit exceeded", NoticeKind::TooManyRequests),
            (None, "Data is only refreshed once every 24 hours", NoticeKind::TooManyRequests),
            (None, "Hello", NoticeKind::Other),
        ] {
            assert_eq!(NoticeKind::of(code, text), kind, "{text}");
        }
        assert_eq!(attention_of("Connection to First Bank may need attention"), Some("First Bank"));
    }

    proptest! {
        #[test]
        fn no_text_stays_long_or_keeps_markup(text in ".{0,600}") {
            let shown = cleaned(&text);
            prop_assert!(shown.chars().count() <= 300);
            prop_assert!(!shown.contains(char::is_control));
            prop_assert_eq!(cleaned(&text), shown);
        }
    }
}
