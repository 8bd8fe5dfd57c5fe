//! Quotes from Alpaca snapshots.

use base::Fixed9;
use sources::market::{InstrumentKind, Quote, QuoteProvider as _};
use testkit::alpaca::Alpaca;
use testkit::at;

use super::{provider, symbols};

const NOW: &str = "2026-11-16T19:00:00Z";

/// A complete snapshot from a Monday afternoon; the previous session was on Friday.
const FULL_SNAPSHOT: &str = r#"{
    "latestTrade": {"t": "2026-11-16T18:59:58.123456789Z", "x": "V", "p": 187.1, "s": 100,
                    "c": ["@"], "i": 61462, "z": "C"},
    "latestQuote": {"t": "2026-11-16T18:59:58.532316972Z", "ax": "V", "ap": 0, "as": 0,
                    "bx": "V", "bp": 186.94, "bs": 2, "c": ["R"], "z": "C"},
    "minuteBar": {"t": "2026-11-16T18:58:00Z", "o": 187.2, "h": 187.3, "l": 187.0, "c": 187.05,
                  "v": 182818, "n": 12, "vw": 187.123456},
    "dailyBar": {"t": "2026-11-16T05:00:00Z", "o": 185, "h": 188, "l": 184.5, "c": 187.05,
                 "v": 25094213, "n": 99, "vw": 186.5},
    "prevDailyBar": {"t": "2026-11-13T05:00:00Z", "o": 183, "h": 186, "l": 182, "c": 184.4,
                     "v": 109506363, "n": 99, "vw": 184.1}}"#;

async fn quoted(json: &str) -> Option<Quote> {
    let alpaca = Alpaca::start().await;
    alpaca.snapshot("AAPL", json);
    let mut quotes = provider(&alpaca).quotes(symbols("AAPL"), at(NOW)).await.unwrap();
    assert!(quotes.len() <= 1);
    quotes.pop()
}

/// Price, previous close and time, as text.
async fn shown(json: &str) -> Option<(String, Option<String>, String)> {
    let quote = quoted(json).await?;
    let close = quote.previous_close.map(|it| it.to_string());
    Some((quote.price.to_string(), close, quote.at.to_string()))
}

fn some(price: &str, close: Option<&str>, at: &str) -> Option<(String, Option<String>, String)> {
    Some((price.to_owned(), close.map(str::to_owned), at.to_owned()))
}

#[tokio::test]
async fn a_quote_is_the_latest_trade_to_the_nanosecond() {
    assert_eq!(
        quoted(FULL_SNAPSHOT).await,
        Some(Quote {
            symbol: "AAPL".to_owned(),
            name: Some("Apple".to_owned()),
            kind: InstrumentKind::Equity,
            price: Fixed9::parse("187.1").unwrap(),
            previous_close: Some(Fixed9::parse("184.4").unwrap()),
            at: at("2026-11-16T18:59:58.123456789Z"),
        })
    );
}

#[tokio::test]
async fn prices_are_parsed_exactly_from_their_digits() {
    for (written, price) in [
        ("0.1", "0.1"),
        ("722350.01", "722350.01"),
        ("1.2345e2", "123.45"),
        ("16.777217", "16.777217"),
        ("0.30000000000000004", "0.3"),
    ] {
        let json = FULL_SNAPSHOT.replace("187.1,", &format!("{written},"));
        assert_eq!(shown(&json).await.unwrap().0, price, "{written}");
    }
}

#[tokio::test]
async fn without_a_trade_the_close_of_a_bar_is_the_price() {
    for without_trade in [
        r#""latestTrade": null, "other": {"#,
        r#""other": {"#,
        r#""latestTrade": {"t": "2026-11-16T18:59:58Z", "p": 0}, "other": {"#,
        r#""latestTrade": {"t": "2026-11-16T18:59:58Z", "p": -1}, "other": {"#,
        r#""latestTrade": {"t": "2026-11-16T18:59:58Z"}, "other": {"#,
        r#""latestTrade": {"t": "2026-11-16T18:59:58Z", "p": null}, "other": {"#,
        r#""latestTrade": {"t": "0000", "p": 5}, "other": {"#,
        r#""latestTrade": {"p": 5}, "other": {"#,
    ] {
        let json = FULL_SNAPSHOT.replacen(r#""latestTrade": {"#, without_trade, 1);
        let expected = some("187.05", Some("184.4"), "2026-11-16T18:59:00Z");
        assert_eq!(shown(&json).await, expected, "{without_trade}");

        // A daily close is as of now while its session is open, and as of the end of the session afterward.
        let daily = json.replace("minuteBar", "unused");
        assert_eq!(shown(&daily).await, some("187.05", Some("184.4"), NOW), "{without_trade}");
        let friday = daily.replace("2026-11-16T05", "2026-11-14T05");
        let expected = some("187.05", Some("184.4"), "2026-11-14T21:00:00Z");
        assert_eq!(shown(&friday).await, expected, "{without_trade}");
    }
}

#[tokio::test]
async fn a_symbol_without_any_price_has_no_quote() {
    let zero = FULL_SNAPSHOT.replace("187.1,", "0,").replace("187.05", "0");
    for json in ["null", "{}", &zero, r#"{"latestTrade": null, "dailyBar": null}"#] {
        assert_eq!(quoted(json).await, None, "{json}");
    }
}

#[tokio::test]
async fn the_previous_close_is_of_the_last_session_before_the_trade() {
    // Tuesday before the open: Monday's bar has not moved from dailyBar to prevDailyBar yet.
    let early = FULL_SNAPSHOT.replace("2026-11-16T18:59:58.123456789Z", "2026-11-17T13:15:00Z");
    assert_eq!(shown(&early).await, some("187.1", Some("187.05"), "2026-11-17T13:15:00Z"));
    // Monday's last trade, requested on Tuesday before the first trade.
    let last = FULL_SNAPSHOT.replace("2026-11-16T18:59:58.123456789Z", "2026-11-16T20:59:59.9Z");
    assert_eq!(shown(&last).await, some("187.1", Some("184.4"), "2026-11-16T20:59:59.9Z"));
    // Monday's after-hours trading is on Monday in New York, although it is Tuesday in UTC.
    let late = FULL_SNAPSHOT.replace("2026-11-16T18:59:58.123456789Z", "2026-11-17T00:30:00Z");
    assert_eq!(shown(&late).await, some("187.1", Some("184.4"), "2026-11-17T00:30:00Z"));
}

#[tokio::test]
async fn times_follow_new_york_daylight_saving_time() {
    let summer = FULL_SNAPSHOT
        .replace("2026-11-16T18:59:58.123456789Z", "2026-07-15T03:59:59Z")
        .replace("2026-11-16T05", "2026-07-14T04")
        .replace("2026-11-13T05", "2026-07-13T04");
    assert_eq!(shown(&summer).await, some("187.1", Some("184.4"), "2026-07-15T03:59:59Z"));
    let next_day = summer.replace("2026-07-15T03:59:59Z", "2026-07-15T04:00:00Z");
    assert_eq!(shown(&next_day).await, some("187.1", Some("187.05"), "2026-07-15T04:00:00Z"));
}

#[tokio::test]
async fn a_previous_close_may_be_missing() {
    for json in [
        FULL_SNAPSHOT.replace("prevDailyBar", "unused"),
        FULL_SNAPSHOT.replace("184.4", "0"),
        FULL_SNAPSHOT.replace("184.4", "null"),
        FULL_SNAPSHOT.replace("2026-11-13T05:00:00Z", "2026-11-16T05:00:00Z"),
    ] {
        assert_eq!(shown(&json).await.unwrap().1, None, "{json}");
    }
}

#[tokio::test]
async fn unknown_symbols_are_left_out_and_each_symbol_is_requested_once() {
    let alpaca = Alpaca::start().await;
    alpaca.snapshot("AAPL", FULL_SNAPSHOT);
    alpaca.snapshot("BRK.B", FULL_SNAPSHOT);
    alpaca.snapshot("GONE", "null");
    let provider = provider(&alpaca);
    let quotes = provider.quotes(symbols("GONE BRK.B NOBODY AAPL AAPL"), at(NOW)).await.unwrap();
    let found: Vec<&str> = quotes.iter().map(|it| it.symbol.as_str()).collect();
    assert_eq!(found, ["AAPL", "BRK.B"]);
    assert_eq!(alpaca.requests(), ["/v2/stocks/snapshots?symbols=AAPL,BRK.B,GONE,NOBODY"]);
    assert_eq!((provider.source(), provider.cache_seconds()), ("Alpaca", 15));
}

#[tokio::test]
async fn text_that_cannot_be_a_symbol_is_never_put_in_a_url() {
    let alpaca = Alpaca::start().await;
    let mut strange = symbols("aapl A&B A,B A%2C ../x A?b=c É ABCDEFGHIJK BTC/USD");
    strange.extend(["", "A B", "A\r\nB", "A#"].map(str::to_owned));
    assert_eq!(provider(&alpaca).quotes(strange.clone(), at(NOW)).await, Ok(vec![]));
    assert_eq!(alpaca.requests(), [""; 0]);
    alpaca.snapshot("AAPL", FULL_SNAPSHOT);
    strange.push("AAPL".to_owned());
    assert_eq!(provider(&alpaca).quotes(strange, at(NOW)).await.unwrap().len(), 1);
    assert_eq!(alpaca.requests(), ["/v2/stocks/snapshots?symbols=AAPL"]);
}

#[tokio::test]
async fn many_symbols_are_requested_in_batches_of_a_hundred() {
    let alpaca = Alpaca::start().await;
    let letters = || (b'A'..=b'Z').map(char::from);
    let mut many: Vec<String> =
        letters().flat_map(|a| letters().map(move |b| format!("LONGSYMB{a}{b}"))).collect();
    many.truncate(201);
    for symbol in &many {
        alpaca.snapshot(symbol, FULL_SNAPSHOT);
    }
    assert_eq!(provider(&alpaca).quotes(many, at(NOW)).await.unwrap().len(), 201);
    let batch_sizes: Vec<usize> =
        alpaca.requests().iter().map(|it| it.split(',').count()).collect();
    assert_eq!(batch_sizes, [100, 100, 1]);
}

#[tokio::test]
async fn a_symbol_that_alpaca_rejects_is_dropped_and_not_requested_again() {
    let alpaca = Alpaca::start().await;
    alpaca.snapshot("AAPL", FULL_SNAPSHOT);
    let provider = provider(&alpaca);
    let requested = symbols("912810TM0 AAPL 3CNTR");
    for requests in [3, 4] {
        assert_eq!(provider.quotes(requested.clone(), at(NOW)).await.unwrap().len(), 1);
        assert_eq!(alpaca.requests().len(), requests);
    }
    assert_eq!(alpaca.requests()[3], "/v2/stocks/snapshots?symbols=AAPL");
    assert_eq!(provider.quotes(symbols("912810TM0 4X"), at(NOW)).await, Ok(vec![]));
}
