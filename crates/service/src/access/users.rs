//! People: who they are, and the password they sign in with.

use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Argon2, PasswordHash};
use base::{Currency, Timestamp, UserId};
use db::params;
use wire::json::Moment;
use wire::v1::{self, Scope};

use crate::access::{sessions, sign_ins};
use crate::platform::anchors;
use crate::platform::audit::{self, Note};
use crate::platform::person_lock;
use crate::{App, Caller, Error, Result, Tx};

#[derive(Debug, Clone)]
pub struct User {
    pub id: UserId,
    pub email: String,
    pub preferred_name: Option<String>,
    pub image: Option<String>,
    pub base_currency: Currency,
    pub connected_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub role: Role,
    /// Whether a passkey is asked for behind the password.
    pub second_step: bool,
}

base::words!(
    /// What a person may do in the installation.
    Role {
        /// May invite others. The first person is an admin.
        Admin => "admin",
        Member => "member",
    }
);
db::word_columns!(Role);

impl From<&User> for v1::Profile {
    fn from(user: &User) -> v1::Profile {
        v1::Profile {
            id: user.id.to_string(),
            email: user.email.clone(),
            connected_at: user.connected_at.map(Moment),
            preferred_name: user.preferred_name.clone(),
            image: user.image.clone(),
            created_at: Moment(user.created_at),
        }
    }
}

#[derive(Debug, Clone)]
pub struct NewUser {
    pub email: String,
    pub preferred_name: Option<String>,
    pub base_currency: Currency,
    pub password: Option<String>,
}

/// Hashes are slow and large on purpose; only so many are made at a time, so that a flood of sign-ins costs the
/// visitors time and not the machine its memory.
pub struct Hashing(tokio::sync::Semaphore);

impl Default for Hashing {
    fn default() -> Hashing {
        Hashing(tokio::sync::Semaphore::new(4))
    }
}

impl Hashing {
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let closed = |error: &dyn std::error::Error| Error::internal(error.to_string());
        let _turn = self.0.acquire().await.map_err(|error| closed(&error))?;
        tokio::task::spawn_blocking(work).await.map_err(|error| closed(&error))?
    }
}

pub const PASSWORD_LENGTH_MIN: usize = 10;
const PASSWORD_LENGTH_MAX: usize = 256;

pub async fn create(app: &App, new: NewUser) -> Result<User> {
    let (user, hash) = prepare(app, new).await?;
    app.db.write(move |tx| insert(tx, user, hash)).await
}

/// What is slow about making a person, and so has no place in a transaction.
pub(crate) async fn prepare(app: &App, new: NewUser) -> Result<(User, Option<String>)> {
    let email = normal_email(&new.email)?;
    let hash = match &new.password {
        Some(password) => Some(hash_password(app, password).await?),
        None => None,
    };
    let now = app.clock.now();
    let user = User {
        id: app.ids.make(),
        email,
        preferred_name: new.preferred_name.filter(|it| !it.trim().is_empty()),
        image: None,
        base_currency: new.base_currency,
        connected_at: None,
        created_at: now,
        role: Role::Member,
        second_step: false,
    };
    Ok((user, hash))
}

/// The first person keeps the installation. Arrivals wait for one another, so that no two are first.
pub(crate) fn insert(tx: &mut Tx<'_>, mut user: User, hash: Option<String>) -> Result<User> {
    lock_arrivals(tx)?;
    let first = tx.first(ANYONE, &[], |row| row.get::<i64>(0))?.is_none();
    user.role = if first { Role::Admin } else { Role::Member };
    let inserted = tx.execute(
        INSERT,
        params![
            user.id,
            &user.email,
            &user.preferred_name,
            user.base_currency.code(),
            &hash,
            user.created_at,
            user.role.as_str()
        ],
    );
    match inserted {
        Ok(_) => {
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

/// Makes whoever else gets an account wait for the end of the transaction.
pub(crate) fn lock_arrivals(tx: &mut Tx<'_>) -> Result<()> {
    tx.execute(LOCK_ARRIVALS, &[])?;
    Ok(())
}

/// The caller's own profile.
pub async fn get(app: &App, caller: &Caller) -> Result<User> {
    caller.require(Scope::ProfileRead)?;
    by_id(app, caller.user).await
}

/// The base currency that totals are told in.
pub async fn base_currency(app: &App, caller: &Caller) -> Result<Currency> {
    Ok(by_id(app, caller.user).await?.base_currency)
}

pub(crate) async fn by_id(app: &App, id: UserId) -> Result<User> {
    let found = app.db.first(BY_ID, params![id], read).await?;
    found.ok_or(Error::NotFound("user"))
}

pub async fn find_by_email(app: &App, email: &str) -> Result<Option<User>> {
    let email = normal_email(email)?;
    Ok(app.db.first(BY_EMAIL, params![&email], read).await?)
}

/// Everyone, in order of arrival; an operator's view.
pub async fn list(app: &App, limit: usize) -> Result<Vec<User>> {
    Ok(app.db.all(LIST, params![limit as i64], read).await?)
}

/// Replaces the password on the operator's word, and ends all sessions: whoever had the old one is out. Failed sign-ins
/// no longer count, so that the operator can help somebody who is locked out.
pub async fn set_password(app: &App, user: UserId, password: &str) -> Result<()> {
    let hash = hash_password(app, password).await?;
    let (now, operator) = (app.clock.now(), Caller::owner(user));
    app.db
        .write(move |tx| {
            if tx.execute(SET_PASSWORD, params![user, &hash, now])? == 0 {
                return Err(Error::NotFound("user"));
            }
            sessions::end_others(tx, &operator)?;
            if let Some(email) = tx.first(EMAIL_OF, params![user], |row| row.get::<String>(0))? {
                sign_ins::clear_account(tx, &email)?;
            }
            let details = "Replaced the password and ended all sessions";
            audit::note(tx, user, now, Note::new(&operator, "password.reset", details))
        })
        .await
}

/// Removes the person and everything of theirs. Where nobody is left to keep the installation, who came first does.
pub async fn delete(app: &App, user: UserId) -> Result<()> {
    let touched = app
        .db
        .write(move |tx| {
            let touched = tx.execute(DELETE, params![user])?;
            tx.execute(PROMOTE_ADMIN, &[])?;
            Ok::<_, Error>(touched)
        })
        .await?;
    app.key_cache.forget_all();
    if touched == 0 { Err(Error::NotFound("user")) } else { Ok(()) }
}

/// Makes whoever else changes this person wait for the end of the transaction.
pub(crate) fn lock(tx: &mut Tx<'_>, user: UserId) -> Result<()> {
    person_lock::lock(tx, user)?;
    Ok(())
}

/// How somebody can get in, as it is within a transaction.
pub(crate) struct Standing {
    pub(crate) has_password: bool,
    pub(crate) second_step: bool,
}

pub(crate) fn standing(tx: &mut Tx<'_>, user: UserId) -> Result<Standing> {
    tx.first(STANDING, params![user], read_standing)?.ok_or(Error::NotFound("user"))
}

pub async fn has_password(app: &App, user: UserId) -> Result<bool> {
    let found = app.db.first(STANDING, params![user], read_standing).await?;
    Ok(found.is_some_and(|it| it.has_password))
}

fn read_standing(row: &db::Row<'_>) -> db::Result<Standing> {
    let has = |column| Ok::<_, db::Error>(row.get::<Option<&str>>(column)?.is_some());
    Ok(Standing { has_password: has(0)?, second_step: has(1)? })
}

/// Whether the password is the person's. Takes as long for an unknown person as for a wrong password, so that
/// nobody can find out who has an account here.
pub async fn check_password(app: &App, email: &str, password: &str) -> Result<Option<User>> {
    let email = normal_email(email)?;
    let found = app
        .db
        .first(PASSWORD, params![&email], |row| Ok((read(row)?, row.get::<Option<String>>(9)?)))
        .await?;
    let (user, hash) = match found {
        Some((user, Some(hash))) => (Some(user), hash),
        _ => (None, UNKNOWN_HASH.to_owned()),
    };
    let password = password.to_owned();
    let verify = move || {
        let hash = PasswordHash::new(&hash).map_err(|error| Error::internal(error.to_string()))?;
        Ok(Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
    };
    let fits = app.hashing.run(verify).await?;
    Ok(user.filter(|_| fits))
}

/// The hash of a password nobody has, with the same cost as real ones.
const UNKNOWN_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$ZXZlbmtlZWwtbm9ib2R5$\
    3q2+796tvu/erb7v3q2+796tvu/erb7v3q2+796tvu8";

pub(crate) async fn hash_password(app: &App, password: &str) -> Result<String> {
    let length = password.chars().count();
    if !(PASSWORD_LENGTH_MIN..=PASSWORD_LENGTH_MAX).contains(&length) {
        return Err(Error::invalid(
            "password",
            format!("password must have {PASSWORD_LENGTH_MIN} to {PASSWORD_LENGTH_MAX} characters"),
        ));
    }
    let salt: [u8; 16] = app.entropy.bytes();
    let password = password.to_owned();
    let hash = move || {
        let hash = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt);
        hash.map(|it| it.to_string()).map_err(|error| Error::internal(error.to_string()))
    };
    app.hashing.run(hash).await
}

/// Lower case and trimmed, so that one person is one row however they type it.
pub(crate) fn normal_email(email: &str) -> Result<String> {
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
    })
}

const INSERT: &str = "insert into users
    (id, email, preferred_name, base_currency, password_hash, created_at, updated_at, role)
    values ($1, $2, $3, $4, $5, $6, $6, $7)";
const ANYONE: &str = "select created_at from users limit 1";
const BY_ID: &str =
    "select id, email, preferred_name, image, base_currency, connected_at, created_at,
    role, second_step from users where id = $1";
const BY_EMAIL: &str =
    "select id, email, preferred_name, image, base_currency, connected_at, created_at,
    role, second_step from users where email = $1";
const PASSWORD: &str =
    "select id, email, preferred_name, image, base_currency, connected_at, created_at,
    role, second_step, password_hash from users where email = $1";
const EMAIL_OF: &str = "select email from users where id = $1";
const LIST: &str =
    "select id, email, preferred_name, image, base_currency, connected_at, created_at,
    role, second_step from users order by id limit $1";
pub(crate) const SET_PASSWORD: &str =
    "update users set password_hash = $2, updated_at = $3 where id = $1";
const LOCK_ARRIVALS: &str = "insert into installation (name, value) values ('arrivals', 'locked')
    on conflict (name) do update set value = excluded.value";
const PROMOTE_ADMIN: &str = "update users set role = 'admin'
    where id in (select id from users order by created_at, id limit 1)
    and not exists (select 1 from users where role = 'admin')";
const STANDING: &str = "select password_hash, second_step from users where id = $1";
const DELETE: &str = "delete from users where id = $1";

pub(crate) const STATEMENTS: &[&str] = &[
    INSERT,
    ANYONE,
    BY_ID,
    BY_EMAIL,
    PASSWORD,
    EMAIL_OF,
    LIST,
    SET_PASSWORD,
    LOCK_ARRIVALS,
    PROMOTE_ADMIN,
    STANDING,
    DELETE,
];
