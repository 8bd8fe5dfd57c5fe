//! Splits and dividends: for what was held before the ex-day's opening, once, whoever settles and however often.

use calc::paper::Side;
use service::trading::paper::settle_once;
use sources::market::{ActionTerms, CorporateAction};
use testkit::{at, day};

use super::{Desk, shares};

const BEFORE_OPENING: &str = "2026-03-11T13:29:59Z";
const OPENING: &str = "2026-03-11T13:30:00Z";

fn split(to: u32, from: u32) -> CorporateAction {
    CorporateAction {
        symbol: "VTI".to_owned(),
        ex_on: day("2026-03-11"),
        terms: ActionTerms::Split { to, from },
    }
}

fn dividend(each: &str, ex_on: &str, pay_on: &str) -> CorporateAction {
    let each = base::Fixed9::parse(each).unwrap();
    let terms = ActionTerms::Dividend { each, pay_on: day(pay_on) };
    CorporateAction { symbol: "VTI".to_owned(), ex_on: day(ex_on), terms }
}

/// In this process and another, once and again.
async fn settle(desk: &Desk) {
    let there = desk.world.other_process().await;
    let (one, two) = tokio::join!(settle_once(desk.app()), settle_once(&there));
    one.unwrap();
    two.unwrap();
    settle_once(desk.app()).await.unwrap();
    desk.is_sound().await;
}

async fn basis(desk: &Desk) -> i64 {
    let held = service::trading::paper::list_holdings(desk.app(), &desk.session, desk.account)
        .await
        .unwrap();
    held.iter().map(|it| it.basis_minor).sum()
}

#[tokio::test]
async fn a_split_doubles_the_shares_at_the_same_cost_at_the_opening_of_its_day() {
    let desk = Desk::new().await;
    desk.trade(Side::Buy, "VTI", shares("10.5")).await;
    desk.world.market.add_corporate_action(split(2, 1));
    desk.wait_until(at(BEFORE_OPENING));
    settle(&desk).await;
    assert_eq!(desk.holds("VTI").await.1, "10.5");
    desk.wait_until(at(OPENING));
    desk.world.market.set("VTI", "25", None);
    settle(&desk).await;
    assert_eq!(desk.holds("VTI").await, (1_000_000 - 52_500, "21".to_owned()));
    assert_eq!(basis(&desk).await, 52_500);
    assert_eq!(desk.entries("split").await, 1);
    desk.world.advance_seconds(30 * 86_400);
    settle(&desk).await;
    assert_eq!(desk.entries("split").await, 1);
    assert_eq!(desk.holds("VTI").await.1, "21");
}

#[tokio::test]
async fn shares_bought_after_the_opening_of_the_day_are_new_ones_already() {
    let desk = Desk::new().await;
    desk.trade(Side::Buy, "VTI", shares("10")).await;
    desk.world.market.add_corporate_action(split(4, 1));
    desk.wait_until(at("2026-03-11T14:00:00Z"));
    desk.world.market.set("VTI", "12.50", None);
    desk.trade(Side::Buy, "VTI", shares("8")).await;
    settle(&desk).await;
    assert_eq!(desk.holds("VTI").await, (1_000_000 - 50_000 - 10_000, "48".to_owned()));
    assert_eq!(basis(&desk).await, 60_000);
}

#[tokio::test]
async fn who_bought_on_the_day_alone_has_nothing_to_split() {
    let desk = Desk::new().await;
    desk.world.market.add_corporate_action(split(4, 1));
    desk.wait_until(at(OPENING));
    desk.world.market.set("VTI", "12.50", None);
    desk.trade(Side::Buy, "VTI", shares("8")).await;
    settle(&desk).await;
    assert_eq!(desk.holds("VTI").await.1, "8");
    assert_eq!(desk.entries("split").await, 0);
}

#[tokio::test]
async fn a_reverse_split_keeps_what_billionths_can_express() {
    let desk = Desk::new().await;
    desk.trade(Side::Buy, "VTI", shares("10")).await;
    desk.world.market.add_corporate_action(split(1, 3));
    desk.wait_until(at(OPENING));
    desk.world.market.set("VTI", "150", None);
    settle(&desk).await;
    let (cash, held) = desk.holds("VTI").await;
    assert_eq!((cash, held.as_str()), (950_000, "3.333333333"));
    assert_eq!(basis(&desk).await, 50_000, "a billionth of a share is worth no cent");
}

#[tokio::test]
async fn a_dividend_is_paid_on_its_day_to_who_held_before_the_ex_day() {
    let desk = Desk::new().await;
    desk.trade(Side::Buy, "VTI", shares("10.123456789")).await;
    let after_buy = desk.cash().await.0;
    desk.world.market.add_corporate_action(dividend("0.8123", "2026-03-11", "2026-03-13"));
    desk.wait_until(at("2026-03-11T14:00:00Z"));
    desk.world.market.set("VTI", "50", None);
    // Bought too late to be entitled, and sold too late to lose it.
    desk.trade(Side::Buy, "VTI", shares("100")).await;
    desk.trade(Side::Sell, "VTI", shares("110")).await;
    let before = desk.cash().await.0;
    settle(&desk).await;
    assert_eq!(desk.cash().await.0, before, "not before it is paid");
    desk.wait_until(at("2026-03-13T14:00:00Z"));
    settle(&desk).await;
    // 10.123456789 times 0.8123 is 8.2232..., floored.
    assert_eq!(desk.cash().await.0, before + 822);
    assert_eq!(desk.entries("dividend").await, 1);
    desk.world.advance_seconds(20 * 86_400);
    settle(&desk).await;
    assert_eq!(desk.entries("dividend").await, 1);
    assert!(after_buy > 0);
}

/// A server that was off over both days books the split late, and still pays for the shares there were by then.
#[tokio::test]
async fn a_dividend_after_a_split_is_for_the_new_shares_also_when_both_are_settled_late() {
    let desk = Desk::new().await;
    desk.trade(Side::Buy, "VTI", shares("10")).await;
    desk.world.market.add_corporate_action(split(2, 1));
    desk.world.market.add_corporate_action(dividend("1", "2026-03-13", "2026-03-16"));
    desk.world.market.add_corporate_action(dividend("3", "2026-03-10", "2026-03-16"));
    desk.wait_until(at("2026-03-20T14:00:00Z"));
    desk.world.market.set("VTI", "25", None);
    settle(&desk).await;
    assert_eq!(desk.holds("VTI").await, (950_000 + 2_000, "20".to_owned()));
}

#[tokio::test]
async fn a_silent_market_is_asked_again_and_each_account_gets_its_own() {
    let desk = Desk::new().await;
    desk.trade(Side::Buy, "VTI", shares("10")).await;
    let what = service::actions::ActionPayload::PaperAccount {
        name: "Second".to_owned(),
        cash_minor: 100_000,
    };
    let action = desk.propose(what.into()).await.unwrap();
    let done = super::approve(desk.app(), &desk.session, &action, None).await.unwrap();
    let result: serde_json::Value = serde_json::from_str(&done.result.unwrap()).unwrap();
    let id = base::PaperAccountId::parse(result["paper_account_id"].as_str().unwrap()).unwrap();
    let order = service::actions::ActionPayload::Trade {
        account: id,
        symbol: "VTI".to_owned(),
        side: Side::Buy,
        size: shares("3"),
    };
    let action = desk.propose(order.into()).await.unwrap();
    super::approve(desk.app(), &desk.session, &action, None).await.unwrap();
    desk.world.market.add_corporate_action(dividend("1", "2026-03-11", "2026-03-11"));
    desk.wait_until(at(OPENING));
    desk.world.market.set_unavailable(true);
    settle(&desk).await;
    assert_eq!(desk.entries("dividend").await, 0);
    desk.world.market.set_unavailable(false);
    settle(&desk).await;
    assert_eq!(desk.entries("dividend").await, 2);
    let second = service::trading::paper::get_account(desk.app(), &desk.session, id).await.unwrap();
    assert_eq!(second.cash_minor, 100_000 - 15_000 + 300);
    assert_eq!(desk.cash().await.0, 1_000_000 - 50_000 + 1_000);
}

/// The background step comes every quarter of an hour; whoever trades at the opening does not wait for it.
#[tokio::test]
async fn old_shares_are_never_traded_at_a_price_of_new_ones() {
    let desk = Desk::new().await;
    desk.trade(Side::Buy, "VTI", shares("10")).await;
    desk.world.market.add_corporate_action(split(1, 10));
    // Announced the day before.
    settle_once(desk.app()).await.unwrap();
    assert_eq!(desk.holds("VTI").await.1, "10");
    let early = desk.propose(desk.order(Side::Sell, "VTI", shares("10"))).await.unwrap();
    desk.wait_until(at(OPENING));
    desk.world.market.set("VTI", "500", None);
    let failed = super::approve(desk.app(), &desk.session, &early, None).await.unwrap();
    assert_eq!(failed.error_code.as_deref(), Some("INSUFFICIENT_SHARES"));
    assert_eq!(desk.holds("VTI").await, (950_000, "1".to_owned()));
    desk.trade(Side::Sell, "VTI", shares("1")).await;
    assert_eq!(desk.holds("VTI").await, (1_000_000, "0".to_owned()));
    desk.is_sound().await;
}
