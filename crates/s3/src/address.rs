//! Addresses of buckets and objects.

use base::percent_encode_path;

/// How a request names the bucket: in the path, or in the host name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addressing {
    /// `https://s3.example.com/bucket/key`, which works without a DNS name for each bucket.
    Path,
    /// `https://bucket.s3.example.com/key`.
    VirtualHost,
}

/// An object as people write it: `s3://bucket/key`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    pub bucket: String,
    pub key: String,
}

impl Location {
    /// `None` if the text does not begin with `s3://`, or names no bucket and object.
    pub fn parse(text: &str) -> Option<Location> {
        let (bucket, key) = text.strip_prefix("s3://")?.split_once('/')?;
        let is_object = is_bucket(bucket) && !key.is_empty() && !key.ends_with('/');
        is_object.then(|| Location { bucket: bucket.to_owned(), key: key.to_owned() })
    }

    /// A text that begins with `s3://` means an object in a store, even if the rest is malformed.
    pub fn is_s3_url(text: &str) -> bool {
        text.starts_with("s3://")
    }
}

/// Whether a text can be the name of a bucket: it becomes part of a path or a host name.
pub(crate) fn is_bucket(text: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || "-._".contains(it);
    (3..=63).contains(&text.len()) && text.chars().all(plain) && !text.starts_with('.')
}

/// The origin and the path of a bucket or, with a key, of an object.
pub(crate) fn split(
    endpoint: &str,
    addressing: Addressing,
    bucket: &str,
    key: Option<&str>,
) -> (String, String) {
    let key = percent_encode_path(key.unwrap_or_default());
    match (addressing, endpoint.split_once("://")) {
        (Addressing::VirtualHost, Some((scheme, host))) => {
            (format!("{scheme}://{bucket}.{host}"), format!("/{key}"))
        }
        _ if key.is_empty() => (endpoint.to_owned(), format!("/{bucket}")),
        _ => (endpoint.to_owned(), format!("/{bucket}/{key}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_in_the_path_or_in_the_host_name() {
        let at = |addressing, key| split("https://s3.example.com:9000", addressing, "money", key);
        let pair = |origin: &str, path: &str| (origin.to_owned(), path.to_owned());
        let origin = "https://s3.example.com:9000";
        assert_eq!(at(Addressing::Path, None), pair(origin, "/money"));
        assert_eq!(at(Addressing::Path, Some("a/b c")), pair(origin, "/money/a/b%20c"));
        let virtual_origin = "https://money.s3.example.com:9000";
        assert_eq!(at(Addressing::VirtualHost, None), pair(virtual_origin, "/"));
        assert_eq!(at(Addressing::VirtualHost, Some("a/ü")), pair(virtual_origin, "/a/%C3%BC"));
    }

    #[test]
    fn a_location_names_a_bucket_and_an_object() {
        let found = Location::parse("s3://money/home/one.backup").unwrap();
        assert_eq!((found.bucket.as_str(), found.key.as_str()), ("money", "home/one.backup"));
        for bad in ["s3://money", "s3://money/", "s3:///x", "money/x", "s3://a b/x", "s3://m/x/"] {
            assert_eq!(Location::parse(bad), None, "{bad}");
        }
    }
}
