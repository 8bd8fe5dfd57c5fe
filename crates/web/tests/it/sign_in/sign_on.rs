//! Single sign-on, as a browser goes through it.

use service::access::{invitations, users};
use testkit::World;
use testkit::oidc::{Deviation, OidcProvider};

use super::{Guest, SITE, robin, sign_in};

const SESSION: &str = "__Host-evenkeel_session";

/// A world whose installation lets in everybody with a verified email of example.com.
async fn world() -> (World, OidcProvider) {
    let mut world = World::new().await;
    let provider = OidcProvider::start(world.clock.clone()).await;
    let mut settings = provider.settings("lighthouse");
    settings.create_for_domains = vec!["example.com".to_owned()];
    world.app = world.with_single_sign_on(vec![settings]);
    (world, provider)
}

#[tokio::test]
async fn a_visitor_signs_in_and_arrives_at_the_requested_page() {
    let (world, provider) = world().await;
    world.person("admin@example.org").await;
    let mut guest = Guest::new(&world, SITE);
    let page = guest.get("/sign-in?next=/spending").await.good();
    assert!(page.contains("href=\"/sign-on/lighthouse?next=/spending\""), "{page}");
    assert!(page.contains("Sign in with Lighthouse") && page.contains("name=\"password\""));

    let address = guest.get("/sign-on/lighthouse?next=/spending").await.location().to_owned();
    let path = provider.visit(&address);
    let arrived = guest.get(&path).await;
    assert_eq!(arrived.location(), "/spending");
    assert!(!guest.cookie(SESSION).is_empty());
    let page = guest.get("/settings/security").await.good();
    assert!(page.contains("signed in with single sign-on"), "{page}");
    assert!(page.contains("robin@example.com") && page.contains("last used"));

    // The same answer again signs nobody in, in this browser or in another.
    let mut other = Guest::new(&world, SITE);
    for guest in [&mut guest, &mut other] {
        let page = guest.get(&path).await.refused(400);
        assert!(page.contains("This took too long or was already used; try again."), "{page}");
    }
    assert!(other.cookie(SESSION).is_empty());
}

#[tokio::test]
async fn an_answer_that_an_attacker_began_is_refused_in_the_victims_browser() {
    let (world, provider) = world().await;
    world.person("admin@example.org").await;
    let (mut attacker, mut victim) = (Guest::new(&world, SITE), Guest::new(&world, SITE));
    let address = attacker.get("/sign-on/lighthouse").await.location().to_owned();
    victim.get("/sign-in").await.good();
    let page = victim.get(&provider.visit(&address)).await.refused(400);
    assert!(page.contains("This began in another browser; try again."), "{page}");
    assert!(victim.cookie(SESSION).is_empty());
}

#[tokio::test]
async fn a_parameter_that_comes_twice_counts_as_missing() {
    let (world, provider) = world().await;
    world.person("admin@example.org").await;
    let mut guest = Guest::new(&world, SITE);
    for twice in ["&state=x", "&iss=https%3A%2F%2Fevil.example", "&code=x"] {
        let address = guest.get("/sign-on/lighthouse").await.location().to_owned();
        let path = format!("{}{twice}", provider.visit(&address));
        guest.get(&path).await.refused(400);
        assert!(guest.cookie(SESSION).is_empty(), "{twice}");
    }
    guest.get("/sign-on/lighthouse/callback").await.refused(400);
    guest.get("/sign-on/nowhere").await.refused(404);
    guest.get("/sign-on/nowhere/callback?state=x&code=y").await.refused(404);
}

#[tokio::test]
async fn a_provider_that_does_not_work_is_named_on_the_sign_in_page() {
    let (world, provider) = world().await;
    world.person("admin@example.org").await;
    provider.deviate(Some(Deviation::Garbage("/.well-known/openid-configuration")));
    let mut guest = Guest::new(&world, SITE);
    let page = guest.get("/sign-on/lighthouse").await.refused(400);
    let expected = "Signing in with Lighthouse did not work: the provider did not answer in JSON for its metadata.";
    assert!(page.contains(expected), "{page}");
    assert!(page.contains("name=\"password\""));
}

#[tokio::test]
async fn a_person_links_confirms_with_and_unlinks_a_provider() {
    let (world, provider) = world().await;
    robin(&world).await;
    let mut guest = sign_in(&world, "robin@example.com").await;
    let page = guest.get("/settings/security").await.good();
    assert!(page.contains("Not linked"), "{page}");
    let page = guest.post("/settings/security/sign-on/lighthouse/link", &[]).await.good();
    let address = page.split("href=\"").nth(1).map(|_| {
        let found = page.split("href=\"").find(|it| it.starts_with(provider.issuer()));
        found.unwrap().split('"').next().unwrap().replace("&amp;", "&")
    });
    let arrived = guest.get(&provider.visit(&address.unwrap())).await;
    assert_eq!(arrived.location(), "/settings/security");
    let page = guest.get("/settings/security").await.good();
    assert!(page.contains("Linked. You can sign in with it from now on."), "{page}");

    // After ten minutes a change asks again, and the provider can confirm.
    world.advance_seconds(601);
    let issuer = [("issuer", provider.issuer())];
    let page = guest.post("/settings/security/sign-on/unlink", &issuer).await.refused(403);
    assert!(page.contains("To unlink single sign-on, confirm"), "{page}");
    assert!(page.contains("href=\"/sign-on/lighthouse/confirm?next=/settings/security\""));
    let page = guest.get("/settings/security/confirm").await.good();
    assert!(page.contains("Confirm with Lighthouse"), "{page}");
    let confirm = guest.get("/sign-on/lighthouse/confirm?next=/settings/security").await;
    let path = provider.visit(confirm.location());
    assert_eq!(guest.get(&path).await.location(), "/settings/security");
    guest.get("/settings/security").await.good();
    let sent = guest.post("/settings/security/sign-on/unlink", &issuer).await;
    assert_eq!(sent.location(), "/settings/security");
    assert!(guest.get("/settings/security").await.good().contains("Not linked"));

    // A refusal is told to the signed-in person too.
    let confirm = guest.get("/sign-on/lighthouse/confirm").await;
    let page = guest.get(&provider.visit(confirm.location())).await.refused(400);
    assert!(page.contains("This Lighthouse sign-in is not linked to your account."), "{page}");
}

#[tokio::test]
async fn without_passwords_the_pages_offer_only_the_other_ways() {
    let mut world = World::new().await;
    let provider = OidcProvider::start(world.clock.clone()).await;
    let admin = world.person("admin@example.org").await.session().await;
    let named = Some("kim@example.com");
    let (_, named) = invitations::create(&world.app, &admin, named).await.unwrap();
    let (_, nameless) = invitations::create(&world.app, &admin, None).await.unwrap();
    world.app = world.without_passwords(vec![provider.settings("lighthouse")]);
    let settings = web::Settings {
        public_url: SITE.to_owned(),
        sign_up_open: true,
        ..web::Settings::default()
    };
    let mut guest = Guest::with(&world, settings);
    let page = guest.get("/sign-in").await.good();
    assert!(!page.contains("type=\"password\"") && page.contains("Sign in with Lighthouse"));
    assert!(page.contains("data-passkey=\"sign-in\"") && !page.contains("/sign-up"), "{page}");
    guest.get("/sign-up").await.refused(404);
    let invited = guest.get(&format!("/invite/{named}")).await.good();
    assert!(invited.contains("Sign in as <strong>kim@example.com</strong>"), "{invited}");
    assert!(!invited.contains("type=\"password\"") && invited.contains("Sign in with Lighthouse"));
    let invited = guest.get(&format!("/invite/{nameless}")).await.good();
    assert!(invited.contains("this invitation does not work"), "{invited}");
    guest.token = page_token(&page);
    let fields = [("email", "admin@example.org"), ("password", "whatever it was")];
    let page = guest.post("/sign-in", &fields).await.refused(400);
    assert!(page.contains("Passwords are turned off here"), "{page}");
}

/// The form token of the passkey button, on a page without a form.
fn page_token(page: &str) -> String {
    page.split("data-token=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn the_setup_page_offers_single_sign_on() {
    let (world, _) = world().await;
    let page = Guest::new(&world, SITE).get("/setup").await.good();
    assert!(page.contains("Sign in with Lighthouse"), "{page}");
    assert!(users::list(&world.app, 1).await.unwrap().is_empty());
}
