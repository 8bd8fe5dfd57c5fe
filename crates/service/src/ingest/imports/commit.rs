//! Commits an import: matches a source's data with the stored rows, and writes all of it with its events in one
//! transaction.

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use base::draft::{RateDraft, Statement};
use base::{AccountId, ConnectionId, Timestamp, UserId, kinds};
use db::{Engine, Tx, params};
use webhooks::outbox;

use super::batch::{Batch, lock_user};
use super::journal::{Journal, RowKey};
use super::request::{FileInfo, ImportOutcome, ImportRequest, IncomingAccount, Summary};
use super::{accounts, amount_limits, balances, holdings, text, trades, transactions};
use crate::classify::classifier::Classifier;
use crate::classify::cleaned_handover::{ClassifiedRows, HandedOver};
use crate::ledger::stamps;
use crate::platform::dirty_queue;
use crate::{App, Caller, Error, Result};

/// Imports a statement. Either all of it is stored, or nothing.
pub async fn commit(app: &App, caller: &Caller, statement: Statement) -> Result<Summary> {
    caller.require_owner("import")?;
    let (format, started_at) = (statement.source.as_str(), app.clock.now());
    let mut request = prepare(statement.into())?;
    request.clean_descriptions();
    let (mine, user) = (app.clone(), caller.user);
    let committed = app.db.write(move |tx| commit_in(tx, &mine, user, request)).await;
    count_import(app, format, started_at, committed.is_ok());
    Ok(committed?.summary)
}

/// Counts an import that began at `started_at`.
pub(super) fn count_import(
    app: &App,
    format: &'static str,
    started_at: Timestamp,
    is_committed: bool,
) {
    let took = app.clock.now().as_microsecond() - started_at.as_microsecond();
    let outcome = if is_committed { "committed" } else { "failed" };
    app.meters.count_import(format, outcome, took);
}

/// Cleans the text of a request and checks its amounts.
pub(crate) fn prepare(mut request: ImportRequest) -> Result<ImportRequest> {
    text::clean(&mut request);
    amount_limits::check(&request)?;
    Ok(request)
}

/// Writes a prepared request within a transaction. Every import, from whatever source, ends here.
pub(crate) fn commit_in(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
    mut request: ImportRequest,
) -> Result<ImportOutcome> {
    tx.allow_long_statements()?;
    let timezone = lock_user(tx, user, app.clock.now())?;
    // Read after the lock: rows stamped before a wait would be missed by readers that ask for newer rows only.
    let now = app.clock.now();
    let stamp = stamps::next(tx, user, now)?;
    let connection = save_connection(tx, app, user, &request, now)?;
    let mut batch = Batch {
        user,
        connection,
        id: app.ids.make::<kinds::Import>(),
        now,
        timezone,
        stamp,
        progress: request.progress.clone(),
        journal: Journal::default(),
        changed: BTreeSet::new(),
        events: Vec::new(),
        summary: Summary::default(),
        classifier: Classifier::load(tx, user)?,
        cleaned: mem::take(&mut request.cleaned),
        dirty: BTreeSet::new(),
        balances_dirty: false,
        format: request.file.format.unwrap_or(request.source.as_str()),
        rejected: request.file.rejected,
        all_dirty: false,
        app: app.clone(),
        trades: 0,
        inserted: None,
    };
    let first = request.accounts.first();
    let provenance = first.map_or_else(|| "".into(), |it| Arc::clone(&it.provenance));
    // Transactions refer to their import, so its row comes first; the counts follow at the end.
    insert_import(tx, &batch, &provenance, request.as_of, &request.file)?;
    let mut accounts = Vec::with_capacity(request.accounts.len());
    for incoming in &request.accounts {
        accounts.push(save_account(tx, &mut batch, incoming)?);
    }
    // A new rate changes the value of every amount in another currency.
    batch.all_dirty |= save_rates(tx, user, &request.rates)?;
    finish(tx, batch, accounts)
}

fn insert_import(
    tx: &mut Tx<'_>,
    batch: &Batch,
    provenance: &str,
    as_of: Timestamp,
    file: &FileInfo,
) -> Result<()> {
    let rejected = file.rejected as i64;
    let (name, format) = (&file.name, file.format);
    tx.execute(
        INSERT_IMPORT,
        params![
            batch.user,
            batch.id,
            batch.connection,
            as_of,
            batch.now,
            provenance,
            name,
            format,
            rejected
        ],
    )?;
    Ok(())
}

fn save_account(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    incoming: &IncomingAccount,
) -> Result<AccountId> {
    let account = accounts::save(tx, batch, incoming)?;
    balances::save(tx, batch, &account, incoming)?;
    transactions::save(tx, batch, &account, incoming)?;
    if let Some(positions) = &incoming.draft.holdings {
        holdings::save(tx, batch, &account, positions)?;
    }
    trades::save(tx, batch, account.id, &incoming.draft.trades)?;
    if account.is_new || batch.changed.contains(&account.id) {
        tx.execute(SAVE_CHANGED_ACCOUNT, params![batch.user, batch.id, account.id])?;
        batch.changed.insert(account.id);
    } else {
        batch.journal.discard(RowKey::Account(account.id));
    }
    if let Some(link) = &incoming.link {
        let values = params![batch.user, link.provenance, &link.external_id, account.id];
        tx.execute(SAVE_LINK, values)?;
    }
    Ok(account.id)
}

/// Saves the counts, the journal, the events and the work for the dirty queue.
fn finish(tx: &mut Tx<'_>, mut batch: Batch, accounts: Vec<AccountId>) -> Result<ImportOutcome> {
    let Summary { new, changed, seen, removed } = batch.summary;
    let counts = [new, changed, seen, removed, batch.changed.len()].map(|it| it as i64);
    tx.execute(
        SAVE_COUNTS,
        params![batch.user, batch.id, counts[0], counts[1], counts[2], counts[3], counts[4]],
    )?;
    mem::take(&mut batch.journal).save(tx, batch.user, batch.id)?;
    outbox::append(&batch.app.webhooks, tx, batch.user, &batch.events)?;
    if batch.all_dirty {
        dirty_queue::mark_all_dirty(tx, batch.user)?;
    } else if !batch.dirty.is_empty() || !batch.events.is_empty() || batch.balances_dirty {
        dirty_queue::mark_dirty(tx, batch.user, &batch.dirty)?;
    }
    count_rows_on_commit(tx, &batch);
    let outcome = ImportOutcome { import: batch.id, summary: batch.summary, accounts };
    if tx.engine() == Engine::Sqlite && !batch.cleaned.is_empty() {
        let classified = classified_rows(tx, &mut batch)?;
        let Batch { app, user, cleaned, .. } = batch;
        let handed_over = HandedOver { cleaned, classified };
        tx.on_commit(move || app.cleaned_handover.put(user, handed_over));
    }
    Ok(outcome)
}

/// The rows that the import inserted, if it changed no others: those may influence the classification of all.
fn classified_rows(tx: &mut Tx<'_>, batch: &mut Batch) -> Result<Option<ClassifiedRows>> {
    let Summary { changed, removed, .. } = batch.summary;
    let Some(ids) = batch.inserted.take() else { return Ok(None) };
    if changed + removed > 0 {
        return Ok(None);
    }
    let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let queued = tx.first(QUEUED, params![batch.user], read)?;
    Ok(queued.map(|queued| ClassifiedRows { ids, queued }))
}

fn count_rows_on_commit(tx: &mut Tx<'_>, batch: &Batch) {
    let Summary { new, changed, seen, removed } = batch.summary;
    let rows = [
        ("new", new),
        ("changed", changed),
        ("seen", seen),
        ("removed", removed),
        ("rejected", batch.rejected),
    ];
    let (app, format) = (batch.app.clone(), batch.format);
    tx.on_commit(move || app.meters.count_import_rows(format, &rows));
}

fn save_connection(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
    request: &ImportRequest,
    now: Timestamp,
) -> Result<ConnectionId> {
    let source = request.source.as_str();
    let status = if source == "manual" { "manual" } else { "connected" };
    tx.execute(
        SAVE_CONNECTION,
        params![
            user,
            app.ids.make::<kinds::Connection>(),
            source,
            &request.connection,
            &request.institution,
            status,
            now
        ],
    )?;
    let found =
        tx.first(CONNECTION, params![user, source, &request.connection], |row| row.get(0))?;
    found.ok_or_else(|| Error::internal("a connection is missing right after it was saved"))
}

/// Saves exchange rates, and returns whether any of them is new or changed.
fn save_rates(tx: &mut Tx<'_>, user: UserId, rates: &[RateDraft]) -> Result<bool> {
    let mut changed = 0;
    for rate in rates {
        let (from, to) = (rate.from.code(), rate.to.code());
        changed +=
            tx.execute(SAVE_RATE, params![user, from, to, rate.on, &rate.rate.to_string()])?;
    }
    Ok(changed > 0)
}

const QUEUED: &str = "select asked, wanted_at from insight_work where user_id = $1";
const SAVE_CONNECTION: &str = "insert into connections
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
    "insert into imports (user_id, id, connection_id, as_of, imported_at, new_count, changed_count,
    seen_count, removed_count, giver, name, format, rejected_count)
    values ($1, $2, $3, $4, $5, 0, 0, 0, 0, $6, $7, $8, $9)";
const SAVE_COUNTS: &str = "update imports set new_count = $3, changed_count = $4, seen_count = $5,
    removed_count = $6, account_count = $7 where user_id = $1 and id = $2";
const SAVE_CHANGED_ACCOUNT: &str =
    "insert into import_accounts (user_id, import_id, account_id) values ($1, $2, $3)
    on conflict (user_id, import_id, account_id) do nothing";
const SAVE_LINK: &str = "insert into account_links (user_id, giver, external_id, account_id)
    values ($1, $2, $3, $4)
    on conflict (user_id, giver, external_id) do update set account_id = excluded.account_id";

pub(super) const STATEMENTS: &[&str] = &[
    QUEUED,
    SAVE_CONNECTION,
    CONNECTION,
    SAVE_RATE,
    INSERT_IMPORT,
    SAVE_COUNTS,
    SAVE_CHANGED_ACCOUNT,
    SAVE_LINK,
];
