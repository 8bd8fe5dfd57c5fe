//! The person's connections as a page shows them: those to banks, and files and manual entry that have accounts.

use std::collections::BTreeSet;

use base::draft::Source;
use base::{AccountId, ConnectionId, Date, TimeZone, Timestamp};
use db::{Row, params};
use sources::banks;
use sources::provider::{Provider, Remedy};

use crate::{App, Caller, Error, Result};

/// More connections than anyone has.
const CONNECTIONS_MAX: i64 = 1_000;

#[derive(Debug, Clone)]
pub struct Connection {
    pub id: ConnectionId,
    pub source: Source,
    pub name: String,
    /// The institutions of its accounts, each once.
    pub institutions: Vec<String>,
    pub state: State,
    /// A message about the connection as a whole; plain text, partly quoted from the server. A connection that works
    /// may have one that needs no action.
    pub attention: Option<String>,
    pub synced_at: Option<Timestamp>,
    pub next_sync_at: Option<Timestamp>,
    /// When the person has to consent again; none if the access has no end.
    pub access_ends_at: Option<Timestamp>,
    /// What the person can do about the problem.
    pub remedy: Option<Remedy>,
    /// Syncs since midnight UTC, of `requests_max`.
    pub requests_today: i64,
    /// Zero for files and manual entry.
    pub requests_max: i64,
    /// Whether the provider has not yet been told that the connection ended. This is repeated until it succeeds.
    pub is_revoking: bool,
    /// None before the first sync, and for files and manual entry.
    pub history: Option<History>,
    pub accounts: Vec<ConnectedAccount>,
    /// Offered accounts that the person has not decided about.
    pub open_offers: usize,
    pub created_at: Timestamp,
    pub disconnected_at: Option<Timestamp>,
}

impl Connection {
    /// The provider that it is synced from; none for files and manual entry.
    pub fn provider(&self) -> Option<&'static dyn Provider> {
        banks::find(self.source)
    }
}

/// How far back transactions were fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    pub from: Date,
    pub is_complete: bool,
}

/// An account of a connection.
#[derive(Debug, Clone)]
pub struct ConnectedAccount {
    pub id: AccountId,
    pub name: String,
    pub institution_name: Option<String>,
    /// The problem with this account, and what to do.
    pub attention: Option<String>,
}

base::words!(
    /// The status of a connection, in the words of the API's `connection_status`.
    State {
        Connected => "connected",
        /// The connection or one of its accounts needs the person.
        NeedsAttention => "needs_attention",
        Disconnected => "disconnected",
        Manual => "manual",
    }
);
db::word_columns!(State);

/// Lists connections: those to banks first, then files and manual entry, each by name.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Connection>> {
    caller.require_owner("connection")?;
    let user = caller.user;
    let today = app.clock.today_in(TimeZone::utc());
    let mut all = app.db.all(LIST, params![user, CONNECTIONS_MAX], |row| read(row, today)).await?;
    let accounts = app.db.all(ACCOUNTS, params![user], read_account).await?;
    let count = |row: &Row<'_>| Ok((row.get::<ConnectionId>(0)?, row.get::<i64>(1)?));
    let offers = app.db.all(OFFERS, params![user], count).await?;
    let revoking = app.db.all(REVOKING, params![user], |row| row.get::<ConnectionId>(0)).await?;
    for connection in &mut all {
        connection.is_revoking = revoking.contains(&connection.id);
        let own = accounts.iter().filter(|(of, _)| *of == connection.id);
        connection.accounts = own.map(|(_, it)| it.clone()).collect();
        let names = connection.accounts.iter().filter_map(|it| it.institution_name.clone());
        connection.institutions = names.collect::<BTreeSet<_>>().into_iter().collect();
        let open = offers.iter().find(|(of, _)| *of == connection.id);
        connection.open_offers = open.map_or(0, |(_, count)| (*count).max(0) as usize);
        let has_problem = connection.accounts.iter().any(|it| it.attention.is_some());
        if has_problem && connection.state == State::Connected {
            connection.state = State::NeedsAttention;
        }
    }
    all.retain(|it| it.provider().is_some() || !it.accounts.is_empty());
    let is_synced = |it: &Connection| it.provider().is_some();
    all.sort_by(|a, b| {
        let order = |it: &Connection| (!is_synced(it), it.name.to_lowercase(), it.id);
        order(a).cmp(&order(b))
    });
    Ok(all)
}

pub async fn get(app: &App, caller: &Caller, id: ConnectionId) -> Result<Connection> {
    let all = list(app, caller).await?;
    all.into_iter().find(|it| it.id == id).ok_or(Error::NotFound("connection"))
}

fn read(row: &Row<'_>, today: Date) -> db::Result<Connection> {
    let source: Source = row.get(1)?;
    let (own, institution): (Option<String>, Option<String>) = (row.get(2)?, row.get(3)?);
    let name = own.or(institution).unwrap_or_else(|| default_name(source).to_owned());
    let (requests_on, requests): (Option<Date>, i64) = (row.get(8)?, row.get(9)?);
    let attended: i64 = row.get(16)?;
    let (from, next_history_at): (Option<Date>, Option<Timestamp>) = (row.get(10)?, row.get(11)?);
    Ok(Connection {
        id: row.get(0)?,
        source,
        name,
        institutions: Vec::new(),
        state: row.get(4)?,
        attention: row.get(5)?,
        synced_at: row.get(6)?,
        next_sync_at: row.get(7)?,
        access_ends_at: row.get(15)?,
        remedy: row.optional_word(14, "Remedy", Remedy::parse)?,
        requests_today: if requests_on == Some(today) { requests + attended } else { 0 },
        requests_max: banks::find(source).map_or(0, |it| it.schedule().all_syncs_a_day()),
        is_revoking: false,
        history: from.map(|from| History { from, is_complete: next_history_at.is_none() }),
        accounts: Vec::new(),
        open_offers: 0,
        created_at: row.get(12)?,
        disconnected_at: row.get(13)?,
    })
}

fn default_name(source: Source) -> &'static str {
    match source {
        Source::Demo => "Example household",
        Source::File => "Files",
        Source::Manual => "Manual accounts",
        bank => banks::find(bank).map_or("Bank", |it| it.name()),
    }
}

fn read_account(row: &Row<'_>) -> db::Result<(ConnectionId, ConnectedAccount)> {
    let account = ConnectedAccount {
        id: row.get(1)?,
        name: row.get(2)?,
        institution_name: row.get(3)?,
        attention: row.get(4)?,
    };
    Ok((row.get(0)?, account))
}

const LIST: &str = "select id, source, name, institution_name, status, attention, synced_at,
    next_sync_at, asked_on, asked_count, history_from, next_history_at, created_at, disconnected_at,
    remedy, access_ends_at, attended_count from connections where user_id = $1 order by id limit $2";
const ACCOUNTS: &str =
    "select connection_id, id, coalesce(own_name, name), institution_name, attention
    from accounts where user_id = $1 order by 3, id";
const OFFERS: &str = "select connection_id, cast(count(*) as bigint) from offered_accounts
    where user_id = $1 and choice = 'open' group by connection_id";

const REVOKING: &str =
    "select connection_id from connection_removals where user_id = $1 limit 1000";

pub(super) const STATEMENTS: &[&str] = &[LIST, ACCOUNTS, OFFERS, REVOKING];
