//! Text in addresses: percent signs both ways, queries made and taken apart, and only local places to go on to.

use crate::query::decode_component;

/// As a value in a query or a cookie: everything but letters, digits and a few marks is written with percent signs.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                out.push(byte as char);
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

pub(crate) fn decode(text: &str) -> Option<String> {
    decode_component(text).ok()
}

/// Pairs of an urlencoded text, in their order. What is not well-formed makes the whole unreadable.
pub(crate) fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let pair = |it: &str| {
        let (name, value) = it.split_once('=').unwrap_or((it, ""));
        Some((decode(name)?, decode(value)?))
    };
    text.split('&').filter(|it| !it.is_empty()).map(pair).collect()
}

/// The first value of that name in a query.
pub(crate) fn asked(query: &str, name: &str) -> Option<String> {
    let found = pairs(query)?.into_iter().find(|(it, _)| it == name);
    found.map(|(_, value)| value)
}

/// A query of those pairs that have a value, with its question mark; nothing when there is none.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let given = pairs.iter().filter(|(_, value)| !value.is_empty());
    let written: Vec<String> = given.map(|(name, it)| format!("{name}={}", encode(it))).collect();
    if written.is_empty() { String::new() } else { format!("?{}", written.join("&")) }
}

/// Where to go on to after a form: a path of this site, or the start. Browsers read `//` and a backslash as another
/// host, and drop control characters before they look.
pub(crate) fn local(next: &str) -> &str {
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
    fn only_places_of_this_site_are_gone_on_to() {
        for own in ["/", "/accounts", "/transactions?q=a//b", "/oauth/authorize?x=https%3A%2F%2Fy"]
        {
            assert_eq!(local(own), own);
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
            assert_eq!(local(other), "/", "{other:?}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["", "a b", "é&=?#%+", "/accounts?x=1&y=2", "<script>"] {
            assert_eq!(decode(&encode(text)).as_deref(), Some(text));
        }
        let read = pairs("a=1&b=x+y%21&c=&a=2").unwrap();
        let wanted = [("a", "1"), ("b", "x y!"), ("c", ""), ("a", "2")];
        assert!(read.iter().map(|(a, b)| (a.as_str(), b.as_str())).eq(wanted));
        assert_eq!(pairs("a=%zz"), None);
        assert_eq!(query(&[("q", "a b"), ("none", ""), ("x", "1")]), "?q=a%20b&x=1");
    }
}
