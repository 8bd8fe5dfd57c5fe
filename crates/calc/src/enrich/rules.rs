//! A person's own rules for names and categories.

use std::cmp::Reverse;
use std::collections::HashMap;

use base::category::Category;
use base::{AccountId, Currency, Money};

use super::descriptor_parser::normalized_words;
use super::merchants::merchant;

/// A range of amounts in one currency, both ends included, whichever way the money goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AmountRange {
    pub currency: Currency,
    pub least_minor: Option<i64>,
    pub most_minor: Option<i64>,
}

impl AmountRange {
    pub fn contains(&self, amount: Money) -> bool {
        let minor = amount.minor().saturating_abs();
        amount.currency() == self.currency
            && self.least_minor.is_none_or(|it| it <= minor)
            && self.most_minor.is_none_or(|it| minor <= it)
    }
}

/// A rule. It applies to transactions that match all its conditions; one without a key, words, account or amounts applies
/// to none.
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
    pub amounts: Option<AmountRange>,
    /// The place that the person gave it: a smaller one comes first. None comes before every place.
    pub position: Option<i64>,
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
    /// Negative if money goes out.
    pub amount: Money,
}

/// Rules in order of precedence: by the person's order, and without one: key and account, key, others; newer before older.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    by_key: HashMap<String, Vec<OrderedRule>>,
    without_key: Vec<OrderedRule>,
}

/// A rule and its place among all rules.
#[derive(Debug, Clone)]
struct OrderedRule {
    place: usize,
    rule: Rule,
}

impl Rules {
    pub fn new(mut rules: Vec<Rule>) -> Rules {
        rules.sort_by_key(|it| {
            precedence(it.position, (it.key.is_some(), it.account.is_some()), it.id)
        });
        let mut sorted = Rules::none();
        for (place, mut rule) in rules.into_iter().enumerate() {
            rule.words = rule.words.map(|it| normalized_words(&it)).filter(|it| !it.is_empty());
            match &rule.key {
                Some(key) => {
                    let key = merchant(key).map_or(key.as_str(), |it| it.key).to_owned();
                    sorted.by_key.entry(key).or_default().push(OrderedRule { place, rule });
                }
                None if rule.words.is_some()
                    || rule.account.is_some()
                    || rule.amounts.is_some() =>
                {
                    sorted.without_key.push(OrderedRule { place, rule });
                }
                None => {}
            }
        }
        sorted
    }

    pub fn none() -> Rules {
        Rules::default()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.by_key.values().flatten().chain(&self.without_key).map(|it| &it.rule)
    }

    /// The stored keys that some rule matches on.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.by_key.keys().map(String::as_str)
    }

    /// The rules that match the transaction, whenever it was imported, in order of precedence.
    pub fn fitting<'a>(&'a self, row: RuleSubject<'a>) -> impl Iterator<Item = &'a Rule> {
        let by_key = self.by_key.get(row.key).map_or(&[][..], Vec::as_slice);
        let mut lists = [by_key, self.without_key.as_slice()];
        // Both lists are sorted: the rule with the lesser place is next.
        let next = move || {
            let [keyed, other] = lists.map(|it| it.first().map(|it| it.place));
            let list = usize::from(keyed.is_none() || other.is_some_and(|it| Some(it) < keyed));
            let (first, rest) = lists[list].split_first()?;
            lists[list] = rest;
            Some(&first.rule)
        };
        std::iter::from_fn(next).filter(move |it| {
            it.account.is_none_or(|it| it == row.account)
                && it.inflow.is_none_or(|it| it == (row.amount.minor() > 0))
                && it.amounts.is_none_or(|it| it.contains(row.amount))
                && it.words.as_ref().is_none_or(|it| row.text.contains(it.as_str()))
        })
    }
}

/// The key by which rules are sorted: the least comes first.
pub fn precedence(
    position: Option<i64>,
    (has_key, has_account): (bool, bool),
    id: u64,
) -> (i64, bool, bool, Reverse<u64>) {
    (position.unwrap_or(i64::MIN), !has_key, !(has_key && has_account), Reverse(id))
}
