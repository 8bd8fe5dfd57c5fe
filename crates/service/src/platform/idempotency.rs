//! Idempotency keys. The response to a change is stored in the change's own transaction: a stored response means that the
//! change happened, a missing one that it did not.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::{CLOCK_SKEW_MICROSECONDS, Timestamp};
use db::{Tx, params};
use wire::v1::Code;

use crate::platform::processes::{self, holder_is_dead};
use crate::{App, Caller, Error, Result};

/// How long a claimed key is locked, by the database's time, if the process that claimed it lives on. If it dies, the
/// claim ends with it.
const LEASE_SECONDS: i64 = 60;
/// How long a client waits for a request that is running: most take less.
const RETRY_SECONDS: i64 = 1;
/// A process that has not renewed its row for so long has probably died.
const OVERDUE_MICROSECONDS: i64 = 2 * processes::RENEW_SECONDS as i64 * 1_000_000;
const LIFE_SECONDS: i64 = 24 * 3600;
/// Abandoned claims that are remembered.
const ABANDONED_MAX: usize = 10_000;

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
    work: impl FnOnce(&mut Tx<'_>) -> Result<StoredResponse> + Send + 'static,
    refuse: impl Fn(&Error) -> Option<StoredResponse>,
) -> Result<IdempotentOutcome> {
    let work = move |tx: &mut Tx<'_>, ()| Ok(ChangeResponse { first: work(tx)?, replay: None });
    run_prepared(app, caller, request, std::future::ready(Ok(())), work, refuse).await
}

/// Does the same as `run`, with a step before the transaction, such as a request to another host. That step also runs
/// for the first request only. It must take less time than the lease.
pub async fn run_prepared<T: Send + 'static>(
    app: &App,
    caller: &Caller,
    request: Request,
    prepare: impl Future<Output = Result<T>>,
    work: impl FnOnce(&mut Tx<'_>, T) -> Result<ChangeResponse> + Send + 'static,
    refuse: impl Fn(&Error) -> Option<StoredResponse>,
) -> Result<IdempotentOutcome> {
    let guard = Arc::new(ClaimGuard { app: app.clone(), claimed: Mutex::default() });
    let owner = match claim(app, caller, &request, guard.clone()).await? {
        Claim::Acquired(owner) => owner,
        Claim::Answered(response) => return Ok(IdempotentOutcome { response, replayed: true }),
    };
    let (storing, running) = (owner.clone(), guard.clone());
    let write = move |tx: &mut Tx<'_>, prepared: T| {
        let _running = running;
        let ChangeResponse { first, replay } = work(tx, prepared)?;
        storing.store(tx, replay.as_ref().unwrap_or(&first))?;
        Ok::<_, Error>(first)
    };
    let done = match prepare.await {
        Ok(prepared) => app.db.write(move |tx| write(tx, prepared)).await,
        Err(error) => Err(error),
    };
    match done {
        Ok(response) => {
            guard.settle();
            Ok(IdempotentOutcome { response, replayed: false })
        }
        Err(error) => {
            if matches!(error, Error::InProgress { .. }) {
                app.meters.count_lost_lease("idempotency_key");
            }
            let Some(response) = refuse(&error) else {
                app.db.write(move |tx| owner.release(tx)).await?;
                guard.settle();
                return Err(error);
            };
            let stored = response.clone();
            app.db.write(move |tx| owner.store(tx, &stored)).await?;
            guard.settle();
            Ok(IdempotentOutcome { response, replayed: false })
        }
    }
}

/// Holds a claim until its request has an outcome. A request can end without one: its client gave up, or the answer of the
/// database was lost. The claim is then released by a background step, so that a repeated request need not wait for the
/// end of the lease. The transaction that does the work holds the guard too, so that nothing is released while it runs.
struct ClaimGuard {
    app: App,
    claimed: Mutex<Option<ClaimedKey>>,
}

impl ClaimGuard {
    fn claimed(&self) -> MutexGuard<'_, Option<ClaimedKey>> {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that the request has an outcome.
    fn settle(&self) {
        self.claimed().take();
    }
}

impl Drop for ClaimGuard {
    fn drop(&mut self) {
        if let Some(claim) = self.claimed().take() {
            self.app.abandoned_claims.add(claim);
        }
    }
}

/// Claims of this process whose requests ended without an outcome.
#[derive(Default)]
pub(crate) struct AbandonedClaims(Mutex<Vec<ClaimedKey>>);

impl AbandonedClaims {
    fn all(&self) -> MutexGuard<'_, Vec<ClaimedKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Beyond the limit, claims end with their lease.
    fn add(&self, claim: ClaimedKey) {
        let mut all = self.all();
        if all.len() < ABANDONED_MAX {
            all.push(claim);
        }
    }
}

/// Background step: releases claims whose requests ended without an outcome. A claim whose change was committed has its
/// response and is left alone. Returns how many were released.
pub async fn release_abandoned_once(app: &App) -> Result<usize> {
    let claims = std::mem::take(&mut *app.abandoned_claims.all());
    if claims.is_empty() {
        return Ok(0);
    }
    let releasing = claims.clone();
    let release = move |tx: &mut Tx<'_>| {
        let released = releasing.iter().map(|it| it.release(tx)).sum::<Result<u64>>()?;
        Ok::<_, Error>(released as usize)
    };
    let released = app.db.write(release).await;
    if released.is_err() {
        claims.into_iter().for_each(|it| app.abandoned_claims.add(it));
    }
    released
}

/// The result of claiming a key.
enum Claim {
    Acquired(ClaimedKey),
    Answered(StoredResponse),
}

/// Claims the key for this request, or finds its stored response.
async fn claim(
    app: &App,
    caller: &Caller,
    request: &Request,
    guard: Arc<ClaimGuard>,
) -> Result<Claim> {
    let (mine, caller, request) = (app.clone(), caller.clone(), request.clone());
    app.db
        .write(move |tx| {
            let now = tx.now()?;
            let owner = ClaimedKey::new(&caller, &request, seconds_before(now, -LEASE_SECONDS));
            tx.execute(FORGET, &owner.with(seconds_before(now, LIFE_SECONDS)))?;
            let [user, credential, scope, key] = owner.params();
            let (fingerprint, lease) = (request.fingerprint[..].into(), owner.leased_until.into());
            let lease_end = owner.leased_until + CLOCK_SKEW_MICROSECONDS;
            let values = [user, credential, scope, key, fingerprint, lease, now.into()];
            let last = [lease_end.into(), mine.process.holder()];
            let values: Vec<_> = values.into_iter().chain(last).collect();
            let take_over = |tx: &mut Tx<'_>| {
                let [user, credential, scope, key] = owner.params();
                let (fingerprint, lease) =
                    (request.fingerprint[..].into(), owner.leased_until.into());
                let holder = mine.process.holder();
                let values = [user, credential, scope, key, fingerprint, lease, now.into(), holder];
                tx.execute(TAKE_OVER, &values)
            };
            if tx.execute(CLAIM, &values)? == 1 || take_over(tx)? == 1 {
                *guard.claimed() = Some(owner.clone());
                return Ok(Claim::Acquired(owner));
            }
            find_response(tx, &owner, request.fingerprint, now).map(Claim::Answered)
        })
        .await
}

/// The stored response of a key that cannot be claimed.
fn find_response(
    tx: &mut Tx<'_>,
    owner: &ClaimedKey,
    fingerprint: [u8; 32],
    now: Timestamp,
) -> Result<StoredResponse> {
    let found = tx.first(FIND, &owner.params(), |row| {
        let response = (row.get::<Option<i64>>(1)?, row.get::<Option<String>>(2)?);
        let holder: Option<Vec<u8>> = row.get(4)?;
        Ok((row.get::<Vec<u8>>(0)?, response, row.get::<i64>(3)?, holder))
    })?;
    let in_progress = |seconds| Error::InProgress { retry_after_seconds: seconds };
    let Some((stored, response, leased_until, holder)) = found else {
        return Err(in_progress(RETRY_SECONDS));
    };
    if stored != fingerprint {
        return Err(Error::Conflict {
            code: Code::IdempotencyKeyReused,
            message: "this Idempotency-Key was used for a different request".to_owned(),
        });
    }
    match response {
        (Some(status), Some(body)) => Ok(StoredResponse { status: status as u16, body }),
        _ => Err(in_progress(seconds_to_wait(tx, leased_until, holder, now)?)),
    }
}

/// How long to wait for a key that is claimed. While its process renews its row, the request is running and ends soon.
/// Without news from the process, the claim lasts until the process counts as dead, or until the lease ends.
fn seconds_to_wait(
    tx: &mut Tx<'_>,
    leased_until: i64,
    holder: Option<Vec<u8>>,
    now: Timestamp,
) -> Result<i64> {
    let holder = holder.and_then(|it| <[u8; 16]>::try_from(it).ok());
    let Some(holder) = holder else { return Ok(RETRY_SECONDS) };
    let Some(alive_until) = processes::alive_until(tx, holder)? else { return Ok(RETRY_SECONDS) };
    let (now, alive_until) = (now.as_microsecond(), alive_until.as_microsecond());
    let silent_for = now - (alive_until - processes::ALIVE_MICROSECONDS);
    if silent_for <= OVERDUE_MICROSECONDS {
        return Ok(RETRY_SECONDS);
    }
    let left = alive_until.min(leased_until) - now;
    Ok((left + 999_999).div_euclid(1_000_000).max(RETRY_SECONDS))
}

/// Background step: deletes responses that are older than a day.
pub async fn forget_once(app: &App) -> Result<usize> {
    let forget = |tx: &mut Tx<'_>| {
        let oldest = seconds_before(tx.now()?, LIFE_SECONDS);
        Ok::<_, Error>(tx.execute(FORGET_OLD, params![oldest])?)
    };
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
    fn store(&self, tx: &mut Tx<'_>, response: &StoredResponse) -> Result<()> {
        let [user, credential, scope, key, lease] = self.with(self.leased_until);
        let (status, body) = (i64::from(response.status).into(), (&response.body).into());
        let stored = tx.execute(STORE, &[user, credential, scope, key, lease, status, body])?;
        if stored == 1 {
            Ok(())
        } else {
            Err(Error::InProgress { retry_after_seconds: RETRY_SECONDS })
        }
    }

    fn release(&self, tx: &mut Tx<'_>) -> Result<u64> {
        Ok(tx.execute(RELEASE, &self.with(self.leased_until))?)
    }
}

const FORGET: &str =
    "delete from idempotency_keys where user_id = $1 and credential_id = $2 and scope = $3
    and idempotency_key = $4 and created_at <= $5";
// A claim whose process died, or whose lease expired, did not change anything: the change and its response are committed
// together. A lease that is too far in the future was taken before the clock was set back.
const CLAIM: &str = "insert into idempotency_keys
    (user_id, credential_id, scope, idempotency_key, fingerprint, leased_until, created_at, process_id)
    values ($1, $2, $3, $4, $5, $6, $7, $9)
    on conflict (user_id, credential_id, scope, idempotency_key) do update
    set leased_until = excluded.leased_until, process_id = excluded.process_id
    where idempotency_keys.status is null
    and (idempotency_keys.leased_until <= excluded.created_at or idempotency_keys.leased_until > $8)
    and idempotency_keys.fingerprint = excluded.fingerprint";
// A statement of its own, because Citus has no subqueries in inserts.
const TAKE_OVER: &str = concat!(
    "update idempotency_keys set leased_until = $6, process_id = $8
    where user_id = $1 and credential_id = $2 and scope = $3 and idempotency_key = $4
    and fingerprint = $5 and status is null and ",
    holder_is_dead!("process_id", "$7")
);
const FIND: &str =
    "select fingerprint, status, body, leased_until, process_id from idempotency_keys
    where user_id = $1 and credential_id = $2 and scope = $3 and idempotency_key = $4";
const STORE: &str = "update idempotency_keys set status = $6, body = $7
    where user_id = $1 and credential_id = $2 and scope = $3 and idempotency_key = $4
    and leased_until = $5 and status is null";
const RELEASE: &str = "delete from idempotency_keys where user_id = $1 and credential_id = $2
    and scope = $3 and idempotency_key = $4 and leased_until = $5 and status is null";
const FORGET_OLD: &str = "delete from idempotency_keys where created_at <= $1";

pub(crate) const STATEMENTS: &[&str] =
    &[FORGET, CLAIM, TAKE_OVER, FIND, STORE, RELEASE, FORGET_OLD];
