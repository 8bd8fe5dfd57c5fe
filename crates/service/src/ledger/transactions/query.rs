//! The statements that filters make. Each set of filters has its own text, so that the engine plans for it.

use base::category::Category;
use base::{AccountId, Date, Fixed9, Timestamp, TransactionId, UserId, split};
use db::Param;

use super::amount_bounds::{AmountBound, NO_DECIMALS, THREE_DECIMALS};
use super::search::Days;
use super::sort::{LARGE_MINOR, Sort, SortedPosition, SortedRange};
use super::{COUNT_MAX, Filter};
use crate::ledger::Direction;
use crate::{Caller, Credential};

/// A statement built from the filters that are set.
pub(super) struct Query<'a> {
    pub(super) sql: String,
    pub(super) params: Vec<Param<'a>>,
}

/// The columns of a row as the list shows it, and further ones.
macro_rules! list_columns {
    ($further:literal) => {
        concat!(
            "select id, account_id, amount_minor, posted_on, authorized_on, state,
    category, counterparty, counterparty_logo_url, description, transfer_id, updated_at, note, tags,
    split_minor, splits",
            $further,
            "
    from transactions t where user_id = $1"
        )
    };
}
pub(super) use list_columns;

/// The parts of a transaction that count as spending, where the sign is misleading (migration 42).
macro_rules! counted_parts {
    () => {
        "(select e.counted_parts from spending_exceptions e
            where e.user_id = $1 and e.posted_on = t.posted_on and e.id = t.id)"
    };
}

const COLUMNS: &str = list_columns!("");
/// With the stamp of the person's transactions, which is read once for all rows.
const STAMPED_COLUMNS: &str = list_columns!(
    ",
    (select p.transactions_stamp from person_states p where p.user_id = $1)"
);
pub(super) const STAMP_COLUMN: usize = 16;
/// The most ids of a statement that reads rows by their positions: a page of 100 rows and the one after it. It is one
/// statement, so that all rows are of one moment.
pub(super) const IDS_A_STATEMENT: usize = 101;
/// The numbers of ids that these statements are prepared for. The smallest that suffices is taken, so there are few different
/// statements.
const ID_COUNTS: [usize; 3] = [26, 51, IDS_A_STATEMENT];

/// The part of the list to read: the rows after a position, and on some days only.
#[derive(Clone, Copy, Default)]
pub(super) struct ListRange {
    pub(super) after: Option<(i64, TransactionId)>,
    pub(super) days: Option<Days>,
    pub(super) limit: usize,
}

impl<'a> Query<'a> {
    /// Rows as the list shows them, in its order.
    pub(super) fn rows(
        caller: &Caller,
        prepared: &'a PreparedFilter<'_>,
        range: ListRange,
    ) -> Query<'a> {
        let sql = STAMPED_COLUMNS.to_owned();
        let mut query = Query { sql, params: vec![caller.user.into()] };
        query.push_filter(caller, prepared);
        query.push_range(range);
        query
    }

    /// Rows as the list shows them, in another order.
    pub(super) fn sorted(
        caller: &Caller,
        prepared: &'a PreparedFilter<'_>,
        SortedRange { sort, after, only_large, limit }: SortedRange,
    ) -> Query<'a> {
        let mut query = Query { sql: COLUMNS.to_owned(), params: vec![caller.user.into()] };
        query.push_filter(caller, prepared);
        if only_large {
            // A parameter would keep the database from using the index of large amounts.
            query.push(format_args!(" and abs(amount_minor) >= {LARGE_MINOR}"));
        }
        let (way, comparison) = if sort.is_descending() { (" desc", "<") } else { ("", ">") };
        let size = if sort.is_by_amount() { "abs(amount_minor), " } else { "" };
        if let Some(SortedPosition { size: after_size, day, id }) = after {
            let at_size = match sort.is_by_amount() {
                true => format!("${}, ", query.bind(after_size)),
                false => String::new(),
            };
            let (day, id) = (query.bind(day), query.bind(id));
            query.push(format_args!(
                " and ({size}posted_on, id) {comparison} ({at_size}${day}, ${id})"
            ));
        }
        let first =
            if sort.is_by_amount() { format!("abs(amount_minor){way}, ") } else { String::new() };
        let limit = query.bind(limit as i64);
        query.push(format_args!(" order by {first}posted_on{way}, id{way} limit ${limit}"));
        query
    }

    /// The rows at some positions, `IDS_A_STATEMENT` at most, in the order of the list.
    pub(super) fn rows_at(user: UserId, sort: Sort, positions: &'a [SortedPosition]) -> Query<'a> {
        let mut query = Query { sql: STAMPED_COLUMNS.to_owned(), params: vec![user.into()] };
        // By their keys, as for tags below: SQLite would walk all rows of the person. The last id is repeated up to one of `ID_COUNTS`.
        let keys = " and (posted_on, id) in (select g.posted_on, g.id from transactions g
            where g.user_id = $1 and g.id in";
        query.sql.push_str(keys);
        let ids = positions.iter().chain(std::iter::repeat(&positions[positions.len() - 1]));
        let count = ID_COUNTS.into_iter().find(|it| *it >= positions.len());
        for (index, position) in ids.take(count.unwrap_or(IDS_A_STATEMENT)).enumerate() {
            let at = query.bind(position.id);
            let start = if index == 0 { " (" } else { ", " };
            query.push(format_args!("{start}${at}"));
        }
        let way = if sort.is_descending() { " desc" } else { "" };
        let size =
            if sort.is_by_amount() { format!("abs(amount_minor){way}, ") } else { String::new() };
        query
            .push(format_args!(")) and state <> 'removed' order by {size}posted_on{way}, id{way}"));
        query
    }

    /// The amounts that totals add up, and the texts that a search compares.
    pub(super) fn amounts(
        caller: &Caller,
        prepared: &'a PreparedFilter<'_>,
        range: ListRange,
    ) -> Query<'a> {
        let mut query =
            Query { sql: amounts_of(prepared.filter), params: vec![caller.user.into()] };
        query.push_filter(caller, prepared);
        query.push_range(range);
        query
    }

    /// The same for the transactions whose split counts, in any order. Their parts are compared with the filter.
    pub(super) fn split_amounts(caller: &Caller, prepared: &'a PreparedFilter<'_>) -> Query<'a> {
        let mut query =
            Query { sql: amounts_of(prepared.filter), params: vec![caller.user.into()] };
        query.push_filter(caller, prepared);
        query.sql.push_str(SPLIT);
        query
    }

    fn push_range(&mut self, range: ListRange) {
        if let Some(days) = range.days {
            let (first, last) = (self.bind(days.first), self.bind(days.last));
            self.push(format_args!(" and posted_on between ${first} and ${last}"));
        }
        if let Some((day, id)) = range.after {
            let (day, id) = (self.bind(day), self.bind(id));
            self.push(format_args!(" and (posted_on, id) < (${day}, ${id})"));
        }
        let limit = self.bind(range.limit as i64);
        self.push(format_args!(" order by posted_on desc, id desc limit ${limit}"));
    }

    pub(super) fn count(caller: &Caller, prepared: &'a PreparedFilter<'_>) -> Query<'a> {
        let sql = "select cast(count(*) as bigint) from (select 1 from transactions t
            where user_id = $1";
        let mut query = Query { sql: sql.to_owned(), params: vec![caller.user.into()] };
        query.push_filter(caller, prepared);
        let limit = query.bind(COUNT_MAX + 1);
        query.push(format_args!(" limit ${limit}) counted"));
        query
    }

    /// Totals by account, and by day if asked for.
    pub(super) fn totals(
        caller: &Caller,
        prepared: &'a PreparedFilter<'_>,
        by_day: bool,
    ) -> Query<'a> {
        let account = if prepared.is_covered() { "account_id" } else { ACCOUNT_UNORDERED };
        let sql = format!("select {account}, cast(min(posted_on) as bigint), {SUMS}");
        let mut query = Query { sql, params: vec![caller.user.into()] };
        query.push_filter(caller, prepared);
        query.sql.push_str(if prepared.counts_parts() { NOT_SPLIT } else { "" });
        let day = if by_day { "posted_on, " } else { "" };
        query.push(format_args!(" group by {day}{account}"));
        query
    }

    fn push_filter(&mut self, caller: &Caller, prepared: &'a PreparedFilter<'_>) {
        let filter = prepared.filter;
        self.when(filter.account_id, "account_id =");
        self.when(filter.start_on, "posted_on >=");
        self.when(filter.end_on, "posted_on <=");
        self.when(filter.updated_since, "updated_at >=");
        if let Some(counterparty) = filter.counterparty.as_deref() {
            let at = self.bind(counterparty);
            // By their keys, as for tags below: SQLite would walk the list and not the index of counterparties.
            self.push(format_args!(
                " and (posted_on, id) in (select g.posted_on, g.id from transactions g
                where g.user_id = $1 and g.counterparty = ${at})"
            ));
        }
        self.sql.push_str(if filter.without_counterparty { NO_COUNTERPARTY } else { "" });
        // `not in` uses no index, so it does not lead the engine to another plan.
        self.sql.push_str(match (filter.hidden, filter.pending) {
            (true, _) => " and state = 'hidden'",
            (false, Some(true)) => " and state = 'pending'",
            (false, Some(false)) => " and state = 'posted'",
            (false, None) => " and state not in ('removed', 'hidden')",
        });
        // A split transaction has the categories of its parts.
        let by_primary = prepared.category_like.as_deref().zip(prepared.part_like.as_deref());
        self.when_category("like", by_primary);
        let exact = filter.category.map(Category::detailed);
        self.when_category("=", exact.zip(prepared.part_is.as_deref()));
        self.sql.push_str(if filter.uncategorized { NO_CATEGORY } else { "" });
        self.sql.push_str(match filter.direction {
            Some(Direction::Inflow) => " and amount_minor > 0",
            Some(Direction::Outflow) => " and amount_minor < 0",
            None => "",
        });
        self.sql.push_str(match filter.transfers {
            Some(true) => " and transfer_kind is not null",
            Some(false) => " and transfer_kind is null",
            None => "",
        });
        self.sql.push_str(if filter.spending { SPENDING } else { "" });
        if let Some(tag) = prepared.tag.as_deref() {
            let at = self.bind(tag);
            // Asked for by their keys, because SQLite would otherwise walk the list and not the index of tags.
            self.push(format_args!(
                " and (posted_on, id) in (select g.posted_on, g.id from transactions g
                where g.user_id = $1 and g.tags > '' and strpos(g.tags, ${at}) > 0)"
            ));
        }
        self.push_amount(">=", filter.amount_min.map(AmountBound::least));
        self.push_amount("<=", filter.amount_max.map(AmountBound::greatest));
        if prepared.narrowed {
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

    /// Compares the size of the amount with a bound, in the minor units of the account's currency.
    fn push_amount(&mut self, comparison: &str, bound: Option<AmountBound>) {
        let Some(AmountBound { whole, hundredths, thousandths }) = bound else { return };
        let (whole, hundredths) = (self.bind(whole), self.bind(hundredths));
        let thousandths = self.bind(thousandths);
        let currency =
            "(select a.currency from accounts a where a.user_id = $1 and a.id = t.account_id)";
        let (none, three) = (&*NO_DECIMALS, &*THREE_DECIMALS);
        self.push(format_args!(
            " and abs(amount_minor) {comparison} case when {currency} in ({none}) then cast(${whole} as bigint)
            when {currency} in ({three}) then cast(${thousandths} as bigint)
            else cast(${hundredths} as bigint) end"
        ));
    }

    /// Compares the category, or the parts of a split that counts with a pattern.
    fn when_category(&mut self, comparison: &str, values: Option<(&'a str, &'a str)>) {
        let Some((category, part)) = values else { return };
        let (category, part) = (self.bind(category), self.bind(part));
        self.push(format_args!(
            " and case when split_minor = amount_minor then splits like ${part}
            else category {comparison} ${category} end"
        ));
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

/// The filters with their pattern, for a query to borrow. The search text is no part of a query: rows are compared as
/// they are read (see `search`), so that both engines treat upper and lower case alike.
pub(super) struct PreparedFilter<'f> {
    pub(super) filter: &'f Filter,
    category_like: Option<String>,
    /// The patterns of a part with the primary category, and of one with the exact one.
    part_like: Option<String>,
    part_is: Option<String>,
    /// The tag between spaces, as it is stored.
    tag: Option<String>,
    /// Whether the rows of invisible accounts must be left out one by one.
    narrowed: bool,
}

impl<'f> PreparedFilter<'f> {
    pub(super) fn new(filter: &'f Filter, narrowed: bool) -> PreparedFilter<'f> {
        PreparedFilter {
            filter,
            // The underscores are wildcards here, and match themselves; no two primaries differ only there.
            category_like: filter.category_tier1.as_ref().map(|it| format!("{it}_%")),
            part_like: filter.category_tier1.as_ref().map(|it| split::pattern_of_primary(it)),
            part_is: filter.category.map(split::pattern_of),
            tag: filter.tag.as_ref().map(|it| format!(" {it} ")),
            narrowed: narrowed && filter.account_id.is_none(),
        }
    }
}

impl PreparedFilter<'_> {
    /// Whether only some parts of a split transaction match, so that sums count those.
    pub(super) fn counts_parts(&self) -> bool {
        let Filter { category_tier1, category, spending, .. } = self.filter;
        category_tier1.is_some() || category.is_some() || *spending
    }

    /// Whether an index leads to the matches of every condition but a search text.
    pub(super) fn is_indexed(&self) -> bool {
        let of = self.filter;
        let indexed = Filter {
            account_id: of.account_id,
            start_on: of.start_on,
            end_on: of.end_on,
            updated_since: of.updated_since,
            q: of.q.clone(),
            tag: of.tag.clone(),
            counterparty: of.counterparty.clone(),
            ..Filter::default()
        };
        indexed == *of
    }

    /// Whether one index holds all columns that the query reads.
    fn is_covered(&self) -> bool {
        let Filter { account_id, pending, hidden, direction, transfers, .. } = *self.filter;
        let covered =
            Filter { account_id, pending, hidden, direction, transfers, ..Filter::default() };
        covered == *self.filter
    }
}

const AMOUNTS: &str =
    "select id, account_id, posted_on, amount_minor, transfer_kind, description, counterparty, note,
    split_minor, splits from transactions t where user_id = $1";
/// With the parts that count as spending.
const SPENDING_AMOUNTS: &str = concat!(
    "select id, account_id, posted_on, amount_minor, transfer_kind, description, counterparty, note,
    split_minor, splits, ",
    counted_parts!(),
    " from transactions t where user_id = $1"
);

fn amounts_of(filter: &Filter) -> String {
    if filter.spending { SPENDING_AMOUNTS.to_owned() } else { AMOUNTS.to_owned() }
}
// Transfers between own accounts are neither income nor spending. One index holds all these columns, and suffices if
// the filters ask for no others.
const SUMS: &str = "cast(count(*) as bigint),
    cast(sum(case when amount_minor > 0 and transfer_kind is null then amount_minor else 0 end) as bigint),
    cast(sum(case when amount_minor < 0 and transfer_kind is null then amount_minor else 0 end) as bigint)
    from transactions t where user_id = $1";
// Money out of an account that is spent from is spending, except where the recompute found that the sign is misleading.
const SPENDING: &str = concat!(
    " and coalesce(",
    counted_parts!(),
    ", case when amount_minor < 0 and transfer_kind is null
        and account_id in (select a.id from accounts a where a.user_id = $1 and a.kind in ('depository', 'credit'))
        then 1 else 0 end) <> 0"
);
// The account, as an expression that no index is sorted by: SQLite would otherwise read an index for its order and look
// up each row, which costs four times as much as reading the rows themselves.
const ACCOUNT_UNORDERED: &str = "nullif(account_id, user_id)";
// Asked for by their keys, so that SQLite reads the index of split transactions.
const SPLIT: &str = " and split_minor = amount_minor and (posted_on, id) in
    (select g.posted_on, g.id from transactions g where g.user_id = $1 and g.split_minor is not null)";
const NOT_SPLIT: &str = " and (split_minor is null or split_minor <> amount_minor)";
const NO_CATEGORY: &str =
    " and category is null and (split_minor is null or split_minor <> amount_minor)";
const NO_COUNTERPARTY: &str = " and coalesce(counterparty, '') = ''";
const NOT_HIDDEN: &str = " and not exists (select 1 from accounts a where a.user_id = t.user_id
    and a.id = t.account_id and a.hidden_at is not null)";

/// Every statement that filters can make, for the test that prepares them all.
pub(crate) fn statement_variants() -> Vec<String> {
    let user = base::UserId::from_bytes([0; 16]);
    let accounts = Some(std::sync::Arc::from([]));
    let id = base::KeyId::from_bytes([0; 16]);
    let credential = Credential::Key { id, scopes: crate::Scopes::all(), accounts };
    let timezone = base::TimeZone::utc();
    let callers = [Caller::owner(user, timezone), Caller { user, timezone, credential }];
    let after = (0, TransactionId::from_bytes([0; 16]));
    let days = Days { first: 0, last: 0 };
    let mut variants = Vec::new();
    for bits in 0..2048_u32 {
        let on = |bit: u32| bits & (1 << bit) != 0;
        let filter = Filter {
            account_id: on(0).then_some(AccountId::from_bytes([0; 16])),
            start_on: on(1).then_some(Date::ZERO),
            end_on: on(2).then_some(Date::ZERO),
            updated_since: on(3).then_some(Timestamp::UNIX_EPOCH),
            pending: on(4).then_some(true),
            hidden: on(5) && on(9),
            category_tier1: on(5).then(|| "TRAVEL".to_owned()),
            q: on(6).then(|| "e".to_owned()),
            category: on(10).then_some(Category::ALL[0]),
            uncategorized: on(10),
            direction: on(10).then_some(if on(9) { Direction::Inflow } else { Direction::Outflow }),
            transfers: on(10).then_some(on(9)),
            amount_min: (on(9) && on(3)).then_some(Fixed9::ZERO),
            amount_max: (on(9) && on(4)).then_some(Fixed9::ZERO),
            tag: (on(9) && on(2)).then(|| "work".to_owned()),
            counterparty: (on(9) && on(1)).then(|| "Apple".to_owned()),
            without_counterparty: on(9) && on(6),
            spending: on(9) && on(0),
        };
        let prepared = PreparedFilter::new(&filter, on(7));
        for caller in &callers {
            if bits & 0b1111 == 0 {
                let after = SortedPosition { size: 0, day: 0, id: after.1 };
                let after = on(8).then_some(after);
                let all = Sort::ALL.iter().map(|it| (*it, false));
                for (sort, only_large) in all.chain([(Sort::Largest, true)]) {
                    let range = SortedRange { sort, after, only_large, limit: 1 };
                    variants.push(Query::sorted(caller, &prepared, range).sql);
                }
            }
            variants.push(Query::count(caller, &prepared).sql);
            variants.push(Query::totals(caller, &prepared, on(8)).sql);
            let (after, days) = (on(8).then_some(after), on(6).then_some(days));
            let range = ListRange { after, days, limit: 1 };
            variants.push(Query::rows(caller, &prepared, range).sql);
            variants.push(Query::amounts(caller, &prepared, range).sql);
            variants.push(Query::split_amounts(caller, &prepared).sql);
        }
    }
    let position = SortedPosition { size: 0, day: 0, id: after.1 };
    for count in ID_COUNTS {
        let positions = vec![position; count];
        variants.extend(Sort::ALL.iter().map(|it| Query::rows_at(user, *it, &positions).sql));
    }
    variants.sort();
    variants.dedup();
    variants
}
