//! Forms that others send in one's name: none of them does anything.

use service::access::sessions::{self, Method, Visit};
use testkit::World;

use super::{Guest, SITE, enter, robin};

/// Every form at the door, with what would otherwise work or fail later.
const DOOR: [&str; 5] = ["/sign-in", "/sign-in/second", "/setup", "/sign-up", "/invite/x"];
/// Every form of somebody who is signed in.
const INSIDE: [&str; 12] = [
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
/// What the script of the passkey buttons asks, at the door and inside.
const DOOR_JSON: [&str; 4] = [
    "/passkeys/sign-in/start",
    "/passkeys/sign-in/finish",
    "/passkeys/second/start",
    "/passkeys/second/finish",
];
const INSIDE_JSON: [&str; 4] = [
    "/passkeys/prove/start",
    "/passkeys/prove/finish",
    "/passkeys/register/start",
    "/passkeys/register/finish",
];

/// Tries one path in every way that is not ours.
async fn try_all(guest: &Guest, path: &str, foreign: &str, is_json: bool) {
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
async fn no_form_inside_is_taken_from_elsewhere() {
    let world = World::new().await;
    let robin = robin(&world).await;
    let guest = enter(&world, "robin@example.com").await;
    let kim = world.person("kim@example.com").await;
    let foreign = sessions::create(&world.app, &kim.user, Method::Password, Visit::default());
    let foreign = sessions::form_token(&world.app, &foreign.await.unwrap());
    let own = sessions::create(&world.app, &robin, Method::Password, Visit::default());
    let own = sessions::form_token(&world.app, &own.await.unwrap());
    let before = world.stored().await;
    for path in INSIDE {
        try_all(&guest, path, &foreign, false).await;
        // Nor is the token of another session of the same person.
        try_all(&guest, path, &own, false).await;
    }
    for path in INSIDE_JSON {
        try_all(&guest, path, &foreign, true).await;
    }
    assert_eq!(world.stored().await, before, "something was changed");
}

#[tokio::test]
async fn no_form_at_the_door_is_taken_from_elsewhere() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = Guest::new(&world, SITE);
    guest.get("/sign-in").await.good();
    let mut other = Guest::new(&world, SITE);
    other.get("/sign-in").await.good();
    assert_ne!(guest.token, other.token);
    let before = world.stored().await;
    for path in DOOR {
        try_all(&guest, path, &other.token, false).await;
    }
    for path in DOOR_JSON {
        try_all(&guest, path, &other.token, true).await;
    }
    // A token without the cookie it belongs to.
    let mut bare = Guest::new(&world, SITE);
    bare.token = guest.token.clone();
    bare.post("/sign-in", &[]).await.refused(403);
    assert_eq!(world.stored().await, before, "something was changed");
}

#[tokio::test]
async fn a_form_that_is_ours_says_so_in_the_same_words_as_browsers() {
    let world = World::new().await;
    robin(&world).await;
    let guest = enter(&world, "robin@example.com").await;
    for (name, value) in [("sec-fetch-site", "same-origin"), ("origin", SITE)] {
        let mut it = guest.clone();
        it.headers.push((name, value.to_owned()));
        let sent = it.post("/settings/security/sessions/revoke-others", &[]).await;
        assert_eq!(sent.goes_to(), "/settings/security");
    }
}

#[tokio::test]
async fn who_is_not_signed_in_is_sent_to_the_door_from_everywhere_inside() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = Guest::new(&world, SITE);
    guest.get("/sign-in").await.good();
    for path in INSIDE.iter().chain(&INSIDE_JSON) {
        assert_eq!(guest.post(path, &[]).await.goes_to(), "/sign-in", "{path}");
    }
    let sent = guest.get("/settings/security/confirm?next=/goals").await;
    let place = sent.goes_to();
    assert_eq!(place, "/sign-in?next=/settings/security/confirm%3Fnext%3D/goals");
}
