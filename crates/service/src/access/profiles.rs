//! What people change about themselves: profile, password, email, second step; and how they leave.

use base::Currency;
use db::params;

use crate::access::users::{self, User};
use crate::access::{passkeys, sessions, sign_ins};
use crate::platform::audit::{self, Note};
use crate::platform::dirty_queue;
use crate::{App, Caller, Error, Result};
use wire::v1::Code;

const NAME_MAX: usize = 80;

#[derive(Debug, Clone)]
pub struct Profile {
    pub preferred_name: Option<String>,
    pub base_currency: Currency,
}

/// Another base currency asks for all figures to be worked out again.
pub async fn update(app: &App, caller: &Caller, profile: Profile) -> Result<()> {
    caller.require_owner("user")?;
    let name = profile.preferred_name.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    let too_long = |it: &String| it.chars().count() > NAME_MAX || it.contains(char::is_control);
    if name.as_ref().is_some_and(too_long) {
        let message = format!("your name must have at most {NAME_MAX} characters on one line");
        return Err(Error::invalid("preferred_name", message));
    }
    let before = users::by_id(app, caller.user).await?;
    let (caller, currency, now) = (caller.clone(), profile.base_currency, app.clock.now());
    app.db
        .write(move |tx| {
            tx.execute(UPDATE, params![caller.user, &name, currency.code(), now])?;
            if before.base_currency != currency {
                dirty_queue::mark_all_dirty(tx, caller.user, now)?;
            }
            let note = Note::new(&caller, "profile.update", "Changed the profile");
            audit::note(tx, caller.user, now, note)
        })
        .await
}

/// A new password for the present one. Whoever knew the old one and is signed in elsewhere is out.
pub async fn change_password(app: &App, caller: &Caller, present: &str, new: &str) -> Result<()> {
    must_be(app, caller, present).await?;
    let hash = users::hash_password(app, new).await?;
    let (caller, now) = (caller.clone(), app.clock.now());
    app.db
        .write(move |tx| {
            tx.execute(users::SET_PASSWORD, params![caller.user, &hash, now])?;
            sessions::end_others(tx, &caller)?;
            let details = "Changed the password and ended all other sessions";
            audit::note(tx, caller.user, now, Note::new(&caller, "password.change", details))
        })
        .await
}

pub async fn change_email(app: &App, caller: &Caller, password: &str, email: &str) -> Result<()> {
    let email = users::normal_email(email)?;
    let user = must_be(app, caller, password).await?;
    if user.email == email {
        return Ok(());
    }
    sign_ins::count_email_change(app, user.id).await?;
    let (caller, now) = (caller.clone(), app.clock.now());
    app.db
        .write(move |tx| {
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

/// Whether a passkey is asked for behind the password.
pub async fn set_second_step(app: &App, caller: &Caller, on: bool) -> Result<()> {
    caller.require_owner("user")?;
    sessions::require_proof(app, caller).await?;
    let (caller, now) = (caller.clone(), app.clock.now());
    app.db
        .write(move |tx| {
            users::lock(tx, caller.user)?;
            if on && passkeys::count(tx, caller.user)? == 0 {
                let message = "add a passkey first; it is what the second step asks for";
                return Err(Error::Conflict { code: Code::Conflict, message: message.to_owned() });
            }
            tx.execute(SET_SECOND_STEP, params![caller.user, on.then_some("passkey"), now])?;
            let details =
                if on { "Switched the second step on" } else { "Switched the second step off" };
            audit::note(tx, caller.user, now, Note::new(&caller, "second_step.change", details))
        })
        .await
}

/// Leaves, and takes everything along.
pub async fn delete(app: &App, caller: &Caller, password: &str) -> Result<()> {
    must_be(app, caller, password).await?;
    users::delete(app, caller.user).await
}

/// Asks for the password; of somebody who has none, that they showed lately who they are.
async fn must_be(app: &App, caller: &Caller, password: &str) -> Result<User> {
    caller.require_owner("user")?;
    let user = users::by_id(app, caller.user).await?;
    if users::has_password(app, user.id).await? {
        sign_ins::check_own_password(app, &user, password).await?;
    } else {
        sessions::require_proof(app, caller).await?;
    }
    Ok(user)
}

const UPDATE: &str = "update users set preferred_name = $2, base_currency = $3, updated_at = $4
    where id = $1";
const SET_EMAIL: &str = "update users set email = $2, updated_at = $3 where id = $1";
const SET_SECOND_STEP: &str = "update users set second_step = $2, updated_at = $3 where id = $1";

pub(crate) const STATEMENTS: &[&str] = &[UPDATE, SET_EMAIL, SET_SECOND_STEP];
