//! Time zones: a person's day begins at their own midnight, also when clocks change, and their dates follow it.

use base::{Fixed9, TimeZone};
use calc::paper::{Side, Size};
use db::params;
use service::access::profiles::{self, Profile};
use service::access::{keys, users};
use service::actions::{self, ActionPayload, SeenProposal};
use service::ingest::manual::{self, ManualTransaction, NewAccount};
use service::ledger::balances::{self, Range};
use service::ledger::goals::{self, Kind, NewGoal, Status};
use service::platform::cursors::Page;
use service::schema::MIGRATIONS;
use service::trading::paper;
use service::{Caller, backup, insights};
use testkit::draft::{card, checking, statement, txn};
use testkit::{Database, Person, World, at, day, new_key};

use crate::restores::restore;

async fn advance_to(world: &World, instant: &str) {
    let seconds = at(instant).as_second() - world.clock.now().as_second();
    world.advance_seconds(u64::try_from(seconds).unwrap());
}

/// A person with one transaction whose figures are up to date.
async fn computed_in(world: &World, email: &str, timezone: &str) -> Person {
    let person = world.person_in(email, timezone).await;
    let spent = txn("2026-03-05", -1_549, "NETFLIX.COM").id("a");
    person.import(statement([checking("Everyday").with(spent)])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    person
}

async fn queue(world: &World) -> usize {
    let queued = insights::pipeline::queue_new_day_once(&world.app).await.unwrap();
    assert_eq!(insights::pipeline::run_all(&world.app).await.unwrap(), queued);
    queued
}

#[tokio::test]
async fn a_new_day_begins_at_the_midnight_of_each_person() {
    let world = World::new().await;
    // At noon UTC on 10 March it is 2 in the morning in Kiritimati, and 1 in Pago Pago, a day apart.
    computed_in(&world, "east@example.com", "Pacific/Kiritimati").await;
    computed_in(&world, "west@example.com", "Pacific/Pago_Pago").await;
    computed_in(&world, "utc@example.com", "UTC").await;
    assert_eq!(queue(&world).await, 0);
    for (before, midnight) in [
        ("2026-03-10T23:59:59Z", "2026-03-11T00:00:00Z"),
        ("2026-03-11T09:59:59Z", "2026-03-11T10:00:00Z"),
        ("2026-03-11T10:59:59Z", "2026-03-11T11:00:00Z"),
    ] {
        advance_to(&world, before).await;
        assert_eq!(queue(&world).await, 0, "{before}");
        advance_to(&world, midnight).await;
        assert_eq!(queue(&world).await, 1, "{midnight}");
    }
    let on = "select cast(count(distinct computed_on) as bigint) from insights where method <> $1";
    let dates = world.app.db.first(on, params![0_i64], |row| row.get::<i64>(0)).await.unwrap();
    assert_eq!(dates, Some(2), "11 March in UTC and Pago Pago, 12 March in Kiritimati");
}

#[tokio::test]
async fn days_of_23_and_25_hours_end_at_midnight() {
    let world = World::new().await;
    computed_in(&world, "robin@example.com", "America/New_York").await;
    // Clocks went forward on 8 March, and go back on 1 November.
    for (before, midnight) in [
        ("2026-03-11T03:59:59Z", "2026-03-11T04:00:00Z"),
        ("2026-11-01T03:59:59Z", "2026-11-01T04:00:00Z"),
        ("2026-11-02T04:59:59Z", "2026-11-02T05:00:00Z"),
        ("2027-03-14T04:59:59Z", "2027-03-14T05:00:00Z"),
        ("2027-03-15T03:59:59Z", "2027-03-15T04:00:00Z"),
    ] {
        advance_to(&world, before).await;
        queue(&world).await;
        assert_eq!(queue(&world).await, 0, "{before}");
        advance_to(&world, midnight).await;
        assert_eq!(queue(&world).await, 1, "{midnight}");
    }
}

#[tokio::test]
async fn a_new_time_zone_recomputes_the_person_for_its_date() {
    let world = World::new().await;
    let person = computed_in(&world, "robin@example.com", "Pacific/Kiritimati").await;
    let key = person.key(new_key()).await;
    let computed_on = async || {
        let sql = "select computed_on from insights where user_id = $1";
        let found = world.app.db.first(sql, params![person.user.id], |row| row.get(0)).await;
        found.unwrap().map(base::date_from_days)
    };
    assert_eq!(computed_on().await, Some(day("2026-03-11")));
    let timezone = TimeZone::parse("Pacific/Pago_Pago").unwrap();
    let profile = Profile { preferred_name: None, base_currency: base::Currency::USD, timezone };
    profiles::update(&world.app, &person.caller, profile).await.unwrap();
    assert_eq!(insights::pipeline::run_all(&world.app).await.unwrap(), 1);
    assert_eq!(computed_on().await, Some(day("2026-03-10")));
    assert_eq!(queue(&world).await, 0);
    advance_to(&world, "2026-03-11T11:00:00Z").await;
    assert_eq!(queue(&world).await, 1);
    let caller = keys::authenticate(&world.app, &key.secret, None).await.unwrap();
    assert_eq!(caller.timezone, timezone);
}

#[tokio::test]
async fn a_trade_late_in_the_evening_has_the_date_of_that_evening() {
    let world = World::new().await;
    let app = world.filling_while_closed();
    let person = world.person_in("robin@example.com", "America/Los_Angeles").await;
    let (key, session) = (person.key(new_key()).await, person.session().await);
    // 23:30 on 31 March in Los Angeles.
    advance_to(&world, "2026-04-01T06:30:00Z").await;
    world.market.set("AAPL", "187.10", Some("185.00"));
    let decide = async |payload: ActionPayload| {
        let action = actions::propose(&app, &key.caller, payload.into()).await.unwrap();
        let seen = SeenProposal::now(&app, &action).await.unwrap();
        actions::approve(&app, &session, action.id, seen, None).await.unwrap()
    };
    decide(ActionPayload::PaperAccount { name: "Practice".to_owned(), cash_minor: 100_000 }).await;
    let account = paper::list_accounts(&app, &session).await.unwrap()[0].id;
    let size = Size::Shares(Fixed9::ONE);
    let trade = ActionPayload::Trade { account, symbol: "AAPL".to_owned(), side: Side::Buy, size };
    let traded = decide(trade).await;
    assert_eq!(traded.error_message, None);
    let page = || Page { cursor: None, limit: 10 };
    let trades = paper::list_trades(&app, &session, account, page()).await.unwrap().rows;
    let shown = trades[0].to_wire(session.timezone);
    assert_eq!((shown.date.0, shown.created_at.0), (day("2026-03-31"), at("2026-04-01T06:30:00Z")));
    let activity = paper::list_activity(&app, &session, account, page()).await.unwrap().rows;
    assert!(activity.iter().all(|it| it.to_wire(session.timezone).date.0 == day("2026-03-31")));
    assert_eq!(trades[0].to_wire(TimeZone::utc()).date.0, day("2026-04-01"));
}

#[tokio::test]
async fn balances_have_the_date_of_the_person_or_the_literal_date_of_a_file() {
    let world = World::new().await;
    let auckland = world.person_in("robin@example.com", "Pacific/Auckland").await;
    auckland
        .import(statement([
            // A file knows only the date of a balance, which sources report as noon UTC.
            checking("From a file").balance("2026-03-09T12:00:00Z", 100),
            checking("From a bank").balance("2026-03-09T12:00:01Z", 100),
        ]))
        .await;
    for (name, on) in [("From a file", "2026-03-09"), ("From a bank", "2026-03-10")] {
        let id = auckland.account(name).await;
        let listed = balances::list(&world.app, &auckland.caller, id, Range::default()).await;
        assert_eq!(listed.unwrap().days[0].on, day(on), "{name}");
    }
    // It is 11 March in Auckland, an hour and a minute after midnight. A transaction of that date changes a manual balance, and one
    // of the day before is already part of it.
    let new = NewAccount {
        name: "Cash".to_owned(),
        kind: base::draft::AccountKind::Depository,
        currency: base::Currency::USD,
        balance_minor: Some(10_000),
    };
    world.advance_seconds(60);
    let (app, caller) = (&world.app, &auckland.caller);
    let cash = manual::create_account(app, caller, new).await.unwrap();
    for on in ["2026-03-10", "2026-03-11"] {
        let description = format!("Bread on {on}");
        let entry =
            ManualTransaction { on: day(on), amount_minor: -500, description, category: None };
        manual::create_transaction(app, caller, cash, entry).await.unwrap();
    }
    let listed = balances::list(app, caller, cash, Range::default()).await.unwrap();
    assert_eq!(listed.days.last().unwrap().current_minor, 9_500);
    assert_eq!(listed.end_on, day("2026-03-11"));
}

#[tokio::test]
async fn a_debt_goal_begins_on_the_date_of_the_person() {
    let world = World::new().await;
    // 23:30 on 10 March in Honolulu.
    let person = world.person_in("robin@example.com", "Pacific/Honolulu").await;
    advance_to(&world, "2026-03-11T09:30:00Z").await;
    let goal = NewGoal {
        name: "Pay off the card".to_owned(),
        kind: Kind::DebtPayoff,
        status: Status::Active,
        target: base::Money::new(100_000, base::Currency::USD),
        saved_minor: 0,
        target_on: None,
        accounts: Vec::new(),
    };
    let owed = card("Card");
    person.import(statement([owed.clone()])).await;
    let accounts = vec![person.account("Card").await];
    goals::create(&world.app, &person.caller, NewGoal { accounts, ..goal }).await.unwrap();
    // The history becomes known later: 1,000 owed on the evening when the goal began, 900 on the next day.
    let history = owed
        .past_balance("2026-03-10", 100_000)
        .past_balance("2026-03-11", 90_000)
        .balance("2026-03-12T22:00:00Z", 70_000);
    person.import(statement([history])).await;
    let goals = goals::list(&world.app, &person.caller, None).await.unwrap();
    assert_eq!(goals[0].current_minor, Some(30_000));
}

#[tokio::test]
async fn requests_of_a_key_are_counted_by_the_date_of_the_person() {
    let world = World::new().await;
    let person = world.person_in("robin@example.com", "America/New_York").await;
    let key = person.key(new_key()).await;
    let count =
        async |caller: &Caller| keys::list(&world.app, caller).await.unwrap()[0].requests_today;
    // Midnight UTC is still the same day in New York, and 4:00 is the next.
    advance_to(&world, "2026-03-11T00:30:00Z").await;
    keys::authenticate(&world.app, &key.secret, None).await.unwrap();
    assert_eq!(count(&person.caller).await, 2);
    advance_to(&world, "2026-03-11T04:00:00Z").await;
    assert_eq!(count(&person.caller).await, 0);
}

const OLD_PERSON: &str =
    "insert into users (id, email, base_currency, role, connected_at, created_at,
    updated_at) values ($1, 'robin@example.com', 'USD', 'admin', 1, 1, 1)";
/// The schema version before people had time zones.
const BEFORE: usize = 17;

#[tokio::test]
async fn people_of_an_older_database_or_backup_stay_in_utc() {
    let (world, database) = (World::new().await, Database::empty().await);
    let db = database.open().await;
    db.migrate(&MIGRATIONS[..BEFORE]).await.unwrap();
    let user = world.app.ids.make::<base::kinds::User>();
    let insert = move |tx: &mut db::Tx<'_>| tx.execute(OLD_PERSON, params![user]);
    db.write(insert).await.unwrap();
    let key = crate::restores::installation_key();
    let made = backup::write(&db, &key, world.clock.now(), Vec::new(), |_| {}).await;
    let old = made.unwrap().0;
    assert_eq!(backup::check(old.as_slice()).unwrap().schema(), BEFORE as i64);
    db.migrate(MIGRATIONS).await.unwrap();
    let migrated = world.other_process_on(db);
    let fresh = Database::migrated().await;
    let restored = world.other_process_on(fresh.open().await);
    restore(&world, &restored, old).await;
    for app in [migrated, restored] {
        let found = users::find_by_email(&app, "robin@example.com").await.unwrap().unwrap();
        assert_eq!(found.timezone, TimeZone::utc());
        // The figures of before have no end of the day.
        assert_eq!(insights::pipeline::queue_new_day_once(&app).await.unwrap(), 1);
    }
}

#[tokio::test]
async fn an_unknown_stored_time_zone_is_an_error_that_names_the_column() {
    let world = World::new().await;
    let robin = world.someone().await;
    let change = |tx: &mut db::Tx<'_>| tx.execute("update users set timezone = 'Nowhere'", &[]);
    world.app.db.write(change).await.unwrap();
    let error = users::get(&world.app, &robin.caller).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("a time zone must be an IANA time zone"), "{source}");
}
