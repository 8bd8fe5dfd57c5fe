//! A person's own rules for names and categories.

use std::cmp::Reverse;
use std::collections::HashMap;

use base::AccountId;
use base::category::Category;

use super::clean::normalized_words;
use super::merchants::merchant;

/// A rule. It applies to transactions that match all its conditions; one with neither key nor words applies to none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// A greater id is newer.
    pub id: u64,
    /// The whole key; for a known merchant, any of its spellings.
    pub key: Option<String>,
    /// Words contained in the description, in any spelling.
    pub words: Option<String>,
    pub account: Option<AccountId>,
    pub inflow: Option<bool>,
    /// Applies only to transactions imported then or later, in milliseconds since 1970.
    pub from_ms: Option<i64>,
    pub counterparty: Option<String>,
    pub category: Option<Category>,
    /// Hides matching transactions.
    pub hides: bool,
}

impl Rule {
    /// Whether the rule applies to a transaction imported at this time. None means one being imported.
    pub fn holds(&self, imported_at_ms: Option<i64>) -> bool {
        self.from_ms.zip(imported_at_ms).is_none_or(|(from, came)| from <= came)
    }
}

/// The properties of a transaction that rules match on.
#[derive(Debug, Clone, Copy)]
pub struct RuleSubject<'a> {
    /// The stored key.
    pub key: &'a str,
    /// The text in the spelling of `clean`; may be empty if no rule matches on words.
    pub text: &'a str,
    pub account: AccountId,
    pub inflow: bool,
}

/// Rules in order of precedence: key and account, key, words; newer before older.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    by_key: HashMap<String, Vec<Rule>>,
    by_words: Vec<Rule>,
}

impl Rules {
    pub fn new(mut rules: Vec<Rule>) -> Rules {
        rules.sort_by_key(|it| (it.account.is_none(), Reverse(it.id)));
        let mut sorted = Rules::none();
        for mut rule in rules {
            rule.words = rule.words.map(|it| normalized_words(&it)).filter(|it| !it.is_empty());
            match (&rule.key, &rule.words) {
                (Some(key), _) => {
                    let key = merchant(key).map_or(key.as_str(), |it| it.key).to_owned();
                    sorted.by_key.entry(key).or_default().push(rule);
                }
                (None, Some(_)) => sorted.by_words.push(rule),
                (None, None) => {}
            }
        }
        sorted.by_words.sort_by_key(|it| Reverse(it.id));
        sorted
    }

    pub fn none() -> Rules {
        Rules::default()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.by_key.values().flatten().chain(&self.by_words)
    }

    /// The stored keys that some rule matches on.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.by_key.keys().map(String::as_str)
    }

    /// The rules that match the transaction, whenever it was imported, in order of precedence.
    pub fn fitting<'a>(&'a self, row: RuleSubject<'a>) -> impl Iterator<Item = &'a Rule> {
        let by_key = self.by_key.get(row.key).into_iter().flatten();
        by_key.chain(&self.by_words).filter(move |it| {
            it.account.is_none_or(|it| it == row.account)
                && it.inflow.is_none_or(|it| it == row.inflow)
                && it.words.as_ref().is_none_or(|it| row.text.contains(it.as_str()))
        })
    }
}
