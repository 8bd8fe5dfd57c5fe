//! Tests that the demo market is deterministic and moves within its bounds.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;

use super::super::{ActionTerms, MarketError};
use super::*;

fn resolve<T>(future: ProviderFuture<'_, T>) -> Result<T, MarketError> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("the demo market has nothing to wait for"),
    }
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn quote(symbol: &str, now: &str) -> Quote {
    resolve(DemoMarket.quotes(vec![symbol.to_owned()], at(now))).unwrap().remove(0)
}

fn cents(price: Fixed9) -> i64 {
    assert_eq!(price.billionths() % 10_000_000, 0, "{price} is not in cents");
    (price.billionths() / 10_000_000) as i64
}

fn price(listing: &Listing, now: Timestamp) -> i64 {
    cents(listing.quote(&Moment::at(now)).price)
}

fn sessions(from: &str, count: usize) -> impl Iterator<Item = Session> {
    let days = std::iter::successors(Some(from.parse::<Date>().unwrap()), |it| it.tomorrow().ok());
    days.filter_map(session_on).take(count)
}

#[test]
fn prices_are_the_same_on_every_machine() {
    let quote = quote("AAPL", "2026-11-25T15:00:59Z");
    assert_eq!((quote.name.as_deref(), quote.kind), (Some("Apple"), InstrumentKind::Equity));
    assert_eq!(quote.at, at("2026-11-25T15:00:00Z"));
    let prices = (cents(quote.price), quote.previous_close.map(cents));
    assert_eq!(prices, (25_676, Some(25_829)));
}

#[test]
fn prices_stay_at_the_close_outside_a_session() {
    let close = quote("MSFT", "2026-11-25T21:00:00Z");
    assert_eq!(close.at, at("2026-11-25T21:00:00Z"));
    for later in ["2026-11-26T16:00:00Z", "2026-11-27T14:29:59Z"] {
        assert_eq!(quote("MSFT", later), close);
    }
    let friday = quote("MSFT", "2026-11-27T14:30:00Z");
    assert_eq!(friday.previous_close, Some(close.price));
    assert_ne!(friday.price, close.price);
}

#[test]
fn prices_change_by_the_minute_and_not_by_the_second() {
    let spy = LISTINGS.iter().find(|it| it.symbol == "SPY").unwrap();
    let opening = at("2026-11-25T14:30:00Z");
    let minutes = (0..390).map(|it| opening + jiff::SignedDuration::from_mins(it));
    let prices: Vec<i64> = minutes.map(|it| price(spy, it)).collect();
    let moved = prices.windows(2).filter(|it| it[0] != it[1]).count();
    assert!(moved > 350, "{moved} of 389");
    let within = opening + jiff::SignedDuration::from_secs(59);
    assert_eq!(price(spy, opening), price(spy, within));
}

#[test]
fn prices_move_by_about_a_percent_a_day_and_stay_within_a_third() {
    for listing in &LISTINGS {
        let closes: Vec<i64> =
            sessions("2024-01-01", 1_000).map(|it| price(listing, it.closes_at)).collect();
        let moves = closes.windows(2).map(|it| (it[1] - it[0]).abs() * 1_000_000 / it[0]);
        let usual = moves.sum::<i64>() / 999;
        let expected = listing.swing * 60..=listing.swing * 110;
        assert!(expected.contains(&usual), "{} moves by {usual} millionths", listing.symbol);
        let off = closes.iter().map(|it| (it - listing.level_cents).abs() * 100);
        assert!(off.max() <= Some(listing.level_cents * 35), "{}", listing.symbol);
    }
}

#[test]
fn funds_of_one_index_move_together() {
    let listing = |symbol: &str| LISTINGS.iter().find(|it| it.symbol == symbol).unwrap();
    let (spy, voo) = (listing("SPY"), listing("VOO"));
    for session in sessions("2026-10-01", 40) {
        let now = session.closes_at;
        let (a, b) = (price(spy, now) * voo.level_cents, price(voo, now) * spy.level_cents);
        assert!((a - b).abs() < spy.level_cents + voo.level_cents);
    }
}

#[test]
fn every_listing_has_a_name_and_unknown_symbols_are_left_out() {
    for listing in &LISTINGS {
        assert!(names::name_of(listing.symbol).is_some(), "{}", listing.symbol);
        assert!((1..=90).contains(&listing.swing) && (0..=100).contains(&listing.own));
        assert_eq!(LISTINGS.iter().filter(|it| it.symbol == listing.symbol).count(), 1);
    }
    let symbols = ["KO", "NOSUCH", "ko"].map(str::to_owned).to_vec();
    let quotes = resolve(DemoMarket.quotes(symbols, at("2026-11-25T15:00:00Z"))).unwrap();
    assert_eq!(quotes.into_iter().map(|it| it.symbol).collect::<Vec<_>>(), ["KO"]);
}

#[test]
fn some_listings_pay_quarterly_dividends_and_none_splits() {
    let actions = |symbols: &[&str], from: &str, to: &str| {
        let symbols = symbols.iter().map(|it| (*it).to_owned()).collect();
        let (from, to) = (from.parse().unwrap(), to.parse().unwrap());
        resolve(DemoMarket.corporate_actions(symbols, from, to)).unwrap()
    };
    let dividends: Vec<String> = actions(&["KO", "AAPL", "TSLA"], "2026-02-01", "2026-06-12")
        .into_iter()
        .map(|it| match it.terms {
            ActionTerms::Dividend { each, pay_on } => {
                format!("{} {} {each} {pay_on}", it.symbol, it.ex_on)
            }
            ActionTerms::Split { .. } => panic!("{} splits", it.symbol),
        })
        .collect();
    // May 9 and June 13 are Saturdays.
    assert_eq!(
        dividends,
        [
            "AAPL 2026-02-09 0.27 2026-03-02",
            "KO 2026-03-13 0.53 2026-04-06",
            "AAPL 2026-05-11 0.27 2026-06-01",
        ]
    );
    assert_eq!(actions(&["KO"], "2026-06-15", "2026-06-15").len(), 1);
    assert_eq!(actions(&["KO"], "2026-06-16", "2026-06-15").len(), 0);
    assert_eq!(actions(&["SPY"], "2000-01-01", "2009-12-31").len(), 40);
    assert!(actions(&["SPY"], "0001-01-01", "9999-12-31").len() > 39_900);
}

#[test]
fn the_first_and_last_timestamps_have_prices() {
    for now in [Timestamp::MIN, Timestamp::MAX] {
        let quotes = resolve(DemoMarket.quotes(vec!["KO".to_owned()], now)).unwrap();
        assert!(quotes[0].price > Fixed9::ZERO && quotes[0].at <= now);
    }
}

proptest! {
    #[test]
    fn a_quote_depends_only_on_symbol_and_time(
        index in 0..LISTINGS.len(), second in 1_600_000_000_i64..2_200_000_000,
    ) {
        let now = Timestamp::from_second(second).unwrap();
        let fetch = || resolve(DemoMarket.quotes(vec![LISTINGS[index].symbol.to_owned()], now));
        let quotes = fetch().unwrap();
        prop_assert_eq!(&quotes, &fetch().unwrap());
        let quote = &quotes[0];
        let (price, previous) = (cents(quote.price), cents(quote.previous_close.unwrap()));
        prop_assert!(price > 0 && previous > 0);
        prop_assert!((price - previous).abs() * 100 <= previous * 12);
        prop_assert!(quote.at <= now && last_session(now).opens_at <= quote.at);
    }
}
