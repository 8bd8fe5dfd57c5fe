//! Arrivals: somebody gets an account and is signed in, in one transaction, by one of three doors.

use aws_lc_rs::constant_time::verify_slices_are_equal;

use super::throttle::{self, Attempt, Subject};
use crate::sessions::{self, Method, Visit};
use crate::users::{self, NewUser};
use crate::{App, Error, Result, codes, invitations};

/// Whether nobody has an account yet.
pub async fn is_first_run(app: &App) -> Result<bool> {
    Ok(users::list(app, 1).await?.is_empty())
}

/// What the first person types to show that they run this installation. It follows from the installation's key, so that
/// it is nowhere stored and the same in every process; it opens nothing once somebody has an account.
pub fn setup_code(app: &App) -> String {
    let derived = app.installation_key.derive("setup code");
    codes::write(derived.first_chunk().copied().unwrap_or_default())
}

/// The first person, who keeps the installation. Of two at once, one is told to be invited instead.
pub async fn create_first(app: &App, code: &str, new: NewUser, from: Visit) -> Result<String> {
    let attempt = attempt_from(app, &from).await?;
    if !is_first_run(app).await? {
        return Err(too_late());
    }
    let (given, wanted) = (codes::read(code).unwrap_or_default(), setup_code(app).replace('-', ""));
    if verify_slices_are_equal(given.as_bytes(), wanted.as_bytes()).is_err() {
        return Err(Error::invalid(
            "code",
            "this is not the setup code; the server prints it in its log when it starts",
        ));
    }
    let (user, hash) = users::prepare(app, new).await?;
    let mine = app.clone();
    app.db
        .write(move |tx| {
            attempt.succeed(tx, &[])?;
            let user = users::insert(tx, user, hash)?;
            if user.role != users::Role::Keeper {
                return Err(too_late());
            }
            sessions::open(tx, &mine, user.id, Method::SetupCode, from)
        })
        .await
}

fn too_late() -> Error {
    let message = "somebody has set this installation up already; sign in, or ask to be invited";
    Error::invalid("code", message)
}

/// Somebody with the link of an invitation.
pub async fn accept_invitation(
    app: &App,
    token: &str,
    new: NewUser,
    from: Visit,
) -> Result<String> {
    let attempt = attempt_from(app, &from).await?;
    if invitations::find(app, token).await?.is_none() {
        return Err(Error::NotFound("invitation"));
    }
    let (user, hash) = users::prepare(app, new).await?;
    let (mine, token) = (app.clone(), token.to_owned());
    app.db
        .write(move |tx| {
            attempt.succeed(tx, &[])?;
            invitations::accept(tx, &mine, &token, &user.email)?;
            let user = users::insert(tx, user, hash)?;
            sessions::open(tx, &mine, user.id, Method::Invitation, from)
        })
        .await
}

/// Anyone, where the operator has opened the door. Each counts for its address, so that nobody fills the place.
pub async fn sign_up(app: &App, new: NewUser, from: Visit) -> Result<String> {
    attempt_from(app, &from).await?;
    let (user, hash) = users::prepare(app, new).await?;
    let mine = app.clone();
    app.db
        .write(move |tx| {
            let user = users::insert(tx, user, hash)?;
            sessions::open(tx, &mine, user.id, Method::SignUp, from)
        })
        .await
}

async fn attempt_from(app: &App, from: &Visit) -> Result<Attempt> {
    let subjects: Vec<Subject<'_>> =
        from.address.as_deref().map(Subject::Address).into_iter().collect();
    throttle::attempt(app, &subjects).await
}
