//! Waiting for changes of an action: answered when something changes, also in another process, and immediately if
//! nothing can change.

use calc::paper::Side;
use service::actions::{self, Status};

use super::{ActionsFixture, approve, shares};

#[tokio::test]
async fn a_waiting_request_is_answered_by_the_decision_and_immediately_in_a_final_state() {
    let fixture = ActionsFixture::new().await;
    let other_process = fixture.world.other_process().await;
    for decider in [fixture.app(), &other_process] {
        let action = fixture.propose(fixture.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
        let wait = |seconds| {
            actions::wait_for_thread(fixture.app(), &fixture.key.caller, action.thread, seconds)
        };
        assert_eq!(wait(0).await.unwrap().status, Status::PendingApproval);
        let (notified, done) =
            tokio::join!(wait(30), approve(decider, &fixture.session, &action, None));
        assert_eq!(done.unwrap().status, Status::Executed);
        assert!(matches!(notified.unwrap().status, Status::Approved | Status::Executed));
        assert_eq!(wait(30).await.unwrap().status, Status::Executed);
    }
}

#[tokio::test]
async fn a_waiting_page_is_notified_of_a_new_proposal() {
    let fixture = ActionsFixture::new().await;
    let known = actions::actions_state(fixture.app(), &fixture.session).await.unwrap();
    assert_eq!(known.pending, 0);
    fixture.world.advance_seconds(1);
    let (notified, made) = tokio::join!(
        actions::wait_for_change(fixture.app(), &fixture.session, known, 30),
        fixture.propose(fixture.order(Side::Buy, "VTI", shares("1")))
    );
    made.unwrap();
    let notified = notified.unwrap();
    assert_eq!(notified.pending, 1);
    assert!(notified.stamp > known.stamp);
    let again =
        actions::wait_for_change(fixture.app(), &fixture.session, notified, 0).await.unwrap();
    assert_eq!(again, notified);
}

/// Both are of one moment, however close the read is to a change.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn count_and_stamp_of_the_actions_state_are_consistent() {
    let fixture = ActionsFixture::new().await;
    let start = fixture.app().clock.now().as_microsecond();
    let known = actions::actions_state(fixture.app(), &fixture.session).await.unwrap();
    let is_over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let watching = tokio::spawn({
        let (app, session, is_over) =
            (fixture.app().clone(), fixture.session.clone(), is_over.clone());
        async move {
            let mut seen = Vec::new();
            while !is_over.load(std::sync::atomic::Ordering::SeqCst) {
                seen.push(actions::actions_state(&app, &session).await.unwrap());
            }
            seen
        }
    });
    for _ in 0..20 {
        fixture.world.advance_seconds(1);
        fixture.propose(fixture.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
    }
    is_over.store(true, std::sync::atomic::Ordering::SeqCst);
    for state in watching.await.unwrap() {
        let proposed_at = start + state.pending * 1_000_000;
        let expected = if state.pending == 0 { known.stamp } else { proposed_at };
        assert_eq!(state.stamp, expected, "{state:?}");
    }
}
