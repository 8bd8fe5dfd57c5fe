//! The type of an account, which the person may change at any time, and the terms of cards and loans.

use base::draft::AccountKind;
use base::{AccountId, Fixed9};
use service::ingest::imports::{self, undo};
use service::ingest::{account_types, manual};
use service::insights;
use service::ledger::account_terms::{payoff, set_terms};
use service::ledger::accounts::{self, Account, Terms};
use service::ledger::balances::{self, Range};
use service::ledger::goals::{self, NewGoal, Status};
use service::ledger::net_worth;
use service::ledger::transactions::{self, Filter};
use service::platform::cursors::Page;
use testkit::draft::{account, checking, statement, txn};
use testkit::{Person, World, new_key};

use crate::{is_not_found, param};

async fn get(world: &World, person: &Person, id: AccountId) -> Account {
    accounts::get(&world.app, &person.caller, id).await.unwrap()
}

async fn set(world: &World, robin: &Person, id: AccountId, kind: AccountKind, subtype: &str) {
    account_types::set(&world.app, &robin.caller, id, kind, Some(subtype)).await.unwrap();
    insights::pipeline::run_for(&world.app, robin.caller.user).await.unwrap();
}

async fn worth(world: &World, robin: &Person) -> Option<i64> {
    net_worth::get(&world.app, &robin.caller).await.unwrap().minor()
}

/// The reported balances of the last days, oldest first.
async fn reported(world: &World, robin: &Person, id: AccountId) -> Vec<i64> {
    let range = Range { start_on: Some(testkit::day("2026-03-07")), end_on: None };
    let found = balances::list(&world.app, &robin.caller, id, range).await.unwrap();
    found.days.iter().map(|it| it.current_minor).collect()
}

#[tokio::test]
async fn an_account_becomes_a_loan_and_net_worth_stays_the_same() {
    let world = World::new().await;
    let robin = world.someone().await;
    let mine = checking("Kredit")
        .past_balance("2026-03-08", -52_000)
        .balance("2026-03-09T08:00:00Z", -50_000);
    robin.import(statement([mine])).await;
    let id = robin.account("Kredit").await;
    assert_eq!(worth(&world, &robin).await, Some(-50_000));
    set(&world, &robin, id, AccountKind::Loan, "auto").await;
    let changed = get(&world, &robin, id).await;
    assert_eq!((changed.kind, changed.subtype.as_deref()), (AccountKind::Loan, Some("auto")));
    assert_eq!(changed.balance_current_minor, Some(50_000), "what is owed");
    assert_eq!(reported(&world, &robin, id).await, [52_000, 50_000, 50_000]);
    assert_eq!(worth(&world, &robin).await, Some(-50_000));
    set(&world, &robin, id, AccountKind::Depository, "savings").await;
    assert_eq!(get(&world, &robin, id).await.balance_current_minor, Some(-50_000));
    assert_eq!(worth(&world, &robin).await, Some(-50_000));
}

#[tokio::test]
async fn later_imports_keep_the_type_and_convert_their_balances() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([checking("Kredit").balance("2026-03-08T08:00:00Z", -50_000)])).await;
    let id = robin.account("Kredit").await;
    set(&world, &robin, id, AccountKind::Loan, "auto").await;
    let later = checking("Kredit")
        .past_balance("2026-03-07", -51_000)
        .balance("2026-03-09T08:00:00Z", -49_000);
    robin.import(statement([later])).await;
    let changed = get(&world, &robin, id).await;
    assert_eq!((changed.kind, changed.subtype.as_deref()), (AccountKind::Loan, Some("auto")));
    assert_eq!(changed.balance_current_minor, Some(49_000));
    assert_eq!(reported(&world, &robin, id).await, [51_000, 50_000, 49_000, 49_000]);
    // Undoing it restores the balances from before, and leaves the type.
    let newest = imports::list(&world.app, &robin.caller, None, 1).await.unwrap();
    undo(&world.app, &robin.caller, newest[0].id).await.unwrap();
    let restored = get(&world, &robin, id).await;
    assert_eq!((restored.kind, restored.balance_current_minor), (AccountKind::Loan, Some(50_000)));
    assert_eq!(restored.subtype.as_deref(), Some("auto"));
}

#[tokio::test]
async fn undoing_an_import_from_before_the_change_restores_balances_in_the_new_sign() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([checking("Kredit").balance("2026-03-08T08:00:00Z", -50_000)])).await;
    robin.import(statement([checking("Kredit").balance("2026-03-08T09:00:00Z", -49_000)])).await;
    let id = robin.account("Kredit").await;
    set(&world, &robin, id, AccountKind::Loan, "auto").await;
    let newest = imports::list(&world.app, &robin.caller, None, 1).await.unwrap();
    undo(&world.app, &robin.caller, newest[0].id).await.unwrap();
    assert_eq!(get(&world, &robin, id).await.balance_current_minor, Some(50_000));
    assert_eq!(reported(&world, &robin, id).await, [50_000, 50_000, 50_000]);
    assert_eq!(worth(&world, &robin).await, Some(-50_000));
}

#[tokio::test]
async fn categories_follow_the_new_type() {
    let world = World::new().await;
    let robin = world.someone().await;
    let paid = txn("2026-03-02", 30_000, "PAYMENT THANK YOU");
    robin.import(statement([checking("Kredit").with(paid)])).await;
    let id = robin.account("Kredit").await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    let category = async || {
        let (mut found, page) = (None, Page { cursor: None, limit: 1 });
        let filter = Filter { account_id: Some(id), ..Filter::default() };
        transactions::list(&world.app, &robin.caller, &filter, page, |it| {
            found = it.category.map(|it| it.detailed().to_owned());
        })
        .await
        .unwrap();
        found
    };
    let before = category().await;
    set(&world, &robin, id, AccountKind::Loan, "auto").await;
    let after = category().await;
    assert_eq!(after.as_deref(), Some("LOAN_PAYMENTS_CAR_PAYMENT"), "{before:?}");
    assert_ne!(before, after);
    set(&world, &robin, id, AccountKind::Depository, "checking").await;
    assert_eq!(category().await, before);
}

#[tokio::test]
async fn a_debt_goal_starts_at_what_was_owed() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([checking("Kredit").balance("2026-03-10T08:00:00Z", -50_000)])).await;
    let id = robin.account("Kredit").await;
    let new = NewGoal {
        name: "Free of it".to_owned(),
        kind: goals::Kind::DebtPayoff,
        status: Status::Active,
        target: base::Money::new(50_000, base::Currency::USD),
        saved_minor: 0,
        target_on: None,
        accounts: vec![id],
    };
    set(&world, &robin, id, AccountKind::Loan, "auto").await;
    let (app, caller) = (world.app.clone(), robin.caller.clone());
    let create = move |tx: &mut db::Tx<'_>| goals::create_in(&app, tx, &caller, &new).map(|_| ());
    world.app.db.write(create).await.unwrap();
    set(&world, &robin, id, AccountKind::Depository, "checking").await;
    set(&world, &robin, id, AccountKind::Loan, "auto").await;
    world.advance_seconds(86_400);
    robin.import(statement([checking("Kredit").balance("2026-03-11T08:00:00Z", -40_000)])).await;
    let found = goals::list(&world.app, &robin.caller, None).await.unwrap();
    assert_eq!(found[0].current_minor, Some(10_000));
}

#[tokio::test]
async fn only_the_owner_changes_type_and_terms_and_bad_values_are_refused() {
    let world = World::new().await;
    let (robin, kim) = (world.someone().await, world.someone().await);
    robin.import(statement([checking("Everyday")])).await;
    let id = robin.account("Everyday").await;
    let key = robin.key(new_key()).await;
    for caller in [&kim.caller, &key.caller] {
        let kind = AccountKind::Loan;
        is_not_found(account_types::set(&world.app, caller, id, kind, None).await);
        is_not_found(set_terms(&world.app, caller, id, Terms::default()).await);
    }
    let long = "x".repeat(41);
    let refused = account_types::set(&world.app, &robin.caller, id, AccountKind::Loan, Some(&long));
    assert_eq!(param(refused.await), "subtype");
    let rate = |it: &str| Some(Fixed9::parse(it).unwrap());
    for (terms, name) in [
        (Terms { statement_day: Some(0), ..Terms::default() }, "statement_day"),
        (Terms { due_day: Some(32), ..Terms::default() }, "due_day"),
        (Terms { interest_rate: rate("-1"), ..Terms::default() }, "interest_rate"),
        (Terms { interest_rate: rate("1000.1"), ..Terms::default() }, "interest_rate"),
        (Terms { payment_minor: Some(0), ..Terms::default() }, "payment"),
    ] {
        assert_eq!(param(set_terms(&world.app, &robin.caller, id, terms).await), name);
    }
}

#[tokio::test]
async fn terms_give_the_next_dates_and_the_payoff() {
    let world = World::new().await;
    let robin = world.someone().await;
    let mine = account("Car", AccountKind::Loan, "auto").balance("2026-03-09T08:00:00Z", 1_000_000);
    robin.import(statement([mine])).await;
    let id = robin.account("Car").await;
    let unknown = get(&world, &robin, id).await;
    let found = payoff(&world.app, &robin.caller, &unknown).await.unwrap();
    assert!(found.payoff.is_none() && found.payment.is_none() && found.interest_rate.is_none());
    let terms = Terms {
        interest_rate: Some(Fixed9::parse("6").unwrap()),
        payment_minor: Some(50_000),
        statement_day: Some(31),
        due_day: Some(9),
    };
    set_terms(&world.app, &robin.caller, id, terms).await.unwrap();
    let known = get(&world, &robin, id).await;
    let today = world.app.today(&robin.caller);
    assert_eq!(known.next_payment_due_on, Some(testkit::day("2026-04-09")), "the ninth has passed");
    assert_eq!(known.next_statement_on(today), Some(testkit::day("2026-03-31")));
    let found = payoff(&world.app, &robin.caller, &known).await.unwrap().payoff.unwrap();
    assert_eq!((found.payments, found.interest_minor), (22, 56_251));
    assert_eq!(found.last_payment_on, testkit::day("2028-01-09"));
    // A date that the source reports comes first, until it has passed.
    let mut dated = account("Car", AccountKind::Loan, "auto");
    dated.next_payment_due_on = Some(testkit::day("2026-03-20"));
    dated.interest_rate = Some(Fixed9::parse("9").unwrap());
    robin.import(statement([dated])).await;
    let known = get(&world, &robin, id).await;
    assert_eq!(known.next_payment_due_on, Some(testkit::day("2026-03-20")));
    assert_eq!(known.interest_rate, terms.interest_rate, "the person's own rate comes first");
    world.advance_seconds(11 * 86_400);
    let later = get(&world, &robin, id).await.next_payment_due_on;
    assert_eq!(later, Some(testkit::day("2026-04-09")));
}

#[tokio::test]
async fn the_usual_payment_is_the_median_of_three_full_months() {
    let world = World::new().await;
    let robin = world.someone().await;
    let paid = |on, minor| txn(on, minor, "PAYMENT");
    let mut mine = account("Car", AccountKind::Loan, "auto")
        .balance("2026-03-09T08:00:00Z", 100_000)
        .with_all([paid("2026-01-05", 10_000), paid("2026-02-05", 20_000)])
        .with(paid("2026-03-05", 90_000));
    mine.interest_rate = Some(Fixed9::ZERO);
    robin.import(statement([mine])).await;
    let id = robin.account("Car").await;
    let usual = async || {
        let account = get(&world, &robin, id).await;
        payoff(&world.app, &robin.caller, &account).await.unwrap()
    };
    assert_eq!(usual().await.payment, None, "December has none, and March is not over");
    let december = [paid("2025-12-05", 12_000), paid("2025-12-20", -50_000)];
    robin.import(statement([account("Car", AccountKind::Loan, "auto").with_all(december)])).await;
    let found = usual().await;
    assert_eq!(found.payment.map(|it| it.minor()), Some(12_000));
    assert!(!found.is_own_payment);
    assert_eq!(found.payoff.unwrap().payments, 9);
}

#[tokio::test]
async fn a_balance_set_by_hand_is_in_the_sign_of_the_new_type() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([checking("Loan").balance("2026-03-09T08:00:00Z", -500)])).await;
    let id = robin.account("Loan").await;
    set(&world, &robin, id, AccountKind::Loan, "student").await;
    manual::set_balance(&world.app, &robin.caller, id, 700).await.unwrap();
    assert_eq!(get(&world, &robin, id).await.balance_current_minor, Some(700));
    assert_eq!(worth(&world, &robin).await, Some(-700));
}
