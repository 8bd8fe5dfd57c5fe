//! Attacks on the sign-in pages.

use service::access::sessions::{self, Method, Visit};
use testkit::World;

use super::{Guest, PASSWORD, SITE, is_session, robin, sign_in};
use crate::client::Client;

const SESSION: &str = "__Host-evenkeel_session";

#[tokio::test]
async fn a_session_planted_before_signing_in_is_replaced() {
    let world = World::new().await;
    let robin = robin(&world).await;
    // A made-up token, and the attacker's own session.
    let made_up = format!("eks_{}", "A".repeat(38));
    let kim = world.person("kim@example.com").await;
    let own = sessions::create(&world.app, &kim.user, Method::Password, Visit::default()).await;
    let own = own.unwrap();
    for planted in [made_up, own.clone()] {
        let mut victim = Guest::new(&world, SITE);
        victim.cookies.insert(SESSION.to_owned(), planted.clone());
        victim.get("/sign-in").await.good();
        let visit = victim.cookie("__Host-evenkeel_visit").to_owned();
        let fields = [("email", "robin@example.com"), ("password", PASSWORD)];
        assert_eq!(victim.post("/sign-in", &fields).await.location(), "/");
        let token = victim.cookie(SESSION).to_owned();
        assert!(token != planted && token != visit && !token.is_empty());
        let found = sessions::find(&world.app, &token, None).await.unwrap().unwrap();
        assert_eq!(found.0.user, robin.id);
        let before = sessions::find(&world.app, &planted, None).await.unwrap();
        assert!(before.is_none_or(|it| it.0.user == kim.user.id));
        // The cookie behind the forms of the sign-in pages is gone after signing in.
        assert!(victim.cookie("__Host-evenkeel_visit").is_empty());
    }
}

#[tokio::test]
async fn signing_in_redirects_only_within_this_site() {
    let world = World::new().await;
    robin(&world).await;
    for (next, target) in [
        ("/goals?page=2", "/goals?page=2"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example/", "/"),
        ("\\\\evil.example", "/"),
        ("/\t/evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("goals", "/"),
        ("", "/"),
    ] {
        let mut guest = Guest::new(&world, SITE);
        let query: String = next.bytes().map(|it| format!("%{it:02X}")).collect();
        let page = guest.get(&format!("/sign-in?next={query}")).await.good();
        assert!(!page.contains("evil.example"), "{next}");
        let fields = [("email", "robin@example.com"), ("password", PASSWORD), ("next", next)];
        assert_eq!(guest.post("/sign-in", &fields).await.location(), target, "{next}");
    }
}

/// The page without the parts that always differ: the typed email and the form token.
fn bare(text: &str, email: &str, token: &str) -> String {
    text.replace(email, "EMAIL").replace(token, "TOKEN")
}

#[tokio::test]
async fn sign_in_does_not_reveal_which_emails_have_accounts() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = Guest::new(&world, SITE);
    guest.get("/sign-in").await.good();
    let mut answers = Vec::new();
    for email in ["robin@example.com", "nobody@example.com"] {
        for number in 0..11 {
            guest.address = format!("192.0.2.{number}");
            let before = world.stored().await["sign_in_failures"].len();
            let sent = guest.post("/sign-in", &[("email", email), ("password", "wrong")]).await;
            let (status, headers) = (sent.status.as_u16(), sent.headers.clone());
            let names: Vec<String> = headers.keys().map(ToString::to_string).collect();
            let page = bare(&sent.text, email, &guest.token);
            let recorded = world.stored().await["sign_in_failures"].len() - before;
            answers.push((status, names, page, recorded));
        }
    }
    let (known, unknown) = answers.split_at(11);
    assert_eq!(known, unknown);
    let statuses: Vec<u16> = known.iter().map(|it| it.0).collect();
    assert_eq!(statuses, [400, 400, 400, 400, 400, 400, 400, 400, 400, 400, 429]);
}

#[tokio::test]
async fn too_many_wrong_passwords_block_the_right_one_too() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = Guest::new(&world, SITE);
    guest.get("/sign-in").await.good();
    let fields = |password| [("email", "robin@example.com"), ("password", password)];
    for number in 0..10 {
        guest.address = format!("192.0.2.{number}");
        guest.post("/sign-in", &fields("wrong password")).await.refused(400);
    }
    guest.address = "198.51.100.7".to_owned();
    let page = guest.post("/sign-in", &fields(PASSWORD)).await.refused(429);
    assert!(page.contains("Too many attempts. Wait 15 minutes"), "{page}");
    assert!(guest.cookie(SESSION).is_empty());
    world.advance_seconds(900);
    assert_eq!(guest.post("/sign-in", &fields(PASSWORD)).await.location(), "/");
}

/// Fifty wrong passwords block an address; behind a trusted proxy the forwarded address counts.
#[tokio::test]
async fn behind_a_trusted_proxy_one_attacker_does_not_block_others() {
    for (proxies, expected) in [(vec!["192.0.2.0/24"], 303), (Vec::new(), 429)] {
        let world = World::new().await;
        robin(&world).await;
        let proxies = proxies.iter().map(|it| it.parse().unwrap()).collect();
        let public_url = SITE.to_owned();
        let settings = web::Settings { public_url, proxies, ..web::Settings::default() };
        let mut guest = Guest::with(&world, settings);
        guest.get("/sign-in").await.good();
        guest.headers = vec![("x-forwarded-for", "203.0.113.66".to_owned())];
        for number in 0..50 {
            let email = format!("nobody{number}@example.com");
            let fields = [("email", email.as_str()), ("password", "wrong password")];
            guest.post("/sign-in", &fields).await.refused(400);
        }
        guest.headers = vec![("x-forwarded-for", "198.51.100.7".to_owned())];
        let fields = [("email", "robin@example.com"), ("password", PASSWORD)];
        let page = guest.post("/sign-in", &fields).await;
        assert_eq!(page.status, expected, "{}", page.text);
    }
}

#[tokio::test]
async fn a_request_is_told_how_it_arrived_and_only_a_trusted_proxy_is_believed() {
    let world = World::new().await;
    let seen = async |proxies: &[&str], forwarded: Option<&str>| {
        let proxies = proxies.iter().map(|it| it.parse().unwrap()).collect();
        let client = Client::with_settings(world.app.clone(), |it| it.proxies = proxies);
        let client = client.at("192.0.2.1").header("host", "money.example.com");
        let client = match forwarded {
            Some(address) => client.header("x-forwarded-for", address),
            None => client,
        };
        let answer = client.get("/healthz/connection").await.json();
        assert_eq!(answer["host"], "money.example.com");
        let is = |name: &str| answer[name].as_bool().unwrap();
        let address = answer["address"].as_str().unwrap().to_owned();
        (address, is("is_forwarded"), is("is_proxy_trusted"))
    };
    let told = |address: &str, forwarded, trusted| (address.to_owned(), forwarded, trusted);
    assert_eq!(seen(&[], None).await, told("192.0.2.1", false, false));
    assert_eq!(seen(&[], Some("203.0.113.9")).await, told("192.0.2.1", true, false));
    let own = ["192.0.2.0/24"];
    assert_eq!(seen(&own, Some("203.0.113.9")).await, told("203.0.113.9", true, true));
    assert_eq!(seen(&own, None).await, told("192.0.2.1", false, false));
}

#[tokio::test]
async fn cookies_are_http_only_same_site_and_secure() {
    let world = World::new().await;
    robin(&world).await;
    for (site, prefix) in [(SITE, "__Host-"), ("http://localhost:4680", "")] {
        let mut guest = Guest::new(&world, site);
        let mut lines = guest.get("/sign-in").await.set_cookies();
        let fields = [("email", "robin@example.com"), ("password", PASSWORD)];
        lines.extend(guest.post("/sign-in", &fields).await.set_cookies());
        for name in ["evenkeel_session", "evenkeel_visit"] {
            let name = format!("{prefix}{name}=");
            assert!(lines.iter().any(|it| it.starts_with(&name)), "{name}: {lines:?}");
        }
        for line in lines {
            let flags: Vec<&str> = line.split("; ").skip(1).collect();
            for flag in ["Path=/", "HttpOnly", "SameSite=Lax"] {
                assert!(flags.contains(&flag), "{line}");
            }
            assert_eq!(flags.contains(&"Secure"), site == SITE, "{line}");
            assert!(!line.contains("Domain"), "{line}");
        }
    }
}

#[tokio::test]
async fn a_cookie_without_the_host_prefix_is_ignored_on_https() {
    let world = World::new().await;
    let robin = robin(&world).await;
    let token = sessions::create(&world.app, &robin, Method::Password, Visit::default()).await;
    let mut guest = Guest::new(&world, SITE);
    guest.cookies.insert("evenkeel_session".to_owned(), token.unwrap());
    assert!(guest.get("/settings/security").await.location().starts_with("/sign-in"));
}

#[tokio::test]
async fn signing_out_ends_the_session() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = sign_in(&world, "robin@example.com").await;
    let token = guest.cookie(SESSION).to_owned();
    assert!(is_session(&world, &token).await);
    assert_eq!(guest.get("/sign-out").await.status.as_u16(), 405, "a link must not sign out");
    assert!(is_session(&world, &token).await);
    assert_eq!(guest.post("/sign-out", &[]).await.location(), "/sign-in");
    assert!(!is_session(&world, &token).await && guest.cookie(SESSION).is_empty());
    // The old cookie no longer works.
    guest.cookies.insert(SESSION.to_owned(), token);
    assert!(guest.get("/settings/security").await.location().starts_with("/sign-in"));
}

#[tokio::test]
async fn typed_text_is_escaped_and_pages_are_not_framed_or_cached() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = Guest::new(&world, SITE);
    guest.get("/sign-in?next=/%22%3E%3Cscript%3E").await.good();
    let hostile = "\"><script>alert(1)</script>@example.com";
    let sent = guest.post("/sign-in", &[("email", hostile), ("password", "x")]).await;
    let headers = sent.headers.clone();
    let text = sent.refused(400);
    assert!(!text.contains("<script>alert") && text.contains("&lt;script&gt;alert(1)"), "{text}");
    assert_eq!(headers["x-frame-options"], "DENY");
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"));
    assert_eq!(headers["cache-control"], "private, no-store");
}

#[tokio::test]
async fn only_the_demo_shows_its_password_on_the_sign_in_page() {
    let world = World::new().await;
    robin(&world).await;
    let demo = web::DemoSignIn { email: "d@example.com".to_owned(), password: "p<4>".to_owned() };
    let public_url = "http://127.0.0.1:4680".to_owned();
    let settings = web::Settings { public_url, demo: Some(demo), ..web::Settings::default() };
    let page = Guest::with(&world, settings).get("/sign-in").await.good();
    assert!(page.contains("This is a demo") && page.contains("p&lt;4&gt;"));
    let page = Guest::new(&world, SITE).get("/sign-in").await.good();
    assert!(!page.contains("demo"));
}

#[tokio::test]
async fn the_demos_link_signs_in_once() {
    let world = World::new().await;
    let robin = robin(&world).await;
    let link = web::DemoLink::new(&world.app.entropy, "robin@example.com", PASSWORD);
    let path = link.path();
    assert!(!format!("{link:?}").contains(PASSWORD) && path.len() > 40);
    let settings = web::Settings {
        public_url: SITE.to_owned(),
        demo_link: Some(link),
        ..web::Settings::default()
    };
    let mut guest = Guest::with(&world, settings);
    // A wrong token, and a HEAD request of a program that previews links, do not use it up.
    let wrong = format!("{}0", &path[..path.len() - 1]);
    let wrong = if wrong == path { format!("{}1", &path[..path.len() - 1]) } else { wrong };
    assert!(guest.get(&wrong).await.refused(410).contains("does not work anymore"));
    assert!(guest.get(&path[..path.len() - 1]).await.refused(410).contains("Sign in below"));
    let preview = guest.send(http::Method::HEAD, &path, &[], String::new()).await;
    assert_eq!((preview.status.as_u16(), guest.cookie(SESSION)), (410, ""));
    assert_eq!(guest.get(&path).await.location(), "/");
    let token = guest.cookie(SESSION).to_owned();
    let found = sessions::find(&world.app, &token, None).await.unwrap().unwrap();
    assert_eq!(found.0.user, robin.id);
    // Afterward it is an ordinary sign-in page, also for the one who used it.
    guest.cookies.clear();
    assert!(guest.get(&path).await.refused(410).contains("does not work anymore"));
    assert!(guest.cookie(SESSION).is_empty());
    // A server that is no demo has no such link.
    assert!(Guest::new(&world, SITE).get(&path).await.refused(410).contains("does not work"));
}

#[tokio::test]
async fn a_form_with_too_many_fields_is_refused() {
    let world = World::new().await;
    robin(&world).await;
    let mut guest = Guest::new(&world, SITE);
    guest.get("/sign-in").await.good();
    let wrong = [("email", "robin@example.com"), ("password", "wrong password")];
    let many = |count: usize| [&wrong[..], &vec![("x", ""); count]].concat();
    assert!(guest.post("/sign-in", &many(8_000)).await.refused(400).contains("password is wrong"));
    assert!(guest.post("/sign-in", &many(9_000)).await.refused(400).contains("read this form"));
}
