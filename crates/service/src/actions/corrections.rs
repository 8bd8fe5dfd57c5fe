//! Applies approved corrections and rules, and undoes them. The state from before is kept for the undo.

use base::{RuleId, TransactionId, UserId};
use calc::enrich::{UNKNOWN, clean};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::classify::overrides::{self, Override, OverrideSnapshot};
use crate::classify::reclassify::reclassify_transactions;
use crate::classify::rule_snapshots::{self, RuleSnapshot};
use crate::classify::rules::NewRule;
use crate::classify::transfers::{self, DecisionSnapshot};
use crate::ledger::annotations::{self, AnnotationSnapshot};
use crate::ledger::splits::{self, SplitSnapshot};
use crate::platform::audit::Actor;
use crate::platform::dirty_queue;
use crate::{App, Error, Result, Tx};

/// The effect of a correction: the result for the proposer, the text for the audit trail, and the data to undo it.
pub(super) struct Applied {
    pub(super) result: Value,
    pub(super) details: String,
    pub(super) inverse: String,
}

/// The data to undo a correction. Its field names are stored.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Inverse {
    fixes: Vec<PreviousOverride>,
    rules: Vec<CreatedRule>,
    /// The following are missing in what was stored before they could be proposed.
    #[serde(default)]
    transfers: Vec<DecisionSnapshot>,
    #[serde(default)]
    pub(super) splits: Vec<SplitSnapshot>,
    #[serde(default)]
    pub(super) annotations: Vec<AnnotationSnapshot>,
}

/// A rule that was created, and the rules that it replaced.
#[derive(Debug, Serialize, Deserialize)]
struct CreatedRule {
    id: String,
    replaced: Vec<RuleSnapshot>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PreviousOverride {
    transaction: String,
    /// When the correction was written. An override with a later time is the person's own, and stays.
    written_at: i64,
    before: Option<OverrideSnapshot>,
}

pub(super) fn apply(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    (transactions, sets, always): (&[TransactionId], &Override, bool),
) -> Result<Applied> {
    let now = app.clock.now();
    let mut inverse = Inverse::default();
    let mut texts = Vec::with_capacity(transactions.len());
    // All transactions are read before anything is written, so that a missing one changes nothing.
    for id in transactions {
        texts.push(overrides::description(tx, user, *id)?);
        let before = overrides::find_snapshot(tx, user, *id)?;
        let transaction = id.to_string();
        let written_at = now.as_microsecond();
        inverse.fixes.push(PreviousOverride { transaction, written_at, before });
    }
    for id in transactions {
        overrides::save(tx, user, now, *id, sets)?;
    }
    if always {
        let mut merchants = Vec::new();
        for text in texts {
            let key = clean(&text).key;
            if key != UNKNOWN && !merchants.contains(&key) {
                let rule = NewRule { like: Some(text), sets: sets.clone(), ..NewRule::default() };
                save_rule(app, tx, user, &rule, &mut inverse)?;
                merchants.push(key);
            }
        }
    }
    reclassify_transactions(tx, app, user, transactions)?;
    dirty_queue::mark_all_dirty(tx, user)?;
    let count = transactions.len();
    let many = if count == 1 { "transaction" } else { "transactions" };
    let rules: Vec<&str> = inverse.rules.iter().map(|it| it.id.as_str()).collect();
    Ok(Applied {
        result: json!({ "transaction_count": count, "rule_ids": rules }),
        details: format!("Corrected {count} {many} to {}", sets.text()),
        inverse: to_json(&inverse)?,
    })
}

pub(super) fn create_rule(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    rule: &NewRule,
) -> Result<Applied> {
    let mut inverse = Inverse::default();
    let id = save_rule(app, tx, user, rule, &mut inverse)?;
    dirty_queue::mark_all_dirty(tx, user)?;
    Ok(Applied {
        result: json!({ "rule_id": id.to_string() }),
        details: format!("Created a rule: {}", rule.sets.text()),
        inverse: to_json(&inverse)?,
    })
}

/// Marks two transactions as one transfer.
pub(super) fn link_transfer(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    transactions: [TransactionId; 2],
) -> Result<Applied> {
    let before = transfers::link(app, tx, user, transactions)?;
    let inverse = Inverse { transfers: vec![before], ..Inverse::default() };
    Ok(Applied {
        result: json!({ "transaction_count": 2 }),
        details: "Marked two transactions as a transfer".to_owned(),
        inverse: to_json(&inverse)?,
    })
}

/// Creates a rule, and keeps the rules that it replaces.
fn save_rule(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    rule: &NewRule,
    inverse: &mut Inverse,
) -> Result<RuleId> {
    let id: RuleId = app.ids.make();
    let now = app.clock.now();
    let replaced =
        rule_snapshots::save_and_keep_replaced(tx, user, Actor::system(), now, (id, rule))?;
    inverse.rules.push(CreatedRule { id: id.to_string(), replaced });
    Ok(id)
}

/// Restores the state from before, except where the person has changed it since.
pub(super) fn undo(app: &App, tx: &mut Tx<'_>, user: UserId, inverse: &str) -> Result<()> {
    let unreadable = |_| Error::internal("the stored data to undo a correction is invalid");
    let inverse: Inverse = serde_json::from_str(inverse).map_err(unreadable)?;
    let broken = || Error::internal("the stored data to undo a correction has an invalid id");
    let mut changed = Vec::new();
    for fix in &inverse.fixes {
        let id = TransactionId::parse(&fix.transaction).map_err(|_| broken())?;
        changed.push(id);
        overrides::restore(tx, user, id, fix.written_at, fix.before.as_ref())?;
    }
    for rule in &inverse.rules {
        let id = RuleId::parse(&rule.id).map_err(|_| broken())?;
        rule_snapshots::restore_replaced(tx, user, id, &rule.replaced)?;
    }
    for decision in &inverse.transfers {
        changed.extend(transfers::restore(tx, user, decision)?);
    }
    for split in &inverse.splits {
        splits::restore(app, tx, user, split)?;
    }
    for annotation in &inverse.annotations {
        annotations::restore(app, tx, user, annotation)?;
    }
    reclassify_transactions(tx, app, user, &changed)?;
    dirty_queue::mark_all_dirty(tx, user)
}

pub(super) fn to_json(inverse: &Inverse) -> Result<String> {
    serde_json::to_string(inverse).map_err(|error| Error::internal(error.to_string()))
}
