//! Recurring streams: payments that come in or go out on a schedule, such as pay, bills and subscriptions.

mod automatic;
mod calendar;
mod choices;
mod detail;
mod feed;
mod merging;
mod recompute;

use std::collections::{BTreeMap, BTreeSet};

use base::category::Category;
use base::{AccountId, Currency, Date, Money, StreamId, Timestamp, TransactionId, date_from_days};
use calc::rates::Rates;
use calc::recurring::AmountClass;
pub use calc::recurring::{Confidence, Frequency, PriceChange, Status};
use db::params;
use wire::json::{Day, Moment, Number};
use wire::v1::{self, Scope};

use crate::access::users;
use crate::ledger::net_worth::ExcludedBalance;
use crate::ledger::rates::UsedRate;
use crate::ledger::{Direction, accounts, rates};
use crate::{App, Caller, Error, Result};

pub(super) use calendar::expected_days;
pub use calendar::{Due, Month, State, month};
pub use choices::{StreamLabels, dismiss, get_labels, restore, set_labels};
pub use detail::{Payment, find, get};
pub use feed::{
    Feed, FeedDetail, FeedEvent, create_feed, find_feed, list_feed_events, revoke_feed,
};
pub use merging::{MergedPart, merge, separate};
pub(super) use recompute::{recompute, recurring_inflows};

base::words!(Kind {
    Income => "income",
    Subscription => "subscription",
    Bill => "bill",
    Transfer => "transfer",
    Other => "other",
});
db::word_columns!(Kind);

/// The most transactions of a stream that the API lists.
const SHOWN_TRANSACTIONS: usize = 24;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    pub id: StreamId,
    pub account_id: AccountId,
    pub direction: Direction,
    pub merchant_key: String,
    pub currency: Currency,
    pub name: String,
    pub counterparty: Option<String>,
    pub counterparty_logo_url: Option<String>,
    pub category: Option<Category>,
    pub kind: Kind,
    pub frequency: Frequency,
    pub status: Status,
    pub confidence: Confidence,
    pub amount_class: AmountClass,
    pub average_minor: i64,
    pub last_minor: i64,
    pub min_minor: i64,
    pub max_minor: i64,
    pub monthly_minor: i64,
    pub first_on: Date,
    pub last_on: Date,
    pub next_expected_on: Option<Date>,
    /// Newest first.
    pub transactions: Vec<TransactionId>,
    pub price_changes: Vec<PriceChange>,
    pub missed_on: Vec<Date>,
    /// When the person said that it is no recurring payment.
    pub dismissed_at: Option<Timestamp>,
    /// The amount that the person expects, without a sign.
    pub own_amount_minor: Option<i64>,
    /// The stream that the person merged it into.
    pub merged_into: Option<StreamId>,
    /// The streams that were merged into it. Filled in when streams are listed.
    pub merged: Vec<MergedPart>,
    pub updated_at: Timestamp,
}

impl Stream {
    /// The amount of the next payment, without a sign: the person's own, or else the average of one that varies, or else
    /// the last one.
    pub fn expected_minor(&self) -> i64 {
        let detected =
            if self.amount_class.is_variable() { self.average_minor } else { self.last_minor };
        self.own_amount_minor.unwrap_or(detected)
    }

    /// Whether the expected amount is an average.
    pub fn is_amount_estimated(&self) -> bool {
        self.own_amount_minor.is_none() && self.amount_class.is_variable()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// None for streams of any status.
    pub status: Option<Status>,
    pub account_id: Option<AccountId>,
    pub direction: Option<Direction>,
}

/// Streams with the names of their accounts, and the monthly totals of the active ones.
#[derive(Debug, Clone)]
pub struct StreamList {
    pub as_of: Timestamp,
    pub currency: Currency,
    pub monthly_inflow_minor: i64,
    pub monthly_outflow_minor: i64,
    /// The net monthly amount of active streams in currencies without an exchange rate, which are in no total.
    pub excluded: Vec<ExcludedBalance>,
    /// The exchange rates of the totals.
    pub rates: Vec<UsedRate>,
    pub streams: Vec<(Stream, String)>,
    /// How many streams the person dismissed. They are not listed.
    pub dismissed_count: usize,
}

/// Lists streams, active ones first, then by the next expected date. Dismissed streams are left out, and those of a
/// hidden account unless the filter names it.
pub async fn list(app: &App, caller: &Caller, filter: Filter) -> Result<StreamList> {
    caller.require(Scope::RecurringRead)?;
    let accounts = accounts::list_all(app, caller).await?;
    if let Some(id) = filter.account_id
        && !accounts.iter().any(|it| it.id == id)
    {
        return Err(Error::NotFound("account"));
    }
    let as_of = app.db.first(COMPUTED_AT, params![caller.user], |row| row.get(0)).await?;
    let all = app.db.all(LIST, params![caller.user], read).await?;
    let shown = |it: &Stream| {
        let account = accounts.iter().find(|account| account.id == it.account_id);
        account.is_some_and(|account| match filter.account_id {
            Some(id) => id == account.id,
            None => account.hidden_at.is_none(),
        })
    };
    let is_dismissed = |it: &&Stream| it.dismissed_at.is_some() && it.merged_into.is_none();
    let dismissed_count = all.iter().filter(is_dismissed).count();
    let shown = merging::fold(all.into_iter().filter(shown).collect()).into_iter();
    let matches = |it: &Stream| {
        it.dismissed_at.is_none()
            && filter.status.is_none_or(|status| status == it.status)
            && filter.direction.is_none_or(|direction| direction == it.direction)
    };
    let mut streams = named(shown.filter(matches), &accounts);
    streams.sort_by_key(|(it, _)| {
        (it.status == Status::Ended, it.next_expected_on.is_none(), it.next_expected_on, it.id)
    });
    let currency = users::base_currency(app, caller).await?;
    let rates = rates::latest(app, caller, currency).await?;
    let monthly = |direction| -> i64 {
        let active = streams.iter().map(|(it, _)| it).filter(|it| it.status == Status::Active);
        let of_kind = active.filter(|it| it.direction == direction);
        // A stream in a currency without an exchange rate is left out of the totals.
        let worth = of_kind.filter_map(|it| rates.to_base(it.monthly_minor, it.currency));
        worth.fold(0, i64::saturating_add)
    };
    Ok(StreamList {
        as_of: as_of.unwrap_or_else(|| app.clock.now()),
        currency,
        monthly_inflow_minor: monthly(Direction::Inflow),
        monthly_outflow_minor: monthly(Direction::Outflow),
        excluded: excluded(&streams, &rates),
        rates: rates::used(&rates, streams.iter().map(|(it, _)| it.currency)),
        streams,
        dismissed_count,
    })
}

/// The streams that the person dismissed, with the names of their accounts, by name.
pub async fn list_dismissed(app: &App, caller: &Caller) -> Result<Vec<(Stream, String)>> {
    caller.require(Scope::RecurringRead)?;
    caller.require_owner("stream")?;
    let accounts = accounts::list_all(app, caller).await?;
    let all = merging::fold(app.db.all(LIST, params![caller.user], read).await?);
    let mut named = named(all.into_iter().filter(|it| it.dismissed_at.is_some()), &accounts);
    named.sort_by(|(a, _), (b, _)| (&a.name, a.id).cmp(&(&b.name, b.id)));
    Ok(named)
}

/// Streams with the names of their accounts.
fn named(
    streams: impl Iterator<Item = Stream>,
    accounts: &[accounts::Account],
) -> Vec<(Stream, String)> {
    let named = streams.filter_map(|stream| {
        let account = accounts.iter().find(|it| it.id == stream.account_id)?;
        Some((stream, account.name.clone()))
    });
    named.collect()
}

/// What the totals leave out, by currency.
fn excluded(streams: &[(Stream, String)], rates: &Rates) -> Vec<ExcludedBalance> {
    let mut sums: BTreeMap<Currency, (i64, BTreeSet<AccountId>)> = BTreeMap::new();
    let active = streams.iter().map(|(it, _)| it).filter(|it| it.status == Status::Active);
    for stream in active.filter(|it| rates.to_base(it.monthly_minor, it.currency).is_none()) {
        let (minor, accounts) = sums.entry(stream.currency).or_default();
        *minor = match stream.direction {
            Direction::Inflow => minor.saturating_add(stream.monthly_minor),
            Direction::Outflow => minor.saturating_sub(stream.monthly_minor),
        };
        accounts.insert(stream.account_id);
    }
    let row = |(currency, (minor, accounts)): (Currency, (i64, BTreeSet<AccountId>))| {
        ExcludedBalance { currency, minor, accounts: accounts.len() }
    };
    sums.into_iter().map(row).collect()
}

/// The stream of that account and merchant that a transaction is part of.
pub(crate) async fn find_of_transaction(
    app: &App,
    caller: &Caller,
    (account, merchant_key): (AccountId, &str),
    transaction: TransactionId,
) -> Result<Option<Stream>> {
    let of_merchant = params![caller.user, account, merchant_key];
    let streams = app.db.all(OF_MERCHANT, of_merchant, read).await?;
    let mut kept = streams.into_iter().filter(|it| it.dismissed_at.is_none());
    let Some(found) = kept.find(|it| it.transactions.contains(&transaction)) else {
        return Ok(None);
    };
    let Some(target) = found.merged_into else { return Ok(Some(found)) };
    let target = app.db.first(GET, params![caller.user, target], read).await?;
    let target = target.filter(|it| caller.may_see(it.account_id));
    Ok(target.map_or(Some(found), |it| Some(it).filter(|it| it.dismissed_at.is_none())))
}

impl From<&StreamList> for v1::Recurring {
    fn from(listed: &StreamList) -> v1::Recurring {
        let StreamList { currency, monthly_inflow_minor, monthly_outflow_minor, .. } = *listed;
        let money = |minor| Number::from(Money::new(minor, currency));
        v1::Recurring {
            as_of: Moment(listed.as_of),
            totals: v1::StreamTotals {
                monthly_inflow: money(monthly_inflow_minor),
                monthly_outflow: money(monthly_outflow_minor),
                monthly_net: money(monthly_inflow_minor.saturating_sub(monthly_outflow_minor)),
                excluded: listed.excluded.iter().map(Into::into).collect(),
            },
            exchange_rates: listed.rates.iter().map(Into::into).collect(),
            streams: listed.streams.iter().map(|(it, account)| to_wire(it, account)).collect(),
        }
    }
}

/// A stream as the API shows it.
pub fn to_wire(stream: &Stream, account_name: &str) -> v1::Stream {
    let money = |minor| Number::from(Money::new(minor, stream.currency));
    let change = |it: &PriceChange| v1::PriceChange {
        date: Day(it.on),
        from_amount: money(it.from_minor),
        to_amount: money(it.to_minor),
    };
    v1::Stream {
        id: stream.id.to_string(),
        name: stream.name.clone(),
        counterparty_name: stream.counterparty.clone(),
        counterparty_logo_url: stream.counterparty_logo_url.clone(),
        account_id: stream.account_id.to_string(),
        account_name: account_name.to_owned(),
        currency: stream.currency.to_string(),
        cash_flow_direction: stream.direction.as_str(),
        stream_type: stream.kind.as_str(),
        category_label: stream.category.map(Category::label),
        category_tier1: stream.category.map(Category::primary),
        category_tier2: stream.category.map(Category::detailed),
        frequency: stream.frequency.as_str(),
        status: stream.status.as_str(),
        confidence: stream.confidence.as_str(),
        average_amount: money(stream.average_minor),
        last_amount: money(stream.last_minor),
        min_amount: money(stream.min_minor),
        max_amount: money(stream.max_minor),
        amount_is_variable: stream.amount_class.is_variable(),
        monthly_amount: money(stream.monthly_minor),
        first_date: Day(stream.first_on),
        last_date: Day(stream.last_on),
        next_expected_date: stream.next_expected_on.map(Day),
        occurrence_count: stream.transactions.len() as i64,
        transaction_ids: stream
            .transactions
            .iter()
            .take(SHOWN_TRANSACTIONS)
            .map(ToString::to_string)
            .collect(),
        price_changes: stream.price_changes.iter().map(change).collect(),
        missed_dates: stream.missed_on.iter().copied().map(Day).collect(),
        updated_at: Moment(stream.updated_at),
    }
}

fn read(row: &db::Row<'_>) -> db::Result<Stream> {
    let ids: &[u8] = row.get(22)?;
    let id = |bytes: &[u8]| {
        let mut id = [0; 16];
        id.copy_from_slice(bytes);
        TransactionId::from_bytes(id)
    };
    let numbers = |column: usize| -> db::Result<Vec<i64>> {
        serde_json::from_str(row.get(column)?)
            .map_err(|error| db::Error::Decode { column, reason: error.to_string() })
    };
    let price_change =
        |it: &[i64]| PriceChange { on: date_from_days(it[0]), from_minor: it[1], to_minor: it[2] };
    Ok(Stream {
        id: row.get(0)?,
        account_id: row.get(1)?,
        direction: row.get(2)?,
        merchant_key: row.get(3)?,
        currency: row.get(4)?,
        name: row.get(5)?,
        counterparty: row.get(6)?,
        counterparty_logo_url: row.get(7)?,
        category: row.optional_word(8, "category", Category::parse)?,
        kind: row.get(9)?,
        frequency: row.word(10, "frequency", Frequency::parse)?,
        status: row.word(11, "stream status", Status::parse)?,
        confidence: row.word(12, "confidence", Confidence::parse)?,
        amount_class: row.word(13, "amount class", AmountClass::parse)?,
        average_minor: row.get(14)?,
        last_minor: row.get(15)?,
        min_minor: row.get(16)?,
        max_minor: row.get(17)?,
        monthly_minor: row.get(18)?,
        first_on: row.get(19)?,
        last_on: row.get(20)?,
        next_expected_on: row.get(21)?,
        transactions: ids.chunks_exact(16).map(id).collect(),
        price_changes: numbers(23)?.chunks_exact(3).map(price_change).collect(),
        missed_on: numbers(24)?.into_iter().map(date_from_days).collect(),
        updated_at: row.get(25)?,
        dismissed_at: row.get(26)?,
        own_amount_minor: row.get(27)?,
        merged_into: row.get(28)?,
        merged: Vec::new(),
    })
}

/// The columns that `read` reads.
macro_rules! stream_columns {
    () => {
        "id, account_id, direction, merchant_key, currency, name, counterparty, counterparty_logo_url, category,
        stream_type, frequency, status, confidence, amount_class, average_minor, last_minor, min_minor, max_minor,
        monthly_minor, first_on, last_on, next_expected_on, transaction_ids, price_changes, missed_on, updated_at,
        dismissed_at, own_amount_minor, merged_into"
    };
}

const LIST: &str = concat!("select ", stream_columns!(), " from streams where user_id = $1");
const OF_MERCHANT: &str = concat!(
    "select ",
    stream_columns!(),
    " from streams where user_id = $1 and account_id = $2 and merchant_key = $3"
);
const GET: &str =
    concat!("select ", stream_columns!(), " from streams where user_id = $1 and id = $2");
const COMPUTED_AT: &str = "select computed_at from insights where user_id = $1";

pub(super) fn statements() -> Vec<&'static str> {
    [
        &[LIST, OF_MERCHANT, GET, COMPUTED_AT],
        calendar::STATEMENTS,
        choices::STATEMENTS,
        recompute::STATEMENTS,
        detail::STATEMENTS,
        feed::STATEMENTS,
    ]
    .concat()
}
