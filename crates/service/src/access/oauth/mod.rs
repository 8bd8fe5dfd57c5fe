//! OAuth 2.1: how a person lets an app in, and what the app holds then.

pub mod access;
pub mod clients;
pub mod codes;
pub mod facts;
pub mod grants;
pub mod pairs;
pub mod redirects;
pub mod requests;

use db::params;
use wire::v1::Scope;

use crate::{App, Error, Result, Scopes, Tx};

pub use access::authenticate;

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;
/// A client that a person once authorized is forgotten when nobody allowed or registered it anew for this long.
const CLIENT_DAYS: i64 = 90;
/// A client that no person ever authorized is forgotten after this long.
const UNAUTHORIZED_DAYS: i64 = 1;
/// How long what has ended is kept, so that its second use is still known for one.
const ENDED_DAYS: i64 = 1;

base::words!(
    /// The names that OAuth has for what is wrong.
    Fault {
        InvalidRequest => "invalid_request",
        InvalidClient => "invalid_client",
        InvalidGrant => "invalid_grant",
        InvalidScope => "invalid_scope",
        InvalidTarget => "invalid_target",
        UnsupportedGrantType => "unsupported_grant_type",
        UnsupportedResponseType => "unsupported_response_type",
        AccessDenied => "access_denied",
        InvalidRedirectUri => "invalid_redirect_uri",
        InvalidClientMetadata => "invalid_client_metadata",
    }
);

/// What an app did wrong, in OAuth's word and in a sentence for who builds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub fault: Fault,
    pub message: String,
}

impl Refusal {
    pub fn new(fault: Fault, message: impl Into<String>) -> Refusal {
        Refusal { fault, message: message.into() }
    }
}

/// The app's mistake, or trouble of our own.
#[derive(Debug)]
pub enum Failure {
    Refused(Refusal),
    Own(Error),
}

pub type Outcome<T> = Result<T, Failure>;

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::Refused(refusal)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Own(error)
    }
}

impl From<db::Error> for Failure {
    fn from(error: db::Error) -> Failure {
        Failure::Own(error.into())
    }
}

/// What an app can be allowed: everything but webhooks, whose endpoints belong to an API key.
pub fn offered() -> Scopes {
    Scope::ALL.into_iter().filter(|it| *it != Scope::WebhooksManage).collect()
}

fn is_within(some: Scopes, all: Scopes) -> bool {
    some.iter().all(|it| all.has(it))
}

/// Scopes as they were stored; ones we no longer know are our own trouble.
fn stored_scopes(column: usize, words: &str) -> db::Result<Scopes> {
    Scopes::parse(words).map_err(|error| db::Error::Decode { column, reason: error.to_string() })
}

/// The one thing tokens are for, as RFC 8707 names it: the API, by its own address or by that of the installation.
fn resource(issuer: &str, asked: &str) -> Result<String, Refusal> {
    let plain = asked.trim_end_matches('/');
    if is_ours(issuer, plain) {
        return Ok(plain.to_owned());
    }
    let message = format!("resource must be {issuer} or {issuer}/v1");
    Err(Refusal::new(Fault::InvalidTarget, message))
}

fn is_ours(issuer: &str, resource: &str) -> bool {
    resource.strip_prefix(issuer).is_some_and(|it| it.is_empty() || it == "/v1")
}

/// Forgets what has ended: codes, tokens, grants, and clients that nobody lets in; a background step.
pub async fn forget_once(app: &App) -> Result<usize> {
    let now = app.clock.now().as_microsecond();
    let forget = move |tx: &mut Tx<'_>| {
        let ended_before = now - ENDED_DAYS * DAY;
        let mut count = tx.execute(FORGET_CODES, params![ended_before])?;
        count += tx.execute(FORGET_TOKENS, params![now])?;
        count += tx.execute(FORGET_GRANTS, params![ended_before])?;
        let clients = params![now - CLIENT_DAYS * DAY, now - UNAUTHORIZED_DAYS * DAY];
        count += tx.execute(FORGET_CLIENTS, clients)?;
        Ok::<_, Error>(count as usize)
    };
    app.db.write(forget).await
}

const FORGET_CODES: &str = "delete from oauth_codes where expires_at <= $1";
const FORGET_TOKENS: &str = "delete from oauth_tokens where refresh_expires_at <= $1";
const FORGET_GRANTS: &str = "delete from oauth_grants where revoked_at <= $1
    or (created_at <= $1 and not exists (select t.id from oauth_tokens t
        where t.user_id = oauth_grants.user_id and t.grant_id = oauth_grants.id))";
const FORGET_CLIENTS: &str = "delete from oauth_clients
    where (seen_at <= $1 or (seen_at <= $2 and authorized_at is null))
    and not exists (select g.id from oauth_grants g where g.client_id = oauth_clients.id)";

pub(crate) fn statements() -> Vec<&'static str> {
    let own = [FORGET_CODES, FORGET_TOKENS, FORGET_GRANTS, FORGET_CLIENTS];
    [
        &own,
        access::STATEMENTS,
        clients::STATEMENTS,
        codes::STATEMENTS,
        facts::STATEMENTS,
        grants::STATEMENTS,
        pairs::STATEMENTS,
    ]
    .concat()
}
