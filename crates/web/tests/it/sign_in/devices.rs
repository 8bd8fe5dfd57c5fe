//! Browsers that signed in before, which a device cookie identifies.

use testkit::World;

use super::{Guest, PASSWORD, SITE, robin, sign_in};

const DEVICE: &str = "__Host-evenkeel_device";

async fn attempt(guest: &mut Guest, password: &str) -> u16 {
    let fields = [("email", "robin@example.com"), ("password", password)];
    guest.post("/sign-in", &fields).await.status.as_u16()
}

/// Sends ten wrong passwords from ten addresses, and returns the page that the owner then gets at an eleventh.
async fn lock(world: &World) -> String {
    for number in 0..10 {
        let mut stranger = Guest::new(world, SITE);
        stranger.address = format!("198.51.100.{number}");
        stranger.get("/sign-in").await.good();
        assert_eq!(attempt(&mut stranger, "wrong password").await, 400);
    }
    let mut owner = Guest::new(world, SITE);
    owner.get("/sign-in").await.good();
    let fields = [("email", "robin@example.com"), ("password", PASSWORD)];
    owner.post("/sign-in", &fields).await.refused(429)
}

#[tokio::test]
async fn a_browser_that_signed_in_before_can_sign_in_during_an_attack() {
    let world = World::new().await;
    robin(&world).await;
    let mut owner = sign_in(&world, "robin@example.com").await;
    let first = owner.cookie(DEVICE).to_owned();
    assert!(first.starts_with("ekd_"));
    assert_eq!(owner.post("/sign-out", &[]).await.location(), "/sign-in");
    assert_eq!(owner.cookie(DEVICE), first, "signing out keeps the device cookie");
    let page = lock(&world).await;
    assert!(page.contains("Too many attempts. Wait 15 minutes"), "{page}");
    assert!(page.contains("sign in with a passkey, or in a browser you've used before"));
    owner.get("/sign-in").await.good();
    let fields = [("email", "robin@example.com"), ("password", PASSWORD)];
    let sent = owner.post("/sign-in", &fields).await;
    assert_eq!(sent.location(), "/");
    let line = sent.set_cookies().into_iter().find(|it| it.starts_with(DEVICE)).unwrap();
    let flags = "; Path=/; HttpOnly; SameSite=Lax; Max-Age=15552000; Secure";
    assert!(line.ends_with(flags), "{line}");
    assert_ne!(owner.cookie(DEVICE), first, "each sign-in issues a new device token");
}

#[tokio::test]
async fn a_device_cookie_does_not_sign_in() {
    let world = World::new().await;
    robin(&world).await;
    let owner = sign_in(&world, "robin@example.com").await;
    let mut thief = Guest::new(&world, SITE);
    thief.cookies.insert(DEVICE.to_owned(), owner.cookie(DEVICE).to_owned());
    assert!(thief.get("/settings/security").await.location().starts_with("/sign-in"));
    let device = owner.cookie(DEVICE).to_owned();
    thief.cookies.insert("__Host-evenkeel_session".to_owned(), device);
    assert!(thief.get("/settings/security").await.location().starts_with("/sign-in"));
    thief.get("/sign-in").await.good();
    for _ in 0..10 {
        assert_eq!(attempt(&mut thief, "wrong password").await, 400);
    }
    assert_eq!(attempt(&mut thief, PASSWORD).await, 429);
}
