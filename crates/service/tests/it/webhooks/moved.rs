//! Endpoints that one process moves, rotates, disables or deletes while another has deliveries to them in memory: after the
//! change was answered, nothing more is sent to the old address or signed only with the old secret.

use db::Engine;
use service::webhooks::{self, EndpointChange, EndpointStatus};
use testkit::receiver::{Receiver, ScriptedResponse};

use super::processes::{NEVER, ids, start, waiting};
use super::queued::queue;
use super::{Fixture, is_signed};

/// Requests that were on their way when the endpoint changed: one success, and sixteen that are held.
const SENT_BEFORE: usize = 17;
/// Deliveries in memory behind them.
const QUEUED: usize = 24;

fn is_sent_once(receivers: &[&Receiver]) {
    let mut all: Vec<String> = receivers.iter().flat_map(|it| ids(it)).collect();
    all.sort();
    let count = all.len();
    all.dedup();
    assert_eq!(all.len(), count, "a delivery was received twice");
}

/// Changes the endpoint in another process than the one that sends.
async fn change_elsewhere(fixture: &Fixture, change: EndpointChange) {
    let other = fixture.world.other_process().await;
    let owner = fixture.person.user.owner();
    webhooks::changes::update(&other, &owner, fixture.endpoint.id, change).await.unwrap();
}

fn moved_to(receiver: &Receiver) -> EndpointChange {
    EndpointChange { url: Some(receiver.url.clone()), ..EndpointChange::default() }
}

#[tokio::test]
async fn deliveries_go_to_the_new_address_after_another_process_moved_the_endpoint() {
    let (fixture, sending) = queue(ScriptedResponse::Held).await;
    let new = Receiver::start().await;
    change_elsewhere(&fixture, moved_to(&new)).await;
    fixture.receiver.release();
    new.wait_for_requests(QUEUED).await;
    sending.end().await;
    assert_eq!((fixture.receiver.requests().len(), new.requests().len()), (SENT_BEFORE, QUEUED));
    is_sent_once(&[&fixture.receiver, &new]);
    assert_eq!(waiting(&fixture.world.app).await, 0);
}

/// The deliveries wait in one process behind requests that hang. They are given back at once, and another sends them.
#[tokio::test]
async fn deliveries_behind_an_address_that_hangs_are_given_back_when_the_endpoint_moves() {
    let (fixture, sending) = queue(ScriptedResponse::Never).await;
    // SQLite has no notifications between processes.
    if fixture.world.app.db.engine() == Engine::Sqlite {
        sending.task.abort();
        return;
    }
    let (new, other) = (Receiver::start().await, fixture.world.other_process().await);
    let other = start(&other, NEVER);
    change_elsewhere(&fixture, moved_to(&new)).await;
    new.wait_for_requests(QUEUED).await;
    assert_eq!(fixture.receiver.requests().len(), SENT_BEFORE);
    is_sent_once(&[&fixture.receiver, &new]);
    other.end().await;
    sending.task.abort();
}

#[tokio::test]
async fn deliveries_are_signed_with_the_new_secret_after_another_process_rotated_it() {
    let (fixture, sending) = queue(ScriptedResponse::Held).await;
    let (other, owner) = (fixture.world.other_process().await, fixture.person.user.owner());
    let rotated = webhooks::changes::rotate_secret(&other, &owner, fixture.endpoint.id).await;
    let (secret, _) = rotated.unwrap();
    fixture.receiver.release();
    let received = fixture.receiver.wait_for_requests(SENT_BEFORE + QUEUED).await;
    sending.end().await;
    assert_eq!(received.iter().filter(|it| is_signed(it, &secret)).count(), QUEUED);
    assert!(received.iter().all(|it| is_signed(it, &fixture.secret)), "both sign for a day");
    is_sent_once(&[&fixture.receiver]);
}

#[tokio::test]
async fn nothing_is_sent_after_another_process_disabled_or_deleted_the_endpoint() {
    for is_deleted in [false, true] {
        let (fixture, sending) = queue(ScriptedResponse::Held).await;
        if is_deleted {
            let (other, owner) = (fixture.world.other_process().await, fixture.person.user.owner());
            webhooks::changes::delete(&other, &owner, fixture.endpoint.id).await.unwrap();
        } else {
            let status = Some(EndpointStatus::Disabled);
            change_elsewhere(&fixture, EndpointChange { status, ..Default::default() }).await;
        }
        fixture.receiver.release();
        sending.end().await;
        assert_eq!(fixture.receiver.requests().len(), SENT_BEFORE, "deleted: {is_deleted}");
        assert_eq!(waiting(&fixture.world.app).await, 0);
    }
}

/// A change that does not concern deliveries leaves those in memory alone.
#[tokio::test]
async fn deliveries_are_not_read_again_after_a_new_description() {
    let (fixture, sending) = queue(ScriptedResponse::Held).await;
    let description = Some(Some("Books".to_owned()));
    change_elsewhere(&fixture, EndpointChange { description, ..Default::default() }).await;
    let sql = "select version from webhook_endpoints";
    let version = fixture.world.app.db.first(sql, &[], |row| row.get::<i64>(0)).await.unwrap();
    assert_eq!(version, Some(1));
    fixture.receiver.release();
    fixture.receiver.wait_for_requests(SENT_BEFORE + QUEUED).await;
    sending.end().await;
    is_sent_once(&[&fixture.receiver]);
}
