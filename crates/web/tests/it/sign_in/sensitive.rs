//! Sensitive changes: every form of the site asks for fresh proof, or is on the list of those that need none.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use http::{Method, Request, StatusCode, header};
use serde_json::json;
use service::access::keys;
use service::access::sessions;
use service::access::users::{self, User};
use service::webhooks::{self, NewEndpoint};
use service::{Caller, actions};
use testkit::{Authenticator, Kind, World, new_key, new_user};
use tower::ServiceExt as _;
use web::{NO_PROOF, Proof, SENSITIVE, Sensitive};

use super::guest::Page;
use super::{Guest, PASSWORD, SITE, enter, robin};

const ASKS: &str = "Confirm it's you";
/// Longer than a proof holds.
const LATER: u64 = 601;

/// What programs ask, which has no session.
fn is_for_programs(path: &str) -> bool {
    let oauth = ["register", "token", "revoke", "introspect"];
    path.starts_with("/v1")
        || path.starts_with("/.well-known")
        || oauth.iter().any(|it| path == format!("/oauth/{it}"))
}

/// Every route of the site that takes a form. The router lists its patterns, and each says which methods it takes.
async fn forms(world: &World) -> BTreeSet<String> {
    let settings = web::Settings {
        public_url: SITE.to_owned(),
        sign_up_open: true,
        ..web::Settings::default()
    };
    let router = web::routers(world.app.clone(), settings).main;
    let shown = format!("{router:?}");
    let quoted = shown.split('"').skip(1).step_by(2);
    let own = |it: &&str| it.starts_with('/') && !it.contains("__private__");
    let patterns: BTreeSet<&str> = quoted.filter(own).collect();
    assert!(patterns.len() > 100, "the router does not list its routes any more: {patterns:?}");
    let mut found = BTreeSet::new();
    for pattern in patterns.into_iter().filter(|it| !is_for_programs(it)) {
        let path = pattern.replace("{*", "{").replace(['{', '}'], "x");
        let request = Request::builder().method("PROPFIND").uri(&path).body(Body::empty());
        let answer = router.clone().oneshot(request.unwrap()).await.unwrap();
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED, "{pattern}");
        let allow = answer.headers()[header::ALLOW].to_str().unwrap();
        if allow.split(',').any(|it| it == "POST") {
            found.insert(pattern.to_owned());
        }
    }
    found
}

#[tokio::test]
async fn every_form_is_on_exactly_one_list() {
    let world = World::new().await;
    let found = forms(&world).await;
    let changes = SENSITIVE.iter().filter(|it| it.proof != Proof::Download).map(|it| it.path);
    let listed: Vec<&str> = changes.chain(NO_PROOF.iter().map(|it| it.0)).collect();
    let known: BTreeSet<String> = listed.iter().map(|it| (*it).to_owned()).collect();
    assert_eq!(known.len(), listed.len(), "a form is listed twice");
    let forgotten: Vec<_> = found.difference(&known).collect();
    assert!(forgotten.is_empty(), "put these on one of the two lists: {forgotten:?}");
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(gone.is_empty(), "there are no such forms: {gone:?}");
    assert!(NO_PROOF.iter().all(|it| it.1.len() > 3), "a form needs no proof without a reason");
}

/// Robin, signed in, with one of everything that a sensitive change can be about.
struct Scene {
    world: World,
    robin: User,
    guest: Guest,
    key: String,
    endpoint: String,
    passkey: String,
    asked: String,
}

impl Scene {
    async fn new() -> Scene {
        let world = World::new().await;
        let robin = robin(&world).await;
        let (app, caller) = (world.app.clone(), Caller::owner(robin.id));
        let (key, _) = keys::create(&app, &caller, new_key()).await.unwrap();
        let url = "https://127.0.0.1:9/hook".to_owned();
        let new = NewEndpoint { url, description: None, filter_types: Vec::new() };
        let create = {
            let (app, caller, key) = (app.clone(), caller.clone(), key.id);
            move |tx: &mut service::Tx<'_>| webhooks::create_for_key(&app, tx, &caller, key, &new)
        };
        let (endpoint, _) = app.db.write(create).await.unwrap();
        let mut guest = enter(&world, "robin@example.com").await;
        let mut device = Authenticator::new(Kind::EdDsa, SITE, b"a");
        let question = guest.json("/passkeys/register/start", &json!({})).await.json();
        let body = json!({ "credential": device.create(&question), "name": "Phone" });
        guest.json("/passkeys/register/finish", &body).await.good();
        let passkey =
            service::access::passkeys::list(&app, &caller).await.unwrap()[0].id.to_string();
        let asked = asked(&world).await;
        Scene {
            key: key.id.to_string(),
            endpoint: endpoint.id.to_string(),
            world,
            robin,
            guest,
            passkey,
            asked,
        }
    }

    /// The session is left open until its proof is too old.
    async fn later(&mut self) {
        self.world.advance_seconds(LATER);
        // That it was seen is written down now, and not by what follows.
        self.guest.get("/settings/security").await.good();
    }

    fn path(&self, rule: &Sensitive) -> String {
        let id = if rule.path.contains("passkeys") { &self.passkey } else { &self.endpoint };
        rule.path.replace("{id}", id)
    }

    /// Everything but the count of wrong passwords.
    async fn stored(&self) -> BTreeMap<String, Vec<String>> {
        let mut stored = self.world.stored().await;
        stored.remove("sign_in_failures");
        stored
    }

    /// What somebody fills in at each of the sensitive forms.
    fn fields(&self, path: &str) -> Vec<(&'static str, String)> {
        let plain = |pairs: &[(&'static str, &str)]| {
            pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
        };
        match path {
            "/settings/approvals" => plain(&[("life_seconds", "3600"), ("proposals_a_day", "7")]),
            "/settings/keys" => plain(&[
                ("name", "<Board> & \"more\""),
                ("access", "custom"),
                ("scope", "accounts:read"),
                ("scope", "goals:read"),
                ("reach", "all"),
                ("life", "30"),
            ]),
            "/settings/people" => plain(&[("email", "kim@example.com")]),
            "/settings/webhooks" => plain(&[
                ("key", &self.key),
                ("url", "https://127.0.0.1:9/new"),
                ("description", ""),
            ]),
            "/settings/webhooks/{id}" => {
                plain(&[("url", "https://127.0.0.1:9/other"), ("description", "Board")])
            }
            "/oauth/authorize" => {
                plain(&[("asked", &self.asked), ("scope", "accounts:read"), ("decision", "allow")])
            }
            "/settings/security/second-step" => plain(&[("on", "1")]),
            "/settings/security/email" => plain(&[("email", "new@example.com")]),
            "/settings/security/password" => plain(&[("new_password", "a new password")]),
            "/settings/security/delete" => plain(&[("sure", "1")]),
            "/settings/data/download"
            | "/settings/webhooks/{id}/rotate"
            | "/settings/security/recovery-codes"
            | "/settings/security/passkeys/{id}/remove" => Vec::new(),
            other => panic!("{other} has no example of a form here"),
        }
    }

    async fn post(&mut self, rule: &Sensitive, more: &[(&'static str, &str)]) -> Page {
        let (path, fields) = (self.path(rule), self.fields(rule.path));
        let typed: Vec<(&str, &str)> = fields.iter().map(|it| (it.0, it.1.as_str())).collect();
        self.guest.post(&path, &[&typed, more].concat()).await
    }
}

/// A client registers, and sends the person here.
async fn asked(world: &World) -> String {
    let settings = web::Settings {
        public_url: SITE.to_owned(),
        oauth_registration: true,
        ..web::Settings::default()
    };
    let mut guest = Guest::with(world, settings);
    let metadata = json!({
        "client_name": "Lens", "redirect_uris": ["https://lens.example/back"],
        "token_endpoint_auth_method": "none",
    });
    let client = guest.json("/oauth/register", &metadata).await.json();
    let id = client["client_id"].as_str().unwrap();
    format!(
        "response_type=code&client_id={id}&redirect_uri=https%3A%2F%2Flens.example%2Fback\
         &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256\
         &scope=accounts%3Aread"
    )
}

/// The hidden fields of the page that asks, as a browser would send them again.
fn carried(page: &str) -> Vec<(String, String)> {
    let form =
        page.split("<form id=\"confirmed\"").nth(1).unwrap().split("</form>").next().unwrap();
    let plain = |text: &str| {
        text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    };
    let field = |it: &str| {
        let (name, rest) = it.split_once("\" value=\"")?;
        Some((plain(name), plain(rest.split('"').next()?)))
    };
    let fields = form.split("<input type=\"hidden\" name=\"").skip(1).filter_map(field);
    fields.filter(|it| it.0 != "form_token").collect()
}

#[tokio::test]
async fn a_sensitive_form_changes_nothing_without_fresh_proof_and_everything_with_it() {
    for rule in SENSITIVE.iter().filter(|it| !matches!(it.proof, Proof::Script | Proof::Download)) {
        let mut scene = Scene::new().await;
        scene.later().await;
        let (path, before) = (rule.path, scene.stored().await);
        let sent = scene.post(rule, &[]).await;
        let in_form = rule.proof == Proof::PasswordInForm;
        assert_eq!(sent.status.as_u16(), if in_form { 400 } else { 403 }, "{path}: {}", sent.text);
        assert_eq!(scene.stored().await, before, "{path} changed something without proof");
        let field = if in_form { "password" } else { "confirm_password" };
        if !in_form {
            assert!(sent.text.contains(ASKS) && sent.text.contains(rule.about), "{path}");
            // Nothing that was typed is lost.
            let typed = scene.fields(path).into_iter().map(|(a, b)| (a.to_owned(), b));
            assert!(carried(&sent.text).into_iter().eq(typed), "{path}: {}", sent.text);
        }
        let wrong = scene.post(rule, &[(field, "wrong password")]).await;
        assert!(wrong.text.contains("This is not your password"), "{path}: {}", wrong.text);
        assert_eq!(wrong.status.as_u16(), 400, "{path}");
        assert_eq!(scene.stored().await, before, "{path} changed something by a wrong password");
        let right = scene.post(rule, &[(field, PASSWORD)]).await;
        assert!(right.status.as_u16() < 400, "{path}: {}", right.text);
        assert!(!right.text.contains(ASKS), "{path}");
        let mut after = scene.stored().await;
        let mut before = before;
        // The proof itself is written into the session, which is not what was asked for.
        if path != "/settings/security/delete" {
            after.remove("sessions");
            before.remove("sessions");
        }
        assert_ne!(after, before, "{path} did nothing with proof");
    }
}

#[tokio::test]
async fn the_rule_for_large_approvals_stays_on_while_nobody_proves_who_they_are() {
    let mut scene = Scene::new().await;
    scene.later().await;
    let owner = Caller::owner(scene.robin.id);
    let rule = SENSITIVE.iter().find(|it| it.path == "/settings/approvals").unwrap();
    scene.post(rule, &[]).await.refused(403);
    let policy = actions::get_policy(&scene.world.app, &owner).await.unwrap();
    assert_eq!(policy.passkey_from_minor, Some(100_000));
    scene.post(rule, &[("confirm_password", PASSWORD)]).await.goes_to();
    let policy = actions::get_policy(&scene.world.app, &owner).await.unwrap();
    assert_eq!(policy.passkey_from_minor, None);
}

#[tokio::test]
async fn a_proof_holds_for_the_next_change_and_for_this_session_alone() {
    let mut scene = Scene::new().await;
    scene.later().await;
    let find = |path: &str| SENSITIVE.iter().find(|it| it.path == path).unwrap();
    let mut other = enter(&scene.world, "robin@example.com").await;
    scene.later().await;
    other.get("/settings/security").await.good();
    scene.post(find("/settings/keys"), &[("confirm_password", PASSWORD)]).await.good();
    scene.post(find("/settings/security/recovery-codes"), &[]).await.good();
    other.post("/settings/security/recovery-codes", &[]).await.refused(403);
    // Saying no to an app needs no proof.
    scene.later().await;
    let asked = scene.asked.clone();
    let deny = [("asked", asked.as_str()), ("decision", "deny")];
    let sent = scene.guest.post("/oauth/authorize", &deny).await;
    assert!(sent.goes_to().starts_with("https://lens.example/back?error=access_denied"));
    // Saying yes leads to the app, which the page that asks must be allowed to.
    let ask = scene.post(find("/oauth/authorize"), &[]).await;
    let policy = ask.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.contains("form-action 'self' https:"), "{policy}");
}

#[tokio::test]
async fn downloads_behind_links_ask_first_and_then_start() {
    for rule in SENSITIVE.iter().filter(|it| it.proof == Proof::Download) {
        let mut scene = Scene::new().await;
        let link = format!("{}?q=tea", rule.path);
        scene.guest.get(&link).await.good();
        scene.later().await;
        let confirm = scene.guest.get(&link).await.goes_to().to_owned();
        assert!(confirm.starts_with("/settings/security/confirm?next="), "{confirm}");
        let page = scene.guest.get(&confirm).await.good();
        assert!(page.contains("Your download starts when you confirm"));
        let fields = [("password", PASSWORD), ("next", link.as_str())];
        assert_eq!(scene.guest.post("/settings/security/confirm", &fields).await.goes_to(), link);
        scene.guest.get(&link).await.good();
    }
}

#[tokio::test]
async fn a_passkey_is_proof_for_somebody_without_a_password() {
    let world = World::new().await;
    let kim = users::create(&world.app, new_user("kim@example.com")).await.unwrap();
    let from = sessions::Visit::default();
    let session =
        sessions::create(&world.app, &kim, sessions::Method::Passkey, from).await.unwrap();
    let mut guest = Guest::new(&world, SITE);
    guest.token = sessions::form_token(&world.app, &session);
    guest.cookies.insert("__Host-evenkeel_session".to_owned(), session);
    let mut device = Authenticator::new(Kind::EdDsa, SITE, b"a");
    let question = guest.json("/passkeys/register/start", &json!({})).await.json();
    let body = json!({ "credential": device.create(&question), "name": "" });
    guest.json("/passkeys/register/finish", &body).await.good();
    world.advance_seconds(LATER);
    assert_eq!(guest.json("/passkeys/register/start", &json!({})).await.status.as_u16(), 400);
    let new = [("email", "new@example.com")];
    let page = guest.post("/settings/security/email", &new).await.refused(403);
    assert!(page.contains(ASKS) && page.contains("data-form=\"confirmed\""), "{page}");
    assert!(!page.contains("type=\"password\""), "there is no password to type");
    assert_eq!(carried(&page), [("email".to_owned(), "new@example.com".to_owned())]);
    // A new password is not written into a page.
    let secret = [("new_password", "correct horse battery staple")];
    let page = guest.post("/settings/security/password", &secret).await.refused(403);
    assert!(!page.contains("correct horse"), "{page}");
    let question = guest.json("/passkeys/prove/start", &json!({})).await.json();
    let body = json!({ "credential": device.get(&question), "next": "/settings/security" });
    guest.json("/passkeys/prove/finish", &body).await.good();
    assert_eq!(guest.post("/settings/security/email", &new).await.goes_to(), "/settings/security");
    guest.json("/passkeys/register/start", &json!({})).await.good();
}

#[tokio::test]
async fn the_page_that_asks_is_shown_only_for_a_form_of_our_own() {
    let mut scene = Scene::new().await;
    scene.later().await;
    let before = scene.world.stored().await;
    let forged = [("form_token", "0"), ("confirm_password", PASSWORD)];
    let page = scene.guest.post_bare("/settings/keys", &forged).await.refused(403);
    assert!(!page.contains(ASKS), "{page}");
    let body = "a=%zz".to_owned();
    let sent = scene.guest.send(Method::POST, "/settings/keys", &[], body).await;
    assert_eq!(sent.status, StatusCode::BAD_REQUEST);
    assert_eq!(scene.world.stored().await, before);
}
