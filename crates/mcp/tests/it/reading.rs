//! Reading tools: exact amounts, filters, fields and pages.

use serde_json::{Value, json};
use testkit::draft::{checking, statement, txn};

use crate::assistant::Assistant;

fn column<'a>(answer: &'a Value, list: &str, name: &str) -> Vec<&'a str> {
    let rows = answer[list].as_array().unwrap();
    rows.iter().map(|it| it[name].as_str().unwrap()).collect()
}

#[tokio::test]
async fn decimals_come_out_digit_for_digit() {
    let assistant = Assistant::new().await;
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    let text = assistant.text("tools/call", call("search_transactions", json!({}))).await;
    for expected in
        ["\"amount\":-7.20,", "\"amount\":-720,", "\"amount\":2500.00,", "\"amount\":-42.10,"]
    {
        let (_, structured) = text.split_once("structuredContent").unwrap();
        assert!(structured.contains(expected), "{expected} in {text}");
        assert!(text.contains(&expected.replace('"', "\\\"")), "{expected} in the text of {text}");
    }
    let text = assistant.text("tools/call", call("list_holdings", json!({}))).await;
    assert!(text.contains("\"quantity\":123456789.123456789,"), "{text}");
}

#[tokio::test]
async fn transactions_are_searched_by_text_category_direction_and_amount() {
    let assistant = Assistant::new().await;
    let everyday = assistant.person.account("Everyday").await.to_string();
    for (arguments, expected) in [
        (json!({}), "PARKING,KROGER,CORNER CAFE 12,RAMEN,ACME"),
        (json!({ "q": "cafe" }), "CORNER CAFE 12"),
        (
            json!({ "account_id": everyday, "direction": "outflow" }),
            "PARKING,KROGER,CORNER CAFE 12",
        ),
        (json!({ "category": "FOOD_AND_DRINK" }), "KROGER,CORNER CAFE 12,RAMEN"),
        (json!({ "category": "coffee shops" }), "CORNER CAFE 12"),
        (json!({ "pending": true }), "PARKING"),
        (json!({ "start_date": "2026-03-02", "end_date": "2026-03-08" }), "CORNER CAFE 12,RAMEN"),
        // Bounds are in the currency of each account: 7.20 dollars, 720 yen.
        (json!({ "amount_min": 7.2, "amount_max": 7.2 }), "CORNER CAFE 12"),
        (json!({ "amount_min": 7.21 }), "KROGER,RAMEN,ACME"),
        (json!({ "amount_min": 719.5, "amount_max": 720 }), "RAMEN"),
        (json!({ "amount_max": 4.99 }), ""),
    ] {
        let found = assistant.call("search_transactions", arguments.clone()).await;
        let names = column(&found, "transactions", "name").join(",").to_uppercase();
        assert_eq!(names, expected, "{arguments}");
    }
}

#[tokio::test]
async fn a_caller_chooses_the_fields() {
    let assistant = Assistant::new().await;
    let found = assistant.call("search_transactions", json!({ "limit": 1 })).await;
    let row = found["transactions"][0].as_object().unwrap();
    let names: Vec<&str> = row.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["id", "date", "name", "amount", "currency", "category", "account_id", "pending"]
    );
    let few = json!({ "limit": 2, "fields": ["amount", "description"] });
    let found = assistant.call("search_transactions", few).await;
    assert_eq!(
        found["transactions"],
        json!([
            { "amount": -5.00, "description": "PARKING" },
            { "amount": -42.10, "description": "KROGER 339" }
        ])
    );
    let found = assistant.call("list_accounts", json!({ "fields": ["name", "currency"] })).await;
    assert_eq!(found["accounts"][0], json!({ "name": "Everyday", "currency": "USD" }));
    let sentence = assistant.refusal("list_accounts", json!({ "fields": ["balance"] })).await;
    assert!(sentence.starts_with("fields has balance, which is not known; "), "{sentence}");
}

#[tokio::test]
async fn pages_have_every_row_once_and_end() {
    let assistant = Assistant::new().await;
    let mut seen = Vec::new();
    let mut arguments = json!({ "limit": 2 });
    loop {
        let page = assistant.call("search_transactions", arguments.clone()).await;
        seen.extend(column(&page, "transactions", "id").iter().map(|it| (*it).to_owned()));
        let Some(cursor) = page["next_cursor"].as_str() else {
            assert!(page["note"].is_null());
            break;
        };
        assert!(page["note"].as_str().unwrap().contains("next_cursor"));
        arguments["cursor"] = json!(cursor);
    }
    let (count, mut unique) = (seen.len(), seen.clone());
    unique.sort();
    unique.dedup();
    assert_eq!((count, unique.len()), (5, 5));
}

#[tokio::test]
async fn a_long_answer_is_cut_at_a_row_and_goes_on() {
    let assistant = Assistant::new().await;
    let text = |index: usize| format!("{index:03} {}", "LONG WORDS OF A BANK ".repeat(20));
    let rows =
        (0..150).map(|it| txn("2026-02-01", -100 - it as i64, &text(it)).id(&it.to_string()));
    assistant.person.import(statement([checking("Wordy").with_all(rows)])).await;
    let wordy = assistant.person.account("Wordy").await.to_string();
    let fields = json!([
        "id",
        "date",
        "name",
        "amount",
        "currency",
        "category",
        "account_id",
        "account_name",
        "description",
        "category_code",
        "updated_at",
        "is_transfer",
        "date_authorized"
    ]);
    let mut arguments = json!({ "account_id": wordy, "limit": 100, "fields": fields });
    let (mut amounts, mut pages) = (Vec::new(), 0);
    loop {
        let page = assistant.call("search_transactions", arguments.clone()).await;
        let rows = page["transactions"].as_array().unwrap().clone();
        assert!(!rows.is_empty());
        amounts.extend(rows.iter().map(|it| it["amount"].to_string()));
        pages += 1;
        match page["next_cursor"].as_str() {
            Some(cursor) => arguments["cursor"] = json!(cursor),
            None => break,
        }
    }
    amounts.sort();
    amounts.dedup();
    assert_eq!(amounts.len(), 150);
    assert!(pages > 2, "{pages} pages");
}

#[tokio::test]
async fn long_lists_in_memory_are_cut_too() {
    let assistant = Assistant::new().await;
    let many =
        (0..200).map(|it| checking(&format!("Account {it:03} {}", "of a long name ".repeat(4))));
    assistant.person.import(statement(many)).await;
    let (mut names, mut arguments) = (Vec::new(), json!({}));
    loop {
        let page = assistant.call("list_accounts", arguments.clone()).await;
        names.extend(column(&page, "accounts", "id").iter().map(|it| (*it).to_owned()));
        match page["next_cursor"].as_str() {
            Some(cursor) => arguments["cursor"] = json!(cursor),
            None => break,
        }
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 204);
}

#[tokio::test]
async fn balances_are_sampled_by_the_length_of_the_span() {
    let assistant = Assistant::new().await;
    let account_id = assistant.person.account("Everyday").await.to_string();
    let history = async |more: Value| {
        let mut arguments = json!({ "account_id": account_id });
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        assistant.call("get_balance_history", arguments).await
    };
    let recent = history(json!({})).await;
    assert_eq!(recent["interval"], "day");
    let last = recent["balances"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last, json!({ "date": "2026-03-10", "balance": 5123.45, "source": "reported" }));
    let year = history(json!({ "start_date": "2025-03-10" })).await;
    assert_eq!(year["interval"], "week");
    let months = history(json!({ "start_date": "2026-02-20", "interval": "month" })).await;
    assert!(months["balances"].as_array().unwrap().len() <= 2, "{months}");
}

#[tokio::test]
async fn spending_is_summed_with_a_comparison() {
    let assistant = Assistant::new().await;
    let arguments = json!({ "group_by": "category", "compare": "previous_period" });
    let answer = assistant.call("summarize_spending", arguments).await;
    assert_eq!(answer["group_by"], "category");
    assert!(answer["comparison"].is_object(), "{answer}");
    let sentence =
        assistant.refusal("summarize_spending", json!({ "category": "Groceries" })).await;
    assert_eq!(sentence, "category must be a primary category here, such as FOOD_AND_DRINK");
}
