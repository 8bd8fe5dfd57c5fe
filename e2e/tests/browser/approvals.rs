//! From a program's proposal to the person's word and what comes of it, in the browser.

use e2e::{Browser, Program};
use serde_json::{Value, json};

const PROPOSE: [(&str, &str); 1] = [("Content-Type", "application/json")];

struct Desk {
    program: Program,
    browser: Browser,
    account: String,
}

impl Desk {
    fn new() -> Desk {
        let program = Program::demo();
        let browser = Browser::start(program.origin());
        browser.with_passkey_device();
        browser.sign_in(&program);
        let accounts = program.get("/v1/paper-trading/accounts", program.fact("api_key")).json();
        let account = accounts["data"]["accounts"][0]["id"].as_str().unwrap().to_owned();
        Desk { program, browser, account }
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
fn a_program_proposes_the_badge_appears_and_a_passkey_decides() {
    let desk = Desk::new();
    let browser = &desk.browser;
    browser.go("/settings/security");
    browser.fill("Passkey name", "This laptop");
    browser.press("Add passkey");
    browser.sees("This laptop");
    browser.go("/settings/approvals");
    browser.fill("Minimum amount", "100.00");
    browser.press("Save settings");
    browser.sees("Approval settings saved");

    // The page is open while the program proposes: the number beside the word follows without a reload.
    browser.go("/goals");
    browser.sees("Approvals 3");
    let action = desk.buy("2");
    assert_eq!(action["decision_needs"]["passkey"], true);
    browser.sees("Approvals 4");

    desk.open(&action);
    browser.sees("Your passkey is required");
    browser.keeps_nobody_out();
    browser.press("Buy 2 AAPL");
    browser.sees("with your passkey. It's done.");
    browser.keeps_nobody_out();
    assert_eq!((desk.status(&action).as_str(), desk.shares().as_str()), ("executed", "2"));

    browser.go(&format!("/paper/{}", desk.account));
    browser.sees("Bought 2 AAPL");
    browser.keeps_nobody_out();
    browser.go("/settings/audit");
    browser.sees("Bought 2 AAPL");
    browser.sees("The audit trail is intact");
    browser.is_clean();
}

#[test]
fn an_open_inbox_follows_and_a_rejection_tells_its_reason() {
    let desk = Desk::new();
    let browser = &desk.browser;
    browser.go("/approvals");
    let action = desk.buy("1");
    browser.sees("Buy 1 AAPL");
    desk.open(&action);
    browser.script("document.querySelector('details').open = true", json!([]));
    browser.fill("Reason", "Not this week");
    browser.press("Reject");
    browser.sees("You rejected this. Nothing was done.");
    browser.sees("Not this week");
    assert_eq!((desk.status(&action).as_str(), desk.shares().as_str()), ("rejected", "none"));

    // Opened again, it says how it was decided, and offers no second word.
    desk.open(&action);
    browser.sees("You rejected this");
    assert!(!browser.has_button("Buy 1 AAPL"));
    browser.is_clean();
}

#[test]
fn an_open_page_notices_that_its_time_is_over() {
    let desk = Desk::new();
    let body = json!({
        "action_type": "custom",
        "payload": { "title": "Cancel the gym?" },
        "expires_in_seconds": 8,
    });
    let answer = desk.post("/v1/actions", &body);
    assert_eq!(answer.status, 200, "{}", answer.json());
    let action = answer.json()["data"].clone();
    desk.open(&action);
    desk.browser.sees("Cancel the gym?");
    desk.browser.sees("This expired before a decision");
    assert!(!desk.browser.has_button("Approve"));
    assert_eq!(desk.status(&action), "expired");
    desk.browser.is_clean();
}

#[test]
fn what_cannot_be_paid_any_more_fails_and_says_why() {
    let desk = Desk::new();
    let browser = &desk.browser;
    let order = json!({ "symbol": "MSFT", "side": "buy", "notional": 15000 });
    let (first, second) = (desk.propose(&order), desk.propose(&order));
    for (action, said) in
        [(&first, "You approved this. It's done."), (&second, "You approved it, but it failed.")]
    {
        desk.open(action);
        browser.press("Buy $15,000.00 of MSFT");
        browser.sees(said);
    }
    browser.sees("Nothing was done");
    browser.sees("available");
    browser.keeps_nobody_out();
    assert_eq!(desk.status(&first), "executed");
    assert_eq!(desk.status(&second), "failed");
    browser.is_clean();
}

#[test]
fn no_script_is_needed_to_decide() {
    let desk = Desk::new();
    let action = desk.buy("1");
    desk.browser.without_script();
    desk.open(&action);
    desk.browser.press("Buy 1 AAPL");
    desk.browser.sees("It's done.");
    assert_eq!(desk.shares(), "1");
}
