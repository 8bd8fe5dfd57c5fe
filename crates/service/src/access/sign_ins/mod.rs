//! Signing in: by password, by passkey, or by both, with guessing made slow and every attempt written down.

mod arrivals;
mod throttle;

use base::{AddressGroup, Timestamp, UserId};
use db::params;
use serde_json::Value;

use crate::access::passkeys::{self, Party, Purpose, Question};
use crate::access::sessions::{self, Method, Visit};
use crate::access::users::{self, User};
use crate::access::{devices, recovery, tokens};
use crate::platform::audit::{self, Actor, Note};
use crate::{App, Caller, Error, Result, Tx};
use throttle::{Attempt, Subject};

pub(crate) use throttle::clear_account;

pub use arrivals::{Arrival, accept_invitation, create_first, is_first_run, setup_code, sign_up};

const SECOND_STEP_PREFIX: &str = "ek2_";
const SECOND_STEP_SECONDS: i64 = 300;
const WRONG: Error = Error::Unauthenticated("the email or the password is not right");

/// What a right password leads to. Neither token says anything about the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    SignedIn { session: String },
    SecondStep { token: String },
}

/// By email and password. Somebody unknown is answered like a wrong password, after the same work. A browser in which the
/// person signed in before has an allowance of its own, whatever others did to the account or from its address.
pub async fn by_password(app: &App, email: &str, password: &str, from: Visit) -> Result<Outcome> {
    let email = users::normal_email(email)?;
    let device = devices::find(app, from.device.as_deref(), &email).await?;
    let subjects = match &device {
        Some(device) => vec![Subject::Device(device)],
        None => {
            let address = address_of(&from).map(Subject::Address);
            [Subject::Account(&email)].into_iter().chain(address).collect()
        }
    };
    let attempt = throttle::attempt(app, &subjects).await?;
    match users::check_password(app, &email, password).await? {
        Some(user) => {
            let mine = app.clone();
            app.db.write(move |tx| let_in(tx, &mine, &attempt, user, from)).await
        }
        None => {
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

/// The address group to count by, where the address is known.
fn address_of(from: &Visit) -> Option<AddressGroup> {
    from.address.as_deref().map(|it| AddressGroup::parse(Some(it)))
}

fn let_in(
    tx: &mut Tx<'_>,
    app: &App,
    attempt: &Attempt,
    user: User,
    from: Visit,
) -> Result<Outcome> {
    attempt.succeed(tx)?;
    // As it is now, not as it was before the password was looked at.
    if !users::standing(tx, user.id)?.second_step {
        let session = sessions::open(tx, app, user.id, Method::Password, from)?;
        return Ok(Outcome::SignedIn { session });
    }
    let token = tokens::make(SECOND_STEP_PREFIX, &app.entropy);
    let ends_at = app.clock.now().as_microsecond() + SECOND_STEP_SECONDS * 1_000_000;
    tx.execute(ASK_SECOND, params![&tokens::hash(&token)[..], user.id, ends_at])?;
    Ok(Outcome::SecondStep { token })
}

/// The person whose trail it goes into is looked up for everybody, so that it takes as long for nobody.
fn note_failure(
    tx: &mut Tx<'_>,
    now: Timestamp,
    email: &str,
    what: &str,
    address: Option<&str>,
) -> Result<()> {
    let Some(user) = tx.first(ID_OF, params![email], |row| row.get::<UserId>(0))? else {
        return Ok(());
    };
    let note = Note::new(Actor::visitor(address), "sign_in.fail", what);
    audit::note(tx, user, now, note)
}

/// What a browser is asked for a passkey of anyone's. Each challenge costs a row for a while, so they are counted for
/// good: by browser where it is known, else by address group.
pub async fn start_passkey(app: &App, party: &Party, from: &Visit) -> Result<Value> {
    let device = devices::find_anyones(app, from.device.as_deref()).await?;
    let counted = match device {
        Some(device) => Some(Subject::DeviceChallenges(device)),
        None => address_of(from).map(Subject::Challenges),
    };
    if let Some(counted) = counted {
        throttle::attempt(app, &[counted]).await?;
    }
    passkeys::start(app, party, Question::new(Purpose::SignIn, None)).await
}

/// By a passkey alone, which has itself made sure that it is the person. It cannot be guessed, so that no number of
/// failures, of anybody, keeps it from working.
pub async fn by_passkey(app: &App, party: &Party, answer: &str, from: Visit) -> Result<String> {
    let question = Question::new(Purpose::SignIn, None);
    let user = passkeys::finish(app, party, question, answer).await?;
    let mine = app.clone();
    app.db.write(move |tx| sessions::open(tx, &mine, user, Method::Passkey, from)).await
}

/// Whose second step a token is, if it still is one.
pub async fn find_second_step(app: &App, token: &str) -> Result<Option<User>> {
    if !tokens::is_well_formed(SECOND_STEP_PREFIX, token) {
        return Ok(None);
    }
    let (hash, now) = (tokens::hash(token), app.clock.now());
    let found = app.db.first(SECOND, params![&hash[..], now], |row| row.get(0)).await?;
    match found {
        Some(user) => Ok(Some(users::by_id(app, user).await?)),
        None => Ok(None),
    }
}

async fn second_step(app: &App, token: &str) -> Result<User> {
    let over = Error::Unauthenticated("this took too long; sign in again");
    find_second_step(app, token).await?.ok_or(over)
}

/// What a browser is asked for a passkey of the person whose password was right.
pub async fn start_second_step(app: &App, party: &Party, token: &str) -> Result<Value> {
    let user = second_step(app, token).await?;
    passkeys::start(app, party, Question::new(Purpose::SecondStep, Some(user.id))).await
}

/// The passkey behind the password. It cannot be guessed, so it is never refused; the audit trail says of a flood of wrong
/// ones how it began.
pub async fn second_by_passkey(
    app: &App,
    party: &Party,
    token: &str,
    answer: &str,
    from: Visit,
) -> Result<String> {
    let user = second_step(app, token).await?;
    let question = Question::new(Purpose::SecondStep, Some(user.id));
    let answered = passkeys::finish(app, party, question, answer).await;
    let (mine, token, email, now) =
        (app.clone(), token.to_owned(), user.email.clone(), app.clock.now());
    if let Err(error) = answered {
        match throttle::attempt(app, &[Subject::WrongPasskey(user.id)]).await {
            Ok(_) => {}
            Err(Error::Limited { .. }) => return Err(error),
            Err(own) => return Err(own),
        }
        let failed = move |tx: &mut Tx<'_>| {
            note_failure(tx, now, &email, "Wrong passkey", from.address.as_deref())
        };
        app.db.write(failed).await?;
        return Err(error);
    }
    app.db
        .write(move |tx| {
            spend_second(tx, &mine, &token)?;
            sessions::open(tx, &mine, user.id, Method::PasswordAndPasskey, from)
        })
        .await
}

/// A recovery code in place of the passkey.
pub async fn second_by_recovery_code(
    app: &App,
    token: &str,
    code: &str,
    from: Visit,
) -> Result<String> {
    let user = second_step(app, token).await?;
    let device = devices::find(app, from.device.as_deref(), &user.email).await?;
    let subject = match &device {
        Some(device) => Subject::DeviceSecondStep(device),
        None => Subject::SecondStep(&user.email),
    };
    let attempt = throttle::attempt(app, &[subject]).await?;
    let (mine, token, code, now) =
        (app.clone(), token.to_owned(), code.to_owned(), app.clock.now());
    let opened = app
        .db
        .write(move |tx| {
            if !recovery::spend(tx, &mine, user.id, &code)? {
                attempt.fail(tx, now)?;
                let address = from.address.as_deref();
                note_failure(tx, now, &user.email, "Wrong recovery code", address)?;
                return Ok::<_, Error>(None);
            }
            attempt.succeed(tx)?;
            spend_second(tx, &mine, &token)?;
            sessions::open(tx, &mine, user.id, Method::PasswordAndRecoveryCode, from).map(Some)
        })
        .await?;
    opened.ok_or(Error::Unauthenticated("this is none of your unused recovery codes"))
}

/// Once only: of two who bring the same token, one is too late.
fn spend_second(tx: &mut Tx<'_>, app: &App, token: &str) -> Result<()> {
    let spent = tx.execute(SPEND_SECOND, params![&tokens::hash(token)[..], app.clock.now()])?;
    if spent == 0 {
        return Err(Error::Unauthenticated("this took too long; sign in again"));
    }
    Ok(())
}

/// Whether this is the password of the person who is signed in. Wrong ones count apart from those of visitors, who could
/// otherwise keep the person from changing anything.
pub(crate) async fn check_own_password(app: &App, user: &User, password: &str) -> Result<()> {
    let attempt = throttle::attempt(app, &[Subject::Confirmation(user.id)]).await?;
    let fits = users::check_password(app, &user.email, password).await?;
    if fits.is_none_or(|it| it.id != user.id) {
        return Err(Error::invalid("password", "this is not your password"));
    }
    app.db.write(move |tx| attempt.succeed(tx)).await
}

/// Counts that somebody tries another email, whether or not it is free: each answer tells whether the address has an
/// account here.
pub(crate) async fn count_email_change(app: &App, user: UserId) -> Result<()> {
    throttle::attempt(app, &[Subject::EmailChange(user)]).await?;
    Ok(())
}

/// Shows again who one is, by the password.
pub async fn prove_by_password(app: &App, caller: &Caller, password: &str) -> Result<()> {
    let user = users::by_id(app, caller.user).await?;
    check_own_password(app, &user, password).await?;
    sessions::prove(app, caller).await
}

/// What a browser is asked for a passkey of the person who is signed in.
pub async fn start_proof(app: &App, caller: &Caller, party: &Party) -> Result<Value> {
    caller.require_owner("passkey")?;
    passkeys::start(app, party, Question::new(Purpose::Prove, Some(caller.user))).await
}

/// Shows again who one is, by a passkey.
pub async fn prove_by_passkey(
    app: &App,
    caller: &Caller,
    party: &Party,
    answer: &str,
) -> Result<()> {
    caller.require_owner("passkey")?;
    let question = Question::new(Purpose::Prove, Some(caller.user));
    passkeys::finish(app, party, question, answer).await?;
    sessions::prove(app, caller).await
}

/// Forgets failures and second steps that are over; a background step.
pub async fn forget_once(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let forget = move |tx: &mut Tx<'_>| {
        let failures = throttle::forget(tx, now)?;
        Ok::<_, Error>(failures + tx.execute(FORGET_SECOND, params![now])?)
    };
    Ok(app.db.write(forget).await? as usize)
}

const ID_OF: &str = "select id from users where email = $1";
const ASK_SECOND: &str =
    "insert into second_steps (token_hash, user_id, expires_at) values ($1, $2, $3)";
const SECOND: &str = "select user_id from second_steps where token_hash = $1 and expires_at > $2";
const SPEND_SECOND: &str = "delete from second_steps where token_hash = $1 and expires_at > $2";
const FORGET_SECOND: &str = "delete from second_steps where expires_at <= $1";

const STATEMENTS: &[&str] = &[ID_OF, ASK_SECOND, SECOND, SPEND_SECOND, FORGET_SECOND];

pub(crate) fn statements() -> Vec<&'static str> {
    [STATEMENTS, throttle::STATEMENTS].concat()
}
