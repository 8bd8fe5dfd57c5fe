//! Proposing a trade: every member of the response, every error, and idempotency keys.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use service::access::keys::NewKey;
use service::actions::{Policy, set_policy};
use testkit::new_key;
use wire::v1::Scope;

use super::{TradingFixture, members, sorted, text};
use crate::client::PUBLIC_URL;

/// The members of an Action in the specification, and our additions.
const ACTION: &str = "action_id action_type action_kind status thread_id description
    display_error_message created_at updated_at decided_at executed_at expires_at decision_needs
    details_v1 proposed_by decided_by decision_method rejection_reason result details";
const DETAILS: &str = "kind account symbol security_name side side_label input_mode quantity
    quantity_display amount_label current_price_display price_change_display price_change_direction
    quote_as_of quote_as_of_label estimated_cost_display order_type_display proposed_by_label
    top_markdown bottom_markdown reason_markdown timing_disclosure money_movement_disclosure
    primary_action_label secondary_action_label";
const ACCOUNT: &str = "id source source_label subtitle institution_name icon_url
    available_amount_display display_name available_amount_label available_amount_state";

#[tokio::test]
async fn a_proposal_has_every_member_of_the_specification() {
    let fixture = TradingFixture::new().await;
    let made = fixture.propose(r#"{"symbol": "AAPL", "side": "buy", "quantity": 3}"#).await;
    let created = format!("{ACTION} approval_url approval_status_url");
    assert_eq!(members(&made), sorted(&created));
    assert_eq!(members(&made["details_v1"]), sorted(DETAILS));
    assert_eq!(members(&made["details_v1"]["account"]), sorted(ACCOUNT));
    let needs = "approval passkey identity_verification client_execution";
    assert_eq!(members(&made["decision_needs"]), sorted(needs));
    let thread = text(&made, "thread_id");
    let followed = fixture.get(&format!("/approvals/{thread}")).await;
    assert_eq!(members(&followed.data()), sorted(ACTION));
    let written = String::from_utf8(followed.bytes).unwrap();
    assert!(
        written.starts_with("{\"data\":{\"thread_id\":"),
        "thread_id is the first member: {written}"
    );
    let by_id = fixture.get(&format!("/actions/{}", text(&made, "action_id"))).await.data();
    assert_eq!(members(&by_id), sorted(ACTION));
}

#[tokio::test]
async fn a_proposed_trade_has_display_texts_for_the_decision() {
    let fixture = TradingFixture::new().await;
    let made = fixture.propose(r#"{"symbol": "aapl", "side": "buy", "quantity": 3}"#).await;
    let thread = text(&made, "thread_id");
    let details = json!({
        "kind": "paper_trade",
        "account": {
            "id": fixture.account, "source": "paper", "source_label": "Paper trading",
            "display_name": "Practice", "subtitle": "Paper money",
            "institution_name": null, "icon_url": null,
            "available_amount_label": "Buying power",
            "available_amount_display": "$100,000.00",
            "available_amount_state": "available",
        },
        "symbol": "AAPL", "security_name": "Apple Inc.", "side": "buy", "side_label": "Buy",
        "input_mode": "shares", "quantity": "3", "quantity_display": "3 shares",
        "amount_label": "Estimated cost", "current_price_display": "$187.10",
        "price_change_display": "+$2.10 (+1.14%)", "price_change_direction": "positive",
        "quote_as_of": "2026-03-10T14:30:00.000Z",
        "quote_as_of_label": "Test market, Tue 10 Mar 2026, 10:30 in New York",
        "estimated_cost_display": "$561.30", "order_type_display": "Market order",
        "proposed_by_label": "A script", "top_markdown": null,
        "bottom_markdown": made["details_v1"]["bottom_markdown"],
        "reason_markdown": null, "timing_disclosure": null,
        "money_movement_disclosure": "This is paper trading: no real money moves.",
        "primary_action_label": "Buy 3 AAPL", "secondary_action_label": "Reject",
    });
    assert_eq!(
        made,
        json!({
            "action_id": made["action_id"],
            "action_type": "paper_trade.create",
            "action_kind": "trade",
            "status": "pending_approval",
            "thread_id": thread,
            "approval_url": format!("{PUBLIC_URL}/approvals/{thread}"),
            "approval_status_url": format!("{PUBLIC_URL}/v1/approvals/{thread}"),
            "description": "Buy 3 AAPL",
            "display_error_message": null,
            "created_at": "2026-03-10T14:30:00.000Z",
            "updated_at": "2026-03-10T14:30:00.000Z",
            "decided_at": null,
            "executed_at": null,
            "expires_at": "2026-03-11T14:30:00.000Z",
            "decision_needs": {
                "approval": true, "passkey": false, "identity_verification": false,
                "client_execution": false,
            },
            "details_v1": details,
            "details": null,
            "proposed_by": { "type": "api_key", "id": made["proposed_by"]["id"], "label": "A script" },
            "decided_by": null,
            "decision_method": null,
            "rejection_reason": null,
            "result": null,
        })
    );
    let holdings =
        fixture.get(&format!("/paper-trading/accounts/{}/holdings", fixture.account)).await;
    assert_eq!(holdings.data(), json!({ "holdings": [] }), "a proposal does not trade");
}

#[tokio::test]
async fn a_proposal_while_the_market_is_closed_explains_the_wait() {
    let fixture = TradingFixture::new().await;
    fixture.world.advance_seconds(8 * 3_600);
    fixture.world.market.set("AAPL", "187.10", Some("185.00"));
    let made = fixture.propose(r#"{"symbol": "AAPL", "side": "buy", "notional": 500.00}"#).await;
    let shown = &made["details_v1"];
    assert_eq!(
        text(shown, "timing_disclosure"),
        "The market is closed. The order waits with $500.00 reserved and is filled when the \
         market opens on Wed 11 Mar 2026, 09:30 in New York."
    );
    assert_eq!(
        (text(shown, "input_mode"), text(shown, "quantity_display")),
        ("dollars", "About 2.672367717 shares")
    );
    let done = fixture.approve(&made).await;
    assert_eq!(done["status"], "approved", "the order waits for the market to open");
    let account = fixture.get("/paper-trading/accounts").await.data()["accounts"][0].clone();
    assert_eq!(
        (account["cash_balance"].to_string(), account["buying_power"].to_string()),
        ("100000.0".to_owned(), "99500.0".to_owned())
    );
}

#[tokio::test]
async fn a_trade_needs_exactly_one_valid_size() {
    let fixture = TradingFixture::new().await;
    let plain = "must be a number such as 1.5";
    let money = "must be a number such as -12.34, with at most 2 decimals in USD";
    for (size, message) in [
        ("", "quantity: quantity or notional must be given"),
        (
            r#", "quantity": 1, "notional": 5"#,
            "notional: notional cannot be given together with quantity",
        ),
        (r#", "quantity": 0"#, "quantity: quantity must be greater than 0"),
        (r#", "quantity": -0"#, "quantity: quantity must be greater than 0"),
        (r#", "quantity": -1"#, "quantity: quantity must be greater than 0"),
        (r#", "quantity": 1e-10"#, "quantity: quantity must have at most 9 decimals"),
        (r#", "quantity": 1e999999999"#, "quantity: quantity has too many digits"),
        (r#", "quantity": "5""#, &format!("quantity: quantity {plain}")),
        (r#", "quantity": [5]"#, &format!("quantity: quantity {plain}")),
        (r#", "quantity": true"#, &format!("quantity: quantity {plain}")),
        (r#", "quantity": 0.0000000001"#, "quantity: quantity must have at most 9 decimals"),
        (
            r#", "quantity": 1111111111222222222233333333334444444444"#,
            "quantity: quantity has too many digits",
        ),
        (r#", "quantity": 1000000000000000000"#, "quantity: quantity is too large"),
        (r#", "notional": 0"#, "notional: notional must be greater than 0"),
        (r#", "notional": -10"#, "notional: notional must be greater than 0"),
        (r#", "notional": 5.001"#, &format!("notional: notional {money}")),
        (r#", "notional": "5""#, &format!("notional: notional {money}")),
        (r#", "notional": 5001e-3"#, &format!("notional: notional {money}")),
        (r#", "notional": 1e999999999"#, "notional: notional is too large"),
        (
            r#", "notional": 1111111111222222222233333333334444444444"#,
            "notional: notional is too large",
        ),
    ] {
        let body = format!(r#"{{"symbol": "AAPL", "side": "buy"{size}}}"#);
        let refused = fixture.post(&fixture.trades_path(), &body).await.refusal();
        assert_eq!(refused, format!("400 VALIDATION_ERROR {message}"), "{size}");
    }
    assert_eq!(fixture.count_pending().await, 0);
    for (size, shown) in [
        (r#""quantity": 0.123456789"#, "0.123456789"),
        (r#""quantity": 1.50000000000000"#, "1.5"),
        (r#""notional": 187.1"#, "1"),
    ] {
        let made =
            fixture.propose(&format!(r#"{{"symbol": "AAPL", "side": "buy", {size}}}"#)).await;
        assert_eq!(text(&made["details_v1"], "quantity"), shown);
    }
}

#[tokio::test]
async fn other_invalid_members_are_refused_by_name() {
    let fixture = TradingFixture::new().await;
    let ticker = "symbol must be a ticker of 1 to 10 characters, such as AAPL";
    for (body, message) in [
        (r#"{"side": "buy", "quantity": 1}"#, "symbol: symbol is missing"),
        (r#"{"symbol": null, "side": "buy", "quantity": 1}"#, "symbol: symbol is missing"),
        (r#"{"symbol": "", "side": "buy", "quantity": 1}"#, &format!("symbol: {ticker}")),
        (
            r#"{"symbol": "ABCDEFGHIJK", "side": "buy", "quantity": 1}"#,
            &format!("symbol: {ticker}"),
        ),
        (r#"{"symbol": "A\u0000", "side": "buy", "quantity": 1}"#, &format!("symbol: {ticker}")),
        (r#"{"symbol": "<b>", "side": "buy", "quantity": 1}"#, &format!("symbol: {ticker}")),
        (r#"{"symbol": 5, "side": "buy", "quantity": 1}"#, "symbol: symbol must be text"),
        (r#"{"symbol": "AAPL", "quantity": 1}"#, "side: side is missing"),
        (
            r#"{"symbol": "AAPL", "side": "BUY", "quantity": 1}"#,
            "side: side must be one of buy, sell",
        ),
        (
            r#"{"symbol": "AAPL", "side": "buy", "quantity": 1, "skip_approval": true}"#,
            "skip_approval: skipping approval is not supported",
        ),
        (
            r#"{"symbol": "AAPL", "side": "buy", "quantiy": 1}"#,
            "quantiy: quantiy is not known here; did you mean quantity?",
        ),
        (
            r#"{"symbol": "AAPL", "symbol": "VTI", "side": "buy", "quantity": 1}"#,
            "symbol: symbol is given more than once",
        ),
    ] {
        let refused = fixture.post(&fixture.trades_path(), body).await.refusal();
        assert_eq!(refused, format!("400 VALIDATION_ERROR {message}"), "{body}");
    }
    let query = fixture.post(&format!("{}?limit=1", fixture.trades_path()), "{}").await.refusal();
    assert_eq!(query, "400 VALIDATION_ERROR limit: limit is not known here, which takes none");
    let listed = fixture.post(&fixture.trades_path(), "[]").await.refusal();
    assert!(
        listed.starts_with("400 VALIDATION_ERROR: the body must be one JSON object"),
        "{listed}"
    );
    let empty = fixture.post(&fixture.trades_path(), "").await.refusal();
    assert_eq!(empty, "400 VALIDATION_ERROR symbol: symbol is missing");
    assert_eq!(fixture.count_pending().await, 0);
}

#[tokio::test]
async fn a_trade_that_cannot_execute_now_is_refused_with_the_reason() {
    let fixture = TradingFixture::new().await;
    for (body, expected) in [
        (
            r#"{"symbol": "AAPL", "side": "buy", "quantity": 535}"#,
            "422 INSUFFICIENT_FUNDS: this costs $100,098.50, but the account has only $100,000.00 available",
        ),
        (
            r#"{"symbol": "AAPL", "side": "buy", "notional": 100000.01}"#,
            "422 INSUFFICIENT_FUNDS: this costs $100,000.01, but the account has only $100,000.00 available",
        ),
        (
            r#"{"symbol": "AAPL", "side": "sell", "quantity": 1}"#,
            "422 INSUFFICIENT_SHARES: the account holds only 0 AAPL, less than this order sells",
        ),
        (
            r#"{"symbol": "NOPE", "side": "buy", "quantity": 1}"#,
            "422 UNKNOWN_SYMBOL: there is no price for NOPE in this market",
        ),
    ] {
        assert_eq!(fixture.post(&fixture.trades_path(), body).await.refusal(), expected);
        let payload: Value = serde_json::from_str(body).unwrap();
        let mut payload = payload;
        payload["account_id"] = json!(fixture.account);
        let refused = fixture.propose_action("paper_trade.create", payload).await.refusal();
        assert_eq!(refused, expected, "both endpoints refuse with the same error");
    }
    assert_eq!(fixture.count_pending().await, 0);
}

#[tokio::test]
async fn the_same_idempotency_key_proposes_once_and_replays_the_response() {
    let fixture = TradingFixture::new().await;
    let client = fixture.client.header("idempotency-key", "order-1");
    let path = format!("/v1{}", fixture.trades_path());
    let buy = r#"{"symbol": "AAPL", "side": "buy", "quantity": 3}"#;
    let first = client.send(Method::POST, &path, buy).await;
    fixture.world.advance_seconds(5);
    fixture.world.market.set("AAPL", "200.00", Some("185.00"));
    let again = client.send(Method::POST, &path, buy).await;
    assert_eq!(first.data(), again.data(), "the replay has the price of the first response");
    assert_eq!(
        (first.header("idempotent-replayed"), again.header("idempotent-replayed")),
        ("", "true")
    );
    assert_eq!(fixture.count_pending().await, 1);
    let other = client
        .send(Method::POST, &path, r#"{"symbol": "AAPL", "side": "buy", "quantity": 4}"#)
        .await;
    assert!(other.refusal().starts_with("422 IDEMPOTENCY_KEY_REUSED"));

    fixture.approve(&first.data()).await;
    let later = client.send(Method::POST, &path, buy).await;
    assert_eq!(later.data()["status"], "pending_approval", "the replay has the original status");
    let poor = fixture.client.header("idempotency-key", "order-2");
    let refused = r#"{"symbol": "NOPE", "side": "buy", "quantity": 1}"#;
    assert_eq!(
        poor.send(Method::POST, &path, refused).await.status,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    fixture.world.market.set("NOPE", "1", None);
    let again = poor.send(Method::POST, &path, refused).await;
    assert_eq!(
        (again.status, again.header("idempotent-replayed")),
        (StatusCode::UNPROCESSABLE_ENTITY, "true")
    );
    let corrected = poor.send(Method::POST, "/v1/paper-trading/accounts", r#"{"name": 5}"#).await;
    assert_eq!(corrected.status, StatusCode::BAD_REQUEST);
    let corrected = poor.send(Method::POST, "/v1/paper-trading/accounts", r#"{"name": "A"}"#).await;
    assert_eq!((corrected.status, corrected.header("idempotent-replayed")), (StatusCode::OK, ""));
}

#[tokio::test]
async fn concurrent_requests_with_one_idempotency_key_make_one_proposal() {
    let fixture = TradingFixture::new().await;
    let client = fixture.client.header("idempotency-key", "at-once");
    let path = format!("/v1{}", fixture.trades_path());
    let buy = r#"{"symbol": "AAPL", "side": "buy", "quantity": 1}"#;
    let sent = (0..8).map(|_| client.send(Method::POST, &path, buy));
    let answers = futures_util::future::join_all(sent).await;
    let made: Vec<Value> =
        answers.iter().filter(|it| it.status == StatusCode::OK).map(|it| it.data()).collect();
    assert!(!made.is_empty() && made.iter().all(|it| it == &made[0]), "{made:?}");
    for answer in answers.iter().filter(|it| it.status != StatusCode::OK) {
        assert!(answer.refusal().starts_with("409 IDEMPOTENCY_IN_PROGRESS"));
        assert_eq!(answer.header("retry-after"), "1");
    }
    assert_eq!(fixture.count_pending().await, 1);
}

#[tokio::test]
async fn the_policy_limits_how_many_proposals_a_key_makes_per_day() {
    let fixture = TradingFixture::new().await;
    let policy = Policy { life_seconds: 600, passkey_from_minor: None, proposals_a_day: 2 };
    set_policy(&fixture.world.app, &fixture.session, policy).await.unwrap();
    let buy = r#"{"symbol": "AAPL", "side": "buy", "quantity": 1}"#;
    let made = fixture.propose(buy).await;
    assert_eq!(made["expires_at"], "2026-03-10T14:40:00.000Z", "the policy also sets the lifetime");
    let refused = fixture.post(&fixture.trades_path(), buy).await;
    assert_eq!(
        refused.refusal(),
        "429 PROPOSAL_LIMIT_REACHED: the person allows 2 proposals in 24 hours; try again in 86400 \
         seconds"
    );
    assert_eq!(refused.header("retry-after"), "86400");
    let page = refused.json()["error"]["type"].as_str().unwrap().to_owned();
    assert!(page.ends_with("/docs/errors/proposal-limit-reached"), "{page}");
    // The rate limit counts requests, and says that there are some left.
    assert_eq!(refused.header("ratelimit"), "\"default\";r=96;t=60");
    assert_eq!(fixture.get("/me").await.status, StatusCode::OK);
    let other = fixture.client_with_key(new_key()).await;
    let path = format!("/v1{}", fixture.trades_path());
    assert_eq!(
        other.send(Method::POST, &path, buy).await.status,
        StatusCode::OK,
        "each key has its own limit"
    );
    fixture.world.advance_seconds(86_401);
    fixture.world.market.set("AAPL", "187.10", None);
    assert_eq!(fixture.post(&fixture.trades_path(), buy).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_key_with_only_the_trade_scope_can_propose_and_follow_trades() {
    let fixture = TradingFixture::new().await;
    let trader = fixture
        .client_with_key(NewKey { scopes: [Scope::PaperTrade].into_iter().collect(), ..new_key() })
        .await;
    let path = format!("/v1{}", fixture.trades_path());
    let buy = r#"{"symbol": "AAPL", "side": "buy", "quantity": 1}"#;
    let made = trader.send(Method::POST, &path, buy).await.data();
    let followed = trader.get(&format!("/v1/approvals/{}", text(&made, "thread_id"))).await;
    assert_eq!(followed.data()["status"], "pending_approval", "a key can follow its own proposals");
    let body = json!({ "action_type": "custom", "payload": { "title": "Anything" } }).to_string();
    let refused = trader.send(Method::POST, "/v1/actions", body).await;
    assert_eq!(
        refused.refusal(),
        "403 INSUFFICIENT_SCOPE: this token lacks the scope actions:write"
    );
    assert!(refused.header("www-authenticate").contains("scope=\"actions:write\""));
    let holdings =
        trader.get(&format!("/v1/paper-trading/accounts/{}/holdings", fixture.account)).await;
    assert_eq!(holdings.refusal(), "403 INSUFFICIENT_SCOPE: this token lacks the scope paper:read");
}
