//! Concurrent decisions: each action is decided once and executed at most once.

use std::sync::Arc;

use base::{ActionId, Fixed9};
use calc::paper::{Side, Size};
use service::actions::{self, Action, Status};
use service::{App, Caller, Error};
use tokio::task::JoinSet;
use wire::v1::Code;

use super::{ActionsFixture, seen, shares, status_and_error};

/// Runs all futures, started at the same moment.
async fn at_once<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    work: impl IntoIterator<Item = F>,
) -> Vec<T> {
    let work: Vec<F> = work.into_iter().collect();
    let barrier = Arc::new(tokio::sync::Barrier::new(work.len()));
    let mut tasks = JoinSet::new();
    for it in work {
        let barrier = barrier.clone();
        tasks.spawn(async move {
            barrier.wait().await;
            it.await
        });
    }
    tasks.join_all().await
}

/// Approves an action. Returns false if another decision came first, and panics on any other error.
async fn try_approve(app: App, session: Caller, action: Action, price: Option<Fixed9>) -> bool {
    match actions::approve(&app, &session, action.id, seen(&action, price), None).await {
        Ok(_) => true,
        Err(Error::Conflict { code: Code::Conflict, .. }) => false,
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_concurrent_approvals_in_two_sessions_and_two_processes_fill_one_trade() {
    let fixture = ActionsFixture::new().await;
    let (here, other_process) = (fixture.app().clone(), fixture.world.other_process().await);
    let sessions = [fixture.session.clone(), fixture.person.session().await];
    let action = fixture.propose(fixture.order(Side::Buy, "AAPL", shares("3"))).await.unwrap();
    let price = Some(fixture.price("AAPL").await);
    let mut steps = JoinSet::new();
    for app in [here.clone(), other_process.clone()] {
        steps.spawn(async move {
            for _ in 0..20 {
                actions::execute_once(&app).await.unwrap();
            }
        });
    }
    let decisions = (0..50).map(|number| {
        let app = if number % 2 == 0 { here.clone() } else { other_process.clone() };
        try_approve(app, sessions[number / 2 % 2].clone(), action.clone(), price)
    });
    let approved = at_once(decisions).await.into_iter().filter(|it| *it).count();
    steps.join_all().await;
    assert_eq!(approved, 1);
    assert_eq!(status_and_error(&fixture.get(action.id).await), ("executed", None));
    assert_eq!(fixture.count_entries("buy").await, 1);
    assert_eq!(fixture.cash_and_shares("AAPL").await, (943_870, "3".to_owned()));
    let expected =
        ["action.created pending_approval", "action.decided approved", "action.executed executed"];
    // Events written by two processes in the same millisecond have no order.
    let mut events = fixture.events(&action).await;
    events.sort();
    assert_eq!(events, expected);
    fixture.verify_integrity().await;
}

/// The action is approved, rejected and canceled at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_concurrent_decisions_only_the_first_counts() {
    let fixture = ActionsFixture::new().await;
    let other_process = fixture.world.other_process().await;
    let price = Some(fixture.price("VTI").await);
    for _ in 0..5 {
        let bought = fixture.count_entries("buy").await;
        let action = fixture.propose(fixture.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
        let decisions = (0..12).map(|number| {
            let app = if number % 2 == 0 { fixture.app().clone() } else { other_process.clone() };
            decide(
                app,
                number % 3,
                fixture.session.clone(),
                fixture.key.caller.clone(),
                action.clone(),
                price,
            )
        });
        let counted: Vec<Status> = at_once(decisions).await.into_iter().flatten().collect();
        assert_eq!(counted.len(), 1, "{counted:?}");
        let after = fixture.get(action.id).await;
        assert_eq!(after.status, counted[0]);
        let filled = i64::from(after.status == Status::Executed);
        assert_eq!(fixture.count_entries("buy").await, bought + filled);
        assert_eq!(fixture.events(&action).await.len() as i64, 2 + filled);
    }
    fixture.verify_integrity().await;
}

async fn decide(
    app: App,
    how: usize,
    session: Caller,
    key: Caller,
    action: Action,
    price: Option<Fixed9>,
) -> Option<Status> {
    match how {
        0 => try_approve(app, session, action, price).await.then_some(Status::Executed),
        1 => {
            let rejected = actions::reject(&app, &session, action.id, seen(&action, None), None);
            rejected.await.ok().map(|it| it.status)
        }
        _ => cancel(&app, &key, action.id).await.ok().map(|it| it.status),
    }
}

pub(super) async fn cancel(app: &App, caller: &Caller, id: ActionId) -> service::Result<Action> {
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| actions::cancel(&mine, tx, &caller, id)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_concurrent_buys_one_fails_if_the_cash_covers_only_one() {
    let fixture = ActionsFixture::with_cash("1000.00").await;
    let other_process = fixture.world.other_process().await;
    let price = Some(fixture.price("VTI").await);
    let order = || fixture.order(Side::Buy, "VTI", Size::Cash(80_000));
    let (first, second) =
        (fixture.propose(order()).await.unwrap(), fixture.propose(order()).await.unwrap());
    let approved = at_once([
        try_approve(fixture.app().clone(), fixture.session.clone(), first.clone(), price),
        try_approve(other_process, fixture.session.clone(), second.clone(), price),
    ]);
    assert_eq!(approved.await, [true, true]);
    let (first, second) = (fixture.get(first.id).await, fixture.get(second.id).await);
    let mut ends = [status_and_error(&first), status_and_error(&second)];
    ends.sort_unstable();
    assert_eq!(ends, [("executed", None), ("failed", Some("INSUFFICIENT_FUNDS"))]);
    assert_eq!(fixture.cash().await, (20_000, 0));
    assert_eq!(fixture.count_entries("buy").await, 1);
    fixture.verify_integrity().await;
}

/// Proposing and executing lock the same rows, and must not deadlock.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_proposals_and_approvals_of_one_account_do_not_deadlock() {
    let fixture = Arc::new(ActionsFixture::new().await);
    let other_process = fixture.world.other_process().await;
    let price = Some(fixture.price("VTI").await);
    let mut waiting = Vec::new();
    for _ in 0..15 {
        waiting.push(fixture.propose(fixture.order(Side::Buy, "VTI", shares("1"))).await.unwrap());
    }
    let approvals = waiting.iter().map(|action| {
        let work =
            try_approve(other_process.clone(), fixture.session.clone(), action.clone(), price);
        Box::pin(work) as std::pin::Pin<Box<dyn Future<Output = bool> + Send>>
    });
    let proposals = (0..15).map(|_| {
        let fixture = fixture.clone();
        let work = async move {
            fixture.propose(fixture.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
            true
        };
        Box::pin(work) as std::pin::Pin<Box<dyn Future<Output = bool> + Send>>
    });
    let all: Vec<_> = approvals.chain(proposals).collect();
    assert_eq!(at_once(all).await, [true; 30]);
    assert_eq!(fixture.count_entries("buy").await, 15);
    assert_eq!(actions::count_pending(fixture.app(), &fixture.session).await.unwrap(), 15);
    fixture.verify_integrity().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_queued_trade_is_filled_once_by_two_concurrent_processes() {
    let fixture = ActionsFixture::new().await;
    let other_process = fixture.world.other_process().await;
    fixture.advance_to(testkit::at("2026-03-10T21:00:00Z"));
    fixture.world.market.set("VTI", "50", None);
    for _ in 0..5 {
        let queued = fixture.trade(Side::Buy, "VTI", shares("1")).await;
        assert_eq!(queued.status, Status::Approved);
    }
    fixture.advance_to(testkit::at("2026-03-11T13:31:00Z"));
    fixture.world.market.set("VTI", "50.10", None);
    let steps = (0..8).map(|number| {
        let app = if number % 2 == 0 { fixture.app().clone() } else { other_process.clone() };
        async move { actions::execute_once(&app).await.unwrap() }
    });
    at_once(steps).await;
    assert_eq!(fixture.count_entries("buy").await, 5);
    assert_eq!(fixture.count_entries("release").await, 5);
    assert_eq!(fixture.cash().await, (1_000_000 - 5 * 5_010, 0));
    fixture.verify_integrity().await;
}
