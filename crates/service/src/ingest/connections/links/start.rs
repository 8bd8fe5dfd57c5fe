//! Starts a round trip.

use base::draft::Source;
use base::{ConnectionId, UserId};
use db::{Tx, params};
use serde::{Deserialize, Serialize};
use sources::provider::{ErrorKind, LinkPurpose, LinkRequest, Provider, Secret};

use super::{LinkAddresses, LinkTarget, StartedLink};
use crate::ingest::connections::connection::{conflict, provider_of};
use crate::ingest::connections::keys;
use crate::ingest::connections::schedule::later;
use crate::{App, Caller, Error, Result};

/// Links that one person may have open at a time.
const OPEN_MAX: i64 = 20;

/// The sealed part of a link.
#[derive(Serialize, Deserialize)]
pub(super) struct SealedLink {
    pub(super) url: String,
    pub(super) session: String,
}

/// Starts a round trip, and returns the page that the person opens.
pub async fn start_link(
    app: &App,
    caller: &Caller,
    target: LinkTarget,
    addresses: LinkAddresses,
) -> Result<StartedLink> {
    caller.require_owner("connection")?;
    let (purpose, connection) = match target {
        LinkTarget::New(_) | LinkTarget::NewAt(..) => (LinkPurpose::Connect, None),
        LinkTarget::Reconnect(id) => (LinkPurpose::Connect, Some(id)),
        LinkTarget::Repair(id) => (LinkPurpose::Repair, Some(id)),
        LinkTarget::AddAccounts(id) => (LinkPurpose::AddAccounts, Some(id)),
    };
    let (provider, access, bank) = match (target, connection) {
        (LinkTarget::New(source), _) => (provider_of(source)?, None, None),
        (LinkTarget::NewAt(source, bank), _) => (provider_of(source)?, None, Some(bank)),
        (_, Some(id)) => of_connection(app, caller.user, id, purpose).await?,
        (_, None) => return Err(Error::NotFound("connection")),
    };
    let key = params![caller.user];
    let open = app.db.first(OPEN, key, |row| row.get::<i64>(0)).await?.unwrap_or_default();
    if open >= OPEN_MAX {
        return Err(conflict("You have started this many times. Wait half an hour and try again."));
    }
    let context = keys::context(app, caller.user, provider).await?;
    let LinkAddresses { return_url, webhook_url } = addresses;
    let person = hex(&app.entropy.bytes::<16>());
    let id = hex(&app.entropy.bytes::<16>());
    let state = id.clone();
    let request = LinkRequest { purpose, access, return_url, webhook_url, person, state, bank };
    let link = provider.start_link(&context, &request).await.map_err(|error| match error.kind {
        ErrorKind::InvalidInput => Error::invalid("keys", error.message),
        _ => conflict(error.message),
    })?;
    let sealed = SealedLink { url: link.url.clone(), session: link.session.expose().to_owned() };
    let sealed = serde_json::to_string(&sealed).map_err(|it| Error::internal(it.to_string()))?;
    let sealed =
        app.bank_client.vault.encrypt(&app.entropy, id.as_bytes(), &Secret::new(sealed))?;
    let (user, stored_id, source) = (caller.user, id.clone(), provider.source());
    let insert = move |tx: &mut Tx<'_>| {
        let now = tx.now()?;
        let expires_at = later(now, link.life_seconds);
        let (source, purpose) = (source.as_str(), purpose.as_str());
        tx.execute(DELETE_OLD, params![user, now])?;
        let values =
            params![user, &stored_id, source, purpose, connection, &sealed, now, expires_at];
        tx.execute(INSERT, values)?;
        Ok::<_, Error>(())
    };
    app.db.write(insert).await?;
    Ok(StartedLink { id, url: link.url })
}

/// The provider of a connection, its access if the link continues with it, and its bank.
async fn of_connection(
    app: &App,
    user: UserId,
    id: ConnectionId,
    purpose: LinkPurpose,
) -> Result<(&'static dyn Provider, Option<Secret>, Option<String>)> {
    let found = app
        .db
        .first(CONNECTION, params![user, id], |row| {
            let bank = row.get::<Option<String>>(2)?;
            Ok((row.get::<Source>(0)?, row.get::<Option<Vec<u8>>>(1)?, bank))
        })
        .await?;
    let (source, encrypted, bank) = found.ok_or(Error::NotFound("connection"))?;
    let provider = provider_of(source)?;
    if purpose == LinkPurpose::Connect {
        return Ok((provider, None, bank));
    }
    let encrypted = encrypted.ok_or_else(|| conflict(provider.disconnected_message()))?;
    let access = app.bank_client.vault.decrypt(id.as_bytes(), &encrypted);
    let access = access.ok_or_else(|| conflict(provider.unreadable_message()))?;
    Ok((provider, Some(access), bank))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

const CONNECTION: &str =
    "select source, access, institution_id from connections where user_id = $1 and id = $2";
const OPEN: &str = "select cast(count(*) as bigint) from connection_links
    where user_id = $1 and state = 'waiting'";
// What came of a link is shown for a day.
const DELETE_OLD: &str = "delete from connection_links
    where user_id = $1 and expires_at < $2 - 86400000000";
const INSERT: &str = "insert into connection_links
    (user_id, id, source, purpose, connection_id, sealed, state, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, 'waiting', $7, $8)";

pub(super) const STATEMENTS: &[&str] = &[CONNECTION, OPEN, DELETE_OLD, INSERT];
