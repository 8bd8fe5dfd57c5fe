//! Authorization codes: issued when a person grants access, valid for a minute and for one use.

use base::{ClientId, GrantId, UserId};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use db::params;
use sha2::{Digest as _, Sha256};

use super::clients::Client;
use super::errors::{OAuthError, OAuthErrorCode, OAuthResult};
use super::redirects::Redirect;
use super::requests::AuthorizationRequest;
use super::scopes::{is_subset, is_within, parse_resource};
use super::token_pairs::{self, GrantKey, TokenPair, TokenResponse};
use super::{SECOND, grants};
use crate::access::scopes::read_scopes;
use crate::access::{sessions, tokens};
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result, Scopes, Tx};

const PREFIX: &str = "eko_";
const LIFE_SECONDS: i64 = 60;

/// Grants an app all or some of the scopes that it asked for. Returns the code to send to the app.
pub async fn allow(
    app: &App,
    caller: &Caller,
    request: &AuthorizationRequest,
    scopes: Scopes,
) -> Result<String> {
    caller.require_owner("app")?;
    sessions::require_proof(app, caller).await?;
    if scopes.iter().next().is_none() || !is_subset(scopes, request.scopes) {
        return Err(Error::invalid(
            "scope",
            "choose at least one of the permissions that the app asks for",
        ));
    }
    let (code, now) = (tokens::make(PREFIX, &app.entropy), app.clock.now());
    let (hash, caller, request) = (tokens::hash(&code), caller.clone(), request.clone());
    let write = move |tx: &mut Tx<'_>| {
        let AuthorizationRequest { client, redirect, challenge, resource, .. } = request;
        let words = scopes.to_words();
        tx.execute(
            INSERT,
            params![
                &hash[..],
                caller.user,
                client.id,
                redirect.as_str(),
                &challenge,
                &words,
                &resource,
                now.as_microsecond() + LIFE_SECONDS * SECOND
            ],
        )?;
        tx.execute(SEEN, params![client.id, now])?;
        let details = format!("Allowed {} at {}: {words}", client.name, redirect.host());
        audit::note(tx, caller.user, now, Note::new(&caller, "app.allow", details).about(client.id))
    };
    app.db.write(write).await?;
    Ok(code)
}

/// An app's request to exchange a code for tokens.
#[derive(Debug, Clone, Default)]
pub struct CodeExchange {
    pub code: String,
    pub verifier: String,
    /// Optional in OAuth 2.1. If present, it must be the one of the authorization request.
    pub redirect_uri: Option<String>,
    pub resource: Option<String>,
}

/// Exchanges a code for a grant and its first tokens. A second use means that somebody else has the code too, so it
/// revokes the grant.
pub async fn exchange(
    app: &App,
    issuer: &str,
    client: &Client,
    exchange: CodeExchange,
) -> OAuthResult<TokenPair> {
    let resource = exchange.resource.as_deref().map(|it| parse_resource(issuer, it)).transpose()?;
    let exchange = CodeExchange { resource, ..exchange };
    if !tokens::is_well_formed(PREFIX, &exchange.code) {
        return Err(refused("the code is malformed").into());
    }
    let (mine, client) = (app.clone(), client.clone());
    let response = app.db.write(move |tx| exchange_in(tx, &mine, &client, &exchange)).await?;
    app.access_cache.clear();
    response.into_result()
}

fn refused(message: &str) -> OAuthError {
    OAuthError::new(OAuthErrorCode::InvalidGrant, message)
}

fn exchange_in(
    tx: &mut Tx<'_>,
    app: &App,
    client: &Client,
    exchange: &CodeExchange,
) -> Result<TokenResponse> {
    let (hash, now) = (tokens::hash(&exchange.code), app.clock.now());
    let Some(code) = tx.first(BY_HASH, params![&hash[..]], read)? else {
        return Ok(refused("the code is unknown").into());
    };
    if code.grant.is_some() {
        return revoke_reused(tx, app, &code);
    }
    if code.client != client.id {
        return Ok(refused("the code was issued to another client").into());
    }
    if exchange.redirect_uri.as_ref().is_some_and(|it| *it != code.redirect_uri) {
        return Ok(refused("redirect_uri is not the one that the code was sent to").into());
    }
    if let (Some(asked), Some(granted)) = (&exchange.resource, &code.resource)
        && !is_within(asked, granted)
    {
        let message = "resource is not the one that the person granted access to";
        return Ok(OAuthError::new(OAuthErrorCode::InvalidTarget, message).into());
    }
    if !is_verified(&exchange.verifier, &code.challenge) {
        return Ok(refused("code_verifier does not match the code_challenge").into());
    }
    let grant: GrantId = app.ids.make();
    if tx.execute(USE, params![&hash[..], grant, now])? == 0 {
        // The code has expired, or another request used it a moment ago.
        let code = tx.first(BY_HASH, params![&hash[..]], read)?;
        return match code.filter(|it| it.grant.is_some()) {
            Some(code) => revoke_reused(tx, app, &code),
            None => Ok(refused("the code has expired").into()),
        };
    }
    let host = Redirect::parse(&code.redirect_uri).map_or(String::new(), |it| it.host().to_owned());
    let words = code.scopes.to_words();
    tx.execute(
        INSERT_GRANT,
        params![code.user, grant, code.client, &host, &words, &code.resource, now],
    )?;
    let key = GrantKey { user: code.user, grant };
    Ok(TokenResponse::Issued(token_pairs::issue(tx, app, key, code.scopes, None)?))
}

fn revoke_reused(tx: &mut Tx<'_>, app: &App, code: &StoredCode) -> Result<TokenResponse> {
    if let Some(grant) = code.grant {
        let why = "A code was used a second time, so somebody else may have it.";
        grants::revoke_for_reuse(tx, app, code.user, grant, why)?;
    }
    Ok(refused("the code was used before").into())
}

/// Whether the challenge is the hash of the verifier (RFC 7636).
fn is_verified(verifier: &str, challenge: &str) -> bool {
    let letter = |it: u8| it.is_ascii_alphanumeric() || b"-._~".contains(&it);
    let made = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    (43..=128).contains(&verifier.len())
        && verifier.bytes().all(letter)
        && tokens::constant_time_eq(made.as_bytes(), challenge.as_bytes())
}

struct StoredCode {
    user: UserId,
    client: ClientId,
    redirect_uri: String,
    challenge: String,
    scopes: Scopes,
    resource: Option<String>,
    grant: Option<GrantId>,
}

fn read(row: &db::Row<'_>) -> db::Result<StoredCode> {
    Ok(StoredCode {
        user: row.get(0)?,
        client: row.get(1)?,
        redirect_uri: row.get(2)?,
        challenge: row.get(3)?,
        scopes: read_scopes(row, 4)?,
        resource: row.get(5)?,
        grant: row.get(6)?,
    })
}

const INSERT: &str = "insert into oauth_codes
    (code_hash, user_id, client_id, redirect_uri, challenge, scopes, resource, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8)";
const SEEN: &str = "update oauth_clients set seen_at = $2,
    authorized_at = coalesce(authorized_at, $2) where id = $1";
const BY_HASH: &str =
    "select user_id, client_id, redirect_uri, challenge, scopes, resource, grant_id
    from oauth_codes where code_hash = $1";
const USE: &str = "update oauth_codes set grant_id = $2
    where code_hash = $1 and grant_id is null and expires_at > $3";
const INSERT_GRANT: &str = "insert into oauth_grants
    (user_id, id, client_id, host, scopes, resource, created_at)
    values ($1, $2, $3, $4, $5, $6, $7)";

pub(super) const STATEMENTS: &[&str] = &[INSERT, SEEN, BY_HASH, USE, INSERT_GRANT];
