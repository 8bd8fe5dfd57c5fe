//! The security page: password, email, sessions, passkeys and account deletion.

use service::access::sessions::{self, Method, Visit};
use service::access::users;
use testkit::{Authenticator, Kind, World};

use super::{Guest, PASSWORD, SITE, is_session, robin, sign_in};

const HERE: &str = "/settings/security";

#[tokio::test]
async fn a_new_password_works_and_ends_the_other_sessions() {
    let world = World::new().await;
    let robin = robin(&world).await;
    let mut guest = sign_in(&world, "robin@example.com").await;
    let other = sessions::create(&world.app, &robin, Method::Password, Visit::default());
    let other = other.await.unwrap();
    let change = |present, new| [("password", present), ("new_password", new)];
    let path = "/settings/security/password";
    let wrong = guest.post(path, &change("wrong password", "a new password")).await.refused(400);
    assert!(wrong.contains("This is not your password"));
    let short = guest.post(path, &change(PASSWORD, "short")).await.refused(400);
    assert!(short.contains("Password must have 10 to 256 characters"));
    assert_eq!(guest.post(path, &change(PASSWORD, "a new password")).await.location(), HERE);
    let page = guest.get(HERE).await.good();
    assert!(page.contains("Password changed"));
    assert!(
        !guest.get(HERE).await.good().contains("Password changed"),
        "the message is shown once"
    );
    assert!(!is_session(&world, &other).await);
    let user = users::check_password(&world.app, "robin@example.com", "a new password").await;
    assert!(user.unwrap().is_some());
}

#[tokio::test]
async fn a_person_signs_in_with_a_new_email_after_changing_it() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = sign_in(&world, "robin@example.com").await;
    let path = "/settings/security/email";
    let fields = |password| [("email", "new@example.com"), ("password", password)];
    guest.post(path, &fields("wrong password")).await.refused(400);
    assert_eq!(guest.post(path, &fields(PASSWORD)).await.location(), HERE);
    sign_in(&world, "new@example.com").await;
}

#[tokio::test]
async fn sessions_are_listed_and_ended_one_by_one_or_all_others() {
    let world = World::new().await;
    let robin = robin(&world).await;
    let mut guest = sign_in(&world, "robin@example.com").await;
    let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    let open = async || {
        let (agent, address) = (Some(agent.to_owned()), Some("203.0.113.9".to_owned()));
        let from = Visit { agent, address, device: None };
        sessions::create(&world.app, &robin, Method::Password, from).await.unwrap()
    };
    let (one, two, three) = (open().await, open().await, open().await);
    let page = guest.get(HERE).await.good();
    assert_eq!(page.matches("Firefox on Linux").count(), 3);
    assert!(page.contains("203.0.113.9") && page.contains("This device"));
    let (_, caller) = sessions::find(&world.app, &one, None).await.unwrap().unwrap();
    let service::Credential::Session { id, .. } = caller.credential else { panic!() };
    let path = format!("/settings/security/sessions/{id}/revoke");
    assert_eq!(guest.post(&path, &[]).await.location(), HERE);
    assert!(!is_session(&world, &one).await && is_session(&world, &two).await);
    guest.post(&path, &[]).await.refused(404);
    // Another person's session is not found.
    let kim = world.person("kim@example.com").await;
    let kims = sessions::create(&world.app, &kim.user, Method::Password, Visit::default());
    let kims = kims.await.unwrap();
    let (_, caller) = sessions::find(&world.app, &kims, None).await.unwrap().unwrap();
    let service::Credential::Session { id, .. } = caller.credential else { panic!() };
    guest.post(&format!("/settings/security/sessions/{id}/revoke"), &[]).await.refused(404);
    guest.post("/settings/security/sessions/revoke-others", &[]).await.location();
    assert!(!is_session(&world, &two).await && !is_session(&world, &three).await);
    assert!(is_session(&world, &kims).await);
    guest.get(HERE).await.good();
}

#[tokio::test]
async fn passkeys_are_renamed_and_removed() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = sign_in(&world, "robin@example.com").await;
    let mut key = Authenticator::new(Kind::EdDsa, SITE, b"a");
    let challenge = guest.json("/passkeys/register/start", &serde_json::json!({})).await.json();
    let body = serde_json::json!({ "credential": key.create(&challenge), "name": "" });
    guest.json("/passkeys/register/finish", &body).await.good();
    let page = guest.get(HERE).await.good();
    let id = page.split("/settings/security/passkeys/").nth(1).unwrap();
    let id = id.split('/').next().unwrap().to_owned();
    let rename = format!("/settings/security/passkeys/{id}/rename");
    let hostile = "<img src=x onerror=alert(1)>";
    assert_eq!(guest.post(&rename, &[("name", hostile)]).await.location(), HERE);
    let page = guest.get(HERE).await.good();
    assert!(!page.contains("<img src=x") && page.contains("&lt;img src=x"));
    guest.post(&rename, &[("name", " ")]).await.refused(400);
    guest.post("/settings/security/second-step", &[("on", "1")]).await.location();
    let remove = format!("/settings/security/passkeys/{id}/remove");
    let message = guest.post(&remove, &[]).await.refused(400);
    assert!(message.contains("turn off the second step first"));
    guest.post("/settings/security/second-step", &[("on", "0")]).await.location();
    assert_eq!(guest.post(&remove, &[]).await.location(), HERE);
    let message = guest.post("/settings/security/second-step", &[("on", "1")]).await.refused(400);
    assert!(message.contains("Add a passkey first"));
}

#[tokio::test]
async fn deleting_an_account_needs_a_check_box_and_the_password() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = sign_in(&world, "robin@example.com").await;
    let path = "/settings/security/delete";
    let message = guest.post(path, &[("password", PASSWORD)]).await.refused(400);
    assert!(message.contains("Check the box"));
    guest.post(path, &[("password", "wrong password"), ("sure", "1")]).await.refused(400);
    assert_eq!(users::list(&world.app, 9).await.unwrap().len(), 1);
    let sent = guest.post(path, &[("password", PASSWORD), ("sure", "1")]).await;
    assert_eq!(sent.location(), "/sign-in");
    assert!(users::list(&world.app, 9).await.unwrap().is_empty());
    assert_eq!(Guest::new(&world, SITE).get("/sign-in").await.location(), "/setup");
}
