//! Fencing: a process that lost its lease on a delivery does not decide when it is retried.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use service::App;
use service::webhooks;
use testkit::receiver::ScriptedResponse;

use super::Fixture;

/// Longer than the lease of a delivery.
const A_MINUTE: Duration = Duration::from_secs(60);

pub(crate) type Sending = Pin<Box<dyn Future<Output = service::Result<usize>>>>;

/// The status of the one delivery, how often it was tried, and when it is due.
async fn delivery(app: &App) -> (String, i64, Option<i64>) {
    let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let text = "select status, attempts, due_at from deliveries";
    app.db.first(text, &[], read).await.unwrap().unwrap()
}

/// A process that claimed the delivery and was paused before it sent anything.
pub(crate) async fn paused(app: &App) -> Sending {
    let before = delivery(app).await;
    let mine = app.clone();
    let mut sending: Sending = Box::pin(async move { webhooks::deliver_once(&mine).await });
    for _ in 0..10_000 {
        let polled = poll_fn(|context| Poll::Ready(sending.as_mut().poll(context))).await;
        assert!(polled.is_pending(), "it was not paused in time");
        if delivery(app).await != before {
            return sending;
        }
        tokio::task::yield_now().await;
    }
    panic!("the delivery was never claimed");
}

#[tokio::test]
async fn a_failure_under_a_lost_lease_does_not_change_the_delivery() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    fixture.import_transaction("one").await;
    let late = paused(&fixture.world.app).await;
    fixture.world.clock.advance(A_MINUTE);
    let other_process = fixture.world.other_process().await;
    let current = paused(&other_process).await;
    let claimed = delivery(&other_process).await;

    fixture.receiver.respond_with([ScriptedResponse::Status(500)]);
    late.await.unwrap();
    assert_eq!(
        delivery(&other_process).await,
        claimed,
        "an outcome under a lost lease was settled"
    );
    current.await.unwrap();
    assert_eq!(fixture.receiver.requests().len(), 2);
    assert_eq!(delivery(&other_process).await, ("delivered".to_owned(), 1, None));
}

#[tokio::test]
async fn a_success_under_a_lost_lease_counts_as_delivered() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    fixture.import_transaction("one").await;
    let late = paused(&fixture.world.app).await;
    fixture.world.clock.advance(A_MINUTE);
    let other_process = fixture.world.other_process().await;
    let current = paused(&other_process).await;

    late.await.unwrap();
    assert_eq!(delivery(&other_process).await, ("delivered".to_owned(), 1, None));
    fixture.receiver.respond_with([ScriptedResponse::Status(500)]);
    current.await.unwrap();
    assert_eq!(delivery(&other_process).await, ("delivered".to_owned(), 1, None));
}
