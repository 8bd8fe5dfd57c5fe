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
    pub counterparty: Option<String>,
    pub category: Option<Category>,
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

    /// The rules that hold for a row, the deciding one first.
    pub(super) fn matching<'a>(
        &'a self,
        key: &str,
        text: &'a str,
        account: AccountId,
        inflow: bool,
    ) -> impl Iterator<Item = &'a Rule> {
        let by_key = self.by_key.get(key).into_iter().flatten();
        by_key.chain(&self.by_words).filter(move |it| {
            it.account.is_none_or(|it| it == account)
                && it.inflow.is_none_or(|it| it == inflow)
                && it.words.as_ref().is_none_or(|it| text.contains(it.as_str()))
        })
    }
}
