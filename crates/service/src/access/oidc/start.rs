//! Starts single sign-on: builds the provider's sign-in address.

use base::percent_encode;

use super::flows::{self, NewFlow, Purpose};
use super::provider::{Provider, ProviderSettings};
use crate::access::sessions::Visit;
use crate::access::{sessions, sign_ins};
use crate::{App, Caller, Error, Result};

const NEXT_MAX: usize = 2_000;

/// The browser that a round trip begins in.
#[derive(Clone, Copy)]
pub struct Browser<'a> {
    /// A secret that only the browser's cookies lead to.
    pub secret: &'a str,
    /// The page of this site to return to.
    pub next: &'a str,
    /// The public address of this installation.
    pub public_url: &'a str,
}

/// Begins a sign-in and returns the address of the provider's page. Each costs a row for a while, so they are limited.
pub async fn start_sign_in(
    app: &App,
    provider: &str,
    browser: Browser<'_>,
    from: &Visit,
) -> Result<String> {
    let provider = app.single_sign_on.get(provider)?;
    sign_ins::count_challenge(app, from).await?;
    start(app, provider, Purpose::SignIn, None, browser).await
}

/// Begins to link an identity to the caller's account. The provider is asked to let the person sign in anew, so that an
/// identity that somebody else left signed in is not linked.
pub async fn start_link(
    app: &App,
    caller: &Caller,
    provider: &str,
    browser: Browser<'_>,
) -> Result<String> {
    caller.require_owner("provider")?;
    let provider = app.single_sign_on.get(provider)?;
    sessions::require_proof(app, caller).await?;
    start(app, provider, Purpose::Link, Some(caller), browser).await
}

/// Begins a proof of identity at the provider, where the person must sign in anew.
pub async fn start_proof(
    app: &App,
    caller: &Caller,
    provider: &str,
    browser: Browser<'_>,
) -> Result<String> {
    caller.require_owner("provider")?;
    let provider = app.single_sign_on.get(provider)?;
    start(app, provider, Purpose::Prove, Some(caller), browser).await
}

async fn start(
    app: &App,
    provider: &Provider,
    purpose: Purpose,
    caller: Option<&Caller>,
    browser: Browser<'_>,
) -> Result<String> {
    let metadata = provider.metadata(app.clock.now()).await?;
    let settings = &provider.settings;
    if browser.next.len() > NEXT_MAX {
        return Err(Error::invalid("next", "the address of the page to return to is too long"));
    }
    let flow = NewFlow {
        provider: &settings.name,
        purpose,
        user: caller.map(|it| it.user),
        browser: browser.secret,
        next: browser.next,
    };
    let secrets = flows::create(app, flow).await?;
    let (challenge, redirect) = (secrets.challenge(), redirect_uri(settings, browser.public_url));
    let scope = settings.scopes.join(" ");
    let mut parameters = vec![
        ("response_type", "code"),
        ("client_id", &settings.client_id),
        ("redirect_uri", &redirect),
        ("scope", &scope),
        ("state", &secrets.state),
        ("nonce", &secrets.nonce),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ];
    if purpose != Purpose::SignIn {
        parameters.extend([("prompt", "login"), ("max_age", "0")]);
    }
    let separator = if metadata.authorization_endpoint.contains('?') { '&' } else { '?' };
    Ok(format!("{}{separator}{}", metadata.authorization_endpoint, encode_pairs(&parameters)))
}

/// The address to which the provider sends the person back. Each provider has an address of its own, so that the answer of one is
/// never taken for that of another.
pub(super) fn redirect_uri(settings: &ProviderSettings, public_url: &str) -> String {
    format!("{public_url}/sign-on/{}/callback", settings.name)
}

/// Pairs as in a form or a query.
pub(super) fn encode_pairs(pairs: &[(&str, &str)]) -> String {
    let pair = |(name, value): &(&str, &str)| format!("{name}={}", percent_encode(value));
    pairs.iter().map(pair).collect::<Vec<_>>().join("&")
}
