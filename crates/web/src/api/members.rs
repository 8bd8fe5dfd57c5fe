//! Members of a JSON body: each endpoint names the known ones, and numbers are parsed from their text, not as floats.

use base::{Currency, Date, DecimalError, Fixed9, Id, Kind, Money, MoneyError, parse_json_scaled};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use service::{Error, Result};

use super::Member;
use crate::query::unknown;

/// Whole numbers are less than this.
const WHOLE_BOUND: i128 = 10_i128.pow(18);

/// The members of an object: names are checked, values are still JSON text.
#[derive(Debug)]
pub struct Members {
    /// The path of the object with a trailing dot; empty for the body itself.
    path: String,
    all: Vec<(String, Box<RawValue>)>,
}

impl Members {
    /// Parses one JSON object whose members are all among `known`. An empty body is an object without members.
    pub fn parse(body: &[u8], known: &[Member]) -> Result<Members> {
        if body.is_empty() {
            return Ok(Members { path: String::new(), all: Vec::new() });
        }
        let text = std::str::from_utf8(body).map_err(|_| wrong("the body must be UTF-8 text"))?;
        let members: InOrder = serde_json::from_str(text)
            .map_err(|error| wrong(format!("the body must be one JSON object: {error}")))?;
        Members::among(String::new(), members.0, known)
    }

    /// A nested object; errors name its members by their full path.
    pub fn object(&self, name: &str, known: &[Member]) -> Result<Option<Members>> {
        let read = |raw: &str| serde_json::from_str::<InOrder>(raw).ok();
        match self.read(name, "be an object", read)? {
            Some(InOrder(all)) => {
                Members::among(format!("{}{name}.", self.path), all, known).map(Some)
            }
            None => Ok(None),
        }
    }

    /// A list of nested objects; errors name a member with the position of its object.
    pub fn objects(&self, name: &str, known: &[Member]) -> Result<Option<Vec<Members>>> {
        let read = |raw: &str| serde_json::from_str::<Vec<InOrder>>(raw).ok();
        let Some(objects) = self.read(name, "be a list of objects", read)? else { return Ok(None) };
        let path = |index: usize| format!("{}{name}.{index}.", self.path);
        let read = objects.into_iter().enumerate();
        read.map(|(index, it)| Members::among(path(index), it.0, known))
            .collect::<Result<_>>()
            .map(Some)
    }

    fn among(path: String, all: Vec<(String, Box<RawValue>)>, known: &[Member]) -> Result<Members> {
        for (index, (name, _)) in all.iter().enumerate() {
            if !known.iter().any(|it| it.name == name) {
                let refused = unknown(name, known.iter().map(|it| it.name));
                return Err(below(&path, refused));
            }
            if all[..index].iter().any(|(earlier, _)| earlier == name) {
                return Err(refuse(&format!("{path}{name}"), "is given more than once"));
            }
        }
        Ok(Members { path, all })
    }

    /// A required member.
    pub fn required<T>(&self, name: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| self.refuse(name, "is missing"))
    }

    pub fn text(&self, name: &str) -> Result<Option<String>> {
        self.read(name, "be text", |raw| serde_json::from_str(raw).ok())
    }

    /// Text that is not empty, where nothing else refuses empty text.
    pub fn filled_text(&self, name: &str) -> Result<Option<String>> {
        match self.text(name)? {
            Some(text) if text.is_empty() => Err(self.refuse(name, "must not be empty")),
            other => Ok(other),
        }
    }

    /// Text, or null to clear it: `None` if absent, `Some(None)` if null.
    pub fn text_or_null(&self, name: &str) -> Result<Option<Option<String>>> {
        let is_there = self.all.iter().any(|(known, _)| known == name);
        let text = self.read(name, "be text or null", |raw| serde_json::from_str(raw).ok())?;
        Ok(is_there.then_some(text))
    }

    pub fn texts(&self, name: &str) -> Result<Option<Vec<String>>> {
        self.read(name, "be a list of text", |raw| serde_json::from_str(raw).ok())
    }

    pub fn bool(&self, name: &str) -> Result<Option<bool>> {
        self.read(name, "be true or false", |raw| serde_json::from_str(raw).ok())
    }

    /// A whole number that is not negative, in any form that JSON allows.
    pub fn whole(&self, name: &str) -> Result<Option<i64>> {
        self.read(name, "be a whole number", |raw| {
            let number = parse_json_scaled(raw, 0).ok()?;
            (0..WHOLE_BOUND).contains(&number).then_some(number as i64)
        })
    }

    pub fn date(&self, name: &str) -> Result<Option<Date>> {
        self.read(name, "be a date that exists, as YYYY-MM-DD", |raw| {
            let text: String = serde_json::from_str(raw).ok()?;
            if text.len() == 10 && text.is_ascii() { text.parse().ok() } else { None }
        })
    }

    /// One of a closed list of words.
    pub fn one_of(&self, name: &str, words: &[&str]) -> Result<Option<String>> {
        self.read(name, &format!("be one of {}", words.join(", ")), |raw| {
            let text: String = serde_json::from_str(raw).ok()?;
            words.contains(&text.as_str()).then_some(text)
        })
    }

    pub fn id<K: Kind>(&self, name: &str) -> Result<Option<Id<K>>> {
        match self.text(name)? {
            Some(text) => {
                Id::parse(&text).map(Some).map_err(|it| self.refuse(name, &it.to_string()))
            }
            None => Ok(None),
        }
    }

    pub fn ids<K: Kind>(&self, name: &str) -> Result<Option<Vec<Id<K>>>> {
        let texts: Option<Vec<String>> =
            self.read(name, "be a list of ids", |raw| serde_json::from_str(raw).ok())?;
        let Some(texts) = texts else { return Ok(None) };
        let parse = |text: &String| {
            let shown: String = text.chars().take(64).collect();
            Id::parse(text).map_err(|it| self.refuse(name, &format!("has {shown}, which {it}")))
        };
        texts.iter().map(parse).collect::<Result<_>>().map(Some)
    }

    /// An object of the client's own choice, as the original JSON text.
    pub fn json(&self, name: &str) -> Result<Option<String>> {
        // Parsed once here, so that later readers do not meet JSON that is nested too deeply.
        let is_object = |raw: &str| serde_json::from_str::<serde_json::Map<_, _>>(raw).is_ok();
        self.read(name, "be an object, at most 120 levels deep", |raw| {
            is_object(raw).then(|| raw.to_owned())
        })
    }

    /// A quantity or price, exactly as written, in any form that JSON allows; at most nine decimals.
    pub fn quantity(&self, name: &str) -> Result<Option<Fixed9>> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        Fixed9::parse_json(raw).map(Some).map_err(|error| match error {
            DecimalError::Malformed => self.refuse(name, "must be a number such as 1.5"),
            DecimalError::TooPrecise => self.refuse(name, "must have at most 9 decimals"),
            DecimalError::TooLong => self.refuse(name, "has too many digits"),
        })
    }

    /// An amount, exactly as written; never more decimals than its currency has.
    pub fn money(&self, name: &str, currency: Currency) -> Result<Option<Money>> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        self.amount(name, Money::parse_json(raw, currency)).map(Some)
    }

    /// An amount in quotes.
    pub fn money_text(&self, name: &str, currency: Currency) -> Result<Option<Money>> {
        let requirement = "be text with a number in it, such as \"100000.00\"";
        let text: Option<String> =
            self.read(name, requirement, |raw| serde_json::from_str(raw).ok())?;
        text.map(|it| self.amount(name, Money::parse(&it, currency))).transpose()
    }

    fn amount(&self, name: &str, parsed: Result<Money, MoneyError>) -> Result<Money> {
        parsed.map_err(|error| match error {
            MoneyError::OutOfRange => self.refuse(name, "is too large"),
            other => self.refuse(name, &other.to_string()),
        })
    }

    fn read<T>(
        &self,
        name: &str,
        requirement: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        match self.raw(name) {
            Some(raw) => match read(raw) {
                Some(value) => Ok(Some(value)),
                None => Err(self.refuse(name, &format!("must {requirement}"))),
            },
            None => Ok(None),
        }
    }

    /// The member's JSON text; null counts as absent.
    fn raw(&self, name: &str) -> Option<&str> {
        let (_, raw) = self.all.iter().find(|(known, _)| known == name)?;
        Some(raw.get()).filter(|it| *it != "null")
    }

    /// `payload.symbol must be text`
    pub fn refuse(&self, name: &str, what: &str) -> Error {
        refuse(&format!("{}{name}", self.path), what)
    }
}

fn wrong(message: impl Into<String>) -> Error {
    Error::Invalid { param: None, message: message.into() }
}

fn refuse(name: &str, what: &str) -> Error {
    Error::invalid(name, format!("{name} {what}"))
}

/// Prefixes the member in an error with the path of its object.
fn below(path: &str, error: Error) -> Error {
    match error {
        Error::Invalid { param: Some(param), message } => {
            Error::invalid(&format!("{path}{param}"), format!("{path}{message}"))
        }
        other => other,
    }
}

/// The members in order, including repeated ones, so that duplicates are detected.
struct InOrder(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for InOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<InOrder, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = InOrder;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InOrder, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(InOrder(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Holds;

    const fn known(name: &'static str) -> Member {
        Member::optional(name, Holds::Json, "")
    }

    const KNOWN: [Member; 5] =
        [known("name"), known("quantity"), known("amount"), known("skip_approval"), known("inner")];

    fn check(body: &[u8], expected: &str) {
        let read = || -> Result<String> {
            let members = Members::parse(body, &KNOWN)?;
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
        check(
            br#"{"amount": -1.250e1, "quantity": 1e-05}"#,
            "None Some(0.00001) Some(-12.50 USD) None",
        );
        // A float would turn it into 561.299999...
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
        check(br#"{"quantity": "5"}"#, "error: quantity must be a number such as 1.5");
        check(br#"{"quantity": 1e-10}"#, "error: quantity must have at most 9 decimals");
        check(br#"{"quantity": 1e999999999}"#, "error: quantity has too many digits");
        check(br#"{"amount": 1e999999999}"#, "error: amount is too large");
        check(br#"{"quantity": 0.0000000001}"#, "error: quantity must have at most 9 decimals");
        let long = format!("{{\"quantity\": {}}}", "9".repeat(5_000));
        check(long.as_bytes(), "error: quantity has too many digits");
        check(
            br#"{"amount": 1.005}"#,
            "error: amount must be a number such as -12.34, with at most 2 decimals in USD",
        );
        for body in ["[]", "5", "{\"name\"", "{} {}", "null", "{'name': 1}"] {
            let refused = Members::parse(body.as_bytes(), &KNOWN).unwrap_err().to_string();
            assert!(refused.starts_with("the body must be one JSON object: "), "{body}: {refused}");
        }
    }

    #[test]
    fn filled_text_is_not_empty() {
        for (body, expected) in [
            ("{}", "None"),
            (r#"{"name": null}"#, "None"),
            (r#"{"name": "A"}"#, r#"Some("A")"#),
            (r#"{"name": ""}"#, "name must not be empty"),
        ] {
            let read = Members::parse(body.as_bytes(), &KNOWN).unwrap().filled_text("name");
            let shown = read.map_or_else(|error| error.to_string(), |it| format!("{it:?}"));
            assert_eq!(shown, expected, "{body}");
        }
    }

    #[test]
    fn null_is_told_from_what_is_not_there_where_it_clears() {
        for (body, expected) in [
            ("{}", "None"),
            (r#"{"name": null}"#, "Some(None)"),
            (r#"{"name": ""}"#, r#"Some(Some(""))"#),
            (r#"{"name": "A"}"#, r#"Some(Some("A"))"#),
            (r#"{"name": 1}"#, "name must be text or null"),
            (r#"{"name": "null"}"#, r#"Some(Some("null"))"#),
        ] {
            let members = Members::parse(body.as_bytes(), &KNOWN).unwrap();
            let read = members.text_or_null("name");
            let shown = read.map_or_else(|error| error.to_string(), |it| format!("{it:?}"));
            assert_eq!(shown, expected, "{body}");
        }
    }

    #[test]
    fn what_lies_within_is_named_by_its_whole_path() {
        let read = |body: &str| -> Result<String> {
            let inner = Members::parse(body.as_bytes(), &KNOWN)?.object("inner", &KNOWN)?;
            let inner = inner.ok_or_else(|| wrong("none"))?;
            let deeper = inner.object("inner", &KNOWN)?;
            let name = deeper.as_ref().map(|it| it.text("name")).transpose()?.flatten();
            let ids = inner.ids::<base::kinds::Account>("name")?;
            inner.required("quantity", inner.quantity("quantity")?)?;
            Ok(format!("{name:?} {ids:?}"))
        };
        let check = |body: &str, expected: &str| {
            let shown = read(body).unwrap_or_else(|error| match error {
                Error::Invalid { param, message } => {
                    format!("{}: {message}", param.unwrap_or_default())
                }
                other => other.to_string(),
            });
            assert_eq!(shown, expected, "{body}");
        };
        check(r#"{"inner": {"quantity": 1, "inner": {"name": "A"}}}"#, "Some(\"A\") None");
        check("{}", ": none");
        check(r#"{"inner": null}"#, ": none");
        check(r#"{"inner": []}"#, "inner: inner must be an object");
        check(r#"{"inner": {}}"#, "inner.quantity: inner.quantity is missing");
        check(
            r#"{"inner": {"nam": 1}}"#,
            "inner.nam: inner.nam is not known here; did you mean name?",
        );
        check(
            r#"{"inner": {"name": 1, "name": 2}}"#,
            "inner.name: inner.name is given more than once",
        );
        check(
            r#"{"inner": {"inner": {"name": 1}}}"#,
            "inner.inner.name: inner.inner.name must be text",
        );
        check(r#"{"inner": {"name": "A"}}"#, "inner.name: inner.name must be a list of ids");
        check(
            r#"{"inner": {"name": ["A"]}}"#,
            "inner.name: inner.name has A, which must look like acc_ followed by 26 letters and digits",
        );
    }

    #[test]
    fn a_deep_or_long_body_is_refused_without_harm() {
        let deep = format!("{{\"name\": {}1{}}}", "[".repeat(200_000), "]".repeat(200_000));
        assert!(Members::parse(deep.as_bytes(), &KNOWN).and_then(|it| it.text("name")).is_err());
    }
}
