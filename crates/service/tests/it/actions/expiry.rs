//! Time: a proposal can be decided until its last microsecond, and not at the next.

use std::time::Duration;

use calc::paper::Side;
use service::actions::{self, NewAction, Status};

use super::once::cancel;
use super::{Desk, approve, seen, shares};
use crate::is_conflict;

const OVER: &str = "this proposal has expired; it must be proposed again";

/// A minute of life, so that the market's price is still fresh at its end.
fn short(desk: &Desk) -> NewAction {
    let order = desk.order(Side::Buy, "VTI", shares("1"));
    NewAction { expires_in_seconds: Some(60), ..order }
}

#[tokio::test]
async fn the_last_microsecond_is_in_time_and_the_next_is_late_whoever_decides() {
    let desk = Desk::new().await;
    let price = Some(desk.price("VTI").await);
    let mut proposals = Vec::new();
    for _ in 0..5 {
        proposals.push(desk.propose(short(&desk)).await.unwrap());
    }
    desk.world.clock.advance(Duration::from_micros(60_000_000 - 1));
    assert_eq!(actions::count_pending(desk.app(), &desk.session).await.unwrap(), 5);
    let done = approve(desk.app(), &desk.session, &proposals[0], price).await.unwrap();
    assert_eq!(done.status, Status::Executed);
    cancel(desk.app(), &desk.key.caller, proposals[1].id).await.unwrap();
    desk.world.clock.advance(Duration::from_micros(1));
    assert_eq!(actions::count_pending(desk.app(), &desk.session).await.unwrap(), 0);
    for swept in [false, true] {
        if swept {
            assert_eq!(actions::expire_once(desk.app()).await.unwrap(), 3);
            assert_eq!(actions::expire_once(desk.app()).await.unwrap(), 0);
        }
        let late = &proposals[2];
        assert_eq!(desk.get(late.id).await.status, Status::Expired);
        assert_eq!(is_conflict(approve(desk.app(), &desk.session, late, price).await), OVER);
        let rejected = actions::reject(desk.app(), &desk.session, late.id, seen(late, None), None);
        assert_eq!(is_conflict(rejected.await), OVER);
        let cancelled = cancel(desk.app(), &desk.key.caller, late.id).await;
        assert_eq!(is_conflict(cancelled), OVER);
        let (party, seen) = (crate::party(), seen(late, None));
        let asked = actions::ask_passkey(desk.app(), &desk.session, &party, late.id, seen).await;
        assert_eq!(is_conflict(asked), OVER);
    }
    assert_eq!(desk.entries("buy").await, 1);
    let told = ["action.created pending_approval", "action.decided expired"];
    assert_eq!(desk.events(&proposals[2]).await, told);
    desk.is_sound().await;
}

/// Who read the page in time but clicked late is late: the clock is asked by the update itself.
#[tokio::test]
async fn another_processs_slow_clock_does_not_lengthen_a_life_that_was_written_down_as_over() {
    let desk = Desk::new().await;
    let slow = base::Clock::frozen_at(&desk.world.clock.now().to_string());
    let there = desk.world.other_process_at(slow).await;
    let action = desk.propose(short(&desk)).await.unwrap();
    desk.world.advance_seconds(60);
    actions::expire_once(desk.app()).await.unwrap();
    let late = approve(&there, &desk.session, &action, None).await;
    assert_eq!(is_conflict(late), OVER);
}

#[tokio::test]
async fn what_is_approved_in_time_is_carried_out_however_late() {
    let desk = Desk::new().await;
    let price = Some(desk.price("VTI").await);
    let action = desk.propose(short(&desk)).await.unwrap();
    desk.world.market.set_unavailable(true);
    desk.world.advance_seconds(30);
    let waiting = approve(desk.app(), &desk.session, &action, price).await.unwrap();
    assert_eq!(waiting.status, Status::Executed, "the last word of the market is fresh enough");
    let action = desk.propose(short(&desk)).await.unwrap();
    desk.world.market.set_unavailable(false);
    desk.world.market.set_at("VTI", "50", testkit::at("2026-03-10T14:00:00Z"));
    desk.world.advance_seconds(2);
    let waiting = approve(desk.app(), &desk.session, &action, price).await.unwrap();
    assert_eq!(waiting.status, Status::Approved);
    desk.world.advance_seconds(600);
    assert_eq!(actions::expire_once(desk.app()).await.unwrap(), 0);
    desk.world.market.set("VTI", "50", None);
    actions::execute_once(desk.app()).await.unwrap();
    assert_eq!(desk.get(action.id).await.status, Status::Executed);
}
