//! Sensitive changes: every form of the site requires a fresh proof of identity, or is listed as needing none.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use http::{Method, Request, StatusCode, header};
use serde_json::json;
use service::access::keys;
use service::access::oidc;
use service::access::sessions;
use service::access::users::{self, User};
use service::actions;
use service::webhooks::{self, NewEndpoint};
use testkit::oidc::OidcProvider;
use testkit::{Authenticator, Kind, World, new_key, new_user};
use tower::ServiceExt as _;
use web::{NO_PROOF, Proof, SENSITIVE, Sensitive};

use super::guest::Page;
use super::{Guest, PASSWORD, SITE, robin, sign_in};

const CONFIRMATION: &str = "Confirm it's you";
/// The name of the provider of single sign-on.
const PROVIDER: &str = "lighthouse";
/// The seconds after which a proof is too old.
const PROOF_SECONDS: u64 = 601;

/// Whether a path is for programs, which have no session.
fn is_for_programs(path: &str) -> bool {
    let oauth = ["register", "token", "revoke", "introspect"];
    path.starts_with("/v1")
        || path == "/mcp"
        || path == "/connections/plaid/webhook"
        || path.starts_with("/.well-known")
        || oauth.iter().any(|it| path == format!("/oauth/{it}"))
}

/// Every route of the site that takes a form. The debug text of the router lists its routes, and the Allow header of
/// each its methods.
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
    assert!(NO_PROOF.iter().all(|it| it.1.len() > 3), "each form without proof needs a reason");
}

/// Robin, signed in, with one of each thing that a sensitive change can be about.
struct SensitiveFixture {
    world: World,
    robin: User,
    guest: Guest,
    key: String,
    endpoint: String,
    passkey: String,
    authorize_query: String,
    /// The provider of single sign-on that is linked.
    issuer: String,
}

impl SensitiveFixture {
    async fn new() -> SensitiveFixture {
        let mut world = World::new().await;
        let robin = robin(&world).await;
        let issuer = link_identity(&mut world, &robin).await;
        let (app, caller) = (world.app.clone(), robin.owner());
        let (key, _) = keys::create(&app, &caller, new_key()).await.unwrap();
        let url = "https://127.0.0.1:9/hook".to_owned();
        let new = NewEndpoint { url, description: None, filter_types: Vec::new() };
        let create = {
            let (app, caller, key) = (app.clone(), caller.clone(), key.id);
            move |tx: &mut service::Tx<'_>| webhooks::create_for_key(&app, tx, &caller, key, &new)
        };
        let (endpoint, _) = app.db.write(create).await.unwrap();
        let mut guest = sign_in(&world, "robin@example.com").await;
        let mut device = Authenticator::new(Kind::EdDsa, SITE, b"a");
        let challenge = guest.json("/passkeys/register/start", &json!({})).await.json();
        let body = json!({ "credential": device.create(&challenge), "name": "Phone" });
        guest.json("/passkeys/register/finish", &body).await.good();
        let passkey =
            service::access::passkeys::list(&app, &caller).await.unwrap()[0].id.to_string();
        let authorize_query = authorize_query(&world).await;
        SensitiveFixture {
            key: key.id.to_string(),
            endpoint: endpoint.id.to_string(),
            world,
            robin,
            guest,
            passkey,
            authorize_query,
            issuer,
        }
    }

    /// Advances the clock until the session's proof is too old.
    async fn expire_proof(&mut self) {
        self.world.advance_seconds(PROOF_SECONDS);
        // Stores now that the session was seen, so that later requests do not.
        self.guest.get("/settings/security").await.good();
    }

    fn path(&self, rule: &Sensitive) -> String {
        let id = if rule.path.contains("passkeys") { &self.passkey } else { &self.endpoint };
        rule.path.replace("{id}", id).replace("{provider}", PROVIDER)
    }

    /// Everything that is stored, except the count of wrong passwords.
    async fn stored(&self) -> BTreeMap<String, Vec<String>> {
        let mut stored = self.world.stored().await;
        stored.remove("sign_in_failures");
        stored
    }

    /// Valid fields of each sensitive form.
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
                ("all", "yes"),
            ]),
            "/settings/webhooks/{id}" => {
                let url = ("url", "https://127.0.0.1:9/other");
                plain(&[url, ("description", "Board"), ("all", "yes")])
            }
            "/oauth/authorize" => plain(&[
                ("asked", &self.authorize_query),
                ("scope", "accounts:read"),
                ("decision", "allow"),
            ]),
            "/settings/security/second-step" => plain(&[("on", "1")]),
            "/settings/security/sign-on/unlink" => plain(&[("issuer", &self.issuer)]),
            "/settings/security/email" => plain(&[("email", "new@example.com")]),
            "/settings/security/password" => plain(&[("new_password", "a new password")]),
            "/settings/security/delete" => plain(&[("sure", "1")]),
            "/recurring/feed" => plain(&[("detail", "amounts")]),
            "/settings/data/download"
            | "/settings/webhooks/{id}/rotate"
            | "/settings/security/recovery-codes"
            | "/settings/security/sign-on/{provider}/link"
            | "/settings/security/passkeys/{id}/remove" => Vec::new(),
            other => panic!("{other} has no example fields here"),
        }
    }

    async fn post(&mut self, rule: &Sensitive, more: &[(&'static str, &str)]) -> Page {
        let (path, fields) = (self.path(rule), self.fields(rule.path));
        let typed: Vec<(&str, &str)> = fields.iter().map(|it| (it.0, it.1.as_str())).collect();
        self.guest.post(&path, &[&typed, more].concat()).await
    }
}

/// Adds a provider of single sign-on to the installation, links it to a person, and returns its issuer.
async fn link_identity(world: &mut World, user: &User) -> String {
    let provider = OidcProvider::start(world.clock.clone()).await;
    world.app = world.with_single_sign_on(vec![provider.settings(PROVIDER)]);
    let (app, caller) = (&world.app, user.owner());
    let browser = oidc::Browser { secret: "a browser", next: "/", public_url: SITE };
    let address = oidc::start_link(app, &caller, PROVIDER, browser).await.unwrap();
    let path = provider.visit(&address);
    let find = |name: &str| path.split(name).nth(1).and_then(|it| it.split('&').next()).unwrap();
    let callback = oidc::Callback {
        provider: PROVIDER,
        state: find("&state="),
        code: find("?code="),
        issuer: Some(provider.issuer()),
        session: Some("a browser"),
        public_url: SITE,
        ..oidc::Callback::default()
    };
    oidc::finish(app, Some(&caller), callback, sessions::Visit::default()).await.unwrap();
    provider.issuer().to_owned()
}

/// Registers an OAuth client and returns the query of its authorization request.
async fn authorize_query(world: &World) -> String {
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

/// The hidden fields of the confirmation page, as a browser would send them again.
fn hidden_fields(page: &str) -> Vec<(String, String)> {
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
async fn a_sensitive_form_has_an_effect_only_with_a_fresh_proof() {
    for rule in SENSITIVE.iter().filter(|it| !matches!(it.proof, Proof::Script | Proof::Download)) {
        let mut fixture = SensitiveFixture::new().await;
        fixture.expire_proof().await;
        let (path, before) = (rule.path, fixture.stored().await);
        let sent = fixture.post(rule, &[]).await;
        let in_form = rule.proof == Proof::PasswordInForm;
        assert_eq!(sent.status.as_u16(), if in_form { 400 } else { 403 }, "{path}: {}", sent.text);
        assert_eq!(fixture.stored().await, before, "{path} changed something without proof");
        let field = if in_form { "password" } else { "confirm_password" };
        if !in_form {
            assert!(sent.text.contains(CONFIRMATION) && sent.text.contains(rule.about), "{path}");
            // The confirmation page keeps everything that was typed.
            let typed = fixture.fields(path).into_iter().map(|(a, b)| (a.to_owned(), b));
            assert!(hidden_fields(&sent.text).into_iter().eq(typed), "{path}: {}", sent.text);
        }
        let wrong = fixture.post(rule, &[(field, "wrong password")]).await;
        assert!(wrong.text.contains("This is not your password"), "{path}: {}", wrong.text);
        assert_eq!(wrong.status.as_u16(), 400, "{path}");
        assert_eq!(
            fixture.stored().await,
            before,
            "{path} changed something with a wrong password"
        );
        let right = fixture.post(rule, &[(field, PASSWORD)]).await;
        assert!(right.status.as_u16() < 400, "{path}: {}", right.text);
        assert!(!right.text.contains(CONFIRMATION), "{path}");
        let mut after = fixture.stored().await;
        let mut before = before;
        // The proof itself is stored in the session, which is not the change that was requested.
        if path != "/settings/security/delete" {
            after.remove("sessions");
            before.remove("sessions");
        }
        assert_ne!(after, before, "{path} did nothing with proof");
    }
}

#[tokio::test]
async fn the_passkey_rule_for_approvals_cannot_be_turned_off_without_proof() {
    let mut fixture = SensitiveFixture::new().await;
    fixture.expire_proof().await;
    let owner = fixture.robin.owner();
    let rule = SENSITIVE.iter().find(|it| it.path == "/settings/approvals").unwrap();
    fixture.post(rule, &[]).await.refused(403);
    let policy = actions::get_policy(&fixture.world.app, &owner).await.unwrap();
    assert_eq!(policy.passkey_from_minor, Some(100_000));
    fixture.post(rule, &[("confirm_password", PASSWORD)]).await.location();
    let policy = actions::get_policy(&fixture.world.app, &owner).await.unwrap();
    assert_eq!(policy.passkey_from_minor, None);
}

#[tokio::test]
async fn a_proof_is_valid_for_later_changes_but_only_in_its_session() {
    let mut fixture = SensitiveFixture::new().await;
    fixture.expire_proof().await;
    let find = |path: &str| SENSITIVE.iter().find(|it| it.path == path).unwrap();
    let mut other = sign_in(&fixture.world, "robin@example.com").await;
    fixture.expire_proof().await;
    other.get("/settings/security").await.good();
    fixture.post(find("/settings/keys"), &[("confirm_password", PASSWORD)]).await.good();
    fixture.post(find("/settings/security/recovery-codes"), &[]).await.good();
    other.post("/settings/security/recovery-codes", &[]).await.refused(403);
    // Denying an app needs no proof.
    fixture.expire_proof().await;
    let authorize_query = fixture.authorize_query.clone();
    let deny = [("asked", authorize_query.as_str()), ("decision", "deny")];
    let sent = fixture.guest.post("/oauth/authorize", &deny).await;
    assert!(sent.location().starts_with("https://lens.example/back?error=access_denied"));
    // Allowing an app redirects to it, which the policy of the confirmation page must permit.
    let ask = fixture.post(find("/oauth/authorize"), &[]).await;
    let policy = ask.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.contains("form-action 'self' https:"), "{policy}");
}

#[tokio::test]
async fn downloads_require_a_proof_and_then_start() {
    for rule in SENSITIVE.iter().filter(|it| it.proof == Proof::Download) {
        let mut fixture = SensitiveFixture::new().await;
        let link = format!("{}?q=tea", rule.path);
        fixture.guest.get(&link).await.good();
        fixture.expire_proof().await;
        let confirm = fixture.guest.get(&link).await.location().to_owned();
        assert!(confirm.starts_with("/settings/security/confirm?next="), "{confirm}");
        let page = fixture.guest.get(&confirm).await.good();
        assert!(page.contains("Your download starts when you confirm"));
        let fields = [("password", PASSWORD), ("next", link.as_str())];
        assert_eq!(
            fixture.guest.post("/settings/security/confirm", &fields).await.location(),
            link
        );
        fixture.guest.get(&link).await.good();
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
    let challenge = guest.json("/passkeys/register/start", &json!({})).await.json();
    let body = json!({ "credential": device.create(&challenge), "name": "" });
    guest.json("/passkeys/register/finish", &body).await.good();
    world.advance_seconds(PROOF_SECONDS);
    assert_eq!(guest.json("/passkeys/register/start", &json!({})).await.status.as_u16(), 400);
    let new = [("email", "new@example.com")];
    let page = guest.post("/settings/security/email", &new).await.refused(403);
    assert!(page.contains(CONFIRMATION) && page.contains("data-form=\"confirmed\""), "{page}");
    assert!(!page.contains("type=\"password\""), "there is no password to type");
    assert_eq!(hidden_fields(&page), [("email".to_owned(), "new@example.com".to_owned())]);
    // A new password is never part of a page.
    let secret = [("new_password", "correct horse battery staple")];
    let page = guest.post("/settings/security/password", &secret).await.refused(403);
    assert!(!page.contains("correct horse"), "{page}");
    let challenge = guest.json("/passkeys/prove/start", &json!({})).await.json();
    let body = json!({ "credential": device.get(&challenge), "next": "/settings/security" });
    guest.json("/passkeys/prove/finish", &body).await.good();
    assert_eq!(guest.post("/settings/security/email", &new).await.location(), "/settings/security");
    guest.json("/passkeys/register/start", &json!({})).await.good();
}

#[tokio::test]
async fn the_confirmation_page_is_shown_only_for_a_form_with_a_valid_token() {
    let mut fixture = SensitiveFixture::new().await;
    fixture.expire_proof().await;
    let before = fixture.world.stored().await;
    let forged = [("form_token", "0"), ("confirm_password", PASSWORD)];
    let page = fixture.guest.post_bare("/settings/keys", &forged).await.refused(403);
    assert!(!page.contains(CONFIRMATION), "{page}");
    let body = "a=%zz".to_owned();
    let sent = fixture.guest.send(Method::POST, "/settings/keys", &[], body).await;
    assert_eq!(sent.status, StatusCode::BAD_REQUEST);
    assert_eq!(fixture.world.stored().await, before);
}
