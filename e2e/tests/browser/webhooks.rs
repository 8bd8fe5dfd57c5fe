//! From an endpoint to an event that arrives, and everything a person does about it, in the browser.

use e2e::listener::{Developed, Listener};
use e2e::{Browser, Program};
use serde_json::{Value, json};

fn post(program: &Program, path: &str, body: &Value) -> Value {
    let authorization = format!("Bearer {}", program.fact("api_key"));
    let headers = [("Content-Type", "application/json"), ("Authorization", authorization.as_str())];
    let answer = program.send("POST", path, &headers, &body.to_string());
    assert!((200..300).contains(&answer.status), "{} {}", answer.status, answer.json());
    answer.json()["data"].clone()
}

fn unfold(browser: &Browser) {
    let script = "document.querySelectorAll('details').forEach(it => it.open = true)";
    browser.script(script, json!([]));
}

/// The household goes on living: something happens every second.
fn living() -> Program {
    Program::demo_with(&[("EVENKEEL_DEMO__FEED_SECONDS", "1")])
}

#[test]
fn a_developer_sees_the_next_transaction_and_the_portal_shows_the_attempt() {
    let program = living();
    let listener = Listener::start(&program, "127.0.0.1:0", &[]);
    let endpoint =
        post(&program, "/v1/webhooks/endpoints", &json!({ "url": listener.url.as_str() }));
    let line = listener.shows(&["transaction.created", "not verified: start with --secret"]);
    assert!(line.contains("transaction_ids=txn_") && line.contains("evt_"), "{line}");

    // Started again with the secret, at the same place, it says which are good.
    let address = listener.address();
    drop(listener);
    let secret = endpoint["secret"].as_str().unwrap();
    let listener = Listener::start(&program, &address, &["--secret", secret]);
    let line = listener.shows(&["transaction.created", "  verified"]);
    let event = line.split_whitespace().find(|it| it.starts_with("evt_")).unwrap();

    let portal = program.get("/v1/webhooks/portal", program.fact("api_key")).json();
    let url = portal["data"]["url"].as_str().unwrap();
    let browser = Browser::start(program.origin());
    browser.go(url.strip_prefix(program.origin()).unwrap());
    browser.keeps_nobody_out();
    browser.press("Open portal");
    browser.sees(&listener.url);
    browser.go(&format!("/portal/webhooks/events/{event}"));
    browser.sees("transaction.created");
    browser.sees("204");
    browser.keeps_nobody_out();
    browser.is_clean();
}

#[test]
fn an_endpoint_is_made_tried_rotated_disabled_and_deleted_on_pages() {
    let program = Program::demo();
    let developed = Developed::start();
    let listener = Listener::start(&program, "127.0.0.1:0", &["--forward", &developed.url]);
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    browser.go("/settings/webhooks");
    browser.fill("URL", "http://example.com/");
    browser.press("Create endpoint");
    browser.sees("Url cannot be used");
    browser.go("/settings/webhooks");
    browser.fill("URL", &listener.url);
    browser.press("Create endpoint");
    browser.sees("whsec_");
    browser.keeps_nobody_out();
    browser.follow("I've copied it");

    browser.press("Send test event");
    browser.sees("Delivered: 200");
    unfold(&browser);
    browser.sees("seen by the program");
    listener.shows(&["webhook.test", "answered 200 in"]);
    developed.answers(503);
    browser.press("Send test event");
    browser.sees("Delivery failed: 503");
    browser.keeps_nobody_out();

    unfold(&browser);
    browser.press("Rotate signing secret");
    browser.sees("Signing secret rotated");
    browser.follow("I've copied it");
    browser.sees("Also used until");

    browser.press("Disable endpoint");
    browser.sees("Endpoint disabled.");
    browser.press("Enable endpoint");
    browser.sees("Endpoint enabled");
    unfold(&browser);
    browser.press("Delete endpoint");
    browser.sees("Endpoint deleted.");
}

#[test]
fn who_says_gone_is_told_on_the_overview_and_what_it_missed_is_sent_again() {
    let program = living();
    let developed = Developed::start();
    developed.answers(410);
    let listener = Listener::start(&program, "127.0.0.1:0", &["--forward", &developed.url]);
    let endpoint = post(
        &program,
        "/v1/webhooks/endpoints",
        &json!({ "url": listener.url.as_str(), "filter_types": ["transaction.created"] }),
    );
    listener.shows(&["transaction.created", "answered 410"]);
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    let page = format!("/settings/webhooks/{}", endpoint["id"].as_str().unwrap());
    e2e::until("the endpoint is disabled", || {
        browser.go(&page);
        browser.text().contains("responded with 410 Gone").then_some(())
    });
    browser.go("/");
    browser.sees("responded with 410 Gone");
    browser.keeps_nobody_out();

    browser.go("/settings/webhooks/failed");
    browser.sees("transaction.created");
    browser.keeps_nobody_out();
    developed.answers(200);
    browser.go(&page);
    browser.press("Enable endpoint");
    browser.sees("Endpoint enabled");
    browser.go("/settings/webhooks/failed");
    browser.press("Resend all");
    e2e::until("all of it is sent again", || {
        browser.go("/settings/webhooks/failed");
        let text = browser.text();
        (text.contains("No failed deliveries") && text.contains("Done")).then_some(())
    });
    listener.shows(&["transaction.created", "again", "answered 200 in"]);
}
