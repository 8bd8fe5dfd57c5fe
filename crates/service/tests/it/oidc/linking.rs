//! Linking an identity to an account, unlinking it, and proving one's identity with it.

use serde_json::json;
use service::access::oidc::{self, Outcome};
use service::access::{passkeys, sessions, users};
use service::{Error, Scopes};
use testkit::{Kind, new_key, new_user};

use super::{Answer, BROWSER, NAME, SignOn, browser, claims, finish, reason};
use crate::{is_not_found, param, register_passkey, session_of, signed_in, trail};

#[tokio::test]
async fn a_linked_identity_signs_in_until_it_is_unlinked() {
    let sign_on = SignOn::new().await;
    let (user, caller) = signed_in(&sign_on.world, "kim@example.com").await;
    let linked = sign_on.link(&caller).await.unwrap();
    assert_eq!(linked, Outcome::Linked { next: "/spending".to_owned() });
    assert_eq!(trail(&sign_on.world, &caller).await[0], "identity.link");
    let listed = oidc::list(&sign_on.app, &caller).await.unwrap();
    assert_eq!(listed[0].issuer, sign_on.provider.issuer());
    assert_eq!(listed[0].email.as_deref(), Some("robin@example.com"));
    assert_eq!((listed.len(), listed[0].last_used_at), (1, None));

    assert_eq!(sign_on.session().await.1.user, user.id);
    let listed = oidc::list(&sign_on.app, &caller).await.unwrap();
    assert_eq!(listed[0].last_used_at, Some(sign_on.world.clock.now()));
    sign_on.link(&caller).await.unwrap();
    assert_eq!(oidc::list(&sign_on.app, &caller).await.unwrap().len(), 1, "linked again");

    oidc::unlink(&sign_on.app, &caller, sign_on.provider.issuer()).await.unwrap();
    assert_eq!(trail(&sign_on.world, &caller).await[0], "identity.unlink");
    assert!(sign_on.refusal().await.starts_with("no account here"));
    is_not_found(oidc::unlink(&sign_on.app, &caller, sign_on.provider.issuer()).await);
}

#[tokio::test]
async fn an_identity_belongs_to_one_account_and_an_account_has_one_of_each_provider() {
    let sign_on = SignOn::new().await;
    let (kim, kims) = signed_in(&sign_on.world, "kim@example.com").await;
    let (_, lees) = signed_in(&sign_on.world, "lee@example.com").await;
    sign_on.link(&kims).await.unwrap();
    let taken = "this Lighthouse sign-in is already linked to another account here";
    assert_eq!(reason(sign_on.link(&lees).await), taken);
    sign_on.provider.sign_in_as(claims("robin-2", "robin@example.com", true));
    let second = "another Lighthouse sign-in is linked already; unlink it first";
    assert_eq!(reason(sign_on.link(&kims).await), second);
    sign_on.link(&lees).await.unwrap();

    // Nobody sees or unlinks the identity of somebody else.
    assert_eq!(oidc::list(&sign_on.app, &kims).await.unwrap().len(), 1);
    oidc::unlink(&sign_on.app, &lees, sign_on.provider.issuer()).await.unwrap();
    assert_eq!(oidc::list(&sign_on.app, &kims).await.unwrap().len(), 1);
    sign_on.provider.sign_in_as(claims("robin-1", "robin@example.com", true));
    assert_eq!(sign_on.session().await.1.user, kim.id);
}

#[tokio::test]
async fn linking_and_unlinking_take_a_session_that_was_proved_lately() {
    let sign_on = SignOn::new().await;
    let (user, caller) = signed_in(&sign_on.world, "kim@example.com").await;
    sign_on.link(&caller).await.unwrap();
    sign_on.world.advance_seconds(601);
    let issuer = sign_on.provider.issuer();
    assert_eq!(param(oidc::start_link(&sign_on.app, &caller, NAME, browser()).await), "proof");
    assert_eq!(param(oidc::unlink(&sign_on.app, &caller, issuer).await), "proof");
    let fresh = session_of(&sign_on.world, &user).await;
    oidc::unlink(&sign_on.app, &fresh, issuer).await.unwrap();

    let person = sign_on.world.someone().await;
    let key =
        person.key(service::access::keys::NewKey { scopes: Scopes::all(), ..new_key() }).await;
    is_not_found(oidc::start_link(&sign_on.app, &key.caller, NAME, browser()).await);
    is_not_found(oidc::start_proof(&sign_on.app, &key.caller, NAME, browser()).await);
    is_not_found(oidc::unlink(&sign_on.app, &key.caller, issuer).await);
    is_not_found(oidc::list(&sign_on.app, &key.caller).await);
    is_not_found(oidc::start_link(&sign_on.app, &fresh, "nowhere", browser()).await);
}

#[tokio::test]
async fn a_link_that_began_for_one_person_links_nobody_else() {
    let sign_on = SignOn::new().await;
    let (_, kims) = signed_in(&sign_on.world, "kim@example.com").await;
    let (_, lees) = signed_in(&sign_on.world, "lee@example.com").await;
    let began_elsewhere = "this began in another browser; try again";
    for (caller, browser_secret) in
        [(Some(&lees), BROWSER), (Some(&kims), "another browser"), (None, BROWSER)]
    {
        let address = oidc::start_link(&sign_on.app, &kims, NAME, browser()).await.unwrap();
        let answer = Answer::parse(&sign_on.provider.visit(&address));
        let finished = finish(&sign_on.app, caller, &answer, browser_secret).await;
        assert_eq!(reason(finished), began_elsewhere);
    }
    assert!(oidc::list(&sign_on.app, &kims).await.unwrap().is_empty());
    assert!(oidc::list(&sign_on.app, &lees).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_only_way_to_sign_in_stays() {
    let sign_on = SignOn::with(|it| it.create_for_domains = vec!["example.com".to_owned()]).await;
    let (_, caller) = sign_on.session().await;
    let issuer = sign_on.provider.issuer();
    let only = "this is your only way to sign in; add a passkey or set a password first";
    assert_eq!(reason(oidc::unlink(&sign_on.app, &caller, issuer).await), only);
    register_passkey(&sign_on.world, &caller, Kind::Es256, "phone").await;
    let passkey = passkeys::list(&sign_on.app, &caller).await.unwrap().remove(0).id;
    // Either may go, and then the other one must stay.
    passkeys::remove(&sign_on.app, &caller, passkey).await.unwrap();
    register_passkey(&sign_on.world, &caller, Kind::Es256, "tablet").await;
    oidc::unlink(&sign_on.app, &caller, issuer).await.unwrap();
    let passkey = passkeys::list(&sign_on.app, &caller).await.unwrap().remove(0).id;
    let removed = passkeys::remove(&sign_on.app, &caller, passkey).await;
    assert!(matches!(removed, Err(Error::Conflict { .. })), "{removed:?}");
}

#[tokio::test]
async fn a_fresh_sign_in_at_the_provider_proves_ones_identity() {
    let sign_on = SignOn::new().await;
    let (_, caller) = signed_in(&sign_on.world, "kim@example.com").await;
    sign_on.link(&caller).await.unwrap();
    sign_on.world.advance_seconds(601);
    let prove = async || {
        let address = oidc::start_proof(&sign_on.app, &caller, NAME, browser()).await.unwrap();
        assert!(address.contains("prompt=login") && address.contains("max_age=0"));
        let answer = Answer::parse(&sign_on.provider.visit(&address));
        finish(&sign_on.app, Some(&caller), &answer, BROWSER).await
    };
    let is_fresh = async || {
        let listed = sessions::list(&sign_on.app, &caller).await.unwrap();
        listed[0].proved_lately(sign_on.world.clock.now())
    };
    // The provider did not ask anew.
    let now = sign_on.world.clock.now().as_second();
    let mut robin = claims("robin-1", "robin@example.com", true);
    robin["auth_time"] = json!(now - 700);
    sign_on.provider.sign_in_as(robin.clone());
    assert!(reason(prove().await).ends_with("it did not ask you to sign in again"));
    // Somebody else signed in there.
    sign_on.provider.sign_in_as(claims("lee-1", "lee@example.com", true));
    let stranger = "this Lighthouse sign-in is not linked to your account";
    assert_eq!(reason(prove().await), stranger);
    assert!(!is_fresh().await);

    robin["auth_time"] = json!(now);
    sign_on.provider.sign_in_as(robin);
    assert_eq!(prove().await.unwrap(), Outcome::Proved { next: "/spending".to_owned() });
    assert!(is_fresh().await);
    // An answer to a sign-in is no proof, and the other way round.
    let answer = Answer::parse(&sign_on.provider.visit(&sign_on.start().await));
    let finished = finish(&sign_on.app, Some(&caller), &answer, BROWSER).await.unwrap();
    assert!(matches!(finished, Outcome::SignIn { .. }));
}

#[tokio::test]
async fn an_identity_goes_with_its_account() {
    let sign_on = SignOn::new().await;
    let user = users::create(&sign_on.app, new_user("kim@example.com")).await.unwrap();
    let caller = session_of(&sign_on.world, &user).await;
    sign_on.link(&caller).await.unwrap();
    oidc::start_link(&sign_on.app, &caller, NAME, browser()).await.unwrap();
    users::delete(&sign_on.app, user.id).await.unwrap();
    let left = sign_on.world.stored_in(&["identities", "sign_on_flows"]).await;
    assert!(left["identities"].is_empty() && left["sign_on_flows"].is_empty());
}
