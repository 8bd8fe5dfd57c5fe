//! The list in another order than newest first.

use std::collections::BTreeSet;

use base::TransactionId;
use wire::v1::{Scope, TransactionRow};

use super::query::{IDS_A_STATEMENT, ListRange, PreparedFilter, Query, STAMP_COLUMN};
use super::search::{self, CandidateDays, Needle};
use super::sort::{LARGE_MINOR, Sort, SortedPosition, SortedRange};
use super::{
    Filter, PageEnd, VisibleAccounts, check, count, kept_by_filter, list, read, visible_accounts,
};
use crate::platform::cursors;
use crate::{App, Caller, Error, Result};

/// As `list`, in an order.
pub async fn list_sorted(
    app: &App,
    caller: &Caller,
    (filter, sort): (&Filter, Sort),
    page: cursors::Page<'_>,
    mut visit: impl FnMut(&TransactionRow<'_>) + Send,
) -> Result<PageEnd> {
    if sort == Sort::Newest {
        return list(app, caller, filter, page, visit).await;
    }
    caller.require(Scope::TransactionsRead)?;
    check(filter)?;
    let text = format!("{sort:?} {filter:?}");
    let scope = cursors::CursorScope { user: caller.user, list: "sorted", filter: &text };
    let cursor = match page.cursor {
        Some(cursor) => Some(read_cursor(&app.cursors.open(&scope, app.clock.now(), cursor)?)?),
        None => None,
    };
    let accounts = visible_accounts(app, caller, filter).await?;
    let filter = PreparedFilter::new(filter, accounts.narrowed);
    let total_count = match cursor {
        Some((_, total_count)) => total_count,
        None => count(app, caller, &filter, &accounts).await?,
    };
    let after = cursor.map(|(position, _)| position);
    let mut reader = SortedPage {
        sort,
        accounts: &accounts,
        limit: page.limit,
        visit: &mut visit,
        read_count: 0,
        count: 0,
        positions: Vec::new(),
        last: None,
        more: false,
    };
    let key = kept_by_filter::key_of_page(caller, (filter.filter, sort), after, page.limit);
    let kept = &app.kept_by_filter.pages;
    let is_read = match key.as_ref().and_then(|it| kept.find(it, accounts.stamp())) {
        Some(positions) => reader.read_kept(app, caller, &positions).await?,
        None => false,
    };
    if !is_read {
        match filter.filter.q.as_deref().filter(|it| !it.is_empty()) {
            Some(q) => reader.search(app, caller, &filter, (after, q)).await?,
            None => reader.list(app, caller, &filter, after).await?,
        }
        if let Some(key) = key {
            kept.insert(key, accounts.stamp(), &reader.positions);
        }
    }
    let SortedPage { count, last, more, .. } = reader;
    let next_cursor = match last.filter(|_| more) {
        Some(position) => {
            let bytes = write_cursor(position, total_count);
            Some(app.cursors.seal(&scope, app.clock.now(), &app.entropy, &bytes)?)
        }
        None => None,
    };
    Ok(PageEnd { count, next_cursor, total_count })
}

struct SortedPage<'a, V> {
    sort: Sort,
    accounts: &'a VisibleAccounts,
    limit: usize,
    visit: &'a mut V,
    read_count: usize,
    count: usize,
    /// The positions of the rows, and of the one after the page.
    positions: Vec<SortedPosition>,
    last: Option<SortedPosition>,
    /// Whether there is a row after the page.
    more: bool,
}

impl<V: FnMut(&TransactionRow<'_>) + Send> SortedPage<'_, V> {
    fn add(&mut self, row: &db::Row<'_>) -> db::Result<()> {
        let position = self.sort.position(row.get(2)?, row.get(3)?, row.get(0)?);
        self.positions.push(position);
        if self.read_count == self.limit {
            self.more = true;
            return Ok(());
        }
        self.read_count += 1;
        self.last = Some(position);
        // Rows of an account that was added after the accounts were read are skipped; the page still ends at its limit.
        if let Some(account) = self.accounts.find(row.get(1)?) {
            (self.visit)(&read(row, account)?);
            self.count += 1;
        }
        Ok(())
    }

    /// Reads the page. By size, it begins with the large amounts, which have an index; all others are read only if these
    /// are not enough.
    async fn list(
        &mut self,
        app: &App,
        caller: &Caller,
        filter: &PreparedFilter<'_>,
        after: Option<SortedPosition>,
    ) -> Result<()> {
        let sort = self.sort;
        let begins_large = after.is_none_or(|it| it.size >= LARGE_MINOR);
        if sort == Sort::Largest && begins_large {
            let range = SortedRange { sort, after, only_large: true, limit: self.limit + 1 };
            let query = Query::sorted(caller, filter, range);
            app.db.each_slow(&query.sql, &query.params, |row| self.add(row)).await?;
        }
        if !self.more {
            let after = self.last.or(after);
            let limit = self.limit + 1 - self.read_count;
            let range = SortedRange { sort, after, only_large: false, limit };
            let query = Query::sorted(caller, filter, range);
            app.db.each_slow(&query.sql, &query.params, |row| self.add(row)).await?;
        }
        Ok(())
    }

    /// Finds the first positions of all rows with a text, and then reads their rows.
    async fn search(
        &mut self,
        app: &App,
        caller: &Caller,
        filter: &PreparedFilter<'_>,
        (after, q): (Option<SortedPosition>, &str),
    ) -> Result<()> {
        let mut found = FirstPositions {
            sort: self.sort,
            after,
            most: self.limit + 1,
            positions: BTreeSet::new(),
        };
        let searching = found.search(app, caller, filter, q);
        search::with_time_limit(app, searching).await?;
        let positions: Vec<SortedPosition> = match self.sort.is_descending() {
            true => found.positions.into_iter().rev().collect(),
            false => found.positions.into_iter().collect(),
        };
        self.read_rows(app, caller, &positions).await
    }

    /// Reads the rows at these positions. If some are gone by now, the page is shorter, and the next one begins where it
    /// would have.
    async fn read_rows(
        &mut self,
        app: &App,
        caller: &Caller,
        positions: &[SortedPosition],
    ) -> Result<()> {
        for some in positions.chunks(IDS_A_STATEMENT) {
            let query = Query::rows_at(caller.user, self.sort, some);
            app.db.each(&query.sql, &query.params, |row| self.add(row)).await?;
        }
        if positions.len() > self.limit {
            self.more = true;
            self.last = positions[..self.limit].last().copied();
        }
        Ok(())
    }

    /// Reads the rows of a page whose positions were kept, all in one statement. False, and no row was visited, if
    /// something has changed since the accounts were read.
    async fn read_kept(
        &mut self,
        app: &App,
        caller: &Caller,
        positions: &[SortedPosition],
    ) -> Result<bool> {
        if positions.is_empty() {
            return Ok(true);
        }
        let (expected, mut found) = (self.accounts.stamp(), None);
        let query = Query::rows_at(caller.user, self.sort, positions);
        let reading = app.db.each(&query.sql, &query.params, |row| {
            found = Some(row.get(STAMP_COLUMN)?);
            if found == Some(expected) { self.add(row) } else { Ok(()) }
        });
        reading.await?;
        Ok(found == Some(expected))
    }
}

/// The first positions after another one, as many as are needed.
struct FirstPositions {
    sort: Sort,
    after: Option<SortedPosition>,
    most: usize,
    positions: BTreeSet<SortedPosition>,
}

impl FirstPositions {
    async fn search(
        &mut self,
        app: &App,
        caller: &Caller,
        filter: &PreparedFilter<'_>,
        q: &str,
    ) -> Result<()> {
        let mut needle = Needle::new(q);
        let mut candidates =
            CandidateDays::new(app, caller.user, &needle, filter.filter, None).await?;
        while let Some(days) = candidates.next(app).await? {
            let mut after: Option<(i64, TransactionId)> = None;
            for limit in search::chunks(0) {
                let range = ListRange { after, days: Some(days), limit };
                let query = Query::amounts(caller, filter, range);
                let mut count = 0;
                let reading = app.db.each_slow(&query.sql, &query.params, |row| {
                    count += 1;
                    let (id, day) = (row.get(0)?, row.get(2)?);
                    after = Some((day, id));
                    let texts: [Option<&str>; 3] = [row.get(5)?, row.get(6)?, row.get(7)?];
                    if texts.into_iter().flatten().any(|it| needle.is_in(it)) {
                        self.add(self.sort.position(row.get(3)?, day, id));
                    }
                    Ok(())
                });
                reading.await?;
                if count < limit {
                    break;
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, position: SortedPosition) {
        if self.after.is_some_and(|it| !self.sort.is_after(position, it)) {
            return;
        }
        self.positions.insert(position);
        if self.positions.len() > self.most {
            match self.sort.is_descending() {
                true => self.positions.pop_first(),
                false => self.positions.pop_last(),
            };
        }
    }
}

fn write_cursor(position: SortedPosition, total_count: Option<i64>) -> Vec<u8> {
    let mut bytes = position.size.to_be_bytes().to_vec();
    bytes.extend_from_slice(&position.day.to_be_bytes());
    bytes.extend_from_slice(position.id.as_bytes());
    bytes.extend_from_slice(&total_count.unwrap_or(-1).to_be_bytes());
    bytes
}

fn read_cursor(bytes: &[u8]) -> Result<(SortedPosition, Option<i64>)> {
    let wrong = || Error::internal("a sealed cursor of a sorted list has the wrong length");
    let bytes: &[u8; 40] = bytes.try_into().map_err(|_| wrong())?;
    let number = |at: usize| bytes[at..at + 8].try_into().map(i64::from_be_bytes);
    let id: [u8; 16] = bytes[16..32].try_into().map_err(|_| wrong())?;
    let [size, day, total] = [number(0), number(8), number(32)].map(|it| it.map_err(|_| wrong()));
    let position = SortedPosition { size: size?, day: day?, id: TransactionId::from_bytes(id) };
    Ok((position, total.map(|it| (it >= 0).then_some(it))?))
}
