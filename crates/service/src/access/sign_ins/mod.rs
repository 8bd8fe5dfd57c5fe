//! Sign-in by password, by passkey, by both, or through a provider of single sign-on. Attempts are throttled, and failures are recorded in the audit trail.

mod registration;
mod throttle;

use base::{AddressGroup, Timestamp, UserId};
use db::params;
use serde_json::Value;

use crate::access::passkeys::{self, ChallengeRequest, Purpose, RelyingParty};
use crate::access::sessions::{self, Method, Visit};
use crate::access::users::{self, User};
use crate::access::{devices, recovery, tokens};
use crate::platform::audit::{self, Actor, Note};
use crate::{App, Caller, Error, Result, Tx};
use throttle::{Attempt, ThrottleKey};

pub(crate) use registration::count_attempt as count_visit;
pub(crate) use throttle::clear_failures;

pub use registration::{
    RegistrationOutcome, accept_invitation, create_first, is_first_run, setup_code, sign_up,
};

const SECOND_STEP_PREFIX: &str = "ek2_";
const SECOND_STEP_SECONDS: i64 = 300;
const PASSWORDS_OFF: Error =
    Error::Unauthenticated("passwords are turned off here; use one of the other ways to sign in");
const WRONG: Error = Error::Unauthenticated("the email or the password is wrong");

/// The result of a right password: a session, or a token for the second step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignInOutcome {
    SignedIn { session: String },
    SecondStep { token: String },
}

/// Signs in by email and password. An unknown email gets the same answer as a wrong password, after the same work.
/// Attempts from a browser in which the person signed in before are counted apart from all others.
pub async fn by_password(
    app: &App,
    email: &str,
    password: &str,
    from: Visit,
) -> Result<SignInOutcome> {
    if !app.password_sign_in {
        return Err(PASSWORDS_OFF);
    }
    let email = users::normalize_email(email)?;
    let device = devices::find(app, from.device.as_deref(), &email).await?;
    let keys = match &device {
        Some(device) => vec![ThrottleKey::Device(device)],
        None => {
            let address = address_group(&from).map(ThrottleKey::Address);
            [ThrottleKey::Account(&email)].into_iter().chain(address).collect()
        }
    };
    let attempt = throttle::attempt(app, &keys).await?;
    match users::check_password(app, &email, password).await? {
        Some(user) => {
            let mine = app.clone();
            app.db.write(move |tx| finish_password_step(tx, &mine, &attempt, user, from)).await
        }
        None => {
            app.meters.count_failed_authentication("password");
            let (now, email) = (app.clock.now(), email.clone());
            app.db
                .write(move |tx| {
                    attempt.fail(tx, now)?;
                    note_failure(tx, now, &email, "Wrong password", from.address.as_deref())
                })
                .await?;
            Err(WRONG)
        }
    }
}

/// The address group that attempts are counted by, if the address is known.
fn address_group(from: &Visit) -> Option<AddressGroup> {
    from.address.as_deref().map(|it| AddressGroup::parse(Some(it)))
}

fn finish_password_step(
    tx: &mut Tx<'_>,
    app: &App,
    attempt: &Attempt,
    user: User,
    from: Visit,
) -> Result<SignInOutcome> {
    attempt.succeed(tx)?;
    finish_first_step(tx, app, user.id, FirstStep::Password, from)
}

/// The step of a sign-in that a second one may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstStep {
    Password,
    /// `authenticated_at` is when the person last signed in at the provider, which may be long ago.
    SingleSignOn {
        authenticated_at: Timestamp,
    },
}

impl FirstStep {
    /// The stored word; none for a password.
    fn stored(self) -> Option<&'static str> {
        matches!(self, FirstStep::SingleSignOn { .. }).then_some(Method::SingleSignOn.as_str())
    }
}

/// Creates a session, or asks for the second step if the person has turned it on.
pub(crate) fn finish_first_step(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
    step: FirstStep,
    from: Visit,
) -> Result<SignInOutcome> {
    // Read in the transaction, because the setting may have changed while the password was checked.
    if !users::sign_in_options(tx, user)?.second_step {
        let proof = match step {
            FirstStep::Password => (Method::Password, app.clock.now()),
            FirstStep::SingleSignOn { authenticated_at } => {
                (Method::SingleSignOn, authenticated_at)
            }
        };
        let session = sessions::create_proved_in(tx, app, user, proof, from)?;
        return Ok(SignInOutcome::SignedIn { session });
    }
    let token = tokens::make(SECOND_STEP_PREFIX, &app.entropy);
    let ends_at = app.clock.now().as_microsecond() + SECOND_STEP_SECONDS * 1_000_000;
    let hash = tokens::hash(&token);
    tx.execute(INSERT_SECOND_STEP, params![&hash[..], user, ends_at, step.stored()])?;
    Ok(SignInOutcome::SecondStep { token })
}

/// Records a failure in the audit trail of the person, if there is one. The query runs in any case, so that an unknown
/// email takes as long.
fn note_failure(
    tx: &mut Tx<'_>,
    now: Timestamp,
    email: &str,
    details: &str,
    address: Option<&str>,
) -> Result<()> {
    let Some(user) = tx.first(FIND_USER, params![email], |row| row.get::<UserId>(0))? else {
        return Ok(());
    };
    let note = Note::new(Actor::visitor(address), "sign_in.fail", details);
    audit::note(tx, user, now, note)
}

/// Starts a sign-in by passkey, for a person who is not known yet. Each challenge costs a row for a while, so challenges
/// are limited: by browser if it is known, otherwise by address group.
pub async fn start_passkey(app: &App, party: &RelyingParty, from: &Visit) -> Result<Value> {
    count_challenge(app, from).await?;
    passkeys::start(app, party, ChallengeRequest::new(Purpose::SignIn, None)).await
}

/// Counts the beginning of a sign-in by passkey or single sign-on, or refuses it if there were too many.
pub(crate) async fn count_challenge(app: &App, from: &Visit) -> Result<()> {
    let device = devices::find_for_anyone(app, from.device.as_deref()).await?;
    let key = match device {
        Some(device) => Some(ThrottleKey::DeviceChallenges(device)),
        None => address_group(from).map(ThrottleKey::Challenges),
    };
    if let Some(key) = key {
        throttle::attempt(app, &[key]).await?;
    }
    Ok(())
}

/// Signs in by a passkey alone, which verifies the person itself. A passkey cannot be guessed, so failures never block it.
pub async fn by_passkey(
    app: &App,
    party: &RelyingParty,
    response: &str,
    from: Visit,
) -> Result<String> {
    let request = ChallengeRequest::new(Purpose::SignIn, None);
    let verified = passkeys::finish(app, party, request, response).await;
    let user = verified.inspect_err(|_| app.meters.count_failed_authentication("passkey"))?;
    let mine = app.clone();
    app.db.write(move |tx| sessions::create_in(tx, &mine, user, Method::Passkey, from)).await
}

/// Finds the person whose second step a token stands for.
pub async fn find_second_step(app: &App, token: &str) -> Result<Option<User>> {
    if !tokens::is_well_formed(SECOND_STEP_PREFIX, token) {
        return Ok(None);
    }
    let (hash, now) = (tokens::hash(token), app.clock.now());
    let found = app.db.first(FIND_SECOND_STEP, params![&hash[..], now], |row| row.get(0)).await?;
    match found {
        Some(user) => Ok(Some(users::get_by_id(app, user).await?)),
        None => Ok(None),
    }
}

async fn get_second_step(app: &App, token: &str) -> Result<User> {
    let expired = Error::Unauthenticated("this took too long; sign in again");
    find_second_step(app, token).await?.ok_or(expired)
}

/// Starts the second step by passkey, after a right password.
pub async fn start_second_step(app: &App, party: &RelyingParty, token: &str) -> Result<Value> {
    let user = get_second_step(app, token).await?;
    passkeys::start(app, party, ChallengeRequest::new(Purpose::SecondStep, Some(user.id))).await
}

/// Finishes the second step by passkey. A passkey cannot be guessed, so failures never block it. Only the first failures
/// of a flood are recorded in the audit trail.
pub async fn second_by_passkey(
    app: &App,
    party: &RelyingParty,
    token: &str,
    response: &str,
    from: Visit,
) -> Result<String> {
    let user = get_second_step(app, token).await?;
    let request = ChallengeRequest::new(Purpose::SecondStep, Some(user.id));
    let verified = passkeys::finish(app, party, request, response).await;
    let (mine, token, email, now) =
        (app.clone(), token.to_owned(), user.email.clone(), app.clock.now());
    if let Err(error) = verified {
        app.meters.count_failed_authentication("passkey");
        match throttle::attempt(app, &[ThrottleKey::WrongPasskey(user.id)]).await {
            Ok(_) => {}
            Err(Error::Limited { .. }) => return Err(error),
            Err(other) => return Err(other),
        }
        let failed = move |tx: &mut Tx<'_>| {
            note_failure(tx, now, &email, "Wrong passkey", from.address.as_deref())
        };
        app.db.write(failed).await?;
        return Err(error);
    }
    app.db
        .write(move |tx| {
            let method = match use_second_step(tx, &mine, &token)? {
                Method::SingleSignOn => Method::SingleSignOnAndPasskey,
                _ => Method::PasswordAndPasskey,
            };
            sessions::create_in(tx, &mine, user.id, method, from)
        })
        .await
}

/// Finishes the second step by a recovery code in place of the passkey.
pub async fn second_by_recovery_code(
    app: &App,
    token: &str,
    code: &str,
    from: Visit,
) -> Result<String> {
    let user = get_second_step(app, token).await?;
    let device = devices::find(app, from.device.as_deref(), &user.email).await?;
    let key = match &device {
        Some(device) => ThrottleKey::DeviceSecondStep(device),
        None => ThrottleKey::SecondStep(&user.email),
    };
    let attempt = throttle::attempt(app, &[key]).await?;
    let (mine, token, code, now) =
        (app.clone(), token.to_owned(), code.to_owned(), app.clock.now());
    let session = app
        .db
        .write(move |tx| {
            if !recovery::use_code(tx, &mine, user.id, &code)? {
                attempt.fail(tx, now)?;
                let address = from.address.as_deref();
                note_failure(tx, now, &user.email, "Wrong recovery code", address)?;
                return Ok::<_, Error>(None);
            }
            attempt.succeed(tx)?;
            let method = match use_second_step(tx, &mine, &token)? {
                Method::SingleSignOn => Method::SingleSignOnAndRecoveryCode,
                _ => Method::PasswordAndRecoveryCode,
            };
            sessions::create_in(tx, &mine, user.id, method, from).map(Some)
        })
        .await?;
    if session.is_none() {
        app.meters.count_failed_authentication("recovery_code");
    }
    session.ok_or(Error::Unauthenticated("this is not one of your unused recovery codes"))
}

/// Deletes the token of a second step, so that it works once, and returns the first step.
fn use_second_step(tx: &mut Tx<'_>, app: &App, token: &str) -> Result<Method> {
    let (hash, now) = (tokens::hash(token), app.clock.now());
    let first_step = |row: &db::Row<'_>| row.get::<Option<Method>>(0);
    let deleted = tx.first(USE_SECOND_STEP, params![&hash[..], now], first_step)?;
    let deleted = deleted.ok_or(Error::Unauthenticated("this took too long; sign in again"))?;
    Ok(deleted.unwrap_or(Method::Password))
}

/// Checks the password of a signed-in person. Failures are counted apart from failed sign-ins, so that visitors cannot
/// block the person from changing their settings.
pub(crate) async fn check_own_password(app: &App, user: &User, password: &str) -> Result<()> {
    let attempt = throttle::attempt(app, &[ThrottleKey::Confirmation(user.id)]).await?;
    let found = users::check_password(app, &user.email, password).await?;
    if found.is_none_or(|it| it.id != user.id) {
        app.meters.count_failed_authentication("password");
        return Err(Error::invalid("password", "this is not your password"));
    }
    app.db.write(move |tx| attempt.succeed(tx)).await
}

/// Counts an attempt to change one's email, because each answer reveals whether an email has an account here.
pub(crate) async fn count_email_change(app: &App, user: UserId) -> Result<()> {
    throttle::attempt(app, &[ThrottleKey::EmailChange(user)]).await?;
    Ok(())
}

/// Counts a request to reset a password. Returns false if there were too many for this email.
pub(crate) async fn count_password_reset(app: &App, email: &str, from: &Visit) -> Result<bool> {
    count_visit(app, from).await?;
    match throttle::attempt(app, &[ThrottleKey::PasswordReset(email)]).await {
        Ok(_) => Ok(true),
        Err(Error::Limited { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Proves one's identity again by password.
pub async fn prove_by_password(app: &App, caller: &Caller, password: &str) -> Result<()> {
    let user = users::get_by_id(app, caller.user).await?;
    check_own_password(app, &user, password).await?;
    sessions::prove(app, caller).await
}

/// Starts a proof of identity by passkey.
pub async fn start_proof(app: &App, caller: &Caller, party: &RelyingParty) -> Result<Value> {
    caller.require_owner("passkey")?;
    passkeys::start(app, party, ChallengeRequest::new(Purpose::Prove, Some(caller.user))).await
}

/// Proves one's identity again by passkey.
pub async fn prove_by_passkey(
    app: &App,
    caller: &Caller,
    party: &RelyingParty,
    response: &str,
) -> Result<()> {
    caller.require_owner("passkey")?;
    let request = ChallengeRequest::new(Purpose::Prove, Some(caller.user));
    passkeys::finish(app, party, request, response).await?;
    sessions::prove(app, caller).await
}

/// Remembers the browser in which a session was created, and returns its device token (`devices`). `before` is the token
/// that the browser had until now.
pub async fn remember_device(
    app: &App,
    session: &str,
    before: Option<&str>,
) -> Result<Option<String>> {
    match sessions::find(app, session, None).await? {
        Some((session, _)) => {
            devices::remember(app, (session.user, session.id), before).await.map(Some)
        }
        None => Ok(None),
    }
}

/// Background step: deletes failures that no longer count, and second steps that expired.
pub async fn forget_once(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let forget = move |tx: &mut Tx<'_>| {
        let failures = throttle::forget(tx, now)?;
        Ok::<_, Error>(failures + tx.execute(FORGET_SECOND_STEPS, params![now])?)
    };
    Ok(app.db.write(forget).await? as usize)
}

const FIND_USER: &str = "select id from users where email = $1";
const INSERT_SECOND_STEP: &str =
    "insert into second_steps (token_hash, user_id, expires_at, first_step)
    values ($1, $2, $3, $4)";
const FIND_SECOND_STEP: &str =
    "select user_id from second_steps where token_hash = $1 and expires_at > $2";
const USE_SECOND_STEP: &str = "delete from second_steps where token_hash = $1 and expires_at > $2
    returning first_step";
const FORGET_SECOND_STEPS: &str = "delete from second_steps where expires_at <= $1";

const STATEMENTS: &[&str] =
    &[FIND_USER, INSERT_SECOND_STEP, FIND_SECOND_STEP, USE_SECOND_STEP, FORGET_SECOND_STEPS];

pub(crate) fn statements() -> Vec<&'static str> {
    [STATEMENTS, throttle::STATEMENTS].concat()
}
