//! The stored links of refunds to their purchases, as pairing transfers and the household ledger need them.

use std::collections::{BTreeSet, HashMap};

use base::category::Category;
use base::split::{self, SplitPart};
use base::{TransactionId, UserId};
use calc::ledger::LinkedPurchase;
use db::{Tx, params};

use crate::Result;
use crate::ledger::transactions::row::counted_parts;

/// The purchase of each linked refund of a person.
pub(crate) fn purchases(
    tx: &mut Tx<'_>,
    user: UserId,
) -> Result<HashMap<TransactionId, LinkedPurchase>> {
    let read = |row: &db::Row<'_>| {
        let (refunded_minor, amount_minor): (i64, i64) = (row.get(1)?, row.get(2)?);
        let whole = row.optional_word(3, "category", Category::parse)?;
        let category = match counted_parts(row, amount_minor, 4)? {
            Some(parts) => refunded_part(parts, refunded_minor).or(whole),
            None => whole,
        };
        Ok((row.get(0)?, LinkedPurchase { category }))
    };
    Ok(tx.all(PURCHASES, params![user], read)?.into_iter().collect())
}

/// The category of the part of a split purchase that a refund is about: the one of the same amount, or else the largest.
fn refunded_part(parts: &str, refunded_minor: i64) -> Option<Category> {
    let parts: Vec<SplitPart<'_>> = split::read(parts).flatten().collect();
    let same = parts.iter().find(|it| it.amount_minor == refunded_minor.saturating_neg());
    let largest = || parts.iter().max_by_key(|it| it.amount_minor.unsigned_abs());
    same.or_else(largest).map(|it| it.category)
}

/// The posting days of refunds whose purchase was posted on one of these days.
pub(crate) fn days_of_refunds(
    tx: &mut Tx<'_>,
    user: UserId,
    purchase_days: &BTreeSet<i64>,
) -> Result<BTreeSet<i64>> {
    let read = |row: &db::Row<'_>| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?));
    let days = tx.all(DAYS, params![user], read)?;
    let days = days.into_iter().filter(|(purchase, _)| purchase_days.contains(purchase));
    Ok(days.map(|(_, refund)| refund).collect())
}

/// All transactions that are part of a link: they are no transfers.
pub(super) fn ids(tx: &mut Tx<'_>, user: UserId) -> Result<BTreeSet<TransactionId>> {
    let read = |row: &db::Row<'_>| Ok([row.get(0)?, row.get(1)?]);
    Ok(tx.all(IDS, params![user], read)?.into_iter().flatten().collect())
}

const PURCHASES: &str =
    "select l.refund_id, r.amount_minor, p.amount_minor, p.category, p.split_minor, p.splits
    from refund_links l join transactions r on r.user_id = l.user_id and r.id = l.refund_id
    join transactions p on p.user_id = l.user_id and p.id = l.purchase_id
    where l.user_id = $1 and p.state <> 'removed'";
const IDS: &str = "select refund_id, purchase_id from refund_links where user_id = $1";
const DAYS: &str = "select p.posted_on, r.posted_on from refund_links l
    join transactions r on r.user_id = l.user_id and r.id = l.refund_id
    join transactions p on p.user_id = l.user_id and p.id = l.purchase_id where l.user_id = $1";

pub(super) const STATEMENTS: &[&str] = &[PURCHASES, IDS, DAYS];
