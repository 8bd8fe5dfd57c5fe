//! Tests of parsing URLs.

use proptest::prelude::*;

use super::{Host, Target};
use crate::failure::Failure;

#[test]
fn a_url_is_split_into_origin_and_path() {
    for (url, origin, path) in [
        ("https://example.com", "https://example.com", "/"),
        ("HTTPS://Example.COM.:443/", "https://example.com", "/"),
        ("https://example.com:8443/a/b?c=d&e", "https://example.com:8443", "/a/b?c=d&e"),
        ("https://example.com?c=d", "https://example.com", "/?c=d"),
        ("https://example.com/a#b", "https://example.com", "/a"),
        ("http://127.0.0.1:80/x", "http://127.0.0.1", "/x"),
        ("http://127.0.0.1:443/x", "http://127.0.0.1:443", "/x"),
        ("https://[2606:4700::1]:9/x", "https://[2606:4700::1]:9", "/x"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example", "/"),
        ("https://a_b.example/", "https://a_b.example", "/"),
        ("https://7up.example/", "https://7up.example", "/"),
    ] {
        let target = Target::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
        assert_eq!((target.origin().as_str(), target.path.as_str()), (origin, path), "{url}");
    }
}

#[test]
fn hosts_that_parsers_read_differently_are_refused() {
    for host in [
        "2130706433",
        "017700000001",
        "0x7f000001",
        "0x7f.1",
        "127.1",
        "127.0.1",
        "0177.0.0.1",
        "127.0.0.01",
        "127.0.0.0x1",
        "127.0.0.256",
        "1.2.3.4.5",
        "example.1",
        "example.0x",
        "127.0.0.1..",
        ".",
        "..",
        "a..b",
        ".a",
        "[127.0.0.1]",
        "[::1",
        "::1",
        "[fe80::1%25eth0]",
        "[::1]x",
        "%31%32%37.0.0.1",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "exa mple.com",
        "example.com\\@127.0.0.1",
        "",
    ] {
        assert_eq!(Target::parse(&format!("https://{host}/")), Err(Failure::BadUrl), "{host}");
    }
    let address = |url| Target::parse(url).map(|it| it.host);
    assert_eq!(address("https://127.0.0.1."), Ok(Host::Address("127.0.0.1".parse().unwrap())));
    assert_eq!(address("https://[::1]/"), Ok(Host::Address("::1".parse().unwrap())));
}

#[test]
fn a_url_that_is_not_plain_http_is_refused() {
    let long = format!("https://example.com/{}", "a".repeat(2048 - 20));
    assert_eq!(long.len(), 2048);
    assert!(Target::parse(&long).is_ok());
    let label = "a".repeat(64);
    for url in [
        "",
        "example.com",
        "/path",
        "//example.com/",
        "*",
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "unix://example.com/",
        "https:/example.com",
        "https:example.com",
        "https://user@example.com/",
        "https://user:pass@example.com/",
        "https://@example.com/",
        "https://example.com@127.0.0.1/",
        "https://example.com:/",
        "https://example.com:0/",
        "https://example.com:65536/",
        "https://example.com:+1/",
        "https://example.com:1:2/",
        "https://example.com:x/",
        "https://example.com/a b",
        "https://example.com/\r\nX: y",
        &format!("{long}a"),
        &format!("https://{label}.example/"),
        &format!("https://{}example/", "a.".repeat(125)),
    ] {
        assert_eq!(Target::parse(url), Err(Failure::BadUrl), "{url}");
    }
}

proptest! {
    #[test]
    fn a_parsed_url_parses_to_the_same_target_again(url in "(https?://)?[a-z0-9.:@\\[\\]/?#%x-]{0,30}") {
        if let Ok(target) = Target::parse(&url) {
            let again = format!("{}{}", target.origin(), target.path);
            prop_assert_eq!(Target::parse(&again), Ok(target), "{}", again);
        }
    }
}
