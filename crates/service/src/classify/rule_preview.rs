//! What a rule would change if it were saved and applied to the past: how many transactions, and the newest of them.

use std::collections::HashMap;

use base::category::Category;
use base::{Date, Money, RuleId, TransactionId, date_from_days};
use calc::enrich::{self, RuleSubject, Rules, UNKNOWN, clean};
use db::params;

use super::classifier::stored_at_ms;
use super::overrides;
use super::rules::{self, NewRule};
use crate::ledger::Direction;
use crate::ledger::transactions::TransactionState;
use crate::{App, Caller, Error, Result};

/// The newest transactions that are looked at.
const SCANNED_MAX: i64 = 200_000;
/// The most changes that are shown one by one.
const EXAMPLES_MAX: usize = 10;
/// The id of the draft among the rules: newer than every stored one.
const DRAFT: u64 = u64::MAX;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct RulePreview {
    /// The transactions that meet the conditions.
    pub matching: i64,
    /// Those of them that would change.
    pub changing: i64,
    /// The newest that would change.
    pub examples: Vec<PreviewedChange>,
    /// The older rules with the same conditions that a new rule would replace.
    pub replaced: Vec<RuleId>,
}

/// A transaction that a rule would change. What does not change is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewedChange {
    pub id: TransactionId,
    pub posted_on: Date,
    pub amount: Money,
    /// The present name.
    pub name: String,
    pub category: Option<Category>,
    pub new_name: Option<String>,
    pub new_category: Option<Category>,
    pub is_hidden: bool,
}

/// Looks at all transactions of the person, and changes nothing. `replaces` is the rule that is being edited.
pub async fn preview(
    app: &App,
    caller: &Caller,
    new: &NewRule,
    replaces: Option<RuleId>,
) -> Result<RulePreview> {
    caller.require_owner("rule")?;
    rules::check(&new.sets, new.hides, new.amounts)?;
    let user = caller.user;
    let stored = rules::fetch_stored(app, user).await?;
    let replaced = stored.iter().find(|(id, _)| Some(*id) == replaces).map(|(_, rule)| rule);
    if replaces.is_some() && replaced.is_none() {
        return Err(Error::NotFound("rule"));
    }
    let draft = draft(new, replaced, stored.iter().filter_map(|(_, it)| it.position).min())?;
    // An edited rule replaces no other, and neither does a rule that leaves older transactions alone.
    let replaced = match replaces.is_some() || new.from_now_on {
        true => Vec::new(),
        false => {
            let replaced = stored.iter().filter(|(_, it)| is_replaced(it, &draft));
            replaced.map(|(id, _)| *id).collect()
        }
    };
    let others = stored.into_iter().filter(|(id, _)| Some(*id) != replaces);
    let others = others.enumerate().map(|(age, (_, it))| enrich::Rule { id: age as u64, ..it });
    let all = Rules::new(others.chain([draft]).collect());
    let overrides = overrides::list(app, user).await?;
    let mut preview = RulePreview { replaced, ..RulePreview::default() };
    // Banks repeat their descriptions, and cleaning one costs more than all the rest.
    let mut cleaned: HashMap<String, String> = HashMap::new();
    let needs_text = all.iter().any(|it| it.words.is_some());
    let look = |row: &db::Row<'_>| {
        let description: &str = row.get(8)?;
        if needs_text && !cleaned.contains_key(description) {
            cleaned.insert(description.to_owned(), clean(description).text);
        }
        let id: TransactionId = row.get(0)?;
        let key: Option<&str> = row.get(5)?;
        let subject = RuleSubject {
            key: key.unwrap_or_default(),
            text: cleaned.get(description).map_or("", String::as_str),
            account: row.get(1)?,
            amount: Money::new(row.get(2)?, row.get(3)?),
        };
        let fixed = overrides.get(&id);
        let is_fixed = [
            fixed.is_some_and(|it| it.counterparty.is_some()),
            fixed.is_some_and(|it| it.category.is_some()),
            fixed.is_some_and(|it| it.hidden.is_some()),
        ];
        if let Some(decided) = decided(&all, subject, (id, is_fixed)) {
            preview.matching += 1;
            let counterparty: Option<&str> = row.get(6)?;
            let change = PreviewedChange {
                id,
                posted_on: date_from_days(row.get(9)?),
                amount: subject.amount,
                name: counterparty.unwrap_or(description).to_owned(),
                category: row.optional_word(7, "category", Category::parse)?,
                new_name: None,
                new_category: None,
                is_hidden: false,
            };
            preview.add(change, row.get(4)?, decided);
        }
        Ok(())
    };
    app.db.each_slow(NEWEST, params![user, SCANNED_MAX], look).await?;
    Ok(preview)
}

/// Whether saving a new rule deletes an older one, as `rules::save` does.
fn is_replaced(older: &enrich::Rule, new: &enrich::Rule) -> bool {
    let conditions =
        |it: &enrich::Rule| (it.key.clone(), it.words.clone(), it.account, it.inflow, it.amounts);
    conditions(older) == conditions(new)
        && (older.counterparty.is_none() || new.counterparty.is_some())
        && (older.category.is_none() || new.category.is_some())
        && (!older.hides || new.hides)
}

impl RulePreview {
    fn add(&mut self, change: PreviewedChange, state: TransactionState, decided: Decided<'_>) {
        let new_name = decided.name.filter(|it| *it != change.name).map(str::to_owned);
        let new_category = decided.category.filter(|it| Some(*it) != change.category);
        let is_hidden = decided.hides && state == TransactionState::Posted;
        if new_name.is_none() && new_category.is_none() && !is_hidden {
            return;
        }
        self.changing += 1;
        if self.examples.len() < EXAMPLES_MAX {
            self.examples.push(PreviewedChange { new_name, new_category, is_hidden, ..change });
        }
    }
}

/// What the draft decides about a transaction.
struct Decided<'a> {
    name: Option<&'a str>,
    category: Option<Category>,
    hides: bool,
}

/// What the draft decides, after the rules before it and the person's own corrections; none if it does not match.
fn decided<'a>(
    all: &'a Rules,
    subject: RuleSubject<'a>,
    (id, [has_name, has_category, has_visibility]): (TransactionId, [bool; 3]),
) -> Option<Decided<'a>> {
    let stored_at_ms = Some(stored_at_ms(id));
    let fitting: Vec<&enrich::Rule> =
        all.fitting(subject).filter(|it| it.holds(stored_at_ms)).collect();
    fitting.iter().find(|it| it.id == DRAFT)?;
    let deciding = |has_effect: fn(&enrich::Rule) -> bool| {
        fitting.iter().copied().find(|it| has_effect(it)).filter(|it| it.id == DRAFT)
    };
    let name = deciding(|it| it.counterparty.is_some()).filter(|_| !has_name);
    let category = deciding(|it| it.category.is_some()).filter(|_| !has_category);
    Some(Decided {
        name: name.and_then(|it| it.counterparty.as_deref()),
        category: category.and_then(|it| it.category),
        hides: deciding(|it| it.hides).is_some() && !has_visibility,
    })
}

/// The draft as a rule that also applies to the past.
fn draft(new: &NewRule, replaced: Option<&enrich::Rule>, top: Option<i64>) -> Result<enrich::Rule> {
    let key = match (&new.like, replaced) {
        (Some(like), _) => Some(clean(like).key),
        (None, Some(replaced)) => replaced.key.clone(),
        (None, None) => None,
    };
    if key.as_deref() == Some(UNKNOWN) {
        return Err(rules::no_merchant());
    }
    let words = new.words.as_deref().map(|it| it.trim().to_uppercase());
    let words = words.filter(|it| !it.is_empty());
    let has_text = key.is_some() || words.is_some();
    rules::check_conditions(has_text || new.account_id.is_some() || new.amounts.is_some())?;
    Ok(enrich::Rule {
        id: DRAFT,
        key,
        words,
        account: new.account_id,
        inflow: new.direction.map(|it| it == Direction::Inflow),
        amounts: new.amounts,
        position: match replaced {
            Some(replaced) => replaced.position,
            None => top.map(|it| it.saturating_sub(1)),
        },
        from_ms: None,
        counterparty: new.sets.counterparty.clone(),
        category: new.sets.category,
        hides: new.hides,
    })
}

const NEWEST: &str =
    "select id, account_id, amount_minor, currency, state, merchant_key, counterparty, category,
    description, posted_on from transactions
    where user_id = $1 and state <> 'removed' order by posted_on desc, id desc limit $2";

pub(super) const STATEMENTS: &[&str] = &[NEWEST];
