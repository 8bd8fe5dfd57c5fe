//! However many decide at once, each action is decided once and carried out at most once.

use std::sync::Arc;

use base::{ActionId, Fixed9};
use calc::paper::{Side, Size};
use service::actions::{self, Action, Status};
use service::{App, Caller, Error};
use tokio::task::JoinSet;
use wire::v1::Code;

use super::{Desk, ended, seen, shares};

/// Everyone goes at the same moment.
async fn at_once<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    work: impl IntoIterator<Item = F>,
) -> Vec<T> {
    let work: Vec<F> = work.into_iter().collect();
    let gate = Arc::new(tokio::sync::Barrier::new(work.len()));
    let mut tasks = JoinSet::new();
    for it in work {
        let gate = gate.clone();
        tasks.spawn(async move {
            gate.wait().await;
            it.await
        });
    }
    tasks.join_all().await
}

/// Says yes, and whether it was this one that counted. Anything but "too late" is a fault.
async fn says_yes(app: App, session: Caller, action: Action, price: Option<Fixed9>) -> bool {
    match actions::approve(&app, &session, action.id, seen(&action, price), None).await {
        Ok(_) => true,
        Err(Error::Conflict { code: Code::Conflict, .. }) => false,
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_decisions_at_once_in_two_sessions_and_two_processes_fill_one_trade() {
    let desk = Desk::new().await;
    let (here, there) = (desk.app().clone(), desk.world.other_process().await);
    let sessions = [desk.session.clone(), desk.person.session().await];
    let action = desk.propose(desk.order(Side::Buy, "AAPL", shares("3"))).await.unwrap();
    let price = Some(desk.price("AAPL").await);
    let mut steps = JoinSet::new();
    for app in [here.clone(), there.clone()] {
        steps.spawn(async move {
            for _ in 0..20 {
                actions::execute_once(&app).await.unwrap();
            }
        });
    }
    let decisions = (0..50).map(|number| {
        let app = if number % 2 == 0 { here.clone() } else { there.clone() };
        says_yes(app, sessions[number / 2 % 2].clone(), action.clone(), price)
    });
    let yes = at_once(decisions).await.into_iter().filter(|it| *it).count();
    steps.join_all().await;
    assert_eq!(yes, 1);
    assert_eq!(ended(&desk.get(action.id).await), ("executed", None));
    assert_eq!(desk.entries("buy").await, 1);
    assert_eq!(desk.holds("AAPL").await, (943_870, "3".to_owned()));
    let told =
        ["action.created pending_approval", "action.decided approved", "action.executed executed"];
    // Two processes in the same millisecond have no order.
    let mut events = desk.events(&action).await;
    events.sort();
    assert_eq!(events, told);
    desk.is_sound().await;
}

/// Approved, rejected and withdrawn at the same time, by everybody who may.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_all_decisions_at_once_the_first_counts_and_the_others_are_told() {
    let desk = Desk::new().await;
    let there = desk.world.other_process().await;
    let price = Some(desk.price("VTI").await);
    for _ in 0..5 {
        let bought = desk.entries("buy").await;
        let action = desk.propose(desk.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
        let decisions = (0..12).map(|number| {
            let app = if number % 2 == 0 { desk.app().clone() } else { there.clone() };
            decide(
                app,
                number % 3,
                desk.session.clone(),
                desk.key.caller.clone(),
                action.clone(),
                price,
            )
        });
        let counted: Vec<Status> = at_once(decisions).await.into_iter().flatten().collect();
        assert_eq!(counted.len(), 1, "{counted:?}");
        let after = desk.get(action.id).await;
        assert_eq!(after.status, counted[0]);
        let filled = i64::from(after.status == Status::Executed);
        assert_eq!(desk.entries("buy").await, bought + filled);
        assert_eq!(desk.events(&action).await.len() as i64, 2 + filled);
    }
    desk.is_sound().await;
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
        0 => says_yes(app, session, action, price).await.then_some(Status::Executed),
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
async fn of_two_buys_that_the_cash_covers_once_one_fills_and_the_other_fails() {
    let desk = Desk::with_cash("1000.00").await;
    let there = desk.world.other_process().await;
    let price = Some(desk.price("VTI").await);
    let order = || desk.order(Side::Buy, "VTI", Size::Cash(80_000));
    let (first, second) =
        (desk.propose(order()).await.unwrap(), desk.propose(order()).await.unwrap());
    let yes = at_once([
        says_yes(desk.app().clone(), desk.session.clone(), first.clone(), price),
        says_yes(there, desk.session.clone(), second.clone(), price),
    ]);
    assert_eq!(yes.await, [true, true]);
    let (first, second) = (desk.get(first.id).await, desk.get(second.id).await);
    let mut ends = [ended(&first), ended(&second)];
    ends.sort_unstable();
    assert_eq!(ends, [("executed", None), ("failed", Some("INSUFFICIENT_FUNDS"))]);
    assert_eq!(desk.cash().await, (20_000, 0));
    assert_eq!(desk.entries("buy").await, 1);
    desk.is_sound().await;
}

/// Proposing and carrying out lock the same rows; neither may wait for the other in a circle.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn proposals_and_approvals_of_one_account_go_on_side_by_side() {
    let desk = Arc::new(Desk::new().await);
    let there = desk.world.other_process().await;
    let price = Some(desk.price("VTI").await);
    let mut waiting = Vec::new();
    for _ in 0..15 {
        waiting.push(desk.propose(desk.order(Side::Buy, "VTI", shares("1"))).await.unwrap());
    }
    let approvals = waiting.iter().map(|action| {
        let work = says_yes(there.clone(), desk.session.clone(), action.clone(), price);
        Box::pin(work) as std::pin::Pin<Box<dyn Future<Output = bool> + Send>>
    });
    let proposals = (0..15).map(|_| {
        let desk = desk.clone();
        let work = async move {
            desk.propose(desk.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
            true
        };
        Box::pin(work) as std::pin::Pin<Box<dyn Future<Output = bool> + Send>>
    });
    let all: Vec<_> = approvals.chain(proposals).collect();
    assert_eq!(at_once(all).await, [true; 30]);
    assert_eq!(desk.entries("buy").await, 15);
    assert_eq!(actions::count_pending(desk.app(), &desk.session).await.unwrap(), 15);
    desk.is_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_queued_trade_is_filled_once_by_two_processes_that_both_find_it_due() {
    let desk = Desk::new().await;
    let there = desk.world.other_process().await;
    desk.wait_until(testkit::at("2026-03-10T21:00:00Z"));
    desk.world.market.set("VTI", "50", None);
    for _ in 0..5 {
        let queued = desk.trade(Side::Buy, "VTI", shares("1")).await;
        assert_eq!(queued.status, Status::Approved);
    }
    desk.wait_until(testkit::at("2026-03-11T13:31:00Z"));
    desk.world.market.set("VTI", "50.10", None);
    let steps = (0..8).map(|number| {
        let app = if number % 2 == 0 { desk.app().clone() } else { there.clone() };
        async move { actions::execute_once(&app).await.unwrap() }
    });
    at_once(steps).await;
    assert_eq!(desk.entries("buy").await, 5);
    assert_eq!(desk.entries("release").await, 5);
    assert_eq!(desk.cash().await, (1_000_000 - 5 * 5_010, 0));
    desk.is_sound().await;
}
