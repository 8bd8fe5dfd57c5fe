//! The one way in for data: what a source says is matched with what is known, and all of it is written, with its
//! events, in one transaction.

mod accounts;
mod bounds;
mod holdings;
mod text;
mod transactions;

use std::collections::BTreeSet;

use base::draft::{RateDraft, Statement};
use base::{AccountId, ConnectionId, ImportId, Timestamp, UserId, kinds};
use db::{Tx, params};
use wire::v1::Event;

use crate::enrichment::Desk;
use crate::insights::{self, Touch};
use crate::{App, Caller, Error, Result, outbox};

/// What an import found, in transactions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    pub new: usize,
    pub changed: usize,
    pub seen: usize,
    pub removed: usize,
}

/// What every step of one import shares.
struct Batch {
    app: App,
    user: UserId,
    connection: ConnectionId,
    id: ImportId,
    now: Timestamp,
    events: Vec<Event>,
    summary: Summary,
    desk: Desk,
    /// Rows that came, changed or went, as they are and as they were.
    touched: BTreeSet<Touch>,
    /// Whether balances of the past are known better.
    touched_balances: bool,
    /// Whether there is so much news that all of the person's figures are to be worked out again.
    touched_everything: bool,
}

/// Takes in what a source says. Either all of it is there afterwards, or nothing is.
pub async fn commit(app: &App, caller: &Caller, mut statement: Statement) -> Result<Summary> {
    caller.require_owner("import")?;
    text::clean(&mut statement);
    bounds::check(&statement)?;
    let (app, user) = (app.clone(), caller.user);
    let db = app.db.clone();
    db.write(move |tx| commit_in(tx, app, user, statement)).await
}

fn commit_in(tx: &mut Tx<'_>, app: App, user: UserId, statement: Statement) -> Result<Summary> {
    // Touching the person's row first makes imports for one person queue up on PostgreSQL too.
    if tx.execute(LOCK, params![user, app.clock.now()])? == 0 {
        return Err(Error::NotFound("user"));
    }
    // Only now: rows that are stamped before a wait would be missed by those who ask for what is newer.
    let now = app.clock.now();
    let connection = connect(tx, &app, user, &statement, now)?;
    let id = app.ids.make::<kinds::Import>();
    let mut batch = Batch {
        user,
        connection,
        id,
        now,
        events: Vec::new(),
        summary: Summary::default(),
        desk: Desk::open(tx, user)?,
        touched: BTreeSet::new(),
        touched_balances: false,
        touched_everything: false,
        app,
    };
    for draft in statement.accounts {
        let account = accounts::save(tx, &mut batch, &draft)?;
        accounts::save_balances(tx, &mut batch, account.id, &draft)?;
        transactions::save(tx, &mut batch, &account, &draft)?;
        if let Some(positions) = &draft.holdings {
            holdings::save(tx, &mut batch, account.id, positions)?;
        }
    }
    // Every amount in another currency is worth something else then.
    batch.touched_everything |= save_rates(tx, user, &statement.rates)?;
    batch.finish(tx, statement.as_of)
}

impl Batch {
    fn finish(self, tx: &mut Tx<'_>, as_of: Timestamp) -> Result<Summary> {
        let Summary { new, changed, seen, removed } = self.summary;
        tx.execute(
            INSERT_IMPORT,
            params![
                self.user,
                self.id,
                self.connection,
                as_of,
                self.now,
                new as i64,
                changed as i64,
                seen as i64,
                removed as i64
            ],
        )?;
        outbox::append(&self.app, tx, self.user, &self.events)?;
        if self.touched_everything {
            insights::touch_everything(tx, self.user, self.now)?;
        } else if !self.touched.is_empty() || !self.events.is_empty() || self.touched_balances {
            insights::touch(tx, self.user, self.now, &self.touched)?;
        }
        Ok(self.summary)
    }

    /// Tells of transactions, at most a hundred in one event.
    fn tell<E>(&mut self, account: AccountId, ids: &[base::TransactionId], event: E)
    where
        E: Fn(String, Vec<String>, usize) -> Event,
    {
        for chunk in ids.chunks(Event::IDS_MAX) {
            let names: Vec<String> = chunk.iter().map(ToString::to_string).collect();
            let count = names.len();
            self.events.push(event(account.to_string(), names, count));
        }
    }
}

fn connect(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
    statement: &Statement,
    now: Timestamp,
) -> Result<ConnectionId> {
    let source = statement.source.as_str();
    let status = if source == "manual" { "manual" } else { "connected" };
    tx.execute(
        CONNECT,
        params![
            user,
            app.ids.make::<kinds::Connection>(),
            source,
            &statement.connection,
            &statement.institution,
            status,
            now
        ],
    )?;
    let found =
        tx.first(CONNECTION, params![user, source, &statement.connection], |row| row.get(0))?;
    found.ok_or_else(|| Error::internal("a connection vanished inside its transaction"))
}

/// Says whether any is news.
fn save_rates(tx: &mut Tx<'_>, user: UserId, rates: &[RateDraft]) -> Result<bool> {
    let mut changed = 0;
    for rate in rates {
        let (from, to) = (rate.from.code(), rate.to.code());
        changed +=
            tx.execute(SAVE_RATE, params![user, from, to, rate.on, &rate.rate.to_string()])?;
    }
    Ok(changed > 0)
}

const LOCK: &str = "update users set connected_at = coalesce(connected_at, $2) where id = $1";
const CONNECT: &str = "insert into connections
    (user_id, id, source, external_id, institution_name, status, synced_at, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $7)
    on conflict (user_id, source, external_id) do update
    set status = excluded.status, synced_at = excluded.synced_at,
        institution_name = coalesce(excluded.institution_name, connections.institution_name)";
const CONNECTION: &str =
    "select id from connections where user_id = $1 and source = $2 and external_id = $3";
const SAVE_RATE: &str =
    "insert into exchange_rates (user_id, from_currency, to_currency, rated_on, rate)
    values ($1, $2, $3, $4, $5)
    on conflict (user_id, from_currency, to_currency, rated_on) do update set rate = excluded.rate
    where exchange_rates.rate <> excluded.rate";
const INSERT_IMPORT: &str =
    "insert into imports (user_id, id, connection_id, as_of, imported_at, new_count,
    changed_count, seen_count, removed_count) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

pub(crate) fn statements() -> Vec<&'static str> {
    let own = [LOCK, CONNECT, CONNECTION, SAVE_RATE, INSERT_IMPORT];
    [&own[..], accounts::STATEMENTS, holdings::STATEMENTS, transactions::STATEMENTS].concat()
}
