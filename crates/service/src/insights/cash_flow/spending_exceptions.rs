//! Transactions whose sign misleads about spending: refunds, which are money in and count as spending, and money out that
//! is no spending, such as savings. The list of spending filters by the sign and by these exceptions
//! (`ledger::transactions::Filter::spending`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use base::{TransactionId, UserId, days_from_date};
use calc::income::CashFlow;
use calc::ledger::{Entry, Ledger};
use db::{Param, Tx, params};

use super::household_ledger::HouseholdLedger;
use crate::Result;

/// The day of a transaction, and its id.
type Key = (i64, TransactionId);

/// Stores the exceptions on some days, where they differ from the stored ones.
pub(super) fn recompute(
    tx: &mut Tx<'_>,
    user: UserId,
    classified: (&HouseholdLedger, &[Option<CashFlow>]),
    days: RangeInclusive<i64>,
) -> Result<()> {
    let found = find(classified, &days);
    let span = params![user, *days.start(), *days.end()];
    let stored = tx.all(STORED, span, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let stored: BTreeSet<Key> = stored.into_iter().collect();
    let row = |(day, id): &Key| [user.into(), (*day).into(), (*id).into()];
    let outdated: Vec<[Param<'_>; 3]> = stored.difference(&found).map(row).collect();
    tx.execute_each(DELETE, &outdated)?;
    let new = found.difference(&stored).map(row);
    tx.insert_many("spending_exceptions", ["user_id", "posted_on", "id"], new)?;
    Ok(())
}

fn find(
    (household, flows): (&HouseholdLedger, &[Option<CashFlow>]),
    days: &RangeInclusive<i64>,
) -> BTreeSet<Key> {
    let ledger = &household.ledger;
    let unconverted = household.unconverted.iter().map(|(it, _)| it);
    let unconverted = unconverted.map(|it| (it, CashFlow::of_unconverted(ledger, it)));
    let entries = ledger.entries.iter().zip(flows.iter().copied()).chain(unconverted);
    // By key: whether the transaction is spending, and whether it seems so. A split one is, if one of its parts is.
    let mut unsure: BTreeMap<Key, (bool, bool)> = BTreeMap::new();
    for (entry, flow) in entries {
        let key = (days_from_date(entry.on), entry.id);
        let is_spending = matches!(flow, Some(CashFlow::Spending(_)));
        let seems_spending = seems_spending(ledger, entry);
        // Most transactions are what they seem, and need no place in the map unless other parts follow.
        if !days.contains(&key.0) || !entry.is_part() && is_spending == seems_spending {
            continue;
        }
        let (any, _) = unsure.entry(key).or_insert((false, seems_spending));
        *any |= is_spending;
    }
    let exceptions = unsure.into_iter().filter(|(_, (is_spending, seems))| is_spending != seems);
    exceptions.map(|(key, _)| key).collect()
}

/// Whether a transaction seems to be spending by its sign, transfer and account, as in the filter of the list (`SPENDING` in
/// `ledger::transactions::query`).
fn seems_spending(ledger: &Ledger, entry: &Entry) -> bool {
    let whole_minor = entry.whole_minor.unwrap_or(entry.amount_minor);
    whole_minor < 0 && entry.transfer.is_none() && ledger.account(entry).is_spent_from()
}

const STORED: &str = "select posted_on, id from spending_exceptions
    where user_id = $1 and posted_on between $2 and $3";
const DELETE: &str =
    "delete from spending_exceptions where user_id = $1 and posted_on = $2 and id = $3";

pub(super) const STATEMENTS: &[&str] = &[STORED, DELETE];
