//! Letting an app in by OAuth: from its registration to an answer of the API, or to a polite no.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread::{self, JoinHandle};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use e2e::{Browser, Program};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Any would do: it has the length and the letters that PKCE wants.
const VERIFIER: &str = "a-verifier-of-our-own-that-is-long-enough-for-anybody";

/// An app on somebody's own machine, as a desktop assistant is.
struct App {
    client_id: String,
    metadata: Value,
    origin: String,
    listener: TcpListener,
}

impl App {
    /// All it knows is the address: the metadata leads to the rest.
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

    /// Where it sends the person.
    fn address(&self) -> String {
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
        format!(
            "{}?response_type=code&client_id={}&redirect_uri={}&scope=accounts%3Aread&state=here\
             &code_challenge={challenge}&code_challenge_method=S256",
            self.metadata["authorization_endpoint"].as_str().unwrap(),
            self.client_id,
            self.redirect().replace(':', "%3A").replace('/', "%2F"),
        )
    }

    /// Waits for the person to come back; yields what they bring, such as `code=...&state=...`.
    fn wait(&self) -> JoinHandle<String> {
        let listener = self.listener.try_clone().unwrap();
        thread::spawn(move || {
            // A browser opens connections that it may never use.
            loop {
                let (mut stream, _) = listener.accept().unwrap();
                let mut line = String::new();
                let read = BufReader::new(&stream).read_line(&mut line);
                let _ = stream.write_all(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\
                      Connection: close\r\n\r\nThanks.",
                );
                let brought = line.strip_prefix("GET /callback?");
                if let (Ok(_), Some(brought)) = (read, brought) {
                    return brought.split(' ').next().unwrap_or_default().to_owned();
                }
            }
        })
    }

    /// The app itself is elsewhere, of course; nothing else may be. Its icon may be asked for whenever the browser likes.
    #[track_caller]
    fn is_all_that_was_asked_abroad(&self, browser: &Browser) {
        let own = format!("{}/", self.origin);
        let troubles = browser.troubles().into_iter().filter(|it| !it.contains(&own));
        assert_eq!(troubles.collect::<Vec<_>>(), [""; 0]);
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

fn part<'a>(brought: &'a str, name: &str) -> Option<&'a str> {
    brought.split('&').find_map(|it| it.strip_prefix(name)?.strip_prefix('='))
}

/// Opens the app's address, signs in on the way, and presses a button of the consent page.
fn decide(program: &Program, app: &App, browser: &Browser, button: &str) -> String {
    browser.go(&app.address());
    browser.arrive("/sign-in");
    browser.fill("Email", program.fact("email"));
    browser.fill("Password", program.fact("password"));
    browser.press("Sign in");
    browser.sees("Ledger reader");
    browser.keeps_nobody_out();
    let coming = app.wait();
    browser.press(button);
    let brought = coming.join().unwrap();
    app.is_all_that_was_asked_abroad(browser);
    assert_eq!(part(&brought, "state"), Some("here"), "{brought}");
    brought
}

#[test]
fn an_app_that_is_allowed_reads_the_accounts_and_nothing_more_until_it_is_shut_out() {
    let program = Program::demo();
    let app = App::register(&program);
    let browser = Browser::start(program.origin());
    let brought = decide(&program, &app, &browser, "Allow");
    let pair = app.redeem(&program, part(&brought, "code").unwrap());
    let token = pair["access_token"].as_str().unwrap();
    let accounts = program.get("/v1/accounts", token);
    assert_eq!(accounts.status, 200, "{}", accounts.json());
    assert_eq!(program.get("/v1/transactions", token).status, 403);

    browser.go("/settings/apps");
    browser.press("Revoke access for Ledger reader");
    browser.press("Revoke access");
    browser.sees("Access revoked");
    assert_eq!(program.get("/v1/accounts", token).status, 401);
    app.is_all_that_was_asked_abroad(&browser);
}

#[test]
fn an_app_that_is_denied_learns_that_and_gets_no_code() {
    let program = Program::demo();
    let app = App::register(&program);
    let browser = Browser::start(program.origin());
    let brought = decide(&program, &app, &browser, "Deny");
    assert_eq!(part(&brought, "error"), Some("access_denied"), "{brought}");
    assert_eq!(part(&brought, "code"), None, "{brought}");
}

#[test]
fn a_session_left_open_confirms_first_and_then_leads_to_the_app() {
    let program = Program::demo();
    let app = App::register(&program);
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    browser.go(&app.address());
    browser.sees("Ledger reader");
    crate::proof::leave_open(&program);
    let coming = app.wait();
    browser.press("Allow");
    browser.sees("Confirm it's you");
    browser.fill("Password", program.fact("password"));
    browser.press("Confirm");
    let brought = coming.join().unwrap();
    assert!(part(&brought, "code").is_some(), "{brought}");
}
