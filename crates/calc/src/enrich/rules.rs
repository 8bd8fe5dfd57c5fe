//! A person's own rules: rows like this one are called so.

use std::cmp::Reverse;
use std::collections::HashMap;

use base::AccountId;
use base::category::Category;

use super::clean::spelled;
use super::merchants::merchant;

/// Holds for the rows that have all that it names. One with neither key nor words holds for none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The greater, the newer.
    pub id: u64,
    /// The whole key; of a merchant that is known, any of its spellings.
    pub key: Option<String>,
    /// Contained in the description, however it is written.
    pub words: Option<String>,
    pub account: Option<AccountId>,
    pub inflow: Option<bool>,
    /// Holds only for rows that came in then or later, in milliseconds since 1970.
    pub from_ms: Option<i64>,
    pub counterparty: Option<String>,
    pub category: Option<Category>,
    /// Such rows are not to be seen.
    pub hides: bool,
}

impl Rule {
    /// Whether it is also about rows that came in then. One without a time is just coming in.
    pub fn holds(&self, came_at_ms: Option<i64>) -> bool {
        self.from_ms.zip(came_at_ms).is_none_or(|(from, came)| from <= came)
    }
}

/// A row as far as rules look at it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// As rows are stored with it.
    pub key: &'a str,
    /// As `clean` spells it; nothing where no rule asks for words.
    pub text: &'a str,
    pub account: AccountId,
    pub inflow: bool,
}

/// Rules in the order in which they decide: key and account, key, words; newer before older.
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
            rule.words = rule.words.map(|it| spelled(&it)).filter(|it| !it.is_empty());
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

    /// The keys that some rule is about, as rows are stored with them.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.by_key.keys().map(String::as_str)
    }

    /// The rules that are about such a row, whenever it came in, the deciding one first.
    pub fn fitting<'a>(&'a self, row: Subject<'a>) -> impl Iterator<Item = &'a Rule> {
        let by_key = self.by_key.get(row.key).into_iter().flatten();
        by_key.chain(&self.by_words).filter(move |it| {
            it.account.is_none_or(|it| it == row.account)
                && it.inflow.is_none_or(|it| it == row.inflow)
                && it.words.as_ref().is_none_or(|it| row.text.contains(it.as_str()))
        })
    }
}
