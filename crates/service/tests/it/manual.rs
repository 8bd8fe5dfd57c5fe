//! Manual accounts and transactions.

use base::Currency;
use base::draft::{AccountKind, Source, Statement};
use service::ingest::manual::{self, ManualTransaction, NewAccount};
use service::ledger::accounts;
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World, day};

fn wallet(kind: AccountKind) -> NewAccount {
    let balance_minor = Some(10_000);
    NewAccount { name: "Wallet".to_owned(), kind, currency: Currency::USD, balance_minor }
}

fn entry(on: &str, amount_minor: i64, description: &str) -> ManualTransaction {
    ManualTransaction {
        on: day(on),
        amount_minor,
        description: description.to_owned(),
        category: None,
    }
}

async fn balance(world: &World, robin: &Person) -> Option<i64> {
    let id = robin.account("Wallet").await;
    accounts::get(&world.app, &robin.caller, id).await.unwrap().balance_current_minor
}

#[tokio::test]
async fn the_balance_changes_with_transactions_since_it_was_set() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let (app, caller) = (&world.app, &robin.caller);
    let id = manual::create_account(app, caller, wallet(AccountKind::Depository)).await.unwrap();
    let today = app.clock.today_in(base::TimeZone::utc()).to_string();
    let first =
        manual::create_transaction(app, caller, id, entry(&today, -450, "Coffee")).await.unwrap();
    assert_eq!(balance(&world, &robin).await, Some(9_550));
    let second =
        manual::create_transaction(app, caller, id, entry(&today, -450, "Coffee")).await.unwrap();
    assert_ne!(first, second);
    assert_eq!(balance(&world, &robin).await, Some(9_100));
    manual::create_transaction(app, caller, id, entry("2026-01-02", -5_000, "Long ago"))
        .await
        .unwrap();
    assert_eq!(balance(&world, &robin).await, Some(9_100));
    world.advance_seconds(3 * 86_400);
    manual::update_transaction(app, caller, first, entry(&today, -500, "Coffee and a bun"))
        .await
        .unwrap();
    assert_eq!(balance(&world, &robin).await, Some(9_050));
    manual::delete_transaction(app, caller, second).await.unwrap();
    assert_eq!(balance(&world, &robin).await, Some(9_500));
    manual::set_balance(app, caller, id, 8_000).await.unwrap();
    manual::delete_transaction(app, caller, first).await.unwrap();
    assert_eq!(balance(&world, &robin).await, Some(8_000));
    let rows = crate::listed::all(app, caller, &Default::default()).await;
    assert_eq!(rows.len(), 1);
}

#[tokio::test]
async fn a_purchase_by_card_increases_the_debt() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let (app, caller) = (&world.app, &robin.caller);
    let id = manual::create_account(app, caller, wallet(AccountKind::Credit)).await.unwrap();
    let today = app.clock.today_in(base::TimeZone::utc()).to_string();
    manual::create_transaction(app, caller, id, entry(&today, -450, "Coffee")).await.unwrap();
    assert_eq!(balance(&world, &robin).await, Some(10_450));
}

#[tokio::test]
async fn a_synced_account_accepts_no_manual_changes() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let (app, caller) = (&world.app, &robin.caller);
    let synced = Statement {
        source: Source::Simplefin,
        ..statement([checking("Everyday").with(txn("2026-03-01", -450, "A").id("t1"))])
    };
    robin.import(synced).await;
    let id = robin.account("Everyday").await;
    let refused = manual::create_transaction(app, caller, id, entry("2026-03-01", -1, "B"))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("is synced with its bank"), "{refused}");
    let row = crate::listed::all(app, caller, &Default::default()).await.remove(0);
    let refused = manual::update_transaction(app, caller, row.id, entry("2026-03-01", -1, "B"))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("only transactions that you entered"), "{refused}");
    assert!(!manual::is_manual(app, caller, row.id).await.unwrap());
}

#[tokio::test]
async fn invalid_transactions_and_other_callers_are_refused() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let kim = world.person("kim@example.com").await;
    let (app, caller) = (&world.app, &robin.caller);
    let id = manual::create_account(app, caller, wallet(AccountKind::Depository)).await.unwrap();
    for bad in [
        entry("2026-03-01", 0, "Nothing"),
        entry("2026-03-01", -1, "  "),
        entry("2026-03-01", -1, "two\nlines"),
        entry("2026-03-01", i64::MIN, "Much"),
    ] {
        assert!(manual::create_transaction(app, caller, id, bad).await.is_err());
    }
    let key = robin.key(testkit::new_key()).await;
    for stranger in [&kim.caller, &key.caller] {
        assert!(
            manual::create_transaction(app, stranger, id, entry("2026-03-01", -1, "Mine"))
                .await
                .is_err()
        );
        assert!(manual::set_balance(app, stranger, id, 1).await.is_err());
    }
    assert_eq!(balance(&world, &robin).await, Some(10_000));
}
