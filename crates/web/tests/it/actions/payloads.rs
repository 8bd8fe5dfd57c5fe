//! POST /actions: the members, details and effect of each payload type.

use serde_json::{Value, json};

use super::{TradingFixture, members, text};

#[tokio::test]
async fn a_correction_shows_its_changes_and_is_applied_when_approved() {
    let fixture = TradingFixture::new().await;
    let transaction = fixture.get("/transactions").await.data()[0]["id"].clone();
    let payload = json!({ "transaction_ids": [transaction], "category": "FOOD_AND_DRINK_COFFEE" });
    let made = fixture.propose_action("transaction.recategorize", payload).await.data();
    assert_eq!((text(&made, "action_kind"), &made["details_v1"]), ("data_fix", &Value::Null));
    let details = &made["details"];
    assert_eq!(members(details), ["changes", "reason_markdown", "summary_markdown", "title"]);
    assert_eq!(text(details, "title"), "Recategorize 1 transaction to Coffee shops");
    assert_eq!(details["changes"][0]["after"], "Coffee shops");
    assert_eq!(members(&details["changes"][0]), ["after", "before", "label"]);
    assert_eq!(made["decision_needs"]["client_execution"], false);
    let done = fixture.approve(&made).await;
    assert_eq!(done["result"], json!({ "transaction_count": 1, "rule_ids": [] }));
    let now = fixture.get("/transactions").await.data()[0].clone();
    assert_eq!(now["category_tier2"], "FOOD_AND_DRINK_COFFEE");

    let payload = json!({ "transaction_ids": [transaction], "counterparty_name": "The corner", "always": true });
    let made = fixture.propose_action("transaction.rename", payload).await.data();
    assert_eq!(made["action_type"], "transaction.rename");
    let done = fixture.approve(&made).await;
    assert_eq!(done["result"]["rule_ids"].as_array().unwrap().len(), 1);
    assert_eq!(fixture.get("/transactions").await.data()[0]["counterparty_name"], "The corner");
}

#[tokio::test]
async fn a_category_is_accepted_by_its_code_label_or_group() {
    let fixture = TradingFixture::new().await;
    let transaction = fixture.get("/transactions").await.data()[0]["id"].clone();
    let ask = async |category: &str| {
        let payload = json!({ "transaction_ids": [transaction], "category": category });
        fixture.propose_action("transaction.recategorize", payload).await
    };
    for (category, label) in [
        ("FOOD_AND_DRINK_COFFEE", "Coffee shops"),
        ("coffee SHOPS", "Coffee shops"),
        ("FOOD_AND_DRINK", "Food and drink"),
    ] {
        let made = ask(category).await.data();
        assert_eq!(made["details"]["changes"][0]["after"], label, "{category}");
    }
    let kind = "payload.category must be a category such as FOOD_AND_DRINK_COFFEE, or its label";
    for (category, suggestion) in [
        ("FOOD_AND_DRINK_COFFE", "; did you mean FOOD_AND_DRINK_COFFEE?"),
        ("food_and_drink_coffee", ""),
        ("", ""),
        ("<script>", ""),
    ] {
        let refused = ask(category).await.refusal();
        assert_eq!(
            refused,
            format!("400 VALIDATION_ERROR payload.category: {kind}{suggestion}"),
            "{category}"
        );
    }
}

#[tokio::test]
async fn a_split_and_tags_are_shown_and_applied_when_approved() {
    let fixture = TradingFixture::new().await;
    let transaction = fixture.get("/transactions").await.data()[0]["id"].clone();
    let part = |amount: Value, category: &str| json!({ "amount": amount, "category": category });
    let ask = async |parts: Value| {
        let payload = json!({ "transaction_id": transaction, "splits": parts });
        fixture.propose_action("transaction.split", payload).await
    };
    let mut gift = part(json!(-1.50), "Gifts");
    gift["note"] = json!("For Kim");
    let made = ask(json!([part(json!(-3), "Coffee shops"), gift])).await.data();
    assert_eq!(text(&made["details"], "title"), "Split Corner Cafe 12 into 2 parts");
    assert_eq!(made["details"]["changes"][2]["after"], "Gifts -$1.50 (For Kim)");
    assert_eq!(fixture.approve(&made).await["result"], json!({ "transaction_count": 1 }));
    let now = fixture.get("/transactions").await.data()[0].clone();
    assert_eq!(now["splits"][1]["note"], "For Kim");
    assert_eq!(now["splits"][0]["category_tier2"], "FOOD_AND_DRINK_COFFEE");
    for (parts, member, message) in [
        (json!([{ "category": "Gifts" }]), "splits.0.amount", "is missing"),
        (json!([part(json!(-3), "Nothing")]), "splits.0.category", "must be a category such as"),
        (json!([{ "amont": 1 }]), "splits.0.amont", "is not known here; did you mean amount?"),
        (json!({}), "splits", "must be a list of objects"),
    ] {
        let refused = ask(parts).await.refusal();
        assert!(refused.starts_with(&payload_error(member, message)), "{refused}");
    }
    let few = ask(json!([part(json!(-4.5), "Gifts")])).await.refusal();
    assert_eq!(few, "400 VALIDATION_ERROR payload.splits: a split has 2 to 20 parts");

    let annotate = async |rest: Value| {
        let mut payload = json!({ "transaction_ids": [transaction] });
        payload.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        fixture.propose_action("transaction.annotate", payload).await
    };
    let made = annotate(json!({ "tags": ["Work"], "note": "Team breakfast" })).await.data();
    assert_eq!(made["details"]["changes"][0]["after"], "Team breakfast #work");
    fixture.approve(&made).await;
    let now = fixture.get("/transactions").await.data()[0].clone();
    assert_eq!((&now["note"], &now["tags"]), (&json!("Team breakfast"), &json!(["work"])));
    let none = annotate(json!({})).await.refusal();
    assert_eq!(none, payload_error("note", "or payload.tags must be given"));
    let bad = annotate(json!({ "tags": ["two words"] })).await.refusal();
    assert!(bad.starts_with(&payload_error("tags", "must be up to 20 tags")), "{bad}");
}

#[tokio::test]
async fn a_rule_is_created_when_approved() {
    let fixture = TradingFixture::new().await;
    let everyday = fixture.person.account("Everyday").await.to_string();
    let payload = json!({
        "words": "corner cafe", "account_id": everyday, "cash_flow_direction": "outflow",
        "category": "Coffee shops", "counterparty_name": "Corner Cafe",
        "amount_min": 2, "amount_max": 7.5,
    });
    let made = fixture.propose_action("rule.create", payload).await.data();
    assert_eq!(made["action_kind"], "automation");
    assert_eq!(
        text(&made, "description"),
        "Create a rule: texts with CORNER CAFE is Corner Cafe (Coffee shops)"
    );
    let asked = made["details"]["changes"].as_array().unwrap();
    let amount = asked.iter().find(|it| it["label"] == "Amount").unwrap();
    assert_eq!(amount["after"], "$2.00 to $7.50");
    let done = fixture.approve(&made).await;
    assert_eq!(members(&done["result"]), ["rule_id"]);
    let rules = service::classify::rules::list(&fixture.world.app, &fixture.session).await.unwrap();
    assert_eq!(rules[0].words.as_deref(), Some("CORNER CAFE"));
    let range = rules[0].amounts.unwrap();
    assert_eq!((range.least_minor, range.most_minor), (Some(200), Some(750)));
    assert_eq!(range.currency, base::Currency::USD);
}

#[tokio::test]
async fn the_amounts_of_a_rule_are_sizes_in_a_currency() {
    let fixture = TradingFixture::new().await;
    for (extra, member, message) in [
        (json!({ "amount_min": -1 }), "amount_min", "must not be negative"),
        (
            json!({ "amount_min": 5, "amount_max": 4 }),
            "amount_max",
            "must not be less than amount_min",
        ),
    ] {
        let mut payload = json!({ "words": "cafe", "category": "Coffee shops" });
        payload.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let answer = fixture.propose_action("rule.create", payload).await;
        assert_eq!(answer.refusal(), payload_error(member, message));
    }
    let payload = json!({
        "words": "cafe", "category": "Coffee shops", "amount_max": 1_000, "currency": "JPY",
    });
    let made = fixture.propose_action("rule.create", payload).await.data();
    fixture.approve(&made).await;
    let rules = service::classify::rules::list(&fixture.world.app, &fixture.session).await.unwrap();
    let range = rules[0].amounts.unwrap();
    assert_eq!((range.least_minor, range.most_minor), (None, Some(1_000)));
}

#[tokio::test]
async fn an_approved_transfer_waits_for_the_person_to_make_it() {
    let fixture = TradingFixture::new().await;
    let from = fixture.person.account("Everyday").await.to_string();
    let to = fixture.person.account("Nest egg").await.to_string();
    let payload = json!({ "from_account_id": from, "to_account_id": to, "amount": 250, "date": "2026-04-15" });
    let made = fixture.propose_action("transfer.propose", payload.clone()).await.data();
    assert_eq!(text(&made, "description"), "Move $250.00 from Everyday to Nest egg");
    assert_eq!(
        (text(&made, "action_kind"), &made["decision_needs"]["client_execution"]),
        ("transfer", &json!(true))
    );
    assert_eq!(
        made["details"]["changes"][3],
        json!({ "label": "On", "before": null, "after": "15 Apr 2026" })
    );
    assert_eq!(fixture.approve(&made).await["status"], "approved");

    let ask = async |change: Value| {
        let mut payload = payload.clone();
        payload.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        fixture.propose_action("transfer.propose", payload).await
    };
    let euro = ask(json!({ "currency": "EUR" })).await.data();
    assert_eq!(text(&euro["details"], "title"), "Move €250.00 from Everyday to Nest egg");
    let number = |decimals: u8, code: &str| {
        format!("must be a number such as -12.34, with at most {decimals} decimals in {code}")
    };
    let day = "must be a date that exists, as YYYY-MM-DD";
    for (change, member, message) in [
        (json!({ "amount": 0 }), "amount", "must be greater than 0"),
        (json!({ "amount": -5 }), "amount", "must be greater than 0"),
        (json!({ "amount": "5" }), "amount", &number(2, "USD")),
        (json!({ "amount": null }), "amount", "is missing"),
        (json!({ "amount": 1.5, "currency": "JPY" }), "amount", &number(0, "JPY")),
        (json!({ "currency": "usd" }), "currency", "must be a currency code such as USD or EUR"),
        (json!({ "date": "2026-02-30" }), "date", day),
        (json!({ "date": "2026-04-15T00" }), "date", day),
        (
            json!({ "to_account_id": from }),
            "to_account_id",
            "must differ from payload.from_account_id",
        ),
        (
            json!({ "from_account_id": "x" }),
            "from_account_id",
            "must look like acc_ followed by 26 letters and digits",
        ),
    ] {
        assert_eq!(ask(change).await.refusal(), payload_error(member, message));
    }
    let nobodys = "acc_01kny3v1m8f2x9q4t7r5c6b8de";
    for member in ["from_account_id", "to_account_id"] {
        let expected =
            format!("400 VALIDATION_ERROR payload.{member}: there is no account {nobodys}");
        assert_eq!(ask(json!({ member: nobodys })).await.refusal(), expected);
    }
}

#[tokio::test]
async fn a_custom_action_keeps_its_data_exactly() {
    let fixture = TradingFixture::new().await;
    let body = r#"{"action_type": "custom", "description": "Gym", "reason_markdown": "Because **of** it",
        "payload": {"title": " Cancel the gym ", "summary_markdown": "Unused\nsince *January*",
        "data": {"price": 12.3000000000000000000001, "big": 12345678901234567890123}}}"#;
    let made = fixture.post("/actions", body).await.data();
    assert_eq!((text(&made, "action_kind"), text(&made, "description")), ("unknown", "Gym"));
    assert_eq!(
        made["details"],
        json!({
            "title": "Cancel the gym", "summary_markdown": "Unused\nsince *January*",
            "reason_markdown": "Because **of** it", "changes": [],
        })
    );
    let stored = fixture.world.stored().await;
    let row = stored["actions"].iter().find(|it| it.contains("gym")).unwrap();
    assert!(
        row.contains("12.3000000000000000000001") && row.contains("12345678901234567890123"),
        "{row}"
    );
    assert_eq!(fixture.approve(&made).await["status"], "approved");
    let deep = format!(
        r#"{{"action_type": "custom", "payload": {{"title": "A", "data": {{"a": {}1{}}}}}}}"#,
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    let refused = fixture.post("/actions", &deep).await.refusal();
    assert_eq!(
        refused,
        "400 VALIDATION_ERROR payload.data: payload.data must be an object, at most 120 levels deep"
    );
    let large = json!({ "title": "A", "data": { "a": "x".repeat(16_000) } });
    let refused = fixture.propose_action("custom", large).await.refusal();
    assert_eq!(
        refused,
        "400 VALIDATION_ERROR payload.data: payload.data must have at most 16,000 bytes"
    );
}

#[tokio::test]
async fn a_proposal_may_expire_before_the_default_but_not_after_it() {
    let fixture = TradingFixture::new().await;
    let ask = async |seconds: &str| {
        let body = format!(
            r#"{{"action_type": "custom", "payload": {{"title": "A"}}, "expires_in_seconds": {seconds}}}"#
        );
        fixture.post("/actions", &body).await
    };
    assert_eq!(ask("60").await.data()["expires_at"], "2026-03-10T14:31:00.000Z");
    let range = "expires_in_seconds must be a whole number from 1 to 86400";
    for (seconds, message) in [
        ("0", range),
        ("86401", range),
        ("-1", "expires_in_seconds must be a whole number"),
        ("1.5", "expires_in_seconds must be a whole number"),
        ("\"60\"", "expires_in_seconds must be a whole number"),
        ("9999999999999999999999", "expires_in_seconds must be a whole number"),
    ] {
        let refused = ask(seconds).await.refusal();
        assert_eq!(refused, format!("400 VALIDATION_ERROR expires_in_seconds: {message}"));
    }
}

#[tokio::test]
async fn an_invalid_body_is_refused_with_the_member_at_fault() {
    let fixture = TradingFixture::new().await;
    let types = "must be one of paper_trade.create, paper_account.create, transaction.recategorize, \
                 transaction.rename, transaction.link_transfer, transaction.split, transaction.annotate, \
                 rule.create, transfer.propose, custom";
    let known = "is not known here; known are action_type, payload, description, reason_markdown, \
                 expires_in_seconds";
    for (body, member, message) in [
        (r#"{}"#, "action_type", "is missing"),
        (r#"{"action_type": "trade"}"#, "action_type", types),
        (r#"{"action_type": "custom"}"#, "payload", "is missing"),
        (r#"{"action_type": "custom", "payload": []}"#, "payload", "must be an object"),
        (r#"{"action_type": "custom", "payload": {"title": "A"}, "reason": "x"}"#, "reason", known),
    ] {
        let refused = fixture.post("/actions", body).await.refusal();
        assert_eq!(refused, format!("400 VALIDATION_ERROR {member}: {member} {message}"), "{body}");
    }
}

/// The error for an invalid member of a payload.
fn payload_error(member: &str, message: &str) -> String {
    format!("400 VALIDATION_ERROR payload.{member}: payload.{member} {message}")
}

#[tokio::test]
async fn an_invalid_payload_is_refused_with_the_full_path_of_the_member() {
    let fixture = TradingFixture::new().await;
    let trade = |rest: &str| {
        let text = format!(r#"{{"account_id": "{}", "side": "buy", {rest}}}"#, fixture.account);
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let txn = "txn_01kny3v1m8f2x9q4t7r5c6b8de";
    let rename =
        |ids: Value, name: &str| json!({ "transaction_ids": ids, "counterparty_name": name });
    let (buy, open, name) = ("paper_trade.create", "paper_account.create", "transaction.rename");
    for (kind, payload, member, message) in [
        ("custom", json!({}), "title", "is missing"),
        ("custom", json!({ "title": " " }), "title", "must describe the proposal in a few words"),
        ("custom", json!({ "titel": "A" }), "titel", "is not known here; did you mean title?"),
        (
            buy,
            trade(r#""symbol": "", "quantity": 1"#),
            "symbol",
            "must be a ticker of 1 to 10 characters, such as AAPL",
        ),
        (buy, trade(r#""symbol": "AAPL""#), "quantity", "or notional must be given"),
        (
            buy,
            trade(r#""symbol": "AAPL", "quantity": "5""#),
            "quantity",
            "must be a number such as 1.5",
        ),
        (buy, json!({ "symbol": "AAPL" }), "account_id", "is missing"),
        (
            buy,
            json!({ "account_id": txn }),
            "account_id",
            "must look like 01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77",
        ),
        (
            open,
            json!({ "starting_cash_balance": "0" }),
            "starting_cash_balance",
            "must be from 0.01 to 1000000000",
        ),
        (
            name,
            rename(json!(["x"]), "A"),
            "transaction_ids",
            "has x, which must look like txn_ followed by 26 letters and digits",
        ),
        (name, rename(json!(txn), "A"), "transaction_ids", "must be a list of ids"),
        (name, rename(json!([]), "A"), "transaction_ids", "must name 1 to 100 transactions"),
        (
            name,
            rename(json!(too_many_ids()), "A"),
            "transaction_ids",
            "must name 1 to 100 transactions",
        ),
        (
            name,
            rename(json!([txn]), " "),
            "counterparty_name",
            "must have 1 to 80 characters on one line",
        ),
        (
            name,
            json!({ "transaction_ids": [txn], "category": "Groceries" }),
            "category",
            "is not known here; known are transaction_ids, counterparty_name, always",
        ),
    ] {
        let answer = fixture.propose_action(kind, payload.clone()).await;
        assert_eq!(answer.refusal(), payload_error(member, message), "{payload}");
    }
    assert_eq!(fixture.count_pending().await, 0);
}

#[tokio::test]
async fn empty_text_in_a_payload_is_refused() {
    let fixture = TradingFixture::new().await;
    for (kind, payload, member, message) in [
        (
            "custom",
            json!({ "title": "A", "summary_markdown": "" }),
            "summary_markdown",
            "must not be empty",
        ),
        (
            "rule.create",
            json!({ "like": "", "category": "Groceries" }),
            "like",
            "must not be empty",
        ),
    ] {
        let answer = fixture.propose_action(kind, payload.clone()).await;
        assert_eq!(answer.refusal(), payload_error(member, message), "{payload}");
    }
}

/// One transaction id more than a payload may have.
fn too_many_ids() -> Vec<String> {
    (0..101).map(|it| format!("txn_01kny3v1m8f2x9q4t7r5c6b{it:03}")).collect()
}

#[tokio::test]
async fn unknown_transactions_and_incomplete_rules_are_refused() {
    let fixture = TradingFixture::new().await;
    let txn = "txn_01kny3v1m8f2x9q4t7r5c6b8de";
    let unknown = json!({ "transaction_ids": [txn], "counterparty_name": "A" });
    let either = "words: payload must have words, or like (a description of such a transaction), and \
                  not both";
    let legs = |ids: &[&str]| json!({ "transaction_ids": ids });
    for (kind, payload, message) in [
        (
            "transaction.link_transfer",
            legs(&[txn]),
            "transaction_ids: payload.transaction_ids must name two transactions".to_owned(),
        ),
        (
            "transaction.link_transfer",
            legs(&[txn, txn]),
            format!("transaction_ids: there is no transaction {txn}"),
        ),
        ("transaction.rename", unknown, format!("transaction_ids: there is no transaction {txn}")),
        ("rule.create", json!({ "category": "Groceries" }), either.to_owned()),
        ("rule.create", json!({ "words": " ", "category": "Groceries" }), either.to_owned()),
        (
            "rule.create",
            json!({ "words": "A", "like": "B", "category": "Groceries" }),
            either.to_owned(),
        ),
        (
            "rule.create",
            json!({ "words": "A" }),
            "category: give a counterparty_name, a category, or both".to_owned(),
        ),
    ] {
        let answer = fixture.propose_action(kind, payload).await;
        assert_eq!(answer.refusal(), format!("400 VALIDATION_ERROR payload.{message}"));
    }
    assert_eq!(fixture.count_pending().await, 0);
}

#[tokio::test]
async fn a_payload_about_data_needs_the_right_to_read_it() {
    use service::access::keys::NewKey;
    use wire::v1::Scope;
    let fixture = TradingFixture::new().await;
    let transaction = fixture.get("/transactions").await.data()[0]["id"].clone();
    let from = fixture.person.account("Everyday").await;
    let to = fixture.person.account("Nest egg").await;
    let writer =
        NewKey { scopes: [Scope::ActionsWrite].into_iter().collect(), ..testkit::new_key() };
    let writer = fixture.client_with_key(writer).await;
    let limited =
        fixture.client_with_key(NewKey { accounts: Some(vec![to]), ..testkit::new_key() }).await;
    let fix = json!({ "transaction_ids": [transaction], "counterparty_name": "A" });
    let fix = json!({ "action_type": "transaction.rename", "payload": fix });
    let (from_id, to_id) = (from.to_string(), to.to_string());
    let transfer = json!({ "from_account_id": from_id, "to_account_id": to_id, "amount": 1 });
    let transfer = json!({ "action_type": "transfer.propose", "payload": transfer });
    for (body, lacking, unseen) in [
        (
            fix,
            "transactions:read",
            format!(
                "payload.transaction_ids: there is no transaction {}",
                transaction.as_str().unwrap()
            ),
        ),
        (transfer, "accounts:read", format!("payload.from_account_id: there is no account {from}")),
    ] {
        let refused =
            writer.send(http::Method::POST, "/v1/actions", body.to_string()).await.refusal();
        assert_eq!(
            refused,
            format!("403 INSUFFICIENT_SCOPE: this token lacks the scope {lacking}")
        );
        let refused =
            limited.send(http::Method::POST, "/v1/actions", body.to_string()).await.refusal();
        assert_eq!(refused, format!("400 VALIDATION_ERROR {unseen}"));
    }
}
