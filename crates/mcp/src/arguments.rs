//! Arguments of tools: declared once, for the schema that a client sees and for the check of what it sends. Every refusal is
//! a sentence that an assistant can act on.

use base::category::Category;
use base::{Currency, Date, DecimalError, Fixed9, Id, Kind, Money, parse_json_scaled};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use service::actions::ProposedPart;
use service::{Error, Result};

use crate::object::members;

/// The declaration of an argument.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Argument {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    pub(crate) required: bool,
    /// Empty where the name says it all: every word is read by the model in each conversation.
    pub(crate) about: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Takes {
    Text {
        longest: usize,
    },
    Id(&'static str),
    Uuid,
    /// Up to a hundred ids.
    Ids(&'static str),
    Date,
    Bool,
    Texts,
    /// The parts of a split transaction.
    Parts,
    Whole {
        least: i64,
        most: i64,
        default: Option<i64>,
    },
    /// A JSON number, read from its own digits.
    Number,
    OneOf(&'static [&'static str]),
    SomeOf(&'static [&'static str]),
}

impl Argument {
    pub(crate) const fn optional(
        name: &'static str,
        takes: Takes,
        about: &'static str,
    ) -> Argument {
        Argument { name, takes, required: false, about }
    }

    pub(crate) const fn required(
        name: &'static str,
        takes: Takes,
        about: &'static str,
    ) -> Argument {
        Argument { name, takes, required: true, about }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.takes {
            Takes::Text { longest } => json!({ "type": "string", "maxLength": longest }),
            Takes::Id(prefix) => json!({ "type": "string", "pattern": format!("^{prefix}") }),
            Takes::Uuid => json!({ "type": "string", "format": "uuid" }),
            Takes::Ids(prefix) => json!({
                "type": "array",
                "items": { "type": "string", "pattern": format!("^{prefix}") },
                "maxItems": 100,
            }),
            Takes::Date => json!({ "type": "string", "format": "date" }),
            Takes::Bool => json!({ "type": "boolean" }),
            Takes::Whole { least, most, .. } => {
                json!({ "type": "integer", "minimum": least, "maximum": most })
            }
            Takes::Number => json!({ "type": "number" }),
            Takes::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Takes::Parts => json!({
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "amount": { "type": "number" },
                        "category": { "type": "string" },
                        "note": { "type": "string" },
                    },
                    "required": ["amount", "category"],
                },
            }),
            Takes::OneOf(words) => json!({ "type": "string", "enum": words }),
            Takes::SomeOf(words) => {
                json!({ "type": "array", "items": { "type": "string", "enum": words } })
            }
        };
        if let Takes::Whole { default: Some(default), .. } = self.takes {
            schema["default"] = json!(default);
        }
        if !self.about.is_empty() {
            schema["description"] = json!(self.about);
        }
        schema
    }
}

/// The JSON Schema of a tool's arguments.
pub(crate) fn input_schema(arguments: &[Argument]) -> Value {
    let properties: Map<String, Value> =
        arguments.iter().map(|it| (it.name.to_owned(), it.schema())).collect();
    let required: Vec<&str> = arguments.iter().filter(|it| it.required).map(|it| it.name).collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["additionalProperties"] = json!(false);
    schema
}

/// The arguments of a call: names are checked, values are still JSON text.
#[derive(Debug)]
pub(crate) struct Arguments<'a> {
    known: &'static [Argument],
    all: Vec<(String, &'a RawValue)>,
}

impl<'a> Arguments<'a> {
    pub(crate) fn parse(
        json: Option<&'a str>,
        known: &'static [Argument],
    ) -> Result<Arguments<'a>> {
        let all = members(json.unwrap_or("{}"))
            .map_err(|_| wrong("arguments", "must be an object of this tool's arguments"))?;
        for (index, (name, _)) in all.iter().enumerate() {
            if !known.iter().any(|it| it.name == name) {
                return Err(unknown(name, known));
            }
            if all[..index].iter().any(|(earlier, _)| earlier == name) {
                return Err(wrong(name, "is given more than once"));
            }
        }
        let given = |name: &str| all.iter().any(|(it, value)| it == name && value.get() != "null");
        if let Some(missing) = known.iter().find(|it| it.required && !given(it.name)) {
            return Err(wrong(missing.name, "is missing"));
        }
        Ok(Arguments { known, all })
    }

    /// The value's JSON text; null counts as absent.
    fn raw(&self, name: &str) -> Option<&'a str> {
        let (_, raw) = self.all.iter().find(|(known, _)| known == name)?;
        Some(raw.get()).filter(|it| *it != "null")
    }

    fn takes(&self, name: &str) -> Result<Takes> {
        let declared = self.known.iter().find(|it| it.name == name).map(|it| it.takes);
        declared.ok_or_else(|| Error::internal(format!("the argument {name} is not declared")))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<String>> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        let text: String = serde_json::from_str(raw).map_err(|_| wrong(name, "must be a text"))?;
        match self.takes(name)? {
            Takes::Text { longest } if text.chars().count() > longest => {
                Err(wrong(name, &format!("must have at most {longest} characters")))
            }
            Takes::OneOf(words) if !words.contains(&text.as_str()) => {
                Err(wrong(name, &format!("must be one of {}", words.join(", "))))
            }
            _ => Ok(Some(text)),
        }
    }

    pub(crate) fn required<T>(&self, name: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| wrong(name, "is missing"))
    }

    pub(crate) fn id<K: Kind>(&self, name: &str) -> Result<Option<Id<K>>> {
        match self.text(name)? {
            Some(text) => Id::parse(&text).map(Some).map_err(|it| wrong(name, &it.to_string())),
            None => Ok(None),
        }
    }

    pub(crate) fn ids<K: Kind>(&self, name: &str) -> Result<Option<Vec<Id<K>>>> {
        let Some(texts) = self.texts(name)? else { return Ok(None) };
        let parse = |text: &String| {
            let shown: String = text.chars().take(64).collect();
            Id::parse(text).map_err(|it| wrong(name, &format!("has {shown}, which {it}")))
        };
        texts.iter().map(parse).collect::<Result<_>>().map(Some)
    }

    /// The parts of a split transaction, each an object with amount, category and note.
    pub(crate) fn parts(&self, name: &str) -> Result<Option<Vec<ProposedPart>>> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        let objects: Vec<&RawValue> =
            serde_json::from_str(raw).map_err(|_| wrong(name, "must be a list of objects"))?;
        let read = |object: &RawValue| -> Result<ProposedPart> {
            let part = Arguments::parse(Some(object.get()), PART)?;
            let category = part.category("category")?.and_then(|it| it.to_set());
            Ok(ProposedPart {
                amount: part.required("amount", part.number("amount")?)?,
                category: part.required("category", category)?,
                note: part.text("note")?.unwrap_or_default(),
            })
        };
        let in_part = |index: usize, error: Error| match error {
            Error::Invalid { message, .. } => {
                wrong(name, &format!("part {}: {message}", index + 1))
            }
            other => other,
        };
        let parts = objects.into_iter().enumerate();
        let parts = parts.map(|(index, it)| read(it).map_err(|error| in_part(index, error)));
        parts.collect::<Result<_>>().map(Some)
    }

    pub(crate) fn texts(&self, name: &str) -> Result<Option<Vec<String>>> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        serde_json::from_str(raw).map(Some).map_err(|_| wrong(name, "must be a list of texts"))
    }

    /// The words of a list that it may have; the given default if it is absent.
    pub(crate) fn some_of(
        &self,
        name: &str,
        default: &'static [&'static str],
    ) -> Result<Vec<&'static str>> {
        let Some(texts) = self.texts(name)? else { return Ok(default.to_vec()) };
        let Takes::SomeOf(words) = self.takes(name)? else {
            return Err(Error::internal(format!("the argument {name} is no list of words")));
        };
        let find = |text: &String| {
            let shown: String = text.chars().take(64).collect();
            let found = words.iter().find(|it| *it == text).copied();
            found.ok_or_else(|| {
                let near = base::nearest(&shown, words.iter().copied(), shown.len() / 2 + 1);
                let hint = match near {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("it takes {}", words.join(", ")),
                };
                wrong(name, &format!("has {shown}, which is not known; {hint}"))
            })
        };
        let chosen: Vec<&'static str> = texts.iter().map(find).collect::<Result<_>>()?;
        if chosen.is_empty() { Ok(default.to_vec()) } else { Ok(chosen) }
    }

    pub(crate) fn bool(&self, name: &str) -> Result<Option<bool>> {
        match self.raw(name) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(wrong(name, "must be true or false")),
        }
    }

    /// A whole number within its declared bounds, or its default.
    pub(crate) fn whole(&self, name: &str) -> Result<Option<i64>> {
        let Takes::Whole { least, most, default } = self.takes(name)? else {
            return Err(Error::internal(format!("the argument {name} is no whole number")));
        };
        let Some(raw) = self.raw(name) else { return Ok(default) };
        let number = parse_json_scaled(raw, 0).ok();
        let number = number.filter(|it| (i128::from(least)..=i128::from(most)).contains(it));
        let refused = || wrong(name, &format!("must be a whole number from {least} to {most}"));
        number.map(|it| Some(it as i64)).ok_or_else(refused)
    }

    pub(crate) fn date(&self, name: &str) -> Result<Option<Date>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let plain = text.len() == 10 && text.is_ascii();
        let parsed: Option<Date> = if plain { text.parse().ok() } else { None };
        parsed.map(Some).ok_or_else(|| wrong(name, "must be a date that exists, as YYYY-MM-DD"))
    }

    /// A decimal with at most nine decimals, exactly as written.
    pub(crate) fn number(&self, name: &str) -> Result<Option<Fixed9>> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        Fixed9::parse_json(raw).map(Some).map_err(|error| match error {
            DecimalError::Malformed => wrong(name, "must be a number such as 1.5"),
            DecimalError::TooPrecise => wrong(name, "must have at most 9 decimals"),
            DecimalError::TooLong => wrong(name, "has too many digits"),
        })
    }

    /// An amount, exactly as written; never more decimals than its currency has.
    pub(crate) fn money(&self, name: &str, currency: Currency) -> Result<Option<Money>> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        Money::parse_json(raw, currency).map(Some).map_err(|it| wrong(name, &it.to_string()))
    }

    pub(crate) fn category(&self, name: &str) -> Result<Option<CategoryChoice>> {
        match self.text(name)? {
            Some(text) => find_category(&text).map(Some).map_err(|what| wrong(name, &what)),
            None => Ok(None),
        }
    }

    /// The arguments as text, equal for equal calls. It leaves out those that may differ between the pages of a list.
    pub(crate) fn fingerprint(&self) -> String {
        let pages = ["cursor", "limit", "idempotency_key"];
        let mut parts: Vec<String> = self
            .all
            .iter()
            .filter(|(name, value)| !pages.contains(&name.as_str()) && value.get() != "null")
            .map(|(name, value)| format!("{name}={}", value.get()))
            .collect();
        parts.sort();
        parts.join("\n")
    }
}

const PART: &[Argument] = &[
    Argument::required("amount", Takes::Number, ""),
    Argument::required("category", Takes::Text { longest: 80 }, ""),
    Argument::optional("note", Takes::Text { longest: 100 }, ""),
];

/// A category that a caller named: all of a primary one, or exactly one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CategoryChoice {
    Primary(&'static str),
    Exact(CategoryWord),
}

/// A detailed category. The wrapper is comparable and printable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct CategoryWord(pub(crate) Category);

impl std::fmt::Debug for CategoryWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.detailed())
    }
}

impl CategoryChoice {
    /// The category to set: of a primary one its general member.
    pub(crate) fn to_set(&self) -> Option<Category> {
        match self {
            CategoryChoice::Primary(word) => Category::parse(word),
            CategoryChoice::Exact(word) => Some(word.0),
        }
    }
}

fn find_category(text: &str) -> Result<CategoryChoice, String> {
    let primary = Category::ALL.iter().map(|it| it.primary()).find(|it| *it == text);
    if let Some(primary) = primary {
        return Ok(CategoryChoice::Primary(primary));
    }
    let same = |it: &&Category| it.detailed() == text || it.label().eq_ignore_ascii_case(text);
    if let Some(found) = Category::ALL.iter().find(same) {
        return Ok(CategoryChoice::Exact(CategoryWord(*found)));
    }
    let typed: String = text.chars().take(64).collect();
    let codes = Category::ALL.iter().flat_map(|it| [it.primary(), it.detailed(), it.label()]);
    let hint = match base::nearest(&typed, codes, typed.chars().count() / 3 + 1) {
        Some(near) => format!("; did you mean {near}?"),
        None => String::new(),
    };
    Err(format!("must be a category such as FOOD_AND_DRINK or Groceries{hint}"))
}

/// `limit must be a whole number from 1 to 100`
pub(crate) fn wrong(name: &str, what: &str) -> Error {
    Error::invalid(name, format!("{name} {what}"))
}

fn unknown(name: &str, known: &[Argument]) -> Error {
    let shown: String = name.chars().take(64).collect();
    let names = known.iter().map(|it| it.name);
    let near = base::nearest(&shown, names.clone(), shown.chars().count() / 2 + 1);
    let hint = match near {
        Some(near) => format!("did you mean {near}?"),
        None if known.is_empty() => "this tool takes none".to_owned(),
        None => format!("this tool takes {}", names.collect::<Vec<_>>().join(", ")),
    };
    wrong(&shown, &format!("is not an argument of this tool; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Argument] = &[
        Argument::required("account_id", Takes::Id("acc_"), ""),
        Argument::optional("limit", Takes::Whole { least: 1, most: 100, default: Some(25) }, ""),
        Argument::optional("fields", Takes::SomeOf(&["id", "amount"]), ""),
        Argument::optional("status", Takes::OneOf(&["open", "all"]), ""),
        Argument::optional("from", Takes::Date, ""),
        Argument::optional("amount", Takes::Number, ""),
        Argument::optional("category", Takes::Text { longest: 60 }, ""),
    ];
    const ACCOUNT: &str = r#""account_id":"acc_01kny3v1m8f2x9q4t7r5c6b8de""#;

    fn check(json: &str, expected: &str) {
        let read = || -> Result<String> {
            let it = Arguments::parse(Some(json), KNOWN)?;
            it.id::<base::kinds::Account>("account_id")?;
            Ok(format!(
                "{:?} {:?} {:?} {:?} {:?} {:?}",
                it.whole("limit")?,
                it.some_of("fields", &["id"])?,
                it.text("status")?,
                it.date("from")?,
                it.number("amount")?,
                it.category("category")?
            ))
        };
        let shown = read().unwrap_or_else(|error| error.to_string());
        assert_eq!(shown, expected, "{json}");
    }

    #[test]
    fn arguments_are_read_exactly() {
        check(&format!("{{{ACCOUNT}}}"), r#"Some(25) ["id"] None None None None"#);
        check(
            &format!(
                r#"{{{ACCOUNT},"limit":1e1,"fields":["amount"],"amount":-7.20,"status":"all"}}"#
            ),
            r#"Some(10) ["amount"] Some("all") None Some(-7.2) None"#,
        );
        check(
            &format!(r#"{{{ACCOUNT},"category":"groceries","limit":null}}"#),
            r#"Some(25) ["id"] None None None Some(Exact(FOOD_AND_DRINK_GROCERIES))"#,
        );
        check(
            &format!(r#"{{{ACCOUNT},"category":"TRAVEL"}}"#),
            r#"Some(25) ["id"] None None None Some(Primary("TRAVEL"))"#,
        );
    }

    #[test]
    fn what_is_wrong_is_refused_with_what_to_do() {
        for (json, expected) in [
            ("[]", "arguments must be an object of this tool's arguments"),
            ("{}", "account_id is missing"),
            (
                r#"{"acount_id":"x"}"#,
                "acount_id is not an argument of this tool; did you mean account_id?",
            ),
            (
                r#"{"zzzzzzzzzzzzzzzz":1}"#,
                "zzzzzzzzzzzzzzzz is not an argument of this tool; this tool takes account_id, limit, fields, \
                 status, from, amount, category",
            ),
            (
                r#"{"account_id":"acc_1"}"#,
                "account_id must look like acc_ followed by 26 letters and digits",
            ),
            (r#"{"account_id":5}"#, "account_id must be a text"),
        ] {
            check(json, expected);
        }
        for (more, expected) in [
            (r#""limit":101"#, "limit must be a whole number from 1 to 100"),
            (r#""limit":"5""#, "limit must be a whole number from 1 to 100"),
            (r#""limit":1,"limit":2"#, "limit is given more than once"),
            (r#""fields":["amout"]"#, "fields has amout, which is not known; did you mean amount?"),
            (r#""fields":"id""#, "fields must be a list of texts"),
            (r#""status":"shut""#, "status must be one of open, all"),
            (r#""from":"2026-02-30""#, "from must be a date that exists, as YYYY-MM-DD"),
            (r#""amount":"5""#, "amount must be a number such as 1.5"),
            (r#""amount":1e999999999"#, "amount has too many digits"),
            (
                r#""category":"Grocerys""#,
                "category must be a category such as FOOD_AND_DRINK or Groceries; did you mean Groceries?",
            ),
        ] {
            check(&format!("{{{ACCOUNT},{more}}}"), expected);
        }
    }

    #[test]
    fn the_schema_names_every_argument_and_allows_no_other() {
        let schema = input_schema(KNOWN);
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["required"], json!(["account_id"]));
        assert_eq!(schema["properties"].as_object().unwrap().len(), KNOWN.len());
        assert_eq!(schema["properties"]["limit"]["default"], 25);
    }

    #[test]
    fn equal_calls_have_equal_fingerprints() {
        let of = |json: &str| Arguments::parse(Some(json), KNOWN).unwrap().fingerprint();
        let one = of(&format!(r#"{{{ACCOUNT},"status":"all","limit":5}}"#));
        let same = of(&format!(r#"{{"status":"all","from":null,{ACCOUNT}}}"#));
        assert_eq!(one, same);
        assert_ne!(one, of(&format!(r#"{{{ACCOUNT},"status":"open"}}"#)));
    }
}
