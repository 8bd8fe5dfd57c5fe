//! Commits a staged file as one import, exactly once.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::draft::Source;
use base::{AccountId, CLOCK_SKEW_MICROSECONDS, FileId, ImportId, UserId};
use db::{Tx, params};
use sources::files::{FileAccount, FileQuestion};
use wire::v1::Code;

use super::choices::Choices;
use super::destination::{self, Destination};
use super::parse::{LoadedFile, ParsedFile, in_background, load, parse};
use super::stored_bytes;
use crate::classify::cleaned_descriptions::CleanedDescriptions;
use crate::ingest::imports::commit::{commit_in, count_import, prepare};
use crate::ingest::imports::request::{
    FileInfo, ImportOutcome, ImportRequest, IncomingAccount, Progress, Summary,
};
use crate::ledger::accounts;
use crate::platform::audit::{self, Note};
use crate::platform::processes::holder_is_dead;
use crate::{App, Caller, Error, Result};

/// A process that has not committed a file after this long is dead.
const LEASE_SECONDS: i64 = 600;
/// How often and for how long a lease is released while the database does not answer.
const RELEASE_INTERVAL: Duration = Duration::from_secs(1);
const RELEASE_TRIES: usize = 300;
/// The format of a file whose import failed before its format was known, for metrics.
const UNKNOWN_FORMAT: &str = "unknown";
/// The connection of all accounts that only files have.
const CONNECTION: &str = "files";

#[derive(Debug, Clone)]
pub struct CommitOutcome {
    pub import: ImportId,
    /// The accounts that it was imported into, in the order of the file, without skipped ones.
    pub accounts: Vec<AccountId>,
    pub summary: Summary,
    pub rejected: usize,
}

/// The progress of the files that this process is committing.
#[derive(Default)]
pub(crate) struct CommitProgress(Mutex<HashMap<FileId, Progress>>);

impl CommitProgress {
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

/// Rows written and rows in all, if this process is committing the file.
pub fn progress(app: &App, id: FileId) -> Option<(u64, u64)> {
    let all = app.commit_progress.all();
    all.get(&id).map(|it| (it.done.load(Ordering::Relaxed), it.total))
}

/// Commits a file as its preview showed it. Either all of it is stored, or nothing.
pub async fn commit(app: &App, caller: &Caller, id: FileId) -> Result<CommitOutcome> {
    caller.require_owner("import")?;
    let taken = TakenLease::default();
    let (mut format, started_at) = (UNKNOWN_FORMAT, app.clock.now());
    let committed = match lease(app, caller, id, taken.clone()).await {
        Ok(lease) => commit_leased(app, caller, lease, &mut format).await,
        Err(error) => Err(error),
    };
    count_import(app, format, started_at, committed.is_ok());
    app.commit_progress.remove(id);
    let taken = *taken.lock().unwrap_or_else(PoisonError::into_inner);
    if let (Err(_), Some(lease)) = (&committed, taken) {
        // The first error is the one to report.
        if release(app, caller.user, lease).await.is_err() {
            tokio::spawn(release_later(app.clone(), caller.user, lease));
        }
    }
    committed
}

/// The lease that a transaction took. It is known here even if the answer of its commit was lost.
type TakenLease = Arc<Mutex<Option<CommitLease>>>;

async fn release(app: &App, user: UserId, lease: CommitLease) -> Result<()> {
    let CommitLease { file, until } = lease;
    let release = move |tx: &mut Tx<'_>| Ok(tx.execute(RELEASE, params![user, file, until])?);
    app.db.write(release).await.map(|_: u64| ())
}

/// Goes on releasing a lease while the database does not answer: nobody could import the file before its end.
async fn release_later(app: App, user: UserId, lease: CommitLease) {
    for _ in 0..RELEASE_TRIES {
        tokio::time::sleep(RELEASE_INTERVAL).await;
        if release(&app, user, lease).await.is_ok() {
            return;
        }
    }
}

/// The right to commit a file. `until` is also the fencing token: a process that takes over an expired lease writes
/// another moment, and the commit of the process that lost it then finds no row to settle.
#[derive(Debug, Clone, Copy)]
struct CommitLease {
    file: FileId,
    until: i64,
}

async fn lease(app: &App, caller: &Caller, id: FileId, taken: TakenLease) -> Result<CommitLease> {
    let (mine, user) = (app.clone(), caller.user);
    let lease = move |tx: &mut Tx<'_>| {
        let now = tx.now()?;
        let until = now.as_microsecond() + LEASE_SECONDS * 1_000_000;
        // A lease from before the clock was set back would block the file for as long.
        let latest = until + CLOCK_SKEW_MICROSECONDS;
        let values = params![user, id, now, until, latest, mine.process.holder()];
        if tx.execute(LEASE, values)? == 1 {
            let lease = CommitLease { file: id, until };
            *taken.lock().unwrap_or_else(PoisonError::into_inner) = Some(lease);
            return Ok(lease);
        }
        let state = tx.first(STATE, params![user, id], |row| row.get::<String>(0))?;
        Err(match state.as_deref() {
            None => Error::NotFound("file"),
            Some("done") => Error::invalid("file", "This file was already imported."),
            Some(_) => {
                Error::invalid("file", "This file is being imported right now. Wait a moment.")
            }
        })
    };
    app.db.write(lease).await
}

async fn commit_leased(
    app: &App,
    caller: &Caller,
    lease: CommitLease,
    format: &mut &'static str,
) -> Result<CommitOutcome> {
    // Loaded under the lease: from here on the person's choices cannot change.
    let loaded = &match load(app, caller, lease.file).await {
        Err(Error::NotFound(_)) => return Err(lease_lost(app)),
        loaded => loaded?,
    };
    let parsed = parse(app, caller, loaded).await?;
    *format = parsed.format.as_str();
    if let Some(complaint) = parsed.complaints.first() {
        return Err(Error::invalid("file", complaint.text.clone()));
    }
    // The kind of an account is only needed for a new one, which is checked below.
    if parsed.doubts.iter().any(|it| !matches!(it, FileQuestion::AccountKind { .. })) {
        let message = "Answer the questions about this file first.";
        return Err(Error::invalid("file", message));
    }
    let rows: usize = parsed.accounts.iter().map(|it| it.draft.transactions.len()).sum();
    let progress = Progress { done: Arc::new(AtomicU64::new(0)), total: rows as u64 };
    app.commit_progress.add(loaded.file.id, progress.clone());
    let mapping = mapping_to_remember(&loaded.choices, &parsed)?;
    let rejected = parsed.rejected.count;
    let request = import_request(app, caller, loaded, parsed, progress).await?;
    let request = in_background(&loaded.slot, move || {
        let mut request = prepare(request)?;
        request.clean_descriptions();
        Ok::<_, Error>(request)
    });
    let request = request.await??;
    let (mine, caller, slot) = (app.clone(), caller.clone(), loaded.slot.clone());
    let name = loaded.file.name.clone();
    let write = move |tx: &mut Tx<'_>| {
        let (user, _slot) = (caller.user, &slot);
        // First, so that SQLite writes the rows into the pages that held the file.
        stored_bytes::delete(tx, user, lease.file)?;
        let ImportOutcome { import, summary, accounts } = commit_in(tx, &mine, user, request)?;
        let now = mine.clock.now();
        // In the same transaction as the rows: if the lease is lost, none of them stays.
        if tx.execute(SETTLE, params![user, lease.file, lease.until, import])? == 0 {
            return Err(lease_lost(&mine));
        }
        if let Some((columns, mapping)) = &mapping {
            tx.execute(REMEMBER, params![user, columns, mapping, now])?;
        }
        let details = format!("Imported the file {name}: {} new transactions", summary.new);
        let note = Note::new(&caller, "import.file", details).about(import);
        audit::note(tx, user, now, note)?;
        Ok(CommitOutcome { import, accounts, summary, rejected })
    };
    app.db.write(write).await
}

fn lease_lost(app: &App) -> Error {
    app.meters.count_lost_lease("import");
    let message = "This import took too long, and the file was imported or discarded elsewhere in the \
                   meantime. Nothing was changed.";
    Error::Conflict { code: Code::Conflict, message: message.to_owned() }
}

/// The columns that the person chose, to be used for later files of the same kind.
fn mapping_to_remember(choices: &Choices, parsed: &ParsedFile) -> Result<Option<(String, String)>> {
    let (Some(mapping), Some(_)) = (&choices.mapping, &parsed.table) else { return Ok(None) };
    let text = serde_json::to_string(mapping)
        .map_err(|error| Error::internal(format!("a mapping cannot be serialized: {error}")))?;
    Ok(Some((parsed.columns.clone(), text)))
}

async fn import_request(
    app: &App,
    caller: &Caller,
    loaded: &LoadedFile,
    mut parsed: ParsedFile,
    progress: Progress,
) -> Result<ImportRequest> {
    let all = accounts::list_all(app, caller).await?;
    let mut incoming = Vec::new();
    let (drafts, links) = (mem::take(&mut parsed.accounts), mem::take(&mut parsed.links));
    for (index, (account, link)) in drafts.into_iter().zip(links).enumerate() {
        let currency = account.draft.currency;
        let candidates: Vec<&accounts::Account> =
            all.iter().filter(|it| it.currency == currency).collect();
        let choice = loaded.choices.accounts.get(&index);
        let evidence = (link.as_ref(), choice, &candidates[..]);
        let found = destination::find(app, caller, &parsed.provenance, &account, evidence).await?;
        let is_open = |it: &FileQuestion| matches!(it, FileQuestion::AccountKind { account, .. } if *account == index);
        let FileAccount { bank, mut draft, .. } = account;
        let into = match found.destination {
            Destination::Skip => continue,
            Destination::Unknown => {
                let message = "Choose which of your accounts this file belongs to first.";
                return Err(Error::invalid("account", message));
            }
            Destination::New if parsed.doubts.iter().any(is_open) => {
                let message = "Choose the type of the new account first.";
                return Err(Error::invalid("kind", message));
            }
            Destination::New => None,
            Destination::Existing(id) => Some(id),
        };
        if into.is_none() {
            draft.external_id = new_external_id(app, bank.as_deref(), &draft.external_id);
        }
        let provenance = Arc::clone(&parsed.provenance);
        let names_pending = false;
        incoming.push(IncomingAccount { draft, provenance, into, names_pending, link });
    }
    if incoming.is_empty() {
        return Err(Error::invalid("file", "There is nothing to import in this file."));
    }
    Ok(ImportRequest {
        source: Source::File,
        connection: CONNECTION.to_owned(),
        institution: None,
        as_of: app.clock.now(),
        accounts: incoming,
        rates: Vec::new(),
        file: FileInfo {
            name: Some(loaded.file.name.clone()),
            format: Some(parsed.format.as_str()),
            rejected: parsed.rejected.count,
        },
        progress,
        cleaned: CleanedDescriptions::default(),
    })
}

/// A unique id for a new account, since another file may use the same number for another account.
fn new_external_id(app: &App, bank: Option<&str>, number: &str) -> String {
    let unique = app.ids.make::<base::kinds::File>();
    format!("{} {number} {unique}", bank.unwrap_or_default()).trim().to_owned()
}

const LEASE: &str = concat!(
    "update import_files set state = 'committing', leased_until = $4, process_id = $6
    where user_id = $1 and id = $2 and (state = 'open' or (state = 'committing'
    and (leased_until <= $3 or leased_until > $5 or ",
    holder_is_dead!("process_id", "$3"),
    ")))"
);
const STATE: &str = "select state from import_files where user_id = $1 and id = $2";
const RELEASE: &str = "update import_files set state = 'open', leased_until = null
    where user_id = $1 and id = $2 and state = 'committing' and leased_until = $3";
const SETTLE: &str = "update import_files set state = 'done', leased_until = null, import_id = $4
    where user_id = $1 and id = $2 and state = 'committing' and leased_until = $3";
const REMEMBER: &str = "insert into file_mappings (user_id, columns, mapping, used_at)
    values ($1, $2, $3, $4) on conflict (user_id, columns) do update
    set mapping = excluded.mapping, used_at = excluded.used_at";

pub(super) const STATEMENTS: &[&str] = &[LEASE, STATE, RELEASE, SETTLE, REMEMBER];
