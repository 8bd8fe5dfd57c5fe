//! Market hours: a trade approved while the market is closed waits with its cash reserved, and is filled at a price of
//! the new day or not at all.

use calc::paper::{Side, Size};
use service::actions::{self, Status};
use service::ledger::quotes;
use testkit::at;

use super::{ActionsFixture, approve, shares, status_and_error};

const EVENING: &str = "2026-03-10T21:00:00Z";
const OPENING: &str = "2026-03-11T13:30:00Z";

/// Moves the clock to the evening, after the market closed at its afternoon prices.
async fn advance_to_evening(fixture: &ActionsFixture) {
    fixture.advance_to(at("2026-03-10T19:59:00Z"));
    fixture.world.market.set("VTI", "50", Some("49"));
    fixture.world.market.set("AAPL", "187.10", Some("185.00"));
    fixture.advance_to(at(EVENING));
}

#[tokio::test]
async fn a_buy_waits_with_its_cash_reserved_and_is_filled_at_the_price_after_the_opening() {
    let fixture = ActionsFixture::with_cash("1000.00").await;
    advance_to_evening(&fixture).await;
    let action = fixture.propose(fixture.order(Side::Buy, "VTI", shares("10"))).await.unwrap();
    let disclosure = action.details().trade.unwrap().timing_disclosure.unwrap();
    assert_eq!(
        disclosure,
        "The market is closed. The order waits with $510.00 reserved and is filled when the \
         market opens on Wed 11 Mar 2026, 09:30 in New York."
    );
    let price = Some(fixture.price("VTI").await);
    let waiting = approve(fixture.app(), &fixture.session, &action, price).await.unwrap();
    assert_eq!((waiting.status, waiting.due_at), (Status::Approved, Some(at(OPENING))));
    assert_eq!(fixture.cash().await, (49_000, 51_000));
    assert_eq!(
        fixture.cash_and_shares("VTI").await,
        (100_000, "0".to_owned()),
        "reserved cash is still part of the total"
    );
    // Reserved cash cannot be spent a second time.
    let more = fixture.propose(fixture.order(Side::Buy, "VTI", Size::Cash(49_001))).await;
    assert!(crate::is_conflict(more).contains("$490.00 available"));
    fixture.verify_integrity().await;
    // Nothing is filled before the opening, or at a price from before it.
    fixture.advance_to(at("2026-03-11T13:29:59Z"));
    fixture.world.market.set("VTI", "50.20", Some("50"));
    assert_eq!(actions::execute_once(fixture.app()).await.unwrap(), 0);
    fixture.advance_to(at(OPENING));
    assert_eq!(actions::execute_once(fixture.app()).await.unwrap(), 1);
    assert_eq!(fixture.get(action.id).await.status, Status::Approved);
    fixture.world.advance_seconds(5);
    fixture.world.market.set("VTI", "50.50", Some("50"));
    actions::execute_once(fixture.app()).await.unwrap();
    assert_eq!(status_and_error(&fixture.get(action.id).await), ("executed", None));
    assert_eq!(fixture.cash().await, (49_500, 0));
    assert_eq!(fixture.cash_and_shares("VTI").await.1, "10");
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn a_queued_trade_is_filled_if_the_price_moved_by_at_most_two_percent() {
    for (opening, end) in [
        ("51", ("executed", None)),
        ("49", ("executed", None)),
        ("51.000000001", ("failed", Some("PRICE_MOVED"))),
        ("48.999999999", ("failed", Some("PRICE_MOVED"))),
    ] {
        let fixture = ActionsFixture::with_cash("1000.00").await;
        advance_to_evening(&fixture).await;
        let action = fixture.trade(Side::Buy, "VTI", shares("19")).await;
        assert_eq!(fixture.cash().await, (3_100, 96_900));
        fixture.advance_to(at(OPENING));
        fixture.world.market.set("VTI", opening, Some("50"));
        actions::execute_once(fixture.app()).await.unwrap();
        assert_eq!(status_and_error(&fixture.get(action.id).await), end, "{opening}");
        assert_eq!(fixture.cash().await.1, 0, "{opening}");
        let filled = i64::from(end.0 == "executed");
        assert_eq!(fixture.count_entries("buy").await, filled, "{opening}");
        if filled == 0 {
            assert_eq!(fixture.cash().await, (100_000, 0));
        }
        fixture.verify_integrity().await;
    }
}

#[tokio::test]
async fn a_queued_trade_without_a_fresh_price_fails_and_releases_its_cash() {
    let fixture = ActionsFixture::new().await;
    advance_to_evening(&fixture).await;
    let (unpriced, priced) = (
        fixture.trade(Side::Buy, "VTI", shares("1")).await,
        fixture.trade(Side::Buy, "AAPL", shares("1")).await,
    );
    fixture.advance_to(at("2026-03-11T13:45:00Z"));
    actions::execute_once(fixture.app()).await.unwrap();
    assert_eq!(
        fixture.get(unpriced.id).await.status,
        Status::Approved,
        "it waits for a quarter of an hour"
    );
    fixture.world.advance_seconds(1);
    fixture.world.market.set("AAPL", "187.10", None);
    actions::execute_once(fixture.app()).await.unwrap();
    assert_eq!(status_and_error(&fixture.get(unpriced.id).await), ("failed", Some("NO_PRICE")));
    assert_eq!(status_and_error(&fixture.get(priced.id).await), ("executed", None));
    assert_eq!(fixture.cash().await, (1_000_000 - 18_710, 0));
    // A server that was down all day finds the market closed again.
    fixture.advance_to(at("2026-03-11T21:00:00Z"));
    fixture.world.market.set_at("VTI", "50", at("2026-03-11T20:00:00Z"));
    let missed = fixture.trade(Side::Buy, "VTI", shares("1")).await;
    assert_eq!(missed.status, Status::Approved);
    fixture.advance_to(at("2026-03-12T21:00:00Z"));
    actions::execute_once(fixture.app()).await.unwrap();
    assert_eq!(status_and_error(&fixture.get(missed.id).await), ("failed", Some("NO_PRICE")));
    assert_eq!(fixture.cash().await.1, 0);
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn the_second_of_two_queued_sales_of_the_same_shares_fails() {
    let fixture = ActionsFixture::new().await;
    fixture.trade(Side::Buy, "VTI", shares("10")).await;
    advance_to_evening(&fixture).await;
    let first = fixture.trade(Side::Sell, "VTI", shares("10")).await;
    let second = fixture.trade(Side::Sell, "VTI", shares("10")).await;
    assert_eq!((first.status, second.status), (Status::Approved, Status::Approved));
    assert_eq!(fixture.cash().await, (950_000, 0), "a sale reserves no cash");
    fixture.advance_to(at(OPENING));
    fixture.world.market.set("VTI", "50", Some("50"));
    actions::execute_once(fixture.app()).await.unwrap();
    assert_eq!(status_and_error(&fixture.get(first.id).await), ("executed", None));
    assert_eq!(
        status_and_error(&fixture.get(second.id).await),
        ("failed", Some("INSUFFICIENT_SHARES"))
    );
    assert_eq!(fixture.cash_and_shares("VTI").await, (1_000_000, "0".to_owned()));
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn a_queued_buy_without_enough_cash_fails_when_it_is_approved() {
    let fixture = ActionsFixture::with_cash("1000.00").await;
    advance_to_evening(&fixture).await;
    let order = || fixture.order(Side::Buy, "VTI", Size::Cash(80_000));
    let (first, second) =
        (fixture.propose(order()).await.unwrap(), fixture.propose(order()).await.unwrap());
    let price = Some(fixture.price("VTI").await);
    let first = approve(fixture.app(), &fixture.session, &first, price).await.unwrap();
    let second = approve(fixture.app(), &fixture.session, &second, price).await.unwrap();
    assert_eq!(first.status, Status::Approved);
    assert_eq!(status_and_error(&second), ("failed", Some("INSUFFICIENT_FUNDS")));
    assert_eq!(fixture.cash().await, (20_000, 80_000));
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn a_trade_is_filled_at_the_last_price_if_the_operator_allows_it_while_closed() {
    let fixture = ActionsFixture::new().await;
    advance_to_evening(&fixture).await;
    let app = fixture.world.filling_while_closed();
    let order = fixture.order(Side::Buy, "VTI", shares("10"));
    let action = actions::propose(&app, &fixture.key.caller, order).await.unwrap();
    let disclosure = action.details().trade.unwrap().timing_disclosure.unwrap();
    assert_eq!(
        disclosure,
        "The market is closed. The order is filled immediately at the last price."
    );
    let price = Some(fixture.price("VTI").await);
    let done = approve(&app, &fixture.session, &action, price).await.unwrap();
    assert_eq!(done.status, Status::Executed, "{:?}", done.error_message);
    assert_eq!(fixture.cash().await, (950_000, 0));
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn the_last_price_is_used_until_it_is_stale_while_the_market_is_unavailable() {
    let fixture = ActionsFixture::new().await;
    quotes::find(fixture.app(), "VTI").await.unwrap();
    fixture.world.market.set_unavailable(true);
    fixture.world.advance_seconds(900);
    // A process that never reached the market uses the price that another process stored.
    let other_process = fixture.world.other_process().await;
    for app in [fixture.app(), &other_process] {
        let priced = quotes::find(app, "VTI").await.unwrap().unwrap();
        assert_eq!((priced.is_stale, priced.source.as_str()), (false, "Test market"));
        assert_eq!(priced.quote.price.to_string(), "50");
        assert!(quotes::find(app, "NOPE").await.unwrap().is_none());
    }
    let bought = fixture.trade(Side::Buy, "VTI", shares("1")).await;
    assert_eq!(bought.status, Status::Executed);
    fixture.world.advance_seconds(1);
    let priced = quotes::find(fixture.app(), "VTI").await.unwrap().unwrap();
    assert!(priced.is_stale);
    assert!(actions::as_of_label(&priced).ends_with(" (stale)"));
    let waiting = fixture.trade(Side::Buy, "VTI", shares("1")).await;
    assert_eq!(waiting.status, Status::Approved, "no trade is filled at a stale price");
    assert_eq!(fixture.count_entries("buy").await, 1);
    fixture.world.advance_seconds(900);
    actions::execute_once(fixture.app()).await.unwrap();
    assert_eq!(fixture.get(waiting.id).await.status, Status::Approved);
    fixture.world.advance_seconds(1);
    actions::execute_once(fixture.app()).await.unwrap();
    assert_eq!(status_and_error(&fixture.get(waiting.id).await), ("failed", Some("NO_PRICE")));
    fixture.verify_integrity().await;
}

/// The price may move between the rendering of the page and the click.
#[tokio::test]
async fn the_price_collar_applies_to_the_shown_price_while_the_market_is_open_too() {
    let fixture = ActionsFixture::new().await;
    let action = fixture.propose(fixture.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
    let seen = Some(fixture.price("VTI").await);
    fixture.world.advance_seconds(2);
    fixture.world.market.set("VTI", "51.01", Some("50"));
    let failed = approve(fixture.app(), &fixture.session, &action, seen).await.unwrap();
    assert_eq!(status_and_error(&failed), ("failed", Some("PRICE_MOVED")));
    assert_eq!(fixture.count_entries("buy").await, 0);
    fixture.verify_integrity().await;
}
