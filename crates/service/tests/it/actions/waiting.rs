//! Waiting for news of an action: answered when something changes, also by another process, and at once when nothing can.

use calc::paper::Side;
use service::actions::{self, Status};

use super::{Desk, approve, shares};

#[tokio::test]
async fn who_waits_is_answered_by_the_decision_and_a_final_state_at_once() {
    let desk = Desk::new().await;
    let there = desk.world.neighbour().await;
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
    let known = actions::pulse(desk.app(), &desk.session).await.unwrap();
    assert_eq!(known.pending, 0);
    desk.world.advance_seconds(1);
    let (heard, made) = tokio::join!(
        actions::wait_for_pulse(desk.app(), &desk.session, known, 30),
        desk.propose(desk.order(Side::Buy, "VTI", shares("1")))
    );
    made.unwrap();
    let heard = heard.unwrap();
    assert_eq!(heard.pending, 1);
    assert!(heard.stamp > known.stamp);
    let again = actions::wait_for_pulse(desk.app(), &desk.session, heard, 0).await.unwrap();
    assert_eq!(again, heard);
}
