//! Lists in every order: whole, without repetitions, page by page.

use base::{Entropy, TransactionId, days_from_date};
use service::classify::bulk_edits::{self, BulkChange};
use service::classify::overrides::Visibility;
use service::ledger::transactions::{Filter, Sort, list_sorted};
use service::ledger::{Direction, accounts};
use service::platform::cursors::Page;
use testkit::draft::{Txn, checking, statement, txn};
use testkit::{Person, World};
use wire::v1::TransactionRow;

use crate::listed::{self, Listed};

/// Sizes on both sides of those that have an index of their own, and several of each.
const SIZES: [i64; 9] = [1, 50, 99_999, 100_000, 100_001, 100_002, 250_000, 9_000_000, 700];

/// The ids of a sorted list, over pages of this length.
async fn walk(
    world: &World,
    robin: &Person,
    by: (&Filter, Sort),
    limit: usize,
) -> Vec<TransactionId> {
    let (mut ids, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let page = Page { cursor: cursor.as_deref(), limit };
        let before = ids.len();
        let end = list_sorted(&world.app, &robin.caller, by, page, |row| ids.push(row.id));
        let end = end.await.unwrap();
        assert_eq!(end.count, ids.len() - before);
        let Some(next) = end.next_cursor else { return ids };
        // Only the last page may have fewer.
        assert_eq!(end.count, limit);
        cursor = Some(next);
    }
}

#[tokio::test]
async fn every_order_has_each_transaction_once_on_pages_of_any_length() {
    let world = World::new().await;
    let robin = world.someone().await;
    let random = Entropy::seeded(11);
    let rows = (0..120_usize).map(|index| {
        let [day, size, sign] = random.bytes::<3>();
        let minor = SIZES[usize::from(size) % SIZES.len()];
        let minor = if sign % 3 == 0 { minor } else { -minor };
        txn(&format!("2026-02-{:02}", 1 + day % 20), minor, &format!("SHOP {index}"))
            .id(&format!("t{index}"))
    });
    robin.import(statement([checking("Everyday").with_all(rows)])).await;
    let outflows = Filter { direction: Some(Direction::Outflow), ..Filter::default() };
    for filter in [Filter::default(), outflows] {
        let mut all = listed::all(&world.app, &robin.caller, &filter).await;
        assert!(all.len() > 60);
        for sort in Sort::ALL.iter().copied() {
            let by_amount = matches!(sort, Sort::Largest | Sort::Smallest);
            let key = |it: &Listed| {
                (if by_amount { it.minor.abs() } else { 0 }, days_from_date(it.posted_on), it.id)
            };
            all.sort_by_key(key);
            if matches!(sort, Sort::Largest | Sort::Newest) {
                all.reverse();
            }
            let expected: Vec<TransactionId> = all.iter().map(|it| it.id).collect();
            for limit in [1, 7, 50, 100] {
                let walked = walk(&world, &robin, (&filter, sort), limit).await;
                assert_eq!(walked, expected, "{sort:?}, pages of {limit}");
            }
        }
    }
}

/// The first page of a search in an order is kept in memory. Every change that it shows makes it outdated.
#[tokio::test]
async fn a_search_in_an_order_shows_each_change_at_once() {
    let world = World::new().await;
    let robin = world.someone().await;
    let shop = |on: &str, minor, id: &str| txn(on, minor, &format!("SHOP {id}")).id(id);
    let everyday = |rows: Vec<Txn>| statement([checking("Everyday").with_all(rows)]);
    robin
        .import(everyday(vec![shop("2026-02-01", -500, "a"), shop("2026-02-02", -900, "b")]))
        .await;
    let (app, caller) = (&world.app, &robin.caller);
    let search = Filter { q: Some("shop".to_owned()), ..Filter::default() };
    let sorted = async |sort, limit| {
        let mut found = Vec::new();
        let page = Page { cursor: None, limit };
        let visit = |row: &TransactionRow<'_>| found.push(row.amount.minor());
        list_sorted(app, caller, (&search, sort), page, visit).await.unwrap();
        found
    };
    let page = async |limit| {
        // Newest first is another list, with its own kept rows. Twice, so that the second is kept.
        let mut newest = sorted(Sort::Newest, limit + 50).await;
        assert_eq!(sorted(Sort::Newest, limit + 50).await, newest);
        newest.sort();
        newest.truncate(limit);
        let largest = sorted(Sort::Largest, limit).await;
        assert_eq!(largest, newest);
        largest
    };
    assert_eq!(page(50).await, [-900, -500]);
    assert_eq!(page(50).await, [-900, -500]);
    assert_eq!(page(1).await, [-900]);
    robin.import(everyday(vec![shop("2026-02-03", -700, "c")])).await;
    assert_eq!(page(50).await, [-900, -700, -500]);
    let rows = listed::all(app, caller, &Filter::default()).await;
    let largest = rows.iter().find(|it| it.minor == -900).unwrap().id;
    let hide = BulkChange { visibility: Some(Visibility::Hidden), ..BulkChange::default() };
    bulk_edits::apply(app, caller, vec![largest], hide).await.unwrap();
    assert_eq!(page(50).await, [-700, -500]);
    let account = robin.account("Everyday").await;
    accounts::set_hidden(app, caller, account, true).await.unwrap();
    assert_eq!(page(50).await, [0; 0]);
}
