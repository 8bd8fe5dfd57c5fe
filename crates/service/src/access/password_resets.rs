//! Password resets by email: a link that works once and for half an hour, sent to the address of the account. Its secret
//! is derived from a random id and the installation key, so that it can be made when the message is sent, and only its
//! hash is stored.

use base::{TimeZone, UserId};
use db::{Param, params};

use crate::access::sessions::{self, Visit};
use crate::access::users;
use crate::access::{passwords, sign_ins, tokens};
use crate::platform::audit::{self, Actor, Note};
use crate::platform::mail_queue::{self, MailKind};
use crate::{App, Caller, Error, Result, Tx};

const PREFIX: &str = "ekr_";
pub const LIFE_MINUTES: i64 = 30;
const MINUTE_MICROSECONDS: i64 = 60_000_000;

/// An installation offers password resets by email if it has a mail server and allows passwords.
pub fn is_offered(app: &App) -> bool {
    app.mail.is_some() && app.password_sign_in
}

/// Sends a link to the address if it has an account with a password. The answer is the same if it has not, so that nobody
/// can find out; the page hides that it takes less time. Requests are counted by network address and by email address;
/// those beyond the limit of an email address are ignored, because enough messages are on their way.
pub async fn request(app: &App, email: &str, from: Visit) -> Result<()> {
    require_offered(app)?;
    let email = users::normalize_email(email)?;
    if !sign_ins::count_password_reset(app, &email, &from).await? {
        return Ok(());
    }
    let (mine, id) = (app.clone(), app.entropy.bytes());
    let hash = tokens::hash(&token(app, id));
    let request = move |tx: &mut Tx<'_>| {
        let Some(user) = tx.first(FIND, params![&email], |row| row.get::<UserId>(0))? else {
            return Ok(());
        };
        let now = mine.clock.now();
        let expires_at = now.as_microsecond() + LIFE_MINUTES * MINUTE_MICROSECONDS;
        let row = [
            user.into(),
            Param::Id(Some(id)),
            Param::from(&hash[..]),
            now.into(),
            expires_at.into(),
        ];
        tx.execute(REPLACE, &row)?;
        mail_queue::queue(tx, &mine, (user, MailKind::PasswordReset), &email, Some(id))?;
        let actor = Actor::visitor(from.address.as_deref());
        let details = "Asked for a link to reset the password";
        audit::note(tx, user, now, Note::new(actor, "password_reset.request", details))
    };
    app.db.write(request).await
}

/// Whether a link still works.
pub async fn is_valid(app: &App, token: &str) -> Result<bool> {
    if !is_offered(app) || !tokens::is_well_formed(PREFIX, token) {
        return Ok(false);
    }
    let (hash, now) = (tokens::hash(token), app.clock.now());
    let found = app.db.first(BY_TOKEN, params![&hash[..], now], |row| row.get::<UserId>(0)).await?;
    Ok(found.is_some())
}

/// Sets a new password with a link, ends all sessions and tells the person. Failed sign-ins no longer count, because the
/// person has shown that the mailbox is theirs. A second step stays on.
pub async fn finish(app: &App, token: &str, password: &str, from: Visit) -> Result<()> {
    require_offered(app)?;
    let attempt = sign_ins::count_visit(app, &from).await?;
    if !is_valid(app, token).await? {
        return Err(Error::NotFound("reset link"));
    }
    let hash = passwords::hash(app, password).await?;
    let (mine, token_hash) = (app.clone(), tokens::hash(token));
    let finish = move |tx: &mut Tx<'_>| {
        let now = mine.clock.now();
        let used = tx.first(USE, params![&token_hash[..], now], |row| row.get::<UserId>(0))?;
        let user = used.ok_or(Error::NotFound("reset link"))?;
        attempt.succeed(tx)?;
        tx.execute(users::SET_PASSWORD, params![user, &hash, now])?;
        sessions::delete_others(tx, &Caller::owner(user, TimeZone::utc()))?;
        if let Some(email) = tx.first(EMAIL, params![user], |row| row.get::<String>(0))? {
            sign_ins::clear_failures(tx, &email)?;
        }
        mail_queue::notify(tx, &mine, user, MailKind::PasswordChanged)?;
        let actor = Actor::visitor(from.address.as_deref());
        let details = "Reset the password by email and ended all sessions";
        audit::note(tx, user, now, Note::new(actor, "password.reset", details))
    };
    app.db.write(finish).await
}

/// The secret of a link that was asked for; none if it was used, replaced or has expired.
pub(crate) async fn find_token(app: &App, id: [u8; 16]) -> Result<Option<String>> {
    let token = token(app, id);
    Ok(is_valid(app, &token).await?.then_some(token))
}

/// Background step: deletes links that have expired.
pub async fn forget_once(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let forget = move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(FORGET, params![now])?);
    Ok(app.db.write(forget).await? as usize)
}

fn token(app: &App, id: [u8; 16]) -> String {
    tokens::derive(PREFIX, &app.installation_key.derive("password reset links"), &id)
}

fn require_offered(app: &App) -> Result<()> {
    if is_offered(app) { Ok(()) } else { Err(Error::NotFound("page")) }
}

const FIND: &str = "select id from users where email = $1 and password_hash is not null";
const EMAIL: &str = "select email from users where id = $1";
const REPLACE: &str =
    "insert into password_resets (user_id, id, token_hash, created_at, expires_at)
    values ($1, $2, $3, $4, $5) on conflict (user_id) do update set id = excluded.id,
    token_hash = excluded.token_hash, created_at = excluded.created_at,
    expires_at = excluded.expires_at";
const BY_TOKEN: &str =
    "select user_id from password_resets where token_hash = $1 and expires_at > $2";
const USE: &str =
    "delete from password_resets where token_hash = $1 and expires_at > $2 returning user_id";
const FORGET: &str = "delete from password_resets where expires_at <= $1";

pub(crate) const STATEMENTS: &[&str] = &[FIND, EMAIL, REPLACE, BY_TOKEN, USE, FORGET];
