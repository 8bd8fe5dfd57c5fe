//! Sending again by hand: one delivery, or all that failed since a day.

use base::{EventId, Timestamp};
use service::platform::cursors::Page;
use service::webhooks::replay::{self, Replay, ReplayStatus};
use service::webhooks::{self, DeliveryDetail, EndpointChange, EndpointStatus};
use service::{Caller, Error};
use testkit::new_key;
use testkit::receiver::ScriptedResponse;

use super::{Line, is_signed};

const HOUR: u64 = 3_600;

async fn change(line: &Line, change: EndpointChange) {
    let (mine, caller, id) = (line.world.app.clone(), line.key.caller.clone(), line.endpoint.id);
    let update = move |tx: &mut db::Tx<'_>| webhooks::update(&mine, tx, &caller, id, &change);
    line.world.app.db.write(update).await.unwrap();
}

async fn switch(line: &Line, status: EndpointStatus) {
    change(line, EndpointChange { status: Some(status), ..EndpointChange::default() }).await;
}

/// So many events of which none arrived: they waited while the endpoint was switched off.
async fn missed(count: usize) -> Line {
    let line = Line::new().await;
    let filter_types = Some(vec!["transaction.created".to_owned()]);
    change(&line, EndpointChange { filter_types, ..EndpointChange::default() }).await;
    for number in 0..count {
        line.happens(&format!("n{number}")).await;
    }
    switch(&line, EndpointStatus::Disabled).await;
    switch(&line, EndpointStatus::Active).await;
    line
}

async fn dead(line: &Line, caller: &Caller) -> Vec<DeliveryDetail> {
    let page = Page { cursor: None, limit: 100 };
    webhooks::list_failed(&line.world.app, caller, None, page).await.unwrap().deliveries
}

async fn start(line: &Line, since: Timestamp) -> service::Result<Replay> {
    let (mine, caller, id) = (line.world.app.clone(), line.key.caller.clone(), line.endpoint.id);
    let start = move |tx: &mut db::Tx<'_>| replay::start(&mine, tx, &caller, id, since);
    line.world.app.db.write(start).await
}

fn ago(line: &Line, seconds: i64) -> Timestamp {
    Timestamp::from_second(line.world.clock.now().as_second() - seconds).unwrap()
}

async fn job(line: &Line) -> Replay {
    replay::list(&line.world.app, &line.key.caller).await.unwrap().remove(0)
}

fn is_conflict<T: std::fmt::Debug>(result: service::Result<T>, said: &str) {
    match result {
        Err(Error::Conflict { message, .. }) => assert!(message.contains(said), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn one_dead_letter_is_sent_again_with_its_id_and_a_fresh_signature() {
    let line = missed(1).await;
    let (app, caller) = (&line.world.app, &line.key.caller);
    let letter = dead(&line, caller).await.remove(0);
    line.world.advance_seconds(HOUR);
    line.receiver.respond_with([ScriptedResponse::Status(500)]);
    let first = replay::resend(app, caller, letter.endpoint, letter.event).await.unwrap();
    assert_eq!((first.trigger.as_str(), first.status.as_str()), ("manual", "failed"));
    assert_eq!((first.event_status.as_str(), first.next_at), ("failed", None));
    // It counts for nothing, and nothing repeats it.
    assert_eq!(line.now().await.failing_since, None);
    line.world.advance_seconds(HOUR);
    assert_eq!(line.deliver().await, 0);
    let second = replay::resend(app, caller, letter.endpoint, letter.event).await.unwrap();
    assert_eq!((second.event_status.as_str(), second.attempt), ("delivered", first.attempt + 1));
    assert!(line.now().await.last_delivery_at.is_some());
    assert!(dead(&line, caller).await.is_empty());
    let heard = line.receiver.requests();
    assert_eq!(heard.len(), 2);
    assert!(heard.iter().all(|it| it.header("webhook-id") == letter.event.to_string()));
    assert!(heard.iter().all(|it| is_signed(it, &line.secret)));
    assert_ne!(heard[0].header("webhook-timestamp"), heard[1].header("webhook-timestamp"));
}

#[tokio::test]
async fn what_waits_or_is_off_or_gone_or_somebody_elses_is_not_sent_again() {
    let line = missed(1).await;
    let (app, caller) = (&line.world.app, &line.key.caller);
    let letter = dead(&line, caller).await.remove(0);
    let again = |caller: Caller, event: EventId| {
        let app = line.world.app.clone();
        async move { replay::resend(&app, &caller, letter.endpoint, event).await }
    };
    let other = line.person.key(new_key()).await;
    let found = again(other.caller, letter.event).await;
    assert!(matches!(found, Err(Error::NotFound(_))), "{found:?}");
    let found = again(caller.clone(), EventId::from_bytes([7; 16])).await;
    assert!(matches!(found, Err(Error::NotFound(_))), "{found:?}");

    line.happens("waits").await;
    let waiting = webhooks::get_event(app, caller, letter.event).await.unwrap();
    assert_eq!(waiting.deliveries[0].status, "failed");
    let stored = service::outbox::list(&app.db, caller.user, None, 100).await.unwrap();
    let newest = stored.iter().rfind(|it| it.event_type == "transaction.created").unwrap().id;
    is_conflict(again(caller.clone(), newest).await, "still being tried");

    switch(&line, EndpointStatus::Disabled).await;
    is_conflict(again(caller.clone(), letter.event).await, "enable it first");
    is_conflict(start(&line, ago(&line, 60)).await, "enable it first");
    switch(&line, EndpointStatus::Active).await;
    line.world.advance_seconds(31 * 24 * HOUR);
    webhooks::delete_expired_once(app).await.unwrap();
    is_conflict(again(caller.clone(), letter.event).await, "kept for 30 days");
    assert!(line.receiver.requests().is_empty());
}

#[tokio::test]
async fn a_job_sends_each_dead_letter_once_and_tells_how_far_it_is() {
    let line = missed(70).await;
    line.receiver.respond_with((0..3).map(|_| ScriptedResponse::Status(500)));
    let made = start(&line, ago(&line, 60)).await.unwrap();
    assert_eq!((made.total, made.done, made.status), (70, 0, ReplayStatus::Running));
    is_conflict(start(&line, ago(&line, 60)).await, "already");
    // Nothing more was sent by itself than the step sends.
    assert_eq!(webhooks::replay_once(&line.world.app).await.unwrap(), 64);
    let now = job(&line).await;
    assert_eq!((now.done, now.delivered, now.status), (64, 61, ReplayStatus::Running));
    assert_eq!(webhooks::replay_once(&line.world.app).await.unwrap(), 6);
    assert_eq!(webhooks::replay_once(&line.world.app).await.unwrap(), 0);
    let now = job(&line).await;
    assert_eq!((now.done, now.delivered, now.status), (70, 67, ReplayStatus::Done));
    assert_eq!(line.receiver.requests().len(), 70);
    // Those that failed again are dead letters still, and another job takes them.
    assert_eq!(dead(&line, &line.key.caller).await.len(), 3);
    assert!(line.attempts().await.iter().all(|it| it.trigger == "manual"));
    assert_eq!(start(&line, ago(&line, 60)).await.unwrap().total, 3);
    webhooks::replay_once(&line.world.app).await.unwrap();
    assert!(dead(&line, &line.key.caller).await.is_empty());
}

#[tokio::test]
async fn a_job_takes_what_failed_since_its_day_and_no_more_than_thirty() {
    let line = missed(2).await;
    line.world.advance_seconds(48 * HOUR);
    line.happens("later").await;
    switch(&line, EndpointStatus::Disabled).await;
    switch(&line, EndpointStatus::Active).await;
    let refused = start(&line, ago(&line, -1)).await;
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    let refused = start(&line, ago(&line, 31 * 86_400)).await;
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    assert_eq!(start(&line, ago(&line, 86_400)).await.unwrap().total, 1);
    webhooks::replay_once(&line.world.app).await.unwrap();
    assert_eq!(line.receiver.requests().len(), 1);
    webhooks::replay_once(&line.world.app).await.unwrap();
    assert_eq!(job(&line).await.status, ReplayStatus::Done);
    assert_eq!(start(&line, ago(&line, 30 * 86_400)).await.unwrap().total, 2);
    let other = line.person.key(new_key()).await;
    assert!(replay::list(&line.world.app, &other.caller).await.unwrap().is_empty());
    let person = line.person.session().await;
    assert_eq!(replay::list(&line.world.app, &person).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_job_of_somebody_who_died_is_taken_over_and_an_endpoint_that_is_off_stops_it() {
    let line = missed(2).await;
    start(&line, ago(&line, 60)).await.unwrap();
    line.receiver.respond_with([ScriptedResponse::Never, ScriptedResponse::Never]);
    let app = line.world.app.clone();
    let dying = tokio::spawn(async move { webhooks::replay_once(&app).await });
    line.receiver.wait_for_requests(2).await;
    dying.abort();
    let _ = dying.await;
    let other_process = line.world.other_process().await;
    assert_eq!(webhooks::replay_once(&other_process).await.unwrap(), 0);
    assert_eq!(job(&line).await.done, 0);
    line.world.advance_seconds(46);
    assert_eq!(webhooks::replay_once(&other_process).await.unwrap(), 2);
    assert_eq!(job(&line).await.delivered, 2);

    let line = missed(2).await;
    start(&line, ago(&line, 60)).await.unwrap();
    switch(&line, EndpointStatus::Disabled).await;
    assert_eq!(webhooks::replay_once(&line.world.app).await.unwrap(), 0);
    assert_eq!(job(&line).await.status, ReplayStatus::Stopped);
    assert!(line.receiver.requests().is_empty());
}

#[tokio::test]
async fn who_says_gone_to_a_replay_is_gone() {
    let line = missed(1).await;
    let caller = &line.key.caller;
    let letter = dead(&line, caller).await.remove(0);
    line.receiver.respond_with([ScriptedResponse::Status(410)]);
    let app = &line.world.app;
    replay::resend(app, caller, letter.endpoint, letter.event).await.unwrap();
    assert_eq!(line.now().await.disabled_reason.as_deref(), Some("gone"));
}

/// Two jobs of one person; the receiver of the first never answers.
#[tokio::test]
async fn an_endpoint_that_hangs_holds_up_no_other_job() {
    let line = missed(3).await;
    let other = testkit::receiver::Receiver::start().await;
    let (hanging, _) =
        super::create(&line.world.app, &line.key.caller, &other.url, &[]).await.unwrap();
    line.happens("for both").await;
    let (mine, caller, id) = (line.world.app.clone(), line.key.caller.clone(), hanging.id);
    let since = ago(&line, 60);
    let both = move |tx: &mut db::Tx<'_>| {
        for status in [EndpointStatus::Disabled, EndpointStatus::Active] {
            let change = EndpointChange { status: Some(status), ..EndpointChange::default() };
            webhooks::update(&mine, tx, &caller, id, &change)?;
        }
        replay::start(&mine, tx, &caller, id, since)
    };
    line.world.app.db.write(both).await.unwrap();
    start(&line, since).await.unwrap();
    other.respond_with([
        ScriptedResponse::Never,
        ScriptedResponse::Never,
        ScriptedResponse::Never,
        ScriptedResponse::Never,
    ]);
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let app = line.world.app.clone();
    let running = tokio::spawn(webhooks::run_replays(app, webhooks::POLL_INTERVAL, stopped));
    other.wait_for_requests(1).await;
    line.receiver.wait_for_requests(3).await;
    running.abort();
    drop(stop);
}

#[tokio::test]
async fn a_job_goes_on_whose_lease_was_taken_before_the_clock_was_set_back() {
    let line = missed(2).await;
    start(&line, ago(&line, 60)).await.unwrap();
    let lease = async |seconds: i64| {
        let at = line.world.clock.now().as_microsecond() + seconds * 1_000_000;
        let write = move |tx: &mut db::Tx<'_>| {
            Ok::<_, Error>(tx.execute("update replays set due_at = $1", db::params![at])?)
        };
        assert_eq!(line.world.app.db.write(write).await.unwrap(), 1);
    };
    lease(45).await;
    assert_eq!(webhooks::replay_once(&line.world.app).await.unwrap(), 0, "somebody works on it");
    lease(3_600 + 45).await;
    assert_eq!(webhooks::replay_once(&line.world.app).await.unwrap(), 2);
}
