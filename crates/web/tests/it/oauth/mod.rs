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

const REDIRECT_URI: &str = "https://lens.example/back";
const VERIFIER: &str = "a-verifier-of-at-least-forty-three-characters";

fn challenge() -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER.as_bytes()))
}

/// Encodes pairs for a form or a query.
fn encoded(pairs: &[(&str, &str)]) -> String {
    let encode = |text: &str| -> String {
        let plain = |it: u8| it.is_ascii_alphanumeric() || b"-._~".contains(&it);
        let write =
            |it: u8| if plain(it) { (it as char).to_string() } else { format!("%{it:02X}") };
        text.bytes().map(write).collect()
    };
    let pairs: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    pairs.join("&")
}

/// The decoded query of a URL.
fn query_pairs(location: &str) -> Vec<(String, String)> {
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

fn query_value(location: &str, name: &str) -> String {
    let found = query_pairs(location).into_iter().find(|(it, _)| it == name);
    found.map_or(String::new(), |(_, value)| value)
}

/// A person who is signed in with a browser.
pub(crate) struct OauthFixture {
    pub(crate) world: World,
    person: Person,
    session: String,
}

impl OauthFixture {
    pub(crate) async fn new() -> OauthFixture {
        let world = World::new().await;
        let person = world.person("robin@example.com").await;
        let method = sessions::Method::Password;
        let session = sessions::create(&world.app, &person.user, method, Visit::default()).await;
        OauthFixture { world, person, session: session.unwrap() }
    }

    fn anonymous(&self) -> Client {
        Client::anonymous(&self.world)
    }

    fn browser(&self) -> Client {
        self.anonymous().header("cookie", &format!("evenkeel_session={}", self.session))
    }

    async fn register(&self, metadata: Value) -> Answer {
        let client = self.anonymous().header("content-type", "application/json");
        client.send(Method::POST, "/oauth/register", metadata.to_string()).await
    }

    /// Registers a public client and returns its id.
    async fn public_client(&self) -> String {
        let metadata = json!({
            "client_name": "Ledger Lens", "redirect_uris": [REDIRECT_URI],
            "token_endpoint_auth_method": "none",
        });
        let answer = self.register(metadata).await;
        assert_eq!(answer.status, StatusCode::CREATED);
        answer.json()["client_id"].as_str().unwrap().to_owned()
    }

    /// Registers a client with a secret and returns its id and secret.
    async fn confidential_client(&self) -> (String, String) {
        let answer = self.register(json!({ "redirect_uris": [REDIRECT_URI] })).await.json();
        let text = |name: &str| answer[name].as_str().unwrap().to_owned();
        (text("client_id"), text("client_secret"))
    }

    /// The query of an authorization request with these parameters changed; `-` leaves one out.
    fn authorize_query(&self, client: &str, more: &[(&str, &str)]) -> String {
        let challenge = challenge();
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", client),
            ("redirect_uri", REDIRECT_URI),
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

    /// The authorization code that an app gets when the person allows it.
    async fn code(&self, client: &str) -> String {
        let query = self.authorize_query(client, &[("scope", "accounts:read profile:read")]);
        let answer = self.decide(&query, "allow", &["accounts:read", "profile:read"]).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
        query_value(answer.header("location"), "code")
    }

    async fn redeem(&self, client: &str, code: &str) -> Answer {
        let pairs = [
            ("grant_type", "authorization_code"),
            ("client_id", client),
            ("code", code),
            ("code_verifier", VERIFIER),
            ("redirect_uri", REDIRECT_URI),
        ];
        post(&self.anonymous(), "/oauth/token", &pairs).await
    }

    async fn tokens(&self, client: &str) -> (String, String) {
        let code = self.code(client).await;
        token_pair(&self.redeem(client, &code).await)
    }

    /// An access token of an app with these scopes.
    pub(crate) async fn access(&self, scopes: &[&str]) -> String {
        let client = self.public_client().await;
        let query = self.authorize_query(&client, &[("scope", scopes.join(" ").as_str())]);
        let answer = self.decide(&query, "allow", scopes).await;
        let code = query_value(answer.header("location"), "code");
        token_pair(&self.redeem(&client, &code).await).0
    }

    /// An access token of an app with these scopes, for these resources.
    pub(crate) async fn access_for(&self, scopes: &[&str], resources: &[&str]) -> String {
        let client = self.public_client().await;
        let words = scopes.join(" ");
        let mut more = vec![("scope", words.as_str())];
        more.extend(resources.iter().map(|it| ("resource", *it)));
        let query = self.authorize_query(&client, &more);
        let shown: Vec<&str> = scopes.iter().copied().filter(|it| it.contains(':')).collect();
        let answer = self.decide(&query, "allow", &shown).await;
        let code = query_value(answer.header("location"), "code");
        token_pair(&self.redeem(&client, &code).await).0
    }

    async fn refresh(&self, client: &str, token: &str) -> Answer {
        let pairs =
            [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)];
        post(&self.anonymous(), "/oauth/token", &pairs).await
    }

    async fn get_with_token(&self, token: &str, path: &str) -> Answer {
        Client::with_token(&self.world, token).get(path).await
    }
}

async fn post(client: &Client, path: &str, pairs: &[(&str, &str)]) -> Answer {
    let client = client.header("content-type", "application/x-www-form-urlencoded");
    client.send(Method::POST, path, encoded(pairs)).await
}

fn token_pair(answer: &Answer) -> (String, String) {
    assert_eq!(answer.status, StatusCode::OK, "{}", String::from_utf8_lossy(&answer.bytes));
    let body = answer.json();
    let text = |name: &str| body[name].as_str().unwrap().to_owned();
    (text("access_token"), text("refresh_token"))
}

/// The error as one line, such as `400 invalid_grant`; checks that the response may not be cached.
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
