//! Corrections and rules that were approved, and how they are taken back: what stood there before is kept.

use base::{RuleId, Timestamp, TransactionId, UserId};
use calc::enrich::{UNKNOWN, clean};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::classify::overrides::{self, Override, OverrideSnapshot};
use crate::classify::reclassify::reclassify_transactions;
use crate::classify::rules::{self, NewRule, RuleSnapshot};
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
    replaced: Vec<RuleSnapshot>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FixBefore {
    transaction: String,
    /// When we wrote ours; one that was written later is the person's own and stays.
    written_at: i64,
    before: Option<OverrideSnapshot>,
}

pub(super) fn apply(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    (transactions, word, always): (&[TransactionId], &Override, bool),
) -> Result<Applied> {
    let now = app.clock.now();
    let mut inverse = Inverse::default();
    let mut texts = Vec::with_capacity(transactions.len());
    // All is looked at before anything is written: half a correction would be none.
    for id in transactions {
        texts.push(overrides::description(tx, user, *id)?);
        let before = overrides::find_snapshot(tx, user, *id)?;
        let transaction = id.to_string();
        let written_at = now.as_microsecond();
        inverse.fixes.push(FixBefore { transaction, written_at, before });
    }
    for id in transactions {
        overrides::save(tx, user, now, *id, word)?;
    }
    if always {
        let mut merchants = Vec::new();
        for text in texts {
            let key = clean(&text).key;
            if key != UNKNOWN && !merchants.contains(&key) {
                let rule = NewRule { like: Some(text), sets: word.clone(), ..NewRule::default() };
                save_rule(app, tx, user, &rule, &mut inverse)?;
                merchants.push(key);
            }
        }
    }
    reclassify_transactions(tx, app, user, transactions)?;
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
        said: format!("Made a rule: {}", rule.sets.text()),
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
    let now = app.clock.now();
    let replaced = rules::save_and_keep_replaced(tx, user, Actor::system(), now, (id, rule))?;
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
        overrides::restore(tx, user, id, fix.written_at, fix.before.as_ref())?;
    }
    for rule in &inverse.rules {
        let id = RuleId::parse(&rule.id).map_err(|_| broken())?;
        rules::restore_replaced(tx, user, id, &rule.replaced)?;
    }
    let now: Timestamp = app.clock.now();
    reclassify_transactions(tx, app, user, &touched)?;
    dirty_queue::mark_all_dirty(tx, user, now)
}

fn written(inverse: &Inverse) -> Result<String> {
    serde_json::to_string(inverse).map_err(|error| Error::internal(error.to_string()))
}
