//! Text that is made to mislead whoever decides: refused where it hides something, plain text everywhere else.

use serde_json::{Value, json};

use super::{Desk, text};

const UNSEEN: [&str; 9] = [
    "\u{202e}evil",
    "a\u{2066}b",
    "a\u{200b}b",
    "a\u{0}b",
    "a\u{1b}[2Jb",
    "a\u{61c}b",
    "a\u{2028}b",
    "a\u{feff}b",
    "a\u{e0041}b",
];

fn custom(title: &str, summary: &str) -> Value {
    json!({ "title": title, "summary_markdown": summary })
}

#[tokio::test]
async fn what_hides_or_turns_text_around_is_refused_wherever_it_is_shown() {
    let desk = Desk::new().await;
    let transaction = desk.get("/transactions").await.data()[0]["id"].clone();
    for odd in UNSEEN {
        let outside = |name: &str| {
            let mut body = json!({ "action_type": "custom", "payload": { "title": "Fine" } });
            body[name] = json!(odd);
            body
        };
        let inside =
            |kind: &str, payload: Value| json!({ "action_type": kind, "payload": payload });
        let cases = [
            ("description", outside("description")),
            ("reason_markdown", outside("reason_markdown")),
            ("payload.title", inside("custom", custom(odd, "Fine"))),
            ("payload.summary_markdown", inside("custom", custom("Fine", odd))),
            ("payload.name", inside("paper_account.create", json!({ "name": odd }))),
            (
                "payload.counterparty_name",
                inside(
                    "transaction.rename",
                    json!({ "transaction_ids": [transaction], "counterparty_name": odd }),
                ),
            ),
            (
                "payload.words",
                inside("rule.create", json!({ "words": odd, "category": "Groceries" })),
            ),
            (
                "payload.like",
                inside("rule.create", json!({ "like": odd, "category": "Groceries" })),
            ),
        ];
        for (param, body) in cases {
            let refused = desk.post("/actions", &body.to_string()).await.refusal();
            let expected = format!(
                "400 VALIDATION_ERROR {param}: {param} must not contain control or direction characters"
            );
            assert_eq!(refused, expected, "{odd:?}");
        }
        desk.world.advance_seconds(60);
    }
    assert_eq!(desk.waiting().await, 0);
}

#[tokio::test]
async fn markup_stays_the_text_it_is() {
    let desk = Desk::new().await;
    let nasty =
        "<script>alert(1)</script> [x](javascript:alert(1)) ![](https://evil.example/p.png) \"'&";
    let body = json!({
        "action_type": "custom",
        "payload": { "title": nasty, "summary_markdown": format!("{nasty}\n\n- a list") },
        "reason_markdown": nasty,
        "description": nasty,
    });
    let answer = desk.post("/actions", &body.to_string()).await;
    let made = answer.data();
    assert_eq!(text(&made, "description"), nasty);
    assert_eq!(text(&made["details"], "title"), nasty);
    assert_eq!(text(&made["details"], "reason_markdown"), nasty);
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
}

#[tokio::test]
async fn text_has_its_bounds_to_the_letter() {
    let desk = Desk::new().await;
    for (place, longest) in [
        ("description", 200),
        ("reason_markdown", 4_000),
        ("payload.title", 120),
        ("payload.summary_markdown", 4_000),
    ] {
        let body = |length: usize| {
            let mut body = json!({ "action_type": "custom", "payload": { "title": "Fine" } });
            let long = json!("é".repeat(length));
            match place.strip_prefix("payload.") {
                Some(name) => body["payload"][name] = long,
                None => body[place] = long,
            }
            body.to_string()
        };
        desk.post("/actions", &body(longest)).await.data();
        let refused = desk.post("/actions", &body(longest + 1)).await.refusal();
        let expected =
            format!("400 VALIDATION_ERROR {place}: {place} must have at most {longest} characters");
        assert_eq!(refused, expected);
    }
    let large = format!(
        r#"{{"action_type": "custom", "payload": {{"title": "{}"}}}}"#,
        "x".repeat(1 << 20)
    );
    let refused = desk.post("/actions", &large).await.refusal();
    assert_eq!(refused, "413 PAYLOAD_TOO_LARGE: the body must be at most 1 MiB");
}
