//! Bad input: each is answered exactly, with a sentence that an assistant can act on.

use mcp::Reply;
use serde_json::json;
use testkit::draft::{checking, statement, txn};

use crate::assistant::Assistant;

#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_nearest_name() {
    let assistant = Assistant::new().await;
    for (name, expected) in [
        (
            "search_transaction",
            "-32602 Unknown tool: search_transaction; did you mean search_transactions?",
        ),
        (
            "zzzzzzzzzzzzzzzzzzzzzz",
            "-32602 Unknown tool: zzzzzzzzzzzzzzzzzzzzzz; tools/list names the tools",
        ),
    ] {
        assert_eq!(assistant.error("tools/call", json!({ "name": name })).await, expected);
    }
    assert_eq!(
        assistant.error("tools/call", json!({})).await,
        "-32602 tools/call takes name, a text, and arguments, an object"
    );
}

#[tokio::test]
async fn an_unknown_or_wrong_argument_is_an_error_of_the_tool() {
    let assistant = Assistant::new().await;
    for (arguments, expected) in [
        (
            json!({ "acount_id": "x" }),
            "acount_id is not an argument of this tool; did you mean account_id?",
        ),
        (json!({ "limit": 1000 }), "limit must be a whole number from 1 to 100"),
        (
            json!({ "account_id": "acc_1" }),
            "account_id must look like acc_ followed by 26 letters and digits",
        ),
        (
            json!({ "start_date": "2026-03-02", "end_date": "2026-03-01" }),
            "start_date must not be after end_date",
        ),
        (json!({ "amount_min": "5" }), "amount_min must be a number such as 1.5"),
        (json!([]), "arguments must be an object of this tool's arguments"),
    ] {
        assert_eq!(assistant.refusal("search_transactions", arguments).await, expected);
    }
}

#[tokio::test]
async fn expired_and_foreign_cursors_are_refused() {
    let assistant = Assistant::new().await;
    let invalid = "invalid or expired cursor: start again without it, and keep the filters the same between pages";
    let page = assistant.call("search_transactions", json!({ "limit": 1 })).await;
    let cursor = page["next_cursor"].clone();
    let other_filter = json!({ "cursor": cursor, "direction": "outflow" });
    assert_eq!(assistant.refusal("search_transactions", other_filter).await, invalid);
    assert_eq!(assistant.refusal("list_accounts", json!({ "cursor": cursor })).await, invalid);
    assert_eq!(assistant.refusal("search_transactions", json!({ "cursor": "zzz" })).await, invalid);
    let stranger = assistant.world.person("stranger@example.com").await;
    let rows = [txn("2026-03-01", -100, "A").id("1"), txn("2026-03-02", -200, "B").id("2")];
    stranger.import(statement([checking("Theirs").with_all(rows)])).await;
    let mine = assistant.person.clone();
    let mut theirs = Assistant { person: stranger, ..assistant };
    theirs.caller = theirs.person.key(testkit::new_key()).await.caller;
    assert_eq!(theirs.refusal("search_transactions", json!({ "cursor": cursor })).await, invalid);
    let assistant =
        Assistant { caller: mine.key(testkit::new_key()).await.caller, person: mine, ..theirs };
    assistant.call("search_transactions", json!({ "cursor": cursor })).await;
    assistant.world.advance_seconds(25 * 3_600);
    assert_eq!(
        assistant.refusal("search_transactions", json!({ "cursor": cursor })).await,
        invalid
    );
}

#[tokio::test]
async fn ids_of_another_person_do_not_exist() {
    let assistant = Assistant::new().await;
    let stranger = assistant.world.person("stranger@example.com").await;
    stranger
        .import(statement([checking("Theirs").with(txn("2026-03-01", -100, "A").id("1"))]))
        .await;
    let account = stranger.account("Theirs").await.to_string();
    let unseen = "there is no such account";
    for tool in
        ["search_transactions", "get_balance_history", "summarize_spending", "list_holdings"]
    {
        let sentence = assistant.refusal(tool, json!({ "account_id": account })).await;
        assert_eq!(sentence, unseen, "{tool}");
    }
    let everyday = assistant.person.account("Everyday").await.to_string();
    let arguments = json!({ "from_account_id": everyday, "to_account_id": account, "amount": 5 });
    let sentence = assistant.refusal("propose_transfer", arguments).await;
    assert_eq!(sentence, format!("there is no account {account}"));
    let action = json!({ "action_id": "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77" });
    assert_eq!(assistant.refusal("get_action", action).await, "there is no such action");
    let mine = assistant.call("propose_custom", json!({ "title": "Mine?" })).await;
    let mine = json!({ "action_id": mine["action"]["action_id"] });
    let found = assistant.call("search_transactions", json!({ "limit": 1 })).await;
    let transaction = found["transactions"][0]["id"].as_str().unwrap().to_owned();
    let mut theirs = Assistant { person: stranger, ..assistant };
    theirs.caller = theirs.person.key(testkit::new_key()).await.caller;
    assert_eq!(theirs.refusal("get_action", mine).await, "there is no such action");
    let correction = json!({ "transaction_ids": [transaction], "name": "Mine" });
    let sentence = theirs.refusal("propose_corrections", correction).await;
    assert_eq!(sentence, format!("there is no transaction {transaction}"));
    let uri = format!("evenkeel://transactions/{transaction}");
    let error = theirs.error("resources/read", json!({ "uri": uri })).await;
    assert_eq!(error, format!("-32602 Resource not found: {uri}"));
}

#[tokio::test]
async fn a_token_without_the_scope_is_told_which_it_takes() {
    let assistant = Assistant::new().await;
    let caller = assistant.with_scopes("accounts:read").await;
    let needed = async |name: &str| {
        let call = json!({ "name": name, "arguments": {} });
        match assistant.send(&caller, "tools/call", call).await {
            Reply::MissingScopes { needed, .. } => needed.to_words(),
            other => panic!("{name}: {other:?}"),
        }
    };
    assert_eq!(needed("search_transactions").await, "transactions:read");
    assert_eq!(needed("propose_corrections").await, "transactions:read actions:write");
    assert_eq!(needed("get_action").await, "actions:read");
    let uri = json!({ "uri": "evenkeel://transactions/txn_01kny3v1m8f2x9q4t7r5c6b8de" });
    let read = assistant.send(&caller, "resources/read", uri).await;
    assert!(matches!(read, Reply::MissingScopes { .. }), "{read:?}");
}

#[tokio::test]
async fn the_same_id_twice_is_two_requests() {
    let assistant = Assistant::new().await;
    let call = json!({ "name": "list_goals", "arguments": {} });
    let first = assistant.text("tools/call", call.clone()).await;
    assert_eq!(assistant.text("tools/call", call).await, first);
    assert!(first.starts_with("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":"), "{first}");
}
