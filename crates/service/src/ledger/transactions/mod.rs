//! The list of transactions, which is the most frequent read of the product.

mod changes;
mod page;
mod query;
mod refund_links;
pub(crate) mod row;
mod search;
mod sorted;
mod totals;

use base::category::Category;
use base::{AccountId, Currency, Date, Fixed9, Money, Timestamp, TransactionId};
use db::params;
use wire::v1::{AccountPart, Scope, TransactionRow};

use crate::ledger::Direction;
use crate::platform::cursors;
use crate::{App, Caller, Error, Result};

pub use changes::{Change, ChangesEnd, changes};
use page::PageReader;
pub(crate) use query::statement_variants;
use query::{PreparedFilter, Query, list_columns};
pub use refund_links::{RefundIds, refund_links};
pub use row::TransactionState;
pub use search::index_once;
pub use sorted::{Sort, list_sorted};
pub use totals::{Total, totals, totals_by_day};

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
    /// Only transactions that count as spending, refunds included, as the sums of spending count them.
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
    let text = format!("{filter:?}");
    let scope = cursors::CursorScope { user: caller.user, list: "transactions", filter: &text };
    let cursor = match page.cursor {
        Some(cursor) => {
            Some(ListCursor::read(&app.cursors.open(&scope, app.clock.now(), cursor)?)?)
        }
        None => None,
    };
    let accounts = visible_accounts(app, caller, filter).await?;
    let filter = PreparedFilter::new(filter, accounts.narrowed);
    let total_count = match &cursor {
        Some(cursor) => cursor.total_count,
        None => count(app, caller, &filter, &accounts).await?,
    };

    let after = cursor.as_ref().map(|it| (it.posted_on_days, it.id));
    let mut reader = PageReader::new(&accounts, page.limit, &mut visit);
    match filter.filter.q.as_deref().filter(|it| !it.is_empty()) {
        Some(q) => reader.search(app, caller, &filter, after, q).await?,
        None => reader.read(app, caller, &filter, after).await?,
    }
    let PageReader { count, last, more, .. } = reader;

    let next_cursor = match last.filter(|_| more) {
        Some((posted_on_days, id)) => {
            let cursor = ListCursor { posted_on_days, id, total_count }.write();
            Some(app.cursors.seal(&scope, app.clock.now(), &app.entropy, &cursor)?)
        }
        None => None,
    };
    Ok(PageEnd { count, next_cursor, total_count })
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
    let accounts = accounts_where(app, caller, |_, _| true).await?;
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

/// The accounts whose transactions the caller sees: not hidden ones, except the one that the filter names.
#[derive(Default)]
struct VisibleAccounts {
    accounts: Vec<VisibleAccount>,
    /// Whether some of the person's accounts are left out, so that each row must be tested.
    narrowed: bool,
}

/// The columns that all transactions of an account share, read once for the page.
struct VisibleAccount {
    id: AccountId,
    part: AccountPart,
    currency: Currency,
    transaction_count: i64,
}

impl VisibleAccounts {
    fn find(&self, id: AccountId) -> Option<&VisibleAccount> {
        self.accounts.iter().find(|it| it.id == id)
    }

    /// Adds an account that `ACCOUNTS` read, if the caller may see it and it `is_shown`, which gets whether the person
    /// has hidden it.
    fn add(
        &mut self,
        row: &db::Row<'_>,
        caller: &Caller,
        is_shown: impl Fn(AccountId, bool) -> bool,
    ) -> db::Result<()> {
        let id: AccountId = row.get(0)?;
        let hidden: Option<i64> = row.get(2)?;
        if !caller.may_see(id) || !is_shown(id, hidden.is_some()) {
            self.narrowed = true;
            return Ok(());
        }
        self.accounts.push(VisibleAccount {
            id,
            part: AccountPart::new(&id.to_string(), row.get(1)?),
            currency: row.get(4)?,
            transaction_count: row.get(3)?,
        });
        Ok(())
    }
}

async fn visible_accounts(app: &App, caller: &Caller, filter: &Filter) -> Result<VisibleAccounts> {
    let is_shown = |id, is_hidden: bool| !is_hidden || filter.account_id == Some(id);
    let accounts = accounts_where(app, caller, is_shown).await?;
    match filter.account_id {
        Some(id) if accounts.find(id).is_none() => Err(Error::NotFound("account")),
        _ => Ok(accounts),
    }
}

/// The accounts that the caller may see and that `is_shown`, which gets whether the person has hidden them.
async fn accounts_where(
    app: &App,
    caller: &Caller,
    is_shown: impl Fn(AccountId, bool) -> bool + Send + Sync,
) -> Result<VisibleAccounts> {
    let mut visible = VisibleAccounts::default();
    let add = |row: &db::Row<'_>| visible.add(row, caller, &is_shown);
    app.db.each(ACCOUNTS, params![caller.user], add).await?;
    Ok(visible)
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
        let counted = accounts.accounts.iter().filter(|it| is_in(it.id));
        return Ok(Some(counted.map(|it| it.transaction_count).sum()));
    }
    // Counting the matches of a search would read all texts.
    if filter.q.is_some() {
        return Ok(None);
    }
    let query = Query::count(caller, prepared);
    let counted: Option<i64> = app.db.first(&query.sql, &query.params, |row| row.get(0)).await?;
    Ok(counted.filter(|it| *it <= COUNT_MAX))
}

/// Reads the columns that `Query::rows` selects. They are fewer than those of `StoredTransaction` because this is the
/// hottest read of all.
fn read<'r>(row: &'r db::Row<'_>, account: &'r VisibleAccount) -> db::Result<TransactionRow<'r>> {
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

const ACCOUNTS: &str =
    "select id, coalesce(own_name, name), hidden_at, transaction_count, currency from accounts
    where user_id = $1";

const GET: &str = concat!(list_columns!(""), " and id = $2 and state not in ('removed', 'hidden')");

pub(crate) fn statements() -> Vec<&'static str> {
    [
        &[ACCOUNTS, GET],
        changes::STATEMENTS,
        refund_links::STATEMENTS,
        search::STATEMENTS,
        sorted::STATEMENTS,
    ]
    .concat()
}
