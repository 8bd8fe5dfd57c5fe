//! Rules that every operation on a connection shares: its lock, its provider, its name and its errors.

use std::future::Future;

use base::draft::Source;
use base::{ConnectionId, UserId};
use db::{Tx, params};
use sources::banks;
use sources::provider::Provider;
use wire::v1::Code;

use crate::platform::person_lock;
use crate::{Error, Result};

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

/// The provider of a source. Files and manual accounts have none, and are no connections to manage.
pub(super) fn provider_of(source: Source) -> Result<&'static dyn Provider> {
    banks::find(source).ok_or(Error::NotFound("connection"))
}

/// A connection that is not disconnected.
pub(super) struct ActiveConnection {
    pub(super) provider: &'static dyn Provider,
    pub(super) name: String,
}

/// Finds a connection, or returns an error if it is disconnected.
pub(super) fn active(tx: &mut Tx<'_>, user: UserId, id: ConnectionId) -> Result<ActiveConnection> {
    let found = tx.first(STATE, params![user, id], |row| {
        let found: (Source, Option<String>) = (row.get(0)?, row.get(1)?);
        Ok((found.0, found.1, row.get::<Option<i64>>(2)?))
    })?;
    let (source, name, disconnected_at) = found.ok_or(Error::NotFound("connection"))?;
    let provider = provider_of(source)?;
    match disconnected_at {
        None => {
            let name = name.unwrap_or_else(|| provider.name().to_owned());
            Ok(ActiveConnection { provider, name })
        }
        Some(_) => Err(conflict(provider.disconnected_message())),
    }
}

const STATE: &str = "select source, name, disconnected_at from connections
    where user_id = $1 and id = $2";

pub(super) const STATEMENTS: &[&str] = &[STATE];
