//! The list of transactions, which is the most frequent read of the product.

mod amount_bounds;
mod changes;
mod kept_by_filter;
mod page;
mod query;
mod refund_links;
pub(crate) mod row;
mod search;
mod sort;
mod sorted;
mod totals;
mod visible_accounts;

use std::borrow::Cow;
use std::sync::LazyLock;

use base::category::Category;
use base::{AccountId, Date, Fixed9, Money, Timestamp, TransactionId};
use db::params;
use wire::v1::{Scope, TransactionRow};

use crate::ledger::Direction;
use crate::platform::cursors;
use crate::{App, Caller, Error, Result};

pub use changes::{Change, ChangesEnd, changes};
pub(crate) use kept_by_filter::KeptByFilter;
use page::ListPart;
pub(crate) use query::statement_variants;
use query::{PreparedFilter, Query, list_columns};
pub use refund_links::{RefundIds, refund_links};
pub use row::TransactionState;
pub use search::index_once;
pub use sort::Sort;
pub use sorted::list_sorted;
pub use totals::{Total, totals, totals_by_day};
pub(crate) use visible_accounts::KeptAccounts;
use visible_accounts::{ListedAccount, PersonAccounts, VisibleAccounts, visible_accounts};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub account_id: Option<AccountId>,
    pub start_on: Option<Date>,
    pub end_on: Option<Date>,
    pub updated_since: Option<Timestamp>,
    pub pending: Option<bool>,
    /// Only hidden transactions; otherwise only those that are not.
    pub hidden: bool,
    /// A primary category, such as FOOD_AND_DRINK, of the transaction or of a part of it.
    pub category_tier1: Option<String>,
    /// Text in the counterparty's name, the bank's description or the person's note.
    pub q: Option<String>,
    /// Exactly this category, and not only its primary.
    pub category: Option<Category>,
    /// Only transactions without a category.
    pub uncategorized: bool,
    pub direction: Option<Direction>,
    /// Only transfers between the person's own accounts, or none of them.
    pub transfers: Option<bool>,
    /// The least and the greatest size of the amount, whatever its sign, in the currency of its account.
    pub amount_min: Option<Fixed9>,
    pub amount_max: Option<Fixed9>,
    /// Only transactions with this tag (`annotations::parse_tag`).
    pub tag: Option<String>,
    /// Only transactions with exactly this counterparty, as spending by merchant groups them.
    pub counterparty: Option<String>,
    /// Only transactions without a counterparty.
    pub without_counterparty: bool,
    /// Only transactions that count as spending, refunds included, as the sums of spending count them. Of a split
    /// transaction, totals add up the parts that count.
    pub spending: bool,
}

/// The count and cursors of a page, without its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageEnd {
    pub count: usize,
    pub next_cursor: Option<String>,
    pub total_count: Option<i64>,
}

/// More rows than this are not counted, because counting would cost more than the page.
const COUNT_MAX: i64 = 10_000;
/// How many rows are read together for their ids.
const IDS_A_PAGE: usize = 1_000;

/// Calls `visit` with each row of one page, newest first. Rows are borrowed from the driver and not copied.
pub async fn list(
    app: &App,
    caller: &Caller,
    filter: &Filter,
    page: cursors::Page<'_>,
    mut visit: impl FnMut(&TransactionRow<'_>) + Send,
) -> Result<PageEnd> {
    caller.require(Scope::TransactionsRead)?;
    check(filter)?;
    let text = scope_of(filter);
    let scope = cursors::CursorScope { user: caller.user, list: "transactions", filter: &text };
    let cursor = match page.cursor {
        Some(cursor) => {
            Some(ListCursor::read(&app.cursors.open(&scope, app.clock.now(), cursor)?)?)
        }
        None => None,
    };
    let part = ListPart { filter, cursor, limit: page.limit };
    let read = match app.kept_accounts.find(caller.user) {
        Some(kept) => part.read_if_current(app, caller, kept, &mut visit).await?,
        None => None,
    };
    let read = match read {
        Some(read) => read,
        None => {
            let of_person = PersonAccounts::load(app, caller.user).await?;
            part.read(app, caller, &of_person, &mut visit).await?
        }
    };
    let next_cursor = match read.last {
        Some((posted_on_days, id)) => {
            let cursor = ListCursor { posted_on_days, id, total_count: read.total_count }.write();
            Some(app.cursors.seal(&scope, app.clock.now(), &app.entropy, &cursor)?)
        }
        None => None,
    };
    Ok(PageEnd { count: read.count, next_cursor, total_count: read.total_count })
}

/// The filter as a text, which a cursor belongs to.
fn scope_of(filter: &Filter) -> Cow<'static, str> {
    static NO_FILTER: LazyLock<String> = LazyLock::new(|| format!("{:?}", Filter::default()));
    match *filter == Filter::default() {
        true => Cow::Borrowed(&NO_FILTER),
        false => Cow::Owned(format!("{filter:?}")),
    }
}

/// The ids of all transactions that match a filter, newest first. None if there are more than `most`.
pub async fn ids(
    app: &App,
    caller: &Caller,
    filter: &Filter,
    most: usize,
) -> Result<Option<Vec<TransactionId>>> {
    let (mut ids, mut cursor) = (Vec::new(), None);
    loop {
        let page = cursors::Page { cursor: cursor.as_deref(), limit: IDS_A_PAGE };
        let end = list(app, caller, filter, page, |row| ids.push(row.id)).await?;
        match end.next_cursor {
            _ if ids.len() > most => return Ok(None),
            Some(next) => cursor = Some(next),
            None => return Ok(Some(ids)),
        }
    }
}

/// Calls `visit` with one transaction as the list shows it, on a hidden account too. One that a rule hides, or that its
/// source removed, is not found.
pub async fn get(
    app: &App,
    caller: &Caller,
    id: TransactionId,
    mut visit: impl FnMut(&TransactionRow<'_>) + Send,
) -> Result<()> {
    caller.require(Scope::TransactionsRead)?;
    let of_person = PersonAccounts::load(app, caller.user).await?;
    let accounts = VisibleAccounts::select(of_person, caller, |_, _| true);
    let show = |row: &db::Row<'_>| match accounts.find(row.get(1)?) {
        Some(account) => {
            visit(&read(row, account)?);
            Ok(true)
        }
        None => Ok(false),
    };
    let found = app.db.first(GET, params![caller.user, id], show).await?;
    found.filter(|shown| *shown).map(|_| ()).ok_or(Error::NotFound("transaction"))
}

fn check(filter: &Filter) -> Result<()> {
    if filter.start_on.zip(filter.end_on).is_some_and(|(start, end)| start > end) {
        return Err(Error::invalid("start_date", "start_date must not be after end_date"));
    }
    if filter.q.as_deref().is_some_and(|it| it.contains('\0')) {
        return Err(Error::invalid("q", "q must not contain a null character"));
    }
    if filter.counterparty.as_deref().is_some_and(|it| it.contains('\0')) {
        return Err(Error::invalid(
            "counterparty",
            "counterparty must not contain a null character",
        ));
    }
    Ok(())
}

/// The total count, where it is cheap: from the counters of the accounts, or from few rows of an index.
async fn count(
    app: &App,
    caller: &Caller,
    prepared: &PreparedFilter<'_>,
    accounts: &VisibleAccounts,
) -> Result<Option<i64>> {
    let filter = prepared.filter;
    let unfiltered = Filter { account_id: filter.account_id, ..Filter::default() } == *filter;
    if unfiltered {
        let is_in = |id: AccountId| filter.account_id.is_none_or(|only| only == id);
        let counted = accounts.iter().filter(|it| is_in(it.id));
        return Ok(Some(counted.map(|it| it.transaction_count).sum()));
    }
    // Counting the matches of a search would read all texts.
    if filter.q.is_some() {
        return Ok(None);
    }
    let key = kept_by_filter::key_of(caller, filter);
    if let Some(kept) =
        key.as_ref().and_then(|it| app.kept_by_filter.counts.find(it, accounts.stamp()))
    {
        return Ok(kept);
    }
    let query = Query::count(caller, prepared);
    let counted: Option<i64> = app.db.first(&query.sql, &query.params, |row| row.get(0)).await?;
    let counted = counted.filter(|it| *it <= COUNT_MAX);
    if let Some(key) = key {
        app.kept_by_filter.counts.insert(key, accounts.stamp(), &counted);
    }
    Ok(counted)
}

/// Reads the columns that `Query::rows` selects. They are fewer than those of `StoredTransaction` because this is the
/// hottest read of all.
fn read<'r>(row: &'r db::Row<'_>, account: &'r ListedAccount) -> db::Result<TransactionRow<'r>> {
    let state: TransactionState = row.get(5)?;
    let transfer: Option<&[u8]> = row.get(10)?;
    let amount_minor = row.get(2)?;
    Ok(TransactionRow {
        id: row.get(0)?,
        account: &account.part,
        amount: Money::new(amount_minor, account.currency),
        posted_on_days: row.get(3)?,
        authorized_on_days: row.get(4)?,
        pending: state == TransactionState::Pending,
        category: row.optional_word(6, "category", Category::parse)?,
        counterparty: row.get(7)?,
        counterparty_logo_url: row.get(8)?,
        description: row.get(9)?,
        is_internal_transfer: transfer.is_some(),
        note: row.get(12)?,
        tags: row.get::<Option<&str>>(13)?.unwrap_or_default(),
        splits: row::counted_parts(row, amount_minor, 14)?.unwrap_or_default(),
        updated_at_micros: row.get(11)?,
    })
}

/// The last row of a page, and the count that was made for the first page.
struct ListCursor {
    posted_on_days: i64,
    id: TransactionId,
    total_count: Option<i64>,
}

impl ListCursor {
    fn write(&self) -> Vec<u8> {
        let mut bytes = self.posted_on_days.to_be_bytes().to_vec();
        bytes.extend_from_slice(self.id.as_bytes());
        bytes.extend_from_slice(&self.total_count.unwrap_or(-1).to_be_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Result<ListCursor> {
        let wrong =
            || Error::internal("a sealed cursor of the list of transactions has the wrong length");
        let bytes: &[u8; 32] = bytes.try_into().map_err(|_| wrong())?;
        let number = |at: usize| bytes[at..at + 8].try_into().map(i64::from_be_bytes);
        let id: [u8; 16] = bytes[8..24].try_into().map_err(|_| wrong())?;
        let total = number(24).map_err(|_| wrong())?;
        Ok(ListCursor {
            posted_on_days: number(0).map_err(|_| wrong())?,
            id: TransactionId::from_bytes(id),
            total_count: (total >= 0).then_some(total),
        })
    }
}

const GET: &str = concat!(list_columns!(""), " and id = $2 and state not in ('removed', 'hidden')");

pub(crate) fn statements() -> Vec<&'static str> {
    [
        &[GET],
        changes::STATEMENTS,
        refund_links::STATEMENTS,
        search::STATEMENTS,
        visible_accounts::STATEMENTS,
    ]
    .concat()
}
