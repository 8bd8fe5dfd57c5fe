//! Goals: their progress, order and visibility.

use ::webhooks::outbox;
use base::draft::AccountKind;
use base::{Currency, Money};
use service::access::keys::NewKey;
use service::ledger::accounts;
use service::ledger::goals::{self, Goal, Kind, NewGoal, Status};
use service::{Error, Scopes};
use testkit::draft::{account, card, checking, statement};
use testkit::{Person, World, day, new_key};
use wire::v1::{self, Scope};

use crate::param;

fn goal(name: &str, kind: Kind) -> NewGoal {
    NewGoal {
        name: name.to_owned(),
        kind,
        status: Status::Active,
        target: Money::new(500_000, Currency::USD),
        saved_minor: 0,
        target_on: None,
        accounts: Vec::new(),
    }
}

async fn make(world: &World, person: &Person, new: NewGoal) {
    goals::create(&world.app, &person.caller, new).await.unwrap();
}

async fn list(world: &World, person: &Person, status: Option<Status>) -> Vec<Goal> {
    goals::list(&world.app, &person.caller, status).await.unwrap()
}

fn names(goals: &[Goal]) -> Vec<&str> {
    goals.iter().map(|it| it.name.as_str()).collect()
}

#[tokio::test]
async fn goals_are_listed_by_status_then_by_date_with_undated_ones_last() {
    let world = World::new().await;
    let robin = world.someone().await;
    let dated = |name: &str, status, on: Option<&str>| NewGoal {
        status,
        target_on: on.map(day),
        ..goal(name, Kind::Savings)
    };
    for new in [
        dated("cancelled", Status::Cancelled, Some("2026-01-01")),
        dated("completed", Status::Completed, None),
        dated("undated", Status::Active, None),
        dated("late", Status::Active, Some("2027-01-01")),
        dated("paused", Status::Paused, Some("2026-01-01")),
        dated("soon", Status::Active, Some("2026-04-01")),
    ] {
        make(&world, &robin, new).await;
    }
    let all = list(&world, &robin, None).await;
    assert_eq!(names(&all), ["soon", "late", "undated", "paused", "completed", "cancelled"]);
    for status in Status::ALL {
        let only = list(&world, &robin, Some(*status)).await;
        let expected = all.iter().filter(|it| it.status == *status).map(|it| it.id);
        assert!(only.iter().map(|it| it.id).eq(expected), "{status:?}");
    }
    let shown = v1::Goal::from(&all[2]);
    assert!(shown.target_date.is_none());
    assert_eq!(shown.target_amount.as_str(), "5000.00");
}

#[tokio::test]
async fn progress_is_the_balance_of_linked_accounts_minus_debts() {
    let world = World::new().await;
    let robin = world.someone().await;
    let at = "2026-03-09T08:00:00Z";
    robin
        .import(statement([
            checking("Savings").balance(at, 120_000),
            card("Visa").balance(at, 20_000),
            checking("Euros").in_currency("EUR").balance(at, 99_000),
            checking("Unknown"),
        ]))
        .await;
    let mut accounts = Vec::new();
    for name in ["Savings", "Visa", "Euros", "Unknown"] {
        accounts.push(robin.account(name).await);
    }
    let new = NewGoal { accounts, saved_minor: 5_000, ..goal("House", Kind::Purchase) };
    make(&world, &robin, new).await;
    assert_eq!(list(&world, &robin, None).await[0].current_minor, Some(105_000));
    robin.import(statement([checking("Savings").balance("2026-03-10T08:00:00Z", 130_000)])).await;
    assert_eq!(list(&world, &robin, None).await[0].current_minor, Some(115_000));
}

#[tokio::test]
async fn a_debt_goal_counts_what_was_paid_off_since_it_was_created() {
    let world = World::new().await;
    let robin = world.someone().await;
    let owed = |at: &str, minor| account("Car loan", AccountKind::Loan, "auto").balance(at, minor);
    robin.import(statement([owed("2026-03-01T08:00:00Z", 500_000)])).await;
    let accounts = vec![robin.account("Car loan").await];
    make(&world, &robin, NewGoal { accounts, ..goal("Pay off", Kind::DebtPayoff) }).await;
    let progress = async || list(&world, &robin, None).await[0].current_minor;
    assert_eq!(progress().await, Some(0));
    robin.import(statement([owed("2026-03-05T08:00:00Z", 420_000)])).await;
    assert_eq!(progress().await, Some(80_000));
    robin.import(statement([owed("2026-03-06T08:00:00Z", 600_000)])).await;
    assert_eq!(progress().await, Some(0), "a growing debt is zero progress");
    robin.import(statement([owed("2026-03-07T08:00:00Z", -1_000)])).await;
    assert_eq!(progress().await, Some(500_000), "progress ends when the debt is paid off");
}

#[tokio::test]
async fn a_debt_goal_without_a_known_balance_has_no_value_until_the_history_tells_it() {
    let world = World::new().await;
    let robin = world.someone().await;
    let loan = || account("Car loan", AccountKind::Loan, "auto");
    robin.import(statement([loan()])).await;
    let accounts = vec![robin.account("Car loan").await];
    make(&world, &robin, NewGoal { accounts, ..goal("Pay off", Kind::DebtPayoff) }).await;
    let progress = async || list(&world, &robin, None).await[0].current_minor;
    assert_eq!(progress().await, None);
    world.advance_seconds(2 * 86_400);
    // Now the bank also reports what was owed when the goal began.
    let known = loan().past_balance("2026-03-10", 500_000).balance("2026-03-12T08:00:00Z", 470_000);
    robin.import(statement([known])).await;
    assert_eq!(progress().await, Some(30_000));
}

#[tokio::test]
async fn a_net_worth_goal_has_the_net_worth_as_its_value() {
    let world = World::new().await;
    let robin = world.someone().await;
    make(&world, &robin, goal("Worth", Kind::NetWorth)).await;
    let value = async || list(&world, &robin, None).await[0].current_minor;
    assert_eq!(value().await, None, "no balance is known");
    let at = "2026-03-09T08:00:00Z";
    let hidden = checking("Hidden").balance(at, 7_000);
    robin
        .import(statement([checking("A").balance(at, 500), card("Visa").balance(at, 900), hidden]))
        .await;
    assert_eq!(value().await, Some(6_600));
    let hidden = robin.account("Hidden").await;
    accounts::set_hidden(&world.app, &robin.caller, hidden, true).await.unwrap();
    assert_eq!(value().await, Some(-400));
}

#[tokio::test]
async fn an_invalid_goal_is_refused_and_nothing_is_stored() {
    let world = World::new().await;
    let (robin, kim) = (world.someone().await, world.someone().await);
    kim.import(statement([checking("Savings")])).await;
    let before = world.stored().await;
    let theirs = kim.account("Savings").await;
    let long = "x".repeat(81);
    for (wrong, expected_param) in [
        (goal(" ", Kind::Savings), "name"),
        (goal(&long, Kind::Savings), "name"),
        (goal("a\0b", Kind::Savings), "name"),
        (
            NewGoal { target: Money::new(0, Currency::USD), ..goal("x", Kind::Custom) },
            "target_amount",
        ),
        (
            NewGoal { target: Money::new(-5, Currency::USD), ..goal("x", Kind::Custom) },
            "target_amount",
        ),
        (NewGoal { accounts: vec![theirs], ..goal("x", Kind::Custom) }, "accounts"),
    ] {
        assert_eq!(param(goals::create(&world.app, &robin.caller, wrong).await), expected_param);
    }
    assert_eq!(world.stored().await, before);
}

#[tokio::test]
async fn an_account_linked_twice_counts_once() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([checking("A").balance("2026-03-09T08:00:00Z", 700)])).await;
    let a = robin.account("A").await;
    make(&world, &robin, NewGoal { accounts: vec![a, a], ..goal("Twice", Kind::Savings) }).await;
    assert_eq!(list(&world, &robin, None).await[0].current_minor, Some(700));
}

#[tokio::test]
async fn a_limited_key_sees_no_goals_that_are_linked_to_other_accounts() {
    let world = World::new().await;
    let robin = world.someone().await;
    let balance = |name| checking(name).balance("2026-03-09T08:00:00Z", 700);
    robin.import(statement([balance("Open"), balance("Secret")])).await;
    let (open, secret) = (robin.account("Open").await, robin.account("Secret").await);
    let linked = |name, accounts| NewGoal { accounts, ..goal(name, Kind::Savings) };
    make(&world, &robin, linked("Seen", vec![open])).await;
    make(&world, &robin, linked("Mixed", vec![open, secret])).await;
    make(&world, &robin, goal("Alone", Kind::Savings)).await;
    let key = robin.key(NewKey { accounts: Some(vec![open]), ..new_key() }).await;
    let goals = goals::list(&world.app, &key.caller, None).await.unwrap();
    let names: Vec<&str> = goals.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["Seen", "Alone"]);
}

#[tokio::test]
async fn a_new_goal_sends_an_event_and_is_visible_to_its_owner_only() {
    let world = World::new().await;
    let (robin, kim) = (world.someone().await, world.someone().await);
    make(&world, &robin, goal("Boat", Kind::Purchase)).await;
    assert!(list(&world, &kim, None).await.is_empty());
    let events = outbox::list(&world.app.db, robin.user.id, None, 10).await.unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].event_type, "goal.updated");
    let id = list(&world, &robin, None).await[0].id;
    assert_eq!(events[0].data, format!(r#"{{"goal_id":"{id}","status":"active"}}"#));
    let scopes: Scopes = [Scope::AccountsRead].into_iter().collect();
    let blind = robin.key(NewKey { scopes, ..new_key() }).await;
    let refused = goals::list(&world.app, &blind.caller, None).await;
    assert!(matches!(refused, Err(Error::Forbidden(it)) if it.has(Scope::GoalsRead)));
}
