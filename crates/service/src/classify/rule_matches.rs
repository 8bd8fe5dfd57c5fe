//! How many transactions a person's rules match, and which rule hides a transaction.

use std::collections::{BTreeSet, HashMap};

use base::category::Category;
use base::{AccountId, Currency, Money, RuleId, TransactionId, UserId};
use calc::enrich::{Rule, RuleSubject, TransactionOverride, clean};
use db::params;

use super::classifier::stored_at_ms;
use super::overrides;
use super::rules::{self, RuleSet};
use crate::ledger::accounts;
use crate::ledger::transactions::TransactionState;
use crate::{App, Caller, Result};

/// The newest transactions that are looked at where an index does not answer.
const SCANNED_MAX: i64 = 200_000;
/// More lookups in an index than this cost as much as a scan of all transactions.
const LOOKUPS_MAX: usize = 1_000;

/// How many transactions one rule matches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RuleMatches {
    /// Transactions that have their name or category from the rule, or are hidden by it.
    pub applied: i64,
    /// Older transactions that the rule leaves alone, and would change if it were applied to the past.
    pub would_change: i64,
}

/// Counts the matches of every rule that the person has.
pub async fn count(app: &App, caller: &Caller) -> Result<HashMap<RuleId, RuleMatches>> {
    caller.require_owner("rule")?;
    let user = caller.user;
    let rules = rules::fetch(app, user).await?;
    if rules.ids.is_empty() {
        return Ok(HashMap::new());
    }
    let overrides = overrides::list(app, user).await?;
    let accounts: Vec<AccountId> =
        accounts::list_all(app, caller).await?.into_iter().map(|it| it.id).collect();
    let matches = vec![RuleMatches::default(); rules.ids.len()];
    let mut counter = MatchCounter { rules: &rules, overrides, matches };
    let by_merchant_alone = |it: &Rule| {
        it.key.is_some() && it.words.is_none() && it.from_ms.is_none() && it.amounts.is_none()
    };
    let lookups = accounts.len() * rules.rules.keys().count();
    if rules.rules.iter().all(by_merchant_alone) && lookups <= LOOKUPS_MAX {
        counter.look_up(app, user, &accounts).await?;
    } else {
        counter.scan(app, user).await?;
    }
    let MatchCounter { matches, .. } = counter;
    Ok(rules.ids.iter().copied().zip(matches).collect())
}

/// The stored columns of a transaction that rules look at.
struct Candidate<'a> {
    id: TransactionId,
    subject: RuleSubject<'a>,
    state: TransactionState,
    counterparty: Option<&'a str>,
    category: Option<Category>,
}

struct MatchCounter<'a> {
    rules: &'a RuleSet,
    overrides: HashMap<TransactionId, TransactionOverride>,
    /// In the order of the rules.
    matches: Vec<RuleMatches>,
}

type HasEffect = fn(&Rule) -> bool;
type WouldChange = fn(&Rule, &Candidate<'_>) -> bool;

impl MatchCounter<'_> {
    /// Counts by an index on account and merchant, which suffices if no rule looks at words or moments.
    async fn look_up(&mut self, app: &App, user: UserId, accounts: &[AccountId]) -> Result<()> {
        let rules = self.rules;
        for account in accounts {
            for key in rules.rules.keys() {
                let of_merchant = params![user, *account, key];
                let count = |row: &db::Row<'_>| {
                    // No rule asks for an amount here, so the currency does not matter.
                    let amount = Money::new(row.get(1)?, Currency::USD);
                    self.count(&Candidate {
                        id: row.get(0)?,
                        subject: RuleSubject { key, text: "", account: *account, amount },
                        state: row.get(2)?,
                        counterparty: None,
                        category: None,
                    });
                    Ok(())
                };
                app.db.each_slow(OF_MERCHANT, of_merchant, count).await?;
            }
        }
        Ok(())
    }

    /// Counts by reading the newest transactions.
    async fn scan(&mut self, app: &App, user: UserId) -> Result<()> {
        let needs_text = self.rules.rules.iter().any(|it| it.words.is_some());
        // Banks repeat their descriptions, and cleaning one costs more than all the rest.
        let mut cleaned: HashMap<String, String> = HashMap::new();
        let count = |row: &db::Row<'_>| {
            let (key, description): (Option<&str>, &str) = (row.get(4)?, row.get(7)?);
            if needs_text && !cleaned.contains_key(description) {
                cleaned.insert(description.to_owned(), clean(description).text);
            }
            self.count(&Candidate {
                id: row.get(0)?,
                subject: RuleSubject {
                    key: key.unwrap_or_default(),
                    text: cleaned.get(description).map_or("", String::as_str),
                    account: row.get(1)?,
                    amount: Money::new(row.get(2)?, row.get(8)?),
                },
                state: row.get(3)?,
                counterparty: row.get(5)?,
                category: row.optional_word(6, "category", Category::parse)?,
            });
            Ok(())
        };
        Ok(app.db.each_slow(NEWEST, params![user, SCANNED_MAX], count).await?)
    }

    /// For each effect (name, category, hiding) the first rule that holds for the transaction is the one applied. Rules
    /// before it that began only after the transaction would change it.
    fn count(&mut self, candidate: &Candidate<'_>) {
        let stored_at_ms = Some(stored_at_ms(candidate.id));
        let overridden = self.overrides.get(&candidate.id);
        let has_name = overridden.is_some_and(|it| it.counterparty.is_some());
        let has_category = overridden.is_some_and(|it| it.category.is_some());
        let effects: [(bool, HasEffect, WouldChange); 3] = [
            (
                !has_name,
                |it| it.counterparty.is_some(),
                |it, candidate| it.counterparty.as_deref() != candidate.counterparty,
            ),
            (
                !has_category,
                |it| it.category.is_some(),
                |it, candidate| it.category != candidate.category,
            ),
            (
                candidate.state != TransactionState::Pending,
                |it| it.hides,
                |_, candidate| candidate.state != TransactionState::Hidden,
            ),
        ];
        let (mut applied, mut would_change) = (BTreeSet::new(), BTreeSet::new());
        for (_, has_effect, changes) in effects.into_iter().filter(|it| it.0) {
            for rule in self.rules.rules.fitting(candidate.subject).filter(|it| has_effect(it)) {
                if rule.holds(stored_at_ms) {
                    applied.insert(rule.id);
                    break;
                }
                if changes(rule, candidate) {
                    would_change.insert(rule.id);
                }
            }
        }
        for index in applied {
            self.matches[index as usize].applied += 1;
        }
        for index in would_change {
            self.matches[index as usize].would_change += 1;
        }
    }
}

/// The rule that hides a transaction.
pub(crate) async fn find_hiding_rule(
    app: &App,
    user: UserId,
    id: TransactionId,
    (subject, description): (RuleSubject<'_>, &str),
) -> Result<Option<RuleId>> {
    let rules = rules::fetch(app, user).await?;
    let text = clean(description).text;
    let stored_at_ms = Some(stored_at_ms(id));
    let mut matching = rules.rules.fitting(RuleSubject { text: &text, ..subject });
    let found = matching.find(|it| it.hides && it.holds(stored_at_ms));
    Ok(found.and_then(|it| rules.ids.get(it.id as usize).copied()))
}

// These two statements read few columns: one index alone answers the first, and the second reads very many rows.
const OF_MERCHANT: &str = "select id, amount_minor, state from transactions
    where user_id = $1 and account_id = $2 and merchant_key = $3 and state <> 'removed'";
const NEWEST: &str = "select id, account_id, amount_minor, state, merchant_key, counterparty, category, description,
    currency from transactions where user_id = $1 and state <> 'removed' order by posted_on desc, id desc limit $2";

pub(super) const STATEMENTS: &[&str] = &[OF_MERCHANT, NEWEST];
