//! Loads a staged file and parses it with the person's choices. Parsing runs on a blocking thread within a reading slot.

use std::sync::Arc;

use base::draft::{AccountDraft, AccountKind};
use base::{Currency, FileId};
use calc::matching::EVENKEEL_EXPORT;
use db::params;
use sources::files::{
    self, FileAccount, FileContents, FileError, FileQuestion, Format, Notes, ParseOptions,
    Rejections, csv,
};

use super::choices::{AccountChoice, Choices};
use super::destination::account_link;
use super::limits::ReadingSlot;
use super::staged::{self, StagedFile};
use super::stored_bytes;
use crate::access::users;
use crate::ingest::imports::request::AccountLink;
use crate::ingest::imports::text;
use crate::{App, Caller, Error, Result};

/// PostgreSQL accepts index entries of about 2,700 bytes.
const COLUMNS_BYTES_MAX: usize = 2_000;
/// The presets of our own exports begin with this.
const OWN_PRESET: &str = "Evenkeel";

/// A file parsed with the person's choices.
pub(super) struct ParsedFile {
    pub(super) format: Format,
    pub(super) provenance: Arc<str>,
    pub(super) accounts: Vec<FileAccount>,
    /// The file's own name for each account, without the person's choices.
    pub(super) links: Vec<Option<AccountLink>>,
    pub(super) rejected: Rejections,
    pub(super) notes: Notes,
    pub(super) doubts: Vec<FileQuestion>,
    pub(super) assumed_currency: Option<Currency>,
    pub(super) table: Option<csv::Detection>,
    /// Identifies CSV files with the same columns.
    pub(super) columns: String,
    pub(super) complaints: Vec<csv::Complaint>,
    pub(super) remembered: bool,
}

/// A staged file in memory.
pub(super) struct LoadedFile {
    pub(super) file: StagedFile,
    pub(super) content: Arc<Vec<u8>>,
    pub(super) choices: Choices,
    pub(super) slot: ReadingSlot,
}

/// Why a file was not parsed.
#[derive(Debug)]
pub(super) enum ParseError {
    /// The file's fault; the message is for the person.
    Unreadable(FileError),
    Failed(Error),
}

impl From<Error> for ParseError {
    fn from(error: Error) -> ParseError {
        ParseError::Failed(error)
    }
}

impl From<db::Error> for ParseError {
    fn from(error: db::Error) -> ParseError {
        ParseError::Failed(error.into())
    }
}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Error {
        match error {
            ParseError::Unreadable(error) => Error::invalid("file", error.to_string()),
            ParseError::Failed(error) => error,
        }
    }
}

pub(super) async fn load(app: &App, caller: &Caller, id: FileId) -> Result<LoadedFile> {
    caller.require_owner("import")?;
    let slot = app.reading_slots.acquire(caller.user).await?;
    let file = staged::get(app, caller, id).await?;
    let key = params![caller.user, id];
    let choices = app.db.first(CHOICES, key, |row| row.get::<String>(0)).await?;
    let choices = choices.ok_or(Error::NotFound("file"))?;
    let content = stored_bytes::load(app, caller.user, id, file.size).await?;
    let choices = serde_json::from_str(&choices).unwrap_or_default();
    Ok(LoadedFile { file, content: Arc::new(content), choices, slot })
}

/// Parses a file by the person's choices, or by their choices for earlier files with the same columns.
pub(super) async fn parse(
    app: &App,
    caller: &Caller,
    loaded: &LoadedFile,
) -> Result<ParsedFile, ParseError> {
    let hints = hints(app, caller, &loaded.choices).await?;
    let pair = |row: &db::Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
    let mappings = app.db.all(MAPPINGS, params![caller.user], pair).await?;
    let (content, choices) = (Arc::clone(&loaded.content), loaded.choices.clone());
    let name = loaded.file.name.clone();
    let work = move || parse_content((&name, &content), &choices, &hints, &mappings);
    match in_background(&loaded.slot, work).await {
        Ok(parsed) => parsed.map_err(ParseError::Unreadable),
        // Even a parser that panics must not break the file's page, where the person can discard it.
        Err(error) => {
            tracing::error!(%error, file = %loaded.file.id, "parsing a staged file failed");
            Err(ParseError::Unreadable(FileError::Unknown))
        }
    }
}

/// Runs work on a blocking thread, because a large file would delay other requests. The slot is held until the work ends,
/// even if the request is canceled.
pub(super) async fn in_background<T: Send + 'static>(
    slot: &ReadingSlot,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let slot = slot.clone();
    let done = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(slot);
        done
    });
    done.await.map_err(|error| Error::internal(format!("parsing a file failed: {error}")))
}

async fn hints(app: &App, caller: &Caller, choices: &Choices) -> Result<ParseOptions> {
    Ok(ParseOptions {
        today: app.today(caller),
        currency: users::get(app, caller).await?.base_currency,
        chosen_currency: choices.currency,
        dates: choices.dates,
        charges: choices.charges,
        limits: app.import_limits.reading,
    })
}

/// The columns of a CSV file by a bank's preset; none for an unknown bank.
pub async fn preset(
    app: &App,
    caller: &Caller,
    id: FileId,
    name: &str,
) -> Result<Option<csv::Mapping>> {
    let loaded = load(app, caller, id).await?;
    let hints = hints(app, caller, &loaded.choices).await?;
    let name = name.to_owned();
    let content = Arc::clone(&loaded.content);
    let work = move || csv::mapping_of_preset(&name, &content, &hints);
    in_background(&loaded.slot, work).await
}

fn parse_content(
    (name, content): (&str, &[u8]),
    choices: &Choices,
    hints: &ParseOptions,
    mappings: &[(String, String)],
) -> Result<ParsedFile, FileError> {
    let mut reading = files::read(content, hints)?;
    let mut provenance = reading.format.provenance();
    let mut table = CsvTable::default();
    if reading.format == Format::Csv {
        let found = csv::detect(content, hints)?;
        if found.preset.is_some_and(|it| it.starts_with(OWN_PRESET)) {
            provenance = EVENKEEL_EXPORT;
        }
        table = CsvTable { columns: columns_of(&found), ..CsvTable::default() };
        let known = mappings.iter().find(|(columns, _)| *columns == table.columns);
        let mut known: Option<csv::Mapping> =
            known.and_then(|(_, mapping)| serde_json::from_str(mapping).ok());
        // The currency chosen for this file counts more than the one chosen for an earlier file, unless a preset names it.
        if choices.currency.is_some() && found.mapping.currency.is_none() {
            known.iter_mut().for_each(|it| it.currency = None);
        }
        table.remembered = choices.mapping.is_none() && known.is_some();
        table.found = Some(found);
        if let Some(mapping) = choices.mapping.clone().or(known) {
            table.read(content, mapping, hints, &mut reading)?;
        }
    }
    csv::apply_file_name(&mut reading, name);
    let is_open = |doubt: &FileQuestion| match doubt {
        FileQuestion::Dates { .. } => choices.dates.is_none(),
        FileQuestion::ChargeSign { .. } => choices.charges.is_none(),
        FileQuestion::CardBalance { account } => {
            choices.accounts.get(account).is_none_or(|it| it.owed.is_none())
        }
        FileQuestion::AccountKind { account, .. } => {
            choices.accounts.get(account).is_none_or(|it| it.kind.is_none())
        }
    };
    reading.questions.retain(is_open);
    let columns = table.found.is_some().then_some(table.columns.as_str());
    let links = reading.accounts.iter().map(|it| account_link(it, columns)).collect();
    for (index, account) in reading.accounts.iter_mut().enumerate() {
        prefix_ids(&mut account.draft, provenance);
        if let Some(choice) = choices.accounts.get(&index) {
            apply(&mut account.draft, choice);
        }
        // Truncated as in a commit, so that the preview matches it.
        text::truncate(&mut account.draft);
    }
    Ok(ParsedFile {
        links,
        format: reading.format,
        provenance: provenance.into(),
        accounts: reading.accounts,
        rejected: reading.rejected,
        notes: reading.notes,
        doubts: reading.questions,
        assumed_currency: reading.assumed_currency,
        table: table.found,
        columns: table.columns,
        complaints: table.complaints,
        remembered: table.remembered,
    })
}

/// How a CSV file is read.
#[derive(Default)]
struct CsvTable {
    found: Option<csv::Detection>,
    columns: String,
    complaints: Vec<csv::Complaint>,
    remembered: bool,
}

impl CsvTable {
    /// Reads the file by a mapping. If it does not fit, its problems are reported and nothing is read; a remembered mapping
    /// that does not fit is ignored.
    fn read(
        &mut self,
        content: &[u8],
        mapping: csv::Mapping,
        hints: &ParseOptions,
        reading: &mut FileContents,
    ) -> Result<(), FileError> {
        let sheet = csv::sheet(content, &mapping)?;
        match csv::read_with(content, &mapping, hints) {
            Ok(read) => *reading = read,
            Err(_) if self.remembered => {
                self.remembered = false;
                return Ok(());
            }
            Err(error) => {
                self.complaints = mapping.check(&sheet.titles());
                if self.complaints.is_empty() {
                    self.complaints.push(csv::Complaint { field: None, text: error.to_string() });
                }
                reading.accounts.clear();
                reading.questions.clear();
                reading.assumed_currency = None;
                reading.rejected = Rejections::default();
                reading.notes = Notes::default();
            }
        }
        self.found = self.found.take().map(|found| csv::Detection { mapping, sheet, ..found });
        Ok(())
    }
}

/// Identifies CSV files with the same columns: the preset's name and the titles.
fn columns_of(table: &csv::Detection) -> String {
    let titles = table.sheet.titles().join("\u{1f}").to_lowercase();
    let preset = table.preset.unwrap_or_default();
    let columns: String = format!("{preset}\u{1f}{titles}").chars().take(1_000).collect();
    columns[..columns.floor_char_boundary(COLUMNS_BYTES_MAX)].to_owned()
}

/// Prefixes the ids of transactions with their provenance.
fn prefix_ids(draft: &mut AccountDraft, provenance: &str) {
    for row in &mut draft.transactions {
        for id in [&mut row.external_id, &mut row.settles].into_iter().flatten() {
            *id = format!("{provenance} {id}");
        }
    }
    draft.removed.iter_mut().for_each(|id| *id = format!("{provenance} {id}"));
}

fn apply(draft: &mut AccountDraft, choice: &AccountChoice) {
    if let Some(name) = choice.name.as_deref().map(str::trim).filter(|it| !it.is_empty()) {
        draft.name = name.chars().take(100).collect();
    }
    if let Some(kind) = choice.kind.filter(|it| *it != draft.kind) {
        convert_balances(draft, kind);
        draft.kind = kind;
        draft.subtype = None;
    }
    if choice.kind.is_some() && choice.subtype.is_some() {
        draft.subtype.clone_from(&choice.subtype);
    }
    if choice.owed == Some(false) {
        negate_balances(draft);
    }
}

/// Changes the sign of balances if the kind changes between asset and debt, because debt is stored as a positive amount.
fn convert_balances(draft: &mut AccountDraft, kind: AccountKind) {
    if kind.is_debt() != draft.kind.is_debt() {
        negate_balances(draft);
    }
}

fn negate_balances(draft: &mut AccountDraft) {
    if let Some(balance) = &mut draft.balance {
        balance.current_minor = balance.current_minor.saturating_neg();
    }
    for past in &mut draft.past_balances {
        past.current_minor = past.current_minor.saturating_neg();
    }
}

const CHOICES: &str = "select choices from import_files where user_id = $1 and id = $2";
const MAPPINGS: &str = "select columns, mapping from file_mappings where user_id = $1";
pub(super) const STATEMENTS: &[&str] = &[CHOICES, MAPPINGS];
