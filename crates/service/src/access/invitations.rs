//! Invitations: an admin invites one more person with a link that works once.

use base::{InvitationId, Timestamp, UserId};
use db::{Param, params};

use crate::access::users::{self, Role};
use crate::access::{sessions, tokens};
use crate::platform::audit::{self, Note};
use crate::platform::mail_queue::{self, MailKind};
use crate::{App, Caller, Error, Result, Tx};

const PREFIX: &str = "eki_";
const LIFE_DAYS: i64 = 7;
const DAY: i64 = 86_400_000_000;
/// The most unused invitations at a time.
const OPEN_MAX: i64 = 100;
/// How long a used or expired invitation is still listed.
const LISTED_DAYS: i64 = 30;

#[derive(Debug, Clone)]
pub struct Invitation {
    pub id: InvitationId,
    /// The only email that may use it, if it is for a certain person.
    pub email: Option<String>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub used_at: Option<Timestamp>,
}

/// Creates an invitation and returns the secret of its link, which is shown only once.
pub async fn create(
    app: &App,
    caller: &Caller,
    email: Option<&str>,
) -> Result<(Invitation, String)> {
    require_admin(app, caller).await?;
    sessions::require_proof(app, caller).await?;
    let email = email.filter(|it| !it.trim().is_empty()).map(users::normalize_email).transpose()?;
    if let Some(email) = &email
        && users::find_by_email(app, email).await?.is_some()
    {
        return Err(Error::invalid("email", format!("{email} already has an account here")));
    }
    if email.is_none() && !app.password_sign_in {
        let message = "enter their email: passwords are turned off here, so they sign in with it";
        return Err(Error::invalid("email", message));
    }
    let now = app.clock.now();
    let ends_at = Timestamp::from_microsecond(now.as_microsecond() + LIFE_DAYS * DAY);
    let ends_at = ends_at.map_err(|error| Error::internal(error.to_string()))?;
    let id: InvitationId = app.ids.make();
    let token = token(app, id);
    let made = Invitation { id, email, created_at: now, expires_at: ends_at, used_at: None };
    let (row, caller, hash, mine) =
        (made.clone(), caller.clone(), tokens::hash(&token), app.clone());
    app.db
        .write(move |tx| {
            let open = tx.first(OPEN, params![caller.user, now], |row| row.get::<i64>(0))?;
            if open.unwrap_or(0) >= OPEN_MAX {
                let message = "you have too many unused invitations; withdraw one first";
                return Err(Error::invalid("email", message));
            }
            tx.execute(
                INSERT,
                params![caller.user, row.id, &hash[..], &row.email, now, row.expires_at],
            )?;
            if let Some(email) = &row.email {
                let about = Some(*row.id.as_bytes());
                mail_queue::queue(tx, &mine, (caller.user, MailKind::Invitation), email, about)?;
            }
            let details = match &row.email {
                Some(email) => format!("Invited {email}"),
                None => "Created an invitation for anyone with the link".to_owned(),
            };
            let note = Note::new(&caller, "invitation.create", details).about(row.id);
            audit::note(tx, caller.user, now, note)
        })
        .await?;
    Ok((made, token))
}

/// Lists the caller's invitations, newest first.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Invitation>> {
    require_admin(app, caller).await?;
    let since = app.clock.now().as_microsecond() - LISTED_DAYS * DAY;
    Ok(app.db.all(LIST, params![caller.user, since], read).await?)
}

/// Deletes an unused invitation.
pub async fn withdraw(app: &App, caller: &Caller, id: InvitationId) -> Result<()> {
    require_admin(app, caller).await?;
    let (caller, now) = (caller.clone(), app.clock.now());
    app.db
        .write(move |tx| {
            if tx.execute(WITHDRAW, params![caller.user, id])? == 0 {
                return Err(Error::NotFound("invitation"));
            }
            let note =
                Note::new(&caller, "invitation.withdraw", "Withdrew an invitation").about(id);
            audit::note(tx, caller.user, now, note)
        })
        .await
}

/// Finds the unused invitation of a link.
pub async fn find(app: &App, token: &str) -> Result<Option<Invitation>> {
    if !tokens::is_well_formed(PREFIX, token) {
        return Ok(None);
    }
    let (hash, now) = (tokens::hash(token), app.clock.now());
    Ok(app.db.first(BY_TOKEN, params![&hash[..], now], read).await?)
}

/// The secret of an unused invitation's link, for the message that brings it.
pub(crate) async fn find_token(app: &App, user: UserId, id: [u8; 16]) -> Result<Option<String>> {
    let now = app.clock.now();
    let unused = [user.into(), Param::Id(Some(id)), now.into()];
    let found = app.db.first(UNUSED, &unused, |row| row.get::<InvitationId>(0)).await?;
    let Some(id) = found else { return Ok(None) };
    let token = token(app, id);
    // An older one, or one from before the installation key was replaced, has another secret.
    Ok(find(app, &token).await?.map(|_| token))
}

/// The secret of an invitation. It is derived, so that it need not be stored.
fn token(app: &App, id: InvitationId) -> String {
    tokens::derive(PREFIX, &app.installation_key.derive("invitation links"), id.as_bytes())
}

/// Marks an invitation as used by a new person, and records it in the inviter's audit trail.
pub(crate) fn accept(tx: &mut Tx<'_>, app: &App, token: &str, email: &str) -> Result<()> {
    let gone = Error::NotFound("invitation");
    if !tokens::is_well_formed(PREFIX, token) {
        return Err(gone);
    }
    let (hash, now) = (tokens::hash(token), app.clock.now());
    let read = |row: &db::Row<'_>| {
        Ok((row.get::<UserId>(0)?, row.get::<InvitationId>(1)?, row.get::<Option<String>>(2)?))
    };
    let Some((inviter, id, named)) = tx.first(ACCEPT, params![&hash[..], now], read)? else {
        return Err(gone);
    };
    if named.is_some_and(|it| it != email) {
        let message = "this invitation is for another email address; use that one";
        return Err(Error::invalid("email", message));
    }
    note_accepted(tx, inviter, id, email, now)
}

/// Marks the invitations of a verified email as used, and records it in each inviter's audit trail. Returns whether there
/// was one.
pub(crate) fn accept_verified(tx: &mut Tx<'_>, email: &str, now: Timestamp) -> Result<bool> {
    let read = |row: &db::Row<'_>| Ok((row.get::<UserId>(0)?, row.get::<InvitationId>(1)?));
    let accepted = tx.all(ACCEPT_EMAIL, params![email, now], read)?;
    for (inviter, id) in &accepted {
        note_accepted(tx, *inviter, *id, email, now)?;
    }
    Ok(!accepted.is_empty())
}

fn note_accepted(
    tx: &mut Tx<'_>,
    inviter: UserId,
    id: InvitationId,
    email: &str,
    now: Timestamp,
) -> Result<()> {
    let details = format!("{email} accepted an invitation");
    let actor = audit::Actor::visitor(None);
    audit::note(tx, inviter, now, Note::new(actor, "invitation.accept", details).about(id))
}

/// Requires that the caller is an admin. To anyone else invitations do not exist.
async fn require_admin(app: &App, caller: &Caller) -> Result<()> {
    caller.require_owner("invitation")?;
    match users::get_by_id(app, caller.user).await?.role {
        Role::Admin => Ok(()),
        Role::Member => Err(Error::NotFound("invitation")),
    }
}

/// Background step: deletes invitations that expired long ago.
pub async fn forget_once(app: &App) -> Result<usize> {
    let before = app.clock.now().as_microsecond() - LISTED_DAYS * DAY;
    let forget = move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(FORGET, params![before])?);
    Ok(app.db.write(forget).await? as usize)
}

fn read(row: &db::Row<'_>) -> db::Result<Invitation> {
    Ok(Invitation {
        id: row.get(0)?,
        email: row.get(1)?,
        created_at: row.get(2)?,
        expires_at: row.get(3)?,
        used_at: row.get(4)?,
    })
}

const INSERT: &str = "insert into invitations
    (user_id, id, token_hash, email, created_at, expires_at) values ($1, $2, $3, $4, $5, $6)";
const OPEN: &str = "select count(*) from invitations
    where user_id = $1 and used_at is null and expires_at > $2";
const LIST: &str = "select id, email, created_at, expires_at, used_at from invitations
    where user_id = $1 and expires_at > $2 order by id desc limit 200";
const WITHDRAW: &str = "delete from invitations where user_id = $1 and id = $2 and used_at is null";
const BY_TOKEN: &str = "select id, email, created_at, expires_at, used_at from invitations
    where token_hash = $1 and used_at is null and expires_at > $2";
const ACCEPT: &str = "update invitations set used_at = $2
    where token_hash = $1 and used_at is null and expires_at > $2 returning user_id, id, email";
const ACCEPT_EMAIL: &str = "update invitations set used_at = $2
    where email = $1 and used_at is null and expires_at > $2 returning user_id, id";
const UNUSED: &str = "select id from invitations
    where user_id = $1 and id = $2 and used_at is null and expires_at > $3";
const FORGET: &str = "delete from invitations where expires_at <= $1";

pub(crate) const STATEMENTS: &[&str] =
    &[INSERT, OPEN, LIST, WITHDRAW, BY_TOKEN, ACCEPT, ACCEPT_EMAIL, UNUSED, FORGET];
