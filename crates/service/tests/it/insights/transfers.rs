//! Moves between own accounts: found by evidence, and undone for good by the person.

use base::TransactionId;
use base::draft::AccountKind;
use service::classify::corrections;
use service::classify::overrides::Override;
use service::classify::transfers;
use testkit::draft::{Account, account, checking, statement, txn};
use testkit::{Person, World, new_key};

use super::{settle, told};
use crate::{is_not_found, listed};

fn savings() -> Account {
    account("Rainy day", AccountKind::Depository, "savings")
}

/// Five hundred from checking to savings, and a purchase.
fn moved() -> base::draft::Statement {
    let out = txn("2026-03-02", -50_000, "ONLINE TRANSFER TO SAVINGS 0042").id("out");
    let into = txn("2026-03-03", 50_000, "TRANSFER FROM CHECKING").id("in");
    let bought = txn("2026-03-03", -4_210, "KROGER #339 INDIANAPOLIS IN").id("buy");
    statement([checking("Everyday").with(out).with(bought), savings().with(into)])
}

async fn flagged(world: &World, person: &Person) -> Vec<(String, bool)> {
    let rows = listed::all(&world.app, &person.caller, &Default::default()).await;
    rows.iter()
        .map(|it| (it.description.clone(), it.json.contains(r#""is_internal_transfer":true"#)))
        .collect()
}

async fn legs(world: &World, person: &Person) -> (TransactionId, TransactionId) {
    let rows = listed::all(&world.app, &person.caller, &Default::default()).await;
    let of = |minor| rows.iter().find(|it| it.minor == minor).unwrap().id;
    (of(-50_000), of(50_000))
}

#[tokio::test]
async fn both_legs_are_flagged_and_nothing_else_is() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(moved()).await;
    assert!(flagged(&world, &robin).await.iter().all(|it| !it.1));
    settle(&world).await;
    for (description, is_flagged) in flagged(&world, &robin).await {
        assert_eq!(is_flagged, description.contains("TRANSFER"), "{description}");
    }
    let found = transfers::list(&world.app, &robin.caller).await.unwrap();
    assert_eq!(found.len(), 1);
    assert!(found[0].paired && !found[0].evidence.is_empty(), "{found:?}");
    assert!(told(&world, &robin, "transaction.updated").await >= 1);
}

#[tokio::test]
async fn a_second_leg_that_comes_days_later_is_found_then() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let out = txn("2026-03-02", -50_000, "ONLINE TRANSFER TO SAVINGS 0042").id("out");
    robin.import(statement([checking("Everyday").with(out), savings()])).await;
    settle(&world).await;
    assert!(flagged(&world, &robin).await.iter().all(|it| !it.1));
    robin.import(moved()).await;
    settle(&world).await;
    assert_eq!(flagged(&world, &robin).await.iter().filter(|it| it.1).count(), 2);
}

#[tokio::test]
async fn an_undone_pair_stays_undone_whatever_comes_in_later() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(moved()).await;
    settle(&world).await;
    let (outflow, inflow) = legs(&world, &robin).await;
    transfers::refuse(&world.app, &robin.caller, outflow, inflow).await.unwrap();
    settle(&world).await;
    assert!(flagged(&world, &robin).await.iter().all(|it| !it.1));
    robin.import(moved()).await;
    let more = savings().with(txn("2026-03-04", 100, "INTEREST PAID").id("i"));
    robin.import(statement([checking("Everyday"), more])).await;
    settle(&world).await;
    assert!(flagged(&world, &robin).await.iter().all(|it| !it.1));
    transfers::confirm(&world.app, &robin.caller, outflow, inflow).await.unwrap();
    settle(&world).await;
    assert_eq!(flagged(&world, &robin).await.iter().filter(|it| it.1).count(), 2);
}

#[tokio::test]
async fn only_the_person_decides_and_only_of_a_move() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let kim = world.person("kim@example.com").await;
    robin.import(moved()).await;
    settle(&world).await;
    let (outflow, inflow) = legs(&world, &robin).await;
    let key = robin.key(new_key()).await;
    is_not_found(transfers::refuse(&world.app, &key.caller, outflow, inflow).await);
    is_not_found(transfers::refuse(&world.app, &kim.caller, outflow, inflow).await);
    is_not_found(transfers::list(&world.app, &key.caller).await);
    let turned = transfers::confirm(&world.app, &robin.caller, inflow, outflow).await;
    assert_eq!(crate::param(turned), "inflow_id");
    let word = Override { counterparty: Some("Me".to_owned()), category: None };
    is_not_found(corrections::correct(&world.app, &key.caller, vec![outflow], word).await);
}

#[tokio::test]
async fn a_pair_moves_with_its_legs_and_goes_with_them() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(moved()).await;
    settle(&world).await;
    // The bank dates both legs anew, and nothing newer is there.
    let out = txn("2026-02-20", -50_000, "ONLINE TRANSFER TO SAVINGS 0042").id("out");
    let into = txn("2026-02-21", 50_000, "TRANSFER FROM CHECKING").id("in");
    robin.import(statement([checking("Everyday").with(out), savings().with(into)])).await;
    settle(&world).await;
    service::platform::dirty_queue::request_recompute(&world.app, robin.user.id).await.unwrap();
    settle(&world).await;
    assert_eq!(flagged(&world, &robin).await.iter().filter(|it| it.1).count(), 2);
    let gone = [checking("Everyday").without("out"), savings().without("in")];
    robin.import(statement(gone)).await;
    settle(&world).await;
    assert_eq!(transfers::list(&world.app, &robin.caller).await.unwrap(), []);
}
