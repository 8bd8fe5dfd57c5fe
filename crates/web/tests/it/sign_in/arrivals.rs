//! Setup by the first person, invitations, and open sign-up.

use service::access::{sign_ins, users};
use service::backup;
use testkit::World;

use super::{Guest, PASSWORD, SITE, robin, sign_in};
use crate::client::{Client, PUBLIC_URL};

fn newcomer<'a>(email: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let fields = [("email", email), ("password", PASSWORD), ("name", "Robin"), ("currency", "eur")];
    [&fields, more].concat()
}

#[tokio::test]
async fn the_first_person_is_sent_to_the_setup_and_signed_in_by_it() {
    let world = World::new().await;
    let mut guest = Guest::new(&world, SITE);
    for path in ["/", "/sign-in", "/settings/security"] {
        assert_eq!(guest.get(path).await.location(), "/setup", "{path}");
    }
    let page = guest.get("/setup").await.good();
    assert!(page.contains("Setup code"));
    let code = sign_ins::setup_code(&world.app);
    assert!(!page.contains(&code), "the page must not show the code");
    let wrong = newcomer("robin@example.com", &[("code", "k7wq-3m2x-9d4h")]);
    let page = guest.post("/setup", &wrong).await.refused(400);
    assert!(page.contains("not the setup code") && page.contains("value=\"robin@example.com\""));
    assert!(!page.contains(PASSWORD), "a password is never sent back");
    let odd = [("email", "r@example.com"), ("password", PASSWORD), ("currency", "XYZ")];
    let page = guest.post("/setup", &[&odd[..], &[("code", &code)]].concat()).await.refused(400);
    assert!(page.contains("currency code"), "{page}");
    // All errors are shown at once.
    let bad = [("email", "nobody"), ("password", "short"), ("currency", "USD")];
    let page = guest.post("/setup", &[&bad[..], &[("code", &code)]].concat()).await.refused(400);
    assert!(
        page.contains("must be an email address") && page.contains("must have 10 to"),
        "{page}"
    );
    let code = code.to_uppercase();
    let sent = guest.post("/setup", &newcomer("robin@example.com", &[("code", &code)])).await;
    assert_eq!(sent.location(), "/");
    let page = guest.get("/settings/security").await.good();
    assert!(page.contains("robin@example.com") && page.contains("signed in with setup code"));
    // The setup is over from here on.
    let mut late = Guest::new(&world, SITE);
    assert_eq!(late.get("/setup").await.location(), "/sign-in");
    late.get("/sign-in").await.good();
    let page = late.post("/setup", &newcomer("kim@example.com", &[("code", &code)])).await;
    assert!(page.refused(400).contains("This installation is already set up"));
}

#[tokio::test]
async fn the_setup_says_what_to_set_if_it_is_opened_at_another_address() {
    let world = World::new().await;
    let client = Client::anonymous(&world);
    let told = async |host: &str| {
        let page = client.header("host", host).get("/setup").await;
        assert_eq!(page.status, 200);
        String::from_utf8(page.bytes).unwrap()
    };
    let own = PUBLIC_URL.split_once("://").unwrap().1;
    assert!(!told(own).await.contains("EVENKEEL_PUBLIC_URL"));
    let page = told("192.0.2.7:4680").await;
    assert!(page.contains("You opened <strong>192.0.2.7:4680</strong>"), "{page}");
    assert!(page.contains("EVENKEEL_PUBLIC_URL"), "{page}");
    assert!(told("<script>").await.contains("<strong>&lt;script&gt;</strong>"));
}

#[tokio::test]
async fn every_page_names_the_version_and_links_to_its_changes() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = Guest::new(&world, SITE);
    let mut admin = sign_in(&world, "robin@example.com").await;
    let version = format!("Evenkeel {}", env!("CARGO_PKG_VERSION"));
    for page in [
        guest.get("/sign-in").await.good(),
        admin.get("/").await.good(),
        admin.get("/settings/people").await.good(),
        guest.get("/docs").await.good(),
    ] {
        assert!(page.contains(&version) && page.contains("href=\"/docs/changes\""), "{page}");
    }
    let changes = guest.get("/docs/changes").await.good();
    assert!(changes.contains("<h2>Version 1.0.0</h2>"), "{changes}");
    assert!(!changes.contains("src=\"http") && !changes.contains("href=\"http"), "{changes}");
}

#[tokio::test]
async fn an_invitation_by_an_admin_works_once() {
    let world = World::new().await;
    robin(&world).await;
    let mut admin = sign_in(&world, "robin@example.com").await;
    admin.get("/settings/people").await.good();
    let made = admin.post("/settings/people", &[("email", "kim@example.com")]).await.good();
    let link = made.split(&format!("{SITE}/invite/")).nth(1).unwrap();
    let path = format!("/invite/{}", link.split(['<', '"']).next().unwrap());
    assert!(!admin.get("/settings/people").await.good().contains(&path), "the link is shown once");
    let mut kim = Guest::new(&world, SITE);
    let page = kim.get(&path).await.good();
    assert!(page.contains("value=\"kim@example.com\""));
    let other = kim.post(&path, &newcomer("alex@example.com", &[])).await.refused(400);
    assert!(other.contains("for another email address"));
    assert_eq!(kim.post(&path, &newcomer("kim@example.com", &[])).await.location(), "/");
    // A member cannot invite anyone, and does not see the page.
    let page = kim.get("/settings/security").await.good();
    assert!(!page.contains("/settings/people"));
    kim.get("/settings/people").await.refused(404);
    kim.post("/settings/people", &[("email", "")]).await.refused(404);
    let mut late = Guest::new(&world, SITE);
    let page = late.get(&path).await.refused(404);
    assert!(page.contains("This invitation is no longer valid"));
    late.get("/sign-in").await.good();
    late.post(&path, &newcomer("alex@example.com", &[])).await.refused(404);
    let made = admin.post("/settings/people", &[("email", "kim@example.com")]).await.refused(400);
    assert!(made.contains("already has an account"));
}

#[tokio::test]
async fn an_admin_sees_the_last_good_backup_and_what_went_wrong() {
    let mut world = World::new().await;
    robin(&world).await;
    let mut admin = sign_in(&world, "robin@example.com").await;
    let page = admin.get("/settings/backups").await.good();
    assert!(page.contains("No backups are scheduled"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    let plan = backup::Plan {
        target: backup::Target::Folder(folder.path().join("disk")),
        every_hours: 24,
        hour: 3,
        keep: backup::Keep { daily: 7, weekly: 4, monthly: 12 },
        encryption: None,
    };
    world.app = world.with_backups(plan);
    let mut admin = sign_in(&world, "robin@example.com").await;
    let page = admin.get("/settings/backups").await.good();
    assert!(
        page.contains("Backups don't work") || page.contains("Backups don&#39;t work"),
        "{page}"
    );
    std::fs::create_dir(folder.path().join("disk")).unwrap();
    assert!(admin.get("/settings/backups").await.good().contains("There is no backup yet"));
    backup::run_once(&world.app).await.unwrap();
    let page = admin.get("/settings/backups").await.good();
    assert!(page.contains("Last good backup") && page.contains("0.1 MB"), "{page}");
    assert!(page.contains("The files are not encrypted"), "{page}");
    world.clock.advance(std::time::Duration::from_secs(40 * 3_600));
    let mut admin = sign_in(&world, "robin@example.com").await;
    assert!(admin.get("/settings/backups").await.good().contains("The next backup is late"));
}

#[tokio::test]
async fn an_invitation_can_be_withdrawn() {
    let world = World::new().await;
    robin(&world).await;
    let mut admin = sign_in(&world, "robin@example.com").await;
    let made = admin.post("/settings/people", &[("email", "")]).await.good();
    let link = made.split(&format!("{SITE}/invite/")).nth(1).unwrap();
    let path = format!("/invite/{}", link.split(['<', '"']).next().unwrap());
    let id = made.split("/settings/people/").nth(1).unwrap().split('/').next().unwrap();
    let withdraw = format!("/settings/people/{id}/withdraw");
    assert_eq!(admin.post(&withdraw, &[]).await.location(), "/settings/people");
    assert!(admin.get("/settings/people").await.good().contains("Invitation withdrawn"));
    Guest::new(&world, SITE).get(&path).await.refused(404);
    admin.post("/settings/people/nonsense/withdraw", &[]).await.refused(404);
}

#[tokio::test]
async fn sign_up_is_closed_unless_the_operator_opens_it() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = Guest::new(&world, SITE);
    let page = guest.get("/sign-in").await.good();
    assert!(!page.contains("/sign-up"));
    guest.get("/sign-up").await.refused(404);
    guest.post("/sign-up", &newcomer("kim@example.com", &[])).await.refused(404);
    let public_url = SITE.to_owned();
    let open = web::Settings { public_url, sign_up_open: true, ..web::Settings::default() };
    let mut guest = Guest::with(&world, open);
    assert!(guest.get("/sign-in").await.good().contains("/sign-up"));
    guest.get("/sign-up").await.good();
    guest.post("/sign-up", &newcomer("kim@example.com", &[])).await.good();
    let fields = [("email", "kim@example.com"), ("password", PASSWORD)];
    assert_eq!(guest.post("/sign-in", &fields).await.location(), "/");
    guest.get("/settings/security").await.good();
}

#[tokio::test]
async fn sign_up_responds_the_same_for_an_email_that_has_an_account() {
    let world = World::new().await;
    robin(&world).await;
    let public_url = SITE.to_owned();
    let open = web::Settings { public_url, sign_up_open: true, ..web::Settings::default() };
    let mut answers = Vec::new();
    for email in ["robin@example.com", "nobody@example.com"] {
        let mut guest = Guest::with(&world, open.clone());
        guest.get("/sign-up").await.good();
        let fields = [("email", email), ("password", "another password"), ("currency", "USD")];
        let sent = guest.post("/sign-up", &fields).await;
        let mut headers: Vec<_> = sent.headers.iter().map(|it| format!("{it:?}")).collect();
        headers.retain(|it| !it.contains("content-length"));
        let text = sent.text.replace(email, "EMAIL").replace(&guest.token, "TOKEN");
        answers.push((sent.status, headers, text));
    }
    assert_eq!(answers[0], answers[1]);
    let (status, _, text) = &answers[0];
    assert!(status.is_success() && text.contains("Sign in as"), "{text}");
    // The existing account is unchanged, and its audit trail shows the attempt.
    let mut robin = sign_in(&world, "robin@example.com").await;
    let trail = robin.get("/settings/audit").await.good();
    assert!(trail.contains("Somebody tried to create another account with your email"));
}

#[tokio::test]
async fn an_installation_with_open_sign_up_still_requires_the_setup_code() {
    let world = World::new().await;
    let public_url = SITE.to_owned();
    let open = web::Settings { public_url, sign_up_open: true, ..web::Settings::default() };
    let mut guest = Guest::with(&world, open);
    assert_eq!(guest.get("/sign-up").await.location(), "/setup");
    guest.get("/setup").await.good();
    let sent = guest.post("/sign-up", &newcomer("kim@example.com", &[])).await;
    assert_eq!(sent.location(), "/setup");
    assert!(service::access::users::list(&world.app, 1).await.unwrap().is_empty());
}

#[tokio::test]
async fn new_people_choose_a_time_zone_with_or_without_a_script() {
    let world = World::new().await;
    let mut guest = Guest::new(&world, SITE);
    let page = guest.get("/setup").await.good();
    assert!(page.contains("data-from-browser") && page.contains("/assets/timezone."), "{page}");
    assert!(page.contains("value=\"America/New_York\">America/New York"), "{page}");
    let code = sign_ins::setup_code(&world.app);
    let form = |timezone| newcomer("robin@example.com", &[("code", &code), ("timezone", timezone)]);
    let page = guest.post("/setup", &form("Europe/Berlim")).await.refused(400);
    assert!(page.contains("did you mean Europe/Berlin?"), "{page}");
    assert_eq!(guest.post("/setup", &form("Europe/Berlin")).await.location(), "/");
    let timezone = async |email| {
        let user = users::find_by_email(&world.app, email).await.unwrap().unwrap();
        user.timezone.name()
    };
    assert_eq!(timezone("robin@example.com").await, "Europe/Berlin");
    guest.get("/settings/people").await.good();
    let made = guest.post("/settings/people", &[("email", "kim@example.com")]).await.good();
    let link = made.split(&format!("{SITE}/invite/")).nth(1).unwrap();
    let path = format!("/invite/{}", link.split(['<', '"']).next().unwrap());
    let mut kim = Guest::new(&world, SITE);
    assert!(kim.get(&path).await.good().contains("data-from-browser"));
    // Without scripts and without a choice, the time zone is UTC.
    assert_eq!(kim.post(&path, &newcomer("kim@example.com", &[])).await.location(), "/");
    assert_eq!(timezone("kim@example.com").await, "UTC");
}
