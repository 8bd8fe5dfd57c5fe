//! A simulated provider of OpenID Connect over real TLS. It checks what a strict provider checks, and lies as an attacker
//! would when a test asks for it.

mod answer;
mod signing;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::Clock;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use service::access::oidc::ProviderSettings;

use crate::tls_server::TlsServer;
pub use signing::{KeyKind, SigningKey};

/// Clones are the same provider.
#[derive(Clone)]
pub struct OidcProvider {
    issuer: String,
    clock: Clock,
    state: Arc<Mutex<State>>,
}

struct State {
    /// The key that signs, and all keys that are published.
    signing: SigningKey,
    published: Vec<Value>,
    /// What the provider says about the person who is signed in there.
    claims: Value,
    codes: BTreeMap<String, Code>,
    access_tokens: BTreeMap<String, Value>,
    made: usize,
    deviation: Option<Deviation>,
    /// ID tokens have no claims about the person, which are at the userinfo endpoint only.
    has_short_tokens: bool,
    requests: Vec<String>,
}

/// What a code was given for.
#[derive(Clone)]
struct Code {
    redirect_uri: String,
    challenge: String,
    nonce: String,
    claims: Value,
    is_used: bool,
}

/// A lasting deviation from the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deviation {
    /// The ID token is not signed, and says so.
    AlgorithmNone,
    /// The ID token is signed with the public key as a shared secret.
    PublicKeyAsSecret,
    /// The ID token's signature is of another text.
    WrongSignature,
    /// The ID token is signed with a key that is not published.
    UnpublishedKey,
    /// The ID token has no key id.
    NoKeyId,
    WrongAudience,
    /// Several audiences, and no word on which one the token was given to.
    SeveralAudiences,
    OtherParty,
    WrongNonce,
    NoNonce,
    Expired,
    FromTheFuture,
    OtherIssuer,
    NoSubject,
    NoIdToken,
    /// The answer of this path is larger than anybody needs.
    Oversized(&'static str),
    /// The answer of this path is no JSON.
    Garbage(&'static str),
    /// The answer of this path is a redirect.
    Redirect(&'static str),
    /// The profile is that of somebody else.
    OtherProfile,
    /// The discovery document is that of another issuer.
    OtherMetadata,
    /// Codes work more than once and for anybody, so that only the client's own checks are left.
    CarelessCodes,
}

impl OidcProvider {
    pub const CLIENT_ID: &str = "evenkeel";
    /// With characters that must be encoded in the header.
    pub const CLIENT_SECRET: &str = "s3cret: & more+";

    pub async fn start(clock: Clock) -> OidcProvider {
        let tls = TlsServer::bind().await;
        let signing = SigningKey::generate(KeyKind::Es256, "first");
        let state = State {
            published: vec![signing.jwk()],
            signing,
            claims: json!({ "sub": "robin-1", "email": "robin@example.com", "email_verified": true }),
            codes: BTreeMap::new(),
            access_tokens: BTreeMap::new(),
            made: 0,
            deviation: None,
            has_short_tokens: false,
            requests: Vec::new(),
        };
        let state = Arc::new(Mutex::new(state));
        let provider = OidcProvider { issuer: tls.url.clone(), clock, state };
        let own = provider.clone();
        tls.serve(move |request| {
            let provider = own.clone();
            async move { answer::answer(&provider, request).await }
        });
        provider
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Settings by which this provider creates nobody and links nobody.
    pub fn settings(&self, name: &str) -> ProviderSettings {
        ProviderSettings {
            name: name.to_owned(),
            label: "Lighthouse".to_owned(),
            issuer: self.issuer.clone(),
            client_id: OidcProvider::CLIENT_ID.to_owned(),
            client_secret: Some(OidcProvider::CLIENT_SECRET.to_owned()),
            scopes: vec!["openid".to_owned(), "email".to_owned()],
            groups_claim: "groups".to_owned(),
            create_for_domains: Vec::new(),
            create_for_groups: Vec::new(),
            admin_groups: Vec::new(),
            link_verified_email: false,
        }
    }

    /// Another person signs in at the provider from now on.
    pub fn sign_in_as(&self, claims: Value) {
        self.state().claims = claims;
    }

    pub fn deviate(&self, deviation: Option<Deviation>) {
        self.state().deviation = deviation;
    }

    pub fn shorten_tokens(&self) {
        self.state().has_short_tokens = true;
    }

    /// Signs with a new key from now on, and publishes it. The old key is no longer published.
    pub fn rotate(&self, kind: KeyKind, id: &str) {
        let key = SigningKey::generate(kind, id);
        let mut state = self.state();
        state.published = vec![key.jwk()];
        state.signing = key;
    }

    /// How often the provider was asked for this path.
    pub fn asked_for(&self, path: &str) -> usize {
        self.state().requests.iter().filter(|it| *it == path).count()
    }

    /// What the person's browser does at the provider: follows the address, signs in, and is sent back. Returns the path
    /// and query of the address that it is sent back to.
    pub fn visit(&self, address: &str) -> String {
        let (page, query) = address.split_once('?').unwrap();
        assert_eq!(page, format!("{}/authorize", self.issuer));
        let given = |name: &str| {
            let found = pairs(query).into_iter().find(|(it, _)| it == name);
            found.unwrap_or_else(|| panic!("no {name} in {query}")).1
        };
        assert_eq!(given("response_type"), "code");
        assert_eq!(given("client_id"), OidcProvider::CLIENT_ID);
        assert_eq!(given("code_challenge_method"), "S256");
        assert!(given("scope").split(' ').any(|it| it == "openid"));
        let mut state = self.state();
        state.made += 1;
        let code = format!("code-{}", state.made);
        let made = Code {
            redirect_uri: given("redirect_uri"),
            challenge: given("code_challenge"),
            nonce: given("nonce"),
            claims: state.claims.clone(),
            is_used: false,
        };
        let path = made.redirect_uri.splitn(4, '/').nth(3).unwrap().to_owned();
        state.codes.insert(code.clone(), made);
        let issuer = self.issuer.replace(':', "%3A").replace('/', "%2F");
        format!("/{path}?code={code}&state={}&iss={issuer}", given("state"))
    }
}

/// The decoded pairs of a query or a form.
fn pairs(text: &str) -> Vec<(String, String)> {
    let decode =
        |it: &str| percent_decode_str(&it.replace('+', " ")).decode_utf8().unwrap().into_owned();
    let pair = |it: &str| {
        let (name, value) = it.split_once('=').unwrap_or((it, ""));
        (decode(name), decode(value))
    };
    text.split('&').filter(|it| !it.is_empty()).map(pair).collect()
}
