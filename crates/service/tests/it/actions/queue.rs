//! The market's hours: what is approved while it is closed waits with its cash put aside, and is filled at a price of the
//! new day or not at all.

use calc::paper::{Side, Size};
use service::actions::{self, Status};
use service::trading::quotes;
use testkit::at;

use super::{Desk, approve, ended, shares};

const EVENING: &str = "2026-03-10T21:00:00Z";
const OPENING: &str = "2026-03-11T13:30:00Z";

/// The market has closed at the prices it had in the afternoon.
async fn in_the_evening(desk: &Desk) {
    desk.wait_until(at("2026-03-10T19:59:00Z"));
    desk.world.market.set("VTI", "50", Some("49"));
    desk.world.market.set("AAPL", "187.10", Some("185.00"));
    desk.wait_until(at(EVENING));
}

#[tokio::test]
async fn a_buy_waits_with_its_cash_put_aside_and_is_filled_at_the_price_after_the_opening() {
    let desk = Desk::with_cash("1000.00").await;
    in_the_evening(&desk).await;
    let action = desk.propose(desk.order(Side::Buy, "VTI", shares("10"))).await.unwrap();
    let said = action.details().trade.unwrap().timing_disclosure.unwrap();
    assert_eq!(
        said,
        "The market is closed. The order waits with $510.00 reserved and is filled when the \
         market opens on Wed 11 Mar 2026, 09:30 in New York."
    );
    let price = Some(desk.price("VTI").await);
    let waiting = approve(desk.app(), &desk.session, &action, price).await.unwrap();
    assert_eq!((waiting.status, waiting.due_at), (Status::Approved, Some(at(OPENING))));
    assert_eq!(desk.cash().await, (49_000, 51_000));
    assert_eq!(desk.holds("VTI").await, (100_000, "0".to_owned()), "it is still all there");
    // What is put aside cannot be spent a second time.
    let more = desk.propose(desk.order(Side::Buy, "VTI", Size::Cash(49_001))).await;
    assert!(crate::is_conflict(more).contains("$490.00 available"));
    desk.is_sound().await;
    // Nothing happens before the opening, nor at a price from before it.
    desk.wait_until(at("2026-03-11T13:29:59Z"));
    desk.world.market.set("VTI", "50.20", Some("50"));
    assert_eq!(actions::execute_once(desk.app()).await.unwrap(), 0);
    desk.wait_until(at(OPENING));
    assert_eq!(actions::execute_once(desk.app()).await.unwrap(), 1);
    assert_eq!(desk.get(action.id).await.status, Status::Approved);
    desk.world.advance_seconds(5);
    desk.world.market.set("VTI", "50.50", Some("50"));
    actions::execute_once(desk.app()).await.unwrap();
    assert_eq!(ended(&desk.get(action.id).await), ("executed", None));
    assert_eq!(desk.cash().await, (49_500, 0));
    assert_eq!(desk.holds("VTI").await.1, "10");
    desk.is_sound().await;
}

#[tokio::test]
async fn two_percent_is_near_enough_and_a_hair_more_is_not() {
    for (opening, end) in [
        ("51", ("executed", None)),
        ("49", ("executed", None)),
        ("51.000000001", ("failed", Some("PRICE_MOVED"))),
        ("48.999999999", ("failed", Some("PRICE_MOVED"))),
    ] {
        let desk = Desk::with_cash("1000.00").await;
        in_the_evening(&desk).await;
        let action = desk.trade(Side::Buy, "VTI", shares("19")).await;
        assert_eq!(desk.cash().await, (3_100, 96_900));
        desk.wait_until(at(OPENING));
        desk.world.market.set("VTI", opening, Some("50"));
        actions::execute_once(desk.app()).await.unwrap();
        assert_eq!(ended(&desk.get(action.id).await), end, "{opening}");
        assert_eq!(desk.cash().await.1, 0, "{opening}");
        let filled = i64::from(end.0 == "executed");
        assert_eq!(desk.entries("buy").await, filled, "{opening}");
        if filled == 0 {
            assert_eq!(desk.cash().await, (100_000, 0));
        }
        desk.is_sound().await;
    }
}

#[tokio::test]
async fn without_a_fresh_price_a_waiting_order_gives_up_and_gives_its_cash_back() {
    let desk = Desk::new().await;
    in_the_evening(&desk).await;
    let (patient, late) = (
        desk.trade(Side::Buy, "VTI", shares("1")).await,
        desk.trade(Side::Buy, "AAPL", shares("1")).await,
    );
    desk.wait_until(at("2026-03-11T13:45:00Z"));
    actions::execute_once(desk.app()).await.unwrap();
    assert_eq!(
        desk.get(patient.id).await.status,
        Status::Approved,
        "it waits a quarter of an hour"
    );
    desk.world.advance_seconds(1);
    desk.world.market.set("AAPL", "187.10", None);
    actions::execute_once(desk.app()).await.unwrap();
    assert_eq!(ended(&desk.get(patient.id).await), ("failed", Some("NO_PRICE")));
    assert_eq!(ended(&desk.get(late.id).await), ("executed", None));
    assert_eq!(desk.cash().await, (1_000_000 - 18_710, 0));
    // A server that slept through the whole day finds the market closed again.
    desk.wait_until(at("2026-03-11T21:00:00Z"));
    desk.world.market.set_at("VTI", "50", at("2026-03-11T20:00:00Z"));
    let slept = desk.trade(Side::Buy, "VTI", shares("1")).await;
    assert_eq!(slept.status, Status::Approved);
    desk.wait_until(at("2026-03-12T21:00:00Z"));
    actions::execute_once(desk.app()).await.unwrap();
    assert_eq!(ended(&desk.get(slept.id).await), ("failed", Some("NO_PRICE")));
    assert_eq!(desk.cash().await.1, 0);
    desk.is_sound().await;
}

#[tokio::test]
async fn of_two_sales_of_the_same_shares_the_second_finds_them_gone() {
    let desk = Desk::new().await;
    desk.trade(Side::Buy, "VTI", shares("10")).await;
    in_the_evening(&desk).await;
    let first = desk.trade(Side::Sell, "VTI", shares("10")).await;
    let second = desk.trade(Side::Sell, "VTI", shares("10")).await;
    assert_eq!((first.status, second.status), (Status::Approved, Status::Approved));
    assert_eq!(desk.cash().await, (950_000, 0), "a sale puts nothing aside");
    desk.wait_until(at(OPENING));
    desk.world.market.set("VTI", "50", Some("50"));
    actions::execute_once(desk.app()).await.unwrap();
    assert_eq!(ended(&desk.get(first.id).await), ("executed", None));
    assert_eq!(ended(&desk.get(second.id).await), ("failed", Some("INSUFFICIENT_SHARES")));
    assert_eq!(desk.holds("VTI").await, (1_000_000, "0".to_owned()));
    desk.is_sound().await;
}

#[tokio::test]
async fn a_buy_that_no_cash_is_left_for_fails_when_it_is_approved_and_not_in_the_morning() {
    let desk = Desk::with_cash("1000.00").await;
    in_the_evening(&desk).await;
    let order = || desk.order(Side::Buy, "VTI", Size::Cash(80_000));
    let (first, second) =
        (desk.propose(order()).await.unwrap(), desk.propose(order()).await.unwrap());
    let price = Some(desk.price("VTI").await);
    let first = approve(desk.app(), &desk.session, &first, price).await.unwrap();
    let second = approve(desk.app(), &desk.session, &second, price).await.unwrap();
    assert_eq!(first.status, Status::Approved);
    assert_eq!(ended(&second), ("failed", Some("INSUFFICIENT_FUNDS")));
    assert_eq!(desk.cash().await, (20_000, 80_000));
    desk.is_sound().await;
}

#[tokio::test]
async fn where_the_operator_wants_it_a_trade_is_filled_at_the_last_price_at_once() {
    let desk = Desk::new().await;
    in_the_evening(&desk).await;
    let app = desk.world.filling_while_closed();
    let order = desk.order(Side::Buy, "VTI", shares("10"));
    let action = actions::propose(&app, &desk.key.caller, order).await.unwrap();
    let said = action.details().trade.unwrap().timing_disclosure.unwrap();
    assert_eq!(said, "The market is closed. The order is filled immediately at the last price.");
    let price = Some(desk.price("VTI").await);
    let done = approve(&app, &desk.session, &action, price).await.unwrap();
    assert_eq!(done.status, Status::Executed, "{:?}", done.error_message);
    assert_eq!(desk.cash().await, (950_000, 0));
    desk.is_sound().await;
}

#[tokio::test]
async fn a_silent_market_is_stood_in_for_by_its_last_word_until_that_is_stale() {
    let desk = Desk::new().await;
    quotes::find(desk.app(), "VTI").await.unwrap();
    desk.world.market.set_unavailable(true);
    desk.world.advance_seconds(900);
    // A process that never heard the market itself knows what another wrote down.
    let there = desk.world.other_process().await;
    for app in [desk.app(), &there] {
        let priced = quotes::find(app, "VTI").await.unwrap().unwrap();
        assert_eq!((priced.is_stale, priced.source.as_str()), (false, "Test market"));
        assert_eq!(priced.quote.price.to_string(), "50");
        assert!(quotes::find(app, "NOPE").await.unwrap().is_none());
    }
    let bought = desk.trade(Side::Buy, "VTI", shares("1")).await;
    assert_eq!(bought.status, Status::Executed);
    desk.world.advance_seconds(1);
    let priced = quotes::find(desk.app(), "VTI").await.unwrap().unwrap();
    assert!(priced.is_stale);
    assert!(actions::as_of_label(&priced).ends_with(" (stale)"));
    let waiting = desk.trade(Side::Buy, "VTI", shares("1")).await;
    assert_eq!(waiting.status, Status::Approved, "nobody trades at a stale price");
    assert_eq!(desk.entries("buy").await, 1);
    desk.world.advance_seconds(900);
    actions::execute_once(desk.app()).await.unwrap();
    assert_eq!(desk.get(waiting.id).await.status, Status::Approved);
    desk.world.advance_seconds(1);
    actions::execute_once(desk.app()).await.unwrap();
    assert_eq!(ended(&desk.get(waiting.id).await), ("failed", Some("NO_PRICE")));
    desk.is_sound().await;
}

/// What the market was when the page was drawn may differ from what it is at the click.
#[tokio::test]
async fn the_collar_is_held_against_the_price_on_the_page_also_while_the_market_is_open() {
    let desk = Desk::new().await;
    let action = desk.propose(desk.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
    let seen = Some(desk.price("VTI").await);
    desk.world.advance_seconds(2);
    desk.world.market.set("VTI", "51.01", Some("50"));
    let failed = approve(desk.app(), &desk.session, &action, seen).await.unwrap();
    assert_eq!(ended(&failed), ("failed", Some("PRICE_MOVED")));
    assert_eq!(desk.entries("buy").await, 0);
    desk.is_sound().await;
}
