//! The exact form of ids, and of other text whose example shows its form.

use serde_json::{Value, json};

use super::Schemas;

/// The characters of an id after its prefix: the first carries only three of the 128 bits.
const FIRST: &str = "[0-7]";
const REST: &str = "[0-9a-hjkmnp-tv-z]{25}";
const LENGTH: usize = 26;

/// Members with ids of several kinds, and their prefixes.
const SEVERAL: &[(&str, &str, &str)] = &[("ProposedBy", "id", "(key|gra|usr)_")];

/// The pattern of ids with this prefix.
pub(super) fn pattern(prefix: &str) -> String {
    format!("^{prefix}{FIRST}{REST}$")
}

/// Gives every text member the format or pattern that its example shows.
pub(super) fn add_forms(schemas: &mut Schemas) {
    for schema in schemas.values_mut() {
        let members = schema.get_mut("properties").and_then(Value::as_object_mut);
        for (name, member) in members.into_iter().flatten() {
            add_form(name, member);
        }
    }
    for (name, member, prefix) in SEVERAL {
        if let Some(schema) = schemas.get_mut(*name) {
            schema["properties"][*member]["pattern"] = json!(pattern(prefix));
        }
    }
}

fn add_form(name: &str, schema: &mut Value) {
    let kind = schema["type"].to_string();
    let example = schema.get("example").or_else(|| schema["examples"].get(0)).cloned();
    let example = example.unwrap_or_default();
    if kind.contains("array") {
        if let Some(form) = example[0].as_str().and_then(|it| form(name, it)) {
            schema["items"][form.0] = form.1;
        }
    } else if kind.contains("string")
        && let Some((keyword, value)) = form(name, example.as_str().unwrap_or_default())
    {
        schema[keyword] = value;
    }
}

/// The keyword that describes the form of a text, and its value.
pub(super) fn form(name: &str, example: &str) -> Option<(&'static str, Value)> {
    if let Some(prefix) = prefix_of(example) {
        return Some(("pattern", json!(pattern(prefix))));
    }
    if base::ActionId::parse(example).is_ok() {
        return Some(("format", json!("uuid")));
    }
    match name {
        "currency" => Some(("pattern", json!("^[A-Z]{3}$"))),
        "email" => Some(("format", json!("email"))),
        _ if name == "url" || name.ends_with("_url") => Some(("format", json!("uri"))),
        _ if name.ends_with("_as_of") => Some(("format", json!("date-time"))),
        _ => None,
    }
}

/// The prefix of an id such as `acc_01kny3v1m8f2x9q4t7r5c6b8de`.
fn prefix_of(text: &str) -> Option<&str> {
    let (prefix, rest) = text.split_at_checked(text.find('_')? + 1)?;
    // Any kind of id will do: they differ only in the prefix.
    let is_id = base::AccountId::parse(&format!("acc_{rest}")).is_ok();
    (is_id && rest.len() == LENGTH).then_some(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a class such as `[0-9a-h]` has a character.
    fn has(class: &str, wanted: char) -> bool {
        let class: Vec<char> = class.trim_matches(['[', ']']).chars().collect();
        let is_range = |at: usize| class.get(at + 1) == Some(&'-');
        let mut at = 0;
        while at < class.len() {
            let (from, to) = (class[at], if is_range(at) { class[at + 2] } else { class[at] });
            if (from..=to).contains(&wanted) {
                return true;
            }
            at += if is_range(at) { 3 } else { 1 };
        }
        false
    }

    #[test]
    fn the_pattern_has_exactly_the_characters_of_ids() {
        let rest = REST.trim_end_matches("{25}");
        for letter in (0..=127u8).map(char::from) {
            let first = format!("acc_{letter}{}", "0".repeat(25));
            let last = format!("acc_{}{letter}", "0".repeat(25));
            assert_eq!(base::AccountId::parse(&first).is_ok(), has(FIRST, letter), "{letter:?}");
            assert_eq!(base::AccountId::parse(&last).is_ok(), has(rest, letter), "{letter:?}");
        }
        assert_eq!(pattern("acc_"), "^acc_[0-7][0-9a-hjkmnp-tv-z]{25}$");
    }

    #[test]
    fn an_example_shows_the_form() {
        let shown = |name: &str, example: &str| form(name, example).map(|it| it.1);
        let id = "txn_01kny3v1m8f2x9q4t7r5c6b8de";
        assert_eq!(shown("id", id), Some(json!(pattern("txn_"))));
        let uuid = "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77";
        assert_eq!(shown("id", uuid), Some(json!("uuid")));
        for plain in ["", "AAPL", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs="] {
            assert_eq!(shown("name", plain), None);
        }
    }

    #[test]
    fn every_id_of_a_response_has_its_form() {
        let mut ids = 0;
        for (name, schema) in super::super::schemas() {
            for (member, shape) in schema["properties"].as_object().into_iter().flatten() {
                let is_id = member == "id" || member.ends_with("_id") || member.ends_with("_ids");
                let text = if member.ends_with("_ids") { &shape["items"] } else { shape };
                let form = [&text["pattern"], &text["format"]];
                assert!(!is_id || form.iter().any(|it| it.is_string()), "{name}.{member}: {shape}");
                ids += usize::from(is_id);
            }
        }
        assert!(ids > 30, "{ids}");
    }
}
