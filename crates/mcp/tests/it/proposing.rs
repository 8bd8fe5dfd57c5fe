//! Proposals: nothing happens before the person decides, and the assistant sees the decision.

use std::time::Duration;

use base::ActionId;
use futures_util::future::join_all;
use serde_json::{Value, json};
use service::actions::{self, ActionPayload, SeenProposal};
use service::ledger::quotes;
use testkit::draft::{checking, statement, txn};

use crate::assistant::{Assistant, PUBLIC_URL};

/// The seconds until the market is open: Tuesday 10 March 2026, 10:30 in New York.
const TO_OPEN_SECONDS: u64 = 2 * 3_600 + 1_800;

/// Approves as the person on the page.
async fn approve(assistant: &Assistant, id: ActionId, symbol: Option<&str>) {
    let (app, session) = (&assistant.world.app, assistant.person.session().await);
    let action = actions::get(app, &session, id).await.unwrap();
    let price = match symbol {
        Some(symbol) => quotes::find(app, symbol).await.unwrap().map(|it| it.quote.price),
        None => None,
    };
    let seen = SeenProposal { digest: action.computed_digest(), price };
    actions::approve(app, &session, id, seen, None).await.unwrap();
}

fn id_of(proposed: &Value) -> ActionId {
    ActionId::parse(proposed["action"]["action_id"].as_str().unwrap()).unwrap()
}

async fn cafe(assistant: &Assistant) -> Value {
    let found = assistant.call("search_transactions", json!({ "q": "cafe" })).await;
    found["transactions"][0].clone()
}

#[tokio::test]
async fn a_correction_happens_only_after_the_person_approves_it() {
    let assistant = Assistant::new().await;
    let id = cafe(&assistant).await["id"].clone();
    let arguments = json!({
        "transaction_ids": [id], "category": "Restaurants", "name": "Corner Cafe", "reason": "You said so.",
    });
    let proposed = assistant.call("propose_corrections", arguments).await;
    assert_eq!(proposed["action"]["status"], "pending_approval");
    let url = proposed["approval_url"].as_str().unwrap();
    assert!(url.starts_with(&format!("{PUBLIC_URL}/approvals/")), "{url}");
    assert!(
        proposed["next_step"].as_str().unwrap().contains("Ask the person to open approval_url")
    );
    assert_eq!(cafe(&assistant).await["category"], "Coffee shops");
    approve(&assistant, id_of(&proposed), None).await;
    let action_id = proposed["action"]["action_id"].clone();
    let done = assistant.call("get_action", json!({ "action_id": action_id, "wait": 30 })).await;
    assert_eq!(done["action"]["status"], "executed");
    assert_eq!(done["action"]["result"]["transaction_count"], 1);
    let changed = cafe(&assistant).await;
    assert_eq!(
        (&changed["category"], &changed["name"]),
        (&json!("Restaurants"), &json!("Corner Cafe"))
    );
}

#[tokio::test]
async fn a_rule_is_proposed_by_its_words() {
    let assistant = Assistant::new().await;
    let arguments = json!({ "rule_words": "KROGER", "category": "FOOD_AND_DRINK_GROCERIES" });
    let proposed = assistant.call("propose_corrections", arguments).await;
    assert_eq!(proposed["action"]["action_type"], "rule.create");
    for (arguments, expected) in [
        (
            json!({ "category": "Groceries" }),
            "transaction_ids or rule_words must be given, and not both",
        ),
        (json!({ "rule_words": "X" }), "category or name must be given"),
        (
            json!({ "transaction_ids": [], "transfer": true }),
            "transaction_ids must name two transactions",
        ),
        (
            json!({ "transaction_ids": [], "transfer": true, "name": "Y" }),
            "name cannot be given together with transfer; leave it out",
        ),
        (
            json!({ "rule_words": "X", "name": "Y", "always": true }),
            "always is for transaction_ids only; a rule always applies",
        ),
        (
            json!({ "transaction_ids": [], "name": "Y" }),
            "transaction_ids must name 1 to 100 transactions",
        ),
        (
            json!({ "transaction_ids": ["txn_01kny3v1m8f2x9q4t7r5c6b8de"], "name": "Y" }),
            "there is no transaction txn_01kny3v1m8f2x9q4t7r5c6b8de",
        ),
    ] {
        assert_eq!(assistant.refusal("propose_corrections", arguments).await, expected);
    }
}

#[tokio::test]
async fn a_split_and_tags_are_proposed_and_applied_after_the_approval() {
    let assistant = Assistant::new().await;
    let id = cafe(&assistant).await["id"].clone();
    let coffee = json!({ "amount": -5.20, "category": "Coffee shops" });
    let gift = json!({ "amount": -2, "category": "Gifts", "note": "For Kim" });
    let arguments = json!({ "transaction_ids": [id], "splits": [coffee, gift] });
    let proposed = assistant.call("propose_corrections", arguments).await;
    assert_eq!(proposed["action"]["action_type"], "transaction.split");
    approve(&assistant, id_of(&proposed), None).await;
    let arguments = json!({ "transaction_ids": [id], "tags": ["work"] });
    let proposed = assistant.call("propose_corrections", arguments).await;
    assert_eq!(proposed["action"]["action_type"], "transaction.annotate");
    approve(&assistant, id_of(&proposed), None).await;
    let arguments = json!({ "q": "cafe", "fields": ["splits", "tags"] });
    let found = assistant.call("search_transactions", arguments).await;
    let found = &found["transactions"][0];
    assert_eq!(found["tags"], json!(["work"]));
    assert_eq!(found["splits"][1]["note"], "For Kim");
    // Both are in Food and drink and General merchandise now.
    let spent = assistant.call("summarize_spending", json!({ "group_by": "category" })).await;
    assert!(spent.to_string().contains("GENERAL_MERCHANDISE"), "{spent}");
    for (arguments, expected) in [
        (
            json!({ "transaction_ids": [id], "splits": [{ "amount": "x", "category": "Gifts" }] }),
            "splits part 1: amount must be a number such as 1.5",
        ),
        (
            json!({ "transaction_ids": [id, id], "splits": [] }),
            "transaction_ids must name one transaction to split",
        ),
        (
            json!({ "transaction_ids": [id], "tags": ["a"], "name": "B" }),
            "name cannot be given together with note or tags; leave it out",
        ),
    ] {
        assert_eq!(assistant.refusal("propose_corrections", arguments).await, expected);
    }
}

#[tokio::test]
async fn two_transactions_are_proposed_as_one_transfer() {
    let assistant = Assistant::new().await;
    let out = checking("Everyday").with(txn("2026-02-03", -50_000, "WIRE").id("w"));
    let into = checking("Rainy day").with(txn("2026-02-20", 49_500, "ARRIVED").id("i"));
    assistant.person.import(statement([out, into])).await;
    let found = async |text: &str| {
        let rows = assistant.call("search_transactions", json!({ "q": text })).await;
        rows["transactions"][0]["id"].clone()
    };
    let ids = [found("WIRE").await, found("ARRIVED").await];
    let arguments = json!({ "transaction_ids": ids, "transfer": true });
    let proposed = assistant.call("propose_corrections", arguments).await;
    assert_eq!(proposed["action"]["action_type"], "transaction.link_transfer");
    let transfers = async || {
        let app = &assistant.world.app;
        service::classify::transfers::list(app, &assistant.person.caller).await.unwrap().len()
    };
    assert_eq!(transfers().await, 0, "nothing changes before the person decides");
    approve(&assistant, id_of(&proposed), None).await;
    assert_eq!(transfers().await, 1);
}

#[tokio::test]
async fn a_paper_trade_is_filled_only_after_the_person_approves_it() {
    let assistant = Assistant::new().await;
    assistant.world.advance_seconds(TO_OPEN_SECONDS);
    assistant.world.market.set("AAPL", "187.10", Some("185.00"));
    let account =
        ActionPayload::PaperAccount { name: "Practice".to_owned(), cash_minor: 1_000_000 };
    let opened = actions::propose(&assistant.world.app, &assistant.caller, account.into()).await;
    approve(&assistant, opened.unwrap().id, None).await;
    let accounts = assistant.call("list_paper_accounts", json!({})).await;
    let account = accounts["accounts"][0]["id"].clone();
    let arguments =
        json!({ "account_id": account, "symbol": "aapl", "side": "buy", "quantity": 0.000000001 });
    assistant.call("propose_paper_trade", arguments).await;
    let arguments =
        json!({ "account_id": account, "symbol": "AAPL", "side": "buy", "quantity": 3 });
    let proposed = assistant.call("propose_paper_trade", arguments).await;
    assert_eq!(proposed["action"]["trade"]["estimated_cost"], "$561.30");
    assert_eq!(
        assistant.call("list_paper_accounts", json!({})).await["accounts"][0]["trade_count"]
            .as_i64(),
        Some(0)
    );
    approve(&assistant, id_of(&proposed), Some("AAPL")).await;
    let action_id = proposed["action"]["action_id"].clone();
    let done = assistant.call("get_action", json!({ "action_id": action_id })).await;
    assert_eq!(done["action"]["status"], "executed", "{done}");
    let after = assistant.call("list_paper_accounts", json!({})).await;
    assert_eq!(after["accounts"][0]["holdings"][0]["symbol"], "AAPL");
    for (more, expected) in [
        (json!({}), "quantity or notional must be given, and not both"),
        (
            json!({ "quantity": 1, "notional": 5 }),
            "quantity or notional must be given, and not both",
        ),
        (json!({ "quantity": 0 }), "quantity must be greater than 0"),
    ] {
        let mut arguments = json!({ "account_id": account, "symbol": "AAPL", "side": "sell" });
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        assert_eq!(assistant.refusal("propose_paper_trade", arguments).await, expected);
    }
}

#[tokio::test]
async fn an_idempotency_key_makes_one_proposal() {
    let assistant = Assistant::new().await;
    let arguments = json!({ "title": "Cancel the gym", "idempotency_key": "gym-1" });
    let first = assistant.call("propose_custom", arguments.clone()).await;
    let again = assistant.call("propose_custom", arguments).await;
    assert_eq!(first["action"]["action_id"], again["action"]["action_id"]);
    let other = json!({ "title": "Cancel the phone", "idempotency_key": "gym-1" });
    let sentence = assistant.refusal("propose_custom", other).await;
    assert_eq!(sentence, "this idempotency_key was used for a different request");
    let session = assistant.person.session().await;
    assert_eq!(actions::count_pending(&assistant.world.app, &session).await.unwrap(), 1);
    let listed = assistant.call("list_actions", json!({ "status": "pending_approval" })).await;
    assert_eq!(listed["actions"].as_array().unwrap().len(), 1);
    assert_eq!(listed["actions"][0]["approval_url"], first["approval_url"]);
}

#[tokio::test]
async fn a_transfer_is_for_the_person_to_make() {
    let assistant = Assistant::new().await;
    let from = assistant.person.account("Everyday").await.to_string();
    let to = assistant.person.account("Nest egg").await.to_string();
    let arguments = json!({ "from_account_id": from, "to_account_id": to, "amount": 250.50 });
    let proposed = assistant.call("propose_transfer", arguments).await;
    assert_eq!(proposed["action"]["description"], "Move $250.50 from Everyday to Nest egg");
    let same = json!({ "from_account_id": from, "to_account_id": from, "amount": 1 });
    assert_eq!(
        assistant.refusal("propose_transfer", same).await,
        "to_account_id must differ from from_account_id"
    );
}

#[tokio::test]
async fn waiting_ends_with_the_decision_and_dropping_it_cancels() {
    let assistant = Assistant::new().await;
    let proposed = assistant.call("propose_custom", json!({ "title": "Really?" })).await;
    let arguments = json!({ "action_id": proposed["action"]["action_id"], "wait": 30 });
    let waiting = assistant.call("get_action", arguments.clone());
    let cancelled = tokio::time::timeout(Duration::from_millis(50), waiting).await;
    assert!(cancelled.is_err(), "it must wait for the decision");
    let deciding = async {
        tokio::task::yield_now().await;
        approve(&assistant, id_of(&proposed), None).await;
    };
    let (done, ()) = tokio::join!(assistant.call("get_action", arguments), deciding);
    assert_eq!(done["action"]["status"], "approved");
}

/// More calls than a pool has connections, or a runtime threads: each waits without holding either.
#[tokio::test]
async fn a_thousand_calls_wait_for_one_decision() {
    let assistant = Assistant::new().await;
    let proposed = assistant.call("propose_custom", json!({ "title": "Really?" })).await;
    let arguments = json!({ "action_id": proposed["action"]["action_id"], "wait": 30 });
    let waiting = (0..1_000).map(|_| assistant.call("get_action", arguments.clone()));
    let mut waiting = std::pin::pin!(join_all(waiting));
    let early = tokio::time::timeout(Duration::from_secs(2), &mut waiting).await;
    assert!(early.is_err(), "they must wait for the decision");
    // Others are served meanwhile.
    assistant.call("list_accounts", json!({})).await;
    approve(&assistant, id_of(&proposed), None).await;
    let decided = waiting.await;
    assert_eq!(decided.len(), 1_000);
    assert!(decided.iter().all(|it| it["action"]["status"] == "approved"));
}
