//! A new installation key: everything that is encrypted is encrypted again, and the old key opens nothing.

use base::Entropy;
use base::draft::Source;
use service::ingest::connections::{self, LinkState, LinkTarget};
use service::key_rotation;
use service::platform::audit::{self, Verdict};
use service::platform::installation::Key;
use service::platform::processes;

use super::{PlaidFixture, row};
use crate::is_conflict;

#[tokio::test]
async fn a_new_installation_key_opens_what_the_old_one_did() {
    let (fixture, id, item) = PlaidFixture::synced().await;
    let (app, caller) = (&fixture.app, &fixture.robin.caller);
    let keys = fixture.server.keys().to_secret();
    connections::save_keys(app, caller, Source::Plaid, &keys).await.unwrap();
    let (ended, ended_item) = fixture.connect("ins_2").await;
    connections::disconnect(app, caller, ended).await.unwrap();
    let link = fixture.start(LinkTarget::New(Source::Plaid)).await;

    let new = Key::generate(&Entropy::seeded(7));
    let done = key_rotation::rotate(app, &new).await.unwrap();
    // One access, one that has ended, the person's keys and three links; the audit trail.
    assert_eq!((done.secrets, done.anchors, done.unreadable), (6, 1, 0));
    is_conflict(fixture.try_sync(id).await);
    assert!(!matches!(audit::verify(app, caller).await.unwrap(), Verdict::Intact { .. }));

    let app = &fixture.world.with_key(new.clone(), vec![fixture.server.settings()]);
    assert!(matches!(audit::verify(app, caller).await.unwrap(), Verdict::Intact { .. }));
    fixture.server.add(&item, row("t9", "2026-03-10", "9", "LUNCH"));
    assert_eq!(connections::sync(app, caller, id).await.unwrap().summary.new, 1);
    assert_eq!(connections::revoke_once(app).await.unwrap(), 1);
    assert!(fixture.server.is_removed(&ended_item));
    let state = connections::check_link(app, caller, &link.id, None).await.unwrap();
    assert!(matches!(state, LinkState::Waiting { .. }), "{state:?}");
    // The old key can no longer be replaced.
    key_rotation::rotate(&fixture.app, &new).await.unwrap_err();
}

#[tokio::test]
async fn the_key_stays_while_a_server_runs() {
    let (fixture, id, _) = PlaidFixture::synced().await;
    processes::register(&fixture.app).await.unwrap();
    let new = Key::generate(&Entropy::seeded(7));
    let refused = is_conflict(key_rotation::rotate(&fixture.app, &new).await);
    assert!(refused.contains("stop all servers first"), "{refused}");
    fixture.sync(id).await;
    processes::leave(&fixture.app).await.unwrap();
    key_rotation::rotate(&fixture.app, &new).await.unwrap();
}
