//! The providers that the operator has set up, with what is remembered of each: its metadata and its keys.

use std::time::Duration;

use base::Timestamp;
use net::{HttpClient, HttpRequest, Limits};
use serde_json::Value;
use sources::jws::{Header, PublicKey};
use tokio::sync::Mutex;

use super::metadata::{self, Metadata};
use crate::{Error, Result};

pub(super) const LIMITS: Limits = Limits {
    connect: Duration::from_secs(5),
    total: Duration::from_secs(10),
    body_max: 256 * 1_024,
};
/// How long metadata and keys are used before they are fetched again. A key that the provider takes back is accepted no
/// longer than this.
const FRESH_SECONDS: i64 = 3_600;
/// Keys are fetched again for a token with an unknown key, but not more often than this.
const KEYS_AGAIN_SECONDS: i64 = 10;
/// The most keys of a provider that are considered.
const KEYS_MAX: usize = 100;

/// The operator's settings for one provider.
#[derive(Clone)]
pub struct ProviderSettings {
    /// Part of addresses, such as `authelia`.
    pub name: String,
    /// On buttons, such as `Authelia`.
    pub label: String,
    pub issuer: String,
    pub client_id: String,
    /// Without one, this installation is a public client and relies on PKCE alone.
    pub client_secret: Option<String>,
    pub scopes: Vec<String>,
    /// The claim that lists a person's groups.
    pub groups_claim: String,
    /// People whose verified email is in one of these domains get an account when they first sign in.
    pub create_for_domains: Vec<String>,
    /// People in one of these groups get an account when they first sign in.
    pub create_for_groups: Vec<String>,
    /// People in one of these groups are admins, and others are not. Empty: the provider does not decide.
    pub admin_groups: Vec<String>,
    /// Whether a verified email leads to the account that has the same email.
    pub link_verified_email: bool,
}

/// All providers.
#[derive(Default)]
pub struct SingleSignOn {
    providers: Vec<Provider>,
}

impl SingleSignOn {
    /// The operator chose these addresses, so the client may reach private networks.
    pub fn new(client: &HttpClient, settings: Vec<ProviderSettings>) -> SingleSignOn {
        let provider = |settings| Provider {
            settings,
            client: client.clone(),
            metadata: Mutex::default(),
            keys: Mutex::default(),
        };
        SingleSignOn { providers: settings.into_iter().map(provider).collect() }
    }

    /// The settings of all providers, by name.
    pub fn providers(&self) -> impl Iterator<Item = &ProviderSettings> {
        self.providers.iter().map(|it| &it.settings)
    }

    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
    }

    /// Fetches the metadata of a provider, for the operator's check.
    pub async fn check(&self, name: &str, now: Timestamp) -> Result<()> {
        self.get(name)?.metadata(now).await.map(|_| ())
    }

    pub(super) fn get(&self, name: &str) -> Result<&Provider> {
        let found = self.providers.iter().find(|it| it.settings.name == name);
        found.ok_or(Error::NotFound("provider"))
    }
}

struct Cached<T> {
    value: T,
    fetched_at: Timestamp,
}

impl<T> Cached<T> {
    /// Something that was fetched in the future was fetched before the clock was set back.
    fn age_seconds(&self, now: Timestamp) -> i64 {
        match now.as_second() - self.fetched_at.as_second() {
            age @ 0.. => age,
            _ => FRESH_SECONDS,
        }
    }
}

pub(super) struct Provider {
    pub(super) settings: ProviderSettings,
    client: HttpClient,
    metadata: Mutex<Option<Cached<Metadata>>>,
    keys: Mutex<Option<Cached<Vec<PublicKey>>>>,
}

impl Provider {
    /// The error for an invalid answer of the provider. The person sees the reason, too, because the one who tries is often
    /// the operator.
    pub(super) fn refused(&self, reason: &str) -> Error {
        let ProviderSettings { name, label, .. } = &self.settings;
        tracing::warn!(provider = name, reason, "single sign-on was refused");
        Error::invalid("sign_on", format!("signing in with {label} did not work: {reason}"))
    }

    /// The provider's addresses, from its discovery document. Requests at the same time wait for one answer.
    pub(super) async fn metadata(&self, now: Timestamp) -> Result<Metadata> {
        let mut cached = self.metadata.lock().await;
        if let Some(found) = cached.as_ref().filter(|it| it.age_seconds(now) < FRESH_SECONDS) {
            return Ok(found.value.clone());
        }
        let issuer = &self.settings.issuer;
        let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let document = self.fetch(HttpRequest::get(url), "its metadata").await?;
        let value = metadata::read(issuer, document).map_err(|reason| self.refused(&reason))?;
        *cached = Some(Cached { value: value.clone(), fetched_at: now });
        Ok(value)
    }

    /// The key that a token says it was signed with. A key that is not known is looked for once more at the provider,
    /// which may have a new one.
    pub(super) async fn key_of(
        &self,
        metadata: &Metadata,
        token: &Header,
        now: Timestamp,
    ) -> Result<PublicKey> {
        let mut cached = self.keys.lock().await;
        let age = cached.as_ref().map_or(FRESH_SECONDS, |it| it.age_seconds(now));
        let known = cached.as_ref().filter(|_| age < FRESH_SECONDS);
        if let Some(key) = known.and_then(|it| choose(&it.value, token)) {
            return Ok(key);
        }
        if age >= KEYS_AGAIN_SECONDS {
            let request = HttpRequest::get(&metadata.jwks_uri);
            let document = self.fetch(request, "its keys").await?;
            let value = read_keys(document);
            let key = choose(&value, token);
            *cached = Some(Cached { value, fetched_at: now });
            if let Some(key) = key {
                return Ok(key);
            }
        }
        Err(self.refused("the ID token is signed with a key that the provider does not publish"))
    }

    /// Sends a request to the provider and reads JSON from a good response.
    pub(super) async fn fetch(&self, request: HttpRequest, what: &str) -> Result<Value> {
        let (status, body) = self.send(request, what).await?;
        if status != 200 {
            return Err(self.refused(&format!("the provider answered {status} for {what}")));
        }
        let invalid = |_| self.refused(&format!("the provider did not answer in JSON for {what}"));
        serde_json::from_slice(&body).map_err(invalid)
    }

    /// Sends a request to the provider and returns the status and the body.
    pub(super) async fn send(
        &self,
        request: HttpRequest,
        what: &str,
    ) -> Result<(u16, bytes::Bytes)> {
        let failed = |failure| self.refused(&format!("{failure}, when asked for {what}"));
        let response = self.client.send(request.header("accept", "application/json"), LIMITS).await;
        let response = response.map_err(failed)?;
        match response.failure() {
            Some(failure) => Err(failed(failure)),
            None => Ok((response.status, response.body)),
        }
    }
}

fn read_keys(document: Value) -> Vec<PublicKey> {
    let keys = document.get("keys").and_then(Value::as_array).cloned().unwrap_or_default();
    keys.into_iter().take(KEYS_MAX).filter_map(PublicKey::from_jwk).collect()
}

/// The key with the token's id and algorithm. A token without an id must leave no choice.
fn choose(keys: &[PublicKey], token: &Header) -> Option<PublicKey> {
    let fits = |it: &&PublicKey| {
        it.algorithm == token.algorithm && (token.key_id.is_none() || it.key_id == token.key_id)
    };
    let mut found = keys.iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(key), None) => Some(key.clone()),
        _ => None,
    }
}
