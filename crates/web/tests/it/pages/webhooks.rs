//! The webhook pages: endpoints and their secrets, attempts, events, and failed deliveries.

use http::StatusCode;
use service::webhooks::{self, Endpoint, NewEndpoint, portal};
use testkit::draft::{checking, statement, txn};
use testkit::receiver::{Receiver, ScriptedResponse};
use testkit::{IssuedKey, Person, World, new_key};

use super::{HOSTILE, assert_escaped};
use crate::browser::Browser;

pub(super) struct WebhookPagesFixture {
    pub(super) world: World,
    pub(super) person: Person,
    key: IssuedKey,
    pub(super) receiver: Receiver,
    pub(super) browser: Browser,
}

impl WebhookPagesFixture {
    pub(super) async fn new() -> WebhookPagesFixture {
        let world = World::new().await;
        let person = world.person("robin@example.com").await;
        let key = person.key(new_key()).await;
        let browser = Browser::of(&world, &person).await;
        WebhookPagesFixture { receiver: Receiver::start().await, world, person, key, browser }
    }

    pub(super) async fn endpoint(&self, types: &[&str]) -> Endpoint {
        self.endpoint_of(&self.key, types).await
    }

    pub(super) async fn endpoint_of(&self, key: &IssuedKey, types: &[&str]) -> Endpoint {
        let filter_types = types.iter().map(|it| (*it).to_owned()).collect();
        let new = NewEndpoint { url: self.receiver.url.clone(), description: None, filter_types };
        let (app, caller) = (self.world.app.clone(), key.caller.clone());
        let create = move |tx: &mut db::Tx<'_>| webhooks::create(&app, tx, &caller, &new);
        self.world.app.db.write(create).await.unwrap().0
    }

    pub(super) async fn import_and_deliver(&self, id: &str) {
        let new = txn("2026-03-09", -100, "KROGER #339").id(id);
        self.person.import(statement([checking("A").with(new)])).await;
        webhooks::deliver_once(&self.world.app).await.unwrap();
    }

    pub(super) async fn get(&mut self, path: &str) -> String {
        self.browser.get(path).await.good()
    }
}

fn endpoint_path(endpoint: &Endpoint, rest: &str) -> String {
    format!("/settings/webhooks/{}{rest}", endpoint.id)
}

/// The secret that a page shows.
fn secret(page: &str) -> String {
    let (_, rest) = page.split_once("whsec_").unwrap();
    format!("whsec_{}", rest.split('<').next().unwrap())
}

#[tokio::test]
async fn an_endpoint_is_created_for_a_chosen_key_and_its_secret_shown_once() {
    let mut fixture = WebhookPagesFixture::new().await;
    let page = fixture.get("/settings/webhooks").await;
    assert!(page.contains("No endpoints yet"), "{page}");
    let (key, url) = (fixture.key.id.to_string(), fixture.receiver.url.clone());
    let fields = [
        ("key", key.as_str()),
        ("url", &url),
        ("description", "Household board"),
        ("type", "transaction.created"),
        ("type", "score.updated"),
    ];
    let made = fixture.browser.post("/settings/webhooks", &fields).await.good();
    assert!(secret(&made).len() == 50, "{made}");
    let list = fixture.get("/settings/webhooks").await;
    for text in [&url, "Household board", "A script", "score.updated, transaction.created"] {
        assert!(list.contains(text), "{text} is not in {list}");
    }
    assert!(!list.contains("whsec_"), "{list}");
    let all = webhooks::list(&fixture.world.app, &fixture.key.caller).await.unwrap();
    assert_eq!(all.len(), 1);
}

#[tokio::test]
async fn an_invalid_endpoint_is_refused_and_typed_values_are_kept() {
    let mut fixture = WebhookPagesFixture::new().await;
    let kim = fixture.world.person("kim@example.com").await.key(new_key()).await;
    let (own, theirs) = (fixture.key.id.to_string(), kim.id.to_string());
    let good = fixture.receiver.url.clone();
    for (key, url, message) in [
        (&own, good.as_str(), "Choose at least one event type, or all events"),
        (&own, "http://example.com/", "Url cannot be used"),
        (&own, "https://10.0.0.1/hook", "Url cannot be used"),
        (&theirs, &good, "Choose an active API key"),
        (&"nonsense".to_owned(), &good, "Choose an active API key"),
    ] {
        let mut fields = vec![("key", key.as_str()), ("url", url), ("description", "Keep <this>")];
        if !message.contains("event type") {
            fields.push(("all", "yes"));
        }
        let page = fixture.browser.post("/settings/webhooks", &fields).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{url}");
        assert!(page.text.contains(message), "{url}: {}", page.text);
        assert!(page.text.contains("Keep &lt;this&gt;"), "{}", page.text);
    }
    assert!(webhooks::list(&fixture.world.app, &fixture.person.caller).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_test_event_shows_its_response_at_once_and_escaped() {
    let mut fixture = WebhookPagesFixture::new().await;
    let endpoint = fixture.endpoint(&[]).await;
    fixture.receiver.respond_with([ScriptedResponse::Text(500, HOSTILE.to_owned())]);
    let fields = [("event_type", "score.updated")];
    let page = fixture.browser.post(&endpoint_path(&endpoint, "/test"), &fields).await.good();
    assert!(page.contains("Delivery failed: 500"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
    assert_escaped(&page);
    let page = fixture.browser.post(&endpoint_path(&endpoint, "/test"), &fields).await.good();
    assert!(page.contains("Delivered: 204"), "{page}");
    let attempts = fixture.get("/settings/webhooks/attempts?status=failed").await;
    assert!(attempts.contains("&lt;script&gt;alert(1)") && !attempts.contains(">204<"));
    assert_escaped(&attempts);
}

#[tokio::test]
async fn the_success_rate_and_response_times_are_those_of_the_deliveries() {
    let mut fixture = WebhookPagesFixture::new().await;
    let endpoint = fixture.endpoint(&[]).await;
    let path = endpoint_path(&endpoint, "");
    // A test is no delivery.
    fixture.browser.post(&endpoint_path(&endpoint, "/test"), &[]).await.good();
    let page = fixture.get(&path).await;
    assert!(page.contains("appear after the first delivery"), "{page}");
    for id in ["1", "2", "3"] {
        fixture.import_and_deliver(id).await;
    }
    let page = fixture.get(&path).await;
    assert!(page.contains("100.00%") && page.contains("Typical response time"), "{page}");
    fixture.receiver.respond_with([ScriptedResponse::Text(500, String::new())]);
    fixture.import_and_deliver("4").await;
    let page = fixture.get(&path).await;
    assert!(!page.contains("100.00%") && page.contains(" succeeded, since "), "{page}");
    let list = fixture.get("/settings/webhooks").await;
    assert!(list.contains("Success rate") && list.contains("Response time"), "{list}");
    // Somebody else's endpoint has no figures.
    let kim = fixture.world.person("kim@example.com").await;
    let theirs = webhooks::health(&fixture.world.app, &kim.caller, endpoint.id).await.unwrap();
    assert_eq!(theirs, None);
}

#[tokio::test]
async fn an_endpoint_is_changed_disabled_enabled_rotated_and_deleted() {
    let mut fixture = WebhookPagesFixture::new().await;
    let endpoint = fixture.endpoint(&[]).await;
    let url = fixture.receiver.url.clone();
    let fields = [("url", url.as_str()), ("description", "New"), ("type", "goal.updated")];
    let page = fixture.browser.submit(&endpoint_path(&endpoint, ""), &fields).await.good();
    assert!(page.contains("New") && page.contains("value=\"goal.updated\" checked"), "{page}");
    let page = fixture.browser.submit(&endpoint_path(&endpoint, "/disable"), &[]).await.good();
    assert!(
        page.contains("Disabled manually") && page.contains("Enable endpoint</button>"),
        "{page}"
    );
    // An endpoint that was disabled on purpose has no warning.
    assert!(!fixture.get("/settings/webhooks").await.contains("class=\"warning\""));
    let page = fixture.browser.submit(&endpoint_path(&endpoint, "/enable"), &[]).await.good();
    assert!(page.contains("Disable endpoint</button>"), "{page}");

    assert!(page.contains("<dt>Previous secrets</dt><dd>None</dd>"), "{page}");
    let rotated = fixture.browser.post(&endpoint_path(&endpoint, "/rotate"), &[]).await.good();
    assert!(secret(&rotated).len() == 50);
    let page = fixture.get(&endpoint_path(&endpoint, "")).await;
    assert!(page.contains("Also used until 2026-03-11 12:00:00 UTC"), "{page}");
    assert!(!page.contains("whsec_"), "{page}");
    fixture.world.advance_seconds(86_401);
    let page = fixture.get(&endpoint_path(&endpoint, "")).await;
    assert!(page.contains("<dt>Previous secrets</dt><dd>None</dd>"), "{page}");

    fixture.browser.submit(&endpoint_path(&endpoint, "/delete"), &[]).await.good();
    assert_eq!(
        fixture.browser.get(&endpoint_path(&endpoint, "")).await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn attempts_link_to_the_event_and_its_payload() {
    let mut fixture = WebhookPagesFixture::new().await;
    let endpoint = fixture.endpoint(&["transaction.created"]).await;
    fixture.receiver.respond_with([ScriptedResponse::Status(503)]);
    fixture.import_and_deliver("one").await;
    let page = fixture.get("/settings/webhooks/attempts").await;
    for text in ["transaction.created", "503", "1 of 8", "2026-03-10 12:00:00 UTC"] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    let (_, rest) = page.split_once("/settings/webhooks/events/").unwrap();
    let event = format!("/settings/webhooks/events/{}", rest.split('"').next().unwrap());
    let page = fixture.get(&event).await;
    for text in ["transaction_ids", "api_version", "Retrying", &endpoint.id.to_string()] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    // The list can be narrowed to one endpoint, and nobody else can see any of it.
    let other = fixture.endpoint(&["goal.updated"]).await;
    let narrowed = format!("/settings/webhooks/attempts?endpoint={}", other.id);
    assert!(fixture.get(&narrowed).await.contains("No attempts yet."));
    let kim = fixture.world.person("kim@example.com").await;
    let mut stranger = Browser::of(&fixture.world, &kim).await;
    assert_eq!(stranger.get(&event).await.status, StatusCode::NOT_FOUND);
    assert_eq!(stranger.get(&endpoint_path(&endpoint, "")).await.status, StatusCode::NOT_FOUND);
    assert_eq!(
        stranger.post(&endpoint_path(&endpoint, "/delete"), &[]).await.status,
        StatusCode::NOT_FOUND
    );
    let mut nobody = Browser::new(&fixture.world);
    assert_eq!(nobody.get("/settings/webhooks").await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn attempts_are_paged_newest_first() {
    let mut fixture = WebhookPagesFixture::new().await;
    let endpoint = fixture.endpoint(&[]).await;
    fixture
        .receiver
        .respond_with((0..51).map(|it| ScriptedResponse::Text(200, format!("number {it}."))));
    for _ in 0..51 {
        let sent = webhooks::test(&fixture.world.app, &fixture.key.caller, endpoint.id, None).await;
        assert!(sent.unwrap().delivered);
    }
    let page = fixture.get("/settings/webhooks/attempts").await;
    assert!(page.contains("number 50.") && !page.contains("number 0."), "{page}");
    let (before, _) = page.split_once("\">Older</a>").unwrap();
    let older = before.rsplit_once('"').unwrap().1.to_owned();
    let page = fixture.get(&older.replace("&amp;", "&")).await;
    assert!(page.contains("number 0.") && !page.contains("number 1."), "{page}");
    assert!(!page.contains("Older</a>"), "{page}");
}

#[tokio::test]
async fn an_endpoint_that_responds_410_is_on_the_overview_and_its_delivery_failed() {
    let mut fixture = WebhookPagesFixture::new().await;
    let endpoint = fixture.endpoint(&["transaction.created"]).await;
    assert!(fixture.get("/settings/webhooks/failed").await.contains("No failed deliveries."));
    fixture.receiver.respond_with([ScriptedResponse::Status(410)]);
    fixture.import_and_deliver("one").await;
    for path in ["/", "/settings/webhooks", &endpoint_path(&endpoint, "")] {
        let page = fixture.get(path).await;
        assert!(page.contains("Disabled because it responded with 410 Gone"), "{path}: {page}");
        assert!(page.contains(&endpoint_path(&endpoint, "")), "{path}: {page}");
    }
    let failed = fixture.get("/settings/webhooks/failed").await;
    assert!(failed.contains("transaction.created") && failed.contains("1 attempt,"), "{failed}");
    fixture.browser.submit(&endpoint_path(&endpoint, "/enable"), &[]).await.good();
    assert!(!fixture.get("/").await.contains("responded with 410 Gone"));
}

#[tokio::test]
async fn failed_deliveries_are_resent_one_by_one_or_together() {
    let mut fixture = WebhookPagesFixture::new().await;
    let endpoint = fixture.endpoint(&["transaction.created"]).await;
    fixture.receiver.respond_with([ScriptedResponse::Status(410)]);
    fixture.import_and_deliver("one").await;
    fixture.browser.submit(&endpoint_path(&endpoint, "/enable"), &[]).await.good();
    let page = fixture.get("/settings/webhooks/failed").await;
    let field = |name: &str| {
        let (_, rest) = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let (id, event) = (endpoint.id.to_string(), field("event"));
    let fields = [("endpoint", id.as_str()), ("event", &event)];
    fixture.receiver.respond_with([ScriptedResponse::Text(500, HOSTILE.to_owned())]);
    let page = fixture.browser.submit("/settings/webhooks/failed/send", &fields).await.good();
    assert!(page.contains("Delivery failed: 500.") && page.contains("Manual"), "{page}");
    assert_escaped(&page);

    let since = [("to", id.as_str()), ("since", "2026-03-10")];
    let page = fixture.browser.submit("/settings/webhooks/failed/replay", &since).await.good();
    assert!(page.contains("1 event will be sent again."), "{page}");
    assert!(page.contains("0 of 1 sent, 0 delivered.") && page.contains("In progress"), "{page}");
    let again = fixture.browser.post("/settings/webhooks/failed/replay", &since).await;
    assert_eq!(again.status, StatusCode::BAD_REQUEST);
    assert!(again.text.contains("wait until it is done"), "{}", again.text);
    webhooks::replay_once(&fixture.world.app).await.unwrap();
    webhooks::replay_once(&fixture.world.app).await.unwrap();
    let page = fixture.get("/settings/webhooks/failed").await;
    assert!(
        page.contains("1 of 1 sent, 1 delivered.") && page.contains("No failed deliveries"),
        "{page}"
    );
    for wrong in ["", "2026-13-01", "2020-01-01"] {
        let fields = [("to", id.as_str()), ("since", wrong)];
        let page = fixture.browser.post("/settings/webhooks/failed/replay", &fields).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
}

/// Opens a portal link of the fixture's key in a browser where nobody is signed in.
async fn open_portal_link(fixture: &WebhookPagesFixture) -> (Browser, String) {
    let (app, caller) = (fixture.world.app.clone(), fixture.key.caller.clone());
    let made = fixture.world.app.db.write(move |tx| portal::create_link(&app, tx, &caller)).await;
    let path = portal::link_path(&made.unwrap().0);
    let mut browser = Browser::new(&fixture.world);
    let page = browser.get(&path).await.good();
    let (_, rest) = page.split_once("name=\"form_token\" value=\"").unwrap();
    browser.set_form_token(rest.split('"').next().unwrap());
    (browser, path)
}

/// Enters the portal by the button of its link, and takes over the form token of its pages.
pub(super) async fn enter_portal(fixture: &WebhookPagesFixture) -> Browser {
    let (mut browser, path) = open_portal_link(fixture).await;
    let page = browser.submit(&path, &[]).await.good();
    let (_, rest) = page.split_once("name=\"form_token\" value=\"").unwrap();
    browser.set_form_token(rest.split('"').next().unwrap());
    browser
}

#[tokio::test]
async fn a_portal_link_is_used_up_by_its_button_and_not_by_opening_it() {
    let fixture = WebhookPagesFixture::new().await;
    let (mut browser, path) = open_portal_link(&fixture).await;
    for _ in 0..3 {
        let page = browser.get(&path).await.good();
        assert!(page.contains("Open portal</button>"), "{page}");
    }
    // Another site cannot press the button.
    let mut forger = Browser::new(&fixture.world);
    assert_eq!(forger.post(&path, &[]).await.status, StatusCode::FORBIDDEN);
    let page = browser.submit(&path, &[]).await.good();
    assert!(page.contains("A script"), "{page}");
    assert_eq!(browser.get(&path).await.status, StatusCode::GONE);
    let (mut late, path) = open_portal_link(&fixture).await;
    fixture.world.advance_seconds(600);
    assert_eq!(late.post(&path, &[]).await.status, StatusCode::GONE);
    assert_eq!(late.get("/portal/webhooks").await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn the_portal_manages_the_endpoints_of_its_key_and_opens_no_other_page() {
    let fixture = WebhookPagesFixture::new().await;
    let own = fixture.endpoint(&[]).await;
    let other = fixture.person.key(new_key()).await;
    let hidden = fixture.endpoint_of(&other, &[]).await;
    let mut browser = enter_portal(&fixture).await;
    let page = browser.get("/portal/webhooks").await.good();
    assert!(page.contains(&own.id.to_string()) && !page.contains(&hidden.id.to_string()), "{page}");
    assert!(!page.contains("href=\"/settings") && !page.contains("/sign-out"), "{page}");
    let endpoint_path = |id: base::EndpointId, rest: &str| format!("/portal/webhooks/{id}{rest}");
    assert_eq!(browser.get(&endpoint_path(hidden.id, "")).await.status, StatusCode::NOT_FOUND);
    assert_eq!(
        browser.post(&endpoint_path(hidden.id, "/delete"), &[]).await.status,
        StatusCode::NOT_FOUND
    );
    let page = browser.post(&endpoint_path(own.id, "/test"), &[]).await.good();
    assert!(page.contains("Delivered: 204"), "{page}");
    let page = browser.submit(&endpoint_path(own.id, "/disable"), &[]).await.good();
    assert!(page.contains("Disabled manually"), "{page}");
    for path in ["/portal/webhooks/attempts", "/portal/webhooks/failed"] {
        browser.get(path).await.good();
    }
    let key = hidden.key.to_string();
    let fields = [("key", key.as_str()), ("url", &fixture.receiver.url), ("all", "yes")];
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
    let mut fixture = WebhookPagesFixture::new().await;
    let mut browser = enter_portal(&fixture).await;
    service::access::keys::revoke(&fixture.world.app, &fixture.person.caller, fixture.key.id)
        .await
        .unwrap();
    assert_eq!(browser.get("/portal/webhooks").await.status, StatusCode::FORBIDDEN);
    assert_eq!(fixture.browser.get("/portal/webhooks").await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn an_endpoint_whose_key_was_revoked_says_so_and_cannot_be_enabled() {
    let mut fixture = WebhookPagesFixture::new().await;
    let endpoint = fixture.endpoint(&[]).await;
    service::access::keys::revoke(&fixture.world.app, &fixture.person.caller, fixture.key.id)
        .await
        .unwrap();
    let page = fixture.get(&endpoint_path(&endpoint, "")).await;
    assert!(
        page.contains("its API key was revoked") && !page.contains("Enable endpoint</button>"),
        "{page}"
    );
    let refused = fixture.browser.post(&endpoint_path(&endpoint, "/enable"), &[]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    // The person revoked the key, so there is no warning.
    assert!(!fixture.get("/settings/webhooks").await.contains("class=\"warning\""));
}

#[tokio::test]
async fn test_events_from_a_page_are_rate_limited() {
    let mut fixture = WebhookPagesFixture::new().await;
    let endpoint = fixture.endpoint(&[]).await;
    let mut statuses = Vec::new();
    for _ in 0..101 {
        statuses.push(fixture.browser.post(&endpoint_path(&endpoint, "/test"), &[]).await.status);
    }
    assert_eq!(statuses.pop(), Some(StatusCode::TOO_MANY_REQUESTS));
    assert!(statuses.iter().all(|it| *it == StatusCode::OK), "{statuses:?}");
    assert_eq!(fixture.receiver.requests().len(), 100);
}

/// A failed delivery has a resend button unless its endpoint is disabled.
#[tokio::test]
async fn a_failed_delivery_to_a_disabled_endpoint_says_why_it_cannot_be_resent() {
    let mut fixture = WebhookPagesFixture::new().await;
    let endpoint = fixture.endpoint(&["transaction.created"]).await;
    fixture.receiver.respond_with([ScriptedResponse::Status(503)]);
    fixture.import_and_deliver("one").await;
    fixture.browser.submit(&endpoint_path(&endpoint, "/disable"), &[]).await.good();
    let page = fixture.get("/settings/webhooks/failed").await;
    assert!(page.contains("Endpoint disabled") && !page.contains("Resend<span"), "{page}");
    let (_, rest) = page.split_once("/settings/webhooks/events/").unwrap();
    let event = rest.split('"').next().unwrap().to_owned();
    let id = endpoint.id.to_string();
    let fields = [("endpoint", id.as_str()), ("event", event.as_str())];
    let page = fixture.browser.submit("/settings/webhooks/failed/send", &fields).await.good();
    assert!(page.contains("The endpoint is disabled; enable it first"), "{page}");
    // The oldest day that can be chosen is accepted.
    fixture.browser.submit(&endpoint_path(&endpoint, "/enable"), &[]).await.good();
    let fields = [("to", id.as_str()), ("since", "2026-02-08")];
    let page = fixture.browser.submit("/settings/webhooks/failed/replay", &fields).await.good();
    assert!(page.contains("1 event will be sent again"), "{page}");
}
