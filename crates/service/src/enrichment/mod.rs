//! What a transaction is: who is at the other end, of which category, and by whose word. The person's word comes
//! first, then their rules, then what the accounts, the source and our tables say.

mod settle;

use std::collections::HashMap;

use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, RuleId, TransactionId, UserId};
use calc::enrich::{Cleaned, Enriched, Facts, Fix, History, Rule, Rules, Sample, clean, enrich};
use calc::transfers::Kind;
use db::{Tx, params};

use crate::insights::{self, Run};
use crate::recurring::Direction;
use crate::{App, Caller, Error, Result};

pub(crate) use settle::settle;

/// How many transactions one word of the person's may be about.
const FIXED_MAX: usize = 100;
const NAME_LENGTH_MAX: usize = 80;

/// What the source says of a transaction. One that is new has no id yet.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) id: Option<TransactionId>,
    pub(crate) account: AccountId,
    pub(crate) amount_minor: i64,
    pub(crate) description: String,
    pub(crate) counterparty: Option<String>,
    pub(crate) category: Option<Category>,
}

/// Everything that the person has said about what transactions are.
pub(crate) struct Desk {
    rules: Rules,
    fixes: HashMap<TransactionId, Fix>,
    history: History,
}

impl Desk {
    pub(crate) fn open(tx: &mut Tx<'_>, user: UserId) -> Result<Desk> {
        let fixes = tx.all(FIXES, params![user], |row| {
            let category: Option<&str> = row.get(2)?;
            let fix =
                Fix { counterparty: row.get(1)?, category: category.and_then(Category::parse) };
            Ok((row.get::<TransactionId>(0)?, fix))
        })?;
        let mut rules = tx.all(RULES, params![user], read_rule)?;
        for (place, rule) in rules.iter_mut().enumerate() {
            rule.id = place as u64;
        }
        let history = if fixes.is_empty() { History::empty() } else { history(tx, user)? };
        Ok(Desk { rules: Rules::new(rules), fixes: fixes.into_iter().collect(), history })
    }

    /// Whether the person's word on a transaction teaches something about others.
    pub(crate) fn teaches(&self, id: TransactionId) -> bool {
        self.fixes.get(&id).is_some_and(|it| it.category.is_some())
    }

    /// What a transaction is, given the kind of move between own accounts it is part of, if any.
    pub(crate) fn judge(
        &self,
        run: &Run,
        told: &Told,
        cleaned: &Cleaned,
        transfer: Option<Kind>,
    ) -> Enriched {
        let account = run.account(told.account);
        let kind = account.map_or(AccountKind::Other, |it| it.kind);
        let subtype = account.and_then(|it| it.subtype.as_deref());
        self.judge_on((kind, subtype), told, cleaned, transfer)
    }

    /// The same for an account that is just being brought in.
    pub(crate) fn judge_on(
        &self,
        (account_kind, account_subtype): (AccountKind, Option<&str>),
        told: &Told,
        cleaned: &Cleaned,
        transfer: Option<Kind>,
    ) -> Enriched {
        let facts = Facts {
            account: told.account,
            inflow: told.amount_minor > 0,
            amount_minor: told.amount_minor.saturating_abs(),
            account_kind,
            account_subtype,
            told_counterparty: told.counterparty.as_deref(),
            told_category: told.category,
            transfer,
            fix: told.id.and_then(|it| self.fixes.get(&it)),
        };
        enrich(cleaned, &facts, &self.rules, &self.history)
    }
}

/// The person says what transactions are: a name, a category, or both. What is absent stays as it is.
#[derive(Debug, Clone, Default)]
pub struct Word {
    pub counterparty: Option<String>,
    pub category: Option<Category>,
}

pub async fn fix(
    app: &App,
    caller: &Caller,
    transactions: Vec<TransactionId>,
    word: Word,
) -> Result<()> {
    caller.require_owner("transaction")?;
    check(&word)?;
    if transactions.is_empty() || transactions.len() > FIXED_MAX {
        let message = format!("transaction_ids must name 1 to {FIXED_MAX} transactions");
        return Err(Error::invalid("transaction_ids", message));
    }
    let (user, now) = (caller.user, app.clock.now());
    let save = move |tx: &mut Tx<'_>| {
        for id in &transactions {
            if tx.first(EXISTS, params![user, *id], |row| row.get::<i64>(0))?.is_none() {
                return Err(Error::NotFound("transaction"));
            }
            let category = word.category.map(Category::detailed);
            tx.execute(SAVE_FIX, params![user, *id, &word.counterparty, category, now])?;
        }
        insights::touch_everything(tx, user, now)
    };
    app.db.write(save).await
}

/// Takes the person's word back; what the rules and tables say holds again.
pub async fn unfix(app: &App, caller: &Caller, transaction: TransactionId) -> Result<()> {
    caller.require_owner("transaction")?;
    let (user, now) = (caller.user, app.clock.now());
    let forget = move |tx: &mut Tx<'_>| {
        if tx.execute(FORGET_FIX, params![user, transaction])? == 0 {
            return Err(Error::NotFound("correction"));
        }
        insights::touch_everything(tx, user, now)
    };
    app.db.write(forget).await
}

/// What shall always hold: for a merchant, or for words in the bank's text.
#[derive(Debug, Clone, Default)]
pub struct NewRule {
    /// A description of such a transaction; the rule holds for its merchant.
    pub like: Option<String>,
    pub words: Option<String>,
    pub account_id: Option<AccountId>,
    pub direction: Option<Direction>,
    pub word: Word,
}

pub async fn create_rule(app: &App, caller: &Caller, new: NewRule) -> Result<RuleId> {
    caller.require_owner("rule")?;
    check(&new.word)?;
    let key = new.like.as_deref().map(|it| clean(it).key);
    let words = new.words.as_deref().map(|it| it.trim().to_uppercase()).filter(|it| !it.is_empty());
    if key.is_some() == words.is_some() {
        let message = "a rule must name a merchant or words in the bank's text, and not both";
        return Err(Error::invalid("words", message));
    }
    let (user, now) = (caller.user, app.clock.now());
    let id: RuleId = app.ids.make();
    let save = move |tx: &mut Tx<'_>| {
        let NewRule { account_id, direction, word, .. } = &new;
        let direction = direction.map(Direction::as_str);
        let category = word.category.map(Category::detailed);
        tx.execute(
            SAVE_RULE,
            params![
                user,
                id,
                &key,
                &words,
                *account_id,
                direction,
                &word.counterparty,
                category,
                now
            ],
        )?;
        insights::touch_everything(tx, user, now)
    };
    app.db.write(save).await?;
    Ok(id)
}

/// Forgets a rule; what it said is judged anew.
pub async fn delete_rule(app: &App, caller: &Caller, rule: RuleId) -> Result<()> {
    caller.require_owner("rule")?;
    let (user, now) = (caller.user, app.clock.now());
    let forget = move |tx: &mut Tx<'_>| {
        if tx.execute(FORGET_RULE, params![user, rule])? == 0 {
            return Err(Error::NotFound("rule"));
        }
        insights::touch_everything(tx, user, now)
    };
    app.db.write(forget).await
}

fn check(word: &Word) -> Result<()> {
    if word.counterparty.is_none() && word.category.is_none() {
        let message = "say a counterparty_name, a category, or both";
        return Err(Error::invalid("category", message));
    }
    let bad = |name: &String| {
        let length = name.trim().chars().count();
        length == 0 || length > NAME_LENGTH_MAX || name.contains(char::is_control)
    };
    if word.counterparty.as_ref().is_some_and(bad) {
        let message =
            format!("counterparty_name must have 1 to {NAME_LENGTH_MAX} characters on one line");
        return Err(Error::invalid("counterparty_name", message));
    }
    Ok(())
}

/// What the person's corrections teach about transactions they have not looked at.
fn history(tx: &mut Tx<'_>, user: UserId) -> Result<History> {
    let rows = tx.all(SAMPLES, params![user], |row| {
        // Outer joins, so that both engines begin with the few corrections; what they were about may be gone.
        let (description, category): (Option<&str>, &str) = (row.get(0)?, row.get(1)?);
        let (amount_minor, kind): (Option<i64>, Option<&str>) = (row.get(2)?, row.get(3)?);
        let kind = kind.and_then(AccountKind::parse).unwrap_or(AccountKind::Other);
        let key = description.map(|it| clean(it).key).unwrap_or_default();
        let category = description.and_then(|_| Category::parse(category));
        Ok((key, category, amount_minor.unwrap_or(0), kind))
    })?;
    let samples = rows.iter().filter_map(|(key, category, amount_minor, account_kind)| {
        let sample = Sample {
            key,
            inflow: *amount_minor > 0,
            amount_minor: amount_minor.saturating_abs(),
            account_kind: *account_kind,
        };
        Some((sample, (*category)?))
    });
    Ok(History::train(samples))
}

fn read_rule(row: &db::Row<'_>) -> db::Result<Rule> {
    let (direction, category): (Option<&str>, Option<&str>) = (row.get(3)?, row.get(5)?);
    Ok(Rule {
        id: 0,
        key: row.get(0)?,
        words: row.get(1)?,
        account: row.get(2)?,
        inflow: direction.map(|it| it == "inflow"),
        counterparty: row.get(4)?,
        category: category.and_then(Category::parse),
    })
}

const FIXES: &str =
    "select transaction_id, counterparty, category from transaction_fixes where user_id = $1";
const SAMPLES: &str =
    "select t.description, f.category, t.amount_minor, a.kind from transaction_fixes f
    left join transactions t on t.user_id = f.user_id and t.id = f.transaction_id
    left join accounts a on a.user_id = t.user_id and a.id = t.account_id
    where f.user_id = $1 and f.category is not null";
// The oldest first: of two that say as much, the newer holds.
const RULES: &str =
    "select merchant_key, words, account_id, direction, counterparty, category from rules
    where user_id = $1 order by created_at, id";
const EXISTS: &str =
    "select amount_minor from transactions where user_id = $1 and id = $2 and state <> 'removed'";
const SAVE_FIX: &str =
    "insert into transaction_fixes (user_id, transaction_id, counterparty, category, fixed_at)
    values ($1, $2, $3, $4, $5) on conflict (user_id, transaction_id) do update set
    counterparty = coalesce(excluded.counterparty, transaction_fixes.counterparty),
    category = coalesce(excluded.category, transaction_fixes.category), fixed_at = excluded.fixed_at";
const FORGET_FIX: &str = "delete from transaction_fixes where user_id = $1 and transaction_id = $2";
const SAVE_RULE: &str =
    "insert into rules (user_id, id, merchant_key, words, account_id, direction, counterparty,
    category, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const FORGET_RULE: &str = "delete from rules where user_id = $1 and id = $2";

pub(crate) fn statements() -> Vec<&'static str> {
    let own = [FIXES, SAMPLES, RULES, EXISTS, SAVE_FIX, FORGET_FIX, SAVE_RULE, FORGET_RULE];
    [&own[..], settle::STATEMENTS].concat()
}
