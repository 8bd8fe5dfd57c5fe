//! Connections: where a person's accounts are asked for, again and again, by leave that they gave once.
//!
//! SimpleFIN is the one kind so far. A setup token is claimed for an access URL, which is sealed at once; what it offers
//! waits for the person's choice; what they took is asked for several times a day, and its past bit by bit.

mod access;
mod asking;
mod attention;
mod choices;
mod claims;
mod disconnecting;
mod drafting;
mod listing;
mod offers;
mod settling;
mod syncing;

use std::future::Future;

use base::{ConnectionId, UserId};
use db::{Tx, params};
use wire::v1::Code;

use crate::platform::installation::Key;
use crate::platform::person_lock;
use crate::{Error, Result};

use access::Vault;
pub use choices::{AddAccount, Choice, Selection, choose};
pub use claims::{create, reauthorize};
pub use disconnecting::disconnect;
pub use listing::{ConnectedAccount, Connection, History, State, get, list};
pub use offers::{OfferStatus, OfferedAccount, list_offers};
pub use sources::simplefin::Owed;
pub use syncing::{SyncResult, sync, sync_history, sync_once};

/// The server asks its users to stay within 24 requests a day; the rest is left for mishaps.
pub const REQUESTS_A_DAY: i64 = 20;
/// Up to here the past may be asked for, so that the present still can.
const REQUESTS_FOR_HISTORY: i64 = 14;

/// What every process needs to ask.
pub(crate) struct Banks {
    /// None where this machine trusts nobody's certificates, so that nobody can be asked.
    client: Option<net::HttpClient>,
    vault: Vault,
}

impl Banks {
    pub(crate) fn new(client: Option<net::HttpClient>, key: &Key) -> Banks {
        Banks { client, vault: Vault::new(key) }
    }

    fn client(&self) -> Result<&net::HttpClient> {
        self.client.as_ref().ok_or_else(|| {
            conflict(
                "This machine trusts no certificate authorities, so nobody can be asked safely. \
                 Install the package ca-certificates and start the server again.",
            )
        })
    }
}

fn conflict(message: impl Into<String>) -> Error {
    Error::Conflict { code: Code::Conflict, message: message.into() }
}

/// Sees work through to its end, even if whoever asked for it does not wait.
async fn finished<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let ended = tokio::spawn(work).await;
    ended.unwrap_or_else(|error| Err(Error::internal(format!("asking a connection: {error}"))))
}

/// Every transaction that writes more than one row of a person's begins here, so that no two wait for each other.
fn lock(tx: &mut Tx<'_>, user: UserId) -> Result<()> {
    if person_lock::lock(tx, user)? { Ok(()) } else { Err(Error::NotFound("user")) }
}

/// The name of a connection that can be asked, and was not disconnected.
fn alive(tx: &mut Tx<'_>, user: UserId, id: ConnectionId) -> Result<String> {
    let found = tx.first(ALIVE, params![user, id], |row| {
        Ok((row.get::<Option<String>>(0)?, row.get::<Option<i64>>(1)?))
    })?;
    match found.ok_or(Error::NotFound("connection"))? {
        (name, None) => Ok(name.unwrap_or_else(|| claims::NAME.to_owned())),
        (_, Some(_)) => Err(conflict(GONE)),
    }
}

const GONE: &str = "This connection was disconnected. Create a new setup token at SimpleFIN and \
                    paste it here to go on; accounts and their history are still there.";

const ALIVE: &str = "select name, disconnected_at from connections
    where user_id = $1 and id = $2 and source = 'simplefin'";

pub(crate) fn statements() -> Vec<&'static str> {
    let parts = [
        &[ALIVE][..],
        asking::STATEMENTS,
        choices::STATEMENTS,
        claims::STATEMENTS,
        disconnecting::STATEMENTS,
        drafting::STATEMENTS,
        listing::STATEMENTS,
        offers::STATEMENTS,
        settling::STATEMENTS,
        syncing::STATEMENTS,
    ];
    parts.concat()
}
