//! The ids of the refunds and the purchase that a transaction is linked to, for everyone who may read it.

use base::{AccountId, TransactionId};
use db::params;
use wire::v1::Scope;

use crate::{App, Caller, Result};

/// How many links of one transaction are read.
const LINKS_MAX: i64 = 20;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefundIds {
    /// The purchase that it refunds.
    pub refund_of: Option<TransactionId>,
    /// The refunds of it, oldest first.
    pub refunds: Vec<TransactionId>,
}

/// The links of a transaction, without those to accounts that the caller may not see.
pub async fn refund_links(app: &App, caller: &Caller, id: TransactionId) -> Result<RefundIds> {
    caller.require(Scope::TransactionsRead)?;
    let mut links = RefundIds::default();
    let read = |row: &db::Row<'_>| {
        let (refund, other): (TransactionId, TransactionId) = (row.get(0)?, row.get(1)?);
        let account: AccountId = row.get(2)?;
        match refund == id {
            _ if !caller.may_see(account) => {}
            true => links.refund_of = Some(other),
            false => links.refunds.push(other),
        }
        Ok(())
    };
    app.db.each(LINKS, params![caller.user, id, LINKS_MAX], read).await?;
    Ok(links)
}

const LINKS: &str = "select l.refund_id, t.id, t.account_id from refund_links l
    join transactions t on t.user_id = l.user_id
    and t.id = case when l.refund_id = $2 then l.purchase_id else l.refund_id end
    where l.user_id = $1 and (l.refund_id = $2 or l.purchase_id = $2)
    and t.state not in ('removed', 'hidden') order by t.posted_on, t.id limit $3";

pub(super) const STATEMENTS: &[&str] = &[LINKS];
