//! Total counts, where they are cheap to compute.

use service::ledger::accounts;
use service::ledger::transactions::Filter;
use service::platform::cursors::Page;
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World, day, new_key};

use super::everything;
use crate::listed;

async fn total(world: &World, person: &Person, filter: &Filter) -> Option<i64> {
    let page = Page { cursor: None, limit: 1 };
    let (_, end) = listed::page(&world.app, &person.caller, filter, page).await.unwrap();
    end.total_count
}

#[tokio::test]
async fn without_filters_the_total_is_the_sum_of_the_account_counters() {
    let world = World::new().await;
    let robin = world.someone().await;
    let some = |count: i64| (0..count).map(|it| txn("2026-03-01", -it, "T").id(&it.to_string()));
    let accounts = [checking("A").with_all(some(7)), checking("B").with_all(some(5))];
    robin.import(statement(accounts)).await;
    assert_eq!(total(&world, &robin, &everything()).await, Some(12));
    let a = Filter { account_id: Some(robin.account("A").await), ..everything() };
    assert_eq!(total(&world, &robin, &a).await, Some(7));
    robin.import(statement([checking("A").without("0").without("1")])).await;
    assert_eq!(total(&world, &robin, &everything()).await, Some(10));
    assert_eq!(total(&world, &robin, &a).await, Some(5));
    accounts::set_hidden(&world.app, &robin.caller, robin.account("A").await, true).await.unwrap();
    assert_eq!(total(&world, &robin, &everything()).await, Some(5));
    assert_eq!(total(&world, &robin, &a).await, Some(5));
}

#[tokio::test]
async fn with_filters_up_to_ten_thousand_rows_are_counted_and_more_are_not() {
    let world = World::new().await;
    let robin = world.someone().await;
    let many = (0..10_001).map(|it| {
        let on = if it == 0 { "2026-03-01" } else { "2026-03-02" };
        txn(on, -1, &format!("T{it}"))
    });
    robin.import(statement([checking("A").with_all(many)])).await;
    assert_eq!(total(&world, &robin, &everything()).await, Some(10_001));
    let most = Filter { start_on: Some(day("2026-03-02")), ..everything() };
    assert_eq!(total(&world, &robin, &most).await, Some(10_000));
    let all = Filter { start_on: Some(day("2026-03-01")), ..everything() };
    assert_eq!(total(&world, &robin, &all).await, None);
    let one = Filter { end_on: Some(day("2026-03-01")), ..everything() };
    assert_eq!(total(&world, &robin, &one).await, Some(1));
    let text = Filter { end_on: Some(day("2026-03-01")), q: Some("T".to_owned()), ..everything() };
    assert_eq!(
        total(&world, &robin, &text).await,
        None,
        "results of a text search are not counted"
    );
}

#[tokio::test]
async fn a_key_counts_only_transactions_of_its_accounts() {
    let world = World::new().await;
    let robin = world.someone().await;
    let both = ["A", "B"].map(|name| {
        checking(name).with(txn("2026-03-01", -1, "X")).with(txn("2026-03-02", -1, "Y"))
    });
    robin.import(statement(both)).await;
    let accounts = Some(vec![robin.account("A").await]);
    let key = robin.key(service::access::keys::NewKey { accounts, ..new_key() }).await;
    for (filter, expected) in
        [(everything(), 2), (Filter { start_on: Some(day("2026-03-02")), ..everything() }, 1)]
    {
        let (rows, end) = listed::first_page(&world.app, &key.caller, &filter).await.unwrap();
        assert_eq!((rows.len(), end.total_count), (expected, Some(expected as i64)));
    }
}

#[tokio::test]
async fn later_pages_repeat_the_total_of_the_first() {
    let world = World::new().await;
    let robin = world.someone().await;
    let five = (0..5).map(|it| txn("2026-03-01", -it, "T"));
    robin.import(statement([checking("A").with_all(five)])).await;
    let page = Page { cursor: None, limit: 2 };
    let (_, first) = listed::page(&world.app, &robin.caller, &everything(), page).await.unwrap();
    let page = Page { cursor: first.next_cursor.as_deref(), limit: 2 };
    let (_, second) = listed::page(&world.app, &robin.caller, &everything(), page).await.unwrap();
    assert_eq!((first.total_count, second.total_count), (Some(5), Some(5)));
}
