//! Trading a setup token for access. That works once, so what comes back is sealed and kept before anything else.

use std::time::Duration;

use base::{AccountId, ConnectionId, Timestamp, kinds};
use db::{Tx, params};
use sources::simplefin::{self, SetupToken, Trouble};
use webhooks::outbox;
use wire::v1::Event;

use super::{conflict, finished, lock, syncing};
use crate::ingest::imports;
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result};

/// What a connection is called that the person gave no name.
pub(super) const NAME: &str = "SimpleFIN";
/// How often a database that is away is tried before access is given up: about half a minute in all.
const TRIES: u32 = 6;

/// Makes a connection from what SimpleFIN showed the person. What it offers can be chosen from then on; where the first
/// look fails, the connection is there all the same, says so, and is asked again by itself.
pub async fn create(
    app: &App,
    caller: &Caller,
    setup_token: &str,
    name: Option<&str>,
) -> Result<ConnectionId> {
    caller.require_owner("connection")?;
    let token = read(setup_token)?;
    let name = named(name)?;
    let (app, caller) = (app.clone(), caller.clone());
    finished(async move {
        let id = app.ids.make::<kinds::Connection>();
        let claimed = Claimed::new(&app, &caller, id, &token).await?;
        claimed.kept(&app, move |tx, it| it.insert(tx, &name)).await?;
        syncing::look(&app, caller.user, id).await;
        Ok(id)
    })
    .await
}

/// Gives a connection access again, by a new token. Its accounts stay what they are.
pub async fn reauthorize(
    app: &App,
    caller: &Caller,
    connection: ConnectionId,
    setup_token: &str,
) -> Result<()> {
    caller.require_owner("connection")?;
    let token = read(setup_token)?;
    let key = params![caller.user, connection];
    let known = app.db.first(KNOWN, key, |row| row.get::<i64>(0)).await?;
    known.ok_or(Error::NotFound("connection"))?;
    let (app, caller) = (app.clone(), caller.clone());
    finished(async move {
        let claimed = Claimed::new(&app, &caller, connection, &token).await?;
        let mine = app.clone();
        claimed.kept(&app, move |tx, it| it.replace(tx, &mine)).await?;
        syncing::look(&app, caller.user, connection).await;
        Ok(())
    })
    .await
}

fn read(setup_token: &str) -> Result<SetupToken> {
    SetupToken::parse(setup_token).map_err(|bad| Error::invalid("setup_token", bad.to_string()))
}

fn named(name: Option<&str>) -> Result<String> {
    let name = name.map(str::trim).filter(|it| !it.is_empty()).unwrap_or(NAME);
    if name.chars().count() > 80 || name.contains(char::is_control) {
        return Err(Error::invalid("name", "name must have at most 80 characters on one line"));
    }
    Ok(name.to_owned())
}

/// Access that was just claimed, sealed.
#[derive(Clone)]
struct Claimed {
    caller: Caller,
    id: ConnectionId,
    host: String,
    sealed: Vec<u8>,
    now: Timestamp,
}

impl Claimed {
    async fn new(
        app: &App,
        caller: &Caller,
        id: ConnectionId,
        token: &SetupToken,
    ) -> Result<Claimed> {
        let client = app.banks.client()?;
        let user = caller.user;
        // A token is spent by being claimed, so whether something can be kept is seen first.
        app.db.write(move |tx| lock(tx, user)).await?;
        let access = simplefin::claim(client, token).await.map_err(|trouble| match trouble {
            Trouble::Claimed | Trouble::Forbidden(_) => {
                Error::invalid("setup_token", trouble.to_string())
            }
            other => conflict(other.to_string()),
        })?;
        let sealed = app.banks.vault.seal(&app.entropy, id, &access)?;
        let (host, now) = (access.host().to_owned(), app.clock.now());
        Ok(Claimed { caller: caller.clone(), id, host, sealed, now })
    }

    async fn kept<F>(self, app: &App, keep: F) -> Result<()>
    where
        F: FnOnce(&mut Tx<'_>, &Claimed) -> Result<()> + Clone + Send + 'static,
    {
        for tried in 1.. {
            let (mine, keep) = (self.clone(), keep.clone());
            match app.db.write(move |tx| keep(tx, &mine)).await {
                Err(Error::Unavailable(_)) if tried < TRIES => {
                    tracing::warn!(tried, "a new connection cannot be kept yet");
                    tokio::time::sleep(Duration::from_secs(1 << (tried - 1))).await;
                }
                ended => return ended,
            }
        }
        Ok(())
    }

    fn insert(&self, tx: &mut Tx<'_>, name: &str) -> Result<()> {
        let user = self.caller.user;
        lock(tx, user)?;
        let external_id = self.id.to_string();
        tx.execute(INSERT, params![user, self.id, &external_id, name, &self.sealed, self.now])?;
        let details = format!("Connected {name} at {}", self.host);
        let note = Note::new(&self.caller, "connection.create", details).about(self.id);
        audit::note(tx, user, self.now, note)
    }

    fn replace(&self, tx: &mut Tx<'_>, app: &App) -> Result<()> {
        let (user, id) = (self.caller.user, self.id);
        lock(tx, user)?;
        let known = tx.first(KNOWN, params![user, id], |row| {
            Ok((row.get::<Option<Timestamp>>(1)?, row.get::<Option<String>>(2)?))
        })?;
        let (disconnected_at, name) = known.ok_or(Error::NotFound("connection"))?;
        // Whoever asks with the old access at this moment loses the lease, and with it the last word.
        tx.execute(REPLACE, params![user, id, &self.sealed, self.now])?;
        if disconnected_at.is_some() {
            let held = tx.all(ACCOUNTS, params![user, id], |row| row.get::<AccountId>(0))?;
            let mut events = Vec::new();
            for account in held {
                events.extend(imports::disconnected(tx, user, account)?.map(connected));
            }
            outbox::append(&app.webhooks, tx, user, &events)?;
        }
        let name = name.unwrap_or_else(|| NAME.to_owned());
        let details = format!("Gave {name} access at {} by a new token", self.host);
        let note = Note::new(&self.caller, "connection.reauthorize", details).about(id);
        audit::note(tx, user, self.now, note)
    }
}

/// The same account, kept up again.
fn connected(event: Event) -> Event {
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
