//! Changes to one's own account: profile, password, email, second step, and deletion.

use base::{Currency, TimeZone, UserId};
use db::params;

use crate::access::users::{self, User};
use crate::access::{passkeys, passwords, sessions, sign_ins};
use crate::platform::audit::{self, Note};
use crate::platform::dirty_queue;
use crate::platform::mail_queue::{self, MailKind};
use crate::{App, Caller, Error, Result};
use wire::v1::Code;

const NAME_MAX: usize = 80;

#[derive(Debug, Clone)]
pub struct Profile {
    pub preferred_name: Option<String>,
    pub base_currency: Currency,
    pub timezone: TimeZone,
}

/// Updates name, base currency and time zone. A new currency or time zone queues all figures for recomputation. Keys and
/// apps use the new time zone at once in this process, and within a second in every other.
pub async fn update(app: &App, caller: &Caller, profile: Profile) -> Result<()> {
    caller.require_owner("user")?;
    let name = profile.preferred_name.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    let too_long = |it: &String| it.chars().count() > NAME_MAX || it.contains(char::is_control);
    if name.as_ref().is_some_and(too_long) {
        let message = format!("your name must have at most {NAME_MAX} characters on one line");
        return Err(Error::invalid("preferred_name", message));
    }
    let before = users::get_by_id(app, caller.user).await?;
    let Profile { base_currency: currency, timezone, .. } = profile;
    let (caller, now) = (caller.clone(), app.clock.now());
    let updated = app
        .db
        .write(move |tx| {
            users::lock(tx, caller.user)?;
            tx.execute(UPDATE, params![caller.user, &name, currency.code(), now, timezone])?;
            if before.base_currency != currency || before.timezone != timezone {
                dirty_queue::mark_all_dirty(tx, caller.user)?;
            }
            let note = Note::new(&caller, "profile.update", "Changed the profile");
            audit::note(tx, caller.user, now, note)
        })
        .await;
    app.key_cache.clear();
    app.access_cache.clear();
    updated
}

/// Replaces the password and ends all other sessions, in case somebody else knew the old one.
pub async fn change_password(app: &App, caller: &Caller, current: &str, new: &str) -> Result<()> {
    confirm_identity(app, caller, current).await?;
    let hash = passwords::hash(app, new).await?;
    let (caller, now, mine) = (caller.clone(), app.clock.now(), app.clone());
    app.db
        .write(move |tx| {
            users::lock(tx, caller.user)?;
            tx.execute(users::SET_PASSWORD, params![caller.user, &hash, now])?;
            sessions::delete_others(tx, &caller)?;
            mail_queue::notify(tx, &mine, caller.user, MailKind::PasswordChanged)?;
            let details = "Changed the password and ended all other sessions";
            audit::note(tx, caller.user, now, Note::new(&caller, "password.change", details))
        })
        .await
}

/// Replaces the password at the operator's request, and ends all sessions. Earlier failed sign-ins no longer count, so
/// that the operator can help somebody who is locked out.
pub async fn reset_password(app: &App, user: UserId, password: &str) -> Result<()> {
    let hash = passwords::hash(app, password).await?;
    // Nothing of this depends on the person's date.
    let (now, operator) = (app.clock.now(), Caller::owner(user, TimeZone::utc()));
    let mine = app.clone();
    app.db
        .write(move |tx| {
            users::lock(tx, user)?;
            if tx.execute(users::SET_PASSWORD, params![user, &hash, now])? == 0 {
                return Err(Error::NotFound("user"));
            }
            sessions::delete_others(tx, &operator)?;
            if let Some(email) = tx.first(GET_EMAIL, params![user], |row| row.get::<String>(0))? {
                sign_ins::clear_failures(tx, &email)?;
            }
            mail_queue::notify(tx, &mine, user, MailKind::PasswordChanged)?;
            let details = "Replaced the password and ended all sessions";
            audit::note(tx, user, now, Note::new(&operator, "password.reset", details))
        })
        .await
}

pub async fn change_email(app: &App, caller: &Caller, password: &str, email: &str) -> Result<()> {
    let email = users::normalize_email(email)?;
    let user = confirm_identity(app, caller, password).await?;
    if user.email == email {
        return Ok(());
    }
    sign_ins::count_email_change(app, user.id).await?;
    let (caller, now, mine) = (caller.clone(), app.clock.now(), app.clone());
    app.db
        .write(move |tx| {
            users::lock(tx, caller.user)?;
            // To the old address, whose owner must learn of it.
            mail_queue::notify(tx, &mine, caller.user, MailKind::EmailChanged)?;
            match tx.execute(SET_EMAIL, params![caller.user, &email, now]) {
                Ok(_) => {}
                Err(db::Error::Unique) => {
                    let message = format!("{email} already has an account here");
                    return Err(Error::invalid("email", message));
                }
                Err(error) => return Err(error.into()),
            }
            let details = format!("Changed the email from {} to {email}", user.email);
            audit::note(tx, caller.user, now, Note::new(&caller, "email.change", details))
        })
        .await
}

/// Sets whether signing in takes a passkey in addition to the password.
pub async fn set_second_step(app: &App, caller: &Caller, on: bool) -> Result<()> {
    caller.require_owner("user")?;
    sessions::require_proof(app, caller).await?;
    let (caller, now, mine) = (caller.clone(), app.clock.now(), app.clone());
    app.db
        .write(move |tx| {
            users::lock(tx, caller.user)?;
            if on && passkeys::count(tx, caller.user)? == 0 {
                let message = "add a passkey first; the second step asks for it";
                return Err(Error::Conflict { code: Code::Conflict, message: message.to_owned() });
            }
            tx.execute(SET_SECOND_STEP, params![caller.user, on.then_some("passkey"), now])?;
            mail_queue::notify(tx, &mine, caller.user, MailKind::SecondStepChanged)?;
            let details =
                if on { "Turned on the second step" } else { "Turned off the second step" };
            audit::note(tx, caller.user, now, Note::new(&caller, "second_step.change", details))
        })
        .await
}

/// Deletes one's own account with all data.
pub async fn delete(app: &App, caller: &Caller, password: &str) -> Result<()> {
    confirm_identity(app, caller, password).await?;
    users::delete(app, caller.user).await
}

/// Checks the password, or, for a person without one, that they proved their identity recently.
async fn confirm_identity(app: &App, caller: &Caller, password: &str) -> Result<User> {
    caller.require_owner("user")?;
    let user = users::get_by_id(app, caller.user).await?;
    if users::has_password(app, user.id).await? {
        sign_ins::check_own_password(app, &user, password).await?;
    } else {
        sessions::require_proof(app, caller).await?;
    }
    Ok(user)
}

const UPDATE: &str = "update users set preferred_name = $2, base_currency = $3, timezone = $5,
    updated_at = $4 where id = $1";
const GET_EMAIL: &str = "select email from users where id = $1";
const SET_EMAIL: &str = "update users set email = $2, updated_at = $3 where id = $1";
const SET_SECOND_STEP: &str = "update users set second_step = $2, updated_at = $3 where id = $1";

pub(crate) const STATEMENTS: &[&str] = &[UPDATE, GET_EMAIL, SET_EMAIL, SET_SECOND_STEP];
