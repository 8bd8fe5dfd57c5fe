//! Expiry: a proposal can be decided until the last microsecond before it expires.

use std::time::Duration;

use calc::paper::Side;
use service::actions::{self, NewAction, Status};

use super::once::cancel;
use super::{ActionsFixture, approve, seen, shares};
use crate::is_conflict;

const EXPIRED: &str = "this proposal has expired; it must be proposed again";

/// A proposal that expires after a minute, when the market's price is still fresh.
fn short_lived(fixture: &ActionsFixture) -> NewAction {
    let order = fixture.order(Side::Buy, "VTI", shares("1"));
    NewAction { expires_in_seconds: Some(60), ..order }
}

#[tokio::test]
async fn a_proposal_can_be_decided_until_its_last_microsecond_and_not_after() {
    let fixture = ActionsFixture::new().await;
    let price = Some(fixture.price("VTI").await);
    let mut proposals = Vec::new();
    for _ in 0..5 {
        proposals.push(fixture.propose(short_lived(&fixture)).await.unwrap());
    }
    fixture.world.clock.advance(Duration::from_micros(60_000_000 - 1));
    assert_eq!(actions::count_pending(fixture.app(), &fixture.session).await.unwrap(), 5);
    let done = approve(fixture.app(), &fixture.session, &proposals[0], price).await.unwrap();
    assert_eq!(done.status, Status::Executed);
    cancel(fixture.app(), &fixture.key.caller, proposals[1].id).await.unwrap();
    fixture.world.clock.advance(Duration::from_micros(1));
    assert_eq!(actions::count_pending(fixture.app(), &fixture.session).await.unwrap(), 0);
    for swept in [false, true] {
        if swept {
            assert_eq!(actions::expire_once(fixture.app()).await.unwrap(), 3);
            assert_eq!(actions::expire_once(fixture.app()).await.unwrap(), 0);
        }
        let late = &proposals[2];
        assert_eq!(fixture.get(late.id).await.status, Status::Expired);
        assert_eq!(
            is_conflict(approve(fixture.app(), &fixture.session, late, price).await),
            EXPIRED
        );
        let rejected =
            actions::reject(fixture.app(), &fixture.session, late.id, seen(late, None), None);
        assert_eq!(is_conflict(rejected.await), EXPIRED);
        let cancelled = cancel(fixture.app(), &fixture.key.caller, late.id).await;
        assert_eq!(is_conflict(cancelled), EXPIRED);
        let (party, seen) = (crate::party(), seen(late, None));
        let challenge =
            actions::ask_passkey(fixture.app(), &fixture.session, &party, late.id, seen).await;
        assert_eq!(is_conflict(challenge), EXPIRED);
    }
    assert_eq!(fixture.count_entries("buy").await, 1);
    let expected = ["action.created pending_approval", "action.decided expired"];
    assert_eq!(fixture.events(&proposals[2]).await, expected);
    fixture.verify_integrity().await;
}

/// Once a proposal is stored as expired, the clock of the approving process no longer matters.
#[tokio::test]
async fn a_process_with_a_slow_clock_cannot_approve_an_expired_proposal() {
    let fixture = ActionsFixture::new().await;
    let slow = base::Clock::frozen_at(&fixture.world.clock.now().to_string());
    let other_process = fixture.world.other_process_at(slow).await;
    let action = fixture.propose(short_lived(&fixture)).await.unwrap();
    fixture.world.advance_seconds(60);
    actions::expire_once(fixture.app()).await.unwrap();
    let late = approve(&other_process, &fixture.session, &action, None).await;
    assert_eq!(is_conflict(late), EXPIRED);
}

#[tokio::test]
async fn an_action_approved_in_time_is_executed_even_after_its_expiry() {
    let fixture = ActionsFixture::new().await;
    let price = Some(fixture.price("VTI").await);
    let action = fixture.propose(short_lived(&fixture)).await.unwrap();
    fixture.world.market.set_unavailable(true);
    fixture.world.advance_seconds(30);
    let waiting = approve(fixture.app(), &fixture.session, &action, price).await.unwrap();
    assert_eq!(waiting.status, Status::Executed, "the last known price is fresh enough");
    let action = fixture.propose(short_lived(&fixture)).await.unwrap();
    fixture.world.market.set_unavailable(false);
    fixture.world.market.set_at("VTI", "50", testkit::at("2026-03-10T14:00:00Z"));
    fixture.world.advance_seconds(2);
    let waiting = approve(fixture.app(), &fixture.session, &action, price).await.unwrap();
    assert_eq!(waiting.status, Status::Approved);
    fixture.world.advance_seconds(600);
    assert_eq!(actions::expire_once(fixture.app()).await.unwrap(), 0);
    fixture.world.market.set("VTI", "50", None);
    actions::execute_once(fixture.app()).await.unwrap();
    assert_eq!(fixture.get(action.id).await.status, Status::Executed);
}
