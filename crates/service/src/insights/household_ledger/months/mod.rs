//! The entries of the ledger, packed by month. A recompute packs only the months with dirty transactions again.

mod packing;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use base::{Date, UserId, date_from_days, days_from_date};
use db::{Tx, params};

use super::entries::{self, LedgerEntry, window_start};
use crate::Result;
use crate::classify::recompute::Recompute;
use packing::{PackedMonth, unpack};

/// Packs the months with changed rows again.
pub(super) fn repack(tx: &mut Tx<'_>, run: &Recompute) -> Result<()> {
    let first = first_of_month(window_start(run.today));
    if run.all_months {
        tx.execute(DELETE, params![run.user, i64::MIN, i64::MAX])?;
        return pack(tx, run.user, (first, i64::MAX));
    }
    let days = run.changed_days.iter().map(|it| date_from_days(*it));
    let months: BTreeSet<i64> = days.map(first_of_month).filter(|it| *it >= first).collect();
    for month in months {
        tx.execute(DELETE, params![run.user, month, month])?;
        let last = days_from_date(date_from_days(month).last_of_month());
        pack(tx, run.user, (month, last))?;
    }
    Ok(())
}

fn pack(tx: &mut Tx<'_>, user: UserId, days: (i64, i64)) -> Result<()> {
    let mut months: BTreeMap<i64, PackedMonth> = BTreeMap::new();
    entries::each_between(tx, user, days, &mut |entry| {
        let month = first_of_month(date_from_days(entry.on_days));
        months.entry(month).or_default().add(entry);
    })?;
    for (month, packed) in months {
        tx.execute(SAVE, params![user, month, &packed.to_bytes()])?;
    }
    Ok(())
}

/// Visits the packed entries of a day or later, oldest first.
pub(super) fn each_since(
    tx: &mut Tx<'_>,
    user: UserId,
    from: Date,
    visit: &mut (dyn FnMut(&LedgerEntry<'_>) + Send),
) -> Result<()> {
    let from_days = days_from_date(from);
    let read = |row: &db::Row<'_>| {
        let unpacked = unpack(row.get(0)?, |entry| {
            if entry.on_days >= from_days {
                visit(entry);
            }
        });
        let reason = "a packed month of the ledger is damaged, or holds an unknown word";
        unpacked.ok_or_else(|| db::Error::Decode { column: 0, reason: reason.to_owned() })
    };
    Ok(tx.each(MONTHS, params![user, first_of_month(from)], read)?)
}

fn first_of_month(on: Date) -> i64 {
    days_from_date(on.first_of_month())
}

const DELETE: &str = "delete from ledger_months where user_id = $1 and month between $2 and $3";
const SAVE: &str = "insert into ledger_months (user_id, month, lines) values ($1, $2, $3)";
const MONTHS: &str =
    "select lines from ledger_months where user_id = $1 and month >= $2 order by month";

pub(super) const STATEMENTS: &[&str] = &[DELETE, SAVE, MONTHS];
