//! Idempotency keys: the answer to a change is stored in the change's own transaction, so that a stored answer always
//! means it happened and a missing one that it did not.

use base::{CLOCK_SKEW_MICROSECONDS, Timestamp};
use db::params;
use wire::v1::Code;

use crate::{App, Caller, Error, Result};

/// How long a claim keeps others out before a crash is assumed.
const LEASE_SECONDS: i64 = 60;
const LIFE_SECONDS: i64 = 24 * 3600;

/// A request that must have one effect however often it is sent.
#[derive(Debug, Clone)]
pub struct Request {
    pub key: String,
    /// Method and path: the same key elsewhere is another key.
    pub scope: String,
    /// Of everything that makes the request what it is.
    pub fingerprint: [u8; 32],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// What is said besides `meta`.
    pub body: String,
}

/// What a change says, and what is said again when it differs: a secret is told once, and never kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub first: Answer,
    pub again: Option<Answer>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub answer: Answer,
    pub replayed: bool,
}

/// Reads a key as clients send it: visible ASCII, bare or in quotes.
pub fn parse_key(header: &str) -> Result<String> {
    let bare = header.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(header);
    let visible = bare.bytes().all(|it| (0x21..=0x7e).contains(&it));
    if bare.is_empty() || bare.len() > 255 || !visible {
        return Err(Error::invalid(
            "Idempotency-Key",
            "Idempotency-Key must have 1 to 255 visible ASCII characters, such as a UUID",
        ));
    }
    Ok(bare.to_owned())
}

/// Runs `work` once for the request: again it gets the first answer. An error is answered by `refuse` and kept too
/// when that gives an answer; without one (bad input, trouble of ours) the key is free again.
pub async fn run(
    app: &App,
    caller: &Caller,
    request: Request,
    work: impl FnOnce(&mut db::Tx<'_>) -> Result<Answer> + Send + 'static,
    refuse: impl Fn(&Error) -> Option<Answer>,
) -> Result<Outcome> {
    let work = move |tx: &mut db::Tx<'_>, ()| Ok(Told { first: work(tx)?, again: None });
    run_prepared(app, caller, request, std::future::ready(Ok(())), work, refuse).await
}

/// The same where something must be found out before the transaction, such as by asking another host: that too is done
/// for the first request alone. It must take less time than a claim lasts.
pub async fn run_prepared<T: Send + 'static>(
    app: &App,
    caller: &Caller,
    request: Request,
    prepare: impl Future<Output = Result<T>>,
    work: impl FnOnce(&mut db::Tx<'_>, T) -> Result<Told> + Send + 'static,
    refuse: impl Fn(&Error) -> Option<Answer>,
) -> Result<Outcome> {
    let owner = match claim(app, caller, &request).await? {
        Claim::Ours(owner) => owner,
        Claim::Answered(answer) => return Ok(Outcome { answer, replayed: true }),
    };
    let storing = owner.clone();
    let write = move |tx: &mut db::Tx<'_>, prepared: T| {
        let Told { first, again } = work(tx, prepared)?;
        storing.store(tx, again.as_ref().unwrap_or(&first))?;
        Ok::<_, Error>(first)
    };
    let done = match prepare.await {
        Ok(prepared) => app.db.write(move |tx| write(tx, prepared)).await,
        Err(error) => Err(error),
    };
    match done {
        Ok(answer) => Ok(Outcome { answer, replayed: false }),
        Err(error) => {
            let Some(answer) = refuse(&error) else {
                app.db.write(move |tx| owner.release(tx)).await?;
                return Err(error);
            };
            let kept = answer.clone();
            app.db.write(move |tx| owner.store(tx, &kept)).await?;
            Ok(Outcome { answer, replayed: false })
        }
    }
}

enum Claim {
    Ours(Owner),
    Answered(Answer),
}

/// Takes the key for this request, or finds the answer it already has.
async fn claim(app: &App, caller: &Caller, request: &Request) -> Result<Claim> {
    let now = app.clock.now();
    let owner = Owner::new(caller, request, seconds_before(now, -LEASE_SECONDS));
    let fingerprint = request.fingerprint;
    app.db
        .write(move |tx| {
            let oldest = seconds_before(now, LIFE_SECONDS);
            tx.execute(FORGET, &owner.with(oldest))?;
            let [user, credential, scope, key] = owner.params();
            let (fingerprint_now, lease) = (fingerprint[..].into(), owner.leased_until.into());
            let lease_end = owner.leased_until + CLOCK_SKEW_MICROSECONDS;
            let claim = [user, credential, scope, key, fingerprint_now, lease, now.into()];
            let claim: Vec<_> = claim.into_iter().chain([lease_end.into()]).collect();
            let claimed = tx.execute(CLAIM, &claim)?;
            if claimed == 1 {
                return Ok(Claim::Ours(owner));
            }
            let found = tx.first(FIND, &owner.params(), |row| {
                let stored: Vec<u8> = row.get(0)?;
                Ok((stored, row.get::<Option<i64>>(1)?, row.get::<Option<String>>(2)?))
            })?;
            match found {
                Some((stored, ..)) if stored != fingerprint => Err(Error::Conflict {
                    code: Code::IdempotencyKeyReused,
                    message: "this Idempotency-Key was used for a different request".to_owned(),
                }),
                Some((_, Some(status), Some(body))) => {
                    Ok(Claim::Answered(Answer { status: status as u16, body }))
                }
                _ => Err(in_progress()),
            }
        })
        .await
}

fn in_progress() -> Error {
    Error::Conflict {
        code: Code::IdempotencyInProgress,
        message: "a request with this Idempotency-Key is still running".to_owned(),
    }
}

/// Forgets answers that are older than a day; a background step.
pub async fn forget_once(app: &App) -> Result<usize> {
    let oldest = seconds_before(app.clock.now(), LIFE_SECONDS);
    let forget =
        move |tx: &mut db::Tx<'_>| Ok::<_, Error>(tx.execute(FORGET_OLD, params![oldest])?);
    Ok(app.db.write(forget).await? as usize)
}

fn seconds_before(now: Timestamp, seconds: i64) -> i64 {
    now.as_microsecond() - seconds * 1_000_000
}

/// Whose key it is: the row's own key, and the lease, which no two claims of a key share.
#[derive(Clone)]
struct Owner {
    user: base::UserId,
    credential: [u8; 16],
    scope: String,
    key: String,
    leased_until: i64,
}

impl Owner {
    fn new(caller: &Caller, request: &Request, leased_until: i64) -> Owner {
        let credential = caller.credential_id();
        let (scope, key) = (request.scope.clone(), request.key.clone());
        Owner { user: caller.user, credential, scope, key, leased_until }
    }

    fn params(&self) -> [db::Param<'_>; 4] {
        let credential = db::Param::Id(Some(self.credential));
        [self.user.into(), credential, (&self.scope).into(), (&self.key).into()]
    }

    fn with(&self, last: i64) -> [db::Param<'_>; 5] {
        let [user, credential, scope, key] = self.params();
        [user, credential, scope, key, last.into()]
    }

    /// Fails when the lease ran out and somebody else took the key meanwhile: then they do it, and we must not.
    fn store(&self, tx: &mut db::Tx<'_>, answer: &Answer) -> Result<()> {
        let [user, credential, scope, key, lease] = self.with(self.leased_until);
        let (status, body) = (i64::from(answer.status).into(), (&answer.body).into());
        let stored = tx.execute(STORE, &[user, credential, scope, key, lease, status, body])?;
        if stored == 1 { Ok(()) } else { Err(in_progress()) }
    }

    fn release(&self, tx: &mut db::Tx<'_>) -> Result<()> {
        tx.execute(RELEASE, &self.with(self.leased_until))?;
        Ok(())
    }
}

const FORGET: &str =
    "delete from idempotency_keys where user_id = $1 and credential_id = $2 and scope = $3
    and idempotency_key = $4 and created_at <= $5";
// A claim whose lease ran out belongs to a process that died before its transaction: it did not happen. A lease further
// ahead than any was taken before the clock was set back.
const CLAIM: &str = "insert into idempotency_keys
    (user_id, credential_id, scope, idempotency_key, fingerprint, leased_until, created_at)
    values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (user_id, credential_id, scope, idempotency_key) do update
    set leased_until = excluded.leased_until
    where idempotency_keys.status is null
    and (idempotency_keys.leased_until <= excluded.created_at or idempotency_keys.leased_until > $8)
    and idempotency_keys.fingerprint = excluded.fingerprint";
const FIND: &str = "select fingerprint, status, body from idempotency_keys
    where user_id = $1 and credential_id = $2 and scope = $3 and idempotency_key = $4";
const STORE: &str = "update idempotency_keys set status = $6, body = $7
    where user_id = $1 and credential_id = $2 and scope = $3 and idempotency_key = $4
    and leased_until = $5 and status is null";
const RELEASE: &str = "delete from idempotency_keys where user_id = $1 and credential_id = $2
    and scope = $3 and idempotency_key = $4 and leased_until = $5 and status is null";
const FORGET_OLD: &str = "delete from idempotency_keys where created_at <= $1";

pub(crate) const STATEMENTS: &[&str] = &[FORGET, CLAIM, FIND, STORE, RELEASE, FORGET_OLD];
