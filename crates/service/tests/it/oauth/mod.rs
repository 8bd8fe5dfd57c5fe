//! OAuth: who is let in, for how long, and what ends it.

mod access;
mod clients;
mod codes;
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
const BACK: &str = "https://app.example/back";
const VERIFIER: &str = "a-verifier-of-at-least-forty-three-characters";

fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

fn new_client(name: &str) -> NewClient {
    NewClient {
        name: Some(name.to_owned()),
        redirect_uris: vec![BACK.to_owned()],
        auth_method: Some(AuthMethod::None),
        ..NewClient::default()
    }
}

async fn register(app: &App, name: &str) -> Client {
    oauth::clients::register(app, new_client(name)).await.unwrap().0
}

fn asked(client: &Client) -> AuthorizationParams {
    AuthorizationParams {
        client_id: Some(client.id.to_string()),
        redirect_uri: Some(BACK.to_owned()),
        response_type: Some("code".to_owned()),
        code_challenge: Some(challenge(VERIFIER)),
        code_challenge_method: Some("S256".to_owned()),
        ..AuthorizationParams::default()
    }
}

async fn request(app: &App, client: &Client) -> AuthorizationRequest {
    oauth::requests::check(app, ISSUER, asked(client)).await.unwrap()
}

/// An app that a person has let in, with its first pair.
pub(crate) async fn let_in(app: &App, caller: &Caller) -> TokenPair {
    let client = register(app, "Ledger Lens").await;
    let request = request(app, &client).await;
    let code = oauth::codes::allow(app, caller, &request, request.scopes).await.unwrap();
    oauth::codes::exchange(app, ISSUER, &client, redemption(&code)).await.unwrap()
}

/// Somebody, an app, and the code that the app was answered with.
struct Scene {
    world: World,
    person: Person,
    client: Client,
}

impl Scene {
    async fn new() -> Scene {
        let world = World::new().await;
        let person = world.person("robin@example.com").await;
        let client = register(&world.app, "Ledger Lens").await;
        Scene { world, person, client }
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
        oauth::codes::exchange(&self.world.app, ISSUER, &self.client, redemption(code)).await
    }

    async fn refresh(&self, token: &str) -> OAuthResult<TokenPair> {
        token_pairs::refresh(&self.world.app, ISSUER, &self.client, renewal(token)).await
    }

    async fn enter(&self, token: &str) -> service::Result<Caller> {
        oauth::authenticate(&self.world.app, ISSUER, token, Some("192.0.2.7")).await
    }

    /// What the person's trail says, the newest first.
    async fn trail(&self) -> Vec<String> {
        let entries =
            service::platform::audit::list(&self.world.app, &self.person.caller, None, 50).await;
        let sound =
            service::platform::audit::verify(&self.world.app, &self.person.caller).await.unwrap();
        assert!(matches!(sound, service::platform::audit::Verdict::Intact { .. }));
        entries.unwrap().into_iter().map(|it| format!("{} {}", it.action, it.details)).collect()
    }
}

fn redemption(code: &str) -> CodeExchange {
    CodeExchange {
        code: code.to_owned(),
        verifier: VERIFIER.to_owned(),
        redirect_uri: Some(BACK.to_owned()),
        resource: None,
    }
}

fn renewal(token: &str) -> RefreshRequest {
    RefreshRequest { token: token.to_owned(), ..RefreshRequest::default() }
}

/// `invalid_grant: the code is unknown`
fn refusal<T: std::fmt::Debug>(outcome: OAuthResult<T>) -> String {
    match outcome {
        Err(OAuthFailure::Refused(it)) => format!("{}: {}", it.code.as_str(), it.message),
        other => panic!("not refused: {other:?}"),
    }
}

fn scopes(words: &str) -> Scopes {
    Scopes::parse(words).unwrap()
}
