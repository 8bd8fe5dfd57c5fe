//! Addresses of email: only those that need no quoting, so that no address can contain a line end, a space or a bracket.

use std::fmt;

/// The most characters before the `@`, and in all: what SMTP allows.
const LOCAL_MAX: usize = 64;
const LENGTH_MAX: usize = 254;

/// An address such as `robin@example.com`, in ASCII.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailAddress(String);

impl EmailAddress {
    pub fn parse(text: &str) -> Option<EmailAddress> {
        let (local, domain) = text.rsplit_once('@')?;
        let atom = |it: &str| {
            let fits = |it: u8| it.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&it);
            !it.is_empty() && it.bytes().all(fits)
        };
        let label = |it: &str| {
            let fits = |it: u8| it.is_ascii_alphanumeric() || it == b'-';
            (1..=63).contains(&it.len())
                && it.bytes().all(fits)
                && !it.starts_with('-')
                && !it.ends_with('-')
        };
        let is_good = local.len() <= LOCAL_MAX
            && text.len() <= LENGTH_MAX
            && local.split('.').all(atom)
            && domain.split('.').all(label);
        is_good.then(|| EmailAddress(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn domain(&self) -> &str {
        self.0.rsplit_once('@').map_or("", |it| it.1)
    }
}

impl fmt::Display for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An address with a name, such as `Evenkeel <evenkeel@example.com>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mailbox {
    pub(super) name: Option<String>,
    pub(super) address: EmailAddress,
}

impl Mailbox {
    /// Reads `name <address>` or an address alone.
    pub fn parse(text: &str) -> Option<Mailbox> {
        let text = text.trim();
        let Some((name, rest)) = text.split_once('<') else {
            return Some(Mailbox { name: None, address: EmailAddress::parse(text)? });
        };
        let address = EmailAddress::parse(rest.strip_suffix('>')?)?;
        let name = name.trim().trim_matches('"').trim();
        if name.len() > 100 || name.contains(|it: char| it.is_control() || "\"\\<>".contains(it)) {
            return None;
        }
        Some(Mailbox { name: (!name.is_empty()).then(|| name.to_owned()), address })
    }

    pub fn address(&self) -> &EmailAddress {
        &self.address
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_are_taken() {
        for good in ["robin@example.com", "a.b+c@x.y.z", "o'neil@localhost", "x@1.example"] {
            assert_eq!(EmailAddress::parse(good).unwrap().as_str(), good);
        }
        let long = format!("{}@example.com", "a".repeat(65));
        for bad in [
            "",
            "robin",
            "@example.com",
            "robin@",
            "a b@example.com",
            "a@b@c d",
            "a@exa mple.com",
            "robin@example.com\r\nBcc: x@y.z",
            "robin@example.com\n",
            "<robin@example.com>",
            "\"robin\"@example.com",
            "a..b@example.com",
            ".a@example.com",
            "a@-b.com",
            "a@b..c",
            "a@[127.0.0.1]",
            "rübe@example.com",
            "a@ex\u{0}ample.com",
            "a,b@example.com",
            &long,
        ] {
            assert_eq!(EmailAddress::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_mailbox_may_have_a_name() {
        let named = Mailbox::parse("\"Our money\" <money@example.com>").unwrap();
        assert_eq!(
            (named.name.as_deref(), named.address.as_str()),
            (Some("Our money"), "money@example.com")
        );
        assert_eq!(Mailbox::parse(" money@example.com ").unwrap().name, None);
        assert_eq!(Mailbox::parse("<money@example.com>").unwrap().name, None);
        for bad in
            ["A <b", "A <b@c> d", "A\r\nB <b@example.com>", "A <b@example.com>>", "A \"B\" <x@y.z>"]
        {
            assert_eq!(Mailbox::parse(bad), None, "{bad:?}");
        }
    }
}
