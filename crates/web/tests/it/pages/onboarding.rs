//! The checklist of first steps on the overview.

use service::access::passkeys;
use service::classify::corrections;
use service::classify::overrides::Override;
use service::ledger::transactions::{self, Filter};
use service::platform::cursors::Page;
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World, new_key};

use crate::browser::Browser;

/// How many steps the overview shows as done, of four; none without the checklist.
async fn done_count(browser: &mut Browser) -> Option<usize> {
    let page = browser.get("/").await.good();
    (0..=4).find(|it| page.contains(&format!("{it} of 4 done")))
}

async fn correct_one(world: &World, robin: &Person) {
    let mut id = None;
    let (page, filter) = (Page { cursor: None, limit: 1 }, Filter::default());
    let list = transactions::list(&world.app, &robin.caller, &filter, page, |row| {
        id = Some(row.id);
    });
    list.await.unwrap();
    let sets = Override { counterparty: Some("Corner Cafe".to_owned()), category: None };
    corrections::correct(&world.app, &robin.caller, vec![id.unwrap()], sets).await.unwrap();
}

#[tokio::test]
async fn the_checklist_follows_what_a_new_person_has_done() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let mut browser = Browser::of(&world, &robin).await;
    assert_eq!(done_count(&mut browser).await, Some(0));
    let empty = browser.get("/").await.good();
    for link in ["/connections", "/import", "/accounts/new", "/settings/assistants"] {
        assert!(empty.contains(&format!("href=\"{link}\"")), "{link}");
    }
    robin.import(statement([checking("Everyday").with(txn("2026-03-01", -720, "CAFE 12"))])).await;
    assert_eq!(done_count(&mut browser).await, Some(1));
    correct_one(&world, &robin).await;
    assert_eq!(done_count(&mut browser).await, Some(2));
    let key = robin.key(new_key()).await;
    assert_eq!(done_count(&mut browser).await, Some(3));
    service::access::keys::revoke(&world.app, &robin.caller, key.id).await.unwrap();
    assert_eq!(done_count(&mut browser).await, Some(2), "a revoked key connects nothing");
    assert!(passkeys::list(&world.app, &robin.caller).await.unwrap().is_empty());
    // Old data is nothing to begin with.
    world.advance_seconds(61 * 86_400);
    let mut later = Browser::of(&world, &robin).await;
    assert_eq!(done_count(&mut later).await, None);
}

#[tokio::test]
async fn a_hidden_checklist_stays_hidden_in_this_browser() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(statement([checking("Everyday").with(txn("2026-03-01", -720, "CAFE 12"))])).await;
    let mut browser = Browser::of(&world, &robin).await;
    assert_eq!(done_count(&mut browser).await, Some(1));
    browser.post("/view", &[("checklist", "hide"), ("next", "/")]).await;
    assert_eq!(done_count(&mut browser).await, None);
    let mut other = Browser::of(&world, &robin).await;
    assert_eq!(done_count(&mut other).await, Some(1));
}
