//! The end of a connection, and a new beginning.

use std::sync::Arc;

use ::webhooks::outbox;
use service::ingest::connections::{self, State};
use testkit::simplefin::{Fault, Transaction};
use tokio::sync::Notify;

use super::{DAY, Home, noon};
use crate::{is_conflict, trail};

async fn event_types(home: &Home) -> Vec<String> {
    let user = home.robin.user.id;
    let events = outbox::list(&home.world.app.db, user, None, 1_000).await.unwrap();
    events.into_iter().map(|it| it.event_type).collect()
}

#[tokio::test]
async fn disconnecting_deletes_the_access_and_keeps_the_data() {
    let (home, id) = Home::synced().await;
    let (app, robin) = (&home.world.app, &home.robin.caller);
    let rows = home.told().await;
    let before = event_types(&home).await.len();
    connections::disconnect(app, robin, id).await.unwrap();
    assert_eq!(event_types(&home).await[before..], ["account.disconnected"; 3]);
    assert!(home.states().await.iter().all(|(_, state)| state == "disconnected"));
    assert_eq!(home.told().await, rows);
    let stored = home.world.stored().await;
    assert!(stored["connections"].iter().all(|it| !it.contains("access=")), "{stored:?}");
    let connection = home.connection(id).await;
    assert_eq!((connection.state, connection.next_sync_at), (State::Disconnected, None));
    let asked = home.asked();
    assert!(is_conflict(home.try_sync(id).await).contains("new setup token"));
    home.world.advance_seconds(DAY);
    assert_eq!((home.steps().await, home.asked()), (0, asked));
    is_conflict(connections::disconnect(app, robin, id).await);
    is_conflict(home.choose(id, Vec::new()).await);
    assert_eq!(trail(&home.world, robin).await[0], "connection.disconnect");
}

#[tokio::test]
async fn a_sync_that_is_running_while_the_person_disconnects_imports_nothing() {
    let (home, id) = Home::synced().await;
    let rows = home.told().await;
    let lunch = Transaction::posted("T4", noon("2026-03-10"), "-9.00", "LUNCH");
    home.server.transaction("ACT-checking", lunch);
    let release = Arc::new(Notify::new());
    home.server.fail_next(Fault::Held(release.clone()));
    let asked = home.asked();
    let end = async {
        while home.asked() == asked {
            tokio::task::yield_now().await;
        }
        assert!(is_conflict(home.try_sync(id).await).contains("is syncing right now"));
        connections::disconnect(&home.world.app, &home.robin.caller, id).await.unwrap();
        release.notify_one();
    };
    let (synced, ()) = tokio::join!(home.try_sync(id), end);
    assert!(is_conflict(synced).contains("nothing was imported"));
    assert_eq!(home.told().await, rows);
    assert_eq!(home.connection(id).await.state, State::Disconnected);
}

#[tokio::test]
async fn a_new_setup_token_reconnects_a_disconnected_connection() {
    let (home, id) = Home::synced().await;
    let (app, robin) = (&home.world.app, &home.robin.caller);
    let rows = home.told().await;
    connections::disconnect(app, robin, id).await.unwrap();
    let before = event_types(&home).await.len();
    let token = home.server.setup_token();
    connections::reauthorize(app, robin, id, &token).await.unwrap();
    assert_eq!(event_types(&home).await[before..], ["account.connected"; 3]);
    home.steps().await;
    assert!(home.states().await.iter().all(|(_, state)| state == "connected"));
    assert_eq!(home.told().await, rows);
    assert_eq!(trail(&home.world, robin).await[0], "connection.reauthorize");
}
