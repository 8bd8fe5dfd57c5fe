//! Accounts and their balances: the newest report is current, and each day keeps its own.

use base::draft::AccountKind;
use base::{Date, Fixed9};
use service::ledger::accounts::{self, Account, Filter, Status};
use service::ledger::balances::{self, Range};
use testkit::draft::{account, card, checking, statement};
use testkit::{Person, World, at, day};

async fn only_account(world: &World, person: &Person) -> Account {
    let filter = Filter { status: Status::All, include_hidden: true };
    let mut found = accounts::list(&world.app, &person.caller, filter).await.unwrap();
    assert_eq!(found.len(), 1);
    found.remove(0)
}

/// The days with a reported balance, and the balance.
async fn reported(world: &World, person: &Person, name: &str) -> Vec<(Date, i64)> {
    let id = person.account(name).await;
    let range = Range { start_on: Some(day("2025-12-01")), end_on: None };
    let series = balances::list(&world.app, &person.caller, id, range).await.unwrap();
    let days = series.days.iter();
    days.filter(|it| it.source == calc::balances::Source::Reported)
        .map(|it| (it.on, it.current_minor))
        .collect()
}

#[tokio::test]
async fn an_account_has_the_details_that_the_source_reported() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let mut visa = card("Visa").balance("2026-03-09T08:00:00Z", 81_250);
    visa.mask = Some("0042".to_owned());
    visa.institution_name = Some("Harbor Federal".to_owned());
    visa.interest_rate = Some(Fixed9::parse("21.49").unwrap());
    visa.next_payment_due_on = Some(day("2026-03-25"));
    visa.balance.as_mut().unwrap().limit_minor = Some(1_000_000);
    robin.import(statement([visa])).await;
    let visa = only_account(&world, &robin).await;
    assert_eq!((visa.kind, visa.subtype.as_deref()), (AccountKind::Credit, Some("credit card")));
    assert_eq!(visa.balance_current_minor, Some(81_250));
    assert_eq!((visa.balance_available_minor, visa.balance_limit_minor), (None, Some(1_000_000)));
    assert_eq!(visa.balance_as_of, Some(at("2026-03-09T08:00:00Z")));
    assert_eq!(visa.interest_rate.map(|it| it.to_string()).as_deref(), Some("21.49"));
    assert_eq!(visa.next_payment_due_on, Some(day("2026-03-25")));
    assert_eq!((visa.source.as_str(), visa.connection_status.as_str()), ("file", "connected"));
    // Values that are missing from a later statement are kept; a closing date and a new name are updated.
    let mut later = card("Visa").closed_on("2026-03-10");
    later.name = "Visa Gold".to_owned();
    later.external_id = "Visa".to_owned();
    robin.import(statement([later])).await;
    let gold = only_account(&world, &robin).await;
    assert_eq!((gold.id, gold.name.as_str()), (visa.id, "Visa Gold"));
    assert_eq!((gold.mask, gold.interest_rate), (visa.mask, visa.interest_rate));
    assert_eq!(gold.balance_current_minor, visa.balance_current_minor);
    assert_eq!(gold.closed_on, Some(day("2026-03-10")));
}

#[tokio::test]
async fn an_account_is_updated_when_something_about_it_changed_and_only_then() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let first = checking("Everyday").balance("2026-03-09T08:00:00Z", 100);
    robin.import(statement([first.clone()])).await;
    let made_at = world.clock.now();
    world.advance_seconds(60);
    robin.import(statement([first])).await;
    assert_eq!(only_account(&world, &robin).await.updated_at, made_at);
    robin.import(statement([checking("Everyday").balance("2026-03-10T08:00:00Z", 150)])).await;
    assert_eq!(only_account(&world, &robin).await.updated_at, world.clock.now());
    world.advance_seconds(60);
    let mut named = checking("Everyday");
    named.mask = Some("1234".to_owned());
    robin.import(statement([named])).await;
    assert_eq!(only_account(&world, &robin).await.updated_at, world.clock.now());
}

#[tokio::test]
async fn each_day_keeps_its_last_reported_balance() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    for (moment, minor) in [
        ("2026-03-07T08:00:00Z", 100),
        ("2026-03-08T08:00:00Z", 200),
        ("2026-03-08T20:00:00Z", 250),
        ("2026-03-09T08:00:00Z", 300),
    ] {
        robin.import(statement([checking("Everyday").balance(moment, minor)])).await;
    }
    let expected = [(day("2026-03-07"), 100), (day("2026-03-08"), 250), (day("2026-03-09"), 300)];
    assert_eq!(reported(&world, &robin, "Everyday").await, expected);
}

#[tokio::test]
async fn an_older_statement_imported_late_adds_its_day_and_does_not_replace_the_newer_balance() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(statement([checking("Everyday").balance("2026-03-09T20:00:00Z", 300)])).await;
    let newest = only_account(&world, &robin).await;
    // From another day, and from earlier on the same day.
    robin.import(statement([checking("Everyday").balance("2026-01-31T20:00:00Z", 77)])).await;
    robin.import(statement([checking("Everyday").balance("2026-03-09T08:00:00Z", 280)])).await;
    let account = only_account(&world, &robin).await;
    assert_eq!(account.balance_current_minor, Some(300));
    assert_eq!(account.balance_as_of, newest.balance_as_of);
    let expected = [(day("2026-01-31"), 77), (day("2026-03-09"), 300)];
    assert_eq!(reported(&world, &robin, "Everyday").await, expected);
}

#[tokio::test]
async fn past_balances_fill_gaps_and_replace_nothing_that_was_reported() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(statement([checking("Everyday").balance("2026-03-07T08:00:00Z", 100)])).await;
    let later = checking("Everyday")
        .balance("2026-03-09T08:00:00Z", 300)
        .past_balance("2026-03-09", 299)
        .past_balance("2026-03-07", 99)
        .past_balance("2026-03-06", 50);
    robin.import(statement([later])).await;
    let expected = [(day("2026-03-06"), 50), (day("2026-03-07"), 100), (day("2026-03-09"), 300)];
    assert_eq!(reported(&world, &robin, "Everyday").await, expected);
}

#[tokio::test]
async fn an_account_cannot_change_or_mix_currencies() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let euros = || checking("Girokonto").in_currency("EUR");
    let rent = testkit::draft::txn("2026-03-01", -90_000, "MIETE");
    robin.import(statement([euros().with(rent.clone())])).await;
    let before = world.stored().await;
    let dollars = robin.try_import(statement([checking("Girokonto")])).await;
    assert_eq!(crate::param(dollars), "currency");
    let mut mixed = euros().with(rent);
    mixed.transactions[0].amount = base::Money::new(-1, base::Currency::USD);
    assert_eq!(crate::param(robin.try_import(statement([mixed])).await), "currency");
    assert_eq!(world.stored().await, before, "a refused import stores nothing");
}

#[tokio::test]
async fn every_kind_of_account_is_stored_and_read_unchanged() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let all = AccountKind::ALL.iter().map(|kind| account(kind.as_str(), *kind, "any"));
    robin.import(statement(all)).await;
    let filter = Filter { status: Status::Open, include_hidden: false };
    let found = accounts::list(&world.app, &robin.caller, filter).await.unwrap();
    assert!(found.iter().map(|it| it.kind).eq(AccountKind::ALL.iter().copied()));
}
