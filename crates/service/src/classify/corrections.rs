//! Corrections: the person overrides how transactions are classified, and sees the effect at once.

use base::TransactionId;
use calc::enrich::{UNKNOWN, clean};
use db::Tx;

use super::overrides::{self, Override, TRANSACTIONS_MAX};
use super::reclassify::reclassify_transactions;
use super::rules::{self, CreatedRule, NewRule};
use crate::platform::audit::{self, Note};
use crate::platform::dirty_queue;
use crate::{App, Caller, Error, Result};

/// Overrides the name, the category or both of some transactions.
pub async fn correct(
    app: &App,
    caller: &Caller,
    transactions: Vec<TransactionId>,
    values: Override,
) -> Result<()> {
    caller.require_owner("transaction")?;
    values.check()?;
    if transactions.is_empty() || transactions.len() > TRANSACTIONS_MAX {
        let message = format!("transaction_ids must name 1 to {TRANSACTIONS_MAX} transactions");
        return Err(Error::invalid("transaction_ids", message));
    }
    let (mine, caller, now) = (app.clone(), caller.clone(), app.clock.now());
    let save = move |tx: &mut Tx<'_>| {
        for id in &transactions {
            overrides::save(tx, caller.user, now, *id, &values)?;
        }
        let count = transactions.len();
        let noun = if count == 1 { "transaction" } else { "transactions" };
        let details = format!("Corrected {count} {noun} to {}", values.text());
        let note = Note::new(&caller, "transaction.correct", details);
        let note = if count == 1 { note.about(transactions[0]) } else { note };
        audit::note(tx, caller.user, now, note)?;
        reclassify_transactions(tx, &mine, caller.user, &transactions)?;
        dirty_queue::mark_all_dirty(tx, caller.user)
    };
    app.db.write(save).await
}

/// Corrects one transaction, and all others of its merchant by a rule.
pub async fn correct_always(
    app: &App,
    caller: &Caller,
    transaction: TransactionId,
    values: Override,
) -> Result<CreatedRule> {
    correct_with_rule(app, caller, transaction, (values, false)).await
}

/// Corrects one transaction, and future ones of its merchant by a rule.
pub async fn correct_from_now_on(
    app: &App,
    caller: &Caller,
    transaction: TransactionId,
    values: Override,
) -> Result<CreatedRule> {
    correct_with_rule(app, caller, transaction, (values, true)).await
}

async fn correct_with_rule(
    app: &App,
    caller: &Caller,
    transaction: TransactionId,
    (values, from_now_on): (Override, bool),
) -> Result<CreatedRule> {
    caller.require_owner("transaction")?;
    values.check()?;
    let (mine, caller, now) = (app.clone(), caller.clone(), app.clock.now());
    let id = app.ids.make();
    let save = move |tx: &mut Tx<'_>| {
        let description = overrides::save(tx, caller.user, now, transaction, &values)?;
        if clean(&description).key == UNKNOWN {
            let message = "the bank's description names no merchant, so there can be no rule for it; \
                           correct this transaction alone";
            return Err(Error::invalid("always", message));
        }
        let details = format!("Corrected 1 transaction to {}", values.text());
        let note = Note::new(&caller, "transaction.correct", details).about(transaction);
        audit::note(tx, caller.user, now, note)?;
        let rule =
            NewRule { like: Some(description), sets: values, from_now_on, ..NewRule::default() };
        let replaced = rules::save(tx, caller.user, (&caller).into(), now, (id, &rule))?;
        reclassify_transactions(tx, &mine, caller.user, &[transaction])?;
        dirty_queue::mark_all_dirty(tx, caller.user)?;
        Ok(CreatedRule { id, replaced })
    };
    app.db.write(save).await
}

/// Deletes the override of a transaction, which is then classified by rules and tables again.
pub async fn undo(app: &App, caller: &Caller, transaction: TransactionId) -> Result<()> {
    caller.require_owner("transaction")?;
    let (mine, caller, now) = (app.clone(), caller.clone(), app.clock.now());
    let undo = move |tx: &mut Tx<'_>| {
        overrides::delete(tx, caller.user, transaction)?;
        let note = Note::new(&caller, "transaction.undo", "Undid a correction");
        audit::note(tx, caller.user, now, note.about(transaction))?;
        reclassify_transactions(tx, &mine, caller.user, &[transaction])?;
        dirty_queue::mark_all_dirty(tx, caller.user)
    };
    app.db.write(undo).await
}
