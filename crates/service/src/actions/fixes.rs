//! Corrections and rules that were approved, and how they are taken back: what stood there before is kept.

use base::{RuleId, Timestamp, TransactionId, UserId};
use calc::enrich::{UNKNOWN, clean};
use db::params;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::classify::enrichment::{self, NewRule, Word};
use crate::platform::audit::Actor;
use crate::platform::dirty_queue;
use crate::{App, Error, Result, Tx};

/// What was done, in a shape that the proposer, the person and the way back need.
pub(super) struct Applied {
    pub(super) result: Value,
    pub(super) said: String,
    pub(super) inverse: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Inverse {
    fixes: Vec<FixBefore>,
    rules: Vec<RuleMade>,
}

/// A rule that was made, and those whose place it took.
#[derive(Debug, Serialize, Deserialize)]
struct RuleMade {
    id: String,
    replaced: Vec<RuleBefore>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FixBefore {
    transaction: String,
    /// When we wrote ours; one that was written later is the person's own and stays.
    written_at: i64,
    before: Option<Before>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Before {
    counterparty: Option<String>,
    category: Option<String>,
    fixed_at: i64,
}

#[derive(Debug, Serialize, Deserialize)]
struct RuleBefore {
    id: String,
    merchant_key: Option<String>,
    words: Option<String>,
    account: Option<String>,
    direction: Option<String>,
    counterparty: Option<String>,
    category: Option<String>,
    created_at: i64,
    #[serde(default)]
    hides: Option<String>,
    #[serde(default)]
    holds_from: Option<i64>,
}

pub(super) fn apply(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    (transactions, word, always): (&[TransactionId], &Word, bool),
) -> Result<Applied> {
    let now = app.clock.now();
    let mut inverse = Inverse::default();
    let mut texts = Vec::with_capacity(transactions.len());
    // All is looked at before anything is written: half a correction would be none.
    for id in transactions {
        let found = tx.first(TEXT, params![user, *id], |row| row.get::<String>(0))?;
        texts.push(found.ok_or(Error::NotFound("transaction"))?);
        let read = |row: &db::Row<'_>| {
            Ok(Before { counterparty: row.get(0)?, category: row.get(1)?, fixed_at: row.get(2)? })
        };
        let before = tx.first(FIX, params![user, *id], read)?;
        let transaction = id.to_string();
        let written_at = now.as_microsecond();
        inverse.fixes.push(FixBefore { transaction, written_at, before });
    }
    for id in transactions {
        enrichment::save_fix(tx, user, now, *id, word)?;
    }
    if always {
        let mut merchants = Vec::new();
        for text in texts {
            let key = clean(&text).key;
            if key != UNKNOWN && !merchants.contains(&key) {
                let rule = NewRule { like: Some(text), word: word.clone(), ..NewRule::default() };
                save_rule(app, tx, user, &rule, &mut inverse)?;
                merchants.push(key);
            }
        }
    }
    enrichment::reclassify(tx, app, user, transactions)?;
    dirty_queue::mark_all_dirty(tx, user, now)?;
    let count = transactions.len();
    let many = if count == 1 { "transaction" } else { "transactions" };
    let rules: Vec<&str> = inverse.rules.iter().map(|it| it.id.as_str()).collect();
    Ok(Applied {
        result: json!({ "transaction_count": count, "rule_ids": rules }),
        said: format!("Corrected {count} {many} to {}", word.text()),
        inverse: written(&inverse)?,
    })
}

pub(super) fn make_rule(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    rule: &NewRule,
) -> Result<Applied> {
    let mut inverse = Inverse::default();
    let id = save_rule(app, tx, user, rule, &mut inverse)?;
    dirty_queue::mark_all_dirty(tx, user, app.clock.now())?;
    Ok(Applied {
        result: json!({ "rule_id": id.to_string() }),
        said: format!("Made a rule: {}", rule.word.text()),
        inverse: written(&inverse)?,
    })
}

/// Writes a rule, and keeps those whose place it takes.
fn save_rule(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    rule: &NewRule,
    inverse: &mut Inverse,
) -> Result<RuleId> {
    let id: RuleId = app.ids.make();
    let before = tx.all(RULES, params![user], read_rule)?;
    enrichment::save_rule(tx, user, Actor::system(), app.clock.now(), (id, rule))?;
    let after: Vec<String> =
        tx.all(RULES, params![user], read_rule)?.into_iter().map(|it| it.id).collect();
    let replaced = before.into_iter().filter(|it| !after.contains(&it.id)).collect();
    inverse.rules.push(RuleMade { id: id.to_string(), replaced });
    Ok(id)
}

/// Puts back what stood there, where nobody has said anything else since.
pub(super) fn take_back(app: &App, tx: &mut Tx<'_>, user: UserId, inverse: &str) -> Result<()> {
    let unreadable = |_| Error::internal("what was kept to take it back cannot be read");
    let inverse: Inverse = serde_json::from_str(inverse).map_err(unreadable)?;
    let broken = || Error::internal("an id that is none");
    let mut touched = Vec::new();
    for fix in &inverse.fixes {
        let id = TransactionId::parse(&fix.transaction).map_err(|_| broken())?;
        touched.push(id);
        if tx.execute(FORGET_FIX, params![user, id, fix.written_at])? == 0 {
            continue;
        }
        if let Some(Before { counterparty, category, fixed_at }) = &fix.before {
            tx.execute(RESTORE_FIX, params![user, id, counterparty, category, *fixed_at])?;
        }
    }
    for rule in &inverse.rules {
        let id = RuleId::parse(&rule.id).map_err(|_| broken())?;
        // One that is gone was deleted or replaced by the person; that is their later word.
        if tx.execute(FORGET_RULE, params![user, id])? > 0 {
            for replaced in &rule.replaced {
                restore_rule(tx, user, replaced)?;
            }
        }
    }
    let now: Timestamp = app.clock.now();
    enrichment::reclassify(tx, app, user, &touched)?;
    dirty_queue::mark_all_dirty(tx, user, now)
}

fn restore_rule(tx: &mut Tx<'_>, user: UserId, rule: &RuleBefore) -> Result<()> {
    let broken = |_| Error::internal("an id that is none");
    let id = RuleId::parse(&rule.id).map_err(broken)?;
    let account = rule.account.as_deref().map(base::AccountId::parse).transpose();
    let account = account.map_err(broken)?;
    tx.execute(
        RESTORE_RULE,
        params![
            user,
            id,
            &rule.merchant_key,
            &rule.words,
            account,
            &rule.direction,
            &rule.counterparty,
            &rule.category,
            rule.created_at,
            &rule.hides,
            rule.holds_from
        ],
    )?;
    Ok(())
}

fn read_rule(row: &db::Row<'_>) -> db::Result<RuleBefore> {
    let account: Option<base::AccountId> = row.get(3)?;
    Ok(RuleBefore {
        id: row.get::<RuleId>(0)?.to_string(),
        merchant_key: row.get(1)?,
        words: row.get(2)?,
        account: account.map(|it| it.to_string()),
        direction: row.get(4)?,
        counterparty: row.get(5)?,
        category: row.get(6)?,
        created_at: row.get(7)?,
        hides: row.get(8)?,
        holds_from: row.get(9)?,
    })
}

fn written(inverse: &Inverse) -> Result<String> {
    serde_json::to_string(inverse).map_err(|error| Error::internal(error.to_string()))
}

const TEXT: &str =
    "select description from transactions where user_id = $1 and id = $2 and state <> 'removed'";
const FIX: &str = "select counterparty, category, fixed_at from transaction_fixes
    where user_id = $1 and transaction_id = $2";
const FORGET_FIX: &str = "delete from transaction_fixes
    where user_id = $1 and transaction_id = $2 and fixed_at = $3";
const RESTORE_FIX: &str =
    "insert into transaction_fixes (user_id, transaction_id, counterparty, category, fixed_at)
    values ($1, $2, $3, $4, $5) on conflict (user_id, transaction_id) do nothing";
const RULES: &str = "select id, merchant_key, words, account_id, direction, counterparty, category,
    created_at, hides, holds_from from rules where user_id = $1 order by id limit 2000";
const FORGET_RULE: &str = "delete from rules where user_id = $1 and id = $2";
const RESTORE_RULE: &str =
    "insert into rules (user_id, id, merchant_key, words, account_id, direction, counterparty,
    category, created_at, hides, holds_from) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

pub(super) const STATEMENTS: &[&str] =
    &[TEXT, FIX, FORGET_FIX, RESTORE_FIX, RULES, FORGET_RULE, RESTORE_RULE];
