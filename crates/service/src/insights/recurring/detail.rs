//! The detail of a stream, with all its payments.

use std::collections::HashSet;

use base::{Date, StreamId, TransactionId};
use db::params;
use wire::v1::Scope;

use super::merging::{fold, sources};
use super::{LIST, Stream, read};
use crate::ledger::accounts;
use crate::{App, Caller, Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payment {
    pub id: TransactionId,
    pub on: Date,
    /// Without a sign; see the stream's direction.
    pub amount_minor: i64,
}

/// A stream and the name of its account, also if that is hidden. For programs, a dismissed stream
/// does not exist, and neither does one that was merged into another.
pub async fn find(app: &App, caller: &Caller, id: StreamId) -> Result<(Stream, String)> {
    let found = find_any(app, caller, id).await?;
    let is_gone = found.0.dismissed_at.is_some() || found.0.merged_into.is_some();
    if is_gone { Err(Error::NotFound("stream")) } else { Ok(found) }
}

/// A stream with those that were merged into it. One that was merged into another is found as it is.
async fn find_any(app: &App, caller: &Caller, id: StreamId) -> Result<(Stream, String)> {
    caller.require(Scope::RecurringRead)?;
    let accounts = accounts::list_all(app, caller).await?;
    let mut all = app.db.all(LIST, params![caller.user], read).await?;
    all.retain(|it| accounts.iter().any(|account| account.id == it.account_id));
    let merged = all.iter().find(|it| it.id == id && it.merged_into.is_some()).cloned();
    let found = fold(all).into_iter().find(|it| it.id == id).or(merged);
    let stream = found.ok_or(Error::NotFound("stream"))?;
    let account = accounts.into_iter().find(|it| it.id == stream.account_id);
    Ok((stream, account.ok_or(Error::NotFound("stream"))?.name))
}

/// A stream, the name of its account, and its payments, oldest first. A dismissed one too, so that it can be restored.
pub async fn get(
    app: &App,
    caller: &Caller,
    id: StreamId,
) -> Result<(Stream, String, Vec<Payment>)> {
    let (stream, account_name) = find_any(app, caller, id).await?;
    let members: HashSet<TransactionId> = stream.transactions.iter().copied().collect();
    let mut payments = Vec::with_capacity(members.len());
    for (account, merchant_key) in sources(&stream) {
        app.db
            .each_slow(PAYMENTS, params![caller.user, account, merchant_key], |row| {
                let id: TransactionId = row.get(0)?;
                if members.contains(&id) {
                    let amount: i64 = row.get(2)?;
                    let amount_minor = amount.saturating_abs();
                    payments.push(Payment { id, on: row.get(1)?, amount_minor });
                }
                Ok(())
            })
            .await?;
    }
    payments.sort_by_key(|it| (it.on, it.id));
    payments.dedup_by_key(|it| it.id);
    Ok((stream, account_name, payments))
}

// One index holds all these columns, so that a merchant with daily payments for years is read fast.
const PAYMENTS: &str = "select id, posted_on, amount_minor from transactions
    where user_id = $1 and account_id = $2 and merchant_key = $3 and state not in ('removed', 'hidden')
    order by posted_on, id";

pub(super) const STATEMENTS: &[&str] = &[PAYMENTS];
