//! Paper accounts over the API, with every member.

use http::StatusCode;
use serde_json::{Value, json};
use service::access::keys::NewKey;
use service::actions;
use testkit::new_key;

use super::{TradingFixture, members, sorted, text};

#[tokio::test]
async fn an_account_shows_its_value_in_exact_numbers() {
    let fixture = TradingFixture::new().await;
    fixture.trade(r#"{"symbol": "AAPL", "side": "buy", "quantity": 3}"#).await;
    fixture.world.advance_seconds(60);
    fixture.world.market.set("AAPL", "189.20", Some("185.00"));
    let answer = fixture.get("/paper-trading/accounts").await;
    assert_eq!(
        answer.data(),
        json!({ "accounts": [{
            "id": fixture.account,
            "name": "Practice",
            "status": "open",
            "currency": "USD",
            "starting_cash_balance": 100_000.0,
            "cash_balance": 99438.7,
            "buying_power": 99438.7,
            "holdings_value": 567.6,
            "total_value": 100_006.3,
            "total_gain_loss": 6.3,
            "total_gain_loss_percent": 0.01,
            "day_change": 6.3,
            "day_change_percent": 0.01,
            "holdings_count": 1,
            "trade_count": 1,
            "created_at": "2026-03-10T14:30:00.000Z",
            "updated_at": "2026-03-10T14:30:00.000Z",
            "as_of": "2026-03-10T14:31:00.000Z",
        }]})
    );
    let written = String::from_utf8(answer.bytes.clone()).unwrap();
    assert!(written.contains("\"starting_cash_balance\":100000.00,"), "exact: {written}");
    let unchanged = fixture.client.header("if-none-match", answer.header("etag"));
    let again = unchanged.get("/v1/paper-trading/accounts").await;
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
}

#[tokio::test]
async fn holdings_are_sorted_by_value_and_have_every_member() {
    let fixture = TradingFixture::new().await;
    fixture.trade(r#"{"symbol": "AAPL", "side": "buy", "quantity": 3}"#).await;
    fixture.trade(r#"{"symbol": "VTI", "side": "buy", "notional": 1000.00}"#).await;
    let path = format!("/paper-trading/accounts/{}/holdings", fixture.account);
    let data = fixture.get(&path).await.data();
    let names: Vec<&str> =
        data["holdings"].as_array().unwrap().iter().map(|it| text(it, "symbol")).collect();
    assert_eq!(names, ["VTI", "AAPL"]);
    let apple = &data["holdings"][1];
    assert_eq!(
        apple,
        &json!({
            "id": apple["id"],
            "security_id": apple["security_id"],
            "symbol": "AAPL",
            "name": "Apple Inc.",
            "security_type": "equity",
            "currency": "USD",
            "quantity": 3,
            "cost_basis": 561.3,
            "institution_price": 187.1,
            "institution_value": 561.3,
            "as_of": "2026-03-10T14:30:00.000Z",
        })
    );
    assert!(
        text(apple, "id").starts_with("hld_") && text(apple, "security_id").starts_with("sec_")
    );
    assert_eq!(data["holdings"][0]["security_type"], "etf");
}

#[tokio::test]
async fn trades_are_paged_with_the_cursor_beside_the_data() {
    let fixture = TradingFixture::new().await;
    for count in 1..=4 {
        fixture.world.advance_seconds(1);
        fixture.trade(&format!(r#"{{"symbol": "VTI", "side": "buy", "quantity": {count}}}"#)).await;
    }
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = fixture.get(&format!("{}?limit=2{cursor}", fixture.trades_path())).await.json();
        assert_eq!(members(&page), ["count", "cursor", "data", "has_more", "meta"]);
        let rows = page["data"].as_array().unwrap();
        assert_eq!(page["count"], rows.len());
        seen.extend(rows.clone());
        if page["has_more"] == false {
            assert_eq!(page["cursor"], Value::Null);
            break;
        }
        cursor = format!("&cursor={}", text(&page, "cursor"));
    }
    let names: Vec<&str> = seen.iter().map(|it| text(it, "name")).collect();
    assert_eq!(names, ["Bought 4 VTI", "Bought 3 VTI", "Bought 2 VTI", "Bought 1 VTI"]);
    let expected = "id type subtype name symbol date created_at quantity price amount";
    seen.iter().for_each(|it| assert_eq!(members(it), sorted(expected)));
    let newest = &seen[0];
    assert_eq!(
        newest,
        &json!({
            "id": newest["id"], "type": "trade", "subtype": "buy", "name": "Bought 4 VTI",
            "symbol": "VTI", "date": "2026-03-10", "created_at": "2026-03-10T14:30:04.000Z",
            "quantity": 4, "price": 50, "amount": -200.0,
        })
    );
    let accounts = fixture.get("/paper-trading/accounts").await.data();
    assert_eq!(accounts["accounts"][0]["trade_count"], seen.len());
}

#[tokio::test]
async fn activity_lists_everything_that_changed_cash_or_shares() {
    let fixture = TradingFixture::new().await;
    fixture.trade(r#"{"symbol": "AAPL", "side": "buy", "quantity": 3}"#).await;
    let sold = fixture.trade(r#"{"symbol": "AAPL", "side": "sell", "notional": 50}"#).await;
    // Ten hours later the market is closed, and a day later it is open again.
    fixture.world.advance_seconds(10 * 3_600);
    fixture.trade(r#"{"symbol": "VTI", "side": "buy", "quantity": 2}"#).await;
    fixture.world.advance_seconds(14 * 3_600);
    fixture.world.market.set("VTI", "50", None);
    actions::execute_once(&fixture.world.app).await.unwrap();
    let path = format!("/paper-trading/accounts/{}/activity", fixture.account);
    let page = fixture.get(&path).await.json();
    assert_eq!(members(&page), ["count", "cursor", "data", "has_more", "meta"]);
    let rows = page["data"].as_array().unwrap();
    let shown: Vec<String> = rows
        .iter()
        .map(|it| {
            let (kind, name) = (text(it, "subtype"), text(it, "name"));
            format!(
                "{} {kind}: {name}: {} {}",
                text(it, "type"),
                it["amount"],
                it["reserved_amount"]
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "trade buy: Bought 2 VTI: -100.0 0.0",
            "reservation release: Reserved cash released: 0.0 -102.0",
            "reservation reserve: Cash reserved for a waiting order: 0.0 102.0",
            "trade sell: Sold 0.267236772 AAPL: 50.0 0.0",
            "trade buy: Bought 3 AAPL: -561.3 0.0",
            "deposit deposit: Starting cash: 100000.0 0.0",
        ]
    );
    let expected = "id type subtype name symbol date created_at quantity price amount reserved_amount action_id";
    rows.iter().for_each(|it| assert_eq!(members(it), sorted(expected)));
    assert_eq!(rows[3]["action_id"], sold["action_id"]);
    assert_eq!(rows[0]["action_id"], rows[1]["action_id"]);
    for name in ["symbol", "quantity", "price"] {
        assert_eq!(rows[5][name], Value::Null, "unknown is null, never absent: {name}");
    }
    let trades = fixture.get(&fixture.trades_path()).await.json();
    let named: Vec<&str> =
        trades["data"].as_array().unwrap().iter().map(|it| text(it, "name")).collect();
    assert_eq!(named, ["Bought 2 VTI", "Sold 0.267236772 AAPL", "Bought 3 AAPL"]);
    let cursor = fixture.get(&format!("{path}?limit=1")).await.json()["cursor"].clone();
    let crossed = format!("{}?cursor={}", fixture.trades_path(), cursor.as_str().unwrap());
    assert!(fixture.get(&crossed).await.refusal().starts_with("400 VALIDATION_ERROR cursor"));
}

#[tokio::test]
async fn a_sale_for_cash_brings_exactly_that_or_the_proposal_says_why_not() {
    let fixture = TradingFixture::new().await;
    fixture.trade(r#"{"symbol": "AAPL", "side": "buy", "quantity": 1}"#).await;
    let sale = r#"{"symbol": "AAPL", "side": "sell", "notional": 50}"#;
    let exact = fixture.propose(sale).await;
    let details = &exact["details_v1"];
    assert_eq!(details["estimated_cost_display"], "$50.00");
    let terms = text(details, "bottom_markdown");
    assert!(terms.contains("It brings exactly $50.00."), "{terms}");
    fixture.approve(&exact).await;
    let trades = fixture.get(&fixture.trades_path()).await.json();
    assert_eq!(trades["data"][0]["amount"], 50.0);
    // 0.732763228 shares are worth $137.09999..., which is shown as $137.10.
    let all = fixture.propose(r#"{"symbol": "AAPL", "side": "sell", "notional": 137.10}"#).await;
    let details = &all["details_v1"];
    assert_eq!(details["estimated_cost_display"], "$137.09");
    let terms = text(details, "bottom_markdown");
    let why =
        "All your shares bring $137.09 after slippage and rounding, which is less than $137.10";
    assert!(terms.contains(why), "{terms}");
}

#[tokio::test]
async fn a_trades_cursor_is_valid_for_one_account_and_one_day() {
    let fixture = TradingFixture::new().await;
    for _ in 0..2 {
        fixture.trade(r#"{"symbol": "VTI", "side": "buy", "quantity": 1}"#).await;
    }
    let page = fixture.get(&format!("{}?limit=1", fixture.trades_path())).await;
    let cursor = text(&page.json(), "cursor").to_owned();
    let tag = page.header("etag").to_owned();
    assert_eq!(
        fixture.get(&format!("{}?limit=1", fixture.trades_path())).await.header("etag"),
        tag
    );
    let expected = "400 VALIDATION_ERROR cursor: invalid or expired cursor: start again without it, \
                    and keep the filters the same between pages";
    let second = fixture.post("/paper-trading/accounts", "{}").await.data();
    let second = fixture.approve(&second).await["result"]["paper_account_id"].clone();
    let elsewhere = format!("/paper-trading/accounts/{}/trades", second.as_str().unwrap());
    assert_eq!(fixture.get(&format!("{elsewhere}?cursor={cursor}")).await.refusal(), expected);
    let forged = format!("{}?cursor={}x", fixture.trades_path(), &cursor[..cursor.len() - 1]);
    assert_eq!(fixture.get(&forged).await.refusal(), expected);
    fixture.world.advance_seconds(24 * 3600);
    let old = fixture.get(&format!("{}?cursor={cursor}", fixture.trades_path())).await;
    assert_eq!(old.refusal(), expected);
    for limit in ["0", "101", "x"] {
        let refused =
            fixture.get(&format!("{}?limit={limit}", fixture.trades_path())).await.refusal();
        let expected = "400 VALIDATION_ERROR limit: limit must be a whole number from 1 to 100";
        assert_eq!(refused, expected);
    }
}

#[tokio::test]
async fn an_account_is_created_as_requested() {
    let fixture = TradingFixture::new().await;
    for (body, name, cash) in [
        ("", "Paper account", 100_000.0),
        ("{}", "Paper account", 100_000.0),
        (r#"{"name": null, "skip_approval": false}"#, "Paper account", 100_000.0),
        (r#"{"starting_cash_balance": "0.01"}"#, "Paper account", 0.01),
        (r#"{"starting_cash_balance": "1000000000", "name": " Big "}"#, "Big", 1e9),
    ] {
        let proposed = fixture.post("/paper-trading/accounts", body).await.data();
        assert_eq!(proposed["action_kind"], "account_create");
        assert_eq!(proposed["action_type"], "paper_account.create");
        assert_eq!(proposed["details_v1"], Value::Null);
        let done = fixture.approve(&proposed).await;
        let accounts = fixture.get("/paper-trading/accounts").await.data();
        let made = accounts["accounts"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(
            made["id"], done["result"]["paper_account_id"],
            "accounts are listed oldest first"
        );
        assert_eq!(
            (text(&made, "name"), made["starting_cash_balance"].as_f64()),
            (name, Some(cash))
        );
    }
}

#[tokio::test]
async fn an_invalid_account_is_refused_with_the_member_at_fault() {
    let fixture = TradingFixture::new().await;
    let range = "starting_cash_balance must be from 0.01 to 1000000000";
    let number = "starting_cash_balance must be text with a number in it, such as \"100000.00\"";
    let decimals =
        "starting_cash_balance must be a number such as -12.34, with at most 2 decimals in USD";
    for (member, message) in [
        (r#""starting_cash_balance": "0""#, range),
        (r#""starting_cash_balance": "-5""#, range),
        (r#""starting_cash_balance": "1000000000.01""#, range),
        (r#""starting_cash_balance": "0.001""#, decimals),
        (r#""starting_cash_balance": "1e5""#, decimals),
        (r#""starting_cash_balance": "" "#, decimals),
        (r#""starting_cash_balance": 5000"#, number),
        (
            r#""starting_cash_balance": "99999999999999999999999999""#,
            "starting_cash_balance is too large",
        ),
        (r#""name": """#, "name must have 1 to 80 characters on one line"),
        (r#""name": "a\nb""#, "name must not contain control or direction characters"),
        (r#""name": 5"#, "name must be text"),
        (r#""skip_approval": true"#, "skipping approval is not supported"),
        (r#""skip_approval": "no""#, "skip_approval must be true or false"),
    ] {
        let refused =
            fixture.post("/paper-trading/accounts", &format!("{{{member}}}")).await.refusal();
        let param = member.split('"').nth(1).unwrap();
        assert_eq!(refused, format!("400 VALIDATION_ERROR {param}: {message}"));
    }
    let long = format!(r#"{{"name": "{}"}}"#, "x".repeat(81));
    let refused = fixture.post("/paper-trading/accounts", &long).await.refusal();
    assert_eq!(refused, "400 VALIDATION_ERROR name: name must have at most 80 characters");
    let misspelled =
        fixture.post("/paper-trading/accounts", r#"{"starting_balance": "5"}"#).await.refusal();
    assert_eq!(
        misspelled,
        "400 VALIDATION_ERROR starting_balance: starting_balance is not known here; did you mean \
         starting_cash_balance?"
    );
    assert_eq!(fixture.count_pending().await, 0);
}

#[tokio::test]
async fn unknown_foreign_and_inaccessible_accounts_get_the_same_error() {
    let fixture = TradingFixture::new().await;
    let sam = fixture.world.person("sam@example.com").await;
    let sams = super::json_client(&fixture.world, &sam.key(new_key()).await.secret);
    let everyday = fixture.person.account("Everyday").await;
    let limited =
        fixture.client_with_key(NewKey { accounts: Some(vec![everyday]), ..new_key() }).await;
    let own = &fixture.account;
    let nobodys = "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77";
    let expected = "404 NOT_FOUND: there is no such paper account";
    let buy = r#"{"symbol": "AAPL", "side": "buy", "quantity": 1}"#;
    for (client, account) in [
        (&sams, own.as_str()),
        (&limited, own.as_str()),
        (&fixture.client, nobodys),
        (&fixture.client, "not-an-id"),
        (&fixture.client, "acc_01kny3v1m8f2x9q4t7r5c6b8de"),
    ] {
        let base = format!("/v1/paper-trading/accounts/{account}");
        assert_eq!(client.get(&format!("{base}/holdings")).await.refusal(), expected);
        assert_eq!(client.get(&format!("{base}/trades")).await.refusal(), expected);
        assert_eq!(client.get(&format!("{base}/activity")).await.refusal(), expected);
        let traded = client.send(http::Method::POST, &format!("{base}/trades"), buy).await;
        assert_eq!(traded.refusal(), expected);
    }
    for client in [&sams, &limited] {
        let none = client.get("/v1/paper-trading/accounts").await.data();
        assert_eq!(none, json!({ "accounts": [] }));
    }
}
