//! Exchanges a token for access: creates a connection, or reauthorizes one. A token can be exchanged only once, so the
//! access is encrypted and stored before anything else.

use std::time::Duration;

use base::draft::Source;
use base::{AccountId, ConnectionId, Timestamp, kinds};
use db::{Tx, params};
use sources::banks;
use sources::provider::{BankError, ErrorKind, Institution, NewAccess, Provider};
use webhooks::outbox;
use wire::v1::Event;

use super::connection::{conflict, lock_user, provider_of, run_to_completion};
use super::{keys, sync};
use crate::ingest::imports;
use crate::platform::audit::{self, Note};
use crate::platform::ended_access;
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
    let provider = banks::token_provider().ok_or(Error::NotFound("connection"))?;
    provider.check_token(setup_token).map_err(invalid_token)?;
    let name = valid_name(provider, name)?;
    let (app, caller, token) = (app.clone(), caller.clone(), setup_token.to_owned());
    run_to_completion(async move {
        let id = app.ids.make::<kinds::Connection>();
        let access = claim(&app, &caller, (id, provider), &token).await?;
        access.store(&app, move |tx, it| it.insert(tx, Some(&name))).await?;
        sync::discover_accounts(&app, &caller, id).await;
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
    let key = params![caller.user, connection];
    let source = app.db.first(KNOWN, key, |row| row.get::<Source>(0)).await?;
    let provider = provider_of(source.ok_or(Error::NotFound("connection"))?)?;
    provider.check_token(setup_token).map_err(invalid_token)?;
    let (app, caller, token) = (app.clone(), caller.clone(), setup_token.to_owned());
    run_to_completion(async move {
        let access = claim(&app, &caller, (connection, provider), &token).await?;
        let mine = app.clone();
        access.store(&app, move |tx, it| it.replace(tx, &mine)).await?;
        sync::discover_accounts(&app, &caller, connection).await;
        Ok(())
    })
    .await
}

fn invalid_token(error: BankError) -> Error {
    match error.kind {
        ErrorKind::InvalidInput => Error::invalid("setup_token", error.message),
        _ => conflict(error.message),
    }
}

fn valid_name(provider: &dyn Provider, name: Option<&str>) -> Result<String> {
    let name = name.map(str::trim).filter(|it| !it.is_empty()).unwrap_or(provider.name());
    if name.chars().count() > 80 || name.contains(char::is_control) {
        return Err(Error::invalid("name", "Use a name of at most 80 characters on one line."));
    }
    Ok(name.to_owned())
}

async fn claim(
    app: &App,
    caller: &Caller,
    (id, provider): (ConnectionId, &'static dyn Provider),
    token: &str,
) -> Result<GrantedAccess> {
    let user = caller.user;
    let context = keys::context(app, user, provider).await?;
    // Exchanging spends the token, so make sure first that the database accepts writes.
    app.db.write(move |tx| lock_user(tx, user)).await?;
    let access = provider.exchange(&context, token).await.map_err(invalid_token)?;
    GrantedAccess::seal(app, caller, (id, provider), access)
}

/// Access that was just obtained, encrypted.
#[derive(Clone)]
pub(super) struct GrantedAccess {
    caller: Caller,
    id: ConnectionId,
    provider: &'static dyn Provider,
    place: String,
    /// The provider's id of the login.
    login: Option<String>,
    institution: Option<Institution>,
    /// When the person has to consent again.
    ends_at: Option<Timestamp>,
    encrypted: Vec<u8>,
    now: Timestamp,
}

impl GrantedAccess {
    pub(super) fn seal(
        app: &App,
        caller: &Caller,
        (id, provider): (ConnectionId, &'static dyn Provider),
        access: NewAccess,
    ) -> Result<GrantedAccess> {
        let NewAccess { access, place, external_id, institution, ends_at } = access;
        let encrypted = app.bank_client.vault.encrypt(&app.entropy, id.as_bytes(), &access)?;
        Ok(GrantedAccess {
            caller: caller.clone(),
            id,
            provider,
            place,
            login: external_id,
            institution,
            ends_at,
            encrypted,
            now: app.clock.now(),
        })
    }

    pub(super) async fn store<F>(self, app: &App, write: F) -> Result<()>
    where
        F: FnOnce(&mut Tx<'_>, &GrantedAccess) -> Result<()> + Clone + Send + 'static,
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

    /// Inserts a connection, by default with the name of its bank.
    pub(super) fn insert(&self, tx: &mut Tx<'_>, name: Option<&str>) -> Result<()> {
        let user = self.caller.user;
        lock_user(tx, user)?;
        let (external_id, now) = (self.id.to_string(), tx.now()?);
        let source = self.provider.source().as_str();
        let (bank, bank_name) = self.bank();
        let name = name.or(bank_name).unwrap_or(self.provider.name());
        let (sealed, login) = (&self.encrypted, &self.login);
        let ends_at = self.ends_at;
        let values = params![
            user,
            self.id,
            source,
            &external_id,
            name,
            sealed,
            now,
            login,
            bank,
            bank_name,
            ends_at
        ];
        tx.execute(INSERT, values)?;
        keys::count_login(tx, user, self.provider.source())?;
        let details = format!("Connected {name} at {}", self.place);
        let note = Note::new(&self.caller, "connection.create", details).about(self.id);
        audit::note(tx, user, self.now, note)
    }

    /// Replaces the access of a connection. The provider is told that the old one has ended.
    pub(super) fn replace(&self, tx: &mut Tx<'_>, app: &App) -> Result<()> {
        let (user, id) = (self.caller.user, self.id);
        lock_user(tx, user)?;
        let known = tx.first(KNOWN, params![user, id], |row| {
            Ok((row.get::<Option<Timestamp>>(1)?, row.get::<Option<String>>(2)?))
        })?;
        let (disconnected_at, name) = known.ok_or(Error::NotFound("connection"))?;
        // Ends the lease of a sync that uses the old access, so that its response is dropped.
        let now = tx.now()?;
        if self.provider.revokes() {
            ended_access::queue(tx, user, id)?;
        }
        let (bank, bank_name) = self.bank();
        let (sealed, login) = (&self.encrypted, &self.login);
        let values = params![user, id, sealed, now, login, bank, bank_name, self.ends_at];
        tx.execute(REPLACE, values)?;
        keys::count_login(tx, user, self.provider.source())?;
        if disconnected_at.is_some() {
            let accounts = tx.all(ACCOUNTS, params![user, id], |row| row.get::<AccountId>(0))?;
            let mut events = Vec::new();
            for account in accounts {
                events.extend(imports::disconnected_event(tx, user, account)?.map(connected_event));
            }
            outbox::append(&app.webhooks, tx, user, &events)?;
        }
        let name = name.unwrap_or_else(|| self.provider.name().to_owned());
        let details = format!("Reconnected {name} at {}", self.place);
        let note = Note::new(&self.caller, "connection.reauthorize", details).about(id);
        audit::note(tx, user, self.now, note)
    }
}

impl GrantedAccess {
    /// Id and name of the bank, if the access is for one bank alone.
    fn bank(&self) -> (Option<&str>, Option<&str>) {
        let bank = self.institution.as_ref();
        (bank.map(|it| it.id.as_str()), bank.map(|it| it.name.as_str()))
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

const KNOWN: &str = "select source, disconnected_at, name from connections
    where user_id = $1 and id = $2";
const INSERT: &str = "insert into connections
    (user_id, id, source, external_id, name, status, access, created_at, next_sync_at, login_id,
    institution_id, institution_name, access_ends_at)
    values ($1, $2, $3, $4, $5, 'connected', $6, $7, $7, $8, $9, $10, $11)";
const REPLACE: &str = "update connections set access = $3, status = 'connected', attention = null,
    remedy = null, failures = 0, next_sync_at = $4, leased_until = null, disconnected_at = null, sync_state = null,
    login_id = $5, institution_id = $6, institution_name = coalesce($7, institution_name),
    access_ends_at = $8
    where user_id = $1 and id = $2";
const ACCOUNTS: &str =
    "select id from accounts where user_id = $1 and connection_id = $2 order by id";

pub(super) const STATEMENTS: &[&str] = &[KNOWN, INSERT, REPLACE, ACCOUNTS];
