//! Email: password resets, invitations, notices and alerts, and the queue that they wait in.

use std::time::Duration;

use db::params;
use service::access::sessions::Visit;
use service::access::sign_ins::{self, SignInOutcome};
use service::access::{invitations, password_resets, profiles, sessions};
use service::backup::{self, Keep, Plan, Target};
use service::{App, Error, mail};
use testkit::World;
use testkit::smtp::SmtpServer;

use crate::metrics::metric;
use crate::{PASSWORD, signed_in};

const NEW: &str = "an entirely new password";
const ROBIN: &str = "robin@example.com";

/// A world whose process sends email.
async fn world() -> (World, SmtpServer) {
    let mut world = World::new().await;
    let server = SmtpServer::start().await;
    world.app = world.with_mail(server.mailer());
    (world, server)
}

async fn send_all(app: &App) -> usize {
    mail::send_once(app).await.unwrap()
}

/// The secret of the newest link of a kind.
fn token(server: &SmtpServer, page: &str) -> String {
    let beginning = format!("{}/{page}/", SmtpServer::PUBLIC_URL);
    let link = server.messages().iter().rev().find_map(|it| it.link(&beginning)).unwrap();
    link[beginning.len()..].to_owned()
}

#[tokio::test]
async fn a_link_sets_a_new_password_once_and_ends_all_sessions() {
    let (world, server) = world().await;
    let app = &world.app;
    let (_, caller) = signed_in(&world, ROBIN).await;
    password_resets::request(app, " Robin@Example.com ", Visit::default()).await.unwrap();
    assert_eq!(send_all(app).await, 1);
    let message = &server.messages()[0];
    assert_eq!(
        (message.to.as_str(), message.header("Subject")),
        (ROBIN, Some("Reset your password"))
    );
    let token = token(&server, "reset-password");
    let stored = format!("{:?}", world.stored_in(&["mail_queue", "password_resets"]).await);
    assert!(!stored.contains(&token[4..20]), "the secret is not stored");
    assert!(password_resets::is_valid(app, &token).await.unwrap());
    let short = password_resets::finish(app, &token, "short", Visit::default()).await;
    assert!(matches!(short, Err(Error::Invalid { .. })));
    password_resets::finish(app, &token, NEW, Visit::default()).await.unwrap();
    assert!(sessions::list(app, &caller).await.unwrap().is_empty());
    let again = password_resets::finish(app, &token, NEW, Visit::default()).await;
    assert!(matches!(again, Err(Error::NotFound(_))), "it works once");
    let signed_in = sign_ins::by_password(app, ROBIN, NEW, Visit::default()).await.unwrap();
    assert!(matches!(signed_in, SignInOutcome::SignedIn { .. }));
    assert_eq!(send_all(app).await, 1);
    assert_eq!(server.messages()[1].header("Subject"), Some("Your password was changed"));
}

#[tokio::test]
async fn a_link_expires_and_only_the_newest_works() {
    let (world, server) = world().await;
    let app = &world.app;
    signed_in(&world, ROBIN).await;
    let ask = async || {
        password_resets::request(app, ROBIN, Visit::default()).await.unwrap();
        send_all(app).await;
        token(&server, "reset-password")
    };
    let (first, second) = (ask().await, ask().await);
    assert_ne!(first, second);
    assert!(!password_resets::is_valid(app, &first).await.unwrap());
    assert!(password_resets::is_valid(app, &second).await.unwrap());
    world.clock.advance(Duration::from_secs(30 * 60));
    assert!(!password_resets::is_valid(app, &second).await.unwrap());
    assert_eq!(password_resets::forget_once(app).await.unwrap(), 1);
    for bad in ["", "ekr_", "ekr_x", &second[..second.len() - 1]] {
        assert!(!password_resets::is_valid(app, bad).await.unwrap());
    }
}

#[tokio::test]
async fn nobody_learns_whether_an_address_has_an_account() {
    let (world, server) = world().await;
    let app = &world.app;
    signed_in(&world, ROBIN).await;
    password_resets::request(app, "stranger@example.com", Visit::default()).await.unwrap();
    assert_eq!(send_all(app).await, 0);
    // Requests beyond the limit are answered alike, and send nothing.
    for email in [ROBIN, "stranger@example.com"] {
        for _ in 0..6 {
            password_resets::request(app, email, Visit::default()).await.unwrap();
        }
    }
    send_all(app).await;
    assert!(server.messages().len() <= 3, "{}", server.messages().len());
    assert!(server.messages().iter().all(|it| it.to == ROBIN));
    // Too many from one address are refused, whatever they ask for.
    let from = Visit { address: Some("203.0.113.9".to_owned()), ..Visit::default() };
    let mut refused = 0;
    for number in 0..60 {
        let email = format!("{number}@example.com");
        let asked = password_resets::request(app, &email, from.clone()).await;
        refused += usize::from(matches!(asked, Err(Error::Limited { .. })));
    }
    assert!(refused >= 10, "{refused}");
}

#[tokio::test]
async fn without_a_mail_server_nothing_is_queued_and_no_link_exists() {
    let world = World::new().await;
    let (_, admin) = signed_in(&world, ROBIN).await;
    assert!(!password_resets::is_offered(&world.app));
    let asked = password_resets::request(&world.app, ROBIN, Visit::default()).await;
    assert!(matches!(asked, Err(Error::NotFound(_))));
    invitations::create(&world.app, &admin, Some("kim@example.com")).await.unwrap();
    assert!(world.stored_in(&["mail_queue"]).await["mail_queue"].is_empty());
    assert_eq!(send_all(&world.app).await, 0);
}

#[tokio::test]
async fn an_invitation_is_sent_to_its_person_unless_it_is_withdrawn_first() {
    let (world, server) = world().await;
    let app = &world.app;
    let (_, admin) = signed_in(&world, ROBIN).await;
    let (made, secret) = invitations::create(app, &admin, Some("kim@example.com")).await.unwrap();
    assert_eq!(send_all(app).await, 1);
    assert_eq!(server.messages()[0].to, "kim@example.com");
    assert_eq!(token(&server, "invite"), secret);
    invitations::withdraw(app, &admin, made.id).await.unwrap();
    let (made, _) = invitations::create(app, &admin, Some("kim@example.com")).await.unwrap();
    invitations::withdraw(app, &admin, made.id).await.unwrap();
    invitations::create(app, &admin, None).await.unwrap();
    assert_eq!(send_all(app).await, 0, "one is withdrawn, and one has no address");
    assert!(world.stored_in(&["mail_queue"]).await["mail_queue"].is_empty());
}

#[tokio::test]
async fn a_server_that_fails_is_tried_again_later_and_a_message_is_dropped_after_days() {
    let (world, server) = world().await;
    let app = &world.app;
    signed_in(&world, ROBIN).await;
    password_resets::request(app, ROBIN, Visit::default()).await.unwrap();
    server.fail_next("MAIL", "451 later");
    assert_eq!(send_all(app).await, 0);
    assert_eq!(send_all(app).await, 0, "it waits");
    assert_eq!(server.connections(), 1);
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(metric(app, "emails_waiting", &[]).await, 1);
    assert_eq!(metric(app, "email_oldest_wait_seconds", &[]).await, 60);
    // Lost after the message was sent: it arrives once more, and with the same id.
    assert_eq!(send_all(app).await, 1);
    assert_eq!(server.messages().len(), 1);
    // A recipient that is refused for good is not tried again.
    password_resets::request(app, ROBIN, Visit::default()).await.unwrap();
    server.fail_next("RCPT", "550 no such user");
    send_all(app).await;
    world.clock.advance(Duration::from_secs(86_400));
    assert_eq!((send_all(app).await, server.messages().len()), (0, 1));
    // A server that never answers again: the message is dropped after three days.
    profiles::reset_password(app, signed_in_user(&world).await, NEW).await.unwrap();
    for _ in 0..40 {
        server.fail_next("EHLO", "");
        send_all(app).await;
        world.clock.advance(Duration::from_secs(6 * 3_600));
    }
    assert!(world.stored_in(&["mail_queue"]).await["mail_queue"].is_empty());
    assert_eq!(server.messages().len(), 1);
    assert_eq!(metric(app, "emails_waiting", &[]).await, 0);
    for (outcome, least, most) in
        [("sent", 1, 1), ("refused", 1, 1), ("dropped", 1, 1), ("retrying", 5, 39)]
    {
        let count = metric(app, "emails", &[("outcome", outcome)]).await;
        assert!((least..=most).contains(&count), "{outcome}: {count}");
    }
}

async fn signed_in_user(world: &World) -> base::UserId {
    service::access::users::find_by_email(&world.app, ROBIN).await.unwrap().unwrap().id
}

#[tokio::test]
async fn two_processes_send_each_message_once() {
    let (world, server) = world().await;
    let other = world.with_mail(server.mailer());
    let user = signed_in(&world, ROBIN).await.1.user;
    for _ in 0..6 {
        profiles::reset_password(&world.app, user, NEW).await.unwrap();
    }
    let (one, two) = tokio::join!(mail::send_once(&world.app), mail::send_once(&other));
    assert_eq!(one.unwrap() + two.unwrap(), 6);
    assert_eq!(server.messages().len(), 6);
}

#[tokio::test]
async fn a_new_email_is_told_to_the_old_address() {
    let (world, server) = world().await;
    let (_, caller) = signed_in(&world, ROBIN).await;
    profiles::change_email(&world.app, &caller, PASSWORD, "new@example.com").await.unwrap();
    assert_eq!(send_all(&world.app).await, 1);
    let message = &server.messages()[0];
    assert_eq!(message.to, ROBIN);
    assert!(!message.raw.contains("new@example.com"), "{}", message.raw);
}

#[tokio::test]
async fn a_late_backup_is_told_to_admins_once_until_it_is_over() {
    let mut world = World::new().await;
    let server = SmtpServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan {
        target: Target::Folder(folder.path().to_owned()),
        every_hours: 24,
        hour: 3,
        keep: Keep { daily: 3, weekly: 2, monthly: 1 },
        encryption: None,
    };
    world.app = world.with_mail_and_backups(server.mailer(), plan);
    let app = &world.app;
    signed_in(&world, ROBIN).await;
    signed_in(&world, "kim@example.com").await;
    assert_eq!(mail::alert_once(app).await.unwrap(), 0, "the first one is about to be written");
    backup::run_once(app).await.unwrap();
    assert_eq!(mail::alert_once(app).await.unwrap(), 0);
    for _ in 0..2 {
        world.clock.advance(Duration::from_secs(37 * 3_600));
        assert_eq!(mail::alert_once(app).await.unwrap(), 1);
        assert_eq!(mail::alert_once(app).await.unwrap(), 0, "it is told once");
        backup::run_once(app).await.unwrap();
        assert_eq!(mail::alert_once(app).await.unwrap(), 0);
    }
    send_all(app).await;
    let messages = server.messages();
    assert_eq!(messages.len(), 2);
    assert!(messages.iter().all(|it| it.to == ROBIN && it.text().contains("/settings/backups")));
}

#[tokio::test]
async fn a_connection_that_needs_its_person_is_told_once_until_it_works() {
    let (world, server) = world().await;
    let app = &world.app;
    let user = signed_in(&world, ROBIN).await.1.user;
    let set = async |status: &'static str| {
        let write = move |tx: &mut db::Tx<'_>| {
            tx.execute(
                "update connections set status = $2 where user_id = $1",
                params![user, status],
            )?;
            Ok::<_, Error>(())
        };
        app.db.write(write).await.unwrap();
    };
    let id: base::ConnectionId = app.ids.make();
    let insert = move |tx: &mut db::Tx<'_>| {
        let sql =
            "insert into connections (user_id, id, source, external_id, name, status, created_at)
            values ($1, $2, $3, $4, $4, $5, $6)";
        let now = tx.now()?;
        let row = params![user, id, "simplefin", "My secret bank", "needs_attention", now];
        tx.execute(sql, row)?;
        Ok::<_, Error>(())
    };
    app.db.write(insert).await.unwrap();
    assert_eq!(mail::alert_once(app).await.unwrap(), 1);
    assert_eq!(mail::alert_once(app).await.unwrap(), 0);
    set("connected").await;
    assert_eq!(mail::alert_once(app).await.unwrap(), 0);
    set("needs_attention").await;
    assert_eq!(mail::alert_once(app).await.unwrap(), 1);
    assert_eq!(send_all(app).await, 2);
    let all: String = server.messages().iter().map(|it| it.text()).collect();
    assert!(all.contains("/connections") && !all.contains("secret bank"), "{all}");
    service::access::users::delete(app, user).await.unwrap();
    let left = world.stored_in(&["mail_queue", "mail_alerts", "password_resets"]).await;
    assert!(left.values().all(Vec::is_empty), "{left:?}");
}
