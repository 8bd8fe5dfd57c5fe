//! One page of the list, read row by row, whatever it takes to find its rows.

use base::{AccountId, TransactionId};
use db::Progress;
use wire::v1::TransactionRow;

use super::query::{Query, Stretch, Wanted};
use super::search::{self, Needle, Spans};
use super::{Accounts, read};
use crate::{App, Caller, Result};

/// Where a row stands in the list.
type Place = (i64, TransactionId);

pub(super) struct PageReader<'a, V> {
    accounts: &'a Accounts,
    limit: usize,
    visit: V,
    read_count: usize,
    pub(super) count: usize,
    pub(super) last: Option<Place>,
    /// Whether there is a row behind the page.
    pub(super) more: bool,
}

impl<'a, V: FnMut(&TransactionRow<'_>) + Send> PageReader<'a, V> {
    pub(super) fn new(accounts: &'a Accounts, limit: usize, visit: V) -> PageReader<'a, V> {
        PageReader { accounts, limit, visit, read_count: 0, count: 0, last: None, more: false }
    }

    fn take(&mut self, row: &db::Row<'_>) -> db::Result<()> {
        // One row more than asked for tells whether there is another page.
        if self.read_count == self.limit {
            self.more = true;
            return Ok(());
        }
        self.read_count += 1;
        self.last = Some((row.get(3)?, row.get(0)?));
        // An account that came between the two reads is left out here, but the page still ends where it ends.
        let account: AccountId = row.get(1)?;
        if let Some(account) = self.accounts.find(account) {
            (self.visit)(&read(row, account)?);
            self.count += 1;
        }
        Ok(())
    }

    /// Reads the list in its order. Filters that few rows fit make this a long walk, which is then continued where it
    /// holds up nobody.
    pub(super) async fn walk(
        &mut self,
        app: &App,
        caller: &Caller,
        wanted: &Wanted<'_>,
        behind: Option<Place>,
    ) -> Result<()> {
        let stretch = Stretch { behind, days: None, limit: self.limit + 1 };
        let query = Query::rows(caller, wanted, stretch);
        let progress = app.db.each_resumable(&query.sql, &query.params, |row| self.take(row));
        if progress.await? == Progress::Stopped && !self.more {
            let behind = self.last.or(behind);
            let rest = Stretch { behind, days: None, limit: self.limit - self.read_count + 1 };
            let query = Query::rows(caller, wanted, rest);
            app.db.each_slow(&query.sql, &query.params, |row| self.take(row)).await?;
        }
        Ok(())
    }

    /// Reads those rows that hold a text, on the days on which there may be one.
    pub(super) async fn search(
        &mut self,
        app: &App,
        caller: &Caller,
        wanted: &Wanted<'_>,
        behind: Option<Place>,
        q: &str,
    ) -> Result<()> {
        let mut needle = Needle::new(q);
        let mut spans = Spans::new(app, caller.user, &needle, wanted.filter, behind).await?;
        let searching = async {
            while !self.more
                && let Some(days) = spans.next(app).await?
            {
                self.search_days(app, caller, wanted, behind, (&mut needle, days)).await?;
            }
            Ok(())
        };
        search::bounded(app, searching).await
    }

    async fn search_days(
        &mut self,
        app: &App,
        caller: &Caller,
        wanted: &Wanted<'_>,
        mut behind: Option<Place>,
        (needle, days): (&mut Needle, search::Days),
    ) -> Result<()> {
        for limit in search::chunks(self.limit) {
            let stretch = Stretch { behind, days: Some(days), limit };
            let query = Query::rows(caller, wanted, stretch);
            let mut count = 0;
            let reading = app.db.each_slow(&query.sql, &query.params, |row| {
                count += 1;
                behind = Some((row.get(3)?, row.get(0)?));
                let name: Option<&str> = row.get(7)?;
                let is_found = needle.is_in(row.get(9)?) || name.is_some_and(|it| needle.is_in(it));
                if is_found && !self.more { self.take(row) } else { Ok(()) }
            });
            reading.await?;
            if count < limit || self.more {
                break;
            }
        }
        Ok(())
    }
}
