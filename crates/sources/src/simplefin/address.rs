//! SimpleFIN's two secret URLs: the claim URL in a setup token, and the access URL. Neither is ever printed.
//!
//! The parser is our own, because the `url` crate rewrites the URLs it accepts: it reads `https:///claim` as the host
//! `claim`, a backslash as a slash and `127.1` as `127.0.0.1`. Here such URLs are refused, by this parser or by the
//! HTTP client.

use std::fmt;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD as PADDED};
use base64::engine::{DecodePaddingMode, GeneralPurposeConfig as Config};
use percent_encoding::percent_decode_str;

use crate::percent::percent_encode;

const LONGEST: usize = 2048;

/// Padding is often lost when copying, and some servers use the URL-safe alphabet.
const LENIENT: Config =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const DECODERS: [GeneralPurpose; 2] =
    [GeneralPurpose::new(&STANDARD, LENIENT), GeneralPurpose::new(&URL_SAFE, LENIENT)];

/// The reason why an address is invalid, in words for the person who pasted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressError(&'static str);

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A setup token: the URL at which an access URL can be claimed once.
#[derive(Clone, PartialEq, Eq)]
pub struct SetupToken {
    claim_url: String,
}

impl SetupToken {
    /// Parses a token as it was pasted, with line breaks or without padding.
    pub fn parse(text: &str) -> Result<SetupToken, AddressError> {
        let packed: String = text.split_whitespace().collect();
        if packed.is_empty() {
            return Err(AddressError("Paste the setup token from SimpleFIN."));
        }
        let no_token = AddressError(
            "This is not a setup token. Copy the whole token from SimpleFIN, from its first character \
             to its last.",
        );
        if packed.len() > 2 * LONGEST {
            return Err(no_token);
        }
        let decoded = DECODERS.iter().find_map(|it| it.decode(&packed).ok()).ok_or(no_token)?;
        let url = String::from_utf8(decoded).map_err(|_| no_token)?;
        let parts = Parts::of(url.trim()).ok_or(no_token)?;
        if parts.user_info.is_some() {
            return Err(AddressError(
                "This token contains a password, so it is not a setup token. Create \
                 a new setup token at SimpleFIN.",
            ));
        }
        Ok(SetupToken { claim_url: format!("{}{}", parts.origin(), parts.path) })
    }

    /// The host that the token is sent to, such as `bridge.simplefin.org`.
    pub fn host(&self) -> &str {
        host_of(&self.claim_url)
    }

    pub(super) fn claim_url(&self) -> &str {
        &self.claim_url
    }

    pub(super) fn is_https(&self) -> bool {
        self.claim_url.starts_with("https://")
    }
}

impl fmt::Debug for SetupToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SetupToken({}, hidden)", self.host())
    }
}

/// The URL with credentials that gives access to a person's accounts until it is revoked.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessUrl {
    /// Without user and password, and without a slash at the end.
    base: String,
    user: String,
    password: String,
}

impl AccessUrl {
    pub fn parse(text: &str) -> Result<AccessUrl, AddressError> {
        let wrong = AddressError("An access URL looks like https://user:password@host/simplefin.");
        let parts = Parts::of(text.trim()).ok_or(wrong)?;
        let (user, password) = parts.user_info.and_then(|it| it.split_once(':')).ok_or(wrong)?;
        let path = parts.path.trim_end_matches('/');
        if user.is_empty() || password.is_empty() || path.contains('?') {
            return Err(wrong);
        }
        Ok(AccessUrl {
            base: format!("{}{path}", parts.origin()),
            user: percent_decode(user).ok_or(wrong)?,
            password: percent_decode(password).ok_or(wrong)?,
        })
    }

    /// The whole secret, to be encrypted; `parse` reads it again.
    pub fn expose(&self) -> String {
        let (user, password) = (percent_encode(&self.user), percent_encode(&self.password));
        match self.base.split_once("://") {
            Some((scheme, rest)) => format!("{scheme}://{user}:{password}@{rest}"),
            None => String::new(),
        }
    }

    /// The host of the server, such as `bridge.simplefin.org`.
    pub fn host(&self) -> &str {
        host_of(&self.base)
    }

    pub(super) fn is_https(&self) -> bool {
        self.base.starts_with("https://")
    }

    pub(super) fn base(&self) -> &str {
        &self.base
    }

    pub(super) fn authorization(&self) -> String {
        format!("Basic {}", PADDED.encode(format!("{}:{}", self.user, self.password)))
    }

    /// The text with the credentials removed, in case a server echoes them.
    pub(super) fn redact(&self, text: &str) -> String {
        let secrets = [self.authorization(), percent_encode(&self.password), self.password.clone()];
        secrets.iter().fold(text.to_owned(), |text, it| text.replace(it.as_str(), "(hidden)"))
    }
}

impl fmt::Debug for AccessUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AccessUrl({}, hidden)", self.host())
    }
}

fn host_of(url: &str) -> &str {
    let after = url.split_once("://").map_or(url, |(_, it)| it);
    after.split(['/', '?']).next().unwrap_or_default()
}

/// A URL split into its user info, origin and path. The HTTP client checks the host.
pub(super) struct Parts<'a> {
    scheme: &'static str,
    user_info: Option<&'a str>,
    authority: String,
    /// Path and query. Begins with a slash, unless it is empty or only a query.
    path: &'a str,
}

impl<'a> Parts<'a> {
    pub(super) fn of(url: &'a str) -> Option<Parts<'a>> {
        // Programs differ on where a URL with other characters leads.
        let plain = |it: u8| it.is_ascii_graphic() && !b"\\\"<>^`{|}#".contains(&it);
        if url.len() > LONGEST || !url.bytes().all(plain) {
            return None;
        }
        let (scheme, rest) = url.split_once("://")?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "https" => "https",
            "http" => "http",
            _ => return None,
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (user_info, authority) = match authority.split_once('@') {
            Some((user_info, authority)) => (Some(user_info), authority),
            None => (None, authority),
        };
        if authority.is_empty() || authority.contains('@') {
            return None;
        }
        Some(Parts { scheme, user_info, authority: authority.to_ascii_lowercase(), path })
    }

    pub(super) fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.authority)
    }

    pub(super) fn is_https(&self) -> bool {
        self.scheme == "https"
    }

    pub(super) fn has_user_info(&self) -> bool {
        self.user_info.is_some()
    }

    pub(super) fn path(&self) -> &'a str {
        self.path
    }
}

/// Decodes percent-encoding strictly; none if a percent sign is not followed by two hex digits, or if the result is not
/// UTF-8.
fn percent_decode(text: &str) -> Option<String> {
    let is_escape = |it: &str| it.len() >= 2 && it.bytes().take(2).all(|it| it.is_ascii_hexdigit());
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    text.split('%').skip(1).all(is_escape).then(|| decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMO: &str = "aHR0cHM6Ly9iZXRhLWJyaWRnZS5zaW1wbGVmaW4ub3JnL3NpbXBsZWZpbi9jbGFpbS9ERU1P";

    #[test]
    fn a_token_is_read_however_it_was_copied() {
        let spaced = format!("  {}\r\n {}\n", &DEMO[..30], &DEMO[30..]);
        for text in [DEMO, &spaced] {
            let token = SetupToken::parse(text).unwrap();
            assert_eq!(token.claim_url(), "https://beta-bridge.simplefin.org/simplefin/claim/DEMO");
            assert_eq!(token.host(), "beta-bridge.simplefin.org");
        }
        for url in ["https://a.example/claim/x", "https://a.example/claim/xy", "HTTPS://A.example/"]
        {
            let padded = PADDED.encode(url);
            let token = SetupToken::parse(&padded).unwrap();
            assert_eq!(SetupToken::parse(padded.trim_end_matches('=')).unwrap(), token);
        }
    }

    #[test]
    fn an_invalid_token_is_refused_with_advice() {
        for text in ["", " ", "hello there!", "https://bridge.simplefin.org/claim/x", "AAAA"] {
            let message = SetupToken::parse(text).unwrap_err().to_string();
            assert!(message.contains("token"), "{text}: {message}");
        }
        for url in [
            "ftp://a.example/claim",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https:///claim",
            "https://user:pass@a.example/claim",
            "https://a.example\\@b.example/claim",
            "https://a.example/claim#part",
            "https://a.example/cl aim",
            "https://a@b@c.example/claim",
        ] {
            assert!(SetupToken::parse(&PADDED.encode(url)).is_err(), "{url}");
        }
        assert!(SetupToken::parse(&"A".repeat(1_000_000)).is_err());
    }

    #[test]
    fn an_access_url_needs_a_user_and_a_password() {
        let access = AccessUrl::parse("https://demo:p%40ss@host.example:444/simplefin/\n").unwrap();
        assert_eq!(access.base(), "https://host.example:444/simplefin");
        assert_eq!((access.user.as_str(), access.password.as_str()), ("demo", "p@ss"));
        assert_eq!(AccessUrl::parse(&access.expose()), Ok(access.clone()));
        assert_eq!(access.authorization(), format!("Basic {}", PADDED.encode("demo:p@ss")));
        for text in [
            "",
            "Forbidden (was it already claimed?)",
            "<html><body>Sorry</body></html>",
            "https://host.example/simplefin",
            "https://user@host.example/simplefin",
            "https://:pass@host.example/simplefin",
            "https://user:@host.example/simplefin",
            "https://user:pa%zzs@host.example/simplefin",
            "https://user:pass@host.example/simplefin?x=1",
            "https://user:pass@host.example/one https://user:pass@host.example/two",
        ] {
            assert!(AccessUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        let access = AccessUrl::parse("https://name:word@host.example/simplefin").unwrap();
        assert_eq!(format!("{access:?}"), "AccessUrl(host.example, hidden)");
        let token = SetupToken::parse(DEMO).unwrap();
        assert!(!format!("{token:?}").contains("claim"));
        let redacted =
            access.redact(&format!("{} and {}", access.expose(), access.authorization()));
        assert!(
            !redacted.contains("word") && !redacted.contains(&PADDED.encode("name:word")),
            "{redacted}"
        );
    }
}
