//! OAuth: clients, authorization requests, codes, tokens and their revocation.

mod access;
mod clients;
mod codes;
mod documents;
mod refreshing;
mod requests;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use service::access::oauth::clients::{AuthMethod, Client, NewClient};
use service::access::oauth::codes::CodeExchange;
use service::access::oauth::requests::{AuthorizationParams, AuthorizationRequest};
use service::access::oauth::token_pairs::{RefreshRequest, TokenPair};
use service::access::oauth::{self, OAuthFailure, OAuthResult, token_pairs};
use service::{App, Caller, Scopes};
use sha2::{Digest as _, Sha256};
use testkit::{Person, World};

pub(crate) const ISSUER: &str = "https://money.example";
const REDIRECT_URI: &str = "https://app.example/back";
const VERIFIER: &str = "a-verifier-of-at-least-forty-three-characters";

fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

fn new_client(name: &str) -> NewClient {
    NewClient {
        name: Some(name.to_owned()),
        redirect_uris: vec![REDIRECT_URI.to_owned()],
        auth_method: Some(AuthMethod::None),
        ..NewClient::default()
    }
}

async fn register(app: &App, name: &str) -> Client {
    oauth::clients::register(app, new_client(name)).await.unwrap().0
}

fn params(client: &Client) -> AuthorizationParams {
    AuthorizationParams {
        client_id: Some(client.id.to_string()),
        redirect_uri: Some(REDIRECT_URI.to_owned()),
        response_type: Some("code".to_owned()),
        code_challenge: Some(challenge(VERIFIER)),
        code_challenge_method: Some("S256".to_owned()),
        ..AuthorizationParams::default()
    }
}

async fn request(app: &App, client: &Client) -> AuthorizationRequest {
    oauth::requests::check(app, ISSUER, params(client)).await.unwrap()
}

/// Registers an app, authorizes it as the person, and returns its first token pair.
pub(crate) async fn authorize_app(app: &App, caller: &Caller) -> TokenPair {
    let client = register(app, "Ledger Lens").await;
    let request = request(app, &client).await;
    let code = oauth::codes::allow(app, caller, &request, request.scopes).await.unwrap();
    oauth::codes::exchange(app, ISSUER, &client, code_exchange(&code)).await.unwrap()
}

/// A person and a registered client.
struct OAuthFixture {
    world: World,
    person: Person,
    client: Client,
}

impl OAuthFixture {
    async fn new() -> OAuthFixture {
        let world = World::new().await;
        let person = world.person("robin@example.com").await;
        let client = register(&world.app, "Ledger Lens").await;
        OAuthFixture { world, person, client }
    }

    async fn code(&self) -> String {
        let request = request(&self.world.app, &self.client).await;
        let scopes = request.scopes;
        oauth::codes::allow(&self.world.app, &self.person.caller, &request, scopes).await.unwrap()
    }

    async fn pair(&self) -> TokenPair {
        let code = self.code().await;
        self.exchange(&code).await.unwrap()
    }

    async fn exchange(&self, code: &str) -> OAuthResult<TokenPair> {
        oauth::codes::exchange(&self.world.app, ISSUER, &self.client, code_exchange(code)).await
    }

    async fn refresh(&self, token: &str) -> OAuthResult<TokenPair> {
        token_pairs::refresh(&self.world.app, ISSUER, &self.client, refresh_request(token)).await
    }

    async fn authenticate(&self, token: &str) -> service::Result<Caller> {
        oauth::authenticate(&self.world.app, ISSUER, token, Some("192.0.2.7")).await
    }

    /// Actions and details of the person's audit trail, newest first. Asserts that the trail is intact.
    async fn trail(&self) -> Vec<String> {
        let entries =
            service::platform::audit::list(&self.world.app, &self.person.caller, None, 50).await;
        let verdict =
            service::platform::audit::verify(&self.world.app, &self.person.caller).await.unwrap();
        assert!(matches!(verdict, service::platform::audit::Verdict::Intact { .. }));
        entries.unwrap().into_iter().map(|it| format!("{} {}", it.action, it.details)).collect()
    }
}

fn code_exchange(code: &str) -> CodeExchange {
    CodeExchange {
        code: code.to_owned(),
        verifier: VERIFIER.to_owned(),
        redirect_uri: Some(REDIRECT_URI.to_owned()),
        resource: None,
    }
}

fn refresh_request(token: &str) -> RefreshRequest {
    RefreshRequest { token: token.to_owned(), ..RefreshRequest::default() }
}

/// The code and message of a refusal, such as `invalid_grant: the code is unknown`.
fn refusal<T: std::fmt::Debug>(outcome: OAuthResult<T>) -> String {
    match outcome {
        Err(OAuthFailure::Refused(it)) => format!("{}: {}", it.code.as_str(), it.message),
        other => panic!("not refused: {other:?}"),
    }
}

fn scopes(words: &str) -> Scopes {
    Scopes::parse(words).unwrap()
}
