//! Webhooks in the browser: endpoints, received events, and everything a person can do with them.

use e2e::listener::{DeveloperServer, Listener};
use e2e::{Browser, Program};
use serde_json::{Value, json};

fn post(program: &Program, path: &str, body: &Value) -> Value {
    let authorization = format!("Bearer {}", program.fact("api_key"));
    let headers = [("Content-Type", "application/json"), ("Authorization", authorization.as_str())];
    let answer = program.send("POST", path, &headers, &body.to_string());
    assert!((200..300).contains(&answer.status), "{} {}", answer.status, answer.json());
    answer.json()["data"].clone()
}

fn open_details(browser: &Browser) {
    let script = "document.querySelectorAll('details').forEach(it => it.open = true)";
    browser.script(script, json!([]));
}

/// The demo with a live feed that has an event every second.
fn demo_with_feed() -> Program {
    Program::demo_with(&[("EVENKEEL_DEMO__FEED_SECONDS", "1")])
}

#[test]
fn listen_shows_the_next_transaction_and_the_portal_shows_the_attempt() {
    let program = demo_with_feed();
    let listener = Listener::start(&program, "127.0.0.1:0", &[]);
    let endpoint =
        post(&program, "/v1/webhooks/endpoints", &json!({ "url": listener.url.as_str() }));
    let line =
        listener.wait_for_line(&["transaction.created", "not verified: start with --secret"]);
    assert!(line.contains("transaction_ids=txn_") && line.contains("evt_"), "{line}");

    // Restarted with the secret at the same address, it shows which events are verified.
    let address = listener.address();
    drop(listener);
    let secret = endpoint["secret"].as_str().unwrap();
    let listener = Listener::start(&program, &address, &["--secret", secret]);
    let line = listener.wait_for_line(&["transaction.created", "  verified"]);
    let event = line.split_whitespace().find(|it| it.starts_with("evt_")).unwrap();

    let portal = program.get("/v1/webhooks/portal", program.fact("api_key")).json();
    let url = portal["data"]["url"].as_str().unwrap();
    let browser = Browser::start(program.origin());
    browser.go(url.strip_prefix(program.origin()).unwrap());
    browser.assert_accessible();
    browser.press("Open portal");
    browser.sees(&listener.url);
    browser.go(&format!("/portal/webhooks/events/{event}"));
    browser.sees("transaction.created");
    browser.sees("204");
    browser.assert_accessible();
    browser.assert_clean();
}

#[test]
fn an_endpoint_can_be_created_tested_rotated_disabled_and_deleted() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    manage_endpoint(&program, &browser);
}

#[test]
fn an_endpoint_can_be_created_tested_rotated_disabled_and_deleted_without_scripts() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.without_script();
    browser.sign_in(&program);
    manage_endpoint(&program, &browser);
}

fn manage_endpoint(program: &Program, browser: &Browser) {
    let developer_server = DeveloperServer::start();
    let listener = Listener::start(program, "127.0.0.1:0", &["--forward", &developer_server.url]);
    browser.go("/settings/webhooks");
    browser.fill("URL", "http://example.com/");
    browser.press("Create endpoint");
    browser.sees("Url cannot be used");
    browser.go("/settings/webhooks");
    browser.fill("URL", &listener.url);
    browser.press("Create endpoint");
    browser.sees("Choose at least one event type, or all events.");
    browser.click(&browser.field("All events, including types added later"));
    browser.press("Create endpoint");
    browser.sees("whsec_");
    browser.assert_accessible();
    browser.follow("I've copied it");

    browser.press("Send test event");
    browser.sees("Delivered: 200");
    open_details(browser);
    browser.sees("seen by the program");
    listener.wait_for_line(&["webhook.test", "answered 200 in"]);
    developer_server.respond_with(503);
    browser.press("Send test event");
    browser.sees("Delivery failed: 503");
    browser.assert_accessible();

    open_details(browser);
    browser.press("Rotate signing secret");
    browser.sees("Signing secret rotated");
    browser.follow("I've copied it");
    browser.sees("Also used until");

    browser.press("Disable endpoint");
    browser.sees("Endpoint disabled.");
    browser.press("Enable endpoint");
    browser.sees("Endpoint enabled");
    open_details(browser);
    browser.press("Delete endpoint");
    browser.sees("Endpoint deleted.");
}

#[test]
fn an_endpoint_that_responds_410_is_disabled_and_its_events_can_be_resent() {
    let program = demo_with_feed();
    let developer_server = DeveloperServer::start();
    developer_server.respond_with(410);
    let listener = Listener::start(&program, "127.0.0.1:0", &["--forward", &developer_server.url]);
    let endpoint = post(
        &program,
        "/v1/webhooks/endpoints",
        &json!({ "url": listener.url.as_str(), "filter_types": ["transaction.created"] }),
    );
    listener.wait_for_line(&["transaction.created", "answered 410"]);
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    let page = format!("/settings/webhooks/{}", endpoint["id"].as_str().unwrap());
    e2e::until("the endpoint is disabled", || {
        browser.go(&page);
        browser.text().contains("responded with 410 Gone").then_some(())
    });
    browser.go("/");
    browser.sees("responded with 410 Gone");
    browser.assert_accessible();

    browser.go("/settings/webhooks/failed");
    browser.sees("transaction.created");
    browser.assert_accessible();
    developer_server.respond_with(200);
    browser.go(&page);
    browser.press("Enable endpoint");
    browser.sees("Endpoint enabled");
    browser.go("/settings/webhooks/failed");
    browser.press("Resend all");
    e2e::until("all failed deliveries are sent again", || {
        browser.go("/settings/webhooks/failed");
        let text = browser.text();
        (text.contains("No failed deliveries") && text.contains("Done")).then_some(())
    });
    listener.wait_for_line(&["transaction.created", "again", "answered 200 in"]);
}
