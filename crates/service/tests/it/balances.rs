//! The daily balances of one account.

use base::Date;
use calc::balances::Source;
use service::access::keys::NewKey;
use service::ledger::accounts;
use service::ledger::balances::{self, Range, Series};
use service::{Error, Result, Scopes};
use testkit::draft::{brokerage, card, checking, statement, txn};
use testkit::{Person, World, day, new_key};
use wire::v1::{self, Scope};

use crate::{is_not_found, param};

async fn list(world: &World, person: &Person, name: &str, range: Range) -> Result<Series> {
    let id = person.account(name).await;
    balances::list(&world.app, &person.caller, id, range).await
}

fn range(start: &str, end: &str) -> Range {
    Range { start_on: Some(day(start)), end_on: Some(day(end)) }
}

fn shown(series: &Series) -> Vec<(Date, i64, Source)> {
    series.days.iter().map(|it| (it.on, it.current_minor, it.source)).collect()
}

#[tokio::test]
async fn the_default_range_is_the_last_thirty_days() {
    let world = World::new().await;
    let robin = world.someone().await;
    let account =
        checking("A").past_balance("2025-01-01", 100).balance("2026-03-09T08:00:00Z", 100);
    robin.import(statement([account])).await;
    let series = list(&world, &robin, "A", Range::default()).await.unwrap();
    assert_eq!((series.start_on, series.end_on), (day("2026-02-09"), day("2026-03-10")));
    assert_eq!(series.days.len(), 30);
    assert!(series.days.is_sorted_by_key(|it| it.on));
    let only_end = Range { start_on: None, end_on: Some(day("2026-01-31")) };
    let series = list(&world, &robin, "A", only_end).await.unwrap();
    assert_eq!((series.start_on, series.end_on), (day("2026-01-02"), day("2026-01-31")));
    let one = list(&world, &robin, "A", range("2026-03-10", "2026-03-10")).await.unwrap();
    assert_eq!(one.days.len(), 1);
}

#[tokio::test]
async fn an_invalid_or_too_long_range_is_refused() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([checking("A").balance("2026-03-09T08:00:00Z", 100)])).await;
    let backwards = list(&world, &robin, "A", range("2026-03-02", "2026-03-01")).await;
    assert_eq!(param(backwards), "start_date");
    // With only a start, the range ends today.
    let future = Range { start_on: Some(day("2026-03-11")), end_on: None };
    assert_eq!(param(list(&world, &robin, "A", future).await), "start_date");
    let longest = range("2021-03-07", "2026-03-10");
    assert!(list(&world, &robin, "A", longest).await.is_ok());
    let longer = range("2021-03-06", "2026-03-10");
    assert_eq!(param(list(&world, &robin, "A", longer).await), "start_date");
}

#[tokio::test]
async fn the_series_starts_at_the_first_known_day_and_ends_today() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([checking("A").balance("2026-03-09T08:00:00Z", 100)])).await;
    let series = list(&world, &robin, "A", range("2026-03-01", "2026-03-20")).await.unwrap();
    let expected =
        [(day("2026-03-09"), 100, Source::Reported), (day("2026-03-10"), 100, Source::Carried)];
    assert_eq!(shown(&series), expected);
    assert_eq!(series.end_on, day("2026-03-20"), "the requested range is returned");
    robin.import(statement([checking("Silent")])).await;
    assert_eq!(list(&world, &robin, "Silent", Range::default()).await.unwrap().days, []);
}

#[tokio::test]
async fn balances_between_reports_are_inferred_from_posted_transactions() {
    let world = World::new().await;
    let robin = world.someone().await;
    let account = checking("A")
        .past_balance("2026-03-05", 1_000)
        .balance("2026-03-09T08:00:00Z", 700)
        .with(txn("2026-03-07", -300, "SHOP").id("a"))
        .with(txn("2026-03-08", -50, "HOLD").id("p").pending())
        .with(txn("2026-03-06", -10, "MISTAKE").id("gone"))
        .with(txn("2026-03-10", 25, "REFUND").id("b"));
    robin.import(statement([account])).await;
    robin.import(statement([checking("A").without("gone")])).await;
    let series = list(&world, &robin, "A", range("2026-03-05", "2026-03-10")).await.unwrap();
    let expected = [
        (day("2026-03-05"), 1_000, Source::Reported),
        (day("2026-03-06"), 1_000, Source::Inferred),
        (day("2026-03-07"), 700, Source::Inferred),
        (day("2026-03-08"), 700, Source::Inferred),
        (day("2026-03-09"), 700, Source::Reported),
        (day("2026-03-10"), 725, Source::Inferred),
    ];
    assert_eq!(shown(&series), expected);
}

#[tokio::test]
async fn spending_increases_a_debt_and_investment_balances_are_carried_forward() {
    let world = World::new().await;
    let robin = world.someone().await;
    let visa =
        card("Visa").balance("2026-03-09T08:00:00Z", 5_000).with(txn("2026-03-09", -2_000, "SHOP"));
    let broker = brokerage("Broker")
        .past_balance("2026-03-07", 90_000)
        .balance("2026-03-09T08:00:00Z", 95_000)
        .with(txn("2026-03-08", -1_000, "BUY"));
    robin.import(statement([visa, broker])).await;
    let days = range("2026-03-07", "2026-03-09");
    let owed = list(&world, &robin, "Visa", days).await.unwrap();
    let expected = [
        (day("2026-03-08"), 3_000, Source::Inferred),
        (day("2026-03-09"), 5_000, Source::Reported),
    ];
    assert_eq!(shown(&owed), expected);
    let worth = list(&world, &robin, "Broker", days).await.unwrap();
    let expected = [
        (day("2026-03-07"), 90_000, Source::Reported),
        (day("2026-03-08"), 90_000, Source::Carried),
        (day("2026-03-09"), 95_000, Source::Reported),
    ];
    assert_eq!(shown(&worth), expected);
}

#[tokio::test]
async fn a_closed_account_has_a_zero_balance_from_its_closing_date() {
    let world = World::new().await;
    let robin = world.someone().await;
    let old = checking("Old").past_balance("2026-03-05", 800).closed_on("2026-03-07");
    robin.import(statement([old])).await;
    let series = list(&world, &robin, "Old", range("2026-03-05", "2026-03-08")).await.unwrap();
    let minors: Vec<i64> = series.days.iter().map(|it| it.current_minor).collect();
    assert_eq!(minors, [800, 800, 0, 0]);
}

#[tokio::test]
async fn unexplained_changes_are_shown_and_missing_values_are_null() {
    let world = World::new().await;
    let robin = world.someone().await;
    let mut account = checking("A").past_balance("2026-03-08", 100_000);
    account = account.balance("2026-03-09T08:00:00Z", 50_000);
    account.balance.as_mut().unwrap().available_minor = Some(49_000);
    robin.import(statement([account])).await;
    let series = list(&world, &robin, "A", range("2026-03-08", "2026-03-10")).await.unwrap();
    let shown = v1::Balances::from(&series);
    let second = &shown.balances[1];
    assert_eq!(second.unexplained_change.as_ref().unwrap().as_str(), "-500.00");
    assert_eq!(second.balance_available.as_ref().unwrap().as_str(), "490.00");
    assert!(second.balance_limit.is_none() && shown.balances[0].balance_available.is_none());
    assert!(shown.balances[2].balance_available.is_none());
    let sources: Vec<&str> = shown.balances.iter().map(|it| it.source).collect();
    assert_eq!(sources, ["reported", "reported", "carried"]);
}

#[tokio::test]
async fn accounts_of_others_and_outside_the_limits_of_a_key_are_not_found() {
    let world = World::new().await;
    let (robin, kim) = (world.someone().await, world.someone().await);
    for person in [&robin, &kim] {
        let accounts = ["A", "B"].map(|it| checking(it).balance("2026-03-09T08:00:00Z", 1));
        person.import(statement(accounts)).await;
    }
    let (a, b, theirs) =
        (robin.account("A").await, robin.account("B").await, kim.account("A").await);
    let read = |caller, id| balances::list(&world.app, caller, id, Range::default());
    is_not_found(read(&robin.caller, theirs).await);
    is_not_found(read(&robin.caller, base::AccountId::from_bytes([5; 16])).await);
    let key = robin.key(NewKey { accounts: Some(vec![a]), ..new_key() }).await;
    assert!(read(&key.caller, a).await.is_ok());
    is_not_found(read(&key.caller, b).await);
    // A hidden account is left out of lists, but can still be read.
    accounts::set_hidden(&world.app, &robin.caller, b, true).await.unwrap();
    assert!(read(&robin.caller, b).await.is_ok());
    let scopes: Scopes = [Scope::TransactionsRead].into_iter().collect();
    let blind = robin.key(NewKey { scopes, ..new_key() }).await;
    assert!(
        matches!(read(&blind.caller, a).await, Err(Error::Forbidden(it)) if it.has(Scope::AccountsRead))
    );
}

/// Other parts of the product compute single days by a shortcut, which must agree with the whole series.
#[tokio::test]
async fn the_net_worth_change_over_thirty_days_matches_the_series() {
    let world = World::new().await;
    for past in [None, Some("2026-02-01"), Some("2026-02-08"), Some("2026-03-01")] {
        let person = world.someone().await;
        let mut account = checking("A")
            .with(txn("2026-01-05", 10_000, "OPENING DEPOSIT"))
            .with(txn("2026-03-05", -4_000, "SPENT"))
            .balance("2026-03-10T08:00:00Z", 6_000);
        if let Some(on) = past {
            account = account.past_balance(on, 10_000);
        }
        person.import(statement([account])).await;
        let found = service::summary::get(&world.app, &person.caller).await.unwrap();
        let change = found.net_worth_change.unwrap();
        assert_eq!(
            (change.since.0, change.amount.as_str()),
            (day("2026-02-08"), "-40.00"),
            "{past:?}"
        );
    }
}
