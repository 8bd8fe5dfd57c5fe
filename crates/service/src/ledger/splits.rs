//! Transactions that the person split over categories. Every figure by category counts the parts.
//!
//! The parts add up to the amount of the transaction. If its source changes the amount later, the split is kept and no
//! longer counts: the transaction counts as a whole until the person edits the split, or the amount is what it was
//! (docs/decisions/0026-splits.md).

use base::category::Category;
use base::split::{self, PARTS_MAX, PARTS_MIN, SplitError, SplitPart};
use base::{AccountId, Currency, Money, TransactionId, UserId};
use db::{Tx, params};
use serde::{Deserialize, Serialize};
use webhooks::outbox;
use wire::v1::Event;

use super::stamps;
use super::transactions::TransactionState;
use super::transactions::row::unreadable_part;
use crate::platform::audit::{self, Actor, Note};
use crate::platform::dirty_queue::{self, DirtyTransaction};
use crate::{App, Caller, Error, Result};

/// The longest note of a part.
pub const NOTE_LENGTH_MAX: usize = 100;
/// How many outdated splits are listed.
const OUTDATED_MAX: i64 = 20;

/// One part of a split transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// With the sign of the transaction.
    pub amount_minor: i64,
    pub category: Category,
    pub note: String,
}

impl Part {
    fn stored(&self) -> SplitPart<'_> {
        SplitPart { amount_minor: self.amount_minor, category: self.category, note: &self.note }
    }
}

/// The split of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    pub parts: Vec<Part>,
    /// The amount that the parts were made for.
    pub whole_minor: i64,
}

impl Split {
    /// Whether the parts count: the transaction still has the amount that they add up to.
    pub fn counts(&self, amount_minor: i64) -> bool {
        self.whole_minor == amount_minor
    }

    /// Reads the columns `split_minor` and `splits` of a transaction.
    pub(crate) fn read(row: &db::Row<'_>, column: usize) -> db::Result<Option<Split>> {
        let whole: Option<i64> = row.get(column)?;
        let Some(whole_minor) = whole else { return Ok(None) };
        let mut parts = Vec::new();
        for part in split::read(row.get(column + 1)?) {
            let SplitPart { amount_minor, category, note } =
                part.ok_or_else(|| unreadable_part(column + 1))?;
            parts.push(Part { amount_minor, category, note: note.to_owned() });
        }
        Ok(Some(Split { parts, whole_minor }))
    }
}

/// Splits a transaction, or replaces its parts.
pub async fn set(app: &App, caller: &Caller, id: TransactionId, parts: Vec<Part>) -> Result<()> {
    caller.require_owner("transaction")?;
    save(app, caller, id, Some(parts)).await
}

/// Makes a split transaction whole again.
pub async fn remove(app: &App, caller: &Caller, id: TransactionId) -> Result<()> {
    caller.require_owner("transaction")?;
    save(app, caller, id, None).await
}

async fn save(
    app: &App,
    caller: &Caller,
    id: TransactionId,
    parts: Option<Vec<Part>>,
) -> Result<()> {
    let (mine, user, actor) = (app.clone(), caller.user, Actor::from(caller));
    let write = move |tx: &mut Tx<'_>| save_in(&mine, tx, (user, actor), id, parts.as_deref());
    app.db.write(write).await?;
    Ok(())
}

/// The split of a transaction from before a change, to undo the change. Its field names are stored.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SplitSnapshot {
    transaction: String,
    before: Option<String>,
    before_minor: Option<i64>,
    /// What was written. A split that differs is the person's own later one, and stays.
    written: Option<String>,
}

/// What a split changes of a transaction, or is checked against.
struct Splittable {
    state: TransactionState,
    is_transfer: bool,
    whole_minor: Option<i64>,
    stored: Option<String>,
    currency: Currency,
    dirty: DirtyTransaction,
}

/// Splits a transaction or makes it whole again, and returns its split from before.
pub(crate) fn save_in(
    app: &App,
    tx: &mut Tx<'_>,
    (user, actor): (UserId, Actor),
    id: TransactionId,
    parts: Option<&[Part]>,
) -> Result<SplitSnapshot> {
    let now = app.clock.now();
    let stamp = stamps::next(tx, user, now)?;
    let found = find(tx, user, id)?.ok_or(Error::NotFound("transaction"))?;
    let amount = found.dirty.amount_minor;
    if let Some(parts) = parts {
        check(Money::new(amount, found.currency), found.is_transfer, parts)?;
    }
    let stored = parts.map(|it| split::store(&it.iter().map(Part::stored).collect::<Vec<_>>()));
    let whole = parts.map(|_| amount);
    let snapshot = SplitSnapshot {
        transaction: id.to_string(),
        before: found.stored.clone(),
        before_minor: found.whole_minor,
        written: stored.clone(),
    };
    if (&found.stored, found.whole_minor) == (&stored, whole) {
        return Ok(snapshot);
    }
    tx.execute(SET, params![user, id, &stored, whole, stamp])?;
    announce(app, tx, user, id, &found)?;
    let (action, details) = match parts {
        Some(parts) => {
            ("transaction.split", format!("Split a transaction into {} parts", parts.len()))
        }
        None => ("transaction.unsplit", "Removed the split of a transaction".to_owned()),
    };
    audit::note(tx, user, now, Note::new(actor, action, details).about(id))?;
    dirty_queue::mark_dirty(tx, user, &[found.dirty].into())?;
    Ok(snapshot)
}

/// Restores the split from before a change, unless the person has changed it since or the transaction is gone.
pub(crate) fn restore(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    snapshot: &SplitSnapshot,
) -> Result<()> {
    let id = TransactionId::parse(&snapshot.transaction)
        .map_err(|_| Error::internal("the stored split of a transaction has an invalid id"))?;
    let stamp = stamps::next(tx, user, app.clock.now())?;
    let Some(found) = find(tx, user, id)?.filter(|it| it.stored == snapshot.written) else {
        return Ok(());
    };
    tx.execute(SET, params![user, id, &snapshot.before, snapshot.before_minor, stamp])?;
    announce(app, tx, user, id, &found)?;
    dirty_queue::mark_dirty(tx, user, &[found.dirty].into())
}

fn find(tx: &mut Tx<'_>, user: UserId, id: TransactionId) -> Result<Option<Splittable>> {
    Ok(tx.first(FIND, params![user, id], |row| {
        Ok(Splittable {
            state: row.get(1)?,
            is_transfer: row.get::<Option<&str>>(5)?.is_some(),
            whole_minor: row.get(6)?,
            stored: row.get(7)?,
            currency: row.get(8)?,
            dirty: DirtyTransaction {
                account: row.get(0)?,
                merchant_key: row.get::<Option<&str>>(4)?.unwrap_or_default().to_owned(),
                posted_on_days: row.get(2)?,
                amount_minor: row.get(3)?,
            },
        })
    })?)
}

fn announce(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    id: TransactionId,
    of: &Splittable,
) -> Result<()> {
    if of.state == TransactionState::Hidden {
        return Ok(());
    }
    let account: AccountId = of.dirty.account;
    let event = Event::TransactionsUpdated {
        account_id: account.to_string(),
        transaction_ids: vec![id.to_string()],
        count: 1,
        removed: false,
    };
    Ok(outbox::append(&app.webhooks, tx, user, &[event])?)
}

/// Checks that parts are a split of a transaction.
pub(crate) fn check(amount: Money, is_transfer: bool, parts: &[Part]) -> Result<()> {
    if is_transfer {
        let message = "a transfer between your accounts cannot be split";
        return Err(Error::invalid("splits", message));
    }
    let is_bad =
        |it: &Part| it.note.chars().count() > NOTE_LENGTH_MAX || it.note.contains(char::is_control);
    if parts.iter().any(is_bad) {
        let message =
            format!("the note of a part can have up to {NOTE_LENGTH_MAX} characters on one line");
        return Err(Error::invalid("splits", message));
    }
    let stored: Vec<SplitPart<'_>> = parts.iter().map(Part::stored).collect();
    let message = match split::check(amount.minor(), &stored) {
        Ok(()) => return Ok(()),
        Err(SplitError::Count) => format!("a split has {PARTS_MIN} to {PARTS_MAX} parts"),
        Err(SplitError::Sign { part }) => {
            format!("part {} must not be zero and must have the sign of the transaction", part + 1)
        }
        Err(SplitError::Sum { .. }) => {
            format!(
                "the parts must add up to the amount of the transaction, which is {}",
                amount.pretty()
            )
        }
    };
    Err(Error::invalid("splits", message))
}

/// The transactions whose amount changed after the person split them, so that the split no longer counts.
pub async fn list_outdated(app: &App, caller: &Caller) -> Result<Vec<TransactionId>> {
    caller.require_owner("transaction")?;
    let params = params![caller.user, OUTDATED_MAX];
    Ok(app.db.all(OUTDATED, params, |row| row.get(0)).await?)
}

const FIND: &str = "select account_id, state, posted_on, amount_minor, merchant_key, transfer_kind, split_minor, splits,
    currency from transactions where user_id = $1 and id = $2 and state <> 'removed'";
const SET: &str = "update transactions set splits = $3, split_minor = $4, updated_at = $5
    where user_id = $1 and id = $2";
const OUTDATED: &str = "select id from transactions where user_id = $1 and split_minor is not null
    and split_minor <> amount_minor and state not in ('removed', 'hidden')
    order by split_minor, id limit $2";

pub(crate) const STATEMENTS: &[&str] = &[FIND, SET, OUTDATED];
