//! Known devices: browsers in which a person signed in before. Wrong passwords from such a browser are counted apart, so
//! that somebody who guesses from elsewhere cannot lock the person out.
//!
//! The browser keeps a random token in a cookie, and the database its hash. Every sign-in replaces the token, so that a
//! token that was planted or copied before becomes useless. The token does not replace the password.

use std::fmt;

use base::{SessionId, UserId};
use db::params;

use crate::access::tokens;
use crate::{App, Error, Result, Tx};

const PREFIX: &str = "ekd_";
/// A browser without a sign-in for this long is forgotten.
const LIFE_DAYS: i64 = 180;
pub const LIFE_SECONDS: i64 = LIFE_DAYS * 86_400;
/// The most browsers remembered for one person; the newest are kept.
const DEVICES_MAX: i64 = 20;
const DAY: i64 = 86_400_000_000;

/// A browser in which this person signed in before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownDevice {
    hash: [u8; 32],
    user: UserId,
}

impl fmt::Display for KnownDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {}", self.hash, self.user)
    }
}

/// Remembers the browser in which a session was created, and returns its new token. `before` is the token it had until
/// now. Other people who signed in with the same browser stay known by the new token.
pub(crate) async fn remember(
    app: &App,
    (user, session): (UserId, SessionId),
    before: Option<&str>,
) -> Result<String> {
    let (token, now) = (tokens::make(PREFIX, &app.entropy), app.clock.now());
    let before = before.filter(|it| tokens::is_well_formed(PREFIX, it)).map(tokens::hash);
    let hash = tokens::hash(&token);
    let write = move |tx: &mut Tx<'_>| {
        if let Some(before) = before {
            tx.execute(DELETE, params![user, &before[..]])?;
            tx.execute(MOVE, params![&before[..], &hash[..]])?;
        }
        tx.execute(INSERT, params![user, &hash[..], session, now])?;
        tx.execute(TRIM, params![user, DEVICES_MAX])?;
        Ok::<_, Error>(())
    };
    app.db.write(write).await?;
    Ok(token)
}

/// Finds the device of a token, if the person with that email signed in with it before.
pub(crate) async fn find(
    app: &App,
    token: Option<&str>,
    email: &str,
) -> Result<Option<KnownDevice>> {
    let Some(token) = token.filter(|it| tokens::is_well_formed(PREFIX, it)) else {
        return Ok(None);
    };
    let (hash, since) = (tokens::hash(token), app.clock.now().as_microsecond() - LIFE_DAYS * DAY);
    let known = |row: &db::Row<'_>| Ok(KnownDevice { hash, user: row.get(0)? });
    Ok(app.db.first(FIND_BY_EMAIL, params![&hash[..], email, since], known).await?)
}

/// Returns the token's hash, if any person signed in with it before.
pub(crate) async fn find_for_anyone(app: &App, token: Option<&str>) -> Result<Option<[u8; 32]>> {
    let Some(token) = token.filter(|it| tokens::is_well_formed(PREFIX, it)) else {
        return Ok(None);
    };
    let (hash, since) = (tokens::hash(token), app.clock.now().as_microsecond() - LIFE_DAYS * DAY);
    let known = |row: &db::Row<'_>| row.get::<UserId>(0);
    Ok(app.db.first(FIND_BY_TOKEN, params![&hash[..], since], known).await?.map(|_| hash))
}

/// Forgets the browser in which a session was created.
pub(crate) fn forget(tx: &mut Tx<'_>, user: UserId, session: SessionId) -> Result<()> {
    tx.execute(FORGET_ONE, params![user, session])?;
    Ok(())
}

/// Forgets all browsers of a person except the one in which this session was created.
pub(crate) fn forget_others(tx: &mut Tx<'_>, user: UserId, kept: SessionId) -> Result<()> {
    tx.execute(FORGET_OTHERS, params![user, kept])?;
    Ok(())
}

/// Background step: deletes browsers that were not used for a long time.
pub async fn forget_once(app: &App) -> Result<usize> {
    let before = app.clock.now().as_microsecond() - LIFE_DAYS * DAY;
    let forget = move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(FORGET, params![before])?);
    Ok(app.db.write(forget).await? as usize)
}

const INSERT: &str = "insert into known_devices (user_id, token_hash, session_id, seen_at)
    values ($1, $2, $3, $4)";
const DELETE: &str = "delete from known_devices where user_id = $1 and token_hash = $2";
const MOVE: &str = "update known_devices set token_hash = $2 where token_hash = $1";
const TRIM: &str = "delete from known_devices where user_id = $1 and token_hash not in
    (select token_hash from known_devices where user_id = $1
        order by seen_at desc, token_hash limit $2)";
const FIND_BY_EMAIL: &str = "select d.user_id from known_devices d join users u on u.id = d.user_id
    where d.token_hash = $1 and u.email = $2 and d.seen_at > $3";
const FIND_BY_TOKEN: &str =
    "select user_id from known_devices where token_hash = $1 and seen_at > $2 limit 1";
const FORGET_ONE: &str = "delete from known_devices where user_id = $1 and session_id = $2";
const FORGET_OTHERS: &str = "delete from known_devices where user_id = $1 and session_id <> $2";
const FORGET: &str = "delete from known_devices where seen_at <= $1";

pub(crate) const STATEMENTS: &[&str] =
    &[INSERT, DELETE, MOVE, TRIM, FIND_BY_EMAIL, FIND_BY_TOKEN, FORGET_ONE, FORGET_OTHERS, FORGET];
