//! Arrivals: somebody gets an account, as the first person, by an invitation, or by signing up where that is open.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base::UserId;
use db::params;

use super::throttle::{self, Attempt, Subject};
use crate::access::sessions::{self, Method, Visit};
use crate::access::users::{self, NewUser, User};
use crate::access::{codes, invitations};
use crate::platform::audit::{self, Actor, Note};
use crate::{App, Error, Result, Tx};

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
            attempt.succeed(tx)?;
            let user = users::insert(tx, user, hash)?;
            if user.role != users::Role::Admin {
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

/// What becomes of somebody who arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    SignedIn {
        session: String,
    },
    /// They sign in with what they typed. The same for somebody whose address had an account already, so that nobody
    /// learns from it which addresses do.
    SignInNext,
}

/// Somebody with the link of an invitation. One for a named address signs them in; one for anybody could be used to ask
/// which addresses have an account, so that it answers as an open sign-up does, and is used up either way.
pub async fn accept_invitation(
    app: &App,
    token: &str,
    new: NewUser,
    from: Visit,
) -> Result<Arrival> {
    let attempt = attempt_from(app, &from).await?;
    let Some(invitation) = invitations::find(app, token).await? else {
        return Err(Error::NotFound("invitation"));
    };
    let (user, hash) = users::prepare(app, new).await?;
    let (mine, token) = (app.clone(), token.to_owned());
    let arrive = move |tx: &mut Tx<'_>| {
        attempt.succeed(tx)?;
        invitations::accept(tx, &mine, &token, &user.email)?;
        if invitation.email.is_none() {
            create_or_note(tx, user, hash, from.address.as_deref())?;
            return Ok(Arrival::SignInNext);
        }
        let user = users::insert(tx, user, hash)?;
        let session = sessions::open(tx, &mine, user.id, Method::Invitation, from)?;
        Ok(Arrival::SignedIn { session })
    };
    app.db.write(arrive).await
}

/// Anyone, where the operator has opened the door. Each counts for its address, so that nobody fills the place. Nobody
/// is signed in by it: whether the address had an account already is told to nobody.
pub async fn sign_up(app: &App, new: NewUser, from: Visit) -> Result<()> {
    attempt_from(app, &from).await?;
    let (user, hash) = users::prepare(app, new).await?;
    let arrive = move |tx: &mut Tx<'_>| create_or_note(tx, user, hash, from.address.as_deref());
    app.db.write(arrive).await
}

/// Makes an account, or tells the person who has the address that somebody tried: one entry in one trail either way.
fn create_or_note(
    tx: &mut Tx<'_>,
    user: User,
    hash: Option<String>,
    address: Option<&str>,
) -> Result<()> {
    let now = user.created_at;
    // Arrivals wait for one another, so that the address stays free until it is taken here.
    users::lock_arrivals(tx)?;
    let known = tx.first(super::ID_OF, params![&user.email], |row| row.get::<UserId>(0))?;
    let (id, action, details) = match known {
        Some(id) => {
            (id, "sign_up.repeat", "Somebody tried to create another account with your email")
        }
        None => (users::insert(tx, user, hash)?.id, "sign_up.create", "Created the account"),
    };
    audit::note(tx, id, now, Note::new(Actor::visitor(address), action, details))
}

async fn attempt_from(app: &App, from: &Visit) -> Result<Attempt> {
    let subjects: Vec<Subject<'_>> =
        super::address_of(from).map(Subject::Address).into_iter().collect();
    throttle::attempt(app, &subjects).await
}
