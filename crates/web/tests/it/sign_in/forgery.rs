//! Cross-site request forgery: forms that other sites send have no effect.

use service::access::sessions::{self, Method, Visit};
use testkit::World;

use super::{Guest, SITE, robin, sign_in};

/// Every form of the sign-in pages.
const SIGN_IN_FORMS: [&str; 5] = ["/sign-in", "/sign-in/second", "/setup", "/sign-up", "/invite/x"];
/// Every form of somebody who is signed in.
const SIGNED_IN_FORMS: [&str; 12] = [
    "/sign-out",
    "/settings/security/email",
    "/settings/security/password",
    "/settings/security/second-step",
    "/settings/security/recovery-codes",
    "/settings/security/passkeys/x/rename",
    "/settings/security/passkeys/x/remove",
    "/settings/security/sessions/x/revoke",
    "/settings/security/sessions/revoke-others",
    "/settings/security/delete",
    "/settings/security/confirm",
    "/settings/people",
];
/// The JSON requests of the passkey script on the sign-in pages.
const SIGN_IN_JSON: [&str; 4] = [
    "/passkeys/sign-in/start",
    "/passkeys/sign-in/finish",
    "/passkeys/second/start",
    "/passkeys/second/finish",
];
/// The JSON requests of the passkey script for somebody who is signed in.
const SIGNED_IN_JSON: [&str; 4] = [
    "/passkeys/prove/start",
    "/passkeys/prove/finish",
    "/passkeys/register/start",
    "/passkeys/register/finish",
];

/// Checks that a path refuses invalid form tokens and requests from other sites.
async fn assert_refuses_forgery(guest: &Guest, path: &str, foreign: &str, is_json: bool) {
    let body = serde_json::json!({ "credential": {} });
    for token in ["", "0", foreign, &guest.token[1..]] {
        let mut it = guest.clone();
        it.token = token.to_owned();
        let sent = match is_json {
            true => it.json(path, &body).await,
            false => it.post(path, &[]).await,
        };
        assert_eq!(sent.status.as_u16(), 403, "{path} with the token {token:?}: {}", sent.text);
    }
    let mut bare = guest.clone();
    assert_eq!(bare.post_bare(path, &[]).await.status.as_u16(), 403, "{path} without a token");
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ] {
        let mut it = guest.clone();
        it.headers.push((name, value.to_owned()));
        let sent = match is_json {
            true => it.json(path, &body).await,
            false => it.post(path, &[]).await,
        };
        assert_eq!(sent.status.as_u16(), 403, "{path} with {name}: {value}");
    }
}

#[tokio::test]
async fn forged_forms_of_a_signed_in_person_are_refused() {
    let world = World::new().await;
    let robin = robin(&world).await;
    let guest = sign_in(&world, "robin@example.com").await;
    let kim = world.person("kim@example.com").await;
    let foreign = sessions::create(&world.app, &kim.user, Method::Password, Visit::default());
    let foreign = sessions::form_token(&world.app, &foreign.await.unwrap());
    let own = sessions::create(&world.app, &robin, Method::Password, Visit::default());
    let own = sessions::form_token(&world.app, &own.await.unwrap());
    let before = world.stored().await;
    for path in SIGNED_IN_FORMS {
        assert_refuses_forgery(&guest, path, &foreign, false).await;
        // The token of another session of the same person is refused too.
        assert_refuses_forgery(&guest, path, &own, false).await;
    }
    for path in SIGNED_IN_JSON {
        assert_refuses_forgery(&guest, path, &foreign, true).await;
    }
    assert_eq!(world.stored().await, before, "something was changed");
}

#[tokio::test]
async fn forged_forms_of_the_sign_in_pages_are_refused() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = Guest::new(&world, SITE);
    guest.get("/sign-in").await.good();
    let mut other = Guest::new(&world, SITE);
    other.get("/sign-in").await.good();
    assert_ne!(guest.token, other.token);
    let before = world.stored().await;
    for path in SIGN_IN_FORMS {
        assert_refuses_forgery(&guest, path, &other.token, false).await;
    }
    for path in SIGN_IN_JSON {
        assert_refuses_forgery(&guest, path, &other.token, true).await;
    }
    // A token is refused without the cookie that it belongs to.
    let mut bare = Guest::new(&world, SITE);
    bare.token = guest.token.clone();
    bare.post("/sign-in", &[]).await.refused(403);
    assert_eq!(world.stored().await, before, "something was changed");
}

#[tokio::test]
async fn a_form_with_same_origin_headers_is_accepted() {
    let world = World::new().await;
    robin(&world).await;
    let guest = sign_in(&world, "robin@example.com").await;
    for (name, value) in [("sec-fetch-site", "same-origin"), ("origin", SITE)] {
        let mut it = guest.clone();
        it.headers.push((name, value.to_owned()));
        let sent = it.post("/settings/security/sessions/revoke-others", &[]).await;
        assert_eq!(sent.location(), "/settings/security");
    }
}

#[tokio::test]
async fn an_anonymous_person_is_sent_to_sign_in_by_every_form() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = Guest::new(&world, SITE);
    guest.get("/sign-in").await.good();
    for path in SIGNED_IN_FORMS.iter().chain(&SIGNED_IN_JSON) {
        assert_eq!(guest.post(path, &[]).await.location(), "/sign-in", "{path}");
    }
    let sent = guest.get("/settings/security/confirm?next=/goals").await;
    let target = sent.location();
    assert_eq!(target, "/sign-in?next=/settings/security/confirm%3Fnext%3D/goals");
}
