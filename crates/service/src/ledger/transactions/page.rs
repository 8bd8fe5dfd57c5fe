//! Reads one page of the list, with or without a search text.

use std::sync::Arc;

use base::{AccountId, TransactionId};
use db::Progress;
use wire::v1::TransactionRow;

use super::query::{ListRange, PreparedFilter, Query, STAMP_COLUMN};
use super::search::{self, CandidateDays, Needle};
use super::sort::SortedPosition;
use super::visible_accounts::{PersonAccounts, VisibleAccounts};
use super::{Filter, ListCursor, Sort, count, kept_by_filter, read};
use crate::platform::kept::Key;
use crate::{App, Caller, Error, Result};

/// A page is kept if fewer than one in so many transactions match its filter.
const SPARSE: i64 = 10;

/// The position of a row in the list: its posting day and its id.
type Position = (i64, TransactionId);

/// A part of the list: the rows with a filter, after a position.
pub(super) struct ListPart<'a> {
    pub(super) filter: &'a Filter,
    pub(super) cursor: Option<ListCursor>,
    pub(super) limit: usize,
}

/// How reading a `ListPart` ended: its rows went to the visitor.
pub(super) struct ReadPart {
    pub(super) count: usize,
    /// The last row, if there are more after it.
    pub(super) last: Option<Position>,
    pub(super) total_count: Option<i64>,
}

impl ListPart<'_> {
    pub(super) async fn read(
        &self,
        app: &App,
        caller: &Caller,
        of_person: &Arc<PersonAccounts>,
        visit: impl FnMut(&TransactionRow<'_>) + Send,
    ) -> Result<ReadPart> {
        let accounts = VisibleAccounts::in_list(Arc::clone(of_person), caller, self.filter)?;
        let (reader, total_count) = self.read_rows(app, caller, &accounts, None, visit).await?;
        Ok(reader.end(total_count))
    }

    /// As `read`, with accounts that were kept in memory. If they are outdated, no row is visited and the result is None.
    pub(super) async fn read_if_current(
        &self,
        app: &App,
        caller: &Caller,
        kept: Arc<PersonAccounts>,
        visit: impl FnMut(&TransactionRow<'_>) + Send,
    ) -> Result<Option<ReadPart>> {
        let stamp = kept.stamp;
        let accounts = match VisibleAccounts::in_list(kept, caller, self.filter) {
            // The account that the filter names may be new.
            Err(Error::NotFound(_)) => return Ok(None),
            accounts => accounts?,
        };
        let (reader, total_count) =
            self.read_rows(app, caller, &accounts, Some(stamp), visit).await?;
        let is_current = match reader.found_stamp {
            Some(found) => found == stamp,
            // No row told the stamp.
            None => PersonAccounts::load(app, caller.user).await?.stamp == stamp,
        };
        Ok(is_current.then(|| reader.end(total_count)))
    }

    async fn read_rows<'v, V: FnMut(&TransactionRow<'_>) + Send>(
        &self,
        app: &App,
        caller: &Caller,
        accounts: &'v VisibleAccounts,
        expected_stamp: Option<i64>,
        visit: V,
    ) -> Result<(PageReader<'v, V>, Option<i64>)> {
        let filter = PreparedFilter::new(self.filter, accounts.narrowed);
        let total_count = match &self.cursor {
            Some(cursor) => cursor.total_count,
            None => count(app, caller, &filter, accounts).await?,
        };
        let after = self.cursor.as_ref().map(|it| (it.posted_on_days, it.id));
        let mut reader = PageReader::new(accounts, self.limit, visit);
        reader.expected_stamp = expected_stamp;
        let q = self.filter.q.as_deref().filter(|it| !it.is_empty());
        let key = if q.is_some() || is_sparse(&filter, accounts, total_count) {
            let start = after.map(|(day, id)| SortedPosition { size: 0, day, id });
            kept_by_filter::key_of_page(caller, (self.filter, Sort::Newest), start, self.limit)
        } else {
            None
        };
        if reader.read_kept(app, caller, key.as_ref()).await? {
            return Ok((reader, total_count));
        }
        match q {
            Some(q) => reader.search(app, caller, &filter, after, q).await?,
            None => reader.read(app, caller, &filter, after).await?,
        }
        // A full page of a search is found sooner than read by its positions.
        if q.is_none() || !reader.more {
            reader.keep(app, key);
        }
        Ok((reader, total_count))
    }
}

/// Whether a page of the list takes long to find: no index helps with its filter, and few transactions match.
fn is_sparse(
    filter: &PreparedFilter<'_>,
    accounts: &VisibleAccounts,
    total_count: Option<i64>,
) -> bool {
    let all: i64 = accounts.iter().map(|it| it.transaction_count).sum();
    !filter.is_indexed() && total_count.is_some_and(|it| it.saturating_mul(SPARSE) < all)
}

pub(super) struct PageReader<'a, V> {
    accounts: &'a VisibleAccounts,
    limit: usize,
    visit: V,
    read_count: usize,
    pub(super) count: usize,
    pub(super) last: Option<Position>,
    /// Whether there is a row after the page.
    pub(super) more: bool,
    /// The positions of the rows and of the one after the page, if they will be kept.
    positions: Option<Vec<SortedPosition>>,
    /// The stamp of the kept accounts: rows that come with another stamp are not visited. None for accounts read anew.
    expected_stamp: Option<i64>,
    /// The stamp that came with the first row.
    found_stamp: Option<i64>,
}

impl<'a, V: FnMut(&TransactionRow<'_>) + Send> PageReader<'a, V> {
    pub(super) fn new(accounts: &'a VisibleAccounts, limit: usize, visit: V) -> PageReader<'a, V> {
        PageReader {
            accounts,
            limit,
            visit,
            read_count: 0,
            count: 0,
            last: None,
            more: false,
            positions: None,
            expected_stamp: None,
            found_stamp: None,
        }
    }

    fn end(self, total_count: Option<i64>) -> ReadPart {
        ReadPart { count: self.count, last: self.last.filter(|_| self.more), total_count }
    }

    fn add(&mut self, row: &db::Row<'_>) -> db::Result<()> {
        if let Some(expected) = self.expected_stamp {
            let found = match self.found_stamp {
                Some(found) => found,
                None => *self.found_stamp.insert(row.get(STAMP_COLUMN)?),
            };
            if found != expected {
                self.more = true;
                return Ok(());
            }
        }
        let (day, id) = (row.get(3)?, row.get(0)?);
        if let Some(positions) = &mut self.positions {
            positions.push(SortedPosition { size: 0, day, id });
        }
        // One row more than asked for tells whether there is another page.
        if self.read_count == self.limit {
            self.more = true;
            return Ok(());
        }
        self.read_count += 1;
        self.last = Some((day, id));
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

    /// Reads the rows of a page whose positions were kept. False if none were, and then the positions are collected; also
    /// false if the accounts were read anew and something has changed since. No row was visited then.
    async fn read_kept(&mut self, app: &App, caller: &Caller, key: Option<&Key>) -> Result<bool> {
        let Some(key) = key else { return Ok(false) };
        let stamp = self.accounts.stamp();
        let Some(positions) = app.kept_by_filter.pages.find(key, stamp) else {
            self.positions = Some(Vec::new());
            return Ok(false);
        };
        if positions.is_empty() {
            return Ok(true);
        }
        let is_read_anew = self.expected_stamp.is_none();
        self.expected_stamp = Some(stamp);
        let query = Query::rows_at(caller.user, Sort::Newest, &positions);
        app.db.each(&query.sql, &query.params, |row| self.add(row)).await?;
        if is_read_anew && self.found_stamp != Some(stamp) {
            (self.expected_stamp, self.found_stamp, self.more) = (None, None, false);
            return Ok(false);
        }
        Ok(true)
    }

    /// Keeps the positions that were collected, unless the rows came with another stamp than the accounts.
    fn keep(&self, app: &App, key: Option<Key>) {
        let is_outdated = self.found_stamp.is_some() && self.found_stamp != self.expected_stamp;
        if let (Some(key), Some(positions), false) = (key, &self.positions, is_outdated) {
            app.kept_by_filter.pages.insert(key, self.accounts.stamp(), positions);
        }
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
