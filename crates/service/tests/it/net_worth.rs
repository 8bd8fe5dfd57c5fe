//! Net worth over time: on each day the sum of the account balances.

use std::collections::BTreeMap;

use base::draft::AccountKind;
use base::{Date, date_from_days, days_from_date};
use proptest::prelude::*;
use service::access::keys::NewKey;
use service::ingest::imports;
use service::ledger::accounts::{self, Filter, Status};
use service::ledger::balances::{self, Point, Range};
use service::ledger::net_worth::{self, Series};
use service::ledger::spans::{Interval, Span};
use testkit::draft::{Account, account, brokerage, card, checking, rate, statement, txn};
use testkit::{Person, World, day, new_key};

use crate::check_property;

async fn series(world: &World, person: &Person, span: Span) -> Series {
    net_worth::series(&world.app, &person.caller, span).await.unwrap()
}

/// The net worth of each day, added up from the balances of every visible account. A euro is worth two dollars.
async fn summed(world: &World, person: &Person, days: &[Date]) -> BTreeMap<Date, i64> {
    let filter = Filter { status: Status::All, include_hidden: false };
    let accounts = accounts::list(&world.app, &person.caller, filter).await.unwrap();
    let mut sums = BTreeMap::new();
    for account in accounts {
        for on in days {
            let range = Range { start_on: Some(*on), end_on: Some(*on) };
            let found = balances::list(&world.app, &person.caller, account.id, range).await;
            for it in found.unwrap().days {
                let rate = if account.currency.code() == "EUR" { 2 } else { 1 };
                let sign = if account.kind.is_debt() { -1 } else { 1 };
                *sums.entry(it.on).or_insert(0) += it.current_minor * rate * sign;
            }
        }
    }
    sums
}

/// A generated account: its kind, whether it is hidden, reports and transactions by days before today, and when it was
/// closed.
type GeneratedAccount = (usize, bool, Vec<(i64, i64)>, Vec<(i64, i64)>, Option<i64>);

fn generated() -> impl Strategy<Value = Vec<GeneratedAccount>> {
    let by_day = |most| prop::collection::vec((0..900_i64, -50_000..50_000_i64), 0..most);
    let closed = prop::option::weighted(0.2, 0..900_i64);
    let one = (0..5_usize, prop::bool::weighted(0.2), by_day(6), by_day(25), closed);
    prop::collection::vec(one, 1..5)
}

fn draft_account(index: usize, generated: &GeneratedAccount) -> Account {
    let (kind, _, reports, transactions, closed) = generated;
    let name = format!("Account {index}");
    let mut draft = match kind {
        0 => checking(&name),
        1 => card(&name),
        2 => brokerage(&name),
        3 => account(&name, AccountKind::Loan, "mortgage"),
        _ => checking(&name).in_currency("EUR"),
    };
    let on = |ago: i64| date_from_days(days_from_date(day("2026-03-10")) - ago).to_string();
    for (ago, minor) in reports {
        draft = draft.past_balance(&on(*ago), *minor);
    }
    for (index, (ago, minor)) in transactions.iter().enumerate() {
        draft = draft.with(txn(&on(*ago), *minor, "SHOP").id(&index.to_string()));
    }
    match closed {
        Some(ago) => draft.closed_on(&on(*ago)),
        None => draft,
    }
}

#[test]
fn every_point_is_the_sum_of_the_balances_of_that_day() {
    check_property(24, (generated(), 0..Span::ALL.len()), async |world, (generated, span)| {
        let robin = world.someone().await;
        let drafts = generated.iter().enumerate().map(|(index, it)| draft_account(index, it));
        let mut imported = statement(drafts);
        imported.rates.push(rate("EUR", "USD", "2026-03-01", "2"));
        robin.import(imported).await;
        for (index, it) in generated.iter().enumerate().filter(|(_, it)| it.1) {
            let id = robin.account(&format!("Account {index}")).await;
            accounts::set_hidden(&world.app, &robin.caller, id, it.1).await.unwrap();
        }
        let found = series(world, &robin, Span::ALL[span]).await;
        let days: Vec<Date> = found.points.iter().map(|it| it.on).collect();
        let shown: BTreeMap<Date, i64> = found.points.iter().map(|it| (it.on, it.minor)).collect();
        assert_eq!(shown, summed(world, &robin, &days).await);
        let both = net_worth::get_with_series(&world.app, &robin.caller, Span::ALL[span]).await;
        let alone = net_worth::get(&world.app, &robin.caller).await.unwrap();
        assert_eq!(both.unwrap(), (alone, found));
        assert!(days.is_sorted() && days.len() <= 130, "{days:?}");
        assert!(days.last().is_none_or(|it| *it == day("2026-03-10")), "{days:?}");
    });
}

#[tokio::test]
async fn a_series_starts_at_its_span_or_at_the_first_known_balance() {
    let world = World::new().await;
    let robin = world.someone().await;
    assert_eq!(series(&world, &robin, Span::All).await.points, []);
    let old = checking("Old").past_balance("2019-05-20", 100).balance("2026-03-10T08:00:00Z", 300);
    robin.import(statement([old])).await;
    let first = async |span| series(&world, &robin, span).await.points[0].on;
    assert_eq!(first(Span::All).await, day("2019-05-20"));
    assert_eq!(first(Span::Year).await, day("2025-03-10"));
    assert_eq!(first(Span::Month).await, day("2026-02-10"));
    let kim = world.someone().await;
    let new = checking("New").past_balance("2026-03-01", 1).balance("2026-03-10T08:00:00Z", 3);
    kim.import(statement([new])).await;
    let found = series(&world, &kim, Span::Year).await;
    assert_eq!((found.points.len(), found.points[0].on), (10, day("2026-03-01")));
}

#[tokio::test]
async fn inferred_and_reported_points_are_distinguished() {
    let world = World::new().await;
    let robin = world.someone().await;
    let everyday = checking("A")
        .past_balance("2026-03-05", 1_000)
        .with(txn("2026-03-08", -300, "SHOP").id("a"))
        .balance("2026-03-09T08:00:00Z", 700);
    robin.import(statement([everyday])).await;
    let points = series(&world, &robin, Span::Month).await.points;
    let shown: Vec<(i64, bool)> = points.iter().map(|it| (it.minor, it.reported)).collect();
    let expected =
        [(1_000, true), (1_000, false), (1_000, false), (700, false), (700, true), (700, true)];
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn a_limited_key_gets_the_net_worth_of_its_accounts_only() {
    let world = World::new().await;
    let robin = world.someone().await;
    let at = "2026-03-10T08:00:00Z";
    robin.import(statement([checking("A").balance(at, 5), checking("B").balance(at, 70)])).await;
    let accounts = Some(vec![robin.account("A").await]);
    let key = robin.key(NewKey { accounts, ..new_key() }).await;
    let found = net_worth::series(&world.app, &key.caller, Span::All).await.unwrap();
    let expected = Point { on: day("2026-03-10"), minor: 5, reported: true };
    assert_eq!(found.points, [expected]);
    assert_eq!(net_worth::get(&world.app, &key.caller).await.unwrap().minor(), Some(5));
}

#[tokio::test]
async fn the_history_is_by_account_type_and_agrees_with_the_series() {
    let world = World::new().await;
    let robin = world.someone().await;
    let cash =
        checking("A").past_balance("2026-01-20", 1_000).balance("2026-03-10T08:00:00Z", 5_000);
    let visa = card("Visa").past_balance("2026-02-10", 700).balance("2026-03-10T08:00:00Z", 900);
    robin.import(statement([cash, visa])).await;
    let range = net_worth::Range { interval: Interval::Monthly, ..net_worth::Range::default() };
    let found = net_worth::history(&world.app, &robin.caller, range).await.unwrap();
    let shown = serde_json::to_value(&found.points).unwrap();
    let dates: Vec<_> = found.points.iter().map(|it| it.date.0).collect();
    assert_eq!(dates, [day("2026-01-31"), day("2026-02-28"), day("2026-03-10")]);
    assert_eq!(shown[2]["by_type"], serde_json::json!({ "depository": 50.00, "credit": -9.00 }));
    let daily = net_worth::Range { interval: Interval::Daily, ..net_worth::Range::default() };
    let daily = net_worth::history(&world.app, &robin.caller, daily).await.unwrap();
    let sums: BTreeMap<Date, String> =
        daily.points.iter().map(|it| (it.date.0, it.net_worth.as_str().to_owned())).collect();
    for point in series(&world, &robin, Span::Quarter).await.points {
        let expected = base::Money::new(point.minor, base::Currency::USD);
        assert_eq!(sums[&point.on], wire::json::Number::from(expected).as_str());
    }
    let too_long = net_worth::Range {
        start_on: Some(day("2015-01-01")),
        interval: Interval::Daily,
        end_on: None,
    };
    assert!(net_worth::history(&world.app, &robin.caller, too_long).await.is_err());
}

/// Sums of transactions are kept in memory. A new process has none, so it shows what the database holds.
#[tokio::test]
async fn kept_sums_follow_every_change_of_this_and_other_processes() {
    let world = World::new().await;
    let robin = world.someone().await;
    let other_process = world.other_process().await;
    let check = async |minor: i64| {
        for app in [&world.app, &other_process, &world.other_process().await] {
            for span in [Span::Month, Span::All, Span::Year] {
                let points = net_worth::series(app, &robin.caller, span).await.unwrap().points;
                let before = points.iter().rev().find(|it| it.on < day("2026-03-05"));
                assert_eq!(before.map(|it| it.minor), Some(minor), "{span:?}");
            }
        }
    };
    let report = "2026-03-09T08:00:00Z";
    let everyday = checking("A").balance(report, 10_000).with_all([
        txn("2026-03-05", -300, "SHOP").id("a"),
        txn("2026-03-06", -50, "CAFE").id("b"),
        txn("2025-01-06", -50, "CAFE").id("c"),
    ]);
    robin.import(statement([everyday.clone()])).await;
    check(10_350).await;
    let corrected = statement([checking("A").with(txn("2026-03-05", -400, "SHOP").id("a"))]);
    robin.import(corrected).await;
    check(10_450).await;
    let more = statement([checking("A").with(txn("2026-03-07", -1_000, "RENT").id("d"))]);
    imports::commit(&other_process, &robin.caller, more).await.unwrap();
    check(11_450).await;
    robin.import(statement([checking("A").without("b")])).await;
    check(11_400).await;
    let newest = imports::list(&world.app, &robin.caller, None, 1).await.unwrap()[0].id;
    imports::undo(&other_process, &robin.caller, newest).await.unwrap();
    check(11_450).await;
}
