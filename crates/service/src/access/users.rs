//! People with an account: their email, name, role and password.

use base::{Currency, TimeZone, Timestamp, UserId};
use db::params;
use wire::json::Moment;
use wire::v1::{self, Scope};

use crate::access::passwords;
use crate::platform::{anchors, ended_access, person_lock};
use crate::{App, Caller, Error, Result, Tx};

#[derive(Debug, Clone)]
pub struct User {
    pub id: UserId,
    pub email: String,
    pub preferred_name: Option<String>,
    pub image: Option<String>,
    pub base_currency: Currency,
    /// Decides the person's dates: what is today, this month, or due.
    pub timezone: TimeZone,
    pub connected_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub role: Role,
    /// Whether signing in takes a passkey in addition to the password.
    pub second_step: bool,
}

base::words!(
    /// The role of a person in the installation.
    Role {
        /// May invite others. The first person is an admin.
        Admin => "admin",
        Member => "member",
    }
);
db::word_columns!(Role);

impl User {
    /// The operator as the caller on behalf of this person.
    pub fn owner(&self) -> Caller {
        Caller::owner(self.id, self.timezone)
    }
}

impl From<&User> for v1::Profile {
    fn from(user: &User) -> v1::Profile {
        v1::Profile {
            id: user.id.to_string(),
            email: user.email.clone(),
            connected_at: user.connected_at.map(Moment),
            preferred_name: user.preferred_name.clone(),
            image: user.image.clone(),
            timezone: user.timezone.name(),
            created_at: Moment(user.created_at),
        }
    }
}

#[derive(Debug, Clone)]
pub struct NewUser {
    pub email: String,
    pub preferred_name: Option<String>,
    pub base_currency: Currency,
    pub timezone: TimeZone,
    pub password: Option<String>,
}

pub async fn create(app: &App, new: NewUser) -> Result<User> {
    let (user, hash) = prepare(app, new).await?;
    app.db.write(move |tx| insert(tx, user, hash)).await
}

/// Validates a new person and hashes the password. Hashing is slow, so it must not happen in a transaction.
pub(crate) async fn prepare(app: &App, new: NewUser) -> Result<(User, Option<String>)> {
    let email = normalize_email(&new.email)?;
    let hash = match &new.password {
        Some(password) => Some(passwords::hash(app, password).await?),
        None => None,
    };
    let now = app.clock.now();
    let user = User {
        id: app.ids.make(),
        email,
        preferred_name: new.preferred_name.filter(|it| !it.trim().is_empty()),
        image: None,
        base_currency: new.base_currency,
        timezone: new.timezone,
        connected_at: None,
        created_at: now,
        role: Role::Member,
        second_step: false,
    };
    Ok((user, hash))
}

/// Inserts a new person. The first person becomes the admin; the lock keeps two from being first at once.
pub(crate) fn insert(tx: &mut Tx<'_>, mut user: User, hash: Option<String>) -> Result<User> {
    lock_registration(tx)?;
    user.role = if is_anyone(tx)? { Role::Member } else { Role::Admin };
    let inserted = tx.execute(
        INSERT,
        params![
            user.id,
            &user.email,
            &user.preferred_name,
            user.base_currency.code(),
            &hash,
            user.created_at,
            user.role.as_str(),
            user.timezone
        ],
    );
    match inserted {
        Ok(_) => {
            person_lock::create(tx, user.id)?;
            anchors::create(
                tx,
                user.id,
                anchors::AUDIT,
                &anchors::ChainEnd::default(),
                user.created_at,
            )?;
            Ok(user)
        }
        Err(db::Error::Unique) => {
            let message = format!("{} already has an account here", user.email);
            Err(Error::invalid("email", message))
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether anyone has an account.
pub(crate) fn is_anyone(tx: &mut Tx<'_>) -> Result<bool> {
    Ok(tx.first(ANYONE, &[], |row| row.get::<i64>(0))?.is_some())
}

/// Makes other registrations wait until the transaction ends.
pub(crate) fn lock_registration(tx: &mut Tx<'_>) -> Result<()> {
    tx.execute(LOCK_REGISTRATION, &[])?;
    Ok(())
}

/// The caller's own profile.
pub async fn get(app: &App, caller: &Caller) -> Result<User> {
    caller.require(Scope::ProfileRead)?;
    get_by_id(app, caller.user).await
}

/// The currency that the caller's totals are converted to.
pub async fn base_currency(app: &App, caller: &Caller) -> Result<Currency> {
    Ok(get_by_id(app, caller.user).await?.base_currency)
}

pub(crate) async fn get_by_id(app: &App, id: UserId) -> Result<User> {
    let found = app.db.first(BY_ID, params![id], read).await?;
    found.ok_or(Error::NotFound("user"))
}

/// The person's time zone, in a transaction that has no caller.
pub(crate) fn timezone_in(tx: &mut Tx<'_>, user: UserId) -> Result<TimeZone> {
    tx.first(TIMEZONE, params![user], |row| row.get(0))?.ok_or(Error::NotFound("user"))
}

pub async fn find_by_email(app: &App, email: &str) -> Result<Option<User>> {
    let email = normalize_email(email)?;
    Ok(app.db.first(BY_EMAIL, params![&email], read).await?)
}

/// Lists all people in the order in which they registered, for an operator.
pub async fn list(app: &App, limit: usize) -> Result<Vec<User>> {
    Ok(app.db.all(LIST, params![limit as i64], read).await?)
}

/// Deletes the person and all their data. If no admin is left, the person who registered first becomes admin.
pub async fn delete(app: &App, user: UserId) -> Result<()> {
    let deleted = app
        .db
        .write(move |tx| {
            tx.allow_long_statements()?;
            lock(tx, user)?;
            ended_access::queue_all(tx, user)?;
            let deleted = tx.execute(DELETE, params![user])?;
            tx.execute(PROMOTE_ADMIN, &[])?;
            Ok::<_, Error>(deleted)
        })
        .await?;
    app.key_cache.clear();
    if deleted == 0 { Err(Error::NotFound("user")) } else { Ok(()) }
}

/// Makes other writers of this person's data wait until the transaction ends.
pub(crate) fn lock(tx: &mut Tx<'_>, user: UserId) -> Result<()> {
    person_lock::lock(tx, user)?;
    Ok(())
}

/// The ways in which a person can sign in.
pub(crate) struct SignInOptions {
    pub(crate) has_password: bool,
    pub(crate) second_step: bool,
    pub(crate) passkeys: i64,
    /// Identities at providers of single sign-on.
    identities: i64,
}

impl SignInOptions {
    /// Whether the person can sign in at all, in an installation that takes passwords or does not.
    pub(crate) fn can_sign_in(&self, takes_passwords: bool) -> bool {
        (self.has_password && takes_passwords) || self.passkeys > 0 || self.identities > 0
    }
}

pub(crate) fn sign_in_options(tx: &mut Tx<'_>, user: UserId) -> Result<SignInOptions> {
    tx.first(SIGN_IN_OPTIONS, params![user], read_options)?.ok_or(Error::NotFound("user"))
}

pub async fn has_password(app: &App, user: UserId) -> Result<bool> {
    let found = app.db.first(SIGN_IN_OPTIONS, params![user], read_options).await?;
    Ok(found.is_some_and(|it| it.has_password))
}

fn read_options(row: &db::Row<'_>) -> db::Result<SignInOptions> {
    let has = |column| Ok::<_, db::Error>(row.get::<Option<&str>>(column)?.is_some());
    Ok(SignInOptions {
        has_password: has(0)?,
        second_step: has(1)?,
        passkeys: row.get(2)?,
        identities: row.get(3)?,
    })
}

/// The person with that email, if the password is theirs. An unknown email takes as long as a wrong password, so that
/// nobody can find out who has an account here.
pub async fn check_password(app: &App, email: &str, password: &str) -> Result<Option<User>> {
    let email = normalize_email(email)?;
    let found = app
        .db
        .first(PASSWORD, params![&email], |row| Ok((read(row)?, row.get::<Option<String>>(10)?)))
        .await?;
    let (user, hash) = match found {
        Some((user, Some(hash))) => (Some(user), Some(hash)),
        _ => (None, None),
    };
    let is_right = passwords::verify(app, hash, password).await?;
    Ok(user.filter(|_| is_right))
}

/// Checks the form of an email, before anything is created with it.
pub fn check_email(email: &str) -> Result<()> {
    normalize_email(email).map(|_| ())
}

/// The email trimmed and in lower case, so that it is the same however the person types it.
pub(crate) fn normalize_email(email: &str) -> Result<String> {
    let email = email.trim().to_lowercase();
    let looks_right = email.len() <= 254
        && email.split_once('@').is_some_and(|(local, domain)| {
            !local.is_empty() && !domain.is_empty() && !domain.contains('@')
        })
        && !email.chars().any(|it| it.is_whitespace() || it.is_control());
    if looks_right {
        Ok(email)
    } else {
        Err(Error::invalid("email", "email must be an email address such as robin@example.com"))
    }
}

fn read(row: &db::Row<'_>) -> db::Result<User> {
    Ok(User {
        id: row.get(0)?,
        email: row.get(1)?,
        preferred_name: row.get(2)?,
        image: row.get(3)?,
        base_currency: row.get(4)?,
        connected_at: row.get(5)?,
        created_at: row.get(6)?,
        role: row.get(7)?,
        second_step: row.get::<Option<&str>>(8)?.is_some(),
        timezone: row.get(9)?,
    })
}

const INSERT: &str = "insert into users
    (id, email, preferred_name, base_currency, password_hash, created_at, updated_at, role,
    timezone) values ($1, $2, $3, $4, $5, $6, $6, $7, $8)";
const ANYONE: &str = "select created_at from users limit 1";
const BY_ID: &str =
    "select id, email, preferred_name, image, base_currency, connected_at, created_at,
    role, second_step, timezone from users where id = $1";
const BY_EMAIL: &str =
    "select id, email, preferred_name, image, base_currency, connected_at, created_at,
    role, second_step, timezone from users where email = $1";
const PASSWORD: &str =
    "select id, email, preferred_name, image, base_currency, connected_at, created_at,
    role, second_step, timezone, password_hash from users where email = $1";
const LIST: &str =
    "select id, email, preferred_name, image, base_currency, connected_at, created_at,
    role, second_step, timezone from users order by id limit $1";
pub(crate) const SET_PASSWORD: &str =
    "update users set password_hash = $2, updated_at = $3 where id = $1";
const LOCK_REGISTRATION: &str =
    "insert into installation (name, value) values ('arrivals', 'locked')
    on conflict (name) do update set value = excluded.value";
const PROMOTE_ADMIN: &str = "update users set role = 'admin'
    where id in (select id from users order by created_at, id limit 1)
    and not exists (select 1 from users where role = 'admin')";
const SIGN_IN_OPTIONS: &str = "select u.password_hash, u.second_step,
    (select count(*) from passkeys p where p.user_id = u.id),
    (select count(*) from identities i where i.user_id = u.id) from users u where u.id = $1";
const TIMEZONE: &str = "select timezone from users where id = $1";
const DELETE: &str = "delete from users where id = $1";

pub(crate) const STATEMENTS: &[&str] = &[
    INSERT,
    ANYONE,
    BY_ID,
    BY_EMAIL,
    PASSWORD,
    LIST,
    SET_PASSWORD,
    LOCK_REGISTRATION,
    PROMOTE_ADMIN,
    SIGN_IN_OPTIONS,
    TIMEZONE,
    DELETE,
];
