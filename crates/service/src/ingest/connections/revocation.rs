//! Tells providers that access has ended. What could not be told is told again until it succeeds, because a provider may
//! charge for every access that exists.

use base::draft::Source;
use base::{ConnectionId, Timestamp, UserId};
use db::{Row, Tx, params};
use futures_util::{StreamExt as _, stream};
use sources::provider::{BankError, ErrorKind};

use super::connection::provider_of;
use super::keys;
use super::schedule::later;
use crate::{App, Error, Result};

const DUE_MAX: i64 = 50;
const CONCURRENT: usize = 4;
/// How long one try may take. Another process may try after that.
const CLAIM_SECONDS: i64 = 300;
/// A minute after the first failure, then twice as long each time, up to six hours.
const FIRST_WAIT_SECONDS: i64 = 60;
const LONGEST_WAIT_SECONDS: i64 = 6 * 3_600;
/// Access of a person who was deleted is kept at most this long.
const DELETED_DAYS: i64 = 30;

/// Access that the provider has to end.
struct Revocation {
    user: UserId,
    connection: ConnectionId,
    /// With the connection it is the key of its row.
    created_at: Timestamp,
    source: Source,
    encrypted: Vec<u8>,
    /// The person's own keys, if there were some.
    keys: Option<Vec<u8>>,
    tries: i64,
}

/// Waits until a person has disconnected a bank in this process.
pub async fn revocation_queued(app: &App) {
    app.bank_client.revocation_queued.notified().await;
}

/// Tells providers of access that has ended, each once, and returns how many were told.
pub async fn revoke_once(app: &App) -> Result<usize> {
    let now = app.db.now().await?;
    let oldest = later(now, -DELETED_DAYS * 86_400);
    let give_up = move |tx: &mut Tx<'_>| {
        tx.execute(GIVE_UP, params![oldest])?;
        Ok::<_, Error>(())
    };
    app.db.write(give_up).await?;
    let due = app.db.all(DUE, params![now, DUE_MAX], read).await?;
    let told = stream::iter(due).map(|it| async move {
        match revoke(app, &it, now).await {
            Ok(told) => usize::from(told),
            Err(error) => {
                tracing::warn!(connection = %it.connection, %error, "ending access failed");
                0
            }
        }
    });
    let told: Vec<usize> = told.buffer_unordered(CONCURRENT).collect().await;
    Ok(told.into_iter().sum())
}

/// Claims one revocation and tells the provider. Returns whether it has been told.
async fn revoke(app: &App, it: &Revocation, now: Timestamp) -> Result<bool> {
    let (user, connection, created_at) = (it.user, it.connection, it.created_at);
    let wait = (FIRST_WAIT_SECONDS << it.tries.clamp(0, 20)).min(LONGEST_WAIT_SECONDS);
    let next = later(now, wait.max(CLAIM_SECONDS));
    let claim = move |tx: &mut Tx<'_>| {
        Ok::<_, Error>(tx.execute(CLAIM, params![user, connection, created_at, now, next])?)
    };
    if app.db.write(claim).await? == 0 {
        return Ok(false);
    }
    match tell(app, it).await? {
        Ok(()) => {}
        // The provider no longer knows it, which is what was wanted.
        Err(error) if error.kind == ErrorKind::Ended => {}
        Err(error) => {
            let tries = it.tries + 1;
            tracing::warn!(%connection, tries, %error, "the provider could not end access");
            return Ok(false);
        }
    }
    let forget = move |tx: &mut Tx<'_>| {
        tx.execute(FORGET, params![user, connection, created_at])?;
        Ok::<_, Error>(())
    };
    app.db.write(forget).await?;
    Ok(true)
}

async fn tell(app: &App, it: &Revocation) -> Result<Result<(), BankError>> {
    let provider = provider_of(it.source)?;
    // Access that cannot be decrypted can never be ended from here.
    let Some(access) = app.bank_client.vault.decrypt(it.connection.as_bytes(), &it.encrypted)
    else {
        return Ok(Ok(()));
    };
    let context = keys::context_of(app, it.user, provider, it.keys.as_deref())?;
    Ok(provider.disconnect(&context, &access).await)
}

fn read(row: &Row<'_>) -> db::Result<Revocation> {
    Ok(Revocation {
        user: row.get(0)?,
        connection: row.get(1)?,
        created_at: row.get(2)?,
        source: row.get(3)?,
        encrypted: row.get(4)?,
        keys: row.get(5)?,
        tries: row.get(6)?,
    })
}

const DUE: &str = "select user_id, connection_id, created_at, source, access, keys, tries
    from connection_removals where next_try_at <= $1 order by next_try_at limit $2";
// Moving the next try behind the time that this one may take is the claim.
const CLAIM: &str = "update connection_removals set next_try_at = $5, tries = tries + 1
    where user_id = $1 and connection_id = $2 and created_at = $3 and next_try_at <= $4";
const GIVE_UP: &str = "delete from connection_removals where created_at < $1
    and user_id not in (select id from users)";
const FORGET: &str = "delete from connection_removals
    where user_id = $1 and connection_id = $2 and created_at = $3";

pub(super) const STATEMENTS: &[&str] = &[DUE, CLAIM, FORGET, GIVE_UP];
