//! The months of the ledger, packed: after an import a few of them are read again and the others are as they were, which
//! is cheaper than reading every transaction of a year and a half.

mod packing;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use base::{Date, UserId, date_from_days, days_from_date};
use db::{Tx, params};

use super::ledger::window_start;
use super::lines::{self, Line};
use crate::Result;
use crate::classify::recompute::{Recompute, RecomputeScope};
use packing::{Page, unpack};

/// Packs again the months in which something was touched, or all of them.
pub(super) fn renew(tx: &mut Tx<'_>, run: &Recompute) -> Result<()> {
    let first = first_of_month(window_start(run.today));
    match &run.scope {
        RecomputeScope::Everything => {
            tx.execute(FORGET, params![run.user, i64::MIN, i64::MAX])?;
            pack(tx, run.user, (first, i64::MAX))
        }
        RecomputeScope::Around(touched) => {
            let days = touched.iter().map(|it| date_from_days(it.posted_on_days));
            let months: BTreeSet<i64> =
                days.map(first_of_month).filter(|it| *it >= first).collect();
            for month in months {
                tx.execute(FORGET, params![run.user, month, month])?;
                let last = days_from_date(date_from_days(month).last_of_month());
                pack(tx, run.user, (month, last))?;
            }
            Ok(())
        }
    }
}

fn pack(tx: &mut Tx<'_>, user: UserId, days: (i64, i64)) -> Result<()> {
    let mut pages: BTreeMap<i64, Page> = BTreeMap::new();
    lines::between(tx, user, days, &mut |line| {
        let month = first_of_month(date_from_days(line.on_days));
        pages.entry(month).or_default().add(line);
    })?;
    for (month, page) in pages {
        tx.execute(SAVE, params![user, month, &page.packed()])?;
    }
    Ok(())
}

/// Visits what was posted on a day or later, as it was packed.
pub(super) fn each(
    tx: &mut Tx<'_>,
    user: UserId,
    from: Date,
    visit: &mut (dyn FnMut(&Line<'_>) + Send),
) -> Result<()> {
    let from_days = days_from_date(from);
    let read = |row: &db::Row<'_>| {
        let whole = unpack(row.get(0)?, |line| {
            if line.on_days >= from_days {
                visit(line);
            }
        });
        whole.ok_or_else(|| db::Error::Decode { column: 0, reason: "a page is cut off".to_owned() })
    };
    Ok(tx.each(PAGES, params![user, first_of_month(from)], read)?)
}

fn first_of_month(on: Date) -> i64 {
    days_from_date(on.first_of_month())
}

const FORGET: &str = "delete from ledger_months where user_id = $1 and month between $2 and $3";
const SAVE: &str = "insert into ledger_months (user_id, month, lines) values ($1, $2, $3)";
const PAGES: &str =
    "select lines from ledger_months where user_id = $1 and month >= $2 order by month";

pub(super) const STATEMENTS: &[&str] = &[FORGET, SAVE, PAGES];
