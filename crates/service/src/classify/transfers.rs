//! Transfers between the person's own accounts: those that were found, and the person's decisions on them.

use base::{AccountId, TransactionId};
pub use calc::transfers::TransferKind;
use db::{Tx, params};
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
        let (outflow_minor, from) = leg(tx, user, outflow)?;
        let (inflow_minor, to) = leg(tx, user, inflow)?;
        if outflow_minor >= 0 || inflow_minor <= 0 || from == to {
            let message = "a transfer goes out of one account and into another";
            return Err(Error::invalid("inflow_id", message));
        }
        tx.execute(DECIDE, params![user, outflow, inflow, decision.as_str(), now])?;
        audit::note(tx, user, now, note)?;
        reclassify_transactions(tx, &mine, user, &[outflow, inflow])?;
        dirty_queue::mark_all_dirty(tx, user)
    };
    app.db.write(save).await
}

/// The amount and the account of a posted transaction.
fn leg(tx: &mut Tx<'_>, user: base::UserId, id: TransactionId) -> Result<(i64, AccountId)> {
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

pub(super) const STATEMENTS: &[&str] = &[LIST, LEG, DECIDE];
