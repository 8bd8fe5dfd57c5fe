//! Pages of filters that few transactions match: their positions are kept in memory, and follow every change.

use std::time::Duration;

use base::draft::AccountKind;
use base::{Currency, Fixed9, TransactionId};
use service::App;
use service::classify::bulk_edits::{self, BulkChange};
use service::classify::overrides::Visibility;
use service::ingest::manual::{self, ManualTransaction, NewAccount};
use service::ledger::accounts;
use service::ledger::transactions::{Filter, Sort, list_sorted};
use service::platform::cursors::Page;
use testkit::draft::{Txn, checking, statement, txn};
use testkit::{Person, World, day};
use wire::v1::TransactionRow;

use crate::listed::{self, Listed};

/// All rows of a filter in pages of two, from a process.
async fn walk(app: &App, robin: &Person, filter: &Filter) -> Vec<Listed> {
    let (mut rows, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let page = Page { cursor: cursor.as_deref(), limit: 2 };
        let (more, end) = listed::page(app, &robin.caller, filter, page).await.unwrap();
        rows.extend(more);
        let Some(next) = end.next_cursor else { return rows };
        cursor = Some(next);
    }
}

/// Walks twice, so that the second walk reads what was kept, and compares with a process that has kept nothing.
async fn large_ones(world: &World, robin: &Person) -> Vec<(TransactionId, i64)> {
    let large = Filter { amount_min: Some(Fixed9::parse("50").unwrap()), ..Filter::default() };
    let found = walk(&world.app, robin, &large).await;
    assert_eq!(walk(&world.app, robin, &large).await, found);
    assert_eq!(walk(&world.other_process().await, robin, &large).await, found);
    found.iter().map(|it| (it.id, it.minor)).collect()
}

#[tokio::test]
async fn pages_of_few_transactions_follow_each_change() {
    let world = World::new().await;
    let robin = world.someone().await;
    let small = |index: i64| txn("2026-02-01", -index, "COFFEE").id(&format!("small {index}"));
    let large = |on: &str, minor| txn(on, minor, "RENT").id(on);
    let import = async |rows: Vec<Txn>| {
        robin.import(statement([checking("Everyday").with_all(rows)])).await;
    };
    import((1..400).map(small).collect()).await;
    assert_eq!(large_ones(&world, &robin).await, []);
    import(["2026-01-01", "2026-01-02", "2026-02-03"].map(|on| large(on, -9_000)).into()).await;
    let found = large_ones(&world, &robin).await;
    assert_eq!(found.len(), 3);
    let hide = BulkChange { visibility: Some(Visibility::Hidden), ..BulkChange::default() };
    let (app, caller) = (&world.app, &robin.caller);
    bulk_edits::apply(app, caller, vec![found[1].0], hide).await.unwrap();
    assert_eq!(large_ones(&world, &robin).await, [found[0], found[2]]);
    import(vec![large("2026-02-03", -8_000)]).await;
    assert_eq!(large_ones(&world, &robin).await, [(found[0].0, -8_000), found[2]]);
    let everyday = robin.account("Everyday").await;
    accounts::set_hidden(app, caller, everyday, true).await.unwrap();
    assert_eq!(large_ones(&world, &robin).await, []);
}

/// Another process adds and deletes a transaction all the time. Whatever a page reads of it, the others are listed once.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_while_a_kept_page_is_read_loses_no_row() {
    let world = World::new().await;
    let robin = world.someone().await;
    let rent = |index: i64| txn("2026-02-02", -9_000 - index, "RENT").id(&format!("{index}"));
    robin.import(statement([checking("Everyday").with_all((0..16).map(rent))])).await;
    let (app, caller) = (&world.app, robin.caller.clone());
    let wallet = NewAccount {
        name: "Wallet".to_owned(),
        kind: AccountKind::Depository,
        currency: Currency::USD,
        balance_minor: None,
    };
    let wallet = manual::create_account(app, &caller, wallet).await.unwrap();
    let spent = ManualTransaction {
        on: day("2026-02-03"),
        amount_minor: -9_900,
        description: "TRAIN".to_owned(),
        category: None,
    };
    let writer = world.other_process().await;
    let changes = tokio::spawn(async move {
        for index in 0..100 {
            let id = manual::create_transaction(&writer, &caller, wallet, spent.clone()).await;
            tokio::time::sleep(Duration::from_millis(index % 12)).await;
            manual::delete_transaction(&writer, &caller, id.unwrap()).await.unwrap();
        }
    });
    while !changes.is_finished() {
        let (mut amounts, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let page = Page { cursor: cursor.as_deref(), limit: 10 };
            let visit = |row: &TransactionRow<'_>| amounts.push(row.amount.minor());
            let by = (&Filter::default(), Sort::Largest);
            let end = list_sorted(app, &robin.caller, by, page, visit).await.unwrap();
            cursor = end.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        amounts.retain(|it| *it != -9_900);
        assert!(amounts.iter().copied().eq((0..16).map(|it| -9_015 + it)), "{amounts:?}");
    }
    changes.await.unwrap();
}
