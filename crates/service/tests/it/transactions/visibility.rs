//! Which transactions a caller sees.

use service::access::keys::NewKey;
use service::ledger::accounts;
use service::ledger::transactions::Filter;
use service::{Error, Scopes};
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World, new_key};
use wire::v1::Scope;

use super::everything;
use crate::listed::{self, descriptions};
use crate::{is_not_found, param};

/// Three accounts with one transaction each, named after them; the last is hidden.
async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    let three = ["A", "B", "C"].map(|name| checking(name).with(txn("2026-03-01", -1, name)));
    robin.import(statement(three)).await;
    let c = robin.account("C").await;
    accounts::set_hidden(&world.app, &robin.caller, c, true).await.unwrap();
    robin
}

#[tokio::test]
async fn a_hidden_account_is_left_out_unless_it_is_requested() {
    let world = World::new().await;
    let robin = household(&world).await;
    let rows = listed::all(&world.app, &robin.caller, &everything()).await;
    assert_eq!(descriptions(&rows), ["B", "A"]);
    let hidden = Filter { account_id: Some(robin.account("C").await), ..everything() };
    let rows = listed::all(&world.app, &robin.caller, &hidden).await;
    assert_eq!(descriptions(&rows), ["C"]);
    let c = robin.account("C").await;
    accounts::set_hidden(&world.app, &robin.caller, c, false).await.unwrap();
    assert_eq!(listed::all(&world.app, &robin.caller, &everything()).await.len(), 3);
}

#[tokio::test]
async fn pages_are_full_and_counts_are_right_with_invisible_rows_in_between() {
    let world = World::new().await;
    let robin = world.someone().await;
    let days = ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"];
    let busy = |name: &str| checking(name).with_all(days.map(|on| txn(on, -1, name)));
    robin.import(statement(["A", "Hidden", "B"].map(busy))).await;
    let hidden = robin.account("Hidden").await;
    accounts::set_hidden(&world.app, &robin.caller, hidden, true).await.unwrap();
    let only_a = NewKey { accounts: Some(vec![robin.account("A").await]), ..new_key() };
    let key = robin.key(only_a).await;
    let filter = Filter { end_on: Some(testkit::day("2026-03-03")), ..everything() };
    for (caller, total) in [(&robin.caller, 6), (&key.caller, 3)] {
        let page = service::platform::cursors::Page { cursor: None, limit: 3 };
        let (rows, end) = listed::page(&world.app, caller, &filter, page).await.unwrap();
        assert_eq!((rows.len(), end.total_count), (3, Some(total)));
        assert_eq!(end.next_cursor.is_some(), total > 3);
        assert_eq!(listed::all(&world.app, caller, &filter).await.len() as i64, total);
    }
}

#[tokio::test]
async fn a_limited_key_sees_its_accounts_and_no_others() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (a, b, c) = (robin.account("A").await, robin.account("B").await, robin.account("C").await);
    let limited = async |accounts: Vec<base::AccountId>| {
        robin.key(NewKey { accounts: Some(accounts), ..new_key() }).await.caller
    };
    let of_a = limited(vec![a, c]).await;
    assert_eq!(descriptions(&listed::all(&world.app, &of_a, &everything()).await), ["A"]);
    let by_id = |id| Filter { account_id: Some(id), ..everything() };
    assert_eq!(descriptions(&listed::all(&world.app, &of_a, &by_id(c)).await), ["C"]);
    is_not_found(listed::first_page(&world.app, &of_a, &by_id(b)).await);
    let of_none = limited(vec![]).await;
    assert_eq!(listed::all(&world.app, &of_none, &everything()).await, []);
    // An account that is added later is not visible to the key.
    robin.import(statement([checking("D").with(txn("2026-03-02", -1, "D"))])).await;
    assert_eq!(descriptions(&listed::all(&world.app, &of_a, &everything()).await), ["A"]);
}

#[tokio::test]
async fn another_persons_account_is_answered_like_an_unknown_one() {
    let world = World::new().await;
    let (robin, kim) = (household(&world).await, world.someone().await);
    let theirs = Filter { account_id: Some(robin.account("A").await), ..everything() };
    let none = Filter { account_id: Some(base::AccountId::from_bytes([9; 16])), ..everything() };
    let message = async |filter: &Filter| {
        let refused = listed::first_page(&world.app, &kim.caller, filter).await;
        refused.unwrap_err().to_string()
    };
    is_not_found(listed::first_page(&world.app, &kim.caller, &theirs).await);
    assert_eq!(message(&theirs).await, message(&none).await);
    assert_eq!(listed::all(&world.app, &kim.caller, &everything()).await, []);
}

#[tokio::test]
async fn a_key_without_the_scope_is_refused() {
    let world = World::new().await;
    let robin = household(&world).await;
    let scopes: Scopes = [Scope::AccountsRead].into_iter().collect();
    let key = robin.key(NewKey { scopes, ..new_key() }).await;
    let refused = listed::first_page(&world.app, &key.caller, &everything()).await;
    assert!(
        matches!(refused, Err(Error::Forbidden(it)) if it.has(Scope::TransactionsRead)),
        "{refused:?}"
    );
    // The scope is checked before everything else, also before a bad cursor.
    let page = service::platform::cursors::Page { cursor: Some("x"), limit: 1 };
    let refused = listed::page(&world.app, &key.caller, &everything(), page).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))));
    let page = service::platform::cursors::Page { cursor: Some("x"), limit: 1 };
    assert_eq!(param(listed::page(&world.app, &robin.caller, &everything(), page).await), "cursor");
}
