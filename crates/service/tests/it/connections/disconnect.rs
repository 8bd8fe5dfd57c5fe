//! Disconnecting and reconnecting.

use std::sync::Arc;

use ::webhooks::outbox;
use service::ingest::connections::{self, State};
use testkit::simplefin::{Fault, Transaction};
use tokio::sync::Notify;

use super::{ConnectionsFixture, DAY, noon};
use crate::{is_conflict, trail};

/// The types of all events of the person, oldest first.
pub(super) async fn event_types(fixture: &ConnectionsFixture) -> Vec<String> {
    let user = fixture.robin.user.id;
    let events = outbox::list(&fixture.world.app.db, user, None, 1_000).await.unwrap();
    events.into_iter().map(|it| it.event_type).collect()
}

#[tokio::test]
async fn disconnecting_deletes_the_access_and_keeps_the_data() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    let (app, robin) = (&fixture.world.app, &fixture.robin.caller);
    let rows = fixture.descriptions().await;
    let before = event_types(&fixture).await.len();
    connections::disconnect(app, robin, id).await.unwrap();
    assert_eq!(event_types(&fixture).await[before..], ["account.disconnected"; 3]);
    assert!(fixture.states().await.iter().all(|(_, state)| state == "disconnected"));
    assert_eq!(fixture.descriptions().await, rows);
    let stored = fixture.world.stored().await;
    assert!(stored["connections"].iter().all(|it| !it.contains("access=")), "{stored:?}");
    let connection = fixture.connection(id).await;
    assert_eq!((connection.state, connection.next_sync_at), (State::Disconnected, None));
    let requests = fixture.request_count();
    assert!(is_conflict(fixture.try_sync(id).await).contains("new setup token"));
    fixture.world.advance_seconds(DAY);
    assert_eq!((fixture.run_due_syncs().await, fixture.request_count()), (0, requests));
    is_conflict(connections::disconnect(app, robin, id).await);
    is_conflict(fixture.choose(id, Vec::new()).await);
    assert_eq!(trail(&fixture.world, robin).await[0], "connection.disconnect");
}

#[tokio::test]
async fn a_sync_that_is_running_while_the_person_disconnects_imports_nothing() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    let rows = fixture.descriptions().await;
    let lunch = Transaction::posted("T4", noon("2026-03-10"), "-9.00", "LUNCH");
    fixture.server.transaction("ACT-checking", lunch);
    let release = Arc::new(Notify::new());
    fixture.server.fail_next(Fault::Held(release.clone()));
    let requests = fixture.request_count();
    let end = async {
        while fixture.request_count() == requests {
            tokio::task::yield_now().await;
        }
        assert!(is_conflict(fixture.try_sync(id).await).contains("is syncing right now"));
        connections::disconnect(&fixture.world.app, &fixture.robin.caller, id).await.unwrap();
        release.notify_one();
    };
    let (synced, ()) = tokio::join!(fixture.try_sync(id), end);
    assert!(is_conflict(synced).contains("nothing was imported"));
    assert_eq!(fixture.descriptions().await, rows);
    assert_eq!(fixture.connection(id).await.state, State::Disconnected);
}

#[tokio::test]
async fn a_new_setup_token_reconnects_a_disconnected_connection() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    let (app, robin) = (&fixture.world.app, &fixture.robin.caller);
    let rows = fixture.descriptions().await;
    connections::disconnect(app, robin, id).await.unwrap();
    let before = event_types(&fixture).await.len();
    let token = fixture.server.setup_token();
    connections::reauthorize(app, robin, id, &token).await.unwrap();
    assert_eq!(event_types(&fixture).await[before..], ["account.connected"; 3]);
    fixture.run_due_syncs().await;
    assert!(fixture.states().await.iter().all(|(_, state)| state == "connected"));
    assert_eq!(fixture.descriptions().await, rows);
    assert_eq!(trail(&fixture.world, robin).await[0], "connection.reauthorize");
}
