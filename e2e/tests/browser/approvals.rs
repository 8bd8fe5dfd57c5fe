//! Approvals in the browser: from a program's proposal to the decision and its result.

use e2e::{Browser, Program};
use serde_json::{Value, json};

const PROPOSE: [(&str, &str); 1] = [("Content-Type", "application/json")];

struct Fixture {
    program: Program,
    browser: Browser,
    account: String,
}

impl Fixture {
    fn new() -> Fixture {
        let program = Program::demo();
        let browser = Browser::start(program.origin());
        browser.with_passkey_device();
        browser.sign_in(&program);
        let accounts = program.get("/v1/paper-trading/accounts", program.fact("api_key")).json();
        let account = accounts["data"]["accounts"][0]["id"].as_str().unwrap().to_owned();
        Fixture { program, browser, account }
    }

    fn post(&self, path: &str, body: &Value) -> e2e::http::Answer {
        let authorization = format!("Bearer {}", self.program.fact("api_key"));
        let headers = [PROPOSE[0], ("Authorization", authorization.as_str())];
        self.program.send("POST", path, &headers, &body.to_string())
    }

    fn propose(&self, order: &Value) -> Value {
        let path = format!("/v1/paper-trading/accounts/{}/trades", self.account);
        let answer = self.post(&path, order);
        assert_eq!(answer.status, 200, "{}", answer.json());
        answer.json()["data"].clone()
    }

    fn buy(&self, quantity: &str) -> Value {
        let order =
            format!("{{\"symbol\": \"AAPL\", \"side\": \"buy\", \"quantity\": {quantity}}}");
        self.propose(&serde_json::from_str(&order).unwrap())
    }

    fn open(&self, action: &Value) {
        let url = action["approval_url"].as_str().unwrap();
        self.browser.go(url.strip_prefix(self.program.origin()).unwrap());
    }

    fn status(&self, action: &Value) -> String {
        let thread = action["thread_id"].as_str().unwrap();
        let path = format!("/v1/approvals/{thread}");
        let answer = self.program.get(&path, self.program.fact("api_key")).json();
        answer["data"]["status"].as_str().unwrap().to_owned()
    }

    fn shares(&self) -> String {
        let path = format!("/v1/paper-trading/accounts/{}/holdings", self.account);
        let answer = self.program.get(&path, self.program.fact("api_key")).json();
        let held = answer["data"]["holdings"].as_array().unwrap();
        let apple = held.iter().find(|it| it["symbol"] == "AAPL");
        apple.map_or("none".to_owned(), |it| it["quantity"].to_string())
    }
}

#[test]
fn a_proposal_updates_the_badge_and_is_approved_with_a_passkey() {
    let fixture = Fixture::new();
    let browser = &fixture.browser;
    browser.go("/settings/security");
    browser.fill("Passkey name", "This laptop");
    browser.press("Add passkey");
    browser.sees("This laptop");
    browser.go("/settings/approvals");
    browser.fill("Minimum amount", "100.00");
    browser.press("Save settings");
    browser.sees("Approval settings saved");

    // The count in the navigation updates without a reload when the program proposes.
    browser.go("/goals");
    browser.sees("Inbox\n3");
    let action = fixture.buy("2");
    assert_eq!(action["decision_needs"]["passkey"], true);
    browser.sees("Inbox\n4");

    fixture.open(&action);
    browser.sees("Your passkey is required");
    browser.assert_accessible();
    browser.press("Buy 2 AAPL");
    browser.sees("with your passkey. It's done.");
    browser.assert_accessible();
    assert_eq!((fixture.status(&action).as_str(), fixture.shares().as_str()), ("executed", "2"));

    browser.go(&format!("/paper/{}", fixture.account));
    browser.sees("Bought 2 AAPL");
    browser.assert_accessible();
    browser.go("/settings/audit");
    browser.sees("Bought 2 AAPL");
    browser.sees("The audit trail is intact");
    browser.assert_clean();
}

#[test]
fn an_open_inbox_updates_and_a_rejection_shows_its_reason() {
    let fixture = Fixture::new();
    let browser = &fixture.browser;
    browser.go("/approvals");
    let action = fixture.buy("1");
    browser.sees("Buy 1 AAPL");
    fixture.open(&action);
    browser.script("document.querySelector('details').open = true", json!([]));
    browser.fill("Reason", "Not this week");
    browser.press("Reject");
    browser.sees("You rejected this. Nothing was done.");
    browser.sees("Not this week");
    assert_eq!((fixture.status(&action).as_str(), fixture.shares().as_str()), ("rejected", "none"));

    // Opened again, the page shows the decision and offers no other.
    fixture.open(&action);
    browser.sees("You rejected this");
    assert!(!browser.has_button("Buy 1 AAPL"));
    browser.assert_clean();
}

#[test]
fn an_open_page_shows_when_its_action_expires() {
    let fixture = Fixture::new();
    let body = json!({
        "action_type": "custom",
        "payload": { "title": "Cancel the gym?" },
        "expires_in_seconds": 8,
    });
    let answer = fixture.post("/v1/actions", &body);
    assert_eq!(answer.status, 200, "{}", answer.json());
    let action = answer.json()["data"].clone();
    fixture.open(&action);
    fixture.browser.sees("Cancel the gym?");
    fixture.browser.sees("This expired before a decision");
    assert!(!fixture.browser.has_button("Approve"));
    assert_eq!(fixture.status(&action), "expired");
    fixture.browser.assert_clean();
}

#[test]
fn a_trade_without_enough_cash_fails_with_a_reason() {
    let fixture = Fixture::new();
    let browser = &fixture.browser;
    let order = json!({ "symbol": "MSFT", "side": "buy", "notional": 15000 });
    let (first, second) = (fixture.propose(&order), fixture.propose(&order));
    for (action, expected) in
        [(&first, "You approved this. It's done."), (&second, "You approved it, but it failed.")]
    {
        fixture.open(action);
        browser.press("Buy $15,000.00 of MSFT");
        browser.sees(expected);
    }
    browser.sees("Nothing was done");
    browser.sees("available");
    browser.assert_accessible();
    assert_eq!(fixture.status(&first), "executed");
    assert_eq!(fixture.status(&second), "failed");
    browser.assert_clean();
}

#[test]
fn an_action_can_be_approved_without_scripts() {
    let fixture = Fixture::new();
    let action = fixture.buy("1");
    fixture.browser.without_script();
    fixture.open(&action);
    fixture.browser.press("Buy 1 AAPL");
    fixture.browser.sees("It's done.");
    assert_eq!(fixture.shares(), "1");
}
