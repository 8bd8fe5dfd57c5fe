//! The pages of webhooks: endpoints and their secrets, attempts, events, and what was not delivered.

use http::StatusCode;
use service::webhooks::{self, Endpoint, NewEndpoint, portal};
use testkit::draft::{checking, statement, txn};
use testkit::receiver::{Receiver, ScriptedResponse};
use testkit::{IssuedKey, Person, World, new_key};

use super::{HOSTILE, is_harmless};
use crate::browser::Browser;

struct Desk {
    world: World,
    person: Person,
    key: IssuedKey,
    receiver: Receiver,
    browser: Browser,
}

impl Desk {
    async fn new() -> Desk {
        let world = World::new().await;
        let person = world.person("robin@example.com").await;
        let key = person.key(new_key()).await;
        let browser = Browser::of(&world, &person).await;
        Desk { receiver: Receiver::start().await, world, person, key, browser }
    }

    async fn endpoint(&self, types: &[&str]) -> Endpoint {
        self.endpoint_of(&self.key, types).await
    }

    async fn endpoint_of(&self, key: &IssuedKey, types: &[&str]) -> Endpoint {
        let filter_types = types.iter().map(|it| (*it).to_owned()).collect();
        let new = NewEndpoint { url: self.receiver.url.clone(), description: None, filter_types };
        let (mine, caller) = (self.world.app.clone(), key.caller.clone());
        let create = move |tx: &mut db::Tx<'_>| webhooks::create(&mine, tx, &caller, &new);
        self.world.app.db.write(create).await.unwrap().0
    }

    async fn happens(&self, id: &str) {
        let new = txn("2026-03-09", -100, "KROGER #339").id(id);
        self.person.import(statement([checking("A").with(new)])).await;
        webhooks::deliver_once(&self.world.app).await.unwrap();
    }

    async fn get(&mut self, path: &str) -> String {
        self.browser.get(path).await.good()
    }
}

fn at(endpoint: &Endpoint, rest: &str) -> String {
    format!("/settings/webhooks/{}{rest}", endpoint.id)
}

/// The secret that a page shows.
fn secret(page: &str) -> String {
    let (_, rest) = page.split_once("whsec_").unwrap();
    format!("whsec_{}", rest.split('<').next().unwrap())
}

#[tokio::test]
async fn an_endpoint_is_made_for_a_chosen_key_and_its_secret_shown_once() {
    let mut desk = Desk::new().await;
    let page = desk.get("/settings/webhooks").await;
    assert!(page.contains("No endpoints yet"), "{page}");
    let (key, url) = (desk.key.id.to_string(), desk.receiver.url.clone());
    let fields = [
        ("key", key.as_str()),
        ("url", &url),
        ("description", "Household board"),
        ("type", "transaction.created"),
        ("type", "score.updated"),
    ];
    let made = desk.browser.post("/settings/webhooks", &fields).await.good();
    assert!(secret(&made).len() == 50, "{made}");
    let list = desk.get("/settings/webhooks").await;
    for text in [&url, "Household board", "A script", "score.updated, transaction.created"] {
        assert!(list.contains(text), "{text} is not in {list}");
    }
    assert!(!list.contains("whsec_"), "{list}");
    let all = webhooks::list(&desk.world.app, &desk.key.caller).await.unwrap();
    assert_eq!(all.len(), 1);
}

#[tokio::test]
async fn what_cannot_be_an_endpoint_is_said_and_nothing_typed_is_lost() {
    let mut desk = Desk::new().await;
    let kim = desk.world.person("kim@example.com").await.key(new_key()).await;
    let (own, theirs) = (desk.key.id.to_string(), kim.id.to_string());
    let good = desk.receiver.url.clone();
    for (key, url, said) in [
        (&own, "http://example.com/", "Url cannot be used"),
        (&own, "https://10.0.0.1/hook", "Url cannot be used"),
        (&theirs, &good, "Choose an active API key"),
        (&"nonsense".to_owned(), &good, "Choose an active API key"),
    ] {
        let fields = [("key", key.as_str()), ("url", url), ("description", "Keep <this>")];
        let page = desk.browser.post("/settings/webhooks", &fields).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{url}");
        assert!(page.text.contains(said), "{url}: {}", page.text);
        assert!(page.text.contains("Keep &lt;this&gt;"), "{}", page.text);
    }
    assert!(webhooks::list(&desk.world.app, &desk.person.caller).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_test_shows_its_answer_at_once_and_hostile_answers_are_only_text() {
    let mut desk = Desk::new().await;
    let endpoint = desk.endpoint(&[]).await;
    desk.receiver.respond_with([ScriptedResponse::Text(500, HOSTILE.to_owned())]);
    let fields = [("event_type", "score.updated")];
    let page = desk.browser.post(&at(&endpoint, "/test"), &fields).await.good();
    assert!(page.contains("Delivery failed: 500"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
    is_harmless(&page);
    let page = desk.browser.post(&at(&endpoint, "/test"), &fields).await.good();
    assert!(page.contains("Delivered: 204"), "{page}");
    let attempts = desk.get("/settings/webhooks/attempts?status=failed").await;
    assert!(attempts.contains("&lt;script&gt;alert(1)") && !attempts.contains(">204<"));
    is_harmless(&attempts);
}

#[tokio::test]
async fn an_endpoint_is_changed_switched_off_and_on_rotated_and_deleted() {
    let mut desk = Desk::new().await;
    let endpoint = desk.endpoint(&[]).await;
    let url = desk.receiver.url.clone();
    let fields = [("url", url.as_str()), ("description", "New"), ("type", "goal.updated")];
    let page = desk.browser.submit(&at(&endpoint, ""), &fields).await.good();
    assert!(page.contains("New") && page.contains("value=\"goal.updated\" checked"), "{page}");
    let page = desk.browser.submit(&at(&endpoint, "/disable"), &[]).await.good();
    assert!(
        page.contains("Disabled manually") && page.contains("Enable endpoint</button>"),
        "{page}"
    );
    // What was done on purpose needs nobody.
    assert!(!desk.get("/settings/webhooks").await.contains("class=\"warning\""));
    let page = desk.browser.submit(&at(&endpoint, "/enable"), &[]).await.good();
    assert!(page.contains("Disable endpoint</button>"), "{page}");

    assert!(page.contains("<dt>Previous secrets</dt><dd>None</dd>"), "{page}");
    let rotated = desk.browser.post(&at(&endpoint, "/rotate"), &[]).await.good();
    assert!(secret(&rotated).len() == 50);
    let page = desk.get(&at(&endpoint, "")).await;
    assert!(page.contains("Also used until 2026-03-11 12:00:00 UTC"), "{page}");
    assert!(!page.contains("whsec_"), "{page}");
    desk.world.advance_seconds(86_401);
    let page = desk.get(&at(&endpoint, "")).await;
    assert!(page.contains("<dt>Previous secrets</dt><dd>None</dd>"), "{page}");

    desk.browser.submit(&at(&endpoint, "/delete"), &[]).await.good();
    assert_eq!(desk.browser.get(&at(&endpoint, "")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn attempts_lead_to_the_event_and_to_what_it_said() {
    let mut desk = Desk::new().await;
    let endpoint = desk.endpoint(&["transaction.created"]).await;
    desk.receiver.respond_with([ScriptedResponse::Status(503)]);
    desk.happens("one").await;
    let page = desk.get("/settings/webhooks/attempts").await;
    for text in ["transaction.created", "503", "1 of 8", "2026-03-10 12:00:00 UTC"] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    let (_, rest) = page.split_once("/settings/webhooks/events/").unwrap();
    let event = format!("/settings/webhooks/events/{}", rest.split('"').next().unwrap());
    let page = desk.get(&event).await;
    for text in ["transaction_ids", "api_version", "Retrying", &endpoint.id.to_string()] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    // The page before has nothing of another endpoint, and nobody else finds any of it.
    let other = desk.endpoint(&["goal.updated"]).await;
    let narrowed = format!("/settings/webhooks/attempts?endpoint={}", other.id);
    assert!(desk.get(&narrowed).await.contains("No attempts yet."));
    let kim = desk.world.person("kim@example.com").await;
    let mut stranger = Browser::of(&desk.world, &kim).await;
    assert_eq!(stranger.get(&event).await.status, StatusCode::NOT_FOUND);
    assert_eq!(stranger.get(&at(&endpoint, "")).await.status, StatusCode::NOT_FOUND);
    assert_eq!(stranger.post(&at(&endpoint, "/delete"), &[]).await.status, StatusCode::NOT_FOUND);
    let mut nobody = Browser::new(&desk.world);
    assert_eq!(nobody.get("/settings/webhooks").await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn attempts_come_in_pages_newest_first() {
    let mut desk = Desk::new().await;
    let endpoint = desk.endpoint(&[]).await;
    desk.receiver
        .respond_with((0..51).map(|it| ScriptedResponse::Text(200, format!("number {it}."))));
    for _ in 0..51 {
        let sent = webhooks::test(&desk.world.app, &desk.key.caller, endpoint.id, None).await;
        assert!(sent.unwrap().delivered);
    }
    let page = desk.get("/settings/webhooks/attempts").await;
    assert!(page.contains("number 50.") && !page.contains("number 0."), "{page}");
    let (before, _) = page.split_once("\">Older</a>").unwrap();
    let older = before.rsplit_once('"').unwrap().1.to_owned();
    let page = desk.get(&older.replace("&amp;", "&")).await;
    assert!(page.contains("number 0.") && !page.contains("number 1."), "{page}");
    assert!(!page.contains("Older</a>"), "{page}");
}

#[tokio::test]
async fn what_is_gone_is_told_on_the_overview_and_lies_among_what_was_not_delivered() {
    let mut desk = Desk::new().await;
    let endpoint = desk.endpoint(&["transaction.created"]).await;
    assert!(desk.get("/settings/webhooks/failed").await.contains("No failed deliveries."));
    desk.receiver.respond_with([ScriptedResponse::Status(410)]);
    desk.happens("one").await;
    for path in ["/", "/settings/webhooks", &at(&endpoint, "")] {
        let page = desk.get(path).await;
        assert!(page.contains("Disabled because it responded with 410 Gone"), "{path}: {page}");
        assert!(page.contains(&at(&endpoint, "")), "{path}: {page}");
    }
    let failed = desk.get("/settings/webhooks/failed").await;
    assert!(failed.contains("transaction.created") && failed.contains("1 attempt,"), "{failed}");
    desk.browser.submit(&at(&endpoint, "/enable"), &[]).await.good();
    assert!(!desk.get("/").await.contains("responded with 410 Gone"));
}

#[tokio::test]
async fn what_was_not_delivered_is_sent_again_alone_or_together() {
    let mut desk = Desk::new().await;
    let endpoint = desk.endpoint(&["transaction.created"]).await;
    desk.receiver.respond_with([ScriptedResponse::Status(410)]);
    desk.happens("one").await;
    desk.browser.submit(&at(&endpoint, "/enable"), &[]).await.good();
    let page = desk.get("/settings/webhooks/failed").await;
    let field = |name: &str| {
        let (_, rest) = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let (id, event) = (endpoint.id.to_string(), field("event"));
    let fields = [("endpoint", id.as_str()), ("event", &event)];
    desk.receiver.respond_with([ScriptedResponse::Text(500, HOSTILE.to_owned())]);
    let page = desk.browser.submit("/settings/webhooks/failed/send", &fields).await.good();
    assert!(page.contains("Delivery failed: 500.") && page.contains("Manual"), "{page}");
    is_harmless(&page);

    let since = [("to", id.as_str()), ("since", "2026-03-10")];
    let page = desk.browser.submit("/settings/webhooks/failed/replay", &since).await.good();
    assert!(page.contains("1 event will be sent again."), "{page}");
    assert!(page.contains("0 of 1 sent, 0 delivered.") && page.contains("In progress"), "{page}");
    let again = desk.browser.post("/settings/webhooks/failed/replay", &since).await;
    assert_eq!(again.status, StatusCode::BAD_REQUEST);
    assert!(again.text.contains("wait until it is done"), "{}", again.text);
    webhooks::replay_once(&desk.world.app).await.unwrap();
    webhooks::replay_once(&desk.world.app).await.unwrap();
    let page = desk.get("/settings/webhooks/failed").await;
    assert!(
        page.contains("1 of 1 sent, 1 delivered.") && page.contains("No failed deliveries"),
        "{page}"
    );
    for wrong in ["", "2026-13-01", "2020-01-01"] {
        let fields = [("to", id.as_str()), ("since", wrong)];
        let page = desk.browser.post("/settings/webhooks/failed/replay", &fields).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
}

/// Opens the portal of the desk's key in a browser where nobody is signed in.
async fn guest(desk: &Desk) -> (Browser, String) {
    let (mine, caller) = (desk.world.app.clone(), desk.key.caller.clone());
    let made = desk.world.app.db.write(move |tx| portal::create_link(&mine, tx, &caller)).await;
    let path = portal::link_path(&made.unwrap().0);
    let mut browser = Browser::new(&desk.world);
    let page = browser.get(&path).await.good();
    let (_, rest) = page.split_once("name=\"form_token\" value=\"").unwrap();
    browser.set_form_token(rest.split('"').next().unwrap());
    (browser, path)
}

/// Presses the button, and takes up the token that the portal's forms carry.
async fn enter(desk: &Desk) -> Browser {
    let (mut browser, path) = guest(desk).await;
    let page = browser.submit(&path, &[]).await.good();
    let (_, rest) = page.split_once("name=\"form_token\" value=\"").unwrap();
    browser.set_form_token(rest.split('"').next().unwrap());
    browser
}

#[tokio::test]
async fn looking_at_a_portal_link_does_not_use_it_up_and_the_button_does() {
    let desk = Desk::new().await;
    let (mut browser, path) = guest(&desk).await;
    for _ in 0..3 {
        let page = browser.get(&path).await.good();
        assert!(page.contains("Open portal</button>"), "{page}");
    }
    // Another site cannot press it.
    let mut forger = Browser::new(&desk.world);
    assert_eq!(forger.post(&path, &[]).await.status, StatusCode::FORBIDDEN);
    let page = browser.submit(&path, &[]).await.good();
    assert!(page.contains("A script"), "{page}");
    assert_eq!(browser.get(&path).await.status, StatusCode::GONE);
    let (mut late, path) = guest(&desk).await;
    desk.world.advance_seconds(600);
    assert_eq!(late.post(&path, &[]).await.status, StatusCode::GONE);
    assert_eq!(late.get("/portal/webhooks").await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn the_portal_keeps_the_endpoints_of_its_key_and_opens_no_other_page() {
    let desk = Desk::new().await;
    let own = desk.endpoint(&[]).await;
    let other = desk.person.key(new_key()).await;
    let hidden = desk.endpoint_of(&other, &[]).await;
    let mut browser = enter(&desk).await;
    let page = browser.get("/portal/webhooks").await.good();
    assert!(page.contains(&own.id.to_string()) && !page.contains(&hidden.id.to_string()), "{page}");
    assert!(!page.contains("href=\"/settings") && !page.contains("/sign-out"), "{page}");
    let at = |id: base::EndpointId, rest: &str| format!("/portal/webhooks/{id}{rest}");
    assert_eq!(browser.get(&at(hidden.id, "")).await.status, StatusCode::NOT_FOUND);
    assert_eq!(browser.post(&at(hidden.id, "/delete"), &[]).await.status, StatusCode::NOT_FOUND);
    let page = browser.post(&at(own.id, "/test"), &[]).await.good();
    assert!(page.contains("Delivered: 204"), "{page}");
    let page = browser.submit(&at(own.id, "/disable"), &[]).await.good();
    assert!(page.contains("Disabled manually"), "{page}");
    for path in ["/portal/webhooks/attempts", "/portal/webhooks/failed"] {
        browser.get(path).await.good();
    }
    let key = hidden.key.to_string();
    let fields = [("key", key.as_str()), ("url", &desk.receiver.url)];
    assert_eq!(browser.post("/portal/webhooks", &fields).await.status, StatusCode::NOT_FOUND);
    for path in
        ["/", "/accounts", "/settings", "/settings/webhooks", "/settings/keys", "/approvals"]
    {
        assert_eq!(browser.get(path).await.status, StatusCode::SEE_OTHER, "{path}");
    }
    let rotate = format!("/settings/webhooks/{}/rotate", own.id);
    let sent = browser.post(&rotate, &[]).await;
    assert_ne!(sent.status, StatusCode::OK, "{}", sent.text);
    browser.post("/portal/webhooks/leave", &[]).await.good();
    assert_eq!(browser.get("/portal/webhooks").await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn the_portal_closes_with_its_key_and_a_session_does_not_open_it() {
    let mut desk = Desk::new().await;
    let mut browser = enter(&desk).await;
    service::access::keys::revoke(&desk.world.app, &desk.person.caller, desk.key.id).await.unwrap();
    assert_eq!(browser.get("/portal/webhooks").await.status, StatusCode::FORBIDDEN);
    assert_eq!(desk.browser.get("/portal/webhooks").await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn an_endpoint_whose_key_has_ended_says_so_and_cannot_be_woken() {
    let mut desk = Desk::new().await;
    let endpoint = desk.endpoint(&[]).await;
    service::access::keys::revoke(&desk.world.app, &desk.person.caller, desk.key.id).await.unwrap();
    let page = desk.get(&at(&endpoint, "")).await;
    assert!(
        page.contains("its API key was revoked") && !page.contains("Enable endpoint</button>"),
        "{page}"
    );
    let refused = desk.browser.post(&at(&endpoint, "/enable"), &[]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    // Its end was the person's own will.
    assert!(!desk.get("/settings/webhooks").await.contains("class=\"warning\""));
}

#[tokio::test]
async fn a_page_makes_the_server_send_no_more_often_than_a_program_could() {
    let mut desk = Desk::new().await;
    let endpoint = desk.endpoint(&[]).await;
    let mut statuses = Vec::new();
    for _ in 0..101 {
        statuses.push(desk.browser.post(&at(&endpoint, "/test"), &[]).await.status);
    }
    assert_eq!(statuses.pop(), Some(StatusCode::TOO_MANY_REQUESTS));
    assert!(statuses.iter().all(|it| *it == StatusCode::OK), "{statuses:?}");
    assert_eq!(desk.receiver.requests().len(), 100);
}

/// What lies there is sent again by a button, unless its endpoint is off; then the way there is shown.
#[tokio::test]
async fn what_cannot_be_sent_again_now_says_why() {
    let mut desk = Desk::new().await;
    let endpoint = desk.endpoint(&["transaction.created"]).await;
    desk.receiver.respond_with([ScriptedResponse::Status(503)]);
    desk.happens("one").await;
    desk.browser.submit(&at(&endpoint, "/disable"), &[]).await.good();
    let page = desk.get("/settings/webhooks/failed").await;
    assert!(page.contains("Endpoint disabled") && !page.contains("Resend<span"), "{page}");
    let (_, rest) = page.split_once("/settings/webhooks/events/").unwrap();
    let event = rest.split('"').next().unwrap().to_owned();
    let id = endpoint.id.to_string();
    let fields = [("endpoint", id.as_str()), ("event", event.as_str())];
    let page = desk.browser.submit("/settings/webhooks/failed/send", &fields).await.good();
    assert!(page.contains("The endpoint is disabled; enable it first"), "{page}");
    // The oldest day that can be chosen is one that is taken.
    desk.browser.submit(&at(&endpoint, "/enable"), &[]).await.good();
    let fields = [("to", id.as_str()), ("since", "2026-02-08")];
    let page = desk.browser.submit("/settings/webhooks/failed/replay", &fields).await.good();
    assert!(page.contains("1 event will be sent again"), "{page}");
}
