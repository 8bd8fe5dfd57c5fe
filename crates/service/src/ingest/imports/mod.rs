//! The one way in for data: what a source says is matched with what is known, and all of it is written, with its
//! events, in one transaction.

mod accounts;
mod bounds;
pub mod files;
mod history;
mod holdings;
mod journal;
mod text;
mod transactions;
mod undo;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use base::draft::{AccountDraft, RateDraft, Source, Statement};
use base::{AccountId, ConnectionId, ImportId, Timestamp, UserId, kinds};
use db::{Tx, params};
use webhooks::outbox;
use wire::v1::Event;

use crate::classify::classifier::Classifier;
use crate::platform::dirty_queue::{self, DirtyTransaction};
use crate::{App, Caller, Error, Result};

pub use history::{Import, get, list, list_accounts};
use journal::{Journal, Place};
pub(crate) use undo::disconnected;
pub use undo::{UndoSummary, undo};

/// What an import found, in transactions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    pub new: usize,
    pub changed: usize,
    pub seen: usize,
    pub removed: usize,
}

/// What comes in at once, with all that is known of where it belongs.
pub(crate) struct Delivery {
    pub(crate) source: Source,
    /// Names the connection at its source.
    pub(crate) connection: String,
    pub(crate) institution: Option<String>,
    pub(crate) as_of: Timestamp,
    pub(crate) accounts: Vec<Incoming>,
    pub(crate) rates: Vec<RateDraft>,
    pub(crate) about: About,
    pub(crate) progress: Progress,
}

/// Rows written so far, for whoever waits.
#[derive(Clone, Default)]
pub(crate) struct Progress {
    pub(crate) done: Arc<AtomicU64>,
    pub(crate) total: u64,
}

/// A draft of an account, and where it goes.
pub(crate) struct Incoming {
    pub(crate) draft: AccountDraft,
    /// Whose words these are; the ids of its transactions begin with it.
    pub(crate) giver: Arc<str>,
    /// The person's account that it belongs to, where more than its name at the source says so.
    pub(crate) into: Option<AccountId>,
    /// What the source calls the account, to be remembered for the next time.
    pub(crate) known_as: Option<KnownAs>,
}

#[derive(Debug, Clone)]
pub(crate) struct KnownAs {
    pub(crate) giver: &'static str,
    pub(crate) external_id: String,
}

/// The file that a batch came from.
#[derive(Default)]
pub(crate) struct About {
    pub(crate) name: Option<String>,
    pub(crate) format: Option<&'static str>,
    pub(crate) rejected: usize,
}

/// What became of a delivery.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) import: ImportId,
    pub(crate) summary: Summary,
    /// In the order of the delivery.
    pub(crate) accounts: Vec<AccountId>,
}

impl From<Statement> for Delivery {
    fn from(statement: Statement) -> Delivery {
        let giver: Arc<str> = "".into();
        let incoming =
            |draft| Incoming { draft, giver: Arc::clone(&giver), into: None, known_as: None };
        Delivery {
            source: statement.source,
            connection: statement.connection,
            institution: statement.institution,
            as_of: statement.as_of,
            accounts: statement.accounts.into_iter().map(incoming).collect(),
            rates: statement.rates,
            about: About::default(),
            progress: Progress::default(),
        }
    }
}

/// What every step of one import shares.
struct Batch {
    app: App,
    user: UserId,
    connection: ConnectionId,
    id: ImportId,
    now: Timestamp,
    progress: Progress,
    journal: Journal,
    /// The accounts in which something changed.
    changed: BTreeSet<AccountId>,
    events: Vec<Event>,
    summary: Summary,
    classifier: Classifier,
    /// Rows that came, changed or went, as they are and as they were.
    touched: BTreeSet<DirtyTransaction>,
    /// Whether balances of the past are known better.
    touched_balances: bool,
    /// Whether there is so much news that all of the person's figures are to be worked out again.
    touched_everything: bool,
}

/// Takes in what a source says. Either all of it is there afterwards, or nothing is.
pub async fn commit(app: &App, caller: &Caller, statement: Statement) -> Result<Summary> {
    caller.require_owner("import")?;
    let delivery = prepared(statement.into())?;
    let (app, user) = (app.clone(), caller.user);
    let db = app.db.clone();
    Ok(db.write(move |tx| take_in(tx, &app, user, delivery)).await?.summary)
}

/// Made fit to be kept, or refused.
pub(crate) fn prepared(mut delivery: Delivery) -> Result<Delivery> {
    text::clean(&mut delivery);
    bounds::check(&delivery)?;
    Ok(delivery)
}

/// The one step that writes; the delivery must have been prepared.
pub(crate) fn take_in(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
    delivery: Delivery,
) -> Result<Outcome> {
    // Touching the person's row first makes imports for one person queue up on PostgreSQL too.
    if tx.execute(LOCK, params![user, app.clock.now()])? == 0 {
        return Err(Error::NotFound("user"));
    }
    // Only now: rows that are stamped before a wait would be missed by those who ask for what is newer.
    let now = app.clock.now();
    let connection = connect(tx, app, user, &delivery, now)?;
    let mut batch = Batch {
        user,
        connection,
        id: app.ids.make::<kinds::Import>(),
        now,
        progress: delivery.progress.clone(),
        journal: Journal::default(),
        changed: BTreeSet::new(),
        events: Vec::new(),
        summary: Summary::default(),
        classifier: Classifier::load(tx, user)?,
        touched: BTreeSet::new(),
        touched_balances: false,
        touched_everything: false,
        app: app.clone(),
    };
    let giver = delivery.accounts.first().map_or_else(|| "".into(), |it| Arc::clone(&it.giver));
    // Rows point to their batch, so it stands before them; what it found is written when it is known.
    batch.open(tx, &giver, delivery.as_of, &delivery.about)?;
    let mut landed = Vec::with_capacity(delivery.accounts.len());
    for incoming in &delivery.accounts {
        landed.push(batch.take_account(tx, incoming)?);
    }
    // Every amount in another currency is worth something else then.
    batch.touched_everything |= save_rates(tx, user, &delivery.rates)?;
    batch.finish(tx, landed)
}

impl Batch {
    fn open(&self, tx: &mut Tx<'_>, giver: &str, as_of: Timestamp, about: &About) -> Result<()> {
        let rejected = about.rejected as i64;
        let (name, format) = (&about.name, about.format);
        tx.execute(
            OPEN_IMPORT,
            params![
                self.user,
                self.id,
                self.connection,
                as_of,
                self.now,
                giver,
                name,
                format,
                rejected
            ],
        )?;
        Ok(())
    }

    fn take_account(&mut self, tx: &mut Tx<'_>, incoming: &Incoming) -> Result<AccountId> {
        let account = accounts::save(tx, self, incoming)?;
        accounts::save_balances(tx, self, &account, &incoming.draft)?;
        transactions::save(tx, self, &account, incoming)?;
        if let Some(positions) = &incoming.draft.holdings {
            holdings::save(tx, self, &account, positions)?;
        }
        if account.is_new || self.changed.contains(&account.id) {
            tx.execute(NOTE_ACCOUNT, params![self.user, self.id, account.id])?;
            self.changed.insert(account.id);
        } else {
            self.journal.forget(Place::Account(account.id));
        }
        if let Some(name) = &incoming.known_as {
            let values = params![self.user, name.giver, &name.external_id, account.id];
            tx.execute(LINK, values)?;
        }
        Ok(account.id)
    }

    /// Remembers how a row was, before it is written. Of a new account nothing can be there yet.
    fn keep(&mut self, tx: &mut Tx<'_>, account: &accounts::Saved, place: Place) -> Result<()> {
        if account.is_new {
            self.journal.keep_new(place);
            return Ok(());
        }
        self.journal.keep(tx, self.user, place)
    }

    fn finish(self, tx: &mut Tx<'_>, accounts: Vec<AccountId>) -> Result<Outcome> {
        let Summary { new, changed, seen, removed } = self.summary;
        let counts = [new, changed, seen, removed, self.changed.len()].map(|it| it as i64);
        tx.execute(
            CLOSE_IMPORT,
            params![self.user, self.id, counts[0], counts[1], counts[2], counts[3], counts[4]],
        )?;
        self.journal.save(tx, self.user, self.id)?;
        outbox::append(&self.app.webhooks, tx, self.user, &self.events)?;
        if self.touched_everything {
            dirty_queue::mark_all_dirty(tx, self.user, self.now)?;
        } else if !self.touched.is_empty() || !self.events.is_empty() || self.touched_balances {
            dirty_queue::mark_dirty(tx, self.user, self.now, &self.touched)?;
        }
        Ok(Outcome { import: self.id, summary: self.summary, accounts })
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
    delivery: &Delivery,
    now: Timestamp,
) -> Result<ConnectionId> {
    let source = delivery.source.as_str();
    let status = if source == "manual" { "manual" } else { "connected" };
    tx.execute(
        CONNECT,
        params![
            user,
            app.ids.make::<kinds::Connection>(),
            source,
            &delivery.connection,
            &delivery.institution,
            status,
            now
        ],
    )?;
    let found =
        tx.first(CONNECTION, params![user, source, &delivery.connection], |row| row.get(0))?;
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
const OPEN_IMPORT: &str =
    "insert into imports (user_id, id, connection_id, as_of, imported_at, new_count, changed_count,
    seen_count, removed_count, giver, name, format, rejected_count)
    values ($1, $2, $3, $4, $5, 0, 0, 0, 0, $6, $7, $8, $9)";
const CLOSE_IMPORT: &str = "update imports set new_count = $3, changed_count = $4, seen_count = $5,
    removed_count = $6, account_count = $7 where user_id = $1 and id = $2";
const NOTE_ACCOUNT: &str =
    "insert into import_accounts (user_id, import_id, account_id) values ($1, $2, $3)
    on conflict (user_id, import_id, account_id) do nothing";
const LINK: &str = "insert into account_links (user_id, giver, external_id, account_id)
    values ($1, $2, $3, $4)
    on conflict (user_id, giver, external_id) do update set account_id = excluded.account_id";

pub(crate) fn statements() -> Vec<&'static str> {
    let own = [LOCK, CONNECT, CONNECTION, SAVE_RATE, OPEN_IMPORT, CLOSE_IMPORT, NOTE_ACCOUNT, LINK];
    let kept = journal::TABLES.iter().flat_map(|it| [it.select, it.drop, it.put]);
    let mut all: Vec<&str> = own.into_iter().chain(kept).collect();
    for part in [
        accounts::STATEMENTS,
        history::STATEMENTS,
        holdings::STATEMENTS,
        transactions::STATEMENTS,
        undo::STATEMENTS,
    ] {
        all.extend(part);
    }
    all.extend(files::statements());
    all
}
