//! The way back from the provider: checks the answer, and signs the person in, links the identity, or takes it as proof.

use base::{Currency, Timestamp, UserId};
use db::params;

use super::claims::Claims;
use super::exchange::{self, is_error_word};
use super::flows::{self, Flow, Purpose};
use super::identities::{self, Identity};
use super::metadata::Metadata;
use super::provider::{Provider, ProviderSettings};
use super::start::redirect_uri;
use crate::access::invitations;
use crate::access::sessions::{self, Visit};
use crate::access::sign_ins::{self, FirstStep, SignInOutcome};
use crate::access::users::{self, NewUser, Role, User};
use crate::platform::audit::{self, Actor, Note};
use crate::{App, Caller, Error, Result, Tx};

const CODE_MAX: usize = 4_096;

/// The answer that the provider sent through the person's browser.
#[derive(Clone, Copy, Default)]
pub struct Callback<'a> {
    /// The name of the provider, from the address.
    pub provider: &'a str,
    pub state: &'a str,
    pub code: &'a str,
    /// The parameter `iss` (RFC 9207).
    pub issuer: Option<&'a str>,
    /// The parameter `error`, if the provider refused.
    pub error: Option<&'a str>,
    /// The secret of the browser as a visitor.
    pub visitor: &'a str,
    /// The secret of the browser's session, if somebody is signed in.
    pub session: Option<&'a str>,
    pub public_url: &'a str,
}

/// The result of a round trip. `next` is the page that it began from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    SignIn { outcome: SignInOutcome, next: String },
    Linked { next: String },
    Proved { next: String },
}

/// Finishes a round trip. Its state is used up first, whatever comes of the rest.
pub async fn finish(
    app: &App,
    caller: Option<&Caller>,
    callback: Callback<'_>,
    from: Visit,
) -> Result<Outcome> {
    let provider = app.single_sign_on.get(callback.provider)?;
    let Some(flow) = flows::take(app, callback.provider, callback.state).await? else {
        return Err(Error::Unauthenticated("this took too long or was already used; try again"));
    };
    let is_theirs = match flow.purpose {
        Purpose::SignIn => flow.began_in(callback.visitor),
        Purpose::Link | Purpose::Prove => {
            callback.session.is_some_and(|it| flow.began_in(it))
                && flow.user == caller.map(|it| it.user)
        }
    };
    if !is_theirs {
        return Err(Error::Unauthenticated("this began in another browser; try again"));
    }
    let metadata = provider.metadata(app.clock.now()).await?;
    check_answer(provider, &metadata, &callback)?;
    let redirect = redirect_uri(&provider.settings, callback.public_url);
    let code = (callback.code, redirect.as_str());
    let claims =
        exchange::exchange(provider, &metadata, code, &flow.secrets, app.clock.now()).await?;
    let Flow { purpose, next, .. } = flow;
    match (purpose, caller) {
        (Purpose::SignIn, _) => {
            let outcome = sign_in(app, provider, claims, from).await?;
            Ok(Outcome::SignIn { outcome, next })
        }
        (Purpose::Link, Some(caller)) => {
            link(app, caller, provider, &claims).await?;
            Ok(Outcome::Linked { next })
        }
        (Purpose::Prove, Some(caller)) => {
            prove(app, caller, provider, &claims).await?;
            Ok(Outcome::Proved { next })
        }
        (Purpose::Link | Purpose::Prove, None) => {
            Err(Error::Unauthenticated("you were signed out meanwhile; sign in again"))
        }
    }
}

fn check_answer(provider: &Provider, metadata: &Metadata, callback: &Callback<'_>) -> Result<()> {
    let settings = &provider.settings;
    match callback.issuer {
        Some(issuer) if issuer != settings.issuer => {
            return Err(provider.refused("the answer comes from another provider"));
        }
        None if metadata.names_issuer => {
            return Err(provider.refused("the answer does not say which provider it is from"));
        }
        _ => {}
    }
    match callback.error {
        Some("access_denied") => {
            let message = format!("{} did not let you in, or you canceled there", settings.label);
            Err(Error::invalid("sign_on", message))
        }
        Some(word) if is_error_word(word) => {
            Err(provider.refused(&format!("the provider answered {word}")))
        }
        Some(_) => Err(provider.refused("the provider answered with an error")),
        None if callback.code.is_empty() || callback.code.len() > CODE_MAX => {
            Err(provider.refused("the provider answered without a code"))
        }
        None => Ok(()),
    }
}

fn identity(provider: &Provider, claims: &Claims) -> Identity {
    let subject = claims.text("sub").unwrap_or_default();
    Identity::new(&provider.settings.issuer, subject, claims.email().0)
}

async fn link(app: &App, caller: &Caller, provider: &Provider, claims: &Claims) -> Result<()> {
    let (identity, now) = (identity(provider, claims), app.clock.now());
    let (caller, label) = (caller.clone(), provider.settings.label.clone());
    app.db
        .write(move |tx| {
            let actor = Actor::from(&caller);
            identities::link(tx, (caller.user, actor), &identity, &label, now)
        })
        .await
}

/// Takes a fresh sign-in at the provider as proof of identity. A provider that says when the person signed in must say
/// that it was just now.
async fn prove(app: &App, caller: &Caller, provider: &Provider, claims: &Claims) -> Result<()> {
    if claims.authenticated_at().is_some_and(|it| !sessions::is_recent(it, app.clock.now())) {
        return Err(provider.refused("it did not ask you to sign in again"));
    }
    let identity = identity(provider, claims);
    let owner = app.db.write(move |tx| identities::find(tx, &identity)).await?;
    if owner != Some(caller.user) {
        let label = &provider.settings.label;
        let message = format!("this {label} sign-in is not linked to your account");
        return Err(Error::invalid("sign_on", message));
    }
    sessions::prove(app, caller).await
}

/// Signs in the person to whom the identity belongs: by issuer and subject, then by a verified email if the operator
/// allows that, then as a new person if a rule of the operator lets them in or an admin has invited their verified email.
async fn sign_in(
    app: &App,
    provider: &Provider,
    claims: Claims,
    from: Visit,
) -> Result<SignInOutcome> {
    let settings = provider.settings.clone();
    let person = ClaimedPerson {
        identity: identity(provider, &claims),
        verified_email: verified_email(&claims),
        new_user: prepare_new(app, &claims).await?,
        is_allowed_by_rules: is_allowed_by_rules(&settings, &claims),
        needs_verified_email: app.single_sign_on.providers().any(|it| it.link_verified_email),
        is_admin: is_in_any(&settings.admin_groups, &settings, &claims),
    };
    let (mine, now) = (app.clone(), app.clock.now());
    let authenticated_at = claims.authenticated_at().unwrap_or(now).min(now);
    app.db
        .write(move |tx| {
            let user = find_or_create(tx, &settings, person, &from, now)?;
            let first_step = FirstStep::SingleSignOn { authenticated_at };
            sign_ins::finish_first_step(tx, &mine, user, first_step, from)
        })
        .await
}

/// The person who signs in, as the provider describes them and as far as a transaction needs it.
struct ClaimedPerson {
    identity: Identity,
    verified_email: Option<String>,
    /// The account that the person gets if they have none and may have one; none without a usable email.
    new_user: Option<User>,
    /// See `is_allowed_by_rules`.
    is_allowed_by_rules: bool,
    /// Whether a new account must have a verified email, because a provider links accounts by email: otherwise somebody
    /// could make an account with the email of another person, who would later be signed in to it.
    needs_verified_email: bool,
    is_admin: bool,
}

fn verified_email(claims: &Claims) -> Option<String> {
    let (email, is_verified) = claims.email();
    users::normalize_email(email.filter(|_| is_verified)?).ok()
}

fn is_in_any(groups: &[String], settings: &ProviderSettings, claims: &Claims) -> bool {
    let theirs = claims.groups(&settings.groups_claim).unwrap_or_default();
    theirs.iter().any(|it| groups.contains(it))
}

/// The provider's settings `create_for_domains`, `create_for_groups` and `admin_groups` are the operator's rules for who gets
/// an account.
fn is_allowed_by_rules(settings: &ProviderSettings, claims: &Claims) -> bool {
    let verified = verified_email(claims);
    let domain = verified.as_ref().and_then(|it| it.rsplit_once('@')).map(|(_, it)| it);
    let has_domain = |it: &String| Some(it.to_lowercase().as_str()) == domain;
    settings.create_for_domains.iter().any(has_domain)
        || is_in_any(&settings.create_for_groups, settings, claims)
        || is_in_any(&settings.admin_groups, settings, claims)
}

async fn prepare_new(app: &App, claims: &Claims) -> Result<Option<User>> {
    let email = claims.email().0.filter(|it| users::normalize_email(it).is_ok());
    let Some(email) = email else { return Ok(None) };
    let new = NewUser {
        email: email.to_owned(),
        preferred_name: claims.name(),
        base_currency: Currency::USD,
        timezone: claims.timezone(),
        password: None,
    };
    Ok(Some(users::prepare(app, new).await?.0))
}

fn find_or_create(
    tx: &mut Tx<'_>,
    settings: &ProviderSettings,
    person: ClaimedPerson,
    from: &Visit,
    now: Timestamp,
) -> Result<UserId> {
    let ClaimedPerson { identity, verified_email, is_allowed_by_rules, is_admin, .. } = person;
    let is_unverified = person.needs_verified_email && verified_email.is_none();
    let user = match identities::find(tx, &identity)? {
        Some(user) => user,
        None => {
            let known = match verified_email.as_ref().filter(|_| settings.link_verified_email) {
                Some(email) => tx.first(BY_EMAIL, params![email], |row| row.get(0))?,
                None => None,
            };
            let actor = Actor::visitor(from.address.as_deref());
            let user = match known {
                Some(user) => user,
                None if is_unverified && is_allowed_by_rules => return Err(unverified(settings)),
                None => {
                    let is_invited = match &verified_email {
                        Some(email) => invitations::accept_verified(tx, email, now)?,
                        None => false,
                    };
                    let new_user = person.new_user.filter(|_| is_allowed_by_rules || is_invited);
                    create(tx, settings, new_user, is_admin, &actor, now)?
                }
            };
            identities::link(tx, (user, actor), &identity, &settings.label, now)?;
            user
        }
    };
    identities::note_use(tx, user, &identity, now)?;
    if !settings.admin_groups.is_empty() {
        set_role(tx, settings, user, is_admin, now)?;
    }
    Ok(user)
}

fn unverified(settings: &ProviderSettings) -> Error {
    let label = &settings.label;
    let message =
        format!("{label} has not verified your email; verify it there, and then sign in again");
    Error::invalid("sign_on", message)
}

fn create(
    tx: &mut Tx<'_>,
    settings: &ProviderSettings,
    new: Option<User>,
    is_admin: bool,
    actor: &Actor,
    now: Timestamp,
) -> Result<UserId> {
    let label = &settings.label;
    let Some(new) = new else {
        let message = format!(
            "no account here belongs to this {label} sign-in; if you have one, sign in to it another way and link \
             {label} under Settings, Security"
        );
        return Err(Error::invalid("sign_on", message));
    };
    users::lock_registration(tx)?;
    if !is_admin && !users::is_anyone(tx)? {
        let message = "this installation is not set up yet; open /setup with the setup code first";
        return Err(Error::invalid("sign_on", message));
    }
    if tx.first(BY_EMAIL, params![&new.email], |row| row.get::<UserId>(0))?.is_some() {
        let message = format!(
            "{} already has an account here; sign in to it another way and link {label} under Settings, Security",
            new.email
        );
        return Err(Error::invalid("sign_on", message));
    }
    let user = users::insert(tx, new, None)?;
    let details = format!("Created the account at the first {label} sign-in");
    audit::note(tx, user.id, now, Note::new(actor.clone(), "sign_up.create", details))?;
    Ok(user.id)
}

/// Makes the person an admin or a member, as the provider's groups say. The last admin stays one.
fn set_role(
    tx: &mut Tx<'_>,
    settings: &ProviderSettings,
    user: UserId,
    is_admin: bool,
    now: Timestamp,
) -> Result<()> {
    let role: Option<Role> = tx.first(ROLE, params![user], |row| row.get(0))?;
    let wanted = if is_admin { Role::Admin } else { Role::Member };
    if role == Some(wanted) {
        return Ok(());
    }
    // Two admins must not be made members at the same time.
    users::lock_registration(tx)?;
    users::lock(tx, user)?;
    let statement = if is_admin { PROMOTE } else { DEMOTE };
    if tx.execute(statement, params![user, now])? == 0 {
        return Ok(());
    }
    let label = &settings.label;
    let details = match wanted {
        Role::Admin => format!("Became an admin by a group at {label}"),
        Role::Member => format!("Is no admin anymore by the groups at {label}"),
    };
    audit::note(tx, user, now, Note::new(Actor::system(), "role.change", details))
}

const BY_EMAIL: &str = "select id from users where email = $1";
const ROLE: &str = "select role from users where id = $1";
const PROMOTE: &str = "update users set role = 'admin', updated_at = $2 where id = $1";
const DEMOTE: &str = "update users set role = 'member', updated_at = $2 where id = $1
    and exists (select 1 from users o where o.role = 'admin' and o.id <> $1)";

pub(super) const STATEMENTS: &[&str] = &[BY_EMAIL, ROLE, PROMOTE, DEMOTE];
