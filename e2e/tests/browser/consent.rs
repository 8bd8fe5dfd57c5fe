//! Authorizing an app by OAuth, with and without scripts: from its registration to an API response, or to a denial.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread::{self, JoinHandle};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use e2e::{Browser, Program};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// A PKCE code verifier of valid length and characters.
const VERIFIER: &str = "a-verifier-of-our-own-that-is-long-enough-for-anybody";

/// An app on the person's own machine, such as a desktop assistant.
struct App {
    client_id: String,
    metadata: Value,
    origin: String,
    listener: TcpListener,
}

impl App {
    /// Registers the app. It knows only the server's address, and finds the endpoints through the metadata.
    fn register(program: &Program) -> App {
        let metadata = program.send("GET", "/.well-known/oauth-authorization-server", &[], "");
        let metadata = metadata.json();
        let about = json!({
            "client_name": "Ledger reader",
            "redirect_uris": ["http://127.0.0.1/callback"],
            "token_endpoint_auth_method": "none",
        });
        let path = path_of(program, &metadata["registration_endpoint"]);
        let kind = [("Content-Type", "application/json")];
        let made = program.send("POST", &path, &kind, &about.to_string());
        assert_eq!(made.status, 201, "{}", made.json());
        let client_id = made.json()["client_id"].as_str().unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        App { client_id, metadata, origin, listener }
    }

    fn redirect(&self) -> String {
        format!("{}/callback", self.origin)
    }

    /// The authorization URL, to which the app sends the person.
    fn authorization_url(&self) -> String {
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
        format!(
            "{}?response_type=code&client_id={}&redirect_uri={}&scope=accounts%3Aread&state=here\
             &code_challenge={challenge}&code_challenge_method=S256",
            self.metadata["authorization_endpoint"].as_str().unwrap(),
            self.client_id,
            self.redirect().replace(':', "%3A").replace('/', "%2F"),
        )
    }

    /// Waits for the redirect back to the app. Returns its query, such as `code=...&state=...`.
    fn wait(&self) -> JoinHandle<String> {
        let listener = self.listener.try_clone().unwrap();
        thread::spawn(move || {
            // A browser may open connections that it never uses.
            loop {
                let (mut stream, _) = listener.accept().unwrap();
                let mut line = String::new();
                let read = BufReader::new(&stream).read_line(&mut line);
                let _ = stream.write_all(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\
                      Connection: close\r\n\r\nThanks.",
                );
                let query = line.strip_prefix("GET /callback?");
                if let (Ok(_), Some(query)) = (read, query) {
                    return query.split(' ').next().unwrap_or_default().to_owned();
                }
            }
        })
    }

    /// Fails if the browser sent requests to other servers than the program and the app. It may request the app's icon
    /// at any time.
    #[track_caller]
    fn assert_no_other_requests(&self, browser: &Browser) {
        let own = format!("{}/", self.origin);
        let logged_problems = browser.logged_problems().into_iter().filter(|it| !it.contains(&own));
        assert_eq!(logged_problems.collect::<Vec<_>>(), [""; 0]);
    }

    fn redeem(&self, program: &Program, code: &str) -> Value {
        let path = path_of(program, &self.metadata["token_endpoint"]);
        let body = format!(
            "grant_type=authorization_code&code={code}&client_id={}&code_verifier={VERIFIER}\
             &redirect_uri={}",
            self.client_id,
            self.redirect().replace(':', "%3A").replace('/', "%2F"),
        );
        let kind = [("Content-Type", "application/x-www-form-urlencoded")];
        let answer = program.send("POST", &path, &kind, &body);
        assert_eq!(answer.status, 200, "{}", answer.json());
        answer.json()
    }
}

fn path_of(program: &Program, url: &Value) -> String {
    let url = url.as_str().unwrap();
    url.strip_prefix(program.origin()).unwrap_or_else(|| panic!("{url} is elsewhere")).to_owned()
}

fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query.split('&').find_map(|it| it.strip_prefix(name)?.strip_prefix('='))
}

/// Opens the app's address, signs in on the way, and presses a button of the consent page.
fn decide(program: &Program, app: &App, browser: &Browser, button: &str) -> String {
    browser.go(&app.authorization_url());
    browser.arrive("/sign-in");
    browser.fill("Email", program.fact("email"));
    browser.fill("Password", program.fact("password"));
    browser.press("Sign in");
    browser.sees("Ledger reader");
    browser.assert_accessible();
    let callback = app.wait();
    browser.press(button);
    let query = callback.join().unwrap();
    app.assert_no_other_requests(browser);
    assert_eq!(parameter(&query, "state"), Some("here"), "{query}");
    query
}

#[test]
fn an_allowed_app_can_read_only_its_scopes_until_its_access_is_revoked() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    allow_and_revoke(&program, &browser);
}

#[test]
fn an_app_is_allowed_and_its_access_revoked_without_scripts() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.without_script();
    allow_and_revoke(&program, &browser);
}

fn allow_and_revoke(program: &Program, browser: &Browser) {
    let app = App::register(program);
    let query = decide(program, &app, browser, "Allow");
    let pair = app.redeem(program, parameter(&query, "code").unwrap());
    let token = pair["access_token"].as_str().unwrap();
    let accounts = program.get("/v1/accounts", token);
    assert_eq!(accounts.status, 200, "{}", accounts.json());
    assert_eq!(program.get("/v1/transactions", token).status, 403);

    browser.go("/settings/apps");
    browser.press("Revoke access for Ledger reader");
    browser.press("Revoke access");
    browser.sees("Access revoked");
    assert_eq!(program.get("/v1/accounts", token).status, 401);
    app.assert_no_other_requests(browser);
}

#[test]
fn a_denied_app_gets_an_error_and_no_code() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    deny(&program, &browser);
}

#[test]
fn an_app_is_denied_without_scripts() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.without_script();
    deny(&program, &browser);
}

fn deny(program: &Program, browser: &Browser) {
    let app = App::register(program);
    let query = decide(program, &app, browser, "Deny");
    assert_eq!(parameter(&query, "error"), Some("access_denied"), "{query}");
    assert_eq!(parameter(&query, "code"), None, "{query}");
}

#[test]
fn an_old_session_must_confirm_before_it_allows_an_app() {
    let program = Program::demo();
    let app = App::register(&program);
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    browser.go(&app.authorization_url());
    browser.sees("Ledger reader");
    crate::proof::age_session(&program);
    let callback = app.wait();
    browser.press("Allow");
    browser.sees("Confirm it's you");
    browser.fill("Password", program.fact("password"));
    browser.press("Confirm");
    let query = callback.join().unwrap();
    assert!(parameter(&query, "code").is_some(), "{query}");
}
