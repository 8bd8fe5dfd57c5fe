//! Prompts: conversations that a person can start from their client's menu.

use std::collections::BTreeMap;

use serde_json::{Value, json};

struct Prompt {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// The optional argument, with its description.
    argument: Option<(&'static str, &'static str)>,
    /// The text, in which `{}` stands for the argument.
    text: &'static str,
    /// The value of the argument if the client gives none.
    default: &'static str,
    /// Values to suggest for the argument.
    values: &'static [&'static str],
}

const PROMPTS: [Prompt; 3] = [
    Prompt {
        name: "monthly_review",
        title: "Monthly review",
        description: "What came in, what went out, and what changed.",
        argument: Some(("month", "Such as 2026-03; by default the last full month.")),
        text: "Review my finances for {}. Use summarize_spending for the whole month with compare previous_period, by \
            category and again by merchant, then list_recurring and get_overview. Tell me the five things worth knowing, \
            with amounts, and what I could do about each. Propose corrections only if a category is clearly wrong.",
        default: "the last full month",
        values: &[],
    },
    Prompt {
        name: "subscription_audit",
        title: "Subscription audit",
        description: "Subscriptions with their price changes, and which may not be worth it.",
        argument: None,
        text: "List my subscriptions and bills with list_recurring (direction outflow), the most expensive per year first. \
            Point out price changes, duplicates, and those that I may have forgotten. Ask me which ones to cancel, and use \
            propose_custom for each that I name.",
        default: "",
        values: &[],
    },
    Prompt {
        name: "explain_score",
        title: "Explain my score",
        description: "Why a score is what it is, and what would raise it.",
        argument: Some(("score", "evenkeel, recovery, capacity or baseline; by default evenkeel.")),
        text: "Explain my {} score in plain words. Use get_scores, name the two reasons that cost the most points, and \
            check them with get_income and search_transactions. End with one concrete step and what it would change.",
        default: "evenkeel",
        values: &["evenkeel", "recovery", "capacity", "baseline"],
    },
];

/// The prompts as a JSON list.
pub(crate) fn list() -> String {
    let definition = |prompt: &Prompt| {
        let argument = |(name, description): (&str, &str)| json!({ "name": name, "description": description, "required": false });
        let arguments: Vec<Value> = prompt.argument.into_iter().map(argument).collect();
        json!({
            "name": prompt.name,
            "title": prompt.title,
            "description": prompt.description,
            "arguments": arguments,
        })
    };
    Value::from(PROMPTS.iter().map(definition).collect::<Vec<_>>()).to_string()
}

/// The messages of a prompt, or a sentence on what is wrong.
pub(crate) fn get(name: &str, arguments: &BTreeMap<String, String>) -> Result<Value, String> {
    let shown: String = name.chars().take(64).collect();
    let Some(prompt) = PROMPTS.iter().find(|it| it.name == name) else {
        let names: Vec<&str> = PROMPTS.iter().map(|it| it.name).collect();
        return Err(format!("Unknown prompt: {shown}; there are {}", names.join(", ")));
    };
    let known = prompt.argument.map(|(name, _)| name);
    if let Some(other) = arguments.keys().find(|it| Some(it.as_str()) != known) {
        let other: String = other.chars().take(64).collect();
        return Err(match known {
            Some(known) => format!("{other} is not an argument of {name}; did you mean {known}?"),
            None => format!("{other} is not an argument of {name}, which takes none"),
        });
    }
    let given = known.and_then(|it| arguments.get(it)).map(String::as_str);
    let value: String = given.unwrap_or(prompt.default).chars().take(40).collect();
    let text = prompt.text.replace("{}", &value);
    Ok(json!({
        "description": prompt.description,
        "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
    }))
}

/// The values of a prompt's argument that begin with what was typed.
pub(crate) fn complete(name: &str, argument: &str, typed: &str) -> Vec<&'static str> {
    let has_argument = |it: &&Prompt| it.argument.is_some_and(|(known, _)| known == argument);
    let prompt = PROMPTS.iter().filter(has_argument).find(|it| it.name == name);
    let values = prompt.map_or(&[][..], |it| it.values);
    values.iter().filter(|it| it.starts_with(typed)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_has_its_argument_or_the_default() {
        let arguments = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let text = |name: &str, pairs: &[(&str, &str)]| match get(name, &arguments(pairs)) {
            Ok(result) => result["messages"][0]["content"]["text"].as_str().unwrap().to_owned(),
            Err(message) => message,
        };
        assert!(
            text("monthly_review", &[]).starts_with("Review my finances for the last full month.")
        );
        assert!(text("monthly_review", &[("month", "2026-03")]).contains("for 2026-03."));
        assert_eq!(
            text("monthly_review", &[("mont", "x")]),
            "mont is not an argument of monthly_review; did you mean month?"
        );
        assert_eq!(
            text("subscription_audit", &[("a", "x")]),
            "a is not an argument of subscription_audit, which takes none"
        );
        assert_eq!(
            text("nothing", &[]),
            "Unknown prompt: nothing; there are monthly_review, subscription_audit, explain_score"
        );
    }
}
