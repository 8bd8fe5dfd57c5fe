//! The sign-in pages, sessions and account security, as browsers and attackers use them.

mod arrivals;
mod attacks;
mod devices;
mod forgery;
mod guest;
mod passkeys;
mod password_reset;
mod security;
mod sensitive;
mod sign_on;

use service::access::sessions;
use service::access::users::{self, NewUser, User};
use testkit::{World, new_user};

pub(crate) use guest::Guest;

const SITE: &str = "https://money.example.com";
const PASSWORD: &str = "correct horse battery staple";

pub(crate) fn with_password(email: &str) -> NewUser {
    NewUser { password: Some(PASSWORD.to_owned()), ..new_user(email) }
}

async fn robin(world: &World) -> User {
    users::create(&world.app, with_password("robin@example.com")).await.unwrap()
}

/// Signs somebody in through the page.
pub(crate) async fn sign_in(world: &World, email: &str) -> Guest {
    let mut guest = Guest::new(world, SITE);
    guest.get("/sign-in").await.good();
    let sent = guest.post("/sign-in", &[("email", email), ("password", PASSWORD)]).await;
    assert_eq!(sent.location(), "/");
    guest.get("/settings/security").await.good();
    guest
}

/// Whether a token is that of a session.
async fn is_session(world: &World, token: &str) -> bool {
    sessions::find(&world.app, token, None).await.unwrap().is_some()
}
