//! What the person says of single transactions. It shows at once; what follows from it is worked out beside.

use base::category::Category;
use base::{RuleId, Timestamp, TransactionId, UserId};
use calc::enrich::{UNKNOWN, clean};
use db::{Tx, params};

use super::rules::{self, NewRule};
use crate::platform::audit::{self, Note};
use crate::platform::dirty_queue;
use crate::{App, Caller, Error, Result};

/// How many transactions one word of the person's may be about.
pub(crate) const FIXED_MAX: usize = 100;
const NAME_LENGTH_MAX: usize = 80;

/// The person says what transactions are: a name, a category, or both. What is absent stays as it is.
#[derive(Debug, Clone, Default)]
pub struct Word {
    pub counterparty: Option<String>,
    pub category: Option<Category>,
}

impl Word {
    pub(crate) fn is_empty(&self) -> bool {
        self.counterparty.is_none() && self.category.is_none()
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.is_empty() {
            let message = "say a counterparty_name, a category, or both";
            return Err(Error::invalid("category", message));
        }
        let bad = |name: &String| {
            let length = name.trim().chars().count();
            length == 0 || length > NAME_LENGTH_MAX || name.contains(char::is_control)
        };
        if self.counterparty.as_ref().is_some_and(bad) {
            let message = format!(
                "counterparty_name must have 1 to {NAME_LENGTH_MAX} characters on one line"
            );
            return Err(Error::invalid("counterparty_name", message));
        }
        Ok(())
    }

    /// For the audit trail, and for people.
    pub(crate) fn text(&self) -> String {
        match (&self.counterparty, self.category) {
            (Some(name), Some(category)) => format!("{name} ({})", category.label()),
            (Some(name), None) => name.clone(),
            (None, Some(category)) => category.label().to_owned(),
            (None, None) => String::new(),
        }
    }
}

pub async fn fix(
    app: &App,
    caller: &Caller,
    transactions: Vec<TransactionId>,
    word: Word,
) -> Result<()> {
    caller.require_owner("transaction")?;
    word.check()?;
    if transactions.is_empty() || transactions.len() > FIXED_MAX {
        let message = format!("transaction_ids must name 1 to {FIXED_MAX} transactions");
        return Err(Error::invalid("transaction_ids", message));
    }
    let (mine, caller, now) = (app.clone(), caller.clone(), app.clock.now());
    let save = move |tx: &mut Tx<'_>| {
        for id in &transactions {
            save_fix(tx, caller.user, now, *id, &word)?;
        }
        let count = transactions.len();
        let many = if count == 1 { "transaction" } else { "transactions" };
        let details = format!("Corrected {count} {many} to {}", word.text());
        let note = Note::new(&caller, "transaction.correct", details);
        let about = if count == 1 { note.about(transactions[0]) } else { note };
        audit::note(tx, caller.user, now, about)?;
        super::reclassify(tx, &mine, caller.user, &transactions)?;
        dirty_queue::mark_all_dirty(tx, caller.user, now)
    };
    app.db.write(save).await
}

/// The same for one transaction, and by a rule for all of its merchant.
pub async fn fix_always(
    app: &App,
    caller: &Caller,
    transaction: TransactionId,
    word: Word,
) -> Result<RuleId> {
    fix_by_rule(app, caller, transaction, (word, false)).await
}

/// The same, and the rule leaves alone what came in before it.
pub async fn fix_from_now_on(
    app: &App,
    caller: &Caller,
    transaction: TransactionId,
    word: Word,
) -> Result<RuleId> {
    fix_by_rule(app, caller, transaction, (word, true)).await
}

async fn fix_by_rule(
    app: &App,
    caller: &Caller,
    transaction: TransactionId,
    (word, from_now_on): (Word, bool),
) -> Result<RuleId> {
    caller.require_owner("transaction")?;
    word.check()?;
    let (mine, caller, now) = (app.clone(), caller.clone(), app.clock.now());
    let id: RuleId = app.ids.make();
    let save = move |tx: &mut Tx<'_>| {
        let description = save_fix(tx, caller.user, now, transaction, &word)?;
        if clean(&description).key == UNKNOWN {
            let message = "the bank's text names nobody, so no rule can be made of it; correct this \
                           transaction alone";
            return Err(Error::invalid("always", message));
        }
        let details = format!("Corrected 1 transaction to {}", word.text());
        let note = Note::new(&caller, "transaction.correct", details).about(transaction);
        audit::note(tx, caller.user, now, note)?;
        let rule = NewRule { like: Some(description), word, from_now_on, ..NewRule::default() };
        rules::save(tx, caller.user, (&caller).into(), now, (id, &rule))?;
        super::reclassify(tx, &mine, caller.user, &[transaction])?;
        dirty_queue::mark_all_dirty(tx, caller.user, now)?;
        Ok(id)
    };
    app.db.write(save).await
}

/// Stores the person's word on a transaction, and hands back the bank's text of it.
pub(crate) fn save_fix(
    tx: &mut Tx<'_>,
    user: UserId,
    now: Timestamp,
    id: TransactionId,
    word: &Word,
) -> Result<String> {
    let found = tx.first(EXISTS, params![user, id], |row| row.get::<String>(0))?;
    let description = found.ok_or(Error::NotFound("transaction"))?;
    let category = word.category.map(Category::detailed);
    tx.execute(SAVE_FIX, params![user, id, &word.counterparty, category, now])?;
    Ok(description)
}

/// Takes the person's word back; what the rules and tables say holds again.
pub async fn unfix(app: &App, caller: &Caller, transaction: TransactionId) -> Result<()> {
    caller.require_owner("transaction")?;
    let (mine, caller, now) = (app.clone(), caller.clone(), app.clock.now());
    let forget = move |tx: &mut Tx<'_>| {
        if tx.execute(FORGET_FIX, params![caller.user, transaction])? == 0 {
            return Err(Error::NotFound("correction"));
        }
        let note = Note::new(&caller, "transaction.undo", "Took a correction back");
        audit::note(tx, caller.user, now, note.about(transaction))?;
        super::reclassify(tx, &mine, caller.user, &[transaction])?;
        dirty_queue::mark_all_dirty(tx, caller.user, now)
    };
    app.db.write(forget).await
}

const EXISTS: &str =
    "select description from transactions where user_id = $1 and id = $2 and state <> 'removed'";
const SAVE_FIX: &str =
    "insert into transaction_fixes (user_id, transaction_id, counterparty, category, fixed_at)
    values ($1, $2, $3, $4, $5) on conflict (user_id, transaction_id) do update set
    counterparty = coalesce(excluded.counterparty, transaction_fixes.counterparty),
    category = coalesce(excluded.category, transaction_fixes.category), fixed_at = excluded.fixed_at";
const FORGET_FIX: &str = "delete from transaction_fixes where user_id = $1 and transaction_id = $2";

pub(super) const STATEMENTS: &[&str] = &[EXISTS, SAVE_FIX, FORGET_FIX];
