//! One stream with its payments.

use std::collections::HashSet;

use base::{Date, StreamId, TransactionId};
use db::params;
use wire::v1::Scope;

use super::{Stream, read};
use crate::ledger::accounts;
use crate::{App, Caller, Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payment {
    pub id: TransactionId,
    pub on: Date,
    /// Without a sign; the stream's direction tells.
    pub amount_minor: i64,
}

/// A stream, the name of its account, and its payments, the oldest first.
pub async fn get(
    app: &App,
    caller: &Caller,
    id: StreamId,
) -> Result<(Stream, String, Vec<Payment>)> {
    caller.require(Scope::RecurringRead)?;
    let found = app.db.first(GET, params![caller.user, id], read).await?;
    let stream = found.ok_or(Error::NotFound("stream"))?;
    let account = accounts::get(app, caller, stream.account_id).await;
    let account = account.map_err(|error| match error {
        Error::NotFound(_) => Error::NotFound("stream"),
        other => other,
    })?;
    let members: HashSet<TransactionId> = stream.transactions.iter().copied().collect();
    let mut payments = Vec::with_capacity(members.len());
    app.db
        .each_slow(PAYMENTS, params![caller.user, account.id, &stream.merchant_key], |row| {
            let id: TransactionId = row.get(0)?;
            if members.contains(&id) {
                let amount: i64 = row.get(2)?;
                let amount_minor = amount.saturating_abs();
                payments.push(Payment { id, on: row.get(1)?, amount_minor });
            }
            Ok(())
        })
        .await?;
    Ok((stream, account.name, payments))
}

const GET: &str = "select id, account_id, direction, merchant_key, currency, name, counterparty,
    counterparty_logo_url, category, stream_type, frequency, status, confidence, amount_class, average_minor,
    last_minor, min_minor, max_minor, monthly_minor, first_on, last_on, next_expected_on, transaction_ids,
    price_changes, missed_on, updated_at from streams where user_id = $1 and id = $2";
// One index holds all of this, so that a merchant met daily for years costs one walk over it.
const PAYMENTS: &str = "select id, posted_on, amount_minor from transactions
    where user_id = $1 and account_id = $2 and merchant_key = $3 and state not in ('removed', 'hidden')
    order by posted_on, id";

pub(super) const STATEMENTS: &[&str] = &[GET, PAYMENTS];
