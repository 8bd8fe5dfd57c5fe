//! Transfers between own accounts: detected by evidence, and refused for good by the person.

use base::TransactionId;
use base::draft::AccountKind;
use service::classify::corrections;
use service::classify::overrides::Override;
use service::classify::transfers;
use testkit::draft::{Account, account, checking, statement, txn};
use testkit::{Person, World, new_key};

use super::{count_events, recompute_all};
use crate::{is_not_found, listed};

fn savings() -> Account {
    account("Rainy day", AccountKind::Depository, "savings")
}

/// A transfer of $500.00 from checking to savings, and a purchase.
fn with_transfer() -> base::draft::Statement {
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
async fn only_the_two_legs_of_a_transfer_are_flagged() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(with_transfer()).await;
    assert!(flagged(&world, &robin).await.iter().all(|it| !it.1));
    recompute_all(&world).await;
    for (description, is_flagged) in flagged(&world, &robin).await {
        assert_eq!(is_flagged, description.contains("TRANSFER"), "{description}");
    }
    let found = transfers::list(&world.app, &robin.caller).await.unwrap();
    assert_eq!(found.len(), 1);
    assert!(found[0].paired && !found[0].evidence.is_empty(), "{found:?}");
    assert!(count_events(&world, &robin, "transaction.updated").await >= 1);
}

/// The model takes ELECTRONIC DEPOSIT on a card for a purchase.
#[tokio::test]
async fn a_guessed_category_does_not_speak_against_a_transfer() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let out = txn("2026-03-02", -31_417, "ELECTRONIC WITHDRAWAL 2797034563").id("out");
    let paid = txn("2026-03-03", 31_417, "ELECTRONIC DEPOSIT 6481539684").id("paid");
    let card = account("Visa", AccountKind::Credit, "credit card").with(paid);
    robin.import(statement([checking("Everyday").with(out), card])).await;
    recompute_all(&world).await;
    assert!(flagged(&world, &robin).await.iter().all(|it| it.1));
}

#[tokio::test]
async fn a_transfer_is_detected_when_its_second_leg_is_imported_later() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let out = txn("2026-03-02", -50_000, "ONLINE TRANSFER TO SAVINGS 0042").id("out");
    robin.import(statement([checking("Everyday").with(out), savings()])).await;
    recompute_all(&world).await;
    assert!(flagged(&world, &robin).await.iter().all(|it| !it.1));
    robin.import(with_transfer()).await;
    recompute_all(&world).await;
    assert_eq!(flagged(&world, &robin).await.iter().filter(|it| it.1).count(), 2);
}

#[tokio::test]
async fn a_refused_pair_stays_refused_after_later_imports() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(with_transfer()).await;
    recompute_all(&world).await;
    let (outflow, inflow) = legs(&world, &robin).await;
    transfers::refuse(&world.app, &robin.caller, outflow, inflow).await.unwrap();
    recompute_all(&world).await;
    assert!(flagged(&world, &robin).await.iter().all(|it| !it.1));
    robin.import(with_transfer()).await;
    let more = savings().with(txn("2026-03-04", 100, "INTEREST PAID").id("i"));
    robin.import(statement([checking("Everyday"), more])).await;
    recompute_all(&world).await;
    assert!(flagged(&world, &robin).await.iter().all(|it| !it.1));
    transfers::confirm(&world.app, &robin.caller, outflow, inflow).await.unwrap();
    recompute_all(&world).await;
    assert_eq!(flagged(&world, &robin).await.iter().filter(|it| it.1).count(), 2);
}

#[tokio::test]
async fn only_the_owner_decides_about_a_transfer_and_the_outflow_comes_first() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let kim = world.person("kim@example.com").await;
    robin.import(with_transfer()).await;
    recompute_all(&world).await;
    let (outflow, inflow) = legs(&world, &robin).await;
    let key = robin.key(new_key()).await;
    is_not_found(transfers::refuse(&world.app, &key.caller, outflow, inflow).await);
    is_not_found(transfers::refuse(&world.app, &kim.caller, outflow, inflow).await);
    is_not_found(transfers::list(&world.app, &key.caller).await);
    let swapped = transfers::confirm(&world.app, &robin.caller, inflow, outflow).await;
    assert_eq!(crate::param(swapped), "inflow_id");
    let correction = Override { counterparty: Some("Me".to_owned()), category: None };
    is_not_found(corrections::correct(&world.app, &key.caller, vec![outflow], correction).await);
}

#[tokio::test]
async fn a_pair_follows_its_legs_to_other_dates_and_is_removed_with_them() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(with_transfer()).await;
    recompute_all(&world).await;
    // The bank changes the dates of both legs to earlier ones.
    let out = txn("2026-02-20", -50_000, "ONLINE TRANSFER TO SAVINGS 0042").id("out");
    let into = txn("2026-02-21", 50_000, "TRANSFER FROM CHECKING").id("in");
    robin.import(statement([checking("Everyday").with(out), savings().with(into)])).await;
    recompute_all(&world).await;
    service::platform::dirty_queue::request_recompute(&world.app, robin.user.id).await.unwrap();
    recompute_all(&world).await;
    assert_eq!(flagged(&world, &robin).await.iter().filter(|it| it.1).count(), 2);
    let gone = [checking("Everyday").without("out"), savings().without("in")];
    robin.import(statement(gone)).await;
    recompute_all(&world).await;
    assert_eq!(transfers::list(&world.app, &robin.caller).await.unwrap(), []);
}
