//! The pages of the event log, for the person and in the portal.

use http::StatusCode;
use service::webhooks;
use testkit::new_key;
use testkit::receiver::ScriptedResponse;

use super::webhooks::{WebhookPagesFixture, enter_portal};
use crate::browser::Browser;

/// The path of the first event on a page of the log.
fn first_event(page: &str) -> String {
    let (before, _) = page.split_once("webhooks/events/evt_").unwrap();
    let (_, rest) = page.split_once("webhooks/events/").unwrap();
    let home = before.rsplit_once('"').unwrap().1;
    format!("{home}webhooks/events/{}", rest.split(['"', '/']).next().unwrap())
}

#[tokio::test]
async fn the_log_has_every_event_with_its_payload_and_filters() {
    let mut fixture = WebhookPagesFixture::new().await;
    let page = fixture.get("/settings/webhooks/events").await;
    assert!(page.contains("No events yet. New transactions, updated balances"), "{page}");
    fixture.endpoint(&["transaction.created"]).await;
    fixture.import_and_deliver("one").await;
    let page = fixture.get("/settings/webhooks/events").await;
    for text in [
        "transaction.created",
        "account.connected",
        "Delivered",
        "No endpoint",
        "2026-03-10 12:00:00 UTC, 1 delivery",
        "2026-03-10 12:00:00 UTC",
        "transaction_ids",
    ] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    let rows = |page: &str| page.matches("class=\"what\"").count();
    let all = rows(&page);
    for (query, expected) in [
        ("type=transaction.created", Some(1)),
        ("status=delivered", Some(1)),
        ("status=no_endpoint", Some(all - 1)),
        ("from=2026-03-10&to=2026-03-10", Some(all)),
        ("to=2026-03-09", None),
        ("status=failed", None),
    ] {
        let page = fixture.get(&format!("/settings/webhooks/events?{query}")).await;
        assert_eq!(rows(&page), expected.unwrap_or(0), "{query}: {page}");
        assert_eq!(page.contains("No events match these filters."), expected.is_none(), "{query}");
    }
    for query in ["from=soon", "from=2026-03-10&to=2026-03-09"] {
        let answer = fixture.browser.get(&format!("/settings/webhooks/events?{query}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
    }
}

#[tokio::test]
async fn the_log_is_paged_newest_first() {
    let mut fixture = WebhookPagesFixture::new().await;
    fixture.import_and_deliver("first").await;
    for number in 0..50 {
        fixture.import_and_deliver(&format!("n{number}")).await;
    }
    let path = "/settings/webhooks/events?type=transaction.created";
    let page = fixture.get(path).await;
    assert_eq!(page.matches("class=\"what\"").count(), 50);
    let (before, _) = page.split_once("\">Older</a>").unwrap();
    let older = before.rsplit_once('"').unwrap().1.replace("&amp;", "&");
    assert!(older.contains("type=transaction.created"), "{older}");
    let page = fixture.get(&older).await;
    assert_eq!(page.matches("class=\"what\"").count(), 1);
    assert!(!page.contains("Older</a>"), "{page}");
}

#[tokio::test]
async fn an_event_that_no_endpoint_wanted_is_replayed_by_its_button() {
    let mut fixture = WebhookPagesFixture::new().await;
    fixture.import_and_deliver("one").await;
    let path = "/settings/webhooks/events?type=transaction.created";
    let event = first_event(&fixture.get(path).await);
    let page = fixture.get(&event).await;
    assert!(page.contains("No endpoint subscribed to this event"), "{page}");
    let replay = format!("{event}/replay");
    assert!(page.contains(&replay) && page.contains("Replay event"), "{page}");
    let page = fixture.browser.submit(&replay, &[]).await.good();
    assert!(page.contains("No active endpoint may receive this event"), "{page}");
    let endpoint = fixture.endpoint(&["goal.updated"]).await;
    let page = fixture.browser.submit(&replay, &[]).await.good();
    assert!(page.contains("The event will be sent to 1 endpoint."), "{page}");
    assert!(page.contains(&endpoint.url) && page.contains("Pending"), "{page}");
    assert!(fixture.receiver.requests().is_empty(), "it is queued, not sent");
    fixture.receiver.respond_with([ScriptedResponse::Status(500)]);
    webhooks::deliver_once(&fixture.world.app).await.unwrap();
    let page = fixture.get("/settings/webhooks/events?status=failed").await;
    assert!(page.contains(&replay), "{page}");
    fixture.browser.submit(&replay, &[]).await.good();
    webhooks::deliver_once(&fixture.world.app).await.unwrap();
    let page = fixture.get(&event).await;
    assert!(page.contains("Delivered") && !page.contains(&replay), "{page}");

    let kim = fixture.world.person("kim@example.com").await;
    let mut stranger = Browser::of(&fixture.world, &kim).await;
    assert_eq!(stranger.get(&event).await.status, StatusCode::NOT_FOUND);
    assert_eq!(stranger.post(&replay, &[]).await.status, StatusCode::NOT_FOUND);
    fixture.world.advance_seconds(31 * 86_400);
    webhooks::delete_expired_once(&fixture.world.app).await.unwrap();
    let mut browser = Browser::of(&fixture.world, &fixture.person).await;
    let page = browser.get(&event).await.good();
    assert!(page.contains("The payload was deleted after 30 days."), "{page}");
}

#[tokio::test]
async fn the_portal_shows_and_replays_the_events_of_its_key() {
    let fixture = WebhookPagesFixture::new().await;
    let other = fixture.person.key(new_key()).await;
    let hidden = fixture.endpoint_of(&other, &["transaction.created"]).await;
    fixture.import_and_deliver("one").await;
    let mut browser = enter_portal(&fixture).await;
    let page = browser.get("/portal/webhooks/events?type=transaction.created").await.good();
    assert!(page.contains("No endpoint") && !page.contains("href=\"/settings"), "{page}");
    let event = first_event(&page);
    assert!(event.starts_with("/portal/webhooks/events/"), "{event}");
    let page = browser.get(&event).await.good();
    assert!(page.contains("transaction_ids"), "{page}");
    assert!(!page.contains(&hidden.id.to_string()), "another key's delivery: {page}");
    let own = fixture.endpoint(&["goal.updated"]).await;
    let page = browser.submit(&format!("{event}/replay"), &[]).await.good();
    assert!(page.contains("The event will be sent to 1 endpoint."), "{page}");
    assert!(page.contains(&own.id.to_string()), "{page}");
}
