//! Exchanges a SimpleFIN setup token for access: creates a connection, or reauthorizes one. A token can be exchanged only
//! once, so the access is encrypted and stored before anything else.

use std::time::Duration;

use base::{AccountId, ConnectionId, Timestamp, kinds};
use db::{Tx, params};
use sources::simplefin::{self, SetupToken, SimplefinError};
use webhooks::outbox;
use wire::v1::Event;

use super::connection::{DEFAULT_NAME, conflict, lock_user, run_to_completion};
use super::sync;
use crate::ingest::imports;
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result};

/// How often storing the access is tried while the database is unavailable: about half a minute in all.
const TRIES: u32 = 6;

/// Creates a connection from a setup token and fetches the accounts that it offers. If fetching fails, the connection
/// exists all the same, shows the error, and is synced again automatically.
pub async fn create(
    app: &App,
    caller: &Caller,
    setup_token: &str,
    name: Option<&str>,
) -> Result<ConnectionId> {
    caller.require_owner("connection")?;
    let token = parse_token(setup_token)?;
    let name = valid_name(name)?;
    let (app, caller) = (app.clone(), caller.clone());
    run_to_completion(async move {
        let id = app.ids.make::<kinds::Connection>();
        let access = NewAccess::claim(&app, &caller, id, &token).await?;
        access.store(&app, move |tx, it| it.insert(tx, &name)).await?;
        sync::discover_accounts(&app, caller.user, id).await;
        Ok(id)
    })
    .await
}

/// Replaces a connection's access by means of a new setup token. Its accounts stay as they are.
pub async fn reauthorize(
    app: &App,
    caller: &Caller,
    connection: ConnectionId,
    setup_token: &str,
) -> Result<()> {
    caller.require_owner("connection")?;
    let token = parse_token(setup_token)?;
    let key = params![caller.user, connection];
    let known = app.db.first(KNOWN, key, |row| row.get::<i64>(0)).await?;
    known.ok_or(Error::NotFound("connection"))?;
    let (app, caller) = (app.clone(), caller.clone());
    run_to_completion(async move {
        let access = NewAccess::claim(&app, &caller, connection, &token).await?;
        let mine = app.clone();
        access.store(&app, move |tx, it| it.replace(tx, &mine)).await?;
        sync::discover_accounts(&app, caller.user, connection).await;
        Ok(())
    })
    .await
}

fn parse_token(setup_token: &str) -> Result<SetupToken> {
    SetupToken::parse(setup_token).map_err(|bad| Error::invalid("setup_token", bad.to_string()))
}

fn valid_name(name: Option<&str>) -> Result<String> {
    let name = name.map(str::trim).filter(|it| !it.is_empty()).unwrap_or(DEFAULT_NAME);
    if name.chars().count() > 80 || name.contains(char::is_control) {
        return Err(Error::invalid("name", "Use a name of at most 80 characters on one line."));
    }
    Ok(name.to_owned())
}

/// Access that was just obtained, encrypted.
#[derive(Clone)]
struct NewAccess {
    caller: Caller,
    id: ConnectionId,
    host: String,
    encrypted: Vec<u8>,
    now: Timestamp,
}

impl NewAccess {
    async fn claim(
        app: &App,
        caller: &Caller,
        id: ConnectionId,
        token: &SetupToken,
    ) -> Result<NewAccess> {
        let http = app.bank_client.http()?;
        let user = caller.user;
        // Exchanging spends the token, so make sure first that the database accepts writes.
        app.db.write(move |tx| lock_user(tx, user)).await?;
        let access = simplefin::claim(http, token).await.map_err(|error| match error {
            SimplefinError::TokenAlreadyClaimed | SimplefinError::Forbidden(_) => {
                Error::invalid("setup_token", error.to_string())
            }
            other => conflict(other.to_string()),
        })?;
        let encrypted = app.bank_client.vault.encrypt(&app.entropy, id, &access)?;
        let (host, now) = (access.host().to_owned(), app.clock.now());
        Ok(NewAccess { caller: caller.clone(), id, host, encrypted, now })
    }

    async fn store<F>(self, app: &App, write: F) -> Result<()>
    where
        F: FnOnce(&mut Tx<'_>, &NewAccess) -> Result<()> + Clone + Send + 'static,
    {
        for tried in 1.. {
            let (mine, write) = (self.clone(), write.clone());
            match app.db.write(move |tx| write(tx, &mine)).await {
                Err(Error::Unavailable(_)) if tried < TRIES => {
                    tracing::warn!(tried, "new access could not be stored, trying again");
                    tokio::time::sleep(Duration::from_secs(1 << (tried - 1))).await;
                }
                stored => return stored,
            }
        }
        Ok(())
    }

    fn insert(&self, tx: &mut Tx<'_>, name: &str) -> Result<()> {
        let user = self.caller.user;
        lock_user(tx, user)?;
        let (external_id, now) = (self.id.to_string(), tx.now()?);
        tx.execute(INSERT, params![user, self.id, &external_id, name, &self.encrypted, now])?;
        let details = format!("Connected {name} at {}", self.host);
        let note = Note::new(&self.caller, "connection.create", details).about(self.id);
        audit::note(tx, user, self.now, note)
    }

    fn replace(&self, tx: &mut Tx<'_>, app: &App) -> Result<()> {
        let (user, id) = (self.caller.user, self.id);
        lock_user(tx, user)?;
        let known = tx.first(KNOWN, params![user, id], |row| {
            Ok((row.get::<Option<Timestamp>>(1)?, row.get::<Option<String>>(2)?))
        })?;
        let (disconnected_at, name) = known.ok_or(Error::NotFound("connection"))?;
        // Ends the lease of a sync that uses the old access, so that its response is dropped.
        let now = tx.now()?;
        tx.execute(REPLACE, params![user, id, &self.encrypted, now])?;
        if disconnected_at.is_some() {
            let accounts = tx.all(ACCOUNTS, params![user, id], |row| row.get::<AccountId>(0))?;
            let mut events = Vec::new();
            for account in accounts {
                events.extend(imports::disconnected_event(tx, user, account)?.map(connected_event));
            }
            outbox::append(&app.webhooks, tx, user, &events)?;
        }
        let name = name.unwrap_or_else(|| DEFAULT_NAME.to_owned());
        let details = format!("Reconnected {name} at {} with a new setup token", self.host);
        let note = Note::new(&self.caller, "connection.reauthorize", details).about(id);
        audit::note(tx, user, self.now, note)
    }
}

/// The event that an account is connected again, from the event that it was disconnected.
fn connected_event(event: Event) -> Event {
    match event {
        Event::AccountDisconnected { account_id, institution_name, r#type } => {
            Event::AccountConnected { account_id, institution_name, r#type }
        }
        other => other,
    }
}

const KNOWN: &str = "select created_at, disconnected_at, name from connections
    where user_id = $1 and id = $2 and source = 'simplefin'";
const INSERT: &str = "insert into connections
    (user_id, id, source, external_id, name, status, access, created_at, next_sync_at)
    values ($1, $2, 'simplefin', $3, $4, 'connected', $5, $6, $6)";
const REPLACE: &str = "update connections set access = $3, status = 'connected', attention = null,
    failures = 0, next_sync_at = $4, leased_until = null, disconnected_at = null
    where user_id = $1 and id = $2";
const ACCOUNTS: &str =
    "select id from accounts where user_id = $1 and connection_id = $2 order by id";

pub(super) const STATEMENTS: &[&str] = &[KNOWN, INSERT, REPLACE, ACCOUNTS];
