//! Disconnecting: Plaid is told, again and again until it succeeded, because it charges for what exists.

use base::draft::Source;
use service::access::users;
use service::ingest::connections::{self, LinkState, LinkTarget, ProviderSettings, State};
use testkit::plaid::Fault;

use super::{PlaidFixture, accounts};
use crate::is_conflict;

const REMOVE: &str = "/item/remove";

#[tokio::test]
async fn the_provider_is_told_until_it_succeeded() {
    let (fixture, id, item) = PlaidFixture::synced().await;
    let (app, robin) = (&fixture.app, &fixture.robin.caller);
    let rows = fixture.descriptions().await;
    connections::disconnect(app, robin, id).await.unwrap();
    let it = fixture.connection(id).await;
    assert_eq!((it.state, it.is_revoking, it.next_sync_at), (State::Disconnected, true, None));
    assert!(is_conflict(fixture.try_sync(id).await).contains("connect the bank again"));
    for fault in [Fault::Cut, Fault::Error(500, "API_ERROR", "INTERNAL_SERVER_ERROR")] {
        fixture.server.fail_next(REMOVE, fault);
        assert_eq!(connections::revoke_once(app).await.unwrap(), 0);
        // It is not tried again at once.
        let tried = fixture.server.count(REMOVE);
        assert_eq!(connections::revoke_once(app).await.unwrap(), 0);
        assert_eq!(fixture.server.count(REMOVE), tried);
        assert!(fixture.connection(id).await.is_revoking);
        fixture.world.advance_seconds(301);
    }
    assert!(!fixture.server.is_removed(&item));
    assert_eq!(connections::revoke_once(app).await.unwrap(), 1);
    assert!(fixture.server.is_removed(&item) && !fixture.connection(id).await.is_revoking);
    fixture.world.advance_seconds(86_400);
    assert_eq!(connections::revoke_once(app).await.unwrap(), 0);
    assert_eq!(fixture.descriptions().await, rows);
}

#[tokio::test]
async fn access_that_has_ended_at_the_provider_needs_no_telling() {
    let (fixture, id, _) = PlaidFixture::synced().await;
    connections::disconnect(&fixture.app, &fixture.robin.caller, id).await.unwrap();
    let fault = Fault::Error(400, "INVALID_INPUT", "INVALID_ACCESS_TOKEN");
    fixture.server.fail_next(REMOVE, fault);
    assert_eq!(connections::revoke_once(&fixture.app).await.unwrap(), 1);
}

#[tokio::test]
async fn a_disconnected_bank_can_be_connected_again_with_its_accounts() {
    let (fixture, id, _) = PlaidFixture::synced().await;
    let (app, robin) = (&fixture.app, &fixture.robin.caller);
    connections::disconnect(app, robin, id).await.unwrap();
    connections::revoke_once(app).await.unwrap();
    let rows = fixture.descriptions().await;
    let link = fixture.start(LinkTarget::Reconnect(id)).await;
    let item = fixture.server.sign_in("ins_1", "First Platypus Bank", accounts());
    let LinkState::Done { connection } = fixture.check(&link).await else { panic!() };
    assert_eq!(connection, id);
    let it = fixture.connection(id).await;
    assert_eq!((it.state, it.open_offers), (State::Connected, 0));
    // The cursor of the old access is not used with the new one.
    fixture.server.add(&item, super::row("n1", "2026-03-10", "9", "LUNCH"));
    connections::sync_once(app).await.unwrap();
    assert_eq!(fixture.descriptions().await[1..], rows);
    is_conflict(
        connections::start_link(
            &fixture.world.without_bank_client(),
            robin,
            LinkTarget::Repair(id),
            super::addresses(),
        )
        .await
        .map(drop),
    );
}

#[tokio::test]
async fn deleting_a_person_ends_their_access_at_the_provider_with_their_own_keys() {
    let mut fixture = PlaidFixture::new().await;
    let keys = fixture.server.keys().to_secret();
    let settings = ProviderSettings { keys: None, ..fixture.server.settings() };
    fixture.app = fixture.world.with_bank_providers(vec![settings]);
    let (app, caller) = (&fixture.app, &fixture.robin.caller);
    connections::save_keys(app, caller, Source::Plaid, &keys).await.unwrap();
    let (_, item) = fixture.connect("ins_1").await;
    users::delete(app, fixture.robin.user.id).await.unwrap();
    fixture.server.fail_next(REMOVE, Fault::Cut);
    assert_eq!(connections::revoke_once(app).await.unwrap(), 0);
    assert!(!fixture.server.is_removed(&item));
    fixture.world.advance_seconds(301);
    assert_eq!(connections::revoke_once(app).await.unwrap(), 1);
    assert!(fixture.server.is_removed(&item));
    assert!(fixture.world.stored().await["connection_removals"].is_empty());
}

#[tokio::test]
async fn access_of_a_deleted_person_is_not_kept_for_longer_than_a_month() {
    let (fixture, _, item) = PlaidFixture::synced().await;
    users::delete(&fixture.app, fixture.robin.user.id).await.unwrap();
    fixture.world.advance_seconds(31 * 86_400);
    assert_eq!(connections::revoke_once(&fixture.app).await.unwrap(), 0);
    assert!(!fixture.server.is_removed(&item));
    assert!(fixture.world.stored().await["connection_removals"].is_empty());
}
