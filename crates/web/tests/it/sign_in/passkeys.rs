//! Passkeys over the pages: added, used at the door, behind the password, and to confirm.

use serde_json::{Value, json};
use testkit::{Authenticator, Kind, World};

use super::{Guest, PASSWORD, SITE, enter, is_good, robin};

const SESSION: &str = "__Host-evenkeel_session";

async fn add(guest: &mut Guest, id: &str) -> Authenticator {
    let mut key = Authenticator::new(Kind::Es256, SITE, id.as_bytes());
    let asked = guest.json("/passkeys/register/start", &json!({})).await.json();
    let body =
        json!({ "credential": key.create(&asked), "name": id, "next": "/settings/security" });
    let sent = guest.json("/passkeys/register/finish", &body).await;
    assert_eq!(sent.json(), json!({ "next": "/settings/security" }), "{}", sent.text);
    key
}

fn finish(key: &Authenticator, asked: &Value, next: &str) -> Value {
    json!({ "credential": key.get(asked), "next": next })
}

#[tokio::test]
async fn a_passkey_is_added_and_opens_the_door() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = enter(&world, "robin@example.com").await;
    let key = add(&mut guest, "My phone").await;
    let page = guest.get("/settings/security").await.good();
    assert!(page.contains("My phone") && page.contains("never used"));
    let mut visitor = Guest::new(&world, SITE);
    let page = visitor.get("/sign-in").await.good();
    assert!(page.contains("Sign in with a passkey") && page.contains("username webauthn"));
    let asked = visitor.json("/passkeys/sign-in/start", &json!({})).await.json();
    let sent = visitor.json("/passkeys/sign-in/finish", &finish(&key, &asked, "/goals")).await;
    assert_eq!(sent.json(), json!({ "next": "/goals" }));
    assert!(is_good(&world, visitor.cookie(SESSION)).await);
    // The same answer again, from elsewhere.
    let mut thief = Guest::new(&world, SITE);
    thief.get("/sign-in").await.good();
    let sent = thief.json("/passkeys/sign-in/finish", &finish(&key, &asked, "/")).await;
    assert_eq!(sent.status.as_u16(), 400);
    assert!(
        sent.json()["message"].as_str().unwrap().contains("Try again") || !sent.text.is_empty()
    );
    assert!(thief.cookie(SESSION).is_empty());
    // An answer leads to this site only.
    let asked = thief.json("/passkeys/sign-in/start", &json!({})).await.json();
    let body = finish(&key, &asked, "//evil.example");
    assert_eq!(thief.json("/passkeys/sign-in/finish", &body).await.json()["next"], "/");
}

#[tokio::test]
async fn the_second_step_asks_for_the_passkey_or_a_recovery_code() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = enter(&world, "robin@example.com").await;
    let key = add(&mut guest, "Phone").await;
    let switched = guest.post("/settings/security/second-step", &[("on", "1")]).await;
    assert_eq!(switched.goes_to(), "/settings/security");
    let page = guest.post("/settings/security/recovery-codes", &[]).await.good();
    let codes: Vec<&str> = page.split("<li><code>").skip(1).map(|it| &it[..14]).collect();
    assert_eq!(codes.len(), 10);
    let again = guest.get("/settings/security").await.good();
    assert!(!again.contains(codes[0]) && again.contains("10 unused codes"));
    let password = async || {
        let mut guest = Guest::new(&world, SITE);
        guest.get("/sign-in").await.good();
        let fields = [("email", "robin@example.com"), ("password", PASSWORD), ("next", "/goals")];
        let sent = guest.post("/sign-in", &fields).await;
        assert_eq!(sent.goes_to(), "/sign-in/second?next=/goals");
        assert!(guest.cookie(SESSION).is_empty(), "not in yet");
        let page = guest.get("/sign-in/second?next=/goals").await.good();
        assert!(page.contains("Use your passkey"));
        guest
    };
    // Between the steps one is nobody.
    let mut between = password().await;
    assert!(between.get("/settings/security").await.goes_to().starts_with("/sign-in"));
    let step = between.cookie("__Host-evenkeel_second").to_owned();
    between.cookies.insert(SESSION.to_owned(), step);
    assert!(between.get("/settings/security").await.goes_to().starts_with("/sign-in"));
    let mut by_key = password().await;
    let asked = by_key.json("/passkeys/second/start", &json!({})).await.json();
    let sent = by_key.json("/passkeys/second/finish", &finish(&key, &asked, "/goals")).await;
    assert_eq!(sent.json()["next"], "/goals");
    assert!(is_good(&world, by_key.cookie(SESSION)).await);
    assert!(by_key.cookie("__Host-evenkeel_second").is_empty());
    let mut by_code = password().await;
    let wrong = by_code.post("/sign-in/second", &[("code", "k7wq-3m2x-9d4h")]).await.refused(400);
    assert!(wrong.contains("not one of your unused recovery codes"));
    let fields = [("code", codes[3]), ("next", "/goals")];
    assert_eq!(by_code.post("/sign-in/second", &fields).await.goes_to(), "/goals");
    let mut spent = password().await;
    spent.post("/sign-in/second", &fields).await.refused(400);
    // Nobody gets to the second step without the first.
    let mut stranger = Guest::new(&world, SITE);
    stranger.get("/sign-in").await.good();
    assert_eq!(stranger.get("/sign-in/second").await.goes_to(), "/sign-in");
    assert_eq!(stranger.post("/sign-in/second", &fields).await.goes_to(), "/sign-in");
    let sent = stranger.json("/passkeys/second/start", &json!({})).await;
    assert_eq!(sent.status.as_u16(), 400);
}

#[tokio::test]
async fn a_session_left_open_must_be_confirmed_before_ways_in_change() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = enter(&world, "robin@example.com").await;
    let key = add(&mut guest, "Phone").await;
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
    let said = guest.post("/settings/security/confirm", &wrong).await.refused(400);
    assert!(said.contains("This is not your password"));
    let right = [("password", PASSWORD), ("next", "//evil.example")];
    assert_eq!(guest.post("/settings/security/confirm", &right).await.goes_to(), "/");
    assert!(guest.get("/settings/security").await.good().contains("Add passkey"));
    world.advance_seconds(600);
    let asked = guest.json("/passkeys/prove/start", &json!({})).await.json();
    let body = finish(&key, &asked, "/settings/security");
    assert_eq!(guest.json("/passkeys/prove/finish", &body).await.status.as_u16(), 200);
    assert!(guest.get("/settings/security").await.good().contains("Add passkey"));
}

#[tokio::test]
async fn where_there_can_be_no_passkeys_the_page_says_why() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = Guest::new(&world, "http://192.168.1.5:4680");
    let page = guest.get("/sign-in").await.good();
    assert!(!page.contains("data-passkey"));
    let sent = guest.json("/passkeys/sign-in/start", &json!({})).await;
    assert_eq!(sent.status.as_u16(), 400);
    let fields = [("email", "robin@example.com"), ("password", PASSWORD)];
    guest.post("/sign-in", &fields).await.goes_to();
    let page = guest.get("/settings/security").await.good();
    assert!(page.contains("Passkeys need a domain name"));
}

#[tokio::test]
async fn what_is_no_answer_of_a_browser_is_refused_in_a_sentence() {
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
