//! Percent-encoding of values in URLs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Everything but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const RESERVED_IN_PATH: &AsciiSet = &RESERVED.remove(b'/');

/// Encodes everything but the unreserved characters of RFC 3986: letters, digits and `-._~`.
pub fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// The same for a path, whose slashes stay.
pub fn percent_encode_path(path: &str) -> String {
    utf8_percent_encode(path, RESERVED_IN_PATH).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unreserved_characters_stay() {
        assert_eq!(percent_encode("aZ09-._~"), "aZ09-._~");
        assert_eq!(percent_encode("a b/ü?&=+%"), "a%20b%2F%C3%BC%3F%26%3D%2B%25");
        assert_eq!(percent_encode_path("a b/ü"), "a%20b/%C3%BC");
    }
}
