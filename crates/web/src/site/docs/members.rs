//! The members of a response with their types and descriptions. Nested members are collapsed.

use maud::{Markup, html};
use serde_json::Value;

use super::super::snippet::prose;
use super::words::words_of;
use crate::api::{Endpoint, Paging};
use crate::openapi::{Schemas, beside, is_nullable, reference};

/// The maximum nesting, in case a schema contains itself by mistake.
const DEEPEST: usize = 6;

pub(super) fn answer(endpoint: &Endpoint, schemas: &Schemas) -> Markup {
    let name = endpoint.answer.name;
    let shape = serde_json::json!({ "$ref": name });
    let data = match endpoint.answer.paging {
        Paging::None | Paging::WithinObject => shape,
        Paging::Within | Paging::Beside => serde_json::json!({ "type": "array", "items": shape }),
    };
    let to = |name: &str| serde_json::json!({ "$ref": name });
    html! {
        ul.members {
            (member("data", &data, schemas, Fold { depth: 0, open: true }))
            @if matches!(endpoint.answer.paging, Paging::Within | Paging::WithinObject) {
                (member("pagination", &to("Pagination"), schemas, Fold { depth: 0, open: false }))
            }
            @if endpoint.answer.paging == Paging::Beside {
                @for (name, schema) in beside() {
                    (member(name, &schema, schemas, Fold { depth: 0, open: false }))
                }
            }
            (member("meta", &to("Meta"), schemas, Fold { depth: 0, open: false }))
        }
    }
}

#[derive(Clone, Copy)]
struct Fold {
    depth: usize,
    open: bool,
}

fn member(name: &str, schema: &Value, schemas: &Schemas, fold: Fold) -> Markup {
    let shape = Shape::of(schema, schemas);
    html! {
        li {
            span.name { code { (name) } " " span.type { (shape.words) } }
            @if let Some(about) = &shape.about { span.about { (prose(about)) } }
            @if !shape.values.is_empty() { (values(&shape.values)) }
            @if let Some(inner) = shape.inner.filter(|_| fold.depth < DEEPEST) {
                (members(inner, schemas, fold))
            }
        }
    }
}

/// The known values of a member. A long list is collapsed, and one as long as that of the categories is left to the OpenAPI
/// document, because a tenth of this page would repeat it.
fn values(values: &[&str]) -> Markup {
    html! {
        @if values.len() > 50 {
            span.about {
                (values.len()) " values, listed in the "
                a href="/v1/openapi.json" { "OpenAPI document" } "."
            }
        } @else if values.len() > 10 {
            details { summary { (values.len()) " values" } (words_of(values)) }
        } @else {
            (words_of(values))
        }
    }
}

fn members(schema: &Value, schemas: &Schemas, fold: Fold) -> Markup {
    let Some(all) = schema["properties"].as_object() else { return html! {} };
    // A wrapper with a single member is expanded.
    let inner = Fold { depth: fold.depth + 1, open: fold.open && all.len() == 1 };
    html! {
        details open[fold.open] {
            summary {
                (all.len()) @if all.len() == 1 { " member" } @else { " members" }
            }
            ul.members {
                @for (name, it) in all { (member(name, it, schemas, inner)) }
            }
        }
    }
}

/// A schema in words, with references resolved.
struct Shape<'a> {
    words: String,
    about: Option<String>,
    /// The known values, of the value or of its list items.
    values: Vec<&'a str>,
    /// The object schema, of the value or of its list items.
    inner: Option<&'a Value>,
}

impl<'a> Shape<'a> {
    fn of(schema: &'a Value, schemas: &'a Schemas) -> Shape<'a> {
        // The description beside a reference is about this member; the one behind it is about the type.
        let choice =
            schema["oneOf"].as_array().and_then(|it| it.iter().find(|it| it["type"] != "null"));
        let pointer = choice.unwrap_or(schema);
        let target = reference(pointer).and_then(|it| schemas.get(it)).unwrap_or(pointer);
        let description =
            [schema, pointer, target].into_iter().find_map(|it| it["description"].as_str());
        let mut shape = Shape::plain(target, schemas);
        shape.about = description.map(str::to_owned).or(shape.about);
        if is_nullable(schema) {
            shape.words.push_str(" or null");
        }
        shape
    }

    fn plain(schema: &'a Value, schemas: &'a Schemas) -> Shape<'a> {
        let kinds = schema["type"].as_array();
        let kind = kinds.map_or(&schema["type"], |it| it.first().unwrap_or(&Value::Null));
        let words = match (kind.as_str(), schema["format"].as_str()) {
            (Some("array"), _) => {
                let item = Shape::of(&schema["items"], schemas);
                let words = format!("list of {}s", item.words);
                return Shape { words, ..item };
            }
            (Some("string"), Some("date")) => "day",
            (Some("string"), Some("date-time")) => "instant",
            (Some("boolean"), _) => "true or false",
            (Some(other), _) => other,
            (None, _) => "anything",
        };
        let inner = (words == "object").then_some(schema);
        let values = schema["x-extensible-enum"].as_array().into_iter().flatten();
        let values = values.filter_map(Value::as_str).collect();
        Shape { words: words.to_owned(), about: None, values, inner }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(member: &str, words: &str, about: &str) {
        let schemas = crate::openapi::schemas();
        let (name, member) = member.split_once('.').unwrap();
        let shape = Shape::of(&schemas[name]["properties"][member], &schemas);
        assert_eq!(shape.words, words, "{name}.{member}");
        assert!(shape.about.unwrap_or_default().starts_with(about), "{name}.{member}");
    }

    #[test]
    fn types_are_described_in_words() {
        check("Account.id", "string", "");
        check("Account.type", "string", "Plaid's type of an account.");
        check("Action.decision_method", "string or null", "Null until the person decided.");
        check("Account.mask", "string or null", "The last digits");
        check("Account.balance_current", "number or null", "The balance; for credit");
        check("Account.as_of", "instant or null", "The time of the balance");
        check("Transaction.date_posted", "day", "The posting date; while pending");
        check("Transaction.pending", "true or false", "");
        check("Accounts.accounts", "list of objects", "A linked account");
        check("Investments.account_total", "object", "Totals in the person's base currency");
        check("Pagination.count", "integer", "The number of items");
    }
}
