//! The types of settings: how each is parsed from text or TOML, and the error message for a bad value.

use serde::Serialize;
use service::backup;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `host:port`.
    Address,
    /// `https://money.example.com`: scheme, host and optional port, without a path.
    Origin,
    Origins,
    /// Addresses such as `10.0.0.7` or `172.16.0.0/12`.
    Networks,
    Path,
    Count {
        from: i64,
        to: i64,
    },
    Word(&'static [&'static str]),
    /// true or false.
    Switch,
    InstallationKey,
    DatabaseUrl,
    /// Any single line of text, such as a secret issued elsewhere.
    Secret,
    /// Any single line of text.
    Text,
    /// Words such as names of groups or domains.
    Words,
    /// The issuer of a provider of single sign-on.
    Issuer,
    /// Public keys of age.
    Recipients,
    /// Secret keys of age, as `age-keygen` writes them.
    Identities,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Text(String),
    Count(i64),
    List(Vec<String>),
}

impl Kind {
    /// Reads a value from the environment, a flag or a default; lists are separated by commas.
    pub(crate) fn parse(self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let value = match self {
            Kind::Count { .. } => Value::Count(text.parse().map_err(|_| self.expected())?),
            Kind::Origins | Kind::Networks | Kind::Words | Kind::Recipients => {
                let items = text.split(',').map(str::trim).filter(|it| !it.is_empty());
                Value::List(items.map(str::to_owned).collect())
            }
            _ => Value::Text(text.to_owned()),
        };
        self.check(value)
    }

    pub(crate) fn parse_toml(self, value: &toml::Value) -> Result<Value, String> {
        let value = match (self, value) {
            (Kind::Count { .. }, toml::Value::Integer(number)) => Value::Count(*number),
            (
                Kind::Origins | Kind::Networks | Kind::Words | Kind::Recipients,
                toml::Value::Array(items),
            ) => {
                let texts = items.iter().map(|it| it.as_str().map(str::to_owned));
                Value::List(texts.collect::<Option<_>>().ok_or_else(|| self.expected())?)
            }
            (
                Kind::Count { .. }
                | Kind::Origins
                | Kind::Networks
                | Kind::Words
                | Kind::Recipients,
                _,
            ) => {
                return Err(self.expected());
            }
            (Kind::Switch, toml::Value::Boolean(on)) => Value::Text(on.to_string()),
            (_, toml::Value::String(text)) => Value::Text(text.trim().to_owned()),
            _ => return Err(self.expected()),
        };
        self.check(value)
    }

    fn check(self, value: Value) -> Result<Value, String> {
        let good = match (&self, &value) {
            (Kind::Count { from, to }, Value::Count(number)) => (from..=to).contains(&number),
            (Kind::Origins, Value::List(items)) => items.iter().all(|it| is_origin(it)),
            (Kind::Networks, Value::List(items)) => {
                items.iter().all(|it| it.parse::<base::Network>().is_ok())
            }
            (Kind::Recipients, Value::List(items)) => {
                items.iter().all(|it| it.parse::<backup::Recipient>().is_ok())
            }
            (Kind::Words, Value::List(items)) => items.iter().all(|it| Kind::Text.fits(it)),
            (_, Value::Text(text)) => self.fits(text),
            _ => false,
        };
        if good { Ok(value) } else { Err(self.expected()) }
    }

    fn fits(self, text: &str) -> bool {
        match self {
            Kind::Address => {
                let parts = text.rsplit_once(':');
                parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
            }
            Kind::Origin => is_origin(text),
            Kind::Path => !text.is_empty(),
            Kind::Word(words) => words.contains(&text),
            Kind::Switch => ["true", "false"].contains(&text),
            Kind::InstallationKey => service::platform::installation::Key::parse(text).is_some(),
            Kind::DatabaseUrl => is_postgres(text),
            Kind::Secret | Kind::Text => !text.is_empty() && !text.contains(char::is_control),
            Kind::Issuer => service::access::oidc::check_issuer(text).is_ok(),
            Kind::Identities => backup::Identity::parse_file(text).is_ok_and(|it| !it.is_empty()),
            Kind::Origins
            | Kind::Networks
            | Kind::Words
            | Kind::Recipients
            | Kind::Count { .. } => false,
        }
    }

    /// Follows "must be".
    pub(crate) fn expected(self) -> String {
        match self {
            Kind::Address => "an address and a port, such as 127.0.0.1:4680".to_owned(),
            Kind::Origin => {
                "an address such as https://money.example.com, without a path".to_owned()
            }
            Kind::Origins => "a list of origins such as https://app.example.com".to_owned(),
            Kind::Networks => "a list of addresses such as 10.0.0.7 or 172.16.0.0/12".to_owned(),
            Kind::Path => "the path of a folder".to_owned(),
            Kind::Count { from, to } => format!("a whole number from {from} to {to}"),
            Kind::Word(words) => format!("one of {}", words.join(", ")),
            Kind::Switch => "true or false".to_owned(),
            Kind::Secret | Kind::Text => "one line of text".to_owned(),
            Kind::Words => "a list of words".to_owned(),
            Kind::Issuer => {
                "an address such as https://auth.example.com, or one with http on this machine, without a query"
                    .to_owned()
            }
            Kind::Recipients => "a list of public keys that `age-keygen` prints: age1...".to_owned(),
            Kind::Identities => {
                "a file that `age-keygen` writes, with lines such as AGE-SECRET-KEY-1...".to_owned()
            }
            Kind::InstallationKey => "64 hexadecimal digits".to_owned(),
            Kind::DatabaseUrl => {
                "an address such as postgres://user:password@host:5432/database, with sslmode as \
                 disable, prefer, require, verify-full, or verify-ca with sslrootcert"
                    .to_owned()
            }
        }
    }
}

fn is_postgres(text: &str) -> bool {
    let named = ["postgres://", "postgresql://"].iter().any(|it| text.starts_with(it));
    named && db::Target::postgres(text).is_ok()
}

fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let plain = |it: char| it.is_ascii_alphanumeric() || "-._:[]".contains(it);
    host.is_some_and(|it| !it.is_empty() && it.chars().all(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: Kind, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(kind.parse(text).is_ok(), "{kind:?} should take {text}");
        }
        for text in bad {
            assert!(kind.parse(text).is_err(), "{kind:?} should not take {text}");
        }
    }

    #[test]
    fn each_kind_accepts_only_its_own_values() {
        check(
            Kind::Address,
            &["127.0.0.1:0", "[::1]:80", "localhost:4680"],
            &["4680", ":80", "a:b", "a:70000"],
        );
        check(
            Kind::Origin,
            &["https://a.example", "http://localhost:4680", "http://[::1]:1"],
            &["a.example", "https://", "https://a/b", "https://a/", "ftp://a", "https://a b"],
        );
        check(Kind::Origins, &["", "https://a, http://b:1 ,"], &["*", "https://a, b"]);
        check(
            Kind::Networks,
            &["", "10.0.0.7, fd00::/8"],
            &["*", "proxy.example", "10.0.0.0/33", "10.0.0.7/8"],
        );
        let public = "age1sg3lyq9xhm9whlqrz0h8qww6gaaaqxglyyeg4c5jvjyqxdrnkq9skcft66";
        let secret = "AGE-SECRET-KEY-1ESF7UAVLARZQ4735X8S6TG7KNM4RJJZYF9PSD5ZP8JDK0UKQ69SQDMV3UD";
        check(Kind::Recipients, &["", public], &["age1", secret, "ssh-ed25519 AAAA"]);
        let file = format!("# public key: {public}\n{secret}\n");
        check(Kind::Identities, &[secret, &file], &["", "# nothing", public]);
        check(Kind::Count { from: 1, to: 9 }, &["1", " 9 "], &["0", "10", "", "1.5", "x", "1e3"]);
        check(Kind::Word(&["auto", "json"]), &["auto", "json"], &["JSON", "", "yaml"]);
        check(
            Kind::DatabaseUrl,
            &[
                "postgres://a:b@c/d",
                "postgresql:///x?host=/run",
                "postgres://c?sslmode=verify-full",
            ],
            &[
                "sqlite://x",
                "host=a",
                "mysql://a",
                "postgres://host:port/x",
                "postgres://c?sslmode=x",
            ],
        );
        check(Kind::Words, &["", "family, home admins ,"], &["a\u{7}"]);
        check(
            Kind::Issuer,
            &["https://auth.example.com/realms/home", "http://localhost:9091"],
            &["", "auth.example.com", "http://auth.example.com", "https://a?b"],
        );
        check(Kind::InstallationKey, &["ab".repeat(32).as_str()], &["ab", &"zz".repeat(32), ""]);
    }

    #[test]
    fn toml_values_keep_their_types() {
        let read = |kind: Kind, text: &str| {
            let table: toml::Table = format!("it = {text}").parse().unwrap();
            kind.parse_toml(&table["it"])
        };
        let count = Kind::Count { from: 0, to: 9 };
        assert_eq!(read(count, "3"), Ok(Value::Count(3)));
        for wrong in ["\"3\"", "3.0", "true", "[3]"] {
            assert_eq!(read(count, wrong), Err("a whole number from 0 to 9".to_owned()));
        }
        let both = Value::List(vec!["https://a".to_owned(), "http://b".to_owned()]);
        assert_eq!(read(Kind::Origins, "[\"https://a\", \"http://b\"]"), Ok(both));
        assert!(read(Kind::Origins, "\"https://a\"").is_err());
        assert!(read(Kind::Origins, "[1]").is_err());
        assert_eq!(read(Kind::Switch, "true"), Ok(Value::Text("true".to_owned())));
        assert_eq!(read(Kind::Switch, "\"false\""), Ok(Value::Text("false".to_owned())));
        assert!(read(Kind::Switch, "1").is_err() && read(Kind::Switch, "\"yes\"").is_err());
        assert!(read(Kind::Address, "4680").is_err());
    }
}
