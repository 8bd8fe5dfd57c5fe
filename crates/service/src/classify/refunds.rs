//! Refunds that the person linked to a purchase. A linked refund is subtracted from spending in the category of its
//! purchase, in the month in which it arrived, like a refund that is recognized.

use base::{Currency, Date, Money, TransactionId, UserId, days_from_date};
use db::{Tx, params};

use super::reclassify::reclassify_transactions;
use crate::ledger::accounts;
use crate::ledger::stamps;
use crate::platform::audit::{self, Note};
use crate::platform::dirty_queue;
use crate::{App, Caller, Error, Result};

/// How many days before a refund its purchase is looked for.
const PURCHASE_DAYS: i64 = 365;
const SUGGESTIONS_MAX: i64 = 6;
/// How many links of one transaction are shown.
const LINKS_MAX: i64 = 20;

/// A transaction at the other end of a link, or one that may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedTransaction {
    pub id: TransactionId,
    pub amount: Money,
    pub posted_on: Date,
    /// The counterparty, or the bank's description.
    pub name: String,
    pub account_name: String,
}

/// The links of one transaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefundLinks {
    /// The purchase that it refunds.
    pub purchase: Option<LinkedTransaction>,
    /// The refunds of it.
    pub refunds: Vec<LinkedTransaction>,
}

/// Links a refund to its purchase, instead of another one.
pub async fn link(
    app: &App,
    caller: &Caller,
    refund: TransactionId,
    purchase: TransactionId,
) -> Result<()> {
    caller.require_owner("transaction")?;
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| link_in(&mine, tx, &caller, (refund, purchase))).await
}

fn link_in(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    (refund, purchase): (TransactionId, TransactionId),
) -> Result<()> {
    let (user, now) = (caller.user, app.clock.now());
    stamps::next(tx, user, now)?;
    let (from, to) = (find(tx, user, refund)?, find(tx, user, purchase)?);
    let wrong = |message: &str| Err(Error::invalid("purchase", message));
    if from.amount_minor <= 0 || to.amount_minor >= 0 {
        return wrong("a refund is money in, and its purchase is money out");
    }
    if from.is_transfer || to.is_transfer {
        return wrong(
            "a transfer between your accounts is no refund; mark it as not a transfer first",
        );
    }
    if from.is_split {
        return wrong(
            "this refund is split, so each part counts in its own category; remove the split first",
        );
    }
    tx.execute(LINK, params![user, refund, purchase, now])?;
    let note = Note::new(caller, "refund.link", "Linked a refund to its purchase");
    audit::note(tx, user, now, note.about(refund))?;
    reclassify_transactions(tx, app, user, &[refund, purchase])?;
    dirty_queue::mark_all_dirty(tx, user)
}

/// Removes the link of a refund.
pub async fn unlink(app: &App, caller: &Caller, refund: TransactionId) -> Result<()> {
    caller.require_owner("transaction")?;
    let (mine, caller) = (app.clone(), caller.clone());
    let unlink = move |tx: &mut Tx<'_>| {
        let (user, now) = (caller.user, mine.clock.now());
        stamps::next(tx, user, now)?;
        if tx.execute(UNLINK, params![user, refund])? == 0 {
            return Err(Error::NotFound("refund link"));
        }
        let note = Note::new(&caller, "refund.unlink", "Removed the link of a refund");
        audit::note(tx, user, now, note.about(refund))?;
        reclassify_transactions(tx, &mine, user, &[refund])?;
        dirty_queue::mark_all_dirty(tx, user)
    };
    app.db.write(unlink).await
}

/// What decides whether a transaction can be linked.
struct Linkable {
    amount_minor: i64,
    is_transfer: bool,
    is_split: bool,
}

fn find(tx: &mut Tx<'_>, user: UserId, id: TransactionId) -> Result<Linkable> {
    let found = tx.first(FIND, params![user, id], |row| {
        let amount_minor = row.get(0)?;
        Ok(Linkable {
            amount_minor,
            is_transfer: row.get::<Option<&str>>(1)?.is_some(),
            is_split: row.get::<Option<i64>>(2)? == Some(amount_minor),
        })
    })?;
    found.ok_or(Error::NotFound("transaction"))
}

/// The purchase and the refunds that a transaction is linked to.
pub async fn links_of(app: &App, caller: &Caller, id: TransactionId) -> Result<RefundLinks> {
    caller.require_owner("transaction")?;
    let params: &[db::Param<'_>] = params![caller.user, id, LINKS_MAX];
    Ok(RefundLinks {
        purchase: transactions_of(app, caller, (PURCHASE_OF, params)).await?.pop(),
        refunds: transactions_of(app, caller, (REFUNDS_OF, params)).await?,
    })
}

/// Purchases that a refund may be of: of the last year, those of the same merchant and of the same amount first.
pub async fn suggest_purchases(
    app: &App,
    caller: &Caller,
    refund: TransactionId,
) -> Result<Vec<LinkedTransaction>> {
    caller.require_owner("transaction")?;
    let read = |row: &db::Row<'_>| {
        let key: Option<String> = row.get(2)?;
        Ok((row.get::<Date>(0)?, row.get::<i64>(1)?, key, row.get::<Currency>(3)?))
    };
    let found = app.db.first(REFUND, params![caller.user, refund], read).await?;
    let (on, amount_minor, key, currency) = found.ok_or(Error::NotFound("transaction"))?;
    let day = days_from_date(on);
    let key = key.unwrap_or_default();
    let params = params![
        caller.user,
        day - PURCHASE_DAYS,
        day,
        currency.code(),
        key.as_str(),
        amount_minor.saturating_neg(),
        SUGGESTIONS_MAX
    ];
    transactions_of(app, caller, (SUGGESTED, params)).await
}

async fn transactions_of(
    app: &App,
    caller: &Caller,
    (sql, params): (&str, &[db::Param<'_>]),
) -> Result<Vec<LinkedTransaction>> {
    let accounts = accounts::list_all(app, caller).await?;
    let mut found = Vec::new();
    let add = |row: &db::Row<'_>| {
        let account = row.get(1)?;
        if let Some(account) = accounts.iter().find(|it| it.id == account) {
            let name: Option<String> = row.get(4)?;
            found.push(LinkedTransaction {
                id: row.get(0)?,
                amount: Money::new(row.get(2)?, account.currency),
                posted_on: row.get(3)?,
                name: name.map_or_else(|| row.get(5), Ok)?,
                account_name: account.name.clone(),
            });
        }
        Ok(())
    };
    app.db.each(sql, params, add).await?;
    Ok(found)
}

const FIND: &str = "select amount_minor, transfer_kind, split_minor from transactions
    where user_id = $1 and id = $2 and state <> 'removed'";
const LINK: &str = "insert into refund_links (user_id, refund_id, purchase_id, linked_at)
    values ($1, $2, $3, $4) on conflict (user_id, refund_id) do update set
    purchase_id = excluded.purchase_id, linked_at = excluded.linked_at";
const UNLINK: &str = "delete from refund_links where user_id = $1 and refund_id = $2";
const PURCHASE_OF: &str =
    "select t.id, t.account_id, t.amount_minor, t.posted_on, t.counterparty, t.description
    from refund_links l join transactions t on t.user_id = l.user_id and t.id = l.purchase_id
    where l.user_id = $1 and l.refund_id = $2 and t.state <> 'removed' limit $3";
// A cross join, which SQLite does in this order: it would otherwise walk all transactions in the order of their days, and
// look for a link of each.
const REFUNDS_OF: &str =
    "select t.id, t.account_id, t.amount_minor, t.posted_on, t.counterparty, t.description
    from refund_links l cross join transactions t
    where l.user_id = $1 and l.purchase_id = $2 and t.user_id = l.user_id and t.id = l.refund_id and t.state <> 'removed'
    order by t.posted_on, t.id limit $3";
const REFUND: &str = "select posted_on, amount_minor, merchant_key, currency from transactions
    where user_id = $1 and id = $2 and state <> 'removed'";
const SUGGESTED: &str =
    "select t.id, t.account_id, t.amount_minor, t.posted_on, t.counterparty, t.description
    from transactions t where t.user_id = $1 and t.posted_on between $2 and $3 and t.currency = $4
    and t.amount_minor < 0 and t.transfer_kind is null and t.state = 'posted'
    order by case when t.merchant_key = $5 then 0 else 1 end,
    case when t.amount_minor = $6 then 0 when t.amount_minor < $6 then 1 else 2 end,
    t.posted_on desc, t.id limit $7";
pub(super) const STATEMENTS: &[&str] =
    &[FIND, LINK, UNLINK, PURCHASE_OF, REFUNDS_OF, REFUND, SUGGESTED];
