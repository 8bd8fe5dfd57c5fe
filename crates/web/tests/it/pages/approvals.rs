//! The inbox and the page of a proposal: what they show, what the buttons do, and who may press them.

use base::{Fixed9, PaperAccountId};
use http::{Method, StatusCode};
use service::actions::{self, Action, ActionPayload, NewAction, Side, Size, Status};
use testkit::{IssuedKey, Person, World, new_key};

use crate::browser::{Browser, Page};

struct ApprovalsFixture {
    world: World,
    person: Person,
    key: IssuedKey,
    browser: Browser,
    account: PaperAccountId,
}

impl ApprovalsFixture {
    /// A person with a key and a paper account, while the market is open: Tuesday 10 March 2026, 10:30 in New York.
    async fn new() -> ApprovalsFixture {
        let world = World::new().await;
        world.advance_seconds(9_000);
        world.market.set("AAPL", "187.10", Some("185.00"));
        let person = world.person("robin@example.com").await;
        let key = person.key(new_key()).await;
        let mut browser = Browser::of(&world, &person).await;
        let payload =
            ActionPayload::PaperAccount { name: "Practice".to_owned(), cash_minor: 1_000_000 };
        let action = actions::propose(&world.app, &key.caller, payload.into()).await.unwrap();
        decide(&mut browser, &action, "approve").await;
        let accounts =
            service::trading::paper::list_accounts(&world.app, &person.caller).await.unwrap();
        let account = accounts[0].id;
        ApprovalsFixture { world, person, key, browser, account }
    }

    async fn buy(&self, shares: &str, reason: Option<&str>) -> Action {
        let size = Size::Shares(Fixed9::parse(shares).unwrap());
        let symbol = "AAPL".to_owned();
        let payload = ActionPayload::Trade { account: self.account, symbol, side: Side::Buy, size };
        let new = NewAction { reason: reason.map(str::to_owned), ..payload.into() };
        actions::propose(&self.world.app, &self.key.caller, new).await.unwrap()
    }

    async fn reload(&self, action: &Action) -> Action {
        actions::get(&self.world.app, &self.person.caller, action.id).await.unwrap()
    }
}

fn field(page: &str, name: &str) -> String {
    let (_, rest) = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

fn action_path(action: &Action) -> String {
    format!("/approvals/{}", action.thread)
}

/// Opens the action's page and presses one of its buttons.
async fn decide(browser: &mut Browser, action: &Action, decision: &str) -> Page {
    let page = browser.get(&action_path(action)).await;
    let (digest, price) = (field(&page.text, "digest"), field(&page.text, "price"));
    let fields = [("digest", digest.as_str()), ("price", &price), ("decision", decision)];
    browser.submit(&format!("{}/decide", action_path(action)), &fields).await
}

#[tokio::test]
async fn the_inbox_and_the_badge_show_pending_proposals() {
    let mut fixture = ApprovalsFixture::new().await;
    let nothing = fixture.browser.get("/approvals").await.text;
    assert!(nothing.contains("No pending approvals"), "{nothing}");
    assert!(nothing.contains("data-waiting hidden"), "{nothing}");
    let action = fixture.buy("3", Some("Because *now*.")).await;
    let inbox = fixture.browser.get("/approvals").await.text;
    for text in ["Buy 3 AAPL", "$561.30", "Practice", "Expires in 24 hours.", &action_path(&action)]
    {
        assert!(inbox.contains(text), "{text} is not in {inbox}");
    }
    let elsewhere = fixture.browser.get("/goals").await.text;
    assert!(elsewhere.contains("<span class=\"number\">1</span>"), "{elsewhere}");
}

#[tokio::test]
async fn a_trade_is_shown_in_full_and_executed_when_approved() {
    let mut fixture = ApprovalsFixture::new().await;
    let action = fixture.buy("3", Some("Because *now*.")).await;
    let page = fixture.browser.get(&action_path(&action)).await.text;
    for text in [
        "Buy 3 AAPL</button>",
        "Reject</button>",
        "Apple Inc.",
        "$561.30",
        "+$2.10 (+1.14%)",
        "Because <em>now</em>.",
        "no real money moves",
    ] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    let done = decide(&mut fixture.browser, &action, "approve").await.text;
    assert!(done.contains("It's done."), "{done}");
    assert!(!done.contains("name=\"decision\""), "{done}");
    let account = fixture.browser.get(&format!("/paper/{}", fixture.account)).await.text;
    for text in ["Bought 3 AAPL", "-$561.30", "$9,438.70", "Apple Inc."] {
        assert!(account.contains(text), "{text} is not in {account}");
    }
    let history = fixture.browser.get("/approvals?show=history").await.text;
    assert!(history.contains("Buy 3 AAPL") && history.contains("Done"), "{history}");
}

#[tokio::test]
async fn a_proposal_with_hidden_amounts_offers_to_show_them() {
    let mut fixture = ApprovalsFixture::new().await;
    let action = fixture.buy("3", None).await;
    let path = action_path(&action);
    fixture.browser.submit("/view", &[("hide", "1"), ("next", "/")]).await.good();
    let page = fixture.browser.get(&path).await.good();
    assert!(page.contains("Amounts are hidden. Show them before you decide."), "{page}");
    for amount in ["561.30", "187.10", "2.10"] {
        assert!(!page.contains(&format!("${amount}")), "{amount}: {page}");
    }
    let page = fixture.browser.submit("/view", &[("hide", "0"), ("next", &path)]).await.good();
    assert!(!page.contains("Amounts are hidden") && page.contains("$561.30"), "{page}");
    decide(&mut fixture.browser, &action, "reject").await;
    fixture.browser.submit("/view", &[("hide", "1"), ("next", "/")]).await.good();
    let page = fixture.browser.get(&path).await.good();
    assert!(!page.contains("Amounts are hidden"), "nothing to decide: {page}");
}

#[tokio::test]
async fn a_trade_without_a_price_cannot_be_approved() {
    let mut fixture = ApprovalsFixture::new().await;
    let action = fixture.buy("3", None).await;
    let seen = fixture.browser.get(&action_path(&action)).await.text;
    let digest = field(&seen, "digest");
    let bare = [("digest", digest.as_str()), ("price", ""), ("decision", "approve")];
    let refused = fixture.browser.post(&format!("{}/decide", action_path(&action)), &bare).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.text.contains("There is no current price"), "{}", refused.text);
    assert_eq!(fixture.reload(&action).await.status, Status::PendingApproval);

    fixture.world.market.forget("AAPL");
    fixture.world.advance_seconds(2);
    let page = fixture.browser.get(&action_path(&action)).await.text;
    assert!(page.contains("No price is available right now"), "{page}");
    assert!(!page.contains("Buy 3 AAPL</button>") && page.contains("Reject</button>"), "{page}");
}

#[tokio::test]
async fn a_rejection_stores_its_reason_and_does_nothing_else() {
    let mut fixture = ApprovalsFixture::new().await;
    let action = fixture.buy("3", None).await;
    let page = fixture.browser.get(&action_path(&action)).await.text;
    let (digest, price) = (field(&page, "digest"), field(&page, "price"));
    let fields = [
        ("digest", digest.as_str()),
        ("price", &price),
        ("decision", "reject"),
        ("reason", "Too <b>much</b> of it"),
    ];
    let after =
        fixture.browser.submit(&format!("{}/decide", action_path(&action)), &fields).await.text;
    assert!(after.contains("You rejected this. Nothing was done."), "{after}");
    assert!(after.contains("Too &lt;b&gt;much&lt;/b&gt; of it"), "{after}");
    assert_eq!(
        fixture.reload(&action).await.rejection_reason.as_deref(),
        Some("Too <b>much</b> of it")
    );
    assert!(fixture.browser.get("/paper").await.text.contains("0 trades"));
}

#[tokio::test]
async fn a_second_click_or_an_outdated_page_gets_the_current_status() {
    let mut fixture = ApprovalsFixture::new().await;
    let (first, second) = (fixture.buy("1", None).await, fixture.buy("2", None).await);
    let page = fixture.browser.get(&action_path(&first)).await.text;
    let (digest, price) = (field(&page, "digest"), field(&page, "price"));
    let fields = [("digest", digest.as_str()), ("price", &price), ("decision", "approve")];
    let to = format!("{}/decide", action_path(&first));
    fixture.browser.submit(&to, &fields).await;
    let again = fixture.browser.post(&to, &fields).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(again.text.contains("This proposal was already executed."), "{}", again.text);

    // The digest of one proposal does not approve another.
    let other = format!("{}/decide", action_path(&second));
    let mixed = fixture.browser.post(&other, &fields).await;
    assert_eq!(mixed.status, StatusCode::CONFLICT);
    assert!(mixed.text.contains("changed after you opened it"), "{}", mixed.text);
    let bare = fixture.browser.post(&other, &[("decision", "approve")]).await;
    assert_eq!(bare.status, StatusCode::CONFLICT, "{}", bare.text);
    assert_eq!(fixture.reload(&second).await.status, Status::PendingApproval);

    fixture.world.advance_seconds(86_400);
    let page = fixture.browser.get(&action_path(&second)).await.text;
    assert!(page.contains("This expired before a decision"), "{page}");
    assert!(!page.contains("name=\"decision\""), "{page}");
}

#[tokio::test]
async fn only_the_person_can_open_the_page_and_no_key_can() {
    let mut fixture = ApprovalsFixture::new().await;
    let action = fixture.buy("1", None).await;
    let kim = fixture.world.person("kim@example.com").await;
    let mut other = Browser::of(&fixture.world, &kim).await;
    assert_eq!(other.get(&action_path(&action)).await.status, StatusCode::NOT_FOUND);
    let mut nobody = Browser::new(&fixture.world);
    let redirected = nobody.get(&action_path(&action)).await;
    assert_eq!(redirected.status, StatusCode::SEE_OTHER);
    let page = fixture.browser.get(&action_path(&action)).await.text;
    let digest = field(&page, "digest");
    let body = format!("decision=approve&digest={digest}&price=187.1");
    let to = format!("{}/decide", action_path(&action));
    for token in [fixture.key.secret.clone(), "eka_nothing".to_owned()] {
        nobody.bearer = Some(token);
        let sent = nobody.send(Method::POST, &to, body.clone()).await;
        assert_eq!(sent.location(), "/sign-in");
    }
    let theirs = other.post(&to, &[("decision", "approve"), ("digest", &digest)]).await;
    assert_eq!(theirs.status, StatusCode::NOT_FOUND);
    assert_eq!(fixture.reload(&action).await.status, Status::PendingApproval);
}

#[tokio::test]
async fn text_of_the_proposer_is_escaped() {
    let mut fixture = ApprovalsFixture::new().await;
    let payload = ActionPayload::Custom {
        title: "<script>alert(1)</script>".to_owned(),
        summary: Some("<img src=x onerror=alert(1)> [go](https://evil.example) ![p](https://evil.example/p.png)".to_owned()),
        facts: None,
    };
    let reason = Some("<iframe src=https://evil.example></iframe>".to_owned());
    let new =
        NewAction { reason, description: Some("\"><svg onload=x>".to_owned()), ..payload.into() };
    let action = actions::propose(&fixture.world.app, &fixture.key.caller, new).await.unwrap();
    for path in [action_path(&action), "/approvals".to_owned()] {
        let page = fixture.browser.get(&path).await.text;
        for bad in ["<script>alert", "<img", "<iframe", "<svg onload", "href=\"https://evil"] {
            assert!(!page.contains(bad), "{bad} is in {page}");
        }
    }
    let page = fixture.browser.get(&action_path(&action)).await.text;
    assert!(page.contains("go (https://evil.example)"), "{page}");
}

#[tokio::test]
async fn an_action_for_the_person_to_do_waits_until_they_confirm_it() {
    let mut fixture = ApprovalsFixture::new().await;
    let payload =
        ActionPayload::Custom { title: "Call the bank".to_owned(), summary: None, facts: None };
    let action =
        actions::propose(&fixture.world.app, &fixture.key.caller, payload.into()).await.unwrap();
    let page = decide(&mut fixture.browser, &action, "approve").await.text;
    assert!(page.contains("Mark as done</button>"), "{page}");
    assert_eq!(fixture.reload(&action).await.status, Status::Approved);
    let after = fixture
        .browser
        .submit(&format!("{}/confirm", action_path(&action)), &[("done", "yes")])
        .await
        .text;
    assert!(after.contains("It's done."), "{after}");
    assert_eq!(fixture.reload(&action).await.status, Status::Executed);
}

#[tokio::test]
async fn approval_settings_are_saved_and_invalid_ones_are_refused() {
    let mut fixture = ApprovalsFixture::new().await;
    let page = fixture.browser.get("/settings/approvals").await.text;
    assert!(page.contains("value=\"1000.00\""), "{page}");
    let good = [
        ("life_seconds", "3600"),
        ("passkey", "1"),
        ("passkey_from", "2,500.00"),
        ("proposals_a_day", "7"),
    ];
    let after = fixture.browser.submit("/settings/approvals", &good).await.text;
    assert!(after.contains("Approval settings saved."), "{after}");
    let policy = actions::get_policy(&fixture.world.app, &fixture.person.caller).await.unwrap();
    let kept = (policy.life_seconds, policy.passkey_from_minor, policy.proposals_a_day);
    assert_eq!(kept, (3_600, Some(250_000), 7));
    for (name, value) in [("life_seconds", "1"), ("passkey_from", "much"), ("proposals_a_day", "0")]
    {
        let fields = good.map(|it| if it.0 == name { (name, value) } else { it });
        let refused = fixture.browser.post("/settings/approvals", &fields).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{name}");
        assert!(refused.text.contains("role=\"alert\""), "{name}");
    }
}

#[tokio::test]
async fn a_person_can_propose_an_account_and_an_order_and_still_decides() {
    let mut fixture = ApprovalsFixture::new().await;
    let fields = [("name", "Second"), ("starting_cash_balance", "5,000.00")];
    let page = fixture.browser.submit("/paper", &fields).await.text;
    assert!(page.contains("Open the paper account Second with $5,000.00"), "{page}");
    let order = [("symbol", "aapl"), ("side", "buy"), ("quantity", ""), ("notional", "100.00")];
    let to = format!("/paper/{}/order", fixture.account);
    let page = fixture.browser.submit(&to, &order).await.text;
    assert!(page.contains("Buy $100.00 of AAPL</button>"), "{page}");
    for (name, value, message) in [
        ("symbol", "NOPE", "no price for NOPE"),
        ("notional", "x", "an amount such as 500.00"),
        ("notional", "99999.00", "the account has only $10,000.00 available"),
        ("quantity", "1", "either shares or an amount in dollars"),
    ] {
        let fields = order.map(|it| if it.0 == name { (name, value) } else { it });
        let refused = fixture.browser.post(&to, &fields).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{name}={value}");
        assert!(refused.text.contains(message), "{message} is not in {}", refused.text);
    }
}

#[tokio::test]
async fn an_open_page_is_notified_of_a_new_proposal() {
    let mut fixture = ApprovalsFixture::new().await;
    let first = fixture.browser.get("/approvals/pulse").await;
    let known: serde_json::Value = serde_json::from_str(&first.text).unwrap();
    assert_eq!(known["pending"], 0);
    let mut other = Browser::of(&fixture.world, &fixture.person).await;
    let path = format!("/approvals/pulse?pending=0&stamp={}", known["stamp"]);
    let waiting = tokio::spawn(async move { other.get(&path).await.text });
    fixture.buy("1", None).await;
    let update: serde_json::Value = serde_json::from_str(&waiting.await.unwrap()).unwrap();
    assert_eq!(update["pending"], 1);
}
