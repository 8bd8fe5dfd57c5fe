//! Taking a file in: once, whole, and in a way that can be taken back.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::draft::Source;
use base::{CLOCK_SKEW_MICROSECONDS, FileId, ImportId};
use db::{Tx, params};
use sources::files::FileAccount;
use wire::v1::Code;

use super::landing::{Destination, destination};
use super::look::{self, Kept, Parsed};
use super::{Choices, content};
use crate::ingest::imports::{self, About, Delivery, Incoming, Outcome, Progress, Summary};
use crate::ledger::accounts;
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result};

/// A process that takes longer than this over a file has died.
const LEASE_SECONDS: i64 = 600;
/// All accounts that only files tell of belong to one connection.
const CONNECTION: &str = "files";

#[derive(Debug, Clone, Copy)]
pub struct CommitOutcome {
    pub import: ImportId,
    pub summary: Summary,
    pub rejected: usize,
}

/// How far the files are that this process is taking in: rows done, and rows in all.
#[derive(Default)]
pub(crate) struct UnderWay(Mutex<HashMap<FileId, Progress>>);

impl UnderWay {
    fn all(&self) -> MutexGuard<'_, HashMap<FileId, Progress>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, id: FileId, progress: Progress) {
        self.all().insert(id, progress);
    }

    fn remove(&self, id: FileId) {
        self.all().remove(&id);
    }
}

/// How far a file is, if this process is at it.
pub fn progress(app: &App, id: FileId) -> Option<(u64, u64)> {
    let under_way = app.files_under_way.all();
    under_way.get(&id).map(|it| (it.done.load(Ordering::Relaxed), it.total))
}

/// Takes a file in as its look showed it. All of it is there afterwards, or nothing is.
pub async fn commit(app: &App, caller: &Caller, id: FileId) -> Result<CommitOutcome> {
    caller.require_owner("import")?;
    let lease = lease(app, caller, id).await?;
    let taken = take_leased(app, caller, lease).await;
    app.files_under_way.remove(id);
    if taken.is_err() {
        let user = caller.user;
        let release = move |tx: &mut Tx<'_>| {
            Ok::<_, Error>(tx.execute(RELEASE, params![user, id, lease.until])?)
        };
        // The first error tells more than a second one would.
        let _ = app.db.write(release).await;
    }
    taken
}

/// The right to commit a file. `until` is also the fencing token: a process that takes over an expired lease writes
/// another moment, and the commit of the process that lost it then finds no row to settle.
#[derive(Debug, Clone, Copy)]
struct CommitLease {
    file: FileId,
    until: i64,
}

async fn lease(app: &App, caller: &Caller, id: FileId) -> Result<CommitLease> {
    let (user, now) = (caller.user, app.clock.now());
    let until = now.as_microsecond() + LEASE_SECONDS * 1_000_000;
    let lease = move |tx: &mut Tx<'_>| {
        // A lease from before the clock was set back would hold the file up for as long as that.
        let latest = until + CLOCK_SKEW_MICROSECONDS;
        if tx.execute(LEASE, params![user, id, now, until, latest])? == 1 {
            return Ok(CommitLease { file: id, until });
        }
        let state = tx.first(STATE, params![user, id], |row| row.get::<String>(0))?;
        Err(match state.as_deref() {
            None => Error::NotFound("file"),
            Some("done") => Error::invalid("file", "this file was imported already"),
            Some(_) => Error::invalid("file", "this file is being imported already; wait a moment"),
        })
    };
    app.db.write(lease).await
}

async fn take_leased(app: &App, caller: &Caller, lease: CommitLease) -> Result<CommitOutcome> {
    // Loaded under the lease: from here on the person's choices cannot change.
    let kept = &match look::load(app, caller, lease.file).await {
        Err(Error::NotFound(_)) => return Err(lost()),
        kept => kept?,
    };
    let parsed = look::parse(app, caller, kept).await?;
    let parsed = parsed.map_err(|error| Error::invalid("file", error.to_string()))?;
    if let Some(complaint) = parsed.complaints.first() {
        return Err(Error::invalid("file", complaint.text.clone()));
    }
    if !parsed.doubts.is_empty() {
        let message = "the file leaves something open; look at it and say what is meant first";
        return Err(Error::invalid("file", message));
    }
    let rows: usize = parsed.accounts.iter().map(|it| it.draft.transactions.len()).sum();
    let progress = Progress { done: Arc::new(AtomicU64::new(0)), total: rows as u64 };
    app.files_under_way.add(kept.held.id, progress.clone());
    let mapping = remembered(&kept.choices, &parsed)?;
    let rejected = parsed.rejected.count;
    let delivery = delivery(app, caller, kept, parsed, progress).await?;
    let delivery = imports::prepared(delivery)?;
    let (mine, caller, slot) = (app.clone(), caller.clone(), kept.slot.clone());
    let name = kept.held.name.clone();
    let write = move |tx: &mut Tx<'_>| {
        let (user, _slot) = (caller.user, &slot);
        let Outcome { import, summary, .. } = imports::take_in(tx, &mine, user, delivery)?;
        let now = mine.clock.now();
        // Settled in the transaction that wrote the rows: without the lease, none of them stays.
        if tx.execute(SETTLE, params![user, lease.file, lease.until, import])? == 0 {
            return Err(lost());
        }
        content::delete(tx, user, lease.file)?;
        if let Some((columns, mapping)) = &mapping {
            tx.execute(REMEMBER, params![user, columns, mapping, now])?;
        }
        let details = format!("Imported the file {name}: {} new transactions", summary.new);
        let note = Note::new(&caller, "import.file", details).about(import);
        audit::note(tx, user, now, note)?;
        Ok(CommitOutcome { import, summary, rejected })
    };
    app.db.write(write).await
}

fn lost() -> Error {
    let message = "this import took too long, and the file was imported or discarded elsewhere in \
                   the meantime; nothing was changed here";
    Error::Conflict { code: Code::Conflict, message: message.to_owned() }
}

/// How such files are to be read from now on, where the person said so.
fn remembered(choices: &Choices, parsed: &Parsed) -> Result<Option<(String, String)>> {
    let (Some(mapping), Some(_)) = (&choices.mapping, &parsed.table) else { return Ok(None) };
    let text = serde_json::to_string(mapping)
        .map_err(|error| Error::internal(format!("a mapping cannot be kept: {error}")))?;
    Ok(Some((parsed.columns.clone(), text)))
}

async fn delivery(
    app: &App,
    caller: &Caller,
    kept: &Kept,
    mut parsed: Parsed,
    progress: Progress,
) -> Result<Delivery> {
    let all = accounts::all(app, caller).await?;
    let mut incoming = Vec::new();
    let (drafts, names) = (mem::take(&mut parsed.accounts), mem::take(&mut parsed.names));
    for (place, (account, known_as)) in drafts.into_iter().zip(names).enumerate() {
        let currency = account.draft.currency;
        let candidates: Vec<&accounts::Account> =
            all.iter().filter(|it| it.currency == currency).collect();
        let choice = kept.choices.accounts.get(&place);
        let clues = (known_as.as_ref(), choice, &candidates[..]);
        let destination = destination(app, caller, &parsed, &account, clues).await?;
        let FileAccount { bank, mut draft } = account;
        let into = match destination {
            Destination::Skip => continue,
            Destination::Unknown => {
                let message = "say which of your accounts this file is about first";
                return Err(Error::invalid("account", message));
            }
            Destination::New => None,
            Destination::Existing(id) => {
                if let Some(into) = candidates.iter().find(|it| it.id == id) {
                    look::turn_balances(&mut draft, into.kind);
                }
                Some(id)
            }
        };
        if into.is_none() {
            draft.external_id = new_name(app, bank.as_deref(), &draft.external_id);
        }
        incoming.push(Incoming { draft, giver: Arc::clone(&parsed.giver), into, known_as });
    }
    if incoming.is_empty() {
        return Err(Error::invalid("file", "there is nothing in this file to import"));
    }
    Ok(Delivery {
        source: Source::File,
        connection: CONNECTION.to_owned(),
        institution: None,
        as_of: app.clock.now(),
        accounts: incoming,
        rates: Vec::new(),
        about: About {
            name: Some(kept.held.name.clone()),
            format: Some(parsed.format.as_str()),
            rejected: parsed.rejected.count,
        },
        progress,
    })
}

/// A new account must not be taken for one that another file named alike.
fn new_name(app: &App, bank: Option<&str>, number: &str) -> String {
    let unique = app.ids.make::<base::kinds::File>();
    format!("{} {number} {unique}", bank.unwrap_or_default()).trim().to_owned()
}

const LEASE: &str = "update import_files set state = 'committing', leased_until = $4
    where user_id = $1 and id = $2
    and (state = 'open'
        or (state = 'committing' and (leased_until <= $3 or leased_until > $5)))";
const STATE: &str = "select state from import_files where user_id = $1 and id = $2";
const RELEASE: &str = "update import_files set state = 'open', leased_until = null
    where user_id = $1 and id = $2 and state = 'committing' and leased_until = $3";
const SETTLE: &str = "update import_files set state = 'done', leased_until = null, import_id = $4
    where user_id = $1 and id = $2 and state = 'committing' and leased_until = $3";
const REMEMBER: &str = "insert into file_mappings (user_id, columns, mapping, used_at)
    values ($1, $2, $3, $4) on conflict (user_id, columns) do update
    set mapping = excluded.mapping, used_at = excluded.used_at";

pub(super) const STATEMENTS: &[&str] = &[LEASE, STATE, RELEASE, SETTLE, REMEMBER];
