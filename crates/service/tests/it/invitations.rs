//! Invitations: an admin invites one more person with a link that works once.

use base::InvitationId;
use service::access::invitations;
use service::access::sessions::{self, Visit};
use service::access::sign_ins::{self, RegistrationOutcome};
use service::access::users::Role;
use testkit::World;

use crate::{is_not_found, param, signed_in, trail, with_password};

#[tokio::test]
async fn an_invitation_can_be_accepted_once() {
    let world = World::new().await;
    let (_, admin) = signed_in(&world, "robin@example.com").await;
    let app = &world.app;
    let named = Some("kim@example.com");
    let (made, token) = invitations::create(app, &admin, named).await.unwrap();
    assert_eq!(invitations::find(app, &token).await.unwrap().unwrap().id, made.id);
    let accept = async |token: &str, email: &str| {
        let from = Visit { address: Some("192.0.2.1".to_owned()), ..Visit::default() };
        sign_ins::accept_invitation(app, token, with_password(email), from).await
    };
    let accepted = accept(&token, "Kim@example.com").await.unwrap();
    let RegistrationOutcome::SignedIn { session } = accepted else { panic!("{accepted:?}") };
    let (session, kim) = sessions::find(app, &session, None).await.unwrap().unwrap();
    assert_eq!(session.method.as_str(), "invitation");
    let user = service::access::users::get(app, &kim).await.unwrap();
    assert_eq!((user.email.as_str(), user.role), ("kim@example.com", Role::Member));
    assert!(invitations::find(app, &token).await.unwrap().is_none());
    is_not_found(accept(&token, "alex@example.com").await);
    assert!(invitations::list(app, &admin).await.unwrap()[0].used_at.is_some());
    assert_eq!(trail(&world, &admin).await[..2], ["invitation.accept", "invitation.create"]);
    for bad in ["", "eki_", &token.replace("eki_", "eks_"), "x"] {
        assert!(invitations::find(app, bad).await.unwrap().is_none());
        is_not_found(accept(bad, "alex@example.com").await);
    }
    assert!(!format!("{:?}", world.stored().await).contains(&token));
}

#[tokio::test]
async fn an_invitation_for_anyone_does_not_reveal_which_addresses_have_an_account() {
    let world = World::new().await;
    let (robin, admin) = signed_in(&world, "robin@example.com").await;
    let app = &world.app;
    for (email, people) in [("kim@example.com", 2), ("robin@example.com", 2)] {
        let (_, token) = invitations::create(app, &admin, None).await.unwrap();
        let new = service::access::users::NewUser {
            password: Some("another password".to_owned()),
            ..with_password(email)
        };
        let arrived = sign_ins::accept_invitation(app, &token, new, Visit::default()).await;
        assert_eq!(arrived.unwrap(), RegistrationOutcome::SignInNext, "{email}");
        // The invitation is used up either way, so that one link cannot probe several addresses.
        assert!(invitations::find(app, &token).await.unwrap().is_none(), "{email}");
        assert_eq!(service::access::users::list(app, 10).await.unwrap().len(), people, "{email}");
    }
    let fits = service::access::users::check_password(app, &robin.email, "another password").await;
    assert!(fits.unwrap().is_none(), "the password was replaced");
    assert_eq!(trail(&world, &admin).await[0], "sign_up.repeat");
}

#[tokio::test]
async fn of_two_concurrent_uses_of_an_invitation_one_succeeds() {
    let world = World::new().await;
    let (_, admin) = signed_in(&world, "robin@example.com").await;
    let other_process = world.other_process().await;
    let (_, token) = invitations::create(&world.app, &admin, None).await.unwrap();
    let accept = async |app: &service::App, email: &str| {
        let from = Visit::default();
        sign_ins::accept_invitation(app, &token, with_password(email), from).await
    };
    let (one, two) = tokio::join!(
        accept(&world.app, "kim@example.com"),
        accept(&other_process, "alex@example.com")
    );
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    assert_eq!(service::access::users::list(&world.app, 10).await.unwrap().len(), 2);
}

#[tokio::test]
async fn an_invitation_for_one_address_is_for_that_address_only() {
    let world = World::new().await;
    let (_, admin) = signed_in(&world, "robin@example.com").await;
    let app = &world.app;
    let taken = invitations::create(app, &admin, Some("Robin@example.com")).await;
    assert_eq!(param(taken), "email");
    assert_eq!(param(invitations::create(app, &admin, Some("kim")).await), "email");
    let (_, token) = invitations::create(app, &admin, Some(" Kim@Example.com ")).await.unwrap();
    let accept = async |email: &str| {
        let from = Visit::default();
        sign_ins::accept_invitation(app, &token, with_password(email), from).await
    };
    assert_eq!(param(accept("alex@example.com").await), "email");
    assert_eq!(service::access::users::list(app, 10).await.unwrap().len(), 1);
    accept("kim@example.com").await.unwrap();
}

#[tokio::test]
async fn an_invitation_expires_after_a_week_or_is_withdrawn() {
    let world = World::new().await;
    let (_, admin) = signed_in(&world, "robin@example.com").await;
    let app = &world.app;
    let (first, withdrawn) = invitations::create(app, &admin, None).await.unwrap();
    let (_, token) = invitations::create(app, &admin, None).await.unwrap();
    invitations::withdraw(app, &admin, first.id).await.unwrap();
    is_not_found(invitations::withdraw(app, &admin, first.id).await);
    assert!(invitations::find(app, &withdrawn).await.unwrap().is_none());
    world.advance_seconds(7 * 86_400 - 1);
    assert!(invitations::find(app, &token).await.unwrap().is_some());
    world.advance_seconds(1);
    assert!(invitations::find(app, &token).await.unwrap().is_none());
    let late = sign_ins::accept_invitation(
        app,
        &token,
        with_password("kim@example.com"),
        Visit::default(),
    );
    is_not_found(late.await);
    assert_eq!(invitations::list(app, &admin).await.unwrap().len(), 1);
    world.advance_seconds(30 * 86_400);
    assert_eq!(invitations::forget_once(app).await.unwrap(), 1);
    assert!(invitations::list(app, &admin).await.unwrap().is_empty());
}

#[tokio::test]
async fn only_an_admin_manages_invitations() {
    let world = World::new().await;
    let (_, admin) = signed_in(&world, "robin@example.com").await;
    let (_, kim) = signed_in(&world, "kim@example.com").await;
    let app = &world.app;
    let (made, _) = invitations::create(app, &admin, None).await.unwrap();
    is_not_found(invitations::create(app, &kim, None).await);
    is_not_found(invitations::list(app, &kim).await);
    is_not_found(invitations::withdraw(app, &kim, made.id).await);
    let none = InvitationId::from_bytes([1; 16]);
    is_not_found(invitations::withdraw(app, &admin, none).await);
}

#[tokio::test]
async fn the_number_of_open_invitations_is_limited() {
    let world = World::new().await;
    let (_, admin) = signed_in(&world, "robin@example.com").await;
    for _ in 0..100 {
        invitations::create(&world.app, &admin, None).await.unwrap();
    }
    assert_eq!(param(invitations::create(&world.app, &admin, None).await), "email");
}
