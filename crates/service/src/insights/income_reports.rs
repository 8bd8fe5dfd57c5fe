//! The analyses of income that pages show. They are kept in memory while nothing changes, because building one reads every
//! transaction of the person.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::{Currency, Timestamp, UserId};
use calc::income::Income;
use db::{Tx, params};
use wire::v1::Excluded;

use crate::classify::merchants::merchant_name;
use crate::{App, Result};

/// The most people whose report is kept. With more, all are built anew.
const KEPT_MAX: usize = 200;

#[derive(Debug)]
pub struct IncomeReport {
    /// Without the label of each inflow.
    pub income: Income,
    pub currency: Currency,
    /// Money in that the income leaves out for want of an exchange rate.
    pub excluded: Vec<Excluded>,
}

impl IncomeReport {
    pub(super) fn new(
        mut income: Income,
        currency: Currency,
        excluded: Vec<Excluded>,
    ) -> IncomeReport {
        // One for each inflow of the whole history, which no page shows.
        income.labels.clear();
        // Payers with a schedule already have their name; the others have the key of their merchant.
        for source in income.sources.iter_mut().filter(|it| it.frequency.is_none()) {
            source.payer = merchant_name(&source.payer);
        }
        for inflow in &mut income.uncounted {
            inflow.payer = merchant_name(&inflow.payer);
        }
        IncomeReport { income, currency, excluded }
    }
}

/// The version of a person's data: when it was recomputed last, which rises with every recompute, and the stamp of the last change of a transaction. All
/// that income and spending depend on queues a recompute or takes a new stamp when it changes, so equal versions have equal
/// figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    computed_at: i64,
    stamp: i64,
}

impl Version {
    /// None while a change waits to be recomputed, or if a new day has begun since.
    pub(super) async fn get(app: &App, user: UserId) -> Result<Option<Version>> {
        let key = params![user, app.clock.now()];
        Ok(app.db.first(VERSION, key, Version::read).await?)
    }

    pub(super) fn get_in(tx: &mut Tx<'_>, user: UserId, now: Timestamp) -> Result<Option<Version>> {
        Ok(tx.first(VERSION, params![user, now], Version::read)?)
    }

    fn read(row: &db::Row<'_>) -> db::Result<Version> {
        Ok(Version { computed_at: row.get(0)?, stamp: row.get(1)? })
    }
}

/// The reports that this process keeps.
#[derive(Default)]
pub(crate) struct IncomeReports(Mutex<HashMap<UserId, (Version, Arc<IncomeReport>)>>);

impl IncomeReports {
    pub(super) fn insert(&self, user: UserId, version: Version, report: &Arc<IncomeReport>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX && !kept.contains_key(&user) {
            kept.clear();
        }
        kept.insert(user, (version, Arc::clone(report)));
    }

    fn find(&self, user: UserId, version: Version) -> Option<Arc<IncomeReport>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (of, report) = kept.get(&user)?;
        (*of == version).then(|| Arc::clone(report))
    }
}

/// The kept report of all accounts of a person, if nothing has changed since.
pub(super) async fn find(app: &App, user: UserId) -> Result<Option<Arc<IncomeReport>>> {
    let version = Version::get(app, user).await?;
    Ok(version.and_then(|it| app.income_reports.find(user, it)))
}

const VERSION: &str = "select i.computed_at, p.transactions_stamp
    from insights i join person_states p on p.user_id = i.user_id
    where i.user_id = $1 and i.day_ends_at > $2
    and not exists (select 1 from insight_work w where w.user_id = i.user_id)";

pub(super) const STATEMENTS: &[&str] = &[VERSION];
