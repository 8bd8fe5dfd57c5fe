//! OAuth as an app and a browser see it.

mod authorizing;
mod documents;
mod registering;
mod stranger;
mod tokens;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use service::access::sessions::{self, Visit};
use sha2::{Digest as _, Sha256};
use testkit::{Person, World};

use crate::client::{Answer, Client, PUBLIC_URL};

const BACK: &str = "https://lens.example/back";
const VERIFIER: &str = "a-verifier-of-at-least-forty-three-characters";

fn challenge() -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER.as_bytes()))
}

/// As a form or a query writes it.
fn encoded(pairs: &[(&str, &str)]) -> String {
    let one = |text: &str| -> String {
        let plain = |it: u8| it.is_ascii_alphanumeric() || b"-._~".contains(&it);
        let write =
            |it: u8| if plain(it) { (it as char).to_string() } else { format!("%{it:02X}") };
        text.bytes().map(write).collect()
    };
    let pairs: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{}={}", one(name), one(value))).collect();
    pairs.join("&")
}

/// What an answer's address carries.
fn carried(location: &str) -> Vec<(String, String)> {
    let query = location.split_once('?').map_or("", |(_, query)| query);
    let decode = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            let mut digit = || (rest.next().unwrap() as char).to_digit(16).unwrap() as u8;
            bytes.push(if byte == b'%' { digit() * 16 + digit() } else { byte });
        }
        String::from_utf8(bytes).unwrap()
    };
    let pair = |it: &str| it.split_once('=').map(|(name, value)| (decode(name), decode(value)));
    query.split('&').filter_map(pair).collect()
}

fn value(location: &str, name: &str) -> String {
    let found = carried(location).into_iter().find(|(it, _)| it == name);
    found.map_or(String::new(), |(_, value)| value)
}

/// Somebody signed in, with a browser, and the world they are in.
pub(crate) struct Scene {
    pub(crate) world: World,
    person: Person,
    session: String,
}

impl Scene {
    pub(crate) async fn new() -> Scene {
        let world = World::new().await;
        let person = world.person("robin@example.com").await;
        let method = sessions::Method::Password;
        let session = sessions::create(&world.app, &person.user, method, Visit::default()).await;
        Scene { world, person, session: session.unwrap() }
    }

    fn anyone(&self) -> Client {
        Client::anonymous(&self.world)
    }

    fn browser(&self) -> Client {
        self.anyone().header("cookie", &format!("evenkeel_session={}", self.session))
    }

    async fn register(&self, metadata: Value) -> Answer {
        let client = self.anyone().header("content-type", "application/json");
        client.send(Method::POST, "/oauth/register", metadata.to_string()).await
    }

    /// A public client.
    async fn client(&self) -> String {
        let metadata = json!({
            "client_name": "Ledger Lens", "redirect_uris": [BACK],
            "token_endpoint_auth_method": "none",
        });
        let answer = self.register(metadata).await;
        assert_eq!(answer.status, StatusCode::CREATED);
        answer.json()["client_id"].as_str().unwrap().to_owned()
    }

    /// A client with a secret, and the secret.
    async fn confidential(&self) -> (String, String) {
        let answer = self.register(json!({ "redirect_uris": [BACK] })).await.json();
        let text = |name: &str| answer[name].as_str().unwrap().to_owned();
        (text("client_id"), text("client_secret"))
    }

    fn asked(&self, client: &str, more: &[(&str, &str)]) -> String {
        let challenge = challenge();
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", client),
            ("redirect_uri", BACK),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
            ("state", "s-1"),
        ];
        pairs.retain(|(name, _)| !more.iter().any(|(it, _)| it == name));
        pairs.extend(more.iter().filter(|(_, value)| *value != "-"));
        encoded(&pairs)
    }

    async fn authorize(&self, query: &str) -> Answer {
        self.browser().get(&format!("/oauth/authorize?{query}")).await
    }

    async fn decide(&self, query: &str, decision: &str, scopes: &[&str]) -> Answer {
        let token = sessions::form_token(&self.world.app, &self.session);
        let mut pairs = vec![("form_token", token.as_str()), ("asked", query)];
        pairs.push(("decision", decision));
        pairs.extend(scopes.iter().map(|it| ("scope", *it)));
        post(&self.browser(), "/oauth/authorize", &pairs).await
    }

    /// The code that the app gets when the person says yes.
    async fn code(&self, client: &str) -> String {
        let query = self.asked(client, &[("scope", "accounts:read profile:read")]);
        let answer = self.decide(&query, "allow", &["accounts:read", "profile:read"]).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
        value(answer.header("location"), "code")
    }

    async fn redeem(&self, client: &str, code: &str) -> Answer {
        let pairs = [
            ("grant_type", "authorization_code"),
            ("client_id", client),
            ("code", code),
            ("code_verifier", VERIFIER),
            ("redirect_uri", BACK),
        ];
        post(&self.anyone(), "/oauth/token", &pairs).await
    }

    async fn tokens(&self, client: &str) -> (String, String) {
        let code = self.code(client).await;
        pair(&self.redeem(client, &code).await)
    }

    /// An access token of an app that was let in for these scopes.
    pub(crate) async fn access(&self, scopes: &[&str]) -> String {
        let client = self.client().await;
        let query = self.asked(&client, &[("scope", scopes.join(" ").as_str())]);
        let answer = self.decide(&query, "allow", scopes).await;
        let code = value(answer.header("location"), "code");
        pair(&self.redeem(&client, &code).await).0
    }

    async fn refresh(&self, client: &str, token: &str) -> Answer {
        let pairs =
            [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)];
        post(&self.anyone(), "/oauth/token", &pairs).await
    }

    async fn ask(&self, token: &str, path: &str) -> Answer {
        Client::with_token(&self.world, token).get(path).await
    }
}

async fn post(client: &Client, path: &str, pairs: &[(&str, &str)]) -> Answer {
    let client = client.header("content-type", "application/x-www-form-urlencoded");
    client.send(Method::POST, path, encoded(pairs)).await
}

fn pair(answer: &Answer) -> (String, String) {
    assert_eq!(answer.status, StatusCode::OK, "{}", String::from_utf8_lossy(&answer.bytes));
    let body = answer.json();
    let text = |name: &str| body[name].as_str().unwrap().to_owned();
    (text("access_token"), text("refresh_token"))
}

/// `400 invalid_grant`, after checking that nobody may keep the answer.
fn refused(answer: &Answer) -> String {
    assert_eq!(answer.header("cache-control"), "no-store");
    let body = answer.json();
    assert!(body["error_description"].as_str().is_some_and(|it| !it.is_empty()));
    format!("{} {}", answer.status.as_u16(), body["error"].as_str().unwrap())
}

fn page(answer: &Answer) -> String {
    String::from_utf8(answer.bytes.clone()).unwrap()
}

fn issuer() -> String {
    PUBLIC_URL.to_owned()
}
