//! Moves between the person's own accounts: what was found, and what the person says of it.

use base::TransactionId;
pub use calc::transfers::Kind;
use db::{Tx, params};
use wire::v1::Scope;

use crate::platform::audit::{self, Note};
use crate::platform::dirty_queue;
use crate::{App, Caller, Error, Result};

/// Two transactions that belong together, or may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    pub outflow: TransactionId,
    pub inflow: TransactionId,
    /// Sure enough to be left out of what was earned and spent; otherwise only a suggestion.
    pub paired: bool,
    pub kind: Kind,
    /// Why, one reason a line.
    pub evidence: String,
}

pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Transfer>> {
    caller.require(Scope::TransactionsRead)?;
    caller.require_owner("transfer")?;
    let read = |row: &db::Row<'_>| {
        let (state, kind): (&str, &str) = (row.get(2)?, row.get(3)?);
        let unknown = || db::Error::Decode { column: 3, reason: format!("unknown kind {kind}") };
        Ok(Transfer {
            outflow: row.get(0)?,
            inflow: row.get(1)?,
            paired: state == "paired",
            kind: Kind::parse(kind).ok_or_else(unknown)?,
            evidence: row.get(4)?,
        })
    };
    Ok(app.db.all(LIST, params![caller.user], read).await?)
}

/// The person says that two transactions are no transfer. It is remembered, whatever comes in later.
pub async fn refuse(
    app: &App,
    caller: &Caller,
    outflow: TransactionId,
    inflow: TransactionId,
) -> Result<()> {
    let note = ("transfer.refuse", "Said that two transactions are no transfer");
    decide(app, caller, (outflow, inflow), ("refused", note)).await
}

/// The person says that two transactions are one transfer.
pub async fn confirm(
    app: &App,
    caller: &Caller,
    outflow: TransactionId,
    inflow: TransactionId,
) -> Result<()> {
    let note = ("transfer.confirm", "Said that two transactions are one transfer");
    decide(app, caller, (outflow, inflow), ("confirmed", note)).await
}

async fn decide(
    app: &App,
    caller: &Caller,
    (outflow, inflow): (TransactionId, TransactionId),
    (decision, (action, details)): (&'static str, (&'static str, &'static str)),
) -> Result<()> {
    caller.require_owner("transfer")?;
    let (mine, user, now) = (app.clone(), caller.user, app.clock.now());
    let note = Note::new(caller, action, details).about(outflow);
    let save = move |tx: &mut Tx<'_>| {
        let leg = |tx: &mut Tx<'_>, id: TransactionId| {
            let found = tx.first(LEG, params![user, id], |row| {
                Ok((row.get::<i64>(0)?, row.get::<base::AccountId>(1)?))
            })?;
            found.ok_or(Error::NotFound("transaction"))
        };
        let (out, into) = (leg(tx, outflow)?, leg(tx, inflow)?);
        if out.0 >= 0 || into.0 <= 0 || out.1 == into.1 {
            let message = "a transfer goes out of one account and into another";
            return Err(Error::invalid("inflow_id", message));
        }
        tx.execute(DECIDE, params![user, outflow, inflow, decision, now])?;
        audit::note(tx, user, now, note)?;
        crate::classify::enrichment::reclassify(tx, &mine, user, &[outflow, inflow])?;
        dirty_queue::mark_all_dirty(tx, user, now)
    };
    app.db.write(save).await
}

const LIST: &str = "select outflow_id, inflow_id, state, kind, evidence from transfers
    where user_id = $1 order by outflow_id, inflow_id";
const LEG: &str = "select amount_minor, account_id from transactions
    where user_id = $1 and id = $2 and state in ('posted', 'hidden')";
const DECIDE: &str =
    "insert into transfer_decisions (user_id, outflow_id, inflow_id, decision, decided_at)
    values ($1, $2, $3, $4, $5) on conflict (user_id, outflow_id, inflow_id) do update
    set decision = excluded.decision, decided_at = excluded.decided_at";

pub(crate) const STATEMENTS: &[&str] = &[LIST, LEG, DECIDE];
