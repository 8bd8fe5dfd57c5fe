//! Idempotency keys. The response to a change is stored in the change's own transaction: a stored response means that the
//! change happened, a missing one that it did not.

use base::{CLOCK_SKEW_MICROSECONDS, Timestamp};
use db::params;
use wire::v1::Code;

use crate::{App, Caller, Error, Result};

/// How long a claimed key is locked. After that, the process that claimed it must have crashed.
const LEASE_SECONDS: i64 = 60;
const LIFE_SECONDS: i64 = 24 * 3600;

/// A request that must take effect once, however often it is sent.
#[derive(Debug, Clone)]
pub struct Request {
    pub key: String,
    /// Method and path, because the same key for another endpoint is another key.
    pub scope: String,
    /// A hash of the whole request.
    pub fingerprint: [u8; 32],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResponse {
    pub status: u16,
    /// The response body without `meta`.
    pub body: String,
}

/// The response to a change, and a different one for replays if the first contains a secret, which is never stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeResponse {
    pub first: StoredResponse,
    pub replay: Option<StoredResponse>,
}

/// The response to send, and whether it was stored by an earlier request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentOutcome {
    pub response: StoredResponse,
    pub replayed: bool,
}

/// Parses the header: visible ASCII, with or without quotes.
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

/// Runs `work` once for the request; a repeated request gets the stored response. If `work` fails, `refuse` can turn the
/// error into a response, which is stored too. Otherwise (invalid input, internal errors) the key is released.
pub async fn run(
    app: &App,
    caller: &Caller,
    request: Request,
    work: impl FnOnce(&mut db::Tx<'_>) -> Result<StoredResponse> + Send + 'static,
    refuse: impl Fn(&Error) -> Option<StoredResponse>,
) -> Result<IdempotentOutcome> {
    let work = move |tx: &mut db::Tx<'_>, ()| Ok(ChangeResponse { first: work(tx)?, replay: None });
    run_prepared(app, caller, request, std::future::ready(Ok(())), work, refuse).await
}

/// Does the same as `run`, with a step before the transaction, such as a request to another host. That step also runs
/// for the first request only. It must take less time than the lease.
pub async fn run_prepared<T: Send + 'static>(
    app: &App,
    caller: &Caller,
    request: Request,
    prepare: impl Future<Output = Result<T>>,
    work: impl FnOnce(&mut db::Tx<'_>, T) -> Result<ChangeResponse> + Send + 'static,
    refuse: impl Fn(&Error) -> Option<StoredResponse>,
) -> Result<IdempotentOutcome> {
    let owner = match claim(app, caller, &request).await? {
        Claim::Acquired(owner) => owner,
        Claim::Answered(response) => return Ok(IdempotentOutcome { response, replayed: true }),
    };
    let storing = owner.clone();
    let write = move |tx: &mut db::Tx<'_>, prepared: T| {
        let ChangeResponse { first, replay } = work(tx, prepared)?;
        storing.store(tx, replay.as_ref().unwrap_or(&first))?;
        Ok::<_, Error>(first)
    };
    let done = match prepare.await {
        Ok(prepared) => app.db.write(move |tx| write(tx, prepared)).await,
        Err(error) => Err(error),
    };
    match done {
        Ok(response) => Ok(IdempotentOutcome { response, replayed: false }),
        Err(error) => {
            let Some(response) = refuse(&error) else {
                app.db.write(move |tx| owner.release(tx)).await?;
                return Err(error);
            };
            let stored = response.clone();
            app.db.write(move |tx| owner.store(tx, &stored)).await?;
            Ok(IdempotentOutcome { response, replayed: false })
        }
    }
}

/// The result of claiming a key.
enum Claim {
    Acquired(ClaimedKey),
    Answered(StoredResponse),
}

/// Claims the key for this request, or finds its stored response.
async fn claim(app: &App, caller: &Caller, request: &Request) -> Result<Claim> {
    let now = app.clock.now();
    let owner = ClaimedKey::new(caller, request, seconds_before(now, -LEASE_SECONDS));
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
                return Ok(Claim::Acquired(owner));
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
                    Ok(Claim::Answered(StoredResponse { status: status as u16, body }))
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

/// Background step: deletes responses that are older than a day.
pub async fn forget_once(app: &App) -> Result<usize> {
    let oldest = seconds_before(app.clock.now(), LIFE_SECONDS);
    let forget =
        move |tx: &mut db::Tx<'_>| Ok::<_, Error>(tx.execute(FORGET_OLD, params![oldest])?);
    Ok(app.db.write(forget).await? as usize)
}

fn seconds_before(now: Timestamp, seconds: i64) -> i64 {
    now.as_microsecond() - seconds * 1_000_000
}

/// A claimed idempotency key: the primary key of its row, and the lease, which is different for every claim.
#[derive(Clone)]
struct ClaimedKey {
    user: base::UserId,
    credential: [u8; 16],
    scope: String,
    key: String,
    leased_until: i64,
}

impl ClaimedKey {
    fn new(caller: &Caller, request: &Request, leased_until: i64) -> ClaimedKey {
        let credential = caller.credential_id();
        let (scope, key) = (request.scope.clone(), request.key.clone());
        ClaimedKey { user: caller.user, credential, scope, key, leased_until }
    }

    fn params(&self) -> [db::Param<'_>; 4] {
        let credential = db::Param::Id(Some(self.credential));
        [self.user.into(), credential, (&self.scope).into(), (&self.key).into()]
    }

    fn with(&self, last: i64) -> [db::Param<'_>; 5] {
        let [user, credential, scope, key] = self.params();
        [user, credential, scope, key, last.into()]
    }

    /// Stores the response. Fails if the lease expired and another request claimed the key: then that request does the
    /// work, and this one must not commit.
    fn store(&self, tx: &mut db::Tx<'_>, response: &StoredResponse) -> Result<()> {
        let [user, credential, scope, key, lease] = self.with(self.leased_until);
        let (status, body) = (i64::from(response.status).into(), (&response.body).into());
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
// An expired lease belongs to a process that crashed before its transaction committed, so the change did not happen. A
// lease that is too far in the future was taken before the clock was set back.
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
