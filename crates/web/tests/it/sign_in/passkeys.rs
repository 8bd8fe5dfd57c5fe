//! Passkeys on the pages: added, used to sign in, as the second step, and as a proof of identity.

use serde_json::{Value, json};
use testkit::{Authenticator, Kind, World};

use super::{Guest, PASSWORD, SITE, is_session, robin, sign_in};

const SESSION: &str = "__Host-evenkeel_session";

async fn add_passkey(guest: &mut Guest, id: &str) -> Authenticator {
    let mut key = Authenticator::new(Kind::Es256, SITE, id.as_bytes());
    let challenge = guest.json("/passkeys/register/start", &json!({})).await.json();
    let body =
        json!({ "credential": key.create(&challenge), "name": id, "next": "/settings/security" });
    let sent = guest.json("/passkeys/register/finish", &body).await;
    assert_eq!(sent.json(), json!({ "next": "/settings/security" }), "{}", sent.text);
    key
}

fn finish_body(key: &Authenticator, challenge: &Value, next: &str) -> Value {
    json!({ "credential": key.get(challenge), "next": next })
}

#[tokio::test]
async fn a_passkey_can_be_added_and_used_to_sign_in() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = sign_in(&world, "robin@example.com").await;
    let key = add_passkey(&mut guest, "My phone").await;
    let page = guest.get("/settings/security").await.good();
    assert!(page.contains("My phone") && page.contains("never used"));
    let mut visitor = Guest::new(&world, SITE);
    let page = visitor.get("/sign-in").await.good();
    assert!(page.contains("Sign in with a passkey") && page.contains("username webauthn"));
    let challenge = visitor.json("/passkeys/sign-in/start", &json!({})).await.json();
    let sent =
        visitor.json("/passkeys/sign-in/finish", &finish_body(&key, &challenge, "/goals")).await;
    assert_eq!(sent.json(), json!({ "next": "/goals" }));
    assert!(is_session(&world, visitor.cookie(SESSION)).await);
    // The same passkey response is refused in another browser.
    let mut thief = Guest::new(&world, SITE);
    thief.get("/sign-in").await.good();
    let sent = thief.json("/passkeys/sign-in/finish", &finish_body(&key, &challenge, "/")).await;
    assert_eq!(sent.status.as_u16(), 400);
    assert!(
        sent.json()["message"].as_str().unwrap().contains("Try again") || !sent.text.is_empty()
    );
    assert!(thief.cookie(SESSION).is_empty());
    // Signing in redirects only within this site.
    let challenge = thief.json("/passkeys/sign-in/start", &json!({})).await.json();
    let body = finish_body(&key, &challenge, "//evil.example");
    assert_eq!(thief.json("/passkeys/sign-in/finish", &body).await.json()["next"], "/");
}

#[tokio::test]
async fn the_second_step_requires_the_passkey_or_a_recovery_code() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = sign_in(&world, "robin@example.com").await;
    let key = add_passkey(&mut guest, "Phone").await;
    let switched = guest.post("/settings/security/second-step", &[("on", "1")]).await;
    assert_eq!(switched.location(), "/settings/security");
    let page = guest.post("/settings/security/recovery-codes", &[]).await.good();
    let (_, block) = page.split_once("aria-label=\"Recovery codes\"><code>").unwrap();
    let codes: Vec<&str> = block.split_once("</code>").unwrap().0.lines().collect();
    assert_eq!(codes.len(), 10);
    let again = guest.get("/settings/security").await.good();
    assert!(!again.contains(codes[0]) && again.contains("10 unused codes"));
    let after_password = async || {
        let mut guest = Guest::new(&world, SITE);
        guest.get("/sign-in").await.good();
        let fields = [("email", "robin@example.com"), ("password", PASSWORD), ("next", "/goals")];
        let sent = guest.post("/sign-in", &fields).await;
        assert_eq!(sent.location(), "/sign-in/second?next=/goals");
        assert!(guest.cookie(SESSION).is_empty(), "not signed in yet");
        let page = guest.get("/sign-in/second?next=/goals").await.good();
        assert!(page.contains("Use your passkey"));
        guest
    };
    // Between the two steps nobody is signed in.
    let mut between = after_password().await;
    assert!(between.get("/settings/security").await.location().starts_with("/sign-in"));
    let step = between.cookie("__Host-evenkeel_second").to_owned();
    between.cookies.insert(SESSION.to_owned(), step);
    assert!(between.get("/settings/security").await.location().starts_with("/sign-in"));
    let mut by_key = after_password().await;
    let challenge = by_key.json("/passkeys/second/start", &json!({})).await.json();
    let sent =
        by_key.json("/passkeys/second/finish", &finish_body(&key, &challenge, "/goals")).await;
    assert_eq!(sent.json()["next"], "/goals");
    assert!(is_session(&world, by_key.cookie(SESSION)).await);
    assert!(by_key.cookie("__Host-evenkeel_second").is_empty());
    let mut by_code = after_password().await;
    let wrong = by_code.post("/sign-in/second", &[("code", "k7wq-3m2x-9d4h")]).await.refused(400);
    assert!(wrong.contains("not one of your unused recovery codes"));
    let fields = [("code", codes[3]), ("next", "/goals")];
    assert_eq!(by_code.post("/sign-in/second", &fields).await.location(), "/goals");
    let mut spent = after_password().await;
    spent.post("/sign-in/second", &fields).await.refused(400);
    // Nobody gets to the second step without the first.
    let mut stranger = Guest::new(&world, SITE);
    stranger.get("/sign-in").await.good();
    assert_eq!(stranger.get("/sign-in/second").await.location(), "/sign-in");
    assert_eq!(stranger.post("/sign-in/second", &fields).await.location(), "/sign-in");
    let sent = stranger.json("/passkeys/second/start", &json!({})).await;
    assert_eq!(sent.status.as_u16(), 400);
}

#[tokio::test]
async fn an_old_session_must_be_confirmed_before_sign_in_methods_change() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = sign_in(&world, "robin@example.com").await;
    let key = add_passkey(&mut guest, "Phone").await;
    world.advance_seconds(600);
    let page = guest.get("/settings/security").await.good();
    assert!(page.contains("Confirm it's you") && !page.contains("Add passkey"));
    let sent = guest.json("/passkeys/register/start", &json!({})).await;
    assert_eq!(sent.status.as_u16(), 400);
    let sent = guest.post("/settings/security/second-step", &[("on", "1")]).await;
    assert!(sent.refused(403).contains("Use passkey"));
    let confirm = "/settings/security/confirm?next=/settings/security";
    assert!(guest.get(confirm).await.good().contains("Use passkey"));
    let wrong = [("password", "wrong password"), ("next", "/settings/security")];
    let page = guest.post("/settings/security/confirm", &wrong).await.refused(400);
    assert!(page.contains("This is not your password"));
    let right = [("password", PASSWORD), ("next", "//evil.example")];
    assert_eq!(guest.post("/settings/security/confirm", &right).await.location(), "/");
    assert!(guest.get("/settings/security").await.good().contains("Add passkey"));
    world.advance_seconds(600);
    let challenge = guest.json("/passkeys/prove/start", &json!({})).await.json();
    let body = finish_body(&key, &challenge, "/settings/security");
    assert_eq!(guest.json("/passkeys/prove/finish", &body).await.status.as_u16(), 200);
    assert!(guest.get("/settings/security").await.good().contains("Add passkey"));
}

#[tokio::test]
async fn a_site_that_cannot_have_passkeys_explains_why() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = Guest::new(&world, "http://192.168.1.5:4680");
    let page = guest.get("/sign-in").await.good();
    assert!(!page.contains("data-passkey"));
    let sent = guest.json("/passkeys/sign-in/start", &json!({})).await;
    assert_eq!(sent.status.as_u16(), 400);
    let fields = [("email", "robin@example.com"), ("password", PASSWORD)];
    guest.post("/sign-in", &fields).await.location();
    let page = guest.get("/settings/security").await.good();
    assert!(page.contains("Passkeys need a domain name"));
}

#[tokio::test]
async fn an_invalid_passkey_response_is_refused_with_a_message() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = Guest::new(&world, SITE);
    guest.get("/sign-in").await.good();
    let long = json!({ "credential": { "x": "y".repeat(70_000) } });
    for body in
        [json!({}), json!([]), json!({ "credential": 1 }), json!({ "credential": {} }), long]
    {
        let sent = guest.json("/passkeys/sign-in/finish", &body).await;
        assert_eq!(sent.status.as_u16(), 400, "{body}");
        assert!(sent.json()["message"].as_str().unwrap().ends_with('.'), "{}", sent.text);
    }
}
