//! Recurring streams: found, continued, changed, overdue and ended.

use calc::recurring::Confidence;
use service::access::keys::NewKey;
use service::insights::recurring::{self, Filter, State, Status, Stream};
use service::ledger::Direction;
use service::ledger::accounts;
use service::{App, Caller};
use testkit::draft::{checking, statement, txn};
use testkit::{World, new_key};

use super::{count_events, day, every, monthly, recompute_all};
use crate::is_not_found;

const ALL: Filter = Filter { status: None, account_id: None, direction: None };

async fn streams(app: &App, caller: &Caller, filter: Filter) -> Vec<Stream> {
    let listed = recurring::list(app, caller, filter).await.unwrap();
    listed.streams.into_iter().map(|it| it.0).collect()
}

#[tokio::test]
async fn a_subscription_keeps_its_id_through_new_payments_and_a_price_increase() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let before = monthly("2026-01-05", 6, -1_549, "NETFLIX.COM");
    robin.import(statement([checking("Everyday").with_all(before)])).await;
    recompute_all(&world).await;
    let first = streams(&world.app, &robin.caller, ALL).await.remove(0);
    assert_eq!((first.average_minor, first.transactions.len()), (1_549, 6));
    let after = monthly("2026-03-05", 2, -1_799, "NETFLIX.COM");
    robin.import(statement([checking("Everyday").with_all(after)])).await;
    recompute_all(&world).await;
    let found = streams(&world.app, &robin.caller, ALL).await;
    assert_eq!(found.len(), 1);
    let second = &found[0];
    assert_eq!(second.id, first.id);
    assert_eq!((second.status, second.confidence), (Status::Active, Confidence::Mature));
    assert_eq!(second.next_expected_on, Some(day("2026-04-05")));
    let change = second.price_changes[0];
    assert_eq!((change.on, change.from_minor, change.to_minor), (day("2026-02-05"), 1_549, 1_799));
    assert_eq!(second.transactions.len(), 8);
    assert_eq!(count_events(&world, &robin, "recurring.updated").await, 2);
}

#[tokio::test]
async fn a_stream_that_stops_becomes_overdue_and_then_ends_without_an_import() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let gym = monthly("2026-03-01", 8, -3_900, "PLANET FITNESS CLUB FEES");
    robin.import(statement([checking("Everyday").with_all(gym)])).await;
    recompute_all(&world).await;
    let after_days = async |days: u64| {
        world.advance_seconds(days * 86_400);
        service::insights::pipeline::queue_new_day_once(&world.app).await.unwrap();
        recompute_all(&world).await;
        streams(&world.app, &robin.caller, ALL).await.remove(0)
    };
    // March 25, then April 5: late, but within the grace period.
    assert_eq!(after_days(15).await.status, Status::Active);
    let late = after_days(11).await;
    assert_eq!((late.status, late.next_expected_on), (Status::Active, Some(day("2026-04-01"))));
    let over = after_days(20).await;
    assert_eq!((over.status, over.next_expected_on), (Status::Ended, None));
    assert_eq!(
        streams(&world.app, &robin.caller, Filter { status: Some(Status::Active), ..ALL }).await,
        []
    );
}

#[tokio::test]
async fn filters_narrow_the_list_and_totals_count_its_active_streams() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let pay = every(14, "2026-03-06", 10, 185_000, "ACME CORP PAYROLL PPD ID: 9111111101");
    let rent = monthly("2026-03-02", 8, -120_000, "OAK STREET APARTMENTS RENT");
    let old = monthly("2025-09-10", 5, -999, "HULU 877-8244858 CA");
    let everyday = checking("Everyday").with_all(pay).with_all(rent);
    robin.import(statement([everyday, checking("Other").with_all(old)])).await;
    recompute_all(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let other = robin.account("Other").await;
    let count = async |filter| streams(app, caller, filter).await.len();
    assert_eq!(count(ALL).await, 3);
    assert_eq!(count(Filter { status: Some(Status::Ended), ..ALL }).await, 1);
    assert_eq!(count(Filter { account_id: Some(other), ..ALL }).await, 1);
    assert_eq!(count(Filter { direction: Some(Direction::Inflow), ..ALL }).await, 1);
    let listed = recurring::list(app, caller, ALL).await.unwrap();
    // 1,850.00 every two weeks is 4,022.10 a month.
    assert_eq!((listed.monthly_inflow_minor, listed.monthly_outflow_minor), (402_210, 120_000));
    assert_eq!(listed.streams.last().unwrap().0.status, Status::Ended, "active ones come first");
    accounts::set_hidden(app, caller, other, true).await.unwrap();
    assert_eq!(count(ALL).await, 2);
    assert_eq!(
        count(Filter { account_id: Some(other), ..ALL }).await,
        1,
        "the hidden account was requested"
    );
    let everyday = robin.account("Everyday").await;
    let key = robin.key(NewKey { accounts: Some(vec![everyday]), ..new_key() }).await;
    assert_eq!(streams(app, &key.caller, ALL).await.len(), 2);
    let unseen = Filter { account_id: Some(other), ..ALL };
    is_not_found(recurring::list(app, &key.caller, unseen).await);
}

#[tokio::test]
async fn pending_and_removed_rows_make_no_stream() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let mut rows = monthly("2026-03-05", 6, -1_549, "NETFLIX.COM");
    let pending = rows.split_off(2).into_iter().map(|it| it.pending());
    robin.import(statement([checking("Everyday").with_all(rows).with_all(pending)])).await;
    recompute_all(&world).await;
    assert!(
        streams(&world.app, &robin.caller, ALL).await.iter().all(|it| it.transactions.len() == 2)
    );
    let kim = world.person("kim@example.com").await;
    let rows = monthly("2026-03-05", 6, -1_549, "NETFLIX.COM");
    kim.import(statement([checking("Everyday").with_all(rows)])).await;
    recompute_all(&world).await;
    assert_eq!(streams(&world.app, &kim.caller, ALL).await.len(), 1);
    let mut account = checking("Everyday").with(txn("2026-03-09", -100, "SOMETHING").id("s"));
    for month in ["2025-10", "2025-11", "2025-12", "2026-01", "2026-02", "2026-03"] {
        account = account.without(&format!("NETFLIX.COM {month}-05"));
    }
    kim.import(statement([account])).await;
    recompute_all(&world).await;
    assert_eq!(streams(&world.app, &kim.caller, ALL).await, []);
}

#[tokio::test]
async fn a_month_lists_paid_expected_and_late_payments_by_day() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let pay = every(14, "2026-03-06", 12, 185_000, "ACME CORP PAYROLL PPD ID: 9111111101");
    let tv = monthly("2026-02-21", 8, -1_549, "NETFLIX.COM 866-579-7172");
    let everyday = checking("Everyday").with_all(pay).with_all(tv);
    robin.import(statement([everyday])).await;
    recompute_all(&world).await;
    let month = async |on: &str| -> Vec<(String, State, i64)> {
        let due = recurring::month(&world.app, &robin.caller, day(on)).await.unwrap().due;
        due.iter().map(|it| (it.on.to_string(), it.state, it.amount.minor())).collect()
    };
    let at = |on: &str, state, minor| (on.to_owned(), state, minor);
    assert_eq!(
        month("2026-03-10").await,
        [
            at("2026-03-06", State::Paid, 185_000),
            at("2026-03-20", State::Expected, 185_000),
            at("2026-03-21", State::Expected, 1_549),
        ]
    );
    let days: Vec<String> = month("2026-05-31").await.into_iter().map(|it| it.0).collect();
    assert_eq!(days, ["2026-05-01", "2026-05-15", "2026-05-21", "2026-05-29"]);
    assert!(month("2024-01-01").await.is_empty());
    world.advance_seconds(14 * 86_400);
    assert_eq!(month("2026-03-10").await[1], at("2026-03-20", State::Late, 185_000));
    let kim = world.person("kim@example.com").await;
    let nothing = recurring::month(&world.app, &kim.caller, day("2026-03-10")).await.unwrap();
    assert_eq!(nothing.due, []);
}

#[tokio::test]
async fn a_stream_is_shown_with_its_payments_to_its_owner_only() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let mut tv = monthly("2026-02-21", 8, -1_549, "NETFLIX.COM 866-579-7172");
    tv.push(txn("2026-02-25", -9_900, "NETFLIX.COM 866-579-7172").id("gift card"));
    robin.import(statement([checking("Everyday").with_all(tv)])).await;
    recompute_all(&world).await;
    let id = streams(&world.app, &robin.caller, ALL).await[0].id;
    let (stream, account, payments) = recurring::get(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!((stream.id, account.as_str(), payments.len()), (id, "Everyday", 8));
    assert!(payments.iter().all(|it| it.amount_minor == 1_549), "the gift card is not one of them");
    assert!(payments.is_sorted_by_key(|it| it.on));
    let kim = world.person("kim@example.com").await;
    is_not_found(recurring::get(&world.app, &kim.caller, id).await);
}
