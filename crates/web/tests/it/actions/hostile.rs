//! Text meant to mislead the person who decides: hidden characters are refused, and markup stays plain text.

use serde_json::{Value, json};

use super::{TradingFixture, text};

const INVISIBLE: [&str; 9] = [
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
async fn control_and_direction_characters_are_refused_in_every_text() {
    let fixture = TradingFixture::new().await;
    let transaction = fixture.get("/transactions").await.data()[0]["id"].clone();
    for odd in INVISIBLE {
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
            let refused = fixture.post("/actions", &body.to_string()).await.refusal();
            let expected = format!(
                "400 VALIDATION_ERROR {param}: {param} must not contain control or direction characters"
            );
            assert_eq!(refused, expected, "{odd:?}");
        }
        fixture.world.advance_seconds(60);
    }
    assert_eq!(fixture.count_pending().await, 0);
}

#[tokio::test]
async fn markup_is_returned_as_plain_text() {
    let fixture = TradingFixture::new().await;
    let nasty =
        "<script>alert(1)</script> [x](javascript:alert(1)) ![](https://evil.example/p.png) \"'&";
    let body = json!({
        "action_type": "custom",
        "payload": { "title": nasty, "summary_markdown": format!("{nasty}\n\n- a list") },
        "reason_markdown": nasty,
        "description": nasty,
    });
    let answer = fixture.post("/actions", &body.to_string()).await;
    let made = answer.data();
    assert_eq!(text(&made, "description"), nasty);
    assert_eq!(text(&made["details"], "title"), nasty);
    assert_eq!(text(&made["details"], "reason_markdown"), nasty);
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
}

#[tokio::test]
async fn each_text_has_an_exact_length_limit() {
    let fixture = TradingFixture::new().await;
    for (member, longest) in [
        ("description", 200),
        ("reason_markdown", 4_000),
        ("payload.title", 120),
        ("payload.summary_markdown", 4_000),
    ] {
        let body = |length: usize| {
            let mut body = json!({ "action_type": "custom", "payload": { "title": "Fine" } });
            let long = json!("é".repeat(length));
            match member.strip_prefix("payload.") {
                Some(name) => body["payload"][name] = long,
                None => body[member] = long,
            }
            body.to_string()
        };
        fixture.post("/actions", &body(longest)).await.data();
        let refused = fixture.post("/actions", &body(longest + 1)).await.refusal();
        let expected = format!(
            "400 VALIDATION_ERROR {member}: {member} must have at most {longest} characters"
        );
        assert_eq!(refused, expected);
    }
    let large = format!(
        r#"{{"action_type": "custom", "payload": {{"title": "{}"}}}}"#,
        "x".repeat(1 << 20)
    );
    let refused = fixture.post("/actions", &large).await.refusal();
    assert_eq!(refused, "413 PAYLOAD_TOO_LARGE: the body must be at most 1 MiB");
}
