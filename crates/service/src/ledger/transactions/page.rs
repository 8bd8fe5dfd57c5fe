//! Reads one page of the list, with or without a search text.

use base::{AccountId, TransactionId};
use db::Progress;
use wire::v1::TransactionRow;

use super::query::{ListRange, PreparedFilter, Query};
use super::search::{self, CandidateDays, Needle};
use super::{VisibleAccounts, read};
use crate::{App, Caller, Result};

/// The position of a row in the list: its posting day and its id.
type Position = (i64, TransactionId);

pub(super) struct PageReader<'a, V> {
    accounts: &'a VisibleAccounts,
    limit: usize,
    visit: V,
    read_count: usize,
    pub(super) count: usize,
    pub(super) last: Option<Position>,
    /// Whether there is a row after the page.
    pub(super) more: bool,
}

impl<'a, V: FnMut(&TransactionRow<'_>) + Send> PageReader<'a, V> {
    pub(super) fn new(accounts: &'a VisibleAccounts, limit: usize, visit: V) -> PageReader<'a, V> {
        PageReader { accounts, limit, visit, read_count: 0, count: 0, last: None, more: false }
    }

    fn add(&mut self, row: &db::Row<'_>) -> db::Result<()> {
        // One row more than asked for tells whether there is another page.
        if self.read_count == self.limit {
            self.more = true;
            return Ok(());
        }
        self.read_count += 1;
        self.last = Some((row.get(3)?, row.get(0)?));
        // Rows of an account that was added after the accounts were read are skipped; the page still ends at its limit.
        let account: AccountId = row.get(1)?;
        if let Some(account) = self.accounts.find(account) {
            (self.visit)(&read(row, account)?);
            self.count += 1;
        }
        Ok(())
    }

    /// Reads the list in its order. If few rows match the filter, this takes long, and goes on in the pool of slow reads.
    pub(super) async fn read(
        &mut self,
        app: &App,
        caller: &Caller,
        filter: &PreparedFilter<'_>,
        after: Option<Position>,
    ) -> Result<()> {
        let range = ListRange { after, days: None, limit: self.limit + 1 };
        let query = Query::rows(caller, filter, range);
        let progress = app.db.each_resumable(&query.sql, &query.params, |row| self.add(row));
        if progress.await? == Progress::Stopped && !self.more {
            let after = self.last.or(after);
            let rest = ListRange { after, days: None, limit: self.limit - self.read_count + 1 };
            let query = Query::rows(caller, filter, rest);
            app.db.each_slow(&query.sql, &query.params, |row| self.add(row)).await?;
        }
        Ok(())
    }

    /// Reads the rows that contain a text, on the days that may have one.
    pub(super) async fn search(
        &mut self,
        app: &App,
        caller: &Caller,
        filter: &PreparedFilter<'_>,
        after: Option<Position>,
        q: &str,
    ) -> Result<()> {
        let mut needle = Needle::new(q);
        let mut candidates =
            CandidateDays::new(app, caller.user, &needle, filter.filter, after).await?;
        let searching = async {
            while !self.more
                && let Some(days) = candidates.next(app).await?
            {
                self.search_days(app, caller, filter, after, (&mut needle, days)).await?;
            }
            Ok(())
        };
        search::with_time_limit(app, searching).await
    }

    async fn search_days(
        &mut self,
        app: &App,
        caller: &Caller,
        filter: &PreparedFilter<'_>,
        mut after: Option<Position>,
        (needle, days): (&mut Needle, search::Days),
    ) -> Result<()> {
        for limit in search::chunks(self.limit) {
            let range = ListRange { after, days: Some(days), limit };
            let query = Query::rows(caller, filter, range);
            let mut count = 0;
            let reading = app.db.each_slow(&query.sql, &query.params, |row| {
                count += 1;
                after = Some((row.get(3)?, row.get(0)?));
                let texts: [Option<&str>; 3] = [row.get(9)?, row.get(7)?, row.get(12)?];
                let is_found = texts.into_iter().flatten().any(|it| needle.is_in(it));
                if is_found && !self.more { self.add(row) } else { Ok(()) }
            });
            reading.await?;
            if count < limit || self.more {
                break;
            }
        }
        Ok(())
    }
}
