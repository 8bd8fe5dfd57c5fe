//! Deliveries queued in memory behind requests that take long.

use base::KeyId;
use db::Tx;
use service::webhooks::{
    self, Attempt, AttemptStatus, DeliveryStatus, EndpointChange, EndpointStatus, POLL_INTERVAL,
};
use testkit::receiver::ScriptedResponse;

use super::Fixture;
use super::processes::{NEVER, Sending, ids, start, waiting};

/// Sixteen requests in flight, answered as given, and twenty-four deliveries queued behind them. The clock stands
/// still, so that no lease ends, and nothing is polled.
pub(super) async fn queue(response: ScriptedResponse) -> (Fixture, Sending) {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    let sending = start(&fixture.world.app, NEVER);
    // After one success, sixteen requests may be in flight.
    fixture.import_transaction("known").await;
    fixture.receiver.wait_for_requests(1).await;
    fixture.receiver.respond_with((0..16).map(|_| response.clone()));
    for number in 0..40 {
        fixture.import_transaction(&format!("n{number}")).await;
    }
    fixture.receiver.wait_for_requests(17).await;
    (fixture, sending)
}

/// How many deliveries the receiver got, each once.
fn count_received(fixture: &Fixture) -> usize {
    let mut ids = ids(&fixture.receiver);
    let all = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), all, "a delivery was received twice");
    all
}

async fn counted(fixture: &Fixture, status: &str) -> i64 {
    const COUNT: &str = "select cast(count(*) as bigint) from deliveries where status = $1";
    let params = &[db::Param::Text(Some(status))];
    fixture.world.app.db.first(COUNT, params, |row| row.get(0)).await.unwrap().unwrap()
}

#[tokio::test]
async fn queued_deliveries_of_a_stopped_process_are_sent_by_another_at_once() {
    let (fixture, sending) = queue(ScriptedResponse::Never).await;
    let next = fixture.world.other_process().await;
    let next = start(&next, POLL_INTERVAL);
    sending.stop.send(true).unwrap();
    fixture.receiver.wait_for_requests(41).await;
    next.end().await;
    assert_eq!(count_received(&fixture), 41);
    assert_eq!(waiting(&fixture.world.app).await, 16, "the hanging requests");
    sending.task.abort();
}

/// After such a wait the attempt could outlast its lease, and another process could make the same attempt.
#[tokio::test]
async fn a_delivery_queued_for_too_long_is_not_sent_before_it_is_claimed_again() {
    let (fixture, sending) = queue(ScriptedResponse::Held).await;
    fixture.world.advance_seconds(30);
    fixture.receiver.release();
    // It is queued behind the deliveries that waited too long, so that these are dropped once it arrives.
    fixture.import_transaction("new").await;
    fixture.receiver.wait_for_requests(18).await;
    sending.end().await;
    assert_eq!((count_received(&fixture), waiting(&fixture.world.app).await), (18, 24));
    fixture.world.advance_seconds(60);
    assert_eq!((fixture.deliver().await, waiting(&fixture.world.app).await), (24, 0));
    assert_eq!(count_received(&fixture), 42);
}

/// No further request is sent; the outcomes of requests in flight are written.
#[tokio::test]
async fn queued_deliveries_of_a_disabled_endpoint_are_not_sent() {
    let (fixture, sending) = queue(ScriptedResponse::Held).await;
    let (mine, caller, id) =
        (fixture.world.app.clone(), fixture.key.caller.clone(), fixture.endpoint.id);
    let off =
        EndpointChange { status: Some(EndpointStatus::Disabled), ..EndpointChange::default() };
    let update = move |tx: &mut Tx<'_>| webhooks::update(&mine, tx, &caller, id, &off);
    fixture.world.app.db.write(update).await.unwrap();
    fixture.receiver.release();
    sending.end().await;
    assert_eq!((count_received(&fixture), waiting(&fixture.world.app).await), (17, 0));
    assert_eq!((counted(&fixture, "delivered").await, counted(&fixture, "failed").await), (17, 24));
    let attempts = fixture.attempts().await;
    assert_eq!(attempts.len(), 17);
    let is_delivered = |it: &Attempt| {
        it.status == AttemptStatus::Succeeded && it.event_status == DeliveryStatus::Delivered
    };
    assert!(attempts.iter().all(is_delivered));
}

#[tokio::test]
async fn queued_deliveries_are_signed_with_both_secrets_after_a_rotation() {
    let (fixture, sending) = queue(ScriptedResponse::Held).await;
    let (mine, caller, id) =
        (fixture.world.app.clone(), fixture.key.caller.clone(), fixture.endpoint.id);
    let rotate = move |tx: &mut Tx<'_>| webhooks::rotate_secret(&mine, tx, &caller, id);
    fixture.world.app.db.write(rotate).await.unwrap();
    fixture.receiver.release();
    fixture.receiver.wait_for_requests(41).await;
    sending.end().await;
    assert_eq!((count_received(&fixture), waiting(&fixture.world.app).await), (41, 0));
    let signatures =
        |it: &testkit::receiver::ReceivedRequest| it.header("webhook-signature").split(' ').count();
    let both = fixture.receiver.requests().iter().filter(|it| signatures(it) == 2).count();
    assert_eq!(both, 24);
}

#[tokio::test]
async fn queued_deliveries_of_a_revoked_key_are_not_sent() {
    let (fixture, sending) = queue(ScriptedResponse::Held).await;
    let key: KeyId = fixture.endpoint.key;
    let owner = fixture.person.user.owner();
    service::access::keys::revoke(&fixture.world.app, &owner, key).await.unwrap();
    fixture.receiver.release();
    sending.end().await;
    assert_eq!(count_received(&fixture), 17);
}
