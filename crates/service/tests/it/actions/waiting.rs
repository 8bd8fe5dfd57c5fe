//! Waiting for news of an action: answered when something changes, also by another process, and at once when nothing can.

use calc::paper::Side;
use service::actions::{self, Status};

use super::{Desk, approve, shares};

#[tokio::test]
async fn who_waits_is_answered_by_the_decision_and_a_final_state_at_once() {
    let desk = Desk::new().await;
    let there = desk.world.other_process().await;
    for decider in [desk.app(), &there] {
        let action = desk.propose(desk.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
        let wait = |seconds| {
            actions::wait_for_thread(desk.app(), &desk.key.caller, action.thread, seconds)
        };
        assert_eq!(wait(0).await.unwrap().status, Status::PendingApproval);
        let (heard, done) = tokio::join!(wait(30), approve(decider, &desk.session, &action, None));
        assert_eq!(done.unwrap().status, Status::Executed);
        assert!(matches!(heard.unwrap().status, Status::Approved | Status::Executed));
        assert_eq!(wait(30).await.unwrap().status, Status::Executed);
    }
}

#[tokio::test]
async fn a_page_hears_of_what_is_proposed() {
    let desk = Desk::new().await;
    let known = actions::actions_state(desk.app(), &desk.session).await.unwrap();
    assert_eq!(known.pending, 0);
    desk.world.advance_seconds(1);
    let (heard, made) = tokio::join!(
        actions::wait_for_change(desk.app(), &desk.session, known, 30),
        desk.propose(desk.order(Side::Buy, "VTI", shares("1")))
    );
    made.unwrap();
    let heard = heard.unwrap();
    assert_eq!(heard.pending, 1);
    assert!(heard.stamp > known.stamp);
    let again = actions::wait_for_change(desk.app(), &desk.session, heard, 0).await.unwrap();
    assert_eq!(again, heard);
}

/// The count and the stamp of one pulse belong together, however close it is to a change.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pulse_is_of_one_moment() {
    let desk = Desk::new().await;
    let start = desk.app().clock.now().as_microsecond();
    let known = actions::actions_state(desk.app(), &desk.session).await.unwrap();
    let is_over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let watching = tokio::spawn({
        let (app, session, is_over) = (desk.app().clone(), desk.session.clone(), is_over.clone());
        async move {
            let mut seen = Vec::new();
            while !is_over.load(std::sync::atomic::Ordering::SeqCst) {
                seen.push(actions::actions_state(&app, &session).await.unwrap());
            }
            seen
        }
    });
    for _ in 0..20 {
        desk.world.advance_seconds(1);
        desk.propose(desk.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
    }
    is_over.store(true, std::sync::atomic::Ordering::SeqCst);
    for pulse in watching.await.unwrap() {
        let proposed_at = start + pulse.pending * 1_000_000;
        let expected = if pulse.pending == 0 { known.stamp } else { proposed_at };
        assert_eq!(pulse.stamp, expected, "{pulse:?}");
    }
}
