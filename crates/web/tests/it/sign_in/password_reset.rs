//! The pages that reset a password by email.

use std::time::Duration;

use service::mail;
use testkit::World;
use testkit::smtp::SmtpServer;
use tokio::time::Instant;

use super::{Guest, PASSWORD, SITE, robin, sign_in};

const NEW: &str = "an entirely new password";

#[tokio::test]
async fn a_forgotten_password_is_reset_by_a_link() {
    let mut world = World::new().await;
    let server = SmtpServer::start().await;
    world.app = world.with_mail(server.mailer());
    robin(&world).await;
    let mut elsewhere = sign_in(&world, "robin@example.com").await;
    let security = elsewhere.get("/settings/security").await.good();
    assert!(security.contains("We email you when your password"), "{security}");
    let mut guest = Guest::new(&world, SITE);
    assert!(guest.get("/sign-in").await.good().contains("href=\"/forgot-password\""));
    guest.get("/forgot-password").await.good();
    let ask = async |guest: &mut Guest, email: &str| {
        guest.post("/forgot-password", &[("email", email)]).await.good().replace(email, "X")
    };
    let known = ask(&mut guest, "robin@example.com").await;
    // Finding no account takes less work, which the time of the answer does not tell.
    let began = Instant::now();
    let unknown = ask(&mut guest, "kim@example.com").await;
    assert!(began.elapsed() >= Duration::from_millis(500), "{:?}", began.elapsed());
    assert!(known.contains("Check your email"));
    assert_eq!(known, unknown, "the answer does not say who has an account");
    let page = guest.post("/forgot-password", &[("email", "nobody")]).await.refused(400);
    assert!(page.contains("must be an email address"), "{page}");
    assert_eq!(mail::send_once(&world.app).await.unwrap(), 1);
    let link = server.messages()[0].link(SmtpServer::PUBLIC_URL).unwrap();
    let path = link.trim_start_matches(SmtpServer::PUBLIC_URL);
    assert!(guest.get(path).await.good().contains("Choose a new password"));
    let page = guest.post(path, &[("password", "short")]).await.refused(400);
    assert!(page.contains("must have 10 to"), "{page}");
    let page = guest.post(path, &[("password", NEW)]).await.good();
    assert!(page.contains("Password changed") && !page.contains(NEW));
    assert!(guest.get(path).await.refused(404).contains("no longer valid"));
    assert!(guest.post(path, &[("password", NEW)]).await.refused(404).contains("no longer valid"));
    assert!(elsewhere.get("/settings/security").await.location().starts_with("/sign-in"));
    guest.get("/sign-in").await.good();
    let old = [("email", "robin@example.com"), ("password", PASSWORD)];
    guest.post("/sign-in", &old).await.refused(400);
    let new = [("email", "robin@example.com"), ("password", NEW)];
    assert_eq!(guest.post("/sign-in", &new).await.location(), "/");
}

#[tokio::test]
async fn without_a_mail_server_the_sign_in_page_says_what_to_do() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = Guest::new(&world, SITE);
    let page = guest.get("/sign-in").await.good();
    assert!(page.contains("No emails are sent here") && !page.contains("/forgot-password"));
    let security =
        sign_in(&world, "robin@example.com").await.get("/settings/security").await.good();
    assert!(security.contains("This server doesn't send email"), "{security}");
    guest.get("/forgot-password").await.refused(404);
    guest.get("/reset-password/ekr_x").await.refused(404);
}

#[tokio::test]
async fn an_invitation_is_emailed_and_the_page_says_so() {
    let mut world = World::new().await;
    let server = SmtpServer::start().await;
    world.app = world.with_mail(server.mailer());
    robin(&world).await;
    let mut admin = sign_in(&world, "robin@example.com").await;
    assert!(admin.get("/settings/people").await.good().contains("We email them the link"));
    let made = admin.post("/settings/people", &[("email", "kim@example.com")]).await.good();
    assert!(made.contains("Invitation sent") && made.contains("kim@example.com"), "{made}");
    let made = admin.post("/settings/people", &[("email", "")]).await.good();
    assert!(made.contains("Send this link"), "{made}");
    mail::send_once(&world.app).await.unwrap();
    let link = server.messages()[0].link(SmtpServer::PUBLIC_URL).unwrap();
    let path = link.trim_start_matches(SmtpServer::PUBLIC_URL).to_owned();
    let link = server.messages()[0].text();
    assert!(link.contains("/invite/"), "{path}");
}
