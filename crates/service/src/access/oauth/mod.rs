//! OAuth 2.1: people grant apps access to their data, and apps get tokens for it.

pub mod access_tokens;
mod client_documents;
pub mod clients;
pub mod codes;
mod errors;
pub mod grants;
pub mod introspection;
pub mod redirects;
pub mod requests;
mod scopes;
pub mod token_pairs;

use db::params;

use crate::{App, Error, Result, Tx};

pub use access_tokens::{authenticate, authenticate_for};
pub use client_documents::DocumentSource;
pub use clients::is_document;
pub use errors::{OAuthError, OAuthErrorCode, OAuthFailure, OAuthResult};
pub use scopes::{Audience, OFFLINE_ACCESS, grantable_scopes};

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;
/// A client that a person authorized is deleted if nobody authorized or registered it again for this long.
const CLIENT_DAYS: i64 = 90;
/// A client that no person ever authorized is deleted after this long.
const UNAUTHORIZED_DAYS: i64 = 1;
/// How long expired codes and revoked grants are kept, so that a second use of them is recognized.
const ENDED_DAYS: i64 = 1;

/// Background step: deletes expired codes and tokens, revoked grants, and unused clients.
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
        access_tokens::STATEMENTS,
        clients::STATEMENTS,
        codes::STATEMENTS,
        grants::STATEMENTS,
        introspection::STATEMENTS,
        token_pairs::STATEMENTS,
    ]
    .concat()
}
