//! `evenkeel import`: previews or imports bank files.

mod report;

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use base::{AccountId, Clock, Currency, FileId, TimeZone};
use serde_json::json;
use service::ingest::imports::files::{
    self, AccountChoice, AccountPreview, BYTES_MAX, ChargeSign, Choices,
};
use service::ingest::imports::files::{CommitOutcome, Notes};
use service::ingest::imports::files::{
    DateOrder, Destination, DestinationChoice, FileContents, FileError, FileQuestion, ParseOptions,
    Preview,
};
use service::ledger::accounts::{self, Account};
use service::{App, Caller};

use self::report::{json_line, note_lines, notes_json, question, text};
use super::{named_or_only_person, print};
use crate::cli;
use crate::config::Config;
use crate::open::{self, IfMissing};
use crate::progress::{Progress, REDRAW, counted};

/// Exit code when some rows were skipped, or may be missing.
#[derive(Debug, thiserror::Error)]
#[error("{}{}", match (.count, .warnings) {
    (0, 1) => "1 file may be incomplete".to_owned(),
    (0, warnings) => format!("{warnings} files may be incomplete"),
    (1, _) => "1 row could not be read and was skipped".to_owned(),
    (count, _) => format!("{count} rows could not be read and were skipped"),
}, match (*.imported, .count) {
    (false, _) => "",
    (true, 0) => ", and is imported as it is",
    (true, _) => "; the others are imported",
})]
pub(crate) struct SkippedRows {
    count: usize,
    /// Files that do not add up or are cut off.
    warnings: usize,
    /// Whether the other rows were imported, and not only previewed.
    imported: bool,
}

/// Previews files without a server or database.
pub(crate) fn dry_run(config: &Config, args: &cli::Import) -> Result<()> {
    let hints = ParseOptions {
        // Without a database there is no person. The date only completes years with two digits.
        today: Clock::System.today_in(TimeZone::utc()),
        currency: Currency::USD,
        chosen_currency: args.currency,
        dates: args.dates.map(DateOrder::from),
        charges: args.charges.map(ChargeSign::from),
        limits: config.imports.reading,
    };
    let mut tally = FileTally::default();
    for path in &args.files {
        let read = content(path).and_then(|bytes| {
            let mut reading = files::read(&bytes, &hints)?;
            set_asked_kinds(&mut reading, path, args.kind);
            Ok(reading)
        });
        match &read {
            Ok(reading) => tally.count(reading.rejected.count, &reading.notes),
            Err(_) => tally.unread += 1,
        }
        let report = match (read, args.output.json) {
            (Ok(reading), true) => json_line(path, &reading)?,
            (Ok(reading), false) => text(path, &reading),
            (Err(error), true) => {
                let file = path.display().to_string();
                format!("{}\n", json!({ "file": file, "error": crate::sentence(&error) }))
            }
            (Err(error), false) => format!("{}: {}\n", path.display(), crate::sentence(&error)),
        };
        print(&report)?;
    }
    tally.outcome(false)
}

/// Sets the kinds of accounts that the file does not say, by `--kind` or by the file's name.
fn set_asked_kinds(reading: &mut FileContents, path: &Path, kind: Option<cli::KindIs>) {
    if let Some(kind) = kind {
        let (kind, subtype) = kind.parts();
        let open = open_kinds(&reading.questions);
        let is_only = reading.accounts.len() == 1;
        for (index, account) in reading.accounts.iter_mut().enumerate() {
            if is_only || open.contains(&index) {
                account.set_kind(kind, subtype);
            }
        }
        reading.questions.retain(|it| !matches!(it, FileQuestion::AccountKind { .. }));
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    files::csv::apply_file_name(reading, &name);
}

/// The accounts whose kind is asked. `--kind` answers these, and never changes an account whose kind is known.
fn open_kinds(questions: &[FileQuestion]) -> BTreeSet<usize> {
    let open = questions.iter().filter_map(|it| match it {
        FileQuestion::AccountKind { account, .. } => Some(*account),
        _ => None,
    });
    open.collect()
}

/// Counts over all files.
#[derive(Default)]
struct FileTally {
    unread: usize,
    skipped_rows: usize,
    /// Files with a warning.
    warnings: usize,
}

impl FileTally {
    fn count(&mut self, skipped_rows: usize, notes: &Notes) {
        self.skipped_rows += skipped_rows;
        self.warnings += usize::from(notes.warnings().next().is_some());
    }

    /// The result of all files: a file that could not be read counts more than skipped rows.
    fn outcome(&self, imported: bool) -> Result<()> {
        match (self.unread, self.skipped_rows, self.warnings) {
            (0, 0, 0) => Ok(()),
            (0, count, warnings) => Err(SkippedRows { count, warnings, imported }.into()),
            (1, ..) => bail!("1 file could not be read"),
            (count, ..) => bail!("{count} files could not be read"),
        }
    }
}

fn content(path: &Path) -> Result<Vec<u8>> {
    let about = || format!("cannot read {}", path.display());
    // A device or a pipe has no size, so the reading is bounded too.
    let file = std::fs::File::open(path).with_context(about)?;
    let mut content = Vec::new();
    file.take(BYTES_MAX as u64 + 1).read_to_end(&mut content).with_context(about)?;
    if content.len() > BYTES_MAX {
        return Err(FileError::TooLarge.into());
    }
    Ok(content)
}

/// Imports files one after the other. A failure does not stop the next file.
pub(crate) async fn run(config: &Config, args: &cli::Import) -> Result<()> {
    let app = open::app(config, IfMissing::Fail).await?;
    let user = named_or_only_person(&app, args.person.user.as_deref()).await?;
    let caller = user.owner();
    let mut tally = FileTally::default();
    for path in &args.files {
        let file = path.display().to_string();
        match import_file(&app, &caller, args, path).await {
            Ok(done) => {
                tally.count(done.committed.rejected, &done.notes);
                print(&summary(&file, &done, args.output.json))?;
            }
            Err(error) => {
                tally.unread += 1;
                let report = crate::sentence(&error);
                let json = json!({ "file": file, "error": report });
                print(&match args.output.json {
                    true => format!("{json}\n"),
                    false => format!("{file}: {report}\n"),
                })?;
            }
        }
    }
    tally.outcome(true)
}

/// The result of one file.
struct ImportedFile {
    committed: CommitOutcome,
    destinations: Vec<ImportedInto>,
    notes: Notes,
}

/// An account that the file was imported into.
struct ImportedInto {
    account: Account,
    is_new: bool,
}

impl ImportedInto {
    fn text(&self) -> String {
        let Account { id, name, .. } = &self.account;
        match self.is_new {
            true => format!("  into a new account, {name} ({id})\n"),
            false => format!("  into {name} ({id})\n"),
        }
    }

    fn json(&self) -> serde_json::Value {
        let Account { id, name, kind, .. } = &self.account;
        json!({
            "account_id": id.to_string(),
            "name": name,
            "type": kind.as_str(),
            "created": self.is_new,
        })
    }
}

fn summary(file: &str, done: &ImportedFile, as_json: bool) -> String {
    let ImportedFile { committed, destinations, notes } = done;
    let service::ingest::imports::Summary { new, changed, seen, removed } = committed.summary;
    if as_json {
        let line = json!({
            "file": file,
            "import_id": committed.import.to_string(),
            "accounts": destinations.iter().map(ImportedInto::json).collect::<Vec<_>>(),
            "new": new,
            "changed": changed,
            "already_there": seen,
            "removed": removed,
            "rejected_count": committed.rejected,
            "notes": notes_json(notes),
        });
        return format!("{line}\n");
    }
    let destinations: String = destinations.iter().map(ImportedInto::text).collect();
    if new + changed + removed == 0 {
        let there = counted(seen, "transaction");
        return format!("{file}: nothing new, {there} already imported\n{destinations}");
    }
    let import = committed.import;
    format!(
        "{file}: {new} new, {changed} changed, {seen} already imported ({import})\n{destinations}"
    )
}

async fn import_file(
    app: &App,
    caller: &Caller,
    args: &cli::Import,
    path: &Path,
) -> Result<ImportedFile> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let id = files::stage(app, caller, &name, content(path)?).await?;
    let committed = answer_and_commit(app, caller, args, id).await;
    if committed.is_err() {
        // Deletes the staged file if it was not imported.
        let _ = files::discard(app, caller, id).await;
    }
    committed
}

async fn answer_and_commit(
    app: &App,
    caller: &Caller,
    args: &cli::Import,
    id: FileId,
) -> Result<ImportedFile> {
    // The currency is chosen first, because a file can only be imported into an account of its currency.
    if args.currency.is_some() {
        let choices = Choices { currency: args.currency, ..Choices::default() };
        files::choose(app, caller, id, choices).await?;
    }
    let first = files::preview(app, caller, id).await?;
    files::choose(app, caller, id, choices(args, &first)?).await?;
    let preview = files::preview(app, caller, id).await?;
    if let Some(error) = preview.error {
        bail!(error);
    }
    if let Some(open) = preview.doubts.first() {
        bail!(question(open));
    }
    if let Some(open) = preview.accounts.iter().find(|it| it.destination == Destination::Unknown) {
        bail!(account_question(app, caller, open).await?);
    }
    if !preview.is_ready() {
        bail!("there is nothing to import in this file");
    }
    if !args.output.json && preview.notes.count > 0 {
        print(&format!("{}:\n{}", preview.file.name, note_lines(&preview.notes)))?;
    }
    // An account was created if the preview knew no account to import into.
    let known: Vec<AccountId> = preview.accounts.iter().filter_map(existing).collect();
    let committed = commit_with_progress(app, caller, id).await?;
    let mut destinations = Vec::with_capacity(committed.accounts.len());
    for id in &committed.accounts {
        let account = accounts::get(app, caller, *id).await?;
        destinations.push(ImportedInto { account, is_new: !known.contains(id) });
    }
    Ok(ImportedFile { committed, destinations, notes: preview.notes })
}

/// The question which account a file belongs to, and the flags that answer it.
async fn account_question(app: &App, caller: &Caller, account: &AccountPreview) -> Result<String> {
    let flags = "use --account with the id of one of your accounts, or --account new";
    let Some(id) = account.suggested else {
        return Ok(format!("the file does not name its account in full; {flags}"));
    };
    let name = accounts::get(app, caller, id).await?.name;
    Ok(format!(
        "the file does not name its account in full; it may be {name} ({id}). Use --account same if it is, or {flags}"
    ))
}

fn existing(account: &AccountPreview) -> Option<AccountId> {
    match account.destination {
        Destination::Existing(id) => Some(id),
        Destination::New | Destination::Skip | Destination::Unknown => None,
    }
}

fn choices(args: &cli::Import, preview: &Preview) -> Result<Choices> {
    let destination = match args.account.as_deref() {
        Some("new") => Some(DestinationChoice::New),
        // Answered below, for each account.
        Some("same") => None,
        Some(text) => {
            let id = AccountId::parse(text).with_context(|| {
                format!("--account must be an account's id such as acc_..., or new, not {text}")
            })?;
            if preview.accounts.len() > 1 {
                bail!("the file has several accounts; leave --account out");
            }
            if !preview.accounts.iter().any(|it| it.candidates.iter().any(|it| it.0 == id)) {
                bail!("{text} is not one of your accounts in this currency");
            }
            Some(DestinationChoice::Existing(id))
        }
        None => None,
    };
    let owed = args.balance.map(|it| it == cli::BalanceIs::Owed);
    let (kind, subtype) = args.kind.map(cli::KindIs::parts).unzip();
    let subtype = subtype.flatten().map(str::to_owned);
    let choice = AccountChoice { destination, owed, ..AccountChoice::default() };
    let is_same = args.account.as_deref() == Some("same");
    let open = open_kinds(&preview.doubts);
    let of = |(index, account): (usize, &AccountPreview)| {
        let suggested = account.suggested.filter(|_| is_same).map(DestinationChoice::Existing);
        let mut choice = AccountChoice { destination: destination.or(suggested), ..choice.clone() };
        if preview.accounts.len() == 1 || open.contains(&index) {
            (choice.kind, choice.subtype) = (kind, subtype.clone());
        }
        (index, choice)
    };
    Ok(Choices {
        dates: args.dates.map(DateOrder::from),
        charges: args.charges.map(ChargeSign::from),
        accounts: preview.accounts.iter().enumerate().map(of).collect(),
        ..preview.choices.clone()
    })
}

/// Imports a staged file and shows the progress.
async fn commit_with_progress(app: &App, caller: &Caller, id: FileId) -> Result<CommitOutcome> {
    let mut bar: Option<Progress> = None;
    let mut ticks = tokio::time::interval(REDRAW);
    let work = files::commit(app, caller, id);
    tokio::pin!(work);
    loop {
        tokio::select! {
            committed = &mut work => return Ok(committed?),
            _ = ticks.tick() => {}
        }
        if let Some((done, total)) = files::progress(app, id) {
            bar.get_or_insert_with(|| Progress::new("Importing", Some(total))).show(done);
        }
    }
}
