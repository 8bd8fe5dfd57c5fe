//! Transfers between the person's own accounts: those that were found, and the person's decisions on them.

use base::{AccountId, TransactionId, UserId};
pub use calc::transfers::TransferKind;
use db::{Tx, params};
use serde::{Deserialize, Serialize};
use wire::v1::Scope;

use super::reclassify::pairs::PairDecision;
pub(crate) use super::reclassify::pairs::PairState;
use super::reclassify::reclassify_transactions;
use crate::platform::audit::{self, Note};
use crate::platform::dirty_queue;
use crate::{App, Caller, Error, Result};

/// Two transactions that are, or may be, the two legs of one transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    pub outflow: TransactionId,
    pub inflow: TransactionId,
    /// Certain enough to leave both out of income and spending; otherwise the transfer is only a suggestion.
    pub paired: bool,
    pub kind: TransferKind,
    /// Reasons for pairing the two, one a line.
    pub evidence: String,
}

pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Transfer>> {
    caller.require(Scope::TransactionsRead)?;
    caller.require_owner("transfer")?;
    let read = |row: &db::Row<'_>| {
        Ok(Transfer {
            outflow: row.get(0)?,
            inflow: row.get(1)?,
            paired: row.get::<PairState>(2)? == PairState::Paired,
            kind: row.word(3, "transfer kind", TransferKind::parse)?,
            evidence: row.get(4)?,
        })
    };
    Ok(app.db.all(LIST, params![caller.user], read).await?)
}

/// Marks two transactions as no transfer. The decision holds for every later recompute.
pub async fn refuse(
    app: &App,
    caller: &Caller,
    outflow: TransactionId,
    inflow: TransactionId,
) -> Result<()> {
    let note = Note::new(caller, "transfer.refuse", "Marked two transactions as no transfer");
    decide(app, caller, (outflow, inflow), (PairDecision::Refused, note)).await
}

/// Marks two transactions as one transfer.
pub async fn confirm(
    app: &App,
    caller: &Caller,
    outflow: TransactionId,
    inflow: TransactionId,
) -> Result<()> {
    let note = Note::new(caller, "transfer.confirm", "Marked two transactions as a transfer");
    decide(app, caller, (outflow, inflow), (PairDecision::Confirmed, note)).await
}

async fn decide(
    app: &App,
    caller: &Caller,
    (outflow, inflow): (TransactionId, TransactionId),
    (decision, note): (PairDecision, Note),
) -> Result<()> {
    caller.require_owner("transfer")?;
    let (mine, user, now) = (app.clone(), caller.user, app.clock.now());
    let note = note.about(outflow);
    let save = move |tx: &mut Tx<'_>| {
        let (from, to) = (leg(tx, user, outflow)?, leg(tx, user, inflow)?);
        if !is_transfer(from, to) {
            return Err(Error::invalid("inflow_id", NO_TRANSFER));
        }
        tx.execute(DECIDE, params![user, outflow, inflow, decision.as_str(), now])?;
        audit::note(tx, user, now, note)?;
        reclassify_transactions(tx, &mine, user, &[outflow, inflow])?;
        dirty_queue::mark_all_dirty(tx, user)
    };
    app.db.write(save).await
}

/// The person's decision on a pair from before an approved proposal changed it. Its field names are stored.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DecisionSnapshot {
    outflow: String,
    inflow: String,
    /// When the proposal was executed. A decision with a later time is the person's own, and stays.
    written_at: i64,
    before: Option<String>,
    before_at: Option<i64>,
}

/// Marks two transactions as one transfer, in either order. Returns what to restore to undo it.
pub(crate) fn link(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    [one, other]: [TransactionId; 2],
) -> Result<DecisionSnapshot> {
    let now = app.clock.now();
    let (first, second) = (leg(tx, user, one)?, leg(tx, user, other)?);
    let (outflow, inflow) = match (is_transfer(first, second), is_transfer(second, first)) {
        (true, _) => (one, other),
        (_, true) => (other, one),
        _ => return Err(Error::invalid("payload.transaction_ids", NO_TRANSFER)),
    };
    let key = params![user, outflow, inflow];
    let read = |row: &db::Row<'_>| Ok((row.get::<PairDecision>(0)?, row.get::<i64>(1)?));
    let before = tx.first(DECISION, key, read)?;
    tx.execute(DECIDE, params![user, outflow, inflow, PairDecision::Confirmed.as_str(), now])?;
    reclassify_transactions(tx, app, user, &[outflow, inflow])?;
    dirty_queue::mark_all_dirty(tx, user)?;
    Ok(DecisionSnapshot {
        outflow: outflow.to_string(),
        inflow: inflow.to_string(),
        written_at: now.as_microsecond(),
        before: before.map(|it| it.0.as_str().to_owned()),
        before_at: before.map(|it| it.1),
    })
}

/// Restores a decision, unless the person has decided since. Returns the two transactions.
pub(crate) fn restore(
    tx: &mut Tx<'_>,
    user: UserId,
    snapshot: &DecisionSnapshot,
) -> Result<[TransactionId; 2]> {
    let invalid = || Error::internal("the stored data to undo a transfer is invalid");
    let id = |text: &str| TransactionId::parse(text).map_err(|_| invalid());
    let (outflow, inflow) = (id(&snapshot.outflow)?, id(&snapshot.inflow)?);
    let written_at = snapshot.written_at;
    match (&snapshot.before, snapshot.before_at) {
        (Some(before), Some(before_at)) => {
            let before = PairDecision::parse(before).ok_or_else(invalid)?.as_str();
            tx.execute(RESTORE, params![user, outflow, inflow, written_at, before, before_at])?;
        }
        _ => {
            tx.execute(FORGET, params![user, outflow, inflow, written_at])?;
        }
    }
    Ok([outflow, inflow])
}

const NO_TRANSFER: &str = "a transfer goes out of one account and into another";

/// Whether money leaves the first account and arrives in the second, which is another one.
fn is_transfer((out_minor, from): (i64, AccountId), (in_minor, to): (i64, AccountId)) -> bool {
    out_minor < 0 && in_minor > 0 && from != to
}

/// The amount and the account of a posted transaction.
fn leg(tx: &mut Tx<'_>, user: UserId, id: TransactionId) -> Result<(i64, AccountId)> {
    let found = tx.first(LEG, params![user, id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    found.ok_or(Error::NotFound("transaction"))
}

const LIST: &str = "select outflow_id, inflow_id, state, kind, evidence from transfers
    where user_id = $1 order by outflow_id, inflow_id";
const LEG: &str = "select amount_minor, account_id from transactions
    where user_id = $1 and id = $2 and state in ('posted', 'hidden')";
const DECIDE: &str =
    "insert into transfer_decisions (user_id, outflow_id, inflow_id, decision, decided_at)
    values ($1, $2, $3, $4, $5) on conflict (user_id, outflow_id, inflow_id) do update
    set decision = excluded.decision, decided_at = excluded.decided_at";

const DECISION: &str = "select decision, decided_at from transfer_decisions
    where user_id = $1 and outflow_id = $2 and inflow_id = $3";
const RESTORE: &str = "update transfer_decisions set decision = $5, decided_at = $6
    where user_id = $1 and outflow_id = $2 and inflow_id = $3 and decided_at = $4";
const FORGET: &str = "delete from transfer_decisions
    where user_id = $1 and outflow_id = $2 and inflow_id = $3 and decided_at = $4";

pub(super) const STATEMENTS: &[&str] = &[LIST, LEG, DECIDE, DECISION, RESTORE, FORGET];
