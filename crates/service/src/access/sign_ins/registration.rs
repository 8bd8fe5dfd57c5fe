//! Registration of new people: the first person, by invitation, or by open sign-up.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base::UserId;
use db::params;

use super::throttle::{self, Attempt, ThrottleKey};
use crate::access::sessions::{self, Method, Visit};
use crate::access::users::{self, NewUser, User};
use crate::access::{codes, invitations};
use crate::platform::audit::{self, Actor, Note};
use crate::{App, Error, Result, Tx};

/// Whether nobody has an account yet.
pub async fn is_first_run(app: &App) -> Result<bool> {
    Ok(users::list(app, 1).await?.is_empty())
}

/// The code that the first person types to prove that they run this installation. It is derived from the installation
/// key, so it is stored nowhere and is the same in every process. It is useless once somebody has an account.
pub fn setup_code(app: &App) -> String {
    let derived = app.installation_key.derive("setup code");
    codes::format(derived.first_chunk().copied().unwrap_or_default())
}

/// Registers the first person, who becomes the admin. If two try at once, one of them is refused.
pub async fn create_first(app: &App, code: &str, new: NewUser, from: Visit) -> Result<String> {
    let attempt = count_attempt(app, &from).await?;
    if !is_first_run(app).await? {
        return Err(too_late());
    }
    let (given, expected) =
        (codes::parse(code).unwrap_or_default(), setup_code(app).replace('-', ""));
    if verify_slices_are_equal(given.as_bytes(), expected.as_bytes()).is_err() {
        return Err(Error::invalid(
            "code",
            "this is not the setup code; the server prints the code when it starts",
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
            sessions::create_in(tx, &mine, user.id, Method::SetupCode, from)
        })
        .await
}

fn too_late() -> Error {
    let message = "this installation is already set up; sign in, or ask for an invitation";
    Error::invalid("code", message)
}

/// The result of accepting an invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegistrationOutcome {
    SignedIn {
        session: String,
    },
    /// The person signs in next with the password that they chose. The answer is the same if the email already had an
    /// account, so that it does not reveal which emails do.
    SignInNext,
}

/// Registers somebody by invitation. An invitation for a certain email signs them in. An invitation for anyone could be
/// used to find out which emails have an account, so it gives the same answer as an open sign-up, and is used up either
/// way.
pub async fn accept_invitation(
    app: &App,
    token: &str,
    new: NewUser,
    from: Visit,
) -> Result<RegistrationOutcome> {
    if !app.password_sign_in {
        return Err(super::PASSWORDS_OFF);
    }
    let attempt = count_attempt(app, &from).await?;
    let Some(invitation) = invitations::find(app, token).await? else {
        return Err(Error::NotFound("invitation"));
    };
    let (user, hash) = users::prepare(app, new).await?;
    let (mine, token) = (app.clone(), token.to_owned());
    let register = move |tx: &mut Tx<'_>| {
        attempt.succeed(tx)?;
        invitations::accept(tx, &mine, &token, &user.email)?;
        if invitation.email.is_none() {
            create_or_report(tx, user, hash, from.address.as_deref())?;
            return Ok(RegistrationOutcome::SignInNext);
        }
        let user = users::insert(tx, user, hash)?;
        let session = sessions::create_in(tx, &mine, user.id, Method::Invitation, from)?;
        Ok(RegistrationOutcome::SignedIn { session })
    };
    app.db.write(register).await
}

/// Registers anyone, if the operator allows open sign-up. Sign-ups are counted by network address, so that nobody can
/// create accounts without limit. The answer does not reveal whether the email already had an account.
pub async fn sign_up(app: &App, new: NewUser, from: Visit) -> Result<()> {
    if !app.password_sign_in {
        return Err(super::PASSWORDS_OFF);
    }
    count_attempt(app, &from).await?;
    let (user, hash) = users::prepare(app, new).await?;
    let register = move |tx: &mut Tx<'_>| create_or_report(tx, user, hash, from.address.as_deref());
    app.db.write(register).await
}

/// Creates an account. If the email already has one, its owner is told in their audit trail. Either way there is one new
/// audit entry, so that both take the same time.
fn create_or_report(
    tx: &mut Tx<'_>,
    user: User,
    hash: Option<String>,
    address: Option<&str>,
) -> Result<()> {
    let now = user.created_at;
    // Registrations wait for each other, so that nobody else takes the email meanwhile.
    users::lock_registration(tx)?;
    let known = tx.first(super::FIND_USER, params![&user.email], |row| row.get::<UserId>(0))?;
    let (id, action, details) = match known {
        Some(id) => {
            (id, "sign_up.repeat", "Somebody tried to create another account with your email")
        }
        None => (users::insert(tx, user, hash)?.id, "sign_up.create", "Created the account"),
    };
    audit::note(tx, id, now, Note::new(Actor::visitor(address), action, details))
}

pub(crate) async fn count_attempt(app: &App, from: &Visit) -> Result<Attempt> {
    let keys: Vec<ThrottleKey<'_>> =
        super::address_group(from).map(ThrottleKey::Address).into_iter().collect();
    throttle::attempt(app, &keys).await
}
