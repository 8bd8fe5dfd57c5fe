//! Rules that every operation on a connection shares: its lock, its name, its request limits and its errors.

use std::future::Future;

use base::{ConnectionId, UserId};
use db::{Tx, params};
use wire::v1::Code;

use crate::platform::person_lock;
use crate::{Error, Result};

/// The name of a connection that the person gave none.
pub(super) const DEFAULT_NAME: &str = "SimpleFIN";
/// SimpleFIN allows 24 requests a day; four of them are kept in reserve.
pub const REQUESTS_A_DAY: i64 = 20;
/// Requests of a day that may be used for history, so that enough are left for new transactions.
pub(super) const REQUESTS_FOR_HISTORY: i64 = 14;

pub(super) const DISCONNECTED: &str = "This connection is disconnected. To reconnect, create a new setup token at SimpleFIN and \
     enter it here. Your accounts and their history are still here.";

pub(super) fn conflict(message: impl Into<String>) -> Error {
    Error::Conflict { code: Code::Conflict, message: message.into() }
}

/// Runs work to its end, even if the request that started it is canceled.
pub(super) async fn run_to_completion<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let done = tokio::spawn(work).await;
    done.unwrap_or_else(|error| Err(Error::internal(format!("a sync task failed: {error}"))))
}

/// Locks the person's rows. Every transaction that writes several of them starts with this, which prevents deadlocks.
pub(super) fn lock_user(tx: &mut Tx<'_>, user: UserId) -> Result<()> {
    if person_lock::lock(tx, user)? { Ok(()) } else { Err(Error::NotFound("user")) }
}

/// The name of a connection, or an error if it is disconnected.
pub(super) fn active_name(tx: &mut Tx<'_>, user: UserId, id: ConnectionId) -> Result<String> {
    let found = tx.first(STATE, params![user, id], |row| {
        Ok((row.get::<Option<String>>(0)?, row.get::<Option<i64>>(1)?))
    })?;
    match found.ok_or(Error::NotFound("connection"))? {
        (name, None) => Ok(name.unwrap_or_else(|| DEFAULT_NAME.to_owned())),
        (_, Some(_)) => Err(conflict(DISCONNECTED)),
    }
}

const STATE: &str = "select name, disconnected_at from connections
    where user_id = $1 and id = $2 and source = 'simplefin'";

pub(super) const STATEMENTS: &[&str] = &[STATE];
