//! Transactions: the long list, and the hottest read of the product.

use base::category::Category;
use base::{AccountId, Currency, Date, Money, Timestamp, TransactionId};
use db::{Param, params};
use wire::v1::{AccountPart, Scope, TransactionRow};

use crate::{App, Caller, Credential, Error, Result, cursors};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub account_id: Option<AccountId>,
    pub start_on: Option<Date>,
    pub end_on: Option<Date>,
    pub updated_since: Option<Timestamp>,
    pub pending: Option<bool>,
    /// A primary category, such as FOOD_AND_DRINK.
    pub category_tier1: Option<String>,
    /// Text in the counterparty's name or the bank's description.
    pub q: Option<String>,
}

/// What a page is besides its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageEnd {
    pub count: usize,
    pub next_cursor: Option<String>,
    pub total_count: Option<i64>,
}

/// Beyond this many, counting costs more than the page.
const COUNT_MAX: i64 = 10_000;

/// Hands one page, newest first, to `visit`, row by row and without a copy.
pub async fn list(
    app: &App,
    caller: &Caller,
    filter: &Filter,
    page: cursors::Page<'_>,
    mut visit: impl FnMut(&TransactionRow<'_>) + Send,
) -> Result<PageEnd> {
    caller.require(Scope::TransactionsRead)?;
    if filter.start_on.zip(filter.end_on).is_some_and(|(start, end)| start > end) {
        return Err(Error::invalid("start_date", "start_date must not be after end_date"));
    }
    if filter.q.as_deref().is_some_and(|it| it.contains('\0')) {
        return Err(Error::invalid("q", "q must not contain a null character"));
    }
    let text = format!("{filter:?}");
    let scope = cursors::Scope { user: caller.user, list: "transactions", filter: &text };
    let place = match page.cursor {
        Some(cursor) => Some(Place::read(&app.cursors.open(&scope, app.clock.now(), cursor)?)?),
        None => None,
    };
    let accounts = visible_accounts(app, caller, filter).await?;
    let wanted = Wanted::new(filter, accounts.narrowed);
    let total_count = match &place {
        Some(place) => place.total_count,
        None => count(app, caller, &wanted, &accounts).await?,
    };

    let query = Query::page(caller, &wanted, place.as_ref(), page.limit);
    let (mut count, mut read_count) = (0, 0);
    let mut last = None;
    let mut more = false;
    app.db
        .each(&query.sql, &query.params, |row| {
            // One row more than asked for tells whether there is another page.
            if read_count == page.limit {
                more = true;
                return Ok(());
            }
            read_count += 1;
            last = Some((row.get(3)?, row.get(0)?));
            // An account that came between the two reads is left out here, but the page still ends where it ends.
            let account: AccountId = row.get(1)?;
            if let Some(account) = accounts.find(account) {
                visit(&read(row, account)?);
                count += 1;
            }
            Ok(())
        })
        .await?;

    let next_cursor = match last.filter(|_| more) {
        Some((posted_on_days, id)) => {
            let place = Place { posted_on_days, id, total_count }.write();
            Some(app.cursors.seal(&scope, app.clock.now(), &app.entropy, &place)?)
        }
        None => None,
    };
    Ok(PageEnd { count, next_cursor, total_count })
}

/// The accounts whose transactions the caller sees here: not the hidden ones, unless asked for by id.
struct Accounts {
    shown: Vec<Shown>,
    /// Whether some of the person's accounts are left out, so that rows must be tested.
    narrowed: bool,
}

/// What every transaction of an account shares, read once for the page and not once a row.
struct Shown {
    id: AccountId,
    part: AccountPart,
    currency: Currency,
    transaction_count: i64,
}

impl Accounts {
    fn find(&self, id: AccountId) -> Option<&Shown> {
        self.shown.iter().find(|it| it.id == id)
    }
}

async fn visible_accounts(app: &App, caller: &Caller, filter: &Filter) -> Result<Accounts> {
    let mut shown = Vec::new();
    let mut narrowed = false;
    app.db
        .each(ACCOUNTS, params![caller.user], |row| {
            let id: AccountId = row.get(0)?;
            let hidden: Option<i64> = row.get(2)?;
            let named = filter.account_id == Some(id);
            if caller.may_see(id) && (hidden.is_none() || named) {
                shown.push(Shown {
                    id,
                    part: AccountPart::new(&id.to_string(), row.get(1)?),
                    currency: row.get(4)?,
                    transaction_count: row.get(3)?,
                });
            } else {
                narrowed = true;
            }
            Ok(())
        })
        .await?;
    let accounts = Accounts { shown, narrowed };
    match filter.account_id {
        Some(id) if accounts.find(id).is_none() => Err(Error::NotFound("account")),
        _ => Ok(accounts),
    }
}

/// How many there are in all, where that is cheap: from the accounts' own counters, or by looking at few index rows.
async fn count(
    app: &App,
    caller: &Caller,
    wanted: &Wanted<'_>,
    accounts: &Accounts,
) -> Result<Option<i64>> {
    let filter = wanted.filter;
    let unfiltered = Filter { account_id: filter.account_id, ..Filter::default() } == *filter;
    if unfiltered {
        let wanted = |id: AccountId| filter.account_id.is_none_or(|only| only == id);
        let counted = accounts.shown.iter().filter(|it| wanted(it.id));
        return Ok(Some(counted.map(|it| it.transaction_count).sum()));
    }
    // Text search looks at every row; it would count by scanning.
    if filter.q.is_some() {
        return Ok(None);
    }
    let query = Query::count(caller, wanted);
    let counted: Option<i64> = app.db.first(&query.sql, &query.params, |row| row.get(0)).await?;
    Ok(counted.filter(|it| *it <= COUNT_MAX))
}

fn read<'r>(row: &'r db::Row<'_>, account: &'r Shown) -> db::Result<TransactionRow<'r>> {
    let state: &str = row.get(5)?;
    let category: Option<&str> = row.get(6)?;
    let transfer: Option<&[u8]> = row.get(10)?;
    Ok(TransactionRow {
        id: row.get(0)?,
        account: &account.part,
        amount: Money::new(row.get(2)?, account.currency),
        posted_on_days: row.get(3)?,
        authorized_on_days: row.get(4)?,
        pending: state == "pending",
        category: category.and_then(Category::parse),
        counterparty: row.get(7)?,
        counterparty_logo_url: row.get(8)?,
        description: row.get(9)?,
        is_internal_transfer: transfer.is_some(),
        updated_at_micros: row.get(11)?,
    })
}

/// Where a page ended, and what the first one counted.
struct Place {
    posted_on_days: i64,
    id: TransactionId,
    total_count: Option<i64>,
}

impl Place {
    fn write(&self) -> Vec<u8> {
        let mut bytes = self.posted_on_days.to_be_bytes().to_vec();
        bytes.extend_from_slice(self.id.as_bytes());
        bytes.extend_from_slice(&self.total_count.unwrap_or(-1).to_be_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Place> {
        let wrong = || Error::internal("a cursor of ours has the wrong length");
        let bytes: &[u8; 32] = bytes.try_into().map_err(|_| wrong())?;
        let number = |at: usize| bytes[at..at + 8].try_into().map(i64::from_be_bytes);
        let id: [u8; 16] = bytes[8..24].try_into().map_err(|_| wrong())?;
        let total = number(24).map_err(|_| wrong())?;
        Ok(Place {
            posted_on_days: number(0).map_err(|_| wrong())?,
            id: TransactionId::from_bytes(id),
            total_count: (total >= 0).then_some(total),
        })
    }
}

/// A statement put together from the filters at hand, so that each set of filters gets the plan it deserves.
struct Query<'a> {
    sql: String,
    params: Vec<Param<'a>>,
}

const COLUMNS: &str = "select id, account_id, amount_minor, posted_on, authorized_on, state,
    category, counterparty, counterparty_logo_url, description, transfer_id, updated_at
    from transactions t where user_id = $1 and state <> 'removed'";

impl<'a> Query<'a> {
    fn page(
        caller: &Caller,
        wanted: &'a Wanted<'_>,
        place: Option<&Place>,
        limit: usize,
    ) -> Query<'a> {
        let mut query = Query { sql: COLUMNS.to_owned(), params: vec![caller.user.into()] };
        query.narrow(caller, wanted);
        if let Some(place) = place {
            let day = query.bind(place.posted_on_days);
            let id = query.bind(place.id);
            query.push(format_args!(" and (posted_on, id) < (${day}, ${id})"));
        }
        let limit = query.bind(limit as i64 + 1);
        query.push(format_args!(" order by posted_on desc, id desc limit ${limit}"));
        query
    }

    fn count(caller: &Caller, wanted: &'a Wanted<'_>) -> Query<'a> {
        let sql = "select cast(count(*) as bigint) from (select 1 from transactions t
            where user_id = $1 and state <> 'removed'";
        let mut query = Query { sql: sql.to_owned(), params: vec![caller.user.into()] };
        query.narrow(caller, wanted);
        let limit = query.bind(COUNT_MAX + 1);
        query.push(format_args!(" limit ${limit}) counted"));
        query
    }

    fn narrow(&mut self, caller: &Caller, wanted: &'a Wanted<'_>) {
        let filter = wanted.filter;
        self.when(filter.account_id, "account_id =");
        self.when(filter.start_on, "posted_on >=");
        self.when(filter.end_on, "posted_on <=");
        self.when(filter.updated_since, "updated_at >=");
        self.when(filter.pending.map(|it| if it { "pending" } else { "posted" }), "state =");
        self.when(wanted.category_like.as_deref(), "category like");
        for (index, pattern) in wanted.q_like.iter().enumerate() {
            let at = self.bind(pattern.as_str());
            let (open, last) = (if index == 0 { "and (" } else { "or" }, wanted.q_like.len() - 1);
            let close = if index == last { ")" } else { "" };
            self.push(format_args!(
                " {open} lower(description) like ${at} escape '!' or lower(counterparty) like ${at} escape '!'{close}"
            ));
        }
        if wanted.narrowed {
            self.sql.push_str(NOT_HIDDEN);
            if let Credential::Key { id, accounts: Some(_), .. } = &caller.credential {
                let at = self.bind(*id);
                self.push(format_args!(
                    " and exists (select 1 from api_key_accounts k where k.user_id = t.user_id
                    and k.key_id = ${at} and k.account_id = t.account_id)"
                ));
            }
        }
    }

    fn when(&mut self, value: Option<impl Into<Param<'a>>>, condition: &str) {
        if let Some(value) = value {
            let at = self.bind(value);
            self.push(format_args!(" and {condition} ${at}"));
        }
    }

    fn bind(&mut self, value: impl Into<Param<'a>>) -> usize {
        self.params.push(value.into());
        self.params.len()
    }

    fn push(&mut self, part: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = std::fmt::Write::write_fmt(&mut self.sql, part);
    }
}

/// The filters with their search patterns made, for a query to borrow.
struct Wanted<'f> {
    filter: &'f Filter,
    category_like: Option<String>,
    q_like: Vec<String>,
    /// Whether rows of accounts that are not to be seen must be left out one by one.
    narrowed: bool,
}

impl<'f> Wanted<'f> {
    fn new(filter: &'f Filter, narrowed: bool) -> Wanted<'f> {
        Wanted {
            filter,
            // The underscores are wildcards here, and match themselves; no two primaries differ only there.
            category_like: filter.category_tier1.as_ref().map(|it| format!("{it}_%")),
            q_like: filter.q.as_deref().map(patterns).unwrap_or_default(),
            narrowed: narrowed && filter.account_id.is_none(),
        }
    }
}

/// Only some databases know small letters beyond ASCII, so such a text is looked for in small letters, as it was
/// written, and in capitals, as banks write.
fn patterns(text: &str) -> Vec<String> {
    let small = text.to_ascii_lowercase();
    if text.is_ascii() {
        return vec![contains_pattern(&small)];
    }
    let mut capitals = String::new();
    for letter in small.chars() {
        if letter.is_ascii() {
            capitals.push(letter);
        } else {
            capitals.extend(letter.to_uppercase());
        }
    }
    [text.to_lowercase(), small, capitals].iter().map(|it| contains_pattern(it)).collect()
}

fn contains_pattern(text: &str) -> String {
    let mut pattern = "%".to_owned();
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

const NOT_HIDDEN: &str = " and not exists (select 1 from accounts a where a.user_id = t.user_id
    and a.id = t.account_id and a.hidden_at is not null)";
const ACCOUNTS: &str =
    "select id, name, hidden_at, transaction_count, currency from accounts where user_id = $1";

pub(crate) const STATEMENTS: &[&str] = &[ACCOUNTS];

/// Every statement that filters can make, for the test that prepares them all.
pub(crate) fn statement_variants() -> Vec<String> {
    let user = base::UserId::from_bytes([0; 16]);
    let accounts = Some(std::sync::Arc::from([]));
    let id = base::KeyId::from_bytes([0; 16]);
    let credential = Credential::Key { id, scopes: crate::Scopes::all(), accounts };
    let callers = [Caller::owner(user), Caller { user, credential }];
    let place =
        Place { posted_on_days: 0, id: TransactionId::from_bytes([0; 16]), total_count: None };
    let mut variants = Vec::new();
    for bits in 0..1024_u32 {
        let on = |bit: u32| bits & (1 << bit) != 0;
        let filter = Filter {
            account_id: on(0).then_some(AccountId::from_bytes([0; 16])),
            start_on: on(1).then_some(Date::ZERO),
            end_on: on(2).then_some(Date::ZERO),
            updated_since: on(3).then_some(Timestamp::UNIX_EPOCH),
            pending: on(4).then_some(true),
            category_tier1: on(5).then(|| "TRAVEL".to_owned()),
            q: on(6).then(|| if on(9) { "é" } else { "e" }.to_owned()),
        };
        let wanted = Wanted::new(&filter, on(7));
        for caller in &callers {
            variants.push(Query::count(caller, &wanted).sql);
            variants.push(Query::page(caller, &wanted, on(8).then_some(&place), 1).sql);
        }
    }
    variants.sort();
    variants.dedup();
    variants
}
