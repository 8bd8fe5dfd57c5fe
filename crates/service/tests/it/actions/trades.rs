//! Paper trades: what a proposal shows, what an approval does, and why trades are refused.

use calc::paper::{Side, Size};
use service::Error;
use service::actions::{self, Status};
use wire::v1::Code;

use super::{ActionsFixture, approve, shares};

#[tokio::test]
async fn a_proposal_shows_price_cost_and_available_cash() {
    let fixture = ActionsFixture::new().await;
    let action = fixture.propose(fixture.order(Side::Buy, "aapl", shares("3"))).await.unwrap();
    assert_eq!(action.status, Status::PendingApproval);
    let details = action.details().trade.unwrap();
    assert_eq!(details.primary_action_label, "Buy 3 AAPL");
    assert_eq!(details.estimated_cost_display.as_deref(), Some("$561.30"));
    assert_eq!(details.current_price_display.as_deref(), Some("$187.10"));
    assert_eq!(details.price_change_display.as_deref(), Some("+$2.10 (+1.14%)"));
    assert_eq!(details.security_name.as_deref(), Some("Apple Inc."));
    assert_eq!(details.account.available_amount_display.as_deref(), Some("$10,000.00"));
    assert_eq!(details.timing_disclosure, None);
    let label = details.quote_as_of_label.unwrap();
    assert_eq!(label, "Test market, Tue 10 Mar 2026, 10:30 in New York");
}

#[tokio::test]
async fn an_approved_trade_is_filled_once_and_changes_the_holdings() {
    let fixture = ActionsFixture::new().await;
    let bought = fixture.trade(Side::Buy, "AAPL", shares("3")).await;
    assert_eq!(bought.status, Status::Executed, "{:?}", bought.error_message);
    assert_eq!(fixture.cash_and_shares("AAPL").await, (943_870, "3".to_owned()));
    let sold = fixture.trade(Side::Sell, "AAPL", Size::Cash(18_710)).await;
    assert_eq!(sold.status, Status::Executed, "{:?}", sold.error_message);
    assert_eq!(fixture.cash_and_shares("AAPL").await, (962_580, "2".to_owned()));
    let again = approve(fixture.app(), &fixture.session, &bought, None).await.unwrap_err();
    assert_eq!(again.to_string(), "this proposal was already executed");
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn an_impossible_trade_is_refused_when_it_is_proposed() {
    let fixture = ActionsFixture::with_cash("500.00").await;
    for (side, symbol, size, code) in [
        (Side::Buy, "AAPL", shares("3"), Code::InsufficientFunds),
        (Side::Sell, "AAPL", shares("1"), Code::InsufficientShares),
        (Side::Buy, "NOPE", shares("1"), Code::UnknownSymbol),
    ] {
        let refused = fixture.propose(fixture.order(side, symbol, size)).await.unwrap_err();
        assert!(matches!(&refused, Error::Conflict { code: it, .. } if *it == code), "{refused}");
    }
    let none = actions::count_pending(fixture.app(), &fixture.session).await.unwrap();
    assert_eq!(none, 0);
}

#[tokio::test]
async fn a_buy_that_is_one_cent_short_when_it_is_filled_fails() {
    let fixture = ActionsFixture::with_cash("1000.00").await;
    let order = |minor| fixture.order(Side::Buy, "VTI", Size::Cash(minor));
    let (half, more) = (
        fixture.propose(order(50_000)).await.unwrap(),
        fixture.propose(order(50_001)).await.unwrap(),
    );
    let rest = fixture.propose(order(50_000)).await.unwrap();
    let mut ends = Vec::new();
    for action in [half, more, rest] {
        let done = approve(fixture.app(), &fixture.session, &action, None).await.unwrap();
        ends.push(done.error_code);
    }
    assert_eq!(ends, [None, Some("INSUFFICIENT_FUNDS".to_owned()), None]);
    assert_eq!(fixture.cash().await, (0, 0));
    fixture.verify_integrity().await;
}
