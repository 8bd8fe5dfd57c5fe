//! Asks the provider what came of a round trip, and stores it: new access, or repaired access.

use base::draft::Source;
use base::{ConnectionId, TimeZone, Timestamp, UserId, kinds};
use db::{Row, Tx, params};
use futures_util::{StreamExt as _, stream};
use sources::provider::{LinkOutcome, LinkedBank, Provider, Secret};

use super::start::SealedLink;
use super::{LinkState, StoredState};
use crate::ingest::connections::authorization::GrantedAccess;
use crate::ingest::connections::connection::{conflict, lock_user, provider_of, run_to_completion};
use crate::ingest::connections::schedule::later;
use crate::ingest::connections::{keys, sync};
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result};

/// How long one process may take to ask and store.
const LEASE_SECONDS: i64 = 240;
/// A link whose page has expired is still asked for this long, since the person may just have finished.
const GRACE_SECONDS: i64 = 30 * 60;
const POLLS_MAX: i64 = 50;
const CONCURRENT_POLLS: usize = 4;

const EXPIRED: &str = "This link has expired. Start again when you are ready.";

/// A stored link.
struct Link {
    user: UserId,
    id: String,
    provider: &'static dyn Provider,
    connection: Option<ConnectionId>,
    state: StoredState,
    message: Option<String>,
    url: String,
    session: Secret,
    expires_at: Timestamp,
}

/// The newest link of a person to a provider, for the browser that comes back from its page.
pub async fn find_link(app: &App, caller: &Caller, source: Source) -> Result<Option<String>> {
    caller.require_owner("connection")?;
    let key = params![caller.user, source.as_str()];
    Ok(app.db.first(NEWEST, key, |row| row.get::<String>(0)).await?)
}

/// How a round trip stands. If the person has finished on the provider's page, the result is stored now. `returned` is
/// the query that the browser came back with.
pub async fn check_link(
    app: &App,
    caller: &Caller,
    id: &str,
    returned: Option<&str>,
) -> Result<LinkState> {
    caller.require_owner("connection")?;
    advance(app, caller, id, returned, false).await
}

/// Keeps a second connection to a bank.
pub async fn keep_duplicate(app: &App, caller: &Caller, id: &str) -> Result<LinkState> {
    caller.require_owner("connection")?;
    advance(app, caller, id, None, true).await
}

/// Ends the second access to a bank at the provider.
pub async fn discard_duplicate(app: &App, caller: &Caller, id: &str) -> Result<()> {
    caller.require_owner("connection")?;
    let link = Link::get(app, caller.user, id).await?;
    if link.state != StoredState::Duplicate {
        return Ok(());
    }
    let context = keys::context(app, link.user, link.provider).await?;
    let failed = |error: sources::provider::BankError| conflict(error.message);
    let outcome = link.provider.finish_link(&context, &link.session, None).await.map_err(failed)?;
    if let LinkOutcome::Connected(banks) = outcome {
        for bank in banks {
            let access = link.provider.exchange(&context, bank.token.expose()).await;
            let access = access.map_err(failed)?.access;
            link.provider.disconnect(&context, &access).await.map_err(failed)?;
            let (user, source) = (link.user, link.provider.source());
            app.db.write(move |tx| keys::count_login(tx, user, source)).await?;
        }
    }
    let message = "The second connection was not kept.";
    link.set_state(app, StoredState::Ended, Some(message.to_owned()), None).await
}

/// Asks about the links that people have not come back from, so that a closed browser loses nothing.
pub async fn poll_once(app: &App) -> Result<usize> {
    let now = app.db.now().await?;
    let read = |row: &Row<'_>| Ok((row.get::<UserId>(0)?, row.get::<String>(1)?));
    let waiting = app.db.all(WAITING, params![now, POLLS_MAX], read).await?;
    let polled = stream::iter(waiting).map(|(user, id)| async move {
        // The person started it; the background step only looks after it.
        let caller = Caller::owner(user, TimeZone::utc());
        match advance(app, &caller, &id, None, false).await {
            Ok(LinkState::Done { .. }) => 1,
            Ok(_) | Err(Error::Conflict { .. }) => 0,
            Err(error) => {
                tracing::warn!(%error, "a link could not be checked");
                0
            }
        }
    });
    let polled: Vec<usize> = polled.buffer_unordered(CONCURRENT_POLLS).collect().await;
    Ok(polled.into_iter().sum())
}

async fn advance(
    app: &App,
    caller: &Caller,
    id: &str,
    returned: Option<&str>,
    keeps_duplicate: bool,
) -> Result<LinkState> {
    let (app, caller) = (app.clone(), caller.clone());
    let (id, returned) = (id.to_owned(), returned.map(str::to_owned));
    run_to_completion(async move {
        let link = Link::get(&app, caller.user, &id).await?;
        let is_open = link.state == StoredState::Waiting
            || link.state == StoredState::Duplicate && keeps_duplicate;
        if !is_open || !link.acquire(&app).await? {
            return link.state();
        }
        let settled = link.settle(&app, &caller, returned.as_deref(), keeps_duplicate).await;
        link.release(&app).await?;
        settled?;
        Link::get(&app, caller.user, &id).await?.state()
    })
    .await
}

impl Link {
    async fn get(app: &App, user: UserId, id: &str) -> Result<Link> {
        let found = app.db.first(GET, params![user, id], StoredLink::read).await?;
        let found = found.ok_or(Error::NotFound("link"))?;
        let opened = app.bank_client.vault.decrypt(id.as_bytes(), &found.sealed);
        let opened = opened.and_then(|it| serde_json::from_str::<SealedLink>(it.expose()).ok());
        let opened = opened.ok_or_else(|| conflict(EXPIRED))?;
        Ok(Link {
            user,
            id: id.to_owned(),
            provider: provider_of(found.source)?,
            connection: found.connection,
            state: found.state,
            message: found.message,
            url: opened.url,
            session: Secret::new(opened.session),
            expires_at: found.expires_at,
        })
    }

    fn state(self) -> Result<LinkState> {
        let message = self.message.unwrap_or_default();
        Ok(match self.state {
            StoredState::Waiting => LinkState::Waiting { url: self.url },
            StoredState::Duplicate => LinkState::Duplicate { message },
            StoredState::Done => LinkState::Done {
                connection: self.connection.ok_or(Error::NotFound("connection"))?,
            },
            StoredState::Ended => LinkState::Ended { message },
        })
    }

    async fn settle(
        &self,
        app: &App,
        caller: &Caller,
        returned: Option<&str>,
        keeps_duplicate: bool,
    ) -> Result<()> {
        let context = keys::context(app, self.user, self.provider).await?;
        let outcome = self.provider.finish_link(&context, &self.session, returned).await;
        match outcome.map_err(|error| conflict(error.message))? {
            LinkOutcome::Waiting => {
                let now = app.db.now().await?;
                if now > later(self.expires_at, GRACE_SECONDS) {
                    let message = Some(EXPIRED.to_owned());
                    self.set_state(app, StoredState::Ended, message, None).await?;
                }
                Ok(())
            }
            LinkOutcome::Canceled(message) => {
                self.set_state(app, StoredState::Ended, Some(message), None).await
            }
            LinkOutcome::Repaired => self.repaired(app, caller).await,
            LinkOutcome::Connected(banks) => {
                if !keeps_duplicate && let Some(message) = self.duplicate(app, &banks).await? {
                    return self.set_state(app, StoredState::Duplicate, Some(message), None).await;
                }
                self.connected(app, caller, banks).await
            }
        }
    }

    /// The question whether to keep a second connection, if one of the banks is connected already.
    async fn duplicate(&self, app: &App, banks: &[LinkedBank]) -> Result<Option<String>> {
        for bank in banks {
            let Some(institution) = &bank.institution else { continue };
            let values = params![self.user, self.provider.source().as_str(), &institution.id];
            let read =
                |row: &Row<'_>| Ok((row.get::<ConnectionId>(0)?, row.get::<Option<String>>(1)?));
            let known = app.db.first(SAME_BANK, values, read).await?;
            let Some((id, name)) = known.filter(|(id, _)| Some(*id) != self.connection) else {
                continue;
            };
            let name = name.unwrap_or_else(|| id.to_string());
            return Ok(Some(format!(
                "You have connected {} before, as {name}. A second connection to the same login \
                 brings the same accounts again and may count toward the limit of your {} plan. \
                 Accounts that you just shared: {}.",
                institution.name,
                self.provider.name(),
                bank.accounts.join(", ")
            )));
        }
        Ok(None)
    }

    /// Exchanges the tokens for access and stores it. Each access is stored before the next token is used.
    async fn connected(&self, app: &App, caller: &Caller, banks: Vec<LinkedBank>) -> Result<()> {
        let mut first = None;
        for bank in banks {
            let context = keys::context(app, self.user, self.provider).await?;
            let exchanged = self.provider.exchange(&context, bank.token.expose()).await;
            let access = exchanged.map_err(|error| conflict(error.message))?;
            let reconnects = self.connection.filter(|_| first.is_none());
            let id = reconnects.unwrap_or_else(|| app.ids.make::<kinds::Connection>());
            let granted = GrantedAccess::seal(app, caller, (id, self.provider), access)?;
            match reconnects {
                Some(_) => {
                    let mine = app.clone();
                    granted.store(app, move |tx, it| it.replace(tx, &mine)).await?;
                }
                None => granted.store(app, |tx, it| it.insert(tx, None)).await?,
            }
            first = first.or(Some(id));
            sync::discover_accounts(app, caller, id).await;
        }
        self.set_state(app, StoredState::Done, None, first).await
    }

    async fn repaired(&self, app: &App, caller: &Caller) -> Result<()> {
        let connection = self.connection.ok_or(Error::NotFound("connection"))?;
        let (user, noted, now) = (self.user, caller.clone(), app.clock.now());
        let name = self.provider.name();
        let repair = move |tx: &mut Tx<'_>| {
            lock_user(tx, user)?;
            let due_at = tx.now()?;
            tx.execute(REPAIRED, params![user, connection, due_at])?;
            let details = format!("Repaired a connection of {name}");
            let note = Note::new(&noted, "connection.repair", details).about(connection);
            audit::note(tx, user, now, note)
        };
        app.db.write(repair).await?;
        sync::discover_accounts(app, caller, connection).await;
        self.set_state(app, StoredState::Done, None, Some(connection)).await
    }

    async fn set_state(
        &self,
        app: &App,
        state: StoredState,
        message: Option<String>,
        connection: Option<ConnectionId>,
    ) -> Result<()> {
        let (user, id) = (self.user, self.id.clone());
        let set = move |tx: &mut Tx<'_>| {
            tx.execute(SET_STATE, params![user, &id, state.as_str(), &message, connection])?;
            Ok::<_, Error>(())
        };
        app.db.write(set).await
    }

    /// Whether this process may ask now. A token can be exchanged only once, so only one process does.
    async fn acquire(&self, app: &App) -> Result<bool> {
        let (user, id) = (self.user, self.id.clone());
        let acquire = move |tx: &mut Tx<'_>| {
            let now = tx.now()?;
            let until = later(now, LEASE_SECONDS);
            Ok::<_, Error>(tx.execute(ACQUIRE, params![user, &id, now, until])? > 0)
        };
        app.db.write(acquire).await
    }

    async fn release(&self, app: &App) -> Result<()> {
        let (user, id) = (self.user, self.id.clone());
        let release = move |tx: &mut Tx<'_>| {
            tx.execute(RELEASE, params![user, &id])?;
            Ok::<_, Error>(())
        };
        app.db.write(release).await
    }
}

/// The columns of a link.
struct StoredLink {
    source: Source,
    connection: Option<ConnectionId>,
    sealed: Vec<u8>,
    state: StoredState,
    message: Option<String>,
    expires_at: Timestamp,
}

impl StoredLink {
    fn read(row: &Row<'_>) -> db::Result<StoredLink> {
        Ok(StoredLink {
            source: row.get(0)?,
            connection: row.get(1)?,
            sealed: row.get(2)?,
            state: row.get(3)?,
            message: row.get(4)?,
            expires_at: row.get(5)?,
        })
    }
}

const GET: &str = "select source, connection_id, sealed, state, message, expires_at
    from connection_links where user_id = $1 and id = $2";
const NEWEST: &str = "select id from connection_links where user_id = $1 and source = $2
    order by created_at desc, id limit 1";
const WAITING: &str = "select user_id, id from connection_links where state = 'waiting'
    and (leased_until is null or leased_until <= $1) order by created_at limit $2";
const ACQUIRE: &str = "update connection_links set leased_until = $4
    where user_id = $1 and id = $2 and state in ('waiting', 'duplicate')
    and (leased_until is null or leased_until <= $3)";
const RELEASE: &str =
    "update connection_links set leased_until = null where user_id = $1 and id = $2";
const SET_STATE: &str = "update connection_links set state = $3, message = $4,
    connection_id = coalesce($5, connection_id) where user_id = $1 and id = $2";
const SAME_BANK: &str = "select id, name from connections where user_id = $1 and source = $2
    and institution_id = $3 and access is not null order by id limit 1";
// Choosing further accounts, or signing in again, makes the connection due.
const REPAIRED: &str = "update connections set status = 'connected', attention = null,
    remedy = null, failures = 0, leased_until = null,
    next_sync_at = case when next_sync_at is null then next_sync_at else $3 end
    where user_id = $1 and id = $2 and access is not null";

pub(super) const STATEMENTS: &[&str] =
    &[GET, NEWEST, WAITING, ACQUIRE, RELEASE, SET_STATE, SAME_BANK, REPAIRED];
