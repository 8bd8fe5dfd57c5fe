//! Those who stand in line behind others that take their time.

use base::KeyId;
use db::Tx;
use service::webhooks::{self, EndpointChange, EndpointStatus, POLL_INTERVAL};
use testkit::receiver::ScriptedResponse;

use super::Line;
use super::processes::{NEVER, Sending, ids, start, waiting};

/// Sixteen on the way, who say what is told, and twenty-four behind them. The clock stands still, so that no lease ends,
/// and nothing is found by looking.
async fn queue(says: ScriptedResponse) -> (Line, Sending) {
    let line = Line::new().await;
    line.only("transaction.created").await;
    let engine = start(&line.world.app, NEVER);
    // One success opens the way for sixteen.
    line.happens("known").await;
    line.receiver.wait_for_requests(1).await;
    line.receiver.respond_with((0..16).map(|_| says.clone()));
    for number in 0..40 {
        line.happens(&format!("n{number}")).await;
    }
    line.receiver.wait_for_requests(17).await;
    (line, engine)
}

/// How many came, each once.
fn heard(line: &Line) -> usize {
    let mut ids = ids(&line.receiver);
    let all = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), all, "something came twice");
    all
}

async fn counted(line: &Line, status: &str) -> i64 {
    const COUNT: &str = "select cast(count(*) as bigint) from deliveries where status = $1";
    let params = &[db::Param::Text(Some(status))];
    line.world.app.db.first(COUNT, params, |row| row.get(0)).await.unwrap().unwrap()
}

#[tokio::test]
async fn when_a_process_stops_they_are_sent_by_the_next_at_once() {
    let (line, engine) = queue(ScriptedResponse::Never).await;
    let next = line.world.other_process().await;
    let next = start(&next, POLL_INTERVAL);
    engine.stop.send(true).unwrap();
    line.receiver.wait_for_requests(41).await;
    next.end().await;
    assert_eq!(heard(&line), 41);
    assert_eq!(waiting(&line.world.app).await, 16, "those that hang");
    engine.task.abort();
}

/// So long that an attempt could outlast its lease, and another process could make the same one meanwhile.
#[tokio::test]
async fn who_waited_for_too_long_does_not_set_out_before_it_is_claimed_again() {
    let (line, engine) = queue(ScriptedResponse::Held).await;
    line.world.advance_seconds(30);
    line.receiver.release();
    // It stands behind those that were too long in line, and so is past them when it arrives.
    line.happens("new").await;
    line.receiver.wait_for_requests(18).await;
    engine.end().await;
    assert_eq!((heard(&line), waiting(&line.world.app).await), (18, 24));
    line.world.advance_seconds(60);
    assert_eq!((line.deliver().await, waiting(&line.world.app).await), (24, 0));
    assert_eq!(heard(&line), 42);
}

/// Nothing more sets out; what was on its way is written down as what came of it.
#[tokio::test]
async fn when_their_endpoint_is_switched_off_they_are_not_sent() {
    let (line, engine) = queue(ScriptedResponse::Held).await;
    let (mine, caller, id) = (line.world.app.clone(), line.key.caller.clone(), line.endpoint.id);
    let off =
        EndpointChange { status: Some(EndpointStatus::Disabled), ..EndpointChange::default() };
    let update = move |tx: &mut Tx<'_>| webhooks::update(&mine, tx, &caller, id, &off);
    line.world.app.db.write(update).await.unwrap();
    line.receiver.release();
    engine.end().await;
    assert_eq!((heard(&line), waiting(&line.world.app).await), (17, 0));
    assert_eq!((counted(&line, "delivered").await, counted(&line, "failed").await), (17, 24));
    let attempts = line.attempts().await;
    assert_eq!(attempts.len(), 17);
    assert!(attempts.iter().all(|it| it.status == "succeeded" && it.event_status == "delivered"));
}

#[tokio::test]
async fn when_their_secret_changes_they_are_signed_with_both() {
    let (line, engine) = queue(ScriptedResponse::Held).await;
    let (mine, caller, id) = (line.world.app.clone(), line.key.caller.clone(), line.endpoint.id);
    let rotate = move |tx: &mut Tx<'_>| webhooks::rotate_secret(&mine, tx, &caller, id);
    line.world.app.db.write(rotate).await.unwrap();
    line.receiver.release();
    line.receiver.wait_for_requests(41).await;
    engine.end().await;
    assert_eq!((heard(&line), waiting(&line.world.app).await), (41, 0));
    let signatures =
        |it: &testkit::receiver::ReceivedRequest| it.header("webhook-signature").split(' ').count();
    let both = line.receiver.requests().iter().filter(|it| signatures(it) == 2).count();
    assert_eq!(both, 24);
}

#[tokio::test]
async fn when_their_key_ends_they_are_not_sent() {
    let (line, engine) = queue(ScriptedResponse::Held).await;
    let key: KeyId = line.endpoint.key;
    let owner = service::Caller::owner(line.person.user.id);
    service::access::keys::revoke(&line.world.app, &owner, key).await.unwrap();
    line.receiver.release();
    engine.end().await;
    assert_eq!(heard(&line), 17);
}
