//! Transactions whose sign misleads about spending: refunds, which are money in and count as spending, money out that is no
//! spending, such as savings, and split transactions of which only some parts are. The list of spending filters by the sign
//! and by these exceptions (`ledger::transactions::Filter::spending`).

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use base::{TransactionId, days_from_date};
use calc::income::CashFlow;
use calc::ledger::{Entry, Ledger};
use db::{Param, Tx, params};

use super::household_ledger::HouseholdLedger;
use crate::Result;
use crate::classify::recompute::Recompute;

/// The day of a transaction, and its id.
type Key = (i64, TransactionId);

/// Stores the exceptions on some days, where they differ from the stored ones. A difference takes a new stamp, because
/// lists of spending are kept in memory until there is one.
pub(super) fn recompute(
    tx: &mut Tx<'_>,
    run: &mut Recompute,
    classified: (&HouseholdLedger, &[Option<CashFlow>]),
    days: RangeInclusive<i64>,
) -> Result<()> {
    let user = run.user;
    let found = find(classified, &days);
    let span = params![user, *days.start(), *days.end()];
    let stored = tx.all(STORED, span, |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    let stored: BTreeMap<Key, i64> = stored.into_iter().collect();
    let key = |(day, id): &Key| [user.into(), (*day).into(), (*id).into()];
    let outdated = stored.iter().filter(|(it, parts)| found.get(it) != Some(parts));
    let outdated: Vec<[Param<'_>; 3]> = outdated.map(|(it, _)| key(it)).collect();
    let new = found.iter().filter(|(it, parts)| stored.get(it) != Some(parts));
    let new =
        new.map(|((day, id), parts)| [user.into(), (*day).into(), (*id).into(), (*parts).into()]);
    let new: Vec<[Param<'_>; 4]> = new.collect();
    if outdated.is_empty() && new.is_empty() {
        return Ok(());
    }
    run.stamp(tx)?;
    tx.execute_each(DELETE, &outdated)?;
    tx.insert_many("spending_exceptions", COLUMNS, new)?;
    Ok(())
}

/// The exceptions with the parts that count, as a bit for each.
fn find(
    (household, flows): (&HouseholdLedger, &[Option<CashFlow>]),
    days: &RangeInclusive<i64>,
) -> BTreeMap<Key, i64> {
    let ledger = &household.ledger;
    let known = ledger.entries.iter().zip(flows.iter().copied());
    let unconverted = household.unconverted.iter().map(|(it, _)| it);
    let unconverted = unconverted.map(|it| (it, CashFlow::of_unconverted(ledger, it)));
    let mut entries = known.chain(unconverted).peekable();
    let mut exceptions = BTreeMap::new();
    while let Some((first, flow)) = entries.next() {
        let (mut counted, mut parts) = (bit(0, flow), 1);
        // The parts of a split transaction follow one another and have its id.
        while let Some((_, flow)) = entries.next_if(|(it, _)| it.id == first.id) {
            counted |= bit(parts, flow);
            parts += 1;
        }
        let expected = if seems_spending(ledger, first) { (1 << parts) - 1 } else { 0 };
        let day = days_from_date(first.on);
        if days.contains(&day) && counted != expected {
            exceptions.insert((day, first.id), counted);
        }
    }
    exceptions
}

/// The bit of a part that counts as spending. A transaction has at most `base::split::PARTS_MAX` parts.
fn bit(part: usize, flow: Option<CashFlow>) -> i64 {
    i64::from(matches!(flow, Some(CashFlow::Spending(_)))) << part
}

/// Whether a transaction seems to be spending by its sign, transfer and account, as in the filter of the list (`SPENDING` in
/// `ledger::transactions::query`). Each part of a split has the sign of the whole.
fn seems_spending(ledger: &Ledger, entry: &Entry) -> bool {
    entry.amount_minor < 0 && entry.transfer.is_none() && ledger.account(entry).is_spent_from()
}

const COLUMNS: [&str; 4] = ["user_id", "posted_on", "id", "counted_parts"];
const STORED: &str = "select posted_on, id, counted_parts from spending_exceptions
    where user_id = $1 and posted_on between $2 and $3";
const DELETE: &str =
    "delete from spending_exceptions where user_id = $1 and posted_on = $2 and id = $3";

pub(super) const STATEMENTS: &[&str] = &[STORED, DELETE];
