//! The sums of an account's posted transactions by day, from which balances are inferred, and those of the parts that the
//! return of investments needs. They are kept in memory while no transaction of the person changes, because a chart of all
//! time sums every one of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::{AccountId, Date, UserId, date_from_days, days_from_date};
use db::{Tx, params};

use crate::{App, Result};

/// The most days that are kept over all accounts, some 8 MB. With more, all are read anew.
const KEPT_DAYS_MAX: usize = 500_000;

/// The sums of an account, oldest first.
type Nets = Arc<[(Date, i64)]>;

/// Which transactions of an account are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// All, including hidden ones.
    Posted,
    /// Deposits into an investment account minus withdrawals. Contributions to a retirement plan have the category of
    /// purchases and sales, so they are recognized by their text.
    Deposits,
    /// Dividends and interest.
    Dividends,
}

impl Part {
    fn statement(self) -> &'static str {
        match self {
            Part::Posted => POSTED,
            Part::Deposits => DEPOSITS,
            Part::Dividends => DIVIDENDS,
        }
    }
}

/// The person, the account and the part of its transactions that are summed.
pub(crate) type Key = (UserId, AccountId, Part);

/// The sums that this process keeps.
#[derive(Default)]
pub(crate) struct DailyNets(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    accounts: HashMap<Key, AccountNets>,
    days: usize,
}

#[derive(Clone)]
struct AccountNets {
    /// The stamp of the person's last change of a transaction before the sums were read.
    stamp: i64,
    /// The day number since which the sums are complete.
    from: i64,
    nets: Nets,
}

impl DailyNets {
    fn find(&self, key: Key, stamp: i64, from: i64) -> Option<Nets> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.accounts.get(&key)?;
        (found.stamp == stamp && found.from <= from).then(|| Arc::clone(&found.nets))
    }

    fn insert(&self, key: Key, new: AccountNets) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.days + new.nets.len() > KEPT_DAYS_MAX {
            *kept = Kept::default();
        }
        kept.days += new.nets.len();
        if let Some(old) = kept.accounts.insert(key, new) {
            kept.days -= old.nets.len();
        }
    }
}

/// The stamp of the person's last change of a transaction.
pub(crate) async fn stamp(app: &App, user: UserId) -> Result<i64> {
    Ok(app.db.first(STAMP, params![user], |row| row.get(0)).await?.unwrap_or_default())
}

/// The sums from a day on. The stamp must have been read before, so that a change meanwhile makes the kept sums outdated.
pub(crate) async fn since(app: &App, key: Key, from: i64, stamp: i64) -> Result<Vec<(Date, i64)>> {
    let nets = match app.daily_nets.find(key, stamp, from) {
        Some(nets) => nets,
        None => {
            let (user, account, part) = key;
            let values = params![user, account, from];
            let nets: Nets = app.db.all(part.statement(), values, read).await?.into();
            app.daily_nets.insert(key, AccountNets { stamp, from, nets: Arc::clone(&nets) });
            nets
        }
    };
    let first = nets.partition_point(|(on, _)| days_from_date(*on) < from);
    Ok(nets[first..].to_vec())
}

/// The sums from a day on, inside a transaction.
pub(crate) fn since_in(
    tx: &mut Tx<'_>,
    user: UserId,
    account: AccountId,
    from: Date,
) -> Result<Vec<(Date, i64)>> {
    Ok(tx.all(POSTED, params![user, account, from], read)?)
}

fn read(row: &db::Row<'_>) -> db::Result<(Date, i64)> {
    Ok((date_from_days(row.get(0)?), row.get(1)?))
}

const STAMP: &str = "select transactions_stamp from person_states where user_id = $1";
const POSTED: &str = "select posted_on, cast(sum(amount_minor) as bigint) from transactions
    where user_id = $1 and account_id = $2 and posted_on >= $3 and state in ('posted', 'hidden')
    group by posted_on order by posted_on";
const DEPOSITS: &str = "select posted_on, cast(sum(amount_minor) as bigint) from transactions
    where user_id = $1 and account_id = $2 and posted_on >= $3 and state = 'posted'
    and (transfer_id is not null or category = 'INCOME_WAGES'
        or (category like 'TRANSFER%' and category not like '%INVESTMENT_AND_RETIREMENT_FUNDS')
        or (category = 'TRANSFER_IN_INVESTMENT_AND_RETIREMENT_FUNDS'
            and (lower(description) like '%contribution%' or lower(description) like '%rollover%'))
        or (category = 'TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS'
            and (lower(description) like '%withdrawal%' or lower(description) like '%rollover%')))
    group by posted_on order by posted_on";
const DIVIDENDS: &str = "select posted_on, cast(sum(amount_minor) as bigint) from transactions
    where user_id = $1 and account_id = $2 and posted_on >= $3 and state = 'posted'
    and category in ('INCOME_DIVIDENDS', 'INCOME_INTEREST_EARNED') and amount_minor > 0
    group by posted_on order by posted_on";

pub(crate) const STATEMENTS: &[&str] = &[STAMP, POSTED, DEPOSITS, DIVIDENDS];
