//! A cursor is valid for its own list, its own person and one day.

use service::ledger::transactions::Filter;
use service::platform::cursors::{CursorScope, Page};
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World, day, new_key};

use super::everything;
use crate::listed::{self, descriptions};
use crate::param;

async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    let ten = (0..10).map(|it| txn(&format!("2026-03-0{}", it % 5 + 1), -it, &format!("T{it}")));
    robin.import(statement([checking("A").with_all(ten)])).await;
    robin
}

async fn first_cursor(world: &World, person: &Person, filter: &Filter) -> String {
    let page = Page { cursor: None, limit: 3 };
    let (_, end) = listed::page(&world.app, &person.caller, filter, page).await.unwrap();
    end.next_cursor.unwrap()
}

async fn assert_refused(world: &World, person: &Person, filter: &Filter, cursor: &str) {
    let page = Page { cursor: Some(cursor), limit: 3 };
    let outcome = listed::page(&world.app, &person.caller, filter, page).await;
    assert_eq!(param(outcome), "cursor", "{cursor}");
}

#[tokio::test]
async fn an_invalid_or_modified_cursor_is_refused() {
    let world = World::new().await;
    let robin = household(&world).await;
    let good = first_cursor(&world, &robin, &everything()).await;
    let long = "A".repeat(100_000);
    for bad in ["", "x", "====", "é", " ", &good[1..], &format!("{good}A"), &long, "null"] {
        assert_refused(&world, &robin, &everything(), bad).await;
    }
    for at in 0..good.len() {
        let mut bytes = good.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        assert_refused(&world, &robin, &everything(), &String::from_utf8(bytes).unwrap()).await;
    }
}

#[tokio::test]
async fn a_cursor_expires_after_exactly_a_day() {
    let world = World::new().await;
    let robin = household(&world).await;
    let cursor = first_cursor(&world, &robin, &everything()).await;
    world.advance_seconds(24 * 3600 - 1);
    let page = Page { cursor: Some(&cursor), limit: 3 };
    listed::page(&world.app, &robin.caller, &everything(), page).await.unwrap();
    world.advance_seconds(1);
    assert_refused(&world, &robin, &everything(), &cursor).await;
}

#[tokio::test]
async fn a_cursor_is_refused_for_another_person_and_for_other_filters() {
    let world = World::new().await;
    let (robin, kim) = (household(&world).await, household(&world).await);
    let cursor = first_cursor(&world, &robin, &everything()).await;
    assert_refused(&world, &kim, &everything(), &cursor).await;
    let account_id = Some(robin.account("A").await);
    let others = [
        Filter { account_id, ..everything() },
        Filter { start_on: Some(day("2026-01-01")), ..everything() },
        Filter { end_on: Some(day("2026-12-01")), ..everything() },
        Filter { updated_since: Some(base::Timestamp::UNIX_EPOCH), ..everything() },
        Filter { pending: Some(false), ..everything() },
        Filter { category_tier1: Some("INCOME".to_owned()), ..everything() },
        Filter { q: Some("T".to_owned()), ..everything() },
    ];
    for filter in &others {
        assert_refused(&world, &robin, filter, &cursor).await;
    }
    let filtered = first_cursor(&world, &robin, &others[6]).await;
    assert_refused(&world, &robin, &everything(), &filtered).await;
    let cased = Filter { q: Some("t".to_owned()), ..everything() };
    assert_refused(&world, &robin, &cased, &filtered).await;
}

#[tokio::test]
async fn a_cursor_of_another_list_or_another_installation_is_refused() {
    let world = World::new().await;
    let robin = household(&world).await;
    let filter = format!("{:?}", everything());
    let scope = CursorScope { user: robin.user.id, list: "events", filter: &filter };
    let now = world.clock.now();
    let foreign = world.app.cursors.seal(&scope, now, &world.app.entropy, &[0; 32]).unwrap();
    assert_refused(&world, &robin, &everything(), &foreign).await;
    let key = service::platform::installation::Key::generate(&base::Entropy::seeded(99));
    let scope = CursorScope { list: "transactions", ..scope };
    let other = service::platform::cursors::CursorCipher::new(&key);
    let forged = other.seal(&scope, now, &world.app.entropy, &[0; 32]).unwrap();
    assert_refused(&world, &robin, &everything(), &forged).await;
}

#[tokio::test]
async fn a_cursor_works_with_another_limit_and_another_credential() {
    let world = World::new().await;
    let robin = household(&world).await;
    let all = listed::all(&world.app, &robin.caller, &everything()).await;
    let cursor = first_cursor(&world, &robin, &everything()).await;
    let key = robin.key(new_key()).await;
    for (limit, caller) in [(1, &robin.caller), (5, &key.caller), (100, &robin.caller)] {
        let page = Page { cursor: Some(&cursor), limit };
        let (rows, end) = listed::page(&world.app, caller, &everything(), page).await.unwrap();
        let until = (3 + limit).min(10);
        assert_eq!(descriptions(&rows), descriptions(&all[3..until]));
        assert_eq!(end.next_cursor.is_some(), until < 10);
    }
}

#[tokio::test]
async fn a_cursor_reveals_nothing_to_its_reader() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (one, two) = (
        first_cursor(&world, &robin, &everything()).await,
        first_cursor(&world, &robin, &everything()).await,
    );
    assert_ne!(one, two, "each cursor is sealed separately");
    assert!(one.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-' || it == b'_'));
    // Another process of the same installation opens it.
    let other_process = world.other_process().await;
    let page = Page { cursor: Some(&one), limit: 3 };
    listed::page(&other_process, &robin.caller, &everything(), page).await.unwrap();
}
