//! Who gets an account by single sign-on, who becomes an admin, and what a sign-in counts for.

use serde_json::json;
use service::access::oidc::{self};
use service::access::sessions::{Method, Visit};
use service::access::sign_ins::{self, SignInOutcome};
use service::access::users::{self, Role};
use service::access::{invitations, passkeys, profiles};
use service::{Caller, Error};
use testkit::oidc::OidcProvider;
use testkit::{Kind, World};

use super::{NAME, SignOn, browser, claims};
use crate::{PASSWORD, party, register_passkey, session_of, trail, with_password};

async fn role(sign_on: &SignOn, caller: &Caller) -> Role {
    users::get(&sign_on.app, caller).await.unwrap().role
}

#[tokio::test]
async fn without_a_rule_nobody_gets_an_account() {
    let sign_on = SignOn::new().await;
    let refused = sign_on.refusal().await;
    assert!(refused.starts_with("no account here belongs to this Lighthouse sign-in"), "{refused}");
    assert_eq!(sign_on.people().await, 1);
    // Not even the person who has the same email, unless the operator says so.
    sign_on.world.person("robin@example.com").await;
    assert_eq!(sign_on.refusal().await, refused);
}

#[tokio::test]
async fn a_verified_email_of_a_domain_creates_an_account_once() {
    let sign_on = SignOn::with(|it| it.create_for_domains = vec!["Example.com".to_owned()]).await;
    for (email, verified) in [
        ("robin@example.com", false),
        ("robin@example.com.evil.example", true),
        ("robin@sub.example.com", true),
        ("robin@evilexample.com", true),
    ] {
        sign_on.provider.sign_in_as(claims("robin-1", email, verified));
        assert!(sign_on.refusal().await.starts_with("no account here"), "{email} {verified}");
    }
    let mut robin = claims("robin-1", "Robin@Example.com", true);
    robin["name"] = "Robin\nHood".into();
    robin["zoneinfo"] = "Europe/Berlin".into();
    sign_on.provider.sign_in_as(robin);
    let (session, caller) = sign_on.session().await;
    assert_eq!(session.method, Method::SingleSignOn);
    let user = users::get(&sign_on.app, &caller).await.unwrap();
    assert_eq!((user.email.as_str(), user.role), ("robin@example.com", Role::Member));
    assert_eq!(user.preferred_name.as_deref(), Some("RobinHood"));
    assert_eq!(user.timezone.name(), "Europe/Berlin");
    let trail = trail(&sign_on.world, &caller).await;
    assert_eq!(trail, ["session.create", "identity.link", "sign_up.create"]);

    // The subject is what counts from now on, and not the email.
    sign_on.provider.sign_in_as(claims("robin-1", "robin@elsewhere.example", false));
    assert_eq!(sign_on.session().await.1.user, user.id);
    sign_on.provider.sign_in_as(claims("robin-2", "robin@example.com", true));
    assert!(sign_on.refusal().await.starts_with("robin@example.com already has an account here"));
    assert_eq!(sign_on.people().await, 2);
}

#[tokio::test]
async fn an_invited_email_creates_an_account_once_it_is_verified() {
    let world = World::new().await;
    let admin = world.person("admin@example.org").await.session().await;
    let sign_on = SignOn::in_world(world, |_| {}).await;
    let invite = async |email: &str| invitations::create(&sign_on.app, &admin, Some(email)).await;
    invite("robin@example.com").await.unwrap();
    for (email, verified) in [("robin@example.com", false), ("kim@example.com", true)] {
        sign_on.provider.sign_in_as(claims("robin-1", email, verified));
        assert!(sign_on.refusal().await.starts_with("no account here"), "{email} {verified}");
    }
    sign_on.provider.sign_in_as(claims("robin-1", "Robin@Example.com", true));
    let (_, robin) = sign_on.session().await;
    assert_eq!(role(&sign_on, &robin).await, Role::Member);
    let used = invitations::list(&sign_on.app, &admin).await.unwrap();
    assert!(used.len() == 1 && used[0].used_at.is_some());
    assert!(trail(&sign_on.world, &admin).await.contains(&"invitation.accept".to_owned()));

    // Withdrawn, or too old.
    let (made, _) = invite("kim@example.com").await.unwrap();
    invitations::withdraw(&sign_on.app, &admin, made.id).await.unwrap();
    sign_on.provider.sign_in_as(claims("kim-1", "kim@example.com", true));
    assert!(sign_on.refusal().await.starts_with("no account here"));
    invite("kim@example.com").await.unwrap();
    sign_on.world.advance_seconds(8 * 86_400);
    assert!(sign_on.refusal().await.starts_with("no account here"));
}

#[tokio::test]
async fn a_group_creates_an_account_also_from_the_userinfo_endpoint() {
    let sign_on = SignOn::with(|it| {
        it.create_for_groups = vec!["family".to_owned()];
        it.groups_claim = "access.groups".to_owned();
    })
    .await;
    sign_on.provider.shorten_tokens();
    let mut robin = claims("robin-1", "robin@example.com", false);
    robin["access"] = json!({ "groups": ["others"] });
    sign_on.provider.sign_in_as(robin.clone());
    assert!(sign_on.refusal().await.starts_with("no account here"));
    robin["access"] = json!({ "groups": ["others", "family"] });
    sign_on.provider.sign_in_as(robin);
    let (_, caller) = sign_on.session().await;
    assert_eq!(role(&sign_on, &caller).await, Role::Member);
    let mut nameless = json!({ "sub": "kim-1", "access": { "groups": ["family"] } });
    sign_on.provider.sign_in_as(nameless.clone());
    assert!(sign_on.refusal().await.starts_with("no account here"), "no email");
    nameless["email"] = "not an email".into();
    sign_on.provider.sign_in_as(nameless);
    assert!(matches!(sign_on.sign_in().await, Err(Error::Invalid { .. })));
}

#[tokio::test]
async fn groups_make_admins_at_each_sign_in_and_the_last_admin_stays_one() {
    let sign_on = SignOn::with(|it| {
        it.create_for_domains = vec!["example.com".to_owned()];
        it.admin_groups = vec!["admins".to_owned()];
    })
    .await;
    let with_groups = |groups: serde_json::Value| {
        let mut robin = claims("robin-1", "robin@example.com", true);
        robin["groups"] = groups;
        sign_on.provider.sign_in_as(robin);
    };
    with_groups(json!(["admins"]));
    let (_, caller) = sign_on.session().await;
    assert_eq!(role(&sign_on, &caller).await, Role::Admin);
    with_groups(json!([]));
    sign_on.session().await;
    assert_eq!(role(&sign_on, &caller).await, Role::Member);
    assert_eq!(trail(&sign_on.world, &caller).await[..2], ["session.create", "role.change"]);
    with_groups(json!("admins"));
    sign_on.session().await;
    assert_eq!(role(&sign_on, &caller).await, Role::Admin);

    let admin = users::find_by_email(&sign_on.app, "admin@example.org").await.unwrap().unwrap();
    users::delete(&sign_on.app, admin.id).await.unwrap();
    with_groups(json!(["others"]));
    sign_on.session().await;
    assert_eq!(role(&sign_on, &caller).await, Role::Admin, "the last admin");
}

#[tokio::test]
async fn the_first_person_needs_the_setup_code_or_an_admin_group() {
    let world = World::new().await;
    let sign_on = SignOn::in_world(world, |it| {
        it.create_for_domains = vec!["example.com".to_owned()];
        it.admin_groups = vec!["admins".to_owned()];
    })
    .await;
    assert!(sign_on.refusal().await.starts_with("this installation is not set up yet"));
    let mut robin = claims("robin-1", "robin@example.com", true);
    robin["groups"] = json!(["admins"]);
    sign_on.provider.sign_in_as(robin);
    let (_, caller) = sign_on.session().await;
    assert_eq!(role(&sign_on, &caller).await, Role::Admin);
}

#[tokio::test]
async fn the_second_step_follows_single_sign_on_too() {
    let sign_on = SignOn::with(|it| it.link_verified_email = true).await;
    let robin = users::create(&sign_on.app, with_password("robin@example.com")).await.unwrap();
    let caller = session_of(&sign_on.world, &robin).await;
    let key = register_passkey(&sign_on.world, &caller, Kind::Es256, "phone").await;
    profiles::set_second_step(&sign_on.app, &caller, true).await.unwrap();
    let SignInOutcome::SecondStep { token } = sign_on.sign_in().await.unwrap() else {
        panic!("a second step");
    };
    let options = sign_ins::start_second_step(&sign_on.app, &party(), &token).await.unwrap();
    let answer = key.get(&options).to_string();
    let from = Visit::default();
    let session = sign_ins::second_by_passkey(&sign_on.app, &party(), &token, &answer, from).await;
    let session = session.unwrap();
    let found = service::access::sessions::find(&sign_on.app, &session, None).await.unwrap();
    assert_eq!(found.unwrap().0.method, Method::SingleSignOnAndPasskey);

    let code = service::access::recovery::create(&sign_on.app, &caller).await.unwrap().remove(0);
    let SignInOutcome::SecondStep { token } = sign_on.sign_in().await.unwrap() else {
        panic!("a second step");
    };
    let from = Visit::default();
    let session = sign_ins::second_by_recovery_code(&sign_on.app, &token, &code, from).await;
    let found = service::access::sessions::find(&sign_on.app, &session.unwrap(), None).await;
    assert_eq!(found.unwrap().unwrap().0.method, Method::SingleSignOnAndRecoveryCode);
    assert_eq!(passkeys::list(&sign_on.app, &caller).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_sign_in_long_ago_at_the_provider_is_no_fresh_proof() {
    let sign_on = SignOn::with(|it| it.create_for_domains = vec!["example.com".to_owned()]).await;
    let now = sign_on.world.clock.now().as_second();
    for (auth_time, fresh) in [
        (json!(null), true),
        (json!(now - 60), true),
        (json!(now - 3_600), false),
        (json!(now + 3_600), true),
    ] {
        let mut robin = claims("robin-1", "robin@example.com", true);
        robin["auth_time"] = auth_time.clone();
        sign_on.provider.sign_in_as(robin);
        let (session, _) = sign_on.session().await;
        assert_eq!(session.proved_lately(sign_on.world.clock.now()), fresh, "{auth_time}");
    }
}

#[tokio::test]
async fn passwords_can_be_turned_off() {
    let world = World::new().await;
    let provider = OidcProvider::start(world.clock.clone()).await;
    let robin = users::create(&world.app, with_password("robin@example.com")).await.unwrap();
    let caller = session_of(&world, &robin).await;
    let app = world.without_passwords(vec![provider.settings(NAME)]);
    let off = "passwords are turned off here; use one of the other ways to sign in";
    let tried = sign_ins::by_password(&app, "robin@example.com", PASSWORD, Visit::default()).await;
    assert!(matches!(tried, Err(Error::Unauthenticated(it)) if it == off));
    let new = with_password("kim@example.com");
    let tried = sign_ins::sign_up(&app, new.clone(), Visit::default()).await;
    assert!(matches!(tried, Err(Error::Unauthenticated(it)) if it == off));
    let (_, invitation) = invitations::create(&world.app, &caller, None).await.unwrap();
    let nameless = invitations::create(&app, &caller, None).await;
    assert!(matches!(nameless, Err(Error::Invalid { .. })), "{nameless:?}");
    let tried = sign_ins::accept_invitation(&app, &invitation, new, Visit::default()).await;
    assert!(matches!(tried, Err(Error::Unauthenticated(it)) if it == off));
    assert_eq!(users::list(&app, 10).await.unwrap().len(), 1);

    // A password is no way to sign in then, so the only identity cannot be unlinked.
    let sign_on = SignOn { world, provider, app };
    sign_on.link(&caller).await.unwrap();
    let unlinked = oidc::unlink(&sign_on.app, &caller, sign_on.provider.issuer()).await;
    assert!(matches!(unlinked, Err(Error::Conflict { .. })), "{unlinked:?}");
    oidc::unlink(&sign_on.world.app, &caller, sign_on.provider.issuer()).await.unwrap();
    assert!(oidc::start_link(&sign_on.app, &caller, NAME, browser()).await.is_ok());
}
