//! From the provider's page to a connection.

use base::draft::{AccountKind, Source};
use service::ingest::connections::{self, LinkState, LinkTarget, Secret, State};
use testkit::plaid::{Fault, Plaid};

use super::{PlaidFixture, accounts, addresses};
use crate::{is_conflict, is_not_found, param, trail};

#[tokio::test]
async fn a_bank_is_connected_on_the_providers_page_and_offers_its_accounts() {
    let fixture = PlaidFixture::new().await;
    let (app, robin) = (&fixture.app, &fixture.robin.caller);
    let link = fixture.start(LinkTarget::New(Source::Plaid)).await;
    assert!(matches!(fixture.check(&link).await, LinkState::Waiting { url } if url == link.url));
    let stranger = fixture.world.someone().await.caller;
    is_not_found(connections::check_link(app, &stranger, &link.id, None).await.map(drop));
    fixture.server.sign_in("ins_1", "First Platypus Bank", accounts());
    let found = connections::find_link(app, robin, Source::Plaid).await.unwrap();
    assert_eq!(found.as_deref(), Some(link.id.as_str()));
    let LinkState::Done { connection } = fixture.check(&link).await else { panic!() };
    let it = fixture.connection(connection).await;
    assert_eq!(
        (it.name.as_str(), it.state, it.open_offers),
        ("First Platypus Bank", State::Connected, 3)
    );
    let offers = connections::list_offers(app, robin, connection).await.unwrap();
    let kinds: Vec<AccountKind> = offers.iter().map(|it| it.kind).collect();
    let brokerage = AccountKind::Investment;
    assert_eq!(kinds, [brokerage, AccountKind::Depository, AccountKind::Credit]);
    // Asking again changes nothing, and no second access is made.
    assert!(matches!(fixture.check(&link).await, LinkState::Done { .. }));
    assert_eq!(fixture.server.count("/item/public_token/exchange"), 1);
    assert_eq!(trail(&fixture.world, robin).await, ["connection.create"]);
    let stored = format!("{:?}", fixture.world.stored().await);
    for secret in ["access-sandbox", "public-sandbox", "link-sandbox", Plaid::SECRET] {
        let hidden = testkit::hex(secret.as_bytes());
        assert!(!stored.contains(secret) && !stored.contains(&hidden), "{secret}");
    }
}

#[tokio::test]
async fn a_browser_that_never_comes_back_loses_nothing() {
    let fixture = PlaidFixture::new().await;
    let link = fixture.start(LinkTarget::New(Source::Plaid)).await;
    assert_eq!(connections::poll_once(&fixture.app).await.unwrap(), 0);
    fixture.server.sign_in("ins_1", "First Platypus Bank", accounts());
    assert_eq!(connections::poll_once(&fixture.app).await.unwrap(), 1);
    assert_eq!(connections::poll_once(&fixture.app).await.unwrap(), 0);
    assert!(matches!(fixture.check(&link).await, LinkState::Done { .. }));
}

#[tokio::test]
async fn a_page_that_is_closed_or_expires_leaves_nothing_behind() {
    let fixture = PlaidFixture::new().await;
    let link = fixture.start(LinkTarget::New(Source::Plaid)).await;
    fixture.server.close_page();
    let LinkState::Ended { message } = fixture.check(&link).await else { panic!() };
    assert!(message.contains("Nothing was connected"), "{message}");
    let link = fixture.start(LinkTarget::New(Source::Plaid)).await;
    fixture.world.advance_seconds(2 * 3_600);
    connections::poll_once(&fixture.app).await.unwrap();
    let LinkState::Ended { message } = fixture.check(&link).await else { panic!() };
    assert!(message.contains("expired"), "{message}");
    let all = connections::list(&fixture.app, &fixture.robin.caller).await.unwrap();
    assert!(all.is_empty());
}

#[tokio::test]
async fn two_processes_exchange_a_token_once() {
    let fixture = PlaidFixture::new().await;
    let link = fixture.start(LinkTarget::New(Source::Plaid)).await;
    fixture.server.sign_in("ins_1", "First Platypus Bank", accounts());
    let (one, other) = tokio::join!(fixture.check(&link), connections::poll_once(&fixture.app));
    other.unwrap();
    drop(one);
    assert!(matches!(fixture.check(&link).await, LinkState::Done { .. }));
    assert_eq!(fixture.server.count("/item/public_token/exchange"), 1);
}

#[tokio::test]
async fn a_second_connection_to_the_same_bank_is_asked_about_first() {
    let fixture = PlaidFixture::new().await;
    let (app, robin) = (&fixture.app, &fixture.robin.caller);
    let (first, _) = fixture.connect("ins_1").await;
    let link = fixture.start(LinkTarget::New(Source::Plaid)).await;
    let item = fixture.server.sign_in("ins_1", "First Platypus Bank", accounts());
    let LinkState::Duplicate { message } = fixture.check(&link).await else { panic!() };
    assert!(message.contains("Everyday Checking (0000)"), "{message}");
    connections::discard_duplicate(app, robin, &link.id).await.unwrap();
    assert!(fixture.server.is_removed(&item));
    assert!(matches!(fixture.check(&link).await, LinkState::Ended { .. }));
    assert_eq!(connections::list(app, robin).await.unwrap().len(), 1);
    let link = fixture.start(LinkTarget::New(Source::Plaid)).await;
    fixture.server.sign_in("ins_1", "First Platypus Bank", accounts());
    assert!(matches!(fixture.check(&link).await, LinkState::Duplicate { .. }));
    let kept = connections::keep_duplicate(app, robin, &link.id).await.unwrap();
    let LinkState::Done { connection } = kept else { panic!() };
    assert_ne!(connection, first);
    fixture.connect("ins_2").await;
    assert_eq!(connections::list(app, robin).await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_person_may_bring_their_own_keys() {
    let fixture = PlaidFixture::new().await;
    let (server, robin) = (&fixture.server, &fixture.robin.caller);
    let settings = connections::ProviderSettings { keys: None, ..server.settings() };
    let app = fixture.world.with_bank_providers(vec![settings]);
    let target = LinkTarget::New(Source::Plaid);
    let refused = connections::start_link(&app, robin, target.clone(), addresses()).await;
    assert!(is_conflict(refused).contains("Enter your Plaid keys"));
    let bad = connections::save_keys(&app, robin, Source::Plaid, &Secret::new("{}")).await;
    assert_eq!(param(bad), "keys");
    let keys = server.keys().to_secret();
    connections::save_keys(&app, robin, Source::Plaid, &keys).await.unwrap();
    let status = connections::keys_status(&app, robin, Source::Plaid).await.unwrap();
    assert!(status.is_own && !status.is_installations);
    let link = connections::start_link(&app, robin, target, addresses()).await.unwrap();
    server.sign_in("ins_1", "First Platypus Bank", accounts());
    let done = connections::check_link(&app, robin, &link.id, None).await.unwrap();
    let LinkState::Done { connection } = done else { panic!() };
    let refused = connections::delete_keys(&app, robin, Source::Plaid).await;
    assert!(is_conflict(refused).contains("Disconnect your Plaid banks first"));
    connections::disconnect(&app, robin, connection).await.unwrap();
    // The keys go with the access of which Plaid has yet to be told.
    connections::delete_keys(&app, robin, Source::Plaid).await.unwrap();
    assert_eq!(connections::revoke_once(&app).await.unwrap(), 1);
    let kim = fixture.world.someone().await.caller;
    let status = connections::keys_status(&app, &kim, Source::Plaid).await.unwrap();
    assert!(!status.is_any());
    let stored = format!("{:?}", fixture.world.stored().await);
    assert!(!stored.contains(Plaid::SECRET));
}

#[tokio::test]
async fn keys_that_plaid_refuses_are_explained() {
    let fixture = PlaidFixture::new().await;
    let fault = Fault::Error(400, "INVALID_INPUT", "INVALID_API_KEYS");
    fixture.server.fail_next("/link/token/create", fault);
    let target = LinkTarget::New(Source::Plaid);
    let (app, robin) = (&fixture.app, &fixture.robin.caller);
    let refused = connections::start_link(app, robin, target, addresses()).await;
    assert!(is_conflict(refused).contains("doesn't accept these keys"));
}
