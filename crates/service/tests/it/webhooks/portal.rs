//! The portal's links and sessions: each link once, for a limited time, for one key.

use base::Timestamp;
use service::access::keys::{self, NewKey};
use service::ledger::{accounts, transactions};
use service::webhooks::{self, portal};
use service::{Caller, Error, Scopes};
use testkit::new_key;
use wire::v1::Scope;

use super::{Fixture, create};

async fn link(fixture: &Fixture, caller: &Caller) -> service::Result<(String, Timestamp)> {
    let (mine, caller) = (fixture.world.app.clone(), caller.clone());
    fixture.world.app.db.write(move |tx| portal::create_link(&mine, tx, &caller)).await
}

#[tokio::test]
async fn a_link_starts_one_session_however_often_it_is_viewed() {
    let fixture = Fixture::new().await;
    let app = &fixture.world.app;
    let (token, until) = link(&fixture, &fixture.key.caller).await.unwrap();
    assert_eq!(until.as_second() - fixture.world.clock.now().as_second(), 600);
    for _ in 0..3 {
        assert!(portal::is_link_valid(app, &token).await.unwrap());
    }
    let (one, two) =
        tokio::join!(portal::redeem_link(app, &token), portal::redeem_link(app, &token));
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    assert!(!portal::is_link_valid(app, &token).await.unwrap());
    let session = one.or(two).unwrap();
    let entered = portal::find_session(app, &session).await.unwrap().unwrap();
    assert_eq!(entered.key, fixture.key.id);
    // A link is no session, and a session is no link.
    assert!(portal::find_session(app, &token).await.unwrap().is_none());
    assert!(portal::redeem_link(app, &session).await.is_err());
    assert!(portal::find_session(app, "ekp_nonsense").await.unwrap().is_none());
    portal::end_session(app, &session).await.unwrap();
    assert!(portal::find_session(app, &session).await.unwrap().is_none());
}

#[tokio::test]
async fn links_expire_after_ten_minutes_and_sessions_after_an_hour() {
    let fixture = Fixture::new().await;
    let app = &fixture.world.app;
    let (early, _) = link(&fixture, &fixture.key.caller).await.unwrap();
    let (late, _) = link(&fixture, &fixture.key.caller).await.unwrap();
    fixture.world.advance_seconds(599);
    let session = portal::redeem_link(app, &early).await.unwrap();
    fixture.world.advance_seconds(1);
    let refused = portal::redeem_link(app, &late).await;
    assert!(matches!(refused, Err(Error::Conflict { .. })), "{refused:?}");
    fixture.world.advance_seconds(3_598);
    assert!(portal::find_session(app, &session).await.unwrap().is_some());
    fixture.world.advance_seconds(1);
    assert!(portal::find_session(app, &session).await.unwrap().is_none());
    webhooks::delete_expired_once(app).await.unwrap();
    assert!(fixture.world.stored().await["portal_tokens"].is_empty());
}

#[tokio::test]
async fn links_and_sessions_end_with_their_key() {
    let fixture = Fixture::new().await;
    let app = &fixture.world.app;
    let (spare, _) = link(&fixture, &fixture.key.caller).await.unwrap();
    let (token, _) = link(&fixture, &fixture.key.caller).await.unwrap();
    let session = portal::redeem_link(app, &token).await.unwrap();
    keys::revoke(app, &fixture.person.caller, fixture.key.id).await.unwrap();
    assert!(portal::find_session(app, &session).await.unwrap().is_none());
    assert!(!portal::is_link_valid(app, &spare).await.unwrap());
    assert!(portal::redeem_link(app, &spare).await.is_err());
}

#[tokio::test]
async fn a_session_sees_the_webhooks_of_its_key_and_nothing_else() {
    let fixture = Fixture::new().await;
    let app = &fixture.world.app;
    fixture.import_transaction("one").await;
    let (token, _) = link(&fixture, &fixture.key.caller).await.unwrap();
    let session = portal::redeem_link(app, &token).await.unwrap();
    let guest = portal::find_session(app, &session).await.unwrap().unwrap().caller;
    let other = fixture.person.key(new_key()).await;
    let (hidden, _) = create(app, &other.caller, &fixture.receiver.url, &[]).await.unwrap();
    assert_eq!(webhooks::list(app, &guest).await.unwrap().len(), 1);
    let found = webhooks::get(app, &guest, hidden.id).await;
    assert!(matches!(found, Err(Error::NotFound(_))), "{found:?}");
    let filter = accounts::Filter { status: accounts::Status::All, include_hidden: true };
    let seen = accounts::list(app, &guest, filter).await;
    assert!(matches!(seen, Err(Error::Forbidden(_))), "{seen:?}");
    let page = service::platform::cursors::Page { cursor: None, limit: 10 };
    let filter = transactions::Filter::default();
    let seen = transactions::list(app, &guest, &filter, page, |_| {}).await;
    assert!(matches!(seen, Err(Error::Forbidden(_))));
    assert!(keys::list(app, &guest).await.is_err());
}

#[tokio::test]
async fn only_a_key_that_manages_webhooks_creates_links() {
    let fixture = Fixture::new().await;
    let scopes = Scopes::from_iter([Scope::AccountsRead]);
    let reader = fixture.person.key(NewKey { scopes, ..new_key() }).await;
    let refused = link(&fixture, &reader.caller).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let refused = link(&fixture, &fixture.person.session().await).await;
    assert!(matches!(refused, Err(Error::KeyRequired)), "{refused:?}");
}
