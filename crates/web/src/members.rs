//! The members of a JSON body: each endpoint names those it takes, and numbers are read from their own text.

use base::{Currency, DecimalError, Fixed9, Money, MoneyError};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use service::{Error, Result};

use crate::query::unknown;

/// What a body holds; the names are known to be good, the values are still text.
#[derive(Debug)]
pub struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    /// Reads one JSON object whose members are all among `known`. No body at all is an object without members.
    pub fn parse(body: &[u8], known: &'static [&'static str]) -> Result<Members> {
        if body.is_empty() {
            return Ok(Members(Vec::new()));
        }
        let text = std::str::from_utf8(body).map_err(|_| wrong("the body must be UTF-8 text"))?;
        let members: Members = serde_json::from_str(text)
            .map_err(|error| wrong(format!("the body must be one JSON object: {error}")))?;
        for (index, (name, _)) in members.0.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                return Err(unknown(name, known.iter().copied()));
            }
            if members.0[..index].iter().any(|(earlier, _)| earlier == name) {
                return Err(Error::invalid(name, format!("{name} is given more than once")));
            }
        }
        Ok(members)
    }

    pub fn text(&self, name: &str) -> Result<Option<String>> {
        self.read(name, "text", |raw| serde_json::from_str(raw).ok())
    }

    pub fn bool(&self, name: &str) -> Result<Option<bool>> {
        self.read(name, "true or false", |raw| serde_json::from_str(raw).ok())
    }

    /// A quantity or price, exactly as written; at most nine decimals.
    pub fn quantity(&self, name: &str) -> Result<Option<Fixed9>> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        Fixed9::parse(raw).map(Some).map_err(|error| match error {
            DecimalError::Malformed => refuse(name, "must be a plain number such as 1.5"),
            DecimalError::TooPrecise => refuse(name, "must have at most 9 decimals"),
            DecimalError::TooLong => refuse(name, "has too many digits"),
        })
    }

    /// An amount, exactly as written; never more decimals than its currency has.
    pub fn money(&self, name: &str, currency: Currency) -> Result<Option<Money>> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        let said = |error: MoneyError| refuse(name, &error.to_string());
        Money::parse(raw, currency).map(Some).map_err(said)
    }

    fn read<T>(
        &self,
        name: &str,
        wanted: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        match self.raw(name) {
            Some(raw) => match read(raw) {
                Some(value) => Ok(Some(value)),
                None => Err(refuse(name, &format!("must be {wanted}"))),
            },
            None => Ok(None),
        }
    }

    /// The member's own text; null is the same as not there.
    fn raw(&self, name: &str) -> Option<&str> {
        let (_, raw) = self.0.iter().find(|(known, _)| known == name)?;
        Some(raw.get()).filter(|it| *it != "null")
    }
}

fn wrong(message: impl Into<String>) -> Error {
    Error::Invalid { param: None, message: message.into() }
}

fn refuse(name: &str, what: &str) -> Error {
    Error::invalid(name, format!("{name} {what}"))
}

/// In the order they came, repeated ones too: a map would keep the last of two and say nothing.
impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &[u8], expected: &str) {
        let read = || -> Result<String> {
            let members = Members::parse(body, &["name", "quantity", "amount", "skip_approval"])?;
            let name = members.text("name")?;
            let quantity = members.quantity("quantity")?;
            let amount = members.money("amount", Currency::USD)?;
            let skip = members.bool("skip_approval")?;
            Ok(format!("{name:?} {quantity:?} {amount:?} {skip:?}"))
        };
        let shown = read().unwrap_or_else(|error| format!("error: {error}"));
        assert_eq!(shown, expected, "{}", String::from_utf8_lossy(body));
    }

    #[test]
    fn members_are_read_exactly() {
        check(b"", "None None None None");
        check(b"{}", "None None None None");
        check(
            br#"{"name": "A \"b\"", "quantity": 0.000000001, "amount": 0.30, "skip_approval": false}"#,
            r#"Some("A \"b\"") Some(0.000000001) Some(0.30 USD) Some(false)"#,
        );
        check(br#"{"name": null, "quantity": null}"#, "None None None None");
        // A float would make 561.299999... of it.
        check(
            br#"{"amount": 561.30, "quantity": 9007199254740993}"#,
            "None Some(9007199254740993) Some(561.30 USD) None",
        );
    }

    #[test]
    fn what_is_wrong_is_refused_with_what_to_do() {
        check(b"\xff{}", "error: the body must be UTF-8 text");
        check(br#"{"nme": 1}"#, "error: nme is not known here; did you mean name?");
        check(br#"{"name": "a", "name": "b"}"#, "error: name is given more than once");
        check(br#"{"name": 5}"#, "error: name must be text");
        check(br#"{"name": ["a"]}"#, "error: name must be text");
        check(br#"{"skip_approval": "true"}"#, "error: skip_approval must be true or false");
        check(br#"{"quantity": "5"}"#, "error: quantity must be a plain number such as 1.5");
        check(br#"{"quantity": 1e3}"#, "error: quantity must be a plain number such as 1.5");
        check(br#"{"quantity": 0.0000000001}"#, "error: quantity must have at most 9 decimals");
        let long = format!("{{\"quantity\": {}}}", "9".repeat(5_000));
        check(long.as_bytes(), "error: quantity has too many digits");
        check(
            br#"{"amount": 1.005}"#,
            "error: amount must be a number such as -12.34, with at most 2 decimals in USD",
        );
        for body in ["[]", "5", "{\"name\"", "{} {}", "null", "{'name': 1}"] {
            let refused = Members::parse(body.as_bytes(), &["name"]).unwrap_err().to_string();
            assert!(refused.starts_with("the body must be one JSON object: "), "{body}: {refused}");
        }
    }

    #[test]
    fn a_deep_or_long_body_is_refused_without_harm() {
        let deep = format!("{{\"name\": {}1{}}}", "[".repeat(200_000), "]".repeat(200_000));
        assert!(Members::parse(deep.as_bytes(), &["name"]).and_then(|it| it.text("name")).is_err());
    }
}
