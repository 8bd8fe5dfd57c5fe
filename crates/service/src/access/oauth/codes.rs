//! Codes: what a person's yes is carried in, for a minute and for one use.

use base::{ClientId, GrantId, UserId};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use db::params;
use sha2::{Digest as _, Sha256};

use super::clients::Client;
use super::grants;
use super::pairs::{self, Issued};
use super::redirects::Redirect;
use super::requests::Request;
use super::{Fault, Outcome, Refusal, SECOND, is_within, resource, stored_scopes};
use crate::access::{sessions, tokens};
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result, Scopes, Tx};

const PREFIX: &str = "eko_";
const LIFE_SECONDS: i64 = 60;

/// The person says yes, to all that was asked or to less. Returns the code that the app is to be answered with.
pub async fn allow(
    app: &App,
    caller: &Caller,
    request: &Request,
    scopes: Scopes,
) -> Result<String> {
    caller.require_owner("app")?;
    sessions::require_proof(app, caller).await?;
    if scopes.iter().next().is_none() || !is_within(scopes, request.scopes) {
        return Err(Error::invalid("scope", "choose at least one of what the app asks for"));
    }
    let (code, now) = (tokens::make(PREFIX, &app.entropy), app.clock.now());
    let (hash, caller, request) = (tokens::hash(&code), caller.clone(), request.clone());
    let write = move |tx: &mut Tx<'_>| {
        let Request { client, redirect, challenge, resource, .. } = request;
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

/// What an app sends to turn a code into tokens.
#[derive(Debug, Clone, Default)]
pub struct Redemption {
    pub code: String,
    pub verifier: String,
    /// May be left out, as OAuth 2.1 does; where it is there, it must be the one of the request.
    pub redirect_uri: Option<String>,
    pub resource: Option<String>,
}

/// Turns a code into a grant and its first tokens, once. A second use means that two hold the code, so that what the
/// first made of it ends.
pub async fn redeem(
    app: &App,
    issuer: &str,
    client: &Client,
    redemption: Redemption,
) -> Outcome<Issued> {
    if let Some(asked) = &redemption.resource {
        resource(issuer, asked)?;
    }
    if !tokens::is_well_formed(PREFIX, &redemption.code) {
        return Err(refused("the code is malformed").into());
    }
    let (mine, client) = (app.clone(), client.clone());
    let redeemed = app.db.write(move |tx| redeem_in(tx, &mine, &client, &redemption)).await?;
    app.access_cache.forget_all();
    Ok(redeemed?)
}

fn refused(message: &str) -> Refusal {
    Refusal::new(Fault::InvalidGrant, message)
}

/// The inner result is the answer to the app; both are committed, because a refusal may have ended something.
fn redeem_in(
    tx: &mut Tx<'_>,
    app: &App,
    client: &Client,
    redemption: &Redemption,
) -> Result<Result<Issued, Refusal>> {
    let (hash, now) = (tokens::hash(&redemption.code), app.clock.now());
    let Some(code) = tx.first(BY_HASH, params![&hash[..]], read)? else {
        return Ok(Err(refused("the code is unknown")));
    };
    if code.grant.is_some() {
        return second_use(tx, app, &code);
    }
    if code.client != client.id {
        return Ok(Err(refused("the code was given to another client")));
    }
    if redemption.redirect_uri.as_ref().is_some_and(|it| *it != code.redirect_uri) {
        return Ok(Err(refused("redirect_uri is not the one that the code was sent to")));
    }
    if !is_verified(&redemption.verifier, &code.challenge) {
        return Ok(Err(refused("code_verifier does not fit the code_challenge")));
    }
    let grant: GrantId = app.ids.make();
    if tx.execute(USE, params![&hash[..], grant, now])? == 0 {
        // Either its minute is over, or somebody was faster by a moment.
        let code = tx.first(BY_HASH, params![&hash[..]], read)?;
        return match code.filter(|it| it.grant.is_some()) {
            Some(code) => second_use(tx, app, &code),
            None => Ok(Err(refused("the code has expired"))),
        };
    }
    let host = Redirect::parse(&code.redirect_uri).map_or(String::new(), |it| it.host().to_owned());
    let words = code.scopes.to_words();
    tx.execute(
        INSERT_GRANT,
        params![code.user, grant, code.client, &host, &words, &code.resource, now],
    )?;
    let holder = pairs::Holder { user: code.user, grant };
    Ok(Ok(pairs::issue(tx, app, holder, code.scopes, None)?))
}

fn second_use(tx: &mut Tx<'_>, app: &App, code: &Code) -> Result<Result<Issued, Refusal>> {
    if let Some(grant) = code.grant {
        let why = "A code was used a second time, so that somebody else may have it.";
        grants::end_for_reuse(tx, app, code.user, grant, why)?;
    }
    Ok(Err(refused("the code was used before")))
}

/// RFC 7636: the verifier is what the challenge is the hash of.
fn is_verified(verifier: &str, challenge: &str) -> bool {
    let letter = |it: u8| it.is_ascii_alphanumeric() || b"-._~".contains(&it);
    let made = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    (43..=128).contains(&verifier.len())
        && verifier.bytes().all(letter)
        && tokens::same(made.as_bytes(), challenge.as_bytes())
}

struct Code {
    user: UserId,
    client: ClientId,
    redirect_uri: String,
    challenge: String,
    scopes: Scopes,
    resource: Option<String>,
    grant: Option<GrantId>,
}

fn read(row: &db::Row<'_>) -> db::Result<Code> {
    Ok(Code {
        user: row.get(0)?,
        client: row.get(1)?,
        redirect_uri: row.get(2)?,
        challenge: row.get(3)?,
        scopes: stored_scopes(4, row.get(4)?)?,
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
