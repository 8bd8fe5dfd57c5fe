//! Alpaca's response bodies, and their conversion. Any part may be missing or null, and on a feed with few trades any
//! price may be zero.

use std::collections::BTreeMap;

use base::{Date, Fixed9, Timestamp};
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json_decimal::parse_json_decimal;
use crate::market::{ActionTerms, CorporateAction, InstrumentKind, Quote, names};

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
    /// The beginning of the bar; that of a day is midnight in New York.
    #[serde(rename = "t")]
    at: Option<String>,
    #[serde(rename = "c")]
    close: Option<Box<RawValue>>,
}

/// A price, and the date of its session.
struct PricePoint {
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
    /// None if there is no price in it.
    fn quote(&self, symbol: String, now: Timestamp) -> Option<Quote> {
        let trade = self.latest_trade.as_ref().and_then(Trade::price_point);
        let minute = || self.minute_bar.as_ref()?.ended(MINUTE, now);
        let day = || self.daily_bar.as_ref()?.ended(TRADING_DAY, now);
        let point = trade.or_else(minute).or_else(day)?;
        Some(Quote {
            name: names::name_of(&symbol).map(str::to_owned),
            kind: names::kind_of(&symbol).unwrap_or(InstrumentKind::Equity),
            symbol,
            price: point.price,
            previous_close: self.close_before(point.session),
            at: point.at,
        })
    }

    /// Before the first trade of a day, `dailyBar` is still that of the previous session: a price from early trading
    /// has its previous close there, and not in `prevDailyBar`.
    fn close_before(&self, session: Date) -> Option<Fixed9> {
        let bars = [&self.daily_bar, &self.prev_daily_bar].into_iter().flatten();
        let earlier = bars.filter_map(Bar::price_point).filter(|it| it.session < session);
        earlier.max_by_key(|it| it.session).map(|it| it.price)
    }
}

impl Trade {
    fn price_point(&self) -> Option<PricePoint> {
        price_point(self.at.as_deref(), self.price.as_deref())
    }
}

impl Bar {
    fn price_point(&self) -> Option<PricePoint> {
        price_point(self.at.as_deref(), self.close.as_deref())
    }

    /// The bar's close: its price at the end of the bar, or now if the bar is not over.
    fn ended(&self, length: SignedDuration, now: Timestamp) -> Option<PricePoint> {
        let point = self.price_point()?;
        let end = point.at.checked_add(length).unwrap_or(now);
        Some(PricePoint { at: end.min(now), ..point })
    }
}

fn price_point(at: Option<&str>, price: Option<&RawValue>) -> Option<PricePoint> {
    let at: Timestamp = at?.parse().ok()?;
    let new_york = TimeZone::get("America/New_York").ok()?;
    Some(PricePoint { price: positive(price)?, at, session: at.to_zoned(new_york).date() })
}

fn positive(number: Option<&RawValue>) -> Option<Fixed9> {
    parse_json_decimal(number?.get()).filter(|it| *it > Fixed9::ZERO)
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
        let terms = ActionTerms::Split {
            to: u32::try_from(to / common).ok()?,
            from: u32::try_from(from / common).ok()?,
        };
        Some(CorporateAction { symbol: self.symbol, ex_on: self.ex_date.parse().ok()?, terms })
    }
}

/// Both numbers are greater than zero.
fn greatest_common_divisor(mut larger: i128, mut smaller: i128) -> i128 {
    while smaller != 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    larger
}

impl Dividend {
    fn action(self) -> Option<CorporateAction> {
        let pay_on = self.payable_date.or(self.process_date)?.parse().ok()?;
        let terms = ActionTerms::Dividend { each: positive(self.rate.as_deref())?, pay_on };
        Some(CorporateAction { symbol: self.symbol, ex_on: self.ex_date.parse().ok()?, terms })
    }
}
