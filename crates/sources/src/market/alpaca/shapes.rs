//! What Alpaca's answers hold, and what we make of it. Any part may be missing or null, and on a
//! feed with few trades any price may be zero.

use std::collections::BTreeMap;

use base::{Date, Fixed9, Timestamp};
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::decimal::nine_places;
use crate::market::{CorporateAction, Happening, Kind, Quote, names};

#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Snapshots(BTreeMap<String, Option<Snapshot>>);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Snapshot {
    latest_trade: Option<Trade>,
    minute_bar: Option<Bar>,
    daily_bar: Option<Bar>,
    prev_daily_bar: Option<Bar>,
}

#[derive(Deserialize)]
struct Trade {
    #[serde(rename = "t")]
    at: Option<String>,
    #[serde(rename = "p")]
    price: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Bar {
    /// When it begins: a day's at midnight in New York.
    #[serde(rename = "t")]
    at: Option<String>,
    #[serde(rename = "c")]
    close: Option<Box<RawValue>>,
}

/// A price, and the day of the session that it is from.
struct Told {
    price: Fixed9,
    at: Timestamp,
    session: Date,
}

impl Snapshots {
    pub(super) fn quotes(self, now: Timestamp) -> Vec<Quote> {
        let known = self.0.into_iter().filter_map(|(symbol, it)| Some((symbol, it?)));
        known.filter_map(|(symbol, it)| it.quote(symbol, now)).collect()
    }
}

const MINUTE: SignedDuration = SignedDuration::from_mins(1);
/// From midnight to the end of regular trading.
const TRADING_DAY: SignedDuration = SignedDuration::from_hours(16);

impl Snapshot {
    /// None when nothing in it has a price.
    fn quote(&self, symbol: String, now: Timestamp) -> Option<Quote> {
        let trade = self.latest_trade.as_ref().and_then(Trade::told);
        let minute = || self.minute_bar.as_ref()?.ended(MINUTE, now);
        let day = || self.daily_bar.as_ref()?.ended(TRADING_DAY, now);
        let told = trade.or_else(minute).or_else(day)?;
        Some(Quote {
            name: names::name_of(&symbol).map(str::to_owned),
            kind: names::kind_of(&symbol).unwrap_or(Kind::Equity),
            symbol,
            price: told.price,
            previous_close: self.close_before(told.session),
            at: told.at,
        })
    }

    /// Before the first trade of a day, `dailyBar` is still that of the session before: a price
    /// from early trading has its previous close there, and not in `prevDailyBar`.
    fn close_before(&self, session: Date) -> Option<Fixed9> {
        let bars = [&self.daily_bar, &self.prev_daily_bar].into_iter().flatten();
        let earlier = bars.filter_map(Bar::told).filter(|it| it.session < session);
        earlier.max_by_key(|it| it.session).map(|it| it.price)
    }
}

impl Trade {
    fn told(&self) -> Option<Told> {
        told(self.at.as_deref(), self.price.as_deref())
    }
}

impl Bar {
    fn told(&self) -> Option<Told> {
        told(self.at.as_deref(), self.close.as_deref())
    }

    /// Its close is what the market said at its end, or until now if it goes on.
    fn ended(&self, length: SignedDuration, now: Timestamp) -> Option<Told> {
        let told = self.told()?;
        let end = told.at.checked_add(length).unwrap_or(now);
        Some(Told { at: end.min(now), ..told })
    }
}

fn told(at: Option<&str>, price: Option<&RawValue>) -> Option<Told> {
    let at: Timestamp = at?.parse().ok()?;
    let new_york = TimeZone::get("America/New_York").ok()?;
    Some(Told { price: positive(price)?, at, session: at.to_zoned(new_york).date() })
}

fn positive(number: Option<&RawValue>) -> Option<Fixed9> {
    nine_places(number?.get()).filter(|it| *it > Fixed9::ZERO)
}

#[derive(Deserialize)]
pub(super) struct ActionPage {
    corporate_actions: Option<Actions>,
    pub(super) next_page_token: Option<String>,
}

#[derive(Default, Deserialize)]
struct Actions {
    forward_splits: Option<Vec<Split>>,
    reverse_splits: Option<Vec<Split>>,
    cash_dividends: Option<Vec<Dividend>>,
}

#[derive(Deserialize)]
struct Split {
    symbol: String,
    ex_date: String,
    new_rate: Option<Box<RawValue>>,
    old_rate: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Dividend {
    symbol: String,
    ex_date: String,
    rate: Option<Box<RawValue>>,
    payable_date: Option<String>,
    process_date: Option<String>,
}

impl ActionPage {
    pub(super) fn into_actions(self) -> impl Iterator<Item = CorporateAction> {
        let actions = self.corporate_actions.unwrap_or_default();
        let splits = [actions.forward_splits, actions.reverse_splits].into_iter().flatten();
        let splits = splits.flatten().filter_map(Split::action);
        let dividends = actions.cash_dividends.into_iter().flatten();
        splits.chain(dividends.filter_map(Dividend::action))
    }
}

impl Split {
    fn action(self) -> Option<CorporateAction> {
        let to = positive(self.new_rate.as_deref())?.billionths();
        let from = positive(self.old_rate.as_deref())?.billionths();
        let common = greatest_common_divisor(to, from);
        let what = Happening::Split {
            to: u32::try_from(to / common).ok()?,
            from: u32::try_from(from / common).ok()?,
        };
        Some(CorporateAction { symbol: self.symbol, ex_on: self.ex_date.parse().ok()?, what })
    }
}

/// Of two numbers greater than zero.
fn greatest_common_divisor(mut larger: i128, mut smaller: i128) -> i128 {
    while smaller != 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    larger
}

impl Dividend {
    fn action(self) -> Option<CorporateAction> {
        let pay_on = self.payable_date.or(self.process_date)?.parse().ok()?;
        let what = Happening::Dividend { each: positive(self.rate.as_deref())?, pay_on };
        Some(CorporateAction { symbol: self.symbol, ex_on: self.ex_date.parse().ok()?, what })
    }
}
