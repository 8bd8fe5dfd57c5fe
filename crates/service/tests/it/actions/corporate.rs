//! Splits and dividends: booked once for the shares held before the opening on the ex-date.

use calc::paper::Side;
use service::platform::cursors::Page;
use service::trading::paper::{self, settle_once};
use sources::market::{ActionTerms, CorporateAction};
use testkit::{at, day};

use super::{ActionsFixture, shares};

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

/// Settles in two processes at once, and then once more.
async fn settle(fixture: &ActionsFixture) {
    let other_process = fixture.world.other_process().await;
    let (one, two) = tokio::join!(settle_once(fixture.app()), settle_once(&other_process));
    one.unwrap();
    two.unwrap();
    settle_once(fixture.app()).await.unwrap();
    fixture.verify_integrity().await;
}

/// The names of the activity, and the number of trades.
async fn history(fixture: &ActionsFixture) -> (Vec<String>, usize) {
    let (app, session, id) = (fixture.app(), &fixture.session, fixture.account);
    let page = Page { cursor: None, limit: 100 };
    let activity = paper::list_activity(app, session, id, page).await.unwrap();
    let page = Page { cursor: None, limit: 100 };
    let trades = paper::list_trades(app, session, id, page).await.unwrap();
    (activity.rows.iter().map(paper::Activity::name).collect(), trades.rows.len())
}

async fn basis(fixture: &ActionsFixture) -> i64 {
    let held =
        service::trading::paper::list_holdings(fixture.app(), &fixture.session, fixture.account)
            .await
            .unwrap();
    held.iter().map(|it| it.basis_minor).sum()
}

#[tokio::test]
async fn a_split_doubles_the_shares_at_the_same_cost_when_the_market_opens() {
    let fixture = ActionsFixture::new().await;
    fixture.trade(Side::Buy, "VTI", shares("10.5")).await;
    fixture.world.market.add_corporate_action(split(2, 1));
    fixture.advance_to(at(BEFORE_OPENING));
    settle(&fixture).await;
    assert_eq!(fixture.cash_and_shares("VTI").await.1, "10.5");
    fixture.advance_to(at(OPENING));
    fixture.world.market.set("VTI", "25", None);
    settle(&fixture).await;
    assert_eq!(fixture.cash_and_shares("VTI").await, (1_000_000 - 52_500, "21".to_owned()));
    assert_eq!(basis(&fixture).await, 52_500);
    assert_eq!(fixture.count_entries("split").await, 1);
    fixture.world.advance_seconds(30 * 86_400);
    settle(&fixture).await;
    assert_eq!(fixture.count_entries("split").await, 1);
    assert_eq!(fixture.cash_and_shares("VTI").await.1, "21");
    let (activity, trades) = history(&fixture).await;
    assert_eq!(activity, ["Split of VTI, now 21 shares", "Bought 10.5 VTI", "Starting cash"]);
    assert_eq!(trades, 1);
}

#[tokio::test]
async fn shares_bought_after_the_opening_are_not_split() {
    let fixture = ActionsFixture::new().await;
    fixture.trade(Side::Buy, "VTI", shares("10")).await;
    fixture.world.market.add_corporate_action(split(4, 1));
    fixture.advance_to(at("2026-03-11T14:00:00Z"));
    fixture.world.market.set("VTI", "12.50", None);
    fixture.trade(Side::Buy, "VTI", shares("8")).await;
    settle(&fixture).await;
    assert_eq!(
        fixture.cash_and_shares("VTI").await,
        (1_000_000 - 50_000 - 10_000, "48".to_owned())
    );
    assert_eq!(basis(&fixture).await, 60_000);
}

#[tokio::test]
async fn a_position_bought_only_on_the_ex_date_is_not_split() {
    let fixture = ActionsFixture::new().await;
    fixture.world.market.add_corporate_action(split(4, 1));
    fixture.advance_to(at(OPENING));
    fixture.world.market.set("VTI", "12.50", None);
    fixture.trade(Side::Buy, "VTI", shares("8")).await;
    settle(&fixture).await;
    assert_eq!(fixture.cash_and_shares("VTI").await.1, "8");
    assert_eq!(fixture.count_entries("split").await, 0);
}

#[tokio::test]
async fn a_reverse_split_rounds_to_billionths_of_a_share() {
    let fixture = ActionsFixture::new().await;
    fixture.trade(Side::Buy, "VTI", shares("10")).await;
    fixture.world.market.add_corporate_action(split(1, 3));
    fixture.advance_to(at(OPENING));
    fixture.world.market.set("VTI", "150", None);
    settle(&fixture).await;
    let (cash, held) = fixture.cash_and_shares("VTI").await;
    assert_eq!((cash, held.as_str()), (950_000, "3.333333333"));
    assert_eq!(basis(&fixture).await, 50_000, "the cost basis stays the same");
}

#[tokio::test]
async fn a_dividend_is_paid_on_the_pay_date_for_shares_held_before_the_ex_date() {
    let fixture = ActionsFixture::new().await;
    fixture.trade(Side::Buy, "VTI", shares("10.123456789")).await;
    let after_buy = fixture.cash().await.0;
    fixture.world.market.add_corporate_action(dividend("0.8123", "2026-03-11", "2026-03-13"));
    fixture.advance_to(at("2026-03-11T14:00:00Z"));
    fixture.world.market.set("VTI", "50", None);
    // Shares bought on the ex-date are not entitled, and a sale on the ex-date does not lose the dividend.
    fixture.trade(Side::Buy, "VTI", shares("100")).await;
    fixture.trade(Side::Sell, "VTI", shares("110")).await;
    let before = fixture.cash().await.0;
    settle(&fixture).await;
    assert_eq!(fixture.cash().await.0, before, "nothing is paid before the pay date");
    fixture.advance_to(at("2026-03-13T14:00:00Z"));
    settle(&fixture).await;
    // 10.123456789 times 0.8123 is 8.2232..., floored.
    assert_eq!(fixture.cash().await.0, before + 822);
    assert_eq!(fixture.count_entries("dividend").await, 1);
    fixture.world.advance_seconds(20 * 86_400);
    settle(&fixture).await;
    assert_eq!(fixture.count_entries("dividend").await, 1);
    assert!(after_buy > 0);
    let (activity, trades) = history(&fixture).await;
    assert_eq!(activity[0], "Dividend of VTI");
    assert_eq!((activity.len(), trades), (5, 3));
}

/// A server that was down on both days books the split late, and still pays for the shares held after it.
#[tokio::test]
async fn a_dividend_after_a_split_counts_the_new_shares_even_if_both_are_settled_late() {
    let fixture = ActionsFixture::new().await;
    fixture.trade(Side::Buy, "VTI", shares("10")).await;
    fixture.world.market.add_corporate_action(split(2, 1));
    fixture.world.market.add_corporate_action(dividend("1", "2026-03-13", "2026-03-16"));
    fixture.world.market.add_corporate_action(dividend("3", "2026-03-10", "2026-03-16"));
    fixture.advance_to(at("2026-03-20T14:00:00Z"));
    fixture.world.market.set("VTI", "25", None);
    settle(&fixture).await;
    assert_eq!(fixture.cash_and_shares("VTI").await, (950_000 + 2_000, "20".to_owned()));
}

#[tokio::test]
async fn settling_is_retried_while_the_market_is_unavailable_and_pays_each_account() {
    let fixture = ActionsFixture::new().await;
    fixture.trade(Side::Buy, "VTI", shares("10")).await;
    let payload = service::actions::ActionPayload::PaperAccount {
        name: "Second".to_owned(),
        cash_minor: 100_000,
    };
    let action = fixture.propose(payload.into()).await.unwrap();
    let done = super::approve(fixture.app(), &fixture.session, &action, None).await.unwrap();
    let result: serde_json::Value = serde_json::from_str(&done.result.unwrap()).unwrap();
    let id = base::PaperAccountId::parse(result["paper_account_id"].as_str().unwrap()).unwrap();
    let order = service::actions::ActionPayload::Trade {
        account: id,
        symbol: "VTI".to_owned(),
        side: Side::Buy,
        size: shares("3"),
    };
    let action = fixture.propose(order.into()).await.unwrap();
    super::approve(fixture.app(), &fixture.session, &action, None).await.unwrap();
    fixture.world.market.add_corporate_action(dividend("1", "2026-03-11", "2026-03-11"));
    fixture.advance_to(at(OPENING));
    fixture.world.market.set_unavailable(true);
    settle(&fixture).await;
    assert_eq!(fixture.count_entries("dividend").await, 0);
    fixture.world.market.set_unavailable(false);
    settle(&fixture).await;
    assert_eq!(fixture.count_entries("dividend").await, 2);
    let second =
        service::trading::paper::get_account(fixture.app(), &fixture.session, id).await.unwrap();
    assert_eq!(second.cash_minor, 100_000 - 15_000 + 300);
    assert_eq!(fixture.cash().await.0, 1_000_000 - 50_000 + 1_000);
}

/// The background step runs every quarter of an hour, so a trade at the opening books the split itself.
#[tokio::test]
async fn a_split_is_booked_before_the_first_trade_at_the_new_price() {
    let fixture = ActionsFixture::new().await;
    fixture.trade(Side::Buy, "VTI", shares("10")).await;
    fixture.world.market.add_corporate_action(split(1, 10));
    // The split is announced the day before.
    settle_once(fixture.app()).await.unwrap();
    assert_eq!(fixture.cash_and_shares("VTI").await.1, "10");
    let early = fixture.propose(fixture.order(Side::Sell, "VTI", shares("10"))).await.unwrap();
    fixture.advance_to(at(OPENING));
    fixture.world.market.set("VTI", "500", None);
    let failed = super::approve(fixture.app(), &fixture.session, &early, None).await.unwrap();
    assert_eq!(failed.error_code.as_deref(), Some("INSUFFICIENT_SHARES"));
    assert_eq!(fixture.cash_and_shares("VTI").await, (950_000, "1".to_owned()));
    fixture.trade(Side::Sell, "VTI", shares("1")).await;
    assert_eq!(fixture.cash_and_shares("VTI").await, (1_000_000, "0".to_owned()));
    fixture.verify_integrity().await;
}
