//! Clients: registered apps. Registration alone gives an app no access; a person must grant it.

use base::{AddressGroup, ClientId, Timestamp};
use db::params;
use sha2::{Digest as _, Sha256};

use super::SECOND;
use super::errors::{OAuthError, OAuthErrorCode, OAuthFailure, OAuthResult};
use super::redirects::Redirect;
use crate::access::tokens;
use crate::{App, Error, Result, Tx};

const SECRET_PREFIX: &str = "ekc_";
const REDIRECTS_MAX: usize = 10;
const NAME_MAX: usize = 80;
/// The most registered clients that no person has authorized: of one address group, and of all groups together.
const UNAUTHORIZED_GROUP_MAX: i64 = 50;
const UNAUTHORIZED_MAX: i64 = 1_000;
/// How long a new client is safe from deletion in favor of newer ones, so that a person has time to authorize it.
const PROTECTED_SECONDS: i64 = 600;

base::words!(
    /// How a client authenticates.
    AuthMethod {
        /// A public client, which cannot keep a secret. The code challenge and the redirect address protect it.
        None => "none",
        Basic => "client_secret_basic",
        Post => "client_secret_post",
    }
);
db::word_columns!(AuthMethod);

#[derive(Debug, Clone)]
pub struct Client {
    pub id: ClientId,
    pub name: String,
    pub redirects: Vec<Redirect>,
    pub auth_method: AuthMethod,
    pub registered_at: Timestamp,
}

#[derive(Debug, Clone, Default)]
pub struct NewClient {
    pub name: Option<String>,
    pub redirect_uris: Vec<String>,
    pub auth_method: Option<AuthMethod>,
    pub registered_from: AddressGroup,
}

/// The id and the secret that a client sends.
#[derive(Debug, Clone, Default)]
pub struct ClientCredentials {
    pub id: Option<String>,
    pub secret: Option<String>,
}

/// Whether a client id is the address of a document.
pub fn is_document(client_id: &str) -> bool {
    client_id.starts_with("https://")
}

/// Registers a client, and returns its secret if it has one. A public client with the same name and redirects as an
/// earlier one is the same client, so that a program that registers at every start leaves one row.
pub async fn register(app: &App, new: NewClient) -> OAuthResult<(Client, Option<String>)> {
    let redirects = parse_redirects(&new.redirect_uris)?;
    let name = clean_name(new.name.as_deref().unwrap_or_default());
    let name = if name.is_empty() { redirects[0].host().to_owned() } else { name };
    // The default of RFC 7591.
    let auth_method = new.auth_method.unwrap_or(AuthMethod::Basic);
    let (id, now) = (app.ids.make(), app.clock.now());
    let client = Client { id, name, redirects, auth_method, registered_at: now };
    let secret = match auth_method {
        AuthMethod::None => None,
        AuthMethod::Basic | AuthMethod::Post => Some(tokens::make(SECRET_PREFIX, &app.entropy)),
    };
    let secret_hash = secret.as_deref().map(tokens::hash);
    let (fingerprint, from) = (fingerprint(&client), new.registered_from.to_string());
    let stored = app
        .db
        .write(move |tx| {
            // Registrations wait for each other, so that two cannot both take the last free slot.
            tx.execute(LOCK, &[])?;
            if let Some(known) = tx.first(BY_FINGERPRINT, params![&fingerprint[..]], read)? {
                tx.execute(SEEN, params![known.id, now])?;
                return Ok::<_, Error>(known);
            }
            make_room(tx, &from, now)?;
            tx.execute(
                INSERT,
                params![
                    client.id,
                    secret_hash.as_ref().map(|it| &it[..]),
                    &client.name,
                    &joined(&client.redirects),
                    auth_method.as_str(),
                    &fingerprint[..],
                    now,
                    &from
                ],
            )?;
            Ok(client)
        })
        .await?;
    Ok((stored, secret))
}

/// Deletes the oldest unauthorized clients if there are too many. If none of them is old enough to be deleted, the new
/// client is refused.
fn make_room(tx: &mut Tx<'_>, from: &str, now: Timestamp) -> Result<()> {
    for (group, most) in [(Some(from), UNAUTHORIZED_GROUP_MAX), (None, UNAUTHORIZED_MAX)] {
        let read = |row: &db::Row<'_>| Ok((row.get::<i64>(0)?, row.get::<Option<Timestamp>>(1)?));
        let (count, oldest) = tx.first(UNAUTHORIZED, params![group], read)?.unwrap_or_default();
        let excess = count + 1 - most;
        if excess <= 0 {
            continue;
        }
        let before = now.as_microsecond() - PROTECTED_SECONDS * SECOND;
        if tx.execute(DELETE_OLDEST, params![group, before, excess])? as i64 >= excess {
            continue;
        }
        let age = now.as_second() - oldest.unwrap_or(now).as_second();
        let retry_after_seconds = (PROTECTED_SECONDS - age).clamp(1, PROTECTED_SECONDS);
        return Err(Error::Limited { retry_after_seconds, what: "registrations" });
    }
    Ok(())
}

/// Finds a client by its id. A malformed id is treated like an unknown one.
pub async fn find(app: &App, id: &str) -> Result<Option<Client>> {
    let Ok(id) = ClientId::parse(id) else { return Ok(None) };
    Ok(app.db.first(BY_ID, params![id], read).await?)
}

/// Finds a client by the address of its metadata document, as it was when the document was last fetched.
pub(super) async fn find_by_document(app: &App, url: &str) -> Result<Option<Client>> {
    Ok(app.db.first(BY_FINGERPRINT, params![&document_fingerprint(url)[..]], read).await?)
}

/// Saves the client that a metadata document describes. It has no secret.
pub(super) async fn save_document(
    app: &App,
    url: &str,
    name: &str,
    redirects: Vec<Redirect>,
) -> Result<Client> {
    let (id, now, fingerprint) = (app.ids.make(), app.clock.now(), document_fingerprint(url));
    let name = clean_name(name);
    let name = if name.is_empty() { redirects[0].host().to_owned() } else { name };
    let client = Client { id, name, redirects, auth_method: AuthMethod::None, registered_at: now };
    // Documents of one host share a limit, as registrations of one address do.
    let from = Redirect::parse(url).map_or(String::new(), |it| it.host().to_owned());
    let write = move |tx: &mut Tx<'_>| {
        tx.execute(LOCK, &[])?;
        let uris = joined(&client.redirects);
        if let Some(known) = tx.first(BY_FINGERPRINT, params![&fingerprint[..]], read)? {
            tx.execute(DESCRIBED, params![known.id, &client.name, &uris, now])?;
            return Ok::<_, Error>(Client { id: known.id, ..client });
        }
        make_room(tx, &from, now)?;
        let no_secret: Option<&[u8]> = None;
        let method = client.auth_method.as_str();
        tx.execute(
            INSERT,
            params![
                client.id,
                no_secret,
                &client.name,
                &uris,
                method,
                &fingerprint[..],
                now,
                &from
            ],
        )?;
        Ok(client)
    };
    app.db.write(write).await
}

/// Identifies the client of a document, whatever the document says.
fn document_fingerprint(url: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"client id metadata document\n");
    hash.update(url.as_bytes());
    hash.finalize().into()
}

/// Authenticates a client. The error does not tell whether the id or the secret was wrong.
pub async fn authenticate(app: &App, credentials: &ClientCredentials) -> OAuthResult<Client> {
    let refused =
        |message: &str| OAuthFailure::from(OAuthError::new(OAuthErrorCode::InvalidClient, message));
    let Some(id) = credentials.id.as_deref() else {
        return Err(refused("client_id is missing"));
    };
    let unknown = || refused("the client is unknown, or its secret is wrong");
    if is_document(id) {
        // Such a client has no secret.
        let found = find_by_document(app, id).await?.filter(|_| credentials.secret.is_none());
        return found.ok_or_else(unknown);
    }
    let id = ClientId::parse(id).map_err(|_| unknown())?;
    let with_secret = |row: &db::Row<'_>| Ok((read(row)?, row.get::<Option<Vec<u8>>>(5)?));
    let found = app.db.first(BY_ID, params![id], with_secret).await?;
    let (client, hash) = found.ok_or_else(unknown)?;
    match (hash, credentials.secret.as_deref()) {
        (None, None) => Ok(client),
        (Some(hash), Some(secret)) if tokens::constant_time_eq(&hash, &tokens::hash(secret)) => {
            Ok(client)
        }
        _ => Err(unknown()),
    }
}

pub(super) fn parse_redirects(texts: &[String]) -> Result<Vec<Redirect>, OAuthError> {
    let refused = |message: String| OAuthError::new(OAuthErrorCode::InvalidRedirectUri, message);
    if texts.is_empty() || texts.len() > REDIRECTS_MAX {
        return Err(refused(format!("redirect_uris must have 1 to {REDIRECTS_MAX} addresses")));
    }
    let parse = |text: &String| {
        Redirect::parse(text).map_err(|why| refused(format!("each of redirect_uris {why}")))
    };
    texts.iter().map(parse).collect()
}

/// The name on one line, without invisible characters or those that change the direction of text: the person reads the
/// name when they decide.
fn clean_name(name: &str) -> String {
    let hidden = |it: &char| {
        let unseen = matches!(*it as u32, 0xAD | 0x34F | 0x61C | 0x115F | 0x1160 | 0x17B4 | 0x17B5
            | 0x180B..=0x180F | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164
            | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0xE0000..=0xE0FFF);
        unseen || (it.is_control() && !it.is_whitespace())
    };
    let seen: String = name.chars().filter(|it| !hidden(it)).collect();
    let words: Vec<&str> = seen.split_whitespace().collect();
    let cut: String = words.join(" ").chars().take(NAME_MAX).collect();
    cut.trim_end().to_owned()
}

fn fingerprint(client: &Client) -> [u8; 32] {
    let mut hash = Sha256::new();
    if client.auth_method != AuthMethod::None {
        // A client with a secret is always a new one.
        hash.update(client.id.as_bytes());
    }
    hash.update(client.name.as_bytes());
    for redirect in &client.redirects {
        hash.update(b"\n");
        hash.update(redirect.as_str().as_bytes());
    }
    hash.finalize().into()
}

fn joined(redirects: &[Redirect]) -> String {
    redirects.iter().map(Redirect::as_str).collect::<Vec<_>>().join("\n")
}

fn read(row: &db::Row<'_>) -> db::Result<Client> {
    let invalid = |reason: &str| db::Error::Decode { column: 2, reason: reason.to_owned() };
    let uris: &str = row.get(2)?;
    let redirects: Result<_, _> = uris.split('\n').map(Redirect::parse).collect();
    Ok(Client {
        id: row.get(0)?,
        name: row.get(1)?,
        redirects: redirects.map_err(invalid)?,
        auth_method: row.get(3)?,
        registered_at: row.get(4)?,
    })
}

const INSERT: &str = "insert into oauth_clients
    (id, secret_hash, name, redirect_uris, auth_method, fingerprint, registered_at, seen_at,
    registered_from) values ($1, $2, $3, $4, $5, $6, $7, $7, $8)";
const SEEN: &str = "update oauth_clients set seen_at = $2 where id = $1";
const DESCRIBED: &str = "update oauth_clients
    set name = $2, redirect_uris = $3, registered_at = $4, seen_at = $4 where id = $1";
const LOCK: &str = "insert into installation (name, value) values ('registrations', 'locked')
    on conflict (name) do update set value = excluded.value";
const UNAUTHORIZED: &str = "select count(*), min(seen_at) from oauth_clients
    where authorized_at is null and registered_from = coalesce($1, registered_from)";
// The outer condition repeats the inner one, because a person may authorize the client at this moment.
const DELETE_OLDEST: &str = "delete from oauth_clients where authorized_at is null and id in
    (select id from oauth_clients where authorized_at is null
        and registered_from = coalesce($1, registered_from) and seen_at <= $2
        order by seen_at, id limit $3)";
const BY_FINGERPRINT: &str = "select id, name, redirect_uris, auth_method, registered_at
    from oauth_clients where fingerprint = $1";
const BY_ID: &str = "select id, name, redirect_uris, auth_method, registered_at, secret_hash
    from oauth_clients where id = $1";

pub(super) const STATEMENTS: &[&str] =
    &[INSERT, SEEN, DESCRIBED, LOCK, UNAUTHORIZED, DELETE_OLDEST, BY_FINGERPRINT, BY_ID];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_invisible_characters() {
        for (name, expected) in [
            (" My  app\n", "My app"),
            ("pay\u{202e}lap", "paylap"),
            ("a\0b\u{7}c", "abc"),
            ("\u{200b}\u{feff}", ""),
            ("Café 家計", "Café 家計"),
        ] {
            assert_eq!(clean_name(name), expected);
        }
        assert_eq!(clean_name(&"é".repeat(200)), "é".repeat(80));
        assert_eq!(clean_name(&format!("{} b", "a".repeat(79))), "a".repeat(79));
    }
}
