//! Totals of the filtered rows: by currency, without own transfers, and only of what the caller may see.

use base::Currency;
use service::access::keys::NewKey;
use service::insights;
use service::ledger::accounts;
use service::ledger::transactions::{self, Filter, Total};
use testkit::draft::{account, checking, statement, txn};
use testkit::{Person, World, new_key};

use super::everything;
use crate::{is_not_found, param};

async fn totals(world: &World, person: &Person, filter: Filter) -> Vec<Total> {
    transactions::totals(&world.app, &person.caller, &filter).await.unwrap()
}

fn total(code: &str, count: i64, in_minor: i64, out_minor: i64) -> Total {
    Total { currency: Currency::parse(code).unwrap(), count, in_minor, out_minor }
}

/// A salary, two purchases, a transfer to savings, and a purchase in euros.
async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    let everyday = checking("Everyday")
        .with(txn("2026-03-01", 250_000, "ACME PAYROLL"))
        .with(txn("2026-03-02", -50_000, "ONLINE TRANSFER TO SAVINGS 0042"))
        .with(txn("2026-03-03", -4_210, "KROGER #339"))
        .with(txn("2026-03-04", -900, "CAFE").pending());
    let savings = account("Rainy day", base::draft::AccountKind::Depository, "savings").with(txn(
        "2026-03-03",
        50_000,
        "TRANSFER FROM CHECKING",
    ));
    let euros = checking("Girokonto").in_currency("EUR").with(txn("2026-03-03", -700, "BÄCKEREI"));
    robin.import(statement([everyday, savings, euros])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    robin
}

#[tokio::test]
async fn own_transfers_are_counted_but_are_neither_inflow_nor_outflow() {
    let world = World::new().await;
    let robin = household(&world).await;
    let all = totals(&world, &robin, everything()).await;
    assert_eq!(all, [total("USD", 5, 250_000, -5_110), total("EUR", 1, 0, -700)]);
    let without = Filter { transfers: Some(false), ..everything() };
    let without = totals(&world, &robin, without).await;
    assert_eq!(without, [total("USD", 3, 250_000, -5_110), total("EUR", 1, 0, -700)]);
    let only = Filter { transfers: Some(true), ..everything() };
    assert_eq!(totals(&world, &robin, only).await, [total("USD", 2, 0, 0)]);
    let none = Filter { q: Some("nowhere".to_owned()), ..everything() };
    assert_eq!(totals(&world, &robin, none).await, []);
}

#[tokio::test]
async fn hidden_accounts_accounts_outside_a_key_and_other_people_do_not_count() {
    let world = World::new().await;
    let robin = household(&world).await;
    household(&world).await;
    let everyday = robin.account("Everyday").await;
    let limited = NewKey { accounts: Some(vec![everyday]), ..new_key() };
    let key = robin.key(limited).await;
    let seen = transactions::totals(&world.app, &key.caller, &everything()).await.unwrap();
    assert_eq!(seen, [total("USD", 4, 250_000, -5_110)]);
    let savings = robin.account("Rainy day").await;
    let beyond = Filter { account_id: Some(savings), ..everything() };
    is_not_found(transactions::totals(&world.app, &key.caller, &beyond).await);
    accounts::set_hidden(&world.app, &robin.caller, everyday, true).await.unwrap();
    let shown = totals(&world, &robin, everything()).await;
    assert_eq!(shown, [total("EUR", 1, 0, -700), total("USD", 1, 0, 0)]);
    let named = Filter { account_id: Some(everyday), ..everything() };
    assert_eq!(totals(&world, &robin, named).await, [total("USD", 4, 250_000, -5_110)]);
}

#[tokio::test]
async fn totals_refuse_an_invalid_range_as_the_list_does() {
    let world = World::new().await;
    let robin = world.someone().await;
    let backwards = Filter {
        start_on: Some(testkit::day("2026-03-02")),
        end_on: Some(testkit::day("2026-03-01")),
        ..everything()
    };
    let refused = transactions::totals(&world.app, &robin.caller, &backwards).await;
    assert_eq!(param(refused), "start_date");
}
