//! Consent: it ends, the person is reminded and renews it, and it is revoked when they disconnect.

use base::draft::Source;
use service::ingest::connections::{self, LinkState, LinkTarget, Remedy, State};
use testkit::enable_banking::{Quirks, entry};

use super::{BankFixture, GIRO};
use crate::is_conflict;

const DAY: u64 = 86_400;

#[tokio::test]
async fn the_person_is_reminded_before_the_consent_ends_and_renews_it() {
    let (fixture, id) = BankFixture::synced().await;
    let it = fixture.connection(id).await;
    assert_eq!(it.name, "Nordbank");
    assert_eq!(
        it.access_ends_at.unwrap().as_second(),
        fixture.world.clock.now().as_second() + 90 * 86_400
    );
    let state_after = async |days: u64| {
        fixture.world.advance_seconds(days * DAY);
        connections::sync_once(&fixture.app).await.unwrap();
        let it = fixture.connection(id).await;
        (it.state, it.remedy, it.attention.unwrap_or_default())
    };
    assert_eq!(state_after(75).await, (State::Connected, None, String::new()));
    let (state, remedy, message) = state_after(2).await;
    assert_eq!((state, remedy), (State::Connected, Some(Remedy::Repair)));
    assert!(message.contains("ends in 13 days"), "{message}");
    let (state, _, message) = state_after(10).await;
    assert_eq!(state, State::NeedsAttention);
    assert!(message.contains("ends in 3 days"), "{message}");
    let asked = fixture.server.requests().len();
    let (state, remedy, message) = state_after(5).await;
    assert_eq!((state, remedy), (State::NeedsAttention, Some(Remedy::Repair)));
    assert!(message.contains("has ended"), "{message}");
    assert_eq!(fixture.server.requests().len(), asked, "nothing is asked without consent");
    // The stable id of an account may change, too.
    fixture.server.set_quirks(Quirks { changes_hashes: true, ..Quirks::default() });
    fixture.server.update(GIRO, |it| {
        it.transactions.push(entry("b2", "2026-06-01", "5.00", "DBIT", "BROT"));
    });
    assert_eq!(fixture.consent(LinkTarget::Repair(id)).await, id);
    connections::sync_once(&fixture.app).await.unwrap();
    let it = fixture.connection(id).await;
    assert_eq!((it.state, it.remedy, it.accounts.len()), (State::Connected, None, 1));
    assert_eq!(fixture.descriptions().await, ["BROT", "MARKT"]);
    // The old consent is revoked, the new one stays.
    connections::revoke_once(&fixture.app).await.unwrap();
    assert_eq!(fixture.server.session_count(), 1);
}

#[tokio::test]
async fn a_disconnected_bank_is_revoked_and_can_be_connected_again() {
    let (fixture, id) = BankFixture::synced().await;
    connections::disconnect(&fixture.app, &fixture.robin.caller, id).await.unwrap();
    assert!(fixture.connection(id).await.is_revoking);
    connections::revoke_once(&fixture.app).await.unwrap();
    assert_eq!(fixture.server.session_count(), 0);
    let it = fixture.connection(id).await;
    assert_eq!((it.state, it.access_ends_at, it.is_revoking), (State::Disconnected, None, false));
    assert_eq!(fixture.consent(LinkTarget::Reconnect(id)).await, id);
    connections::sync_once(&fixture.app).await.unwrap();
    assert_eq!(fixture.connection(id).await.state, State::Connected);
    assert_eq!(fixture.descriptions().await, ["MARKT"]);
}

#[tokio::test]
async fn a_code_is_good_only_for_the_link_and_the_person_who_started_it() {
    let fixture = BankFixture::new().await;
    let target = || LinkTarget::NewAt(Source::EnableBanking, "DE Nordbank".to_owned());
    let first = fixture.start(target()).await;
    let second = fixture.start(target()).await;
    let query = fixture.server.consent();
    assert!(matches!(fixture.come_back(&first, &query).await, LinkState::Waiting { .. }));
    let kim = fixture.world.person("kim@example.com").await;
    let foreign =
        connections::check_link(&fixture.app, &kim.caller, &second.id, Some(&query)).await;
    assert!(matches!(foreign, Err(service::Error::NotFound(_))));
    assert!(matches!(fixture.come_back(&second, &query).await, LinkState::Done { .. }));
    let refused = fixture.start(target()).await;
    let query = fixture.server.refuse_consent();
    assert!(matches!(fixture.come_back(&refused, &query).await, LinkState::Ended { .. }));
    let none = connections::keys_status(&fixture.app, &kim.caller, Source::EnableBanking).await;
    assert!(!none.unwrap().is_any(), "applications are each person's own");
    let message = is_conflict(
        connections::list_banks(&fixture.app, &kim.caller, Source::EnableBanking, "DE").await,
    );
    assert!(message.contains("application first"), "{message}");
}
