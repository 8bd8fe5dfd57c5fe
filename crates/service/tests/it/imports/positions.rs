//! Holdings: an import replaces the list of an account, and holdings that stay keep their id.

use base::Clock;
use calc::investments::{Holding, View};
use service::ledger::investments;
use testkit::draft::{brokerage, position, statement};
use testkit::{Person, World};

async fn holdings(world: &World, person: &Person) -> Vec<Holding> {
    let found = investments::list(&world.app, &person.caller, None, View::default()).await.unwrap();
    let mut all: Vec<Holding> =
        found.portfolio.groups.into_iter().flat_map(|it| it.holdings).collect();
    all.sort_by(|a, b| a.symbol.cmp(&b.symbol));
    all
}

fn symbols(holdings: &[Holding]) -> Vec<&str> {
    holdings.iter().map(|it| it.symbol.as_deref().unwrap_or("?")).collect()
}

#[tokio::test]
async fn a_holding_that_is_no_longer_listed_is_deleted_and_the_rest_keeps_its_id() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let both = [position("VTI", "2").priced("100", "99"), position("BND", "10")];
    robin.import(statement([brokerage("Brokerage").holding(both)])).await;
    let before = holdings(&world, &robin).await;
    assert_eq!(symbols(&before), ["BND", "VTI"]);
    // At the same moment: the order of imports counts, not the clock.
    let changed = [position("VTI", "3.5").priced("101", "100"), position("AAPL", "1")];
    robin.import(statement([brokerage("Brokerage").holding(changed)])).await;
    let after = holdings(&world, &robin).await;
    assert_eq!(symbols(&after), ["AAPL", "VTI"]);
    assert_eq!(after[1].security_id, before[1].security_id);
    assert_eq!(after[1].quantity.to_string(), "3.5");
    assert_eq!(after[1].current_value_minor, Some(35_350));
}

#[tokio::test]
async fn a_statement_without_holdings_deletes_none() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(statement([brokerage("Brokerage").holding([position("VTI", "2")])])).await;
    robin.import(statement([brokerage("Brokerage")])).await;
    assert_eq!(symbols(&holdings(&world, &robin).await), ["VTI"]);
    robin.import(statement([brokerage("Brokerage").holding([])])).await;
    assert_eq!(symbols(&holdings(&world, &robin).await), [""; 0]);
}

#[tokio::test]
async fn a_security_held_in_two_accounts_is_listed_once_and_replaced_for_each_account() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let list = |quantity: &str| [position("VTI", quantity).priced("100", "100").cost(10_000)];
    let accounts = [brokerage("One").holding(list("2")), brokerage("Two").holding(list("3"))];
    robin.import(statement(accounts)).await;
    let found = holdings(&world, &robin).await;
    assert_eq!(symbols(&found), ["VTI"]);
    assert_eq!(found[0].quantity.to_string(), "5");
    assert_eq!(found[0].cost_basis_total_minor, Some(20_000));
    robin.import(statement([brokerage("One").holding([])])).await;
    assert_eq!(holdings(&world, &robin).await[0].quantity.to_string(), "3");
}

#[tokio::test]
async fn holdings_are_replaced_even_if_the_clock_goes_back_between_imports() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    world.advance_seconds(3600);
    robin.import(statement([brokerage("Brokerage").holding([position("VTI", "2")])])).await;
    // Another process, whose clock is an hour behind.
    let behind = Clock::frozen_at("2026-03-10T12:00:00Z");
    let app = world.other_process_at(behind).await;
    let sold = statement([brokerage("Brokerage").holding([position("BND", "1")])]);
    service::ingest::imports::commit(&app, &robin.caller, sold).await.unwrap();
    assert_eq!(symbols(&holdings(&world, &robin).await), ["BND"]);
}

#[tokio::test]
async fn lots_of_one_security_are_added_up_and_one_unknown_cost_makes_the_total_unknown() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let lots = [
        position("VTI", "2").priced("100", "99").cost(15_000),
        position("BND", "1").cost(5_000),
        position("VTI", "1.5").priced("100", "99").cost(9_000),
        position("BND", "4"),
    ];
    robin.import(statement([brokerage("Brokerage").holding(lots)])).await;
    let held = holdings(&world, &robin).await;
    assert_eq!(symbols(&held), ["BND", "VTI"]);
    assert_eq!(
        (held[0].quantity.to_string().as_str(), held[0].cost_basis_total_minor),
        ("5", None)
    );
    assert_eq!(held[1].quantity.to_string(), "3.5");
    assert_eq!(held[1].cost_basis_total_minor, Some(24_000));
}
