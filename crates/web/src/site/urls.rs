//! URL helpers: percent-encoding, query strings, and checks that a redirect stays on this site.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::query::decode_component;

/// Everything but the unreserved characters of RFC 3986, and the slash.
const RESERVED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Percent-encodes a value of a query or a cookie.
pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

pub(crate) fn decode(text: &str) -> Option<String> {
    decode_component(text).ok()
}

/// Parses an urlencoded text into its pairs, in order. None if any part is malformed.
pub(crate) fn parse_pairs(text: &str) -> Option<Vec<(String, String)>> {
    let pair = |it: &str| {
        let (name, value) = it.split_once('=').unwrap_or((it, ""));
        Some((decode(name)?, decode(value)?))
    };
    text.split('&').filter(|it| !it.is_empty()).map(pair).collect()
}

/// The first value of that name in a query.
pub(crate) fn find_param(query: &str, name: &str) -> Option<String> {
    let found = parse_pairs(query)?.into_iter().find(|(it, _)| it == name);
    found.map(|(_, value)| value)
}

/// Builds a query string with its question mark from the pairs that have a value; empty if none has.
pub(crate) fn query_string(pairs: &[(&str, &str)]) -> String {
    let given = pairs.iter().filter(|(_, value)| !value.is_empty());
    let written: Vec<String> = given.map(|(name, it)| format!("{name}={}", encode(it))).collect();
    if written.is_empty() { String::new() } else { format!("?{}", written.join("&")) }
}

/// The path to redirect to after a form: `next` if it is a path of this site, or `/`. Browsers read `//` and a backslash
/// as another host, and drop control characters.
pub(crate) fn local_path(next: &str) -> &str {
    let own = next.starts_with('/')
        && !next.starts_with("//")
        && !next.contains('\\')
        && !next.chars().any(char::is_control);
    if own { next } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_site_are_redirected_to() {
        for own in ["/", "/accounts", "/transactions?q=a//b", "/oauth/authorize?x=https%3A%2F%2Fy"]
        {
            assert_eq!(local_path(own), own);
        }
        for other in [
            "",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "/\t/evil.example",
            "\u{0}/",
            "evil",
            "/a\r\nSet-Cookie: x=y",
        ] {
            assert_eq!(local_path(other), "/", "{other:?}");
        }
    }

    #[test]
    fn encoded_text_decodes_to_itself() {
        for text in ["", "a b", "é&=?#%+", "/accounts?x=1&y=2", "<script>"] {
            assert_eq!(decode(&encode(text)).as_deref(), Some(text));
        }
        let read = parse_pairs("a=1&b=x+y%21&c=&a=2").unwrap();
        let expected = [("a", "1"), ("b", "x y!"), ("c", ""), ("a", "2")];
        assert!(read.iter().map(|(a, b)| (a.as_str(), b.as_str())).eq(expected));
        assert_eq!(parse_pairs("a=%zz"), None);
        assert_eq!(query_string(&[("q", "a b"), ("none", ""), ("x", "1")]), "?q=a%20b&x=1");
    }
}
