//! A look at a file before anything is written: what it holds, where it goes, and what of it is new.

use std::sync::Arc;

use base::draft::{AccountDraft, AccountKind};
use base::{AccountId, Currency, Date, FileId, Money};
use calc::matching::{OWN_EXPORT, Tally, Verdict, match_drafts};
use db::params;
use sources::files::{
    self, Doubt, FileAccount, FileError, Format, Hints, Reading, Rejections, csv,
};

use super::landing::{Destination, destination, known_as};
use super::limits::ReadingSlot;
use super::{AccountChoice, Choices, StagedFile, content, summary};
use crate::access::users;
use crate::ingest::imports::{KnownAs, text, transactions};
use crate::ledger::accounts;
use crate::{App, Caller, Error, Result};

/// Rows that a look shows of all accounts together, and at least of each; the rest is counted.
const ROWS_SHOWN: usize = 200;
const ROWS_SHOWN_LEAST: usize = 10;
/// Longer text is cut where it is shown.
const SHOWN_CHARS: usize = 200;
/// An index of PostgreSQL takes entries of some 2,700 bytes.
const COLUMNS_BYTES_MAX: usize = 2_000;
/// What the presets of our own exports begin with.
const OWN_PRESET: &str = "Evenkeel";

/// Everything that a person needs to see before they agree.
#[derive(Debug, Clone)]
pub struct Preview {
    pub file: StagedFile,
    pub choices: Choices,
    /// Why nothing can be read; the rest is empty then.
    pub error: Option<String>,
    pub format: Option<Format>,
    /// For a table: how it was understood.
    pub table: Option<csv::Detection>,
    /// Why the table cannot be read by the mapping that the person chose.
    pub complaints: Vec<csv::Complaint>,
    /// Whether it is read as the person said of an earlier file with the same columns.
    pub remembered: bool,
    /// What the file leaves open and the person has not said yet.
    pub doubts: Vec<Doubt>,
    pub rejected: Rejections,
    pub accounts: Vec<AccountPreview>,
}

#[derive(Debug, Clone)]
pub struct AccountPreview {
    /// As the file names it; may be empty.
    pub number: String,
    pub name: String,
    pub kind: AccountKind,
    pub currency: Currency,
    pub destination: Destination,
    /// The person's accounts that it could be.
    pub candidates: Vec<(AccountId, String)>,
    pub balance: Option<Money>,
    pub positions: usize,
    pub tally: Tally,
    pub sum: Option<Money>,
    pub first_on: Option<Date>,
    pub last_on: Option<Date>,
    /// The first of them, newest first.
    pub rows: Vec<RowPreview>,
}

#[derive(Debug, Clone)]
pub struct RowPreview {
    pub on: Date,
    pub amount: Money,
    pub description: String,
    pub pending: bool,
    pub status: RowStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowStatus {
    New,
    /// Known, and the file says more or better.
    Changed,
    /// There already.
    Known,
}

impl Preview {
    /// Whether there is nothing left to say before it can be taken in.
    pub fn is_ready(&self) -> bool {
        self.error.is_none()
            && self.complaints.is_empty()
            && self.doubts.is_empty()
            && !self.accounts.is_empty()
            && self.accounts.iter().all(|it| it.destination != Destination::Unknown)
            && self.accounts.iter().any(|it| it.destination != Destination::Skip)
    }

    /// Whether all of it is there already.
    pub fn is_nothing_new(&self) -> bool {
        let tally = self.tally();
        self.is_ready() && tally.new == 0 && tally.changed == 0 && tally.seen > 0
    }

    /// All accounts together.
    pub fn tally(&self) -> Tally {
        let taken = self.accounts.iter().filter(|it| it.destination != Destination::Skip);
        taken.fold(Tally::default(), |sum, it| Tally {
            new: sum.new + it.tally.new,
            changed: sum.changed + it.tally.changed,
            seen: sum.seen + it.tally.seen,
        })
    }
}

/// A file as it is read with what the person said of it.
pub(super) struct Parsed {
    pub(super) format: Format,
    pub(super) giver: Arc<str>,
    pub(super) accounts: Vec<FileAccount>,
    /// What the file calls each of them, before the person said anything.
    pub(super) names: Vec<Option<KnownAs>>,
    pub(super) rejected: Rejections,
    pub(super) doubts: Vec<Doubt>,
    pub(super) table: Option<csv::Detection>,
    /// What tells tables of this kind from others.
    pub(super) columns: String,
    pub(super) complaints: Vec<csv::Complaint>,
    pub(super) remembered: bool,
}

pub(super) struct Kept {
    pub(super) held: StagedFile,
    pub(super) content: Arc<Vec<u8>>,
    pub(super) choices: Choices,
    pub(super) slot: ReadingSlot,
}

/// Looks at a file. Nothing is changed.
pub async fn preview(app: &App, caller: &Caller, id: FileId) -> Result<Preview> {
    let kept = load(app, caller, id).await?;
    let mut look = Preview {
        file: kept.held.clone(),
        choices: kept.choices.clone(),
        error: None,
        format: None,
        table: None,
        complaints: Vec::new(),
        remembered: false,
        doubts: Vec::new(),
        rejected: Rejections::default(),
        accounts: Vec::new(),
    };
    match parse(app, caller, &kept).await? {
        Err(error) => look.error = Some(error.to_string()),
        Ok(mut parsed) => {
            look.format = Some(parsed.format);
            let drafts = std::mem::take(&mut parsed.accounts);
            let shown = (ROWS_SHOWN / drafts.len().max(1)).max(ROWS_SHOWN_LEAST);
            let all = accounts::all(app, caller).await?;
            let looking = Looking { app, caller, kept: &kept, parsed: &parsed, all: &all, shown };
            for (place, account) in drafts.into_iter().enumerate() {
                look.accounts.push(looking.at(place, account).await?);
            }
            look.doubts = parsed.doubts;
            look.rejected = parsed.rejected;
            look.table = parsed.table;
            look.complaints = parsed.complaints;
            look.remembered = parsed.remembered;
        }
    }
    summary::keep(app, caller, &look).await;
    Ok(look)
}

pub(super) async fn load(app: &App, caller: &Caller, id: FileId) -> Result<Kept> {
    caller.require_owner("import")?;
    let slot = app.reading_slots.acquire(caller.user).await?;
    let held = super::get(app, caller, id).await?;
    let key = params![caller.user, id];
    let choices = app.db.first(CHOICES, key, |row| row.get::<String>(0)).await?;
    let choices = choices.ok_or(Error::NotFound("file"))?;
    let content = content::load(app, caller.user, id, held.size).await?;
    let choices = serde_json::from_str(&choices).unwrap_or_default();
    Ok(Kept { held, content: Arc::new(content), choices, slot })
}

/// Reads the file by what the person said, or by what they said of files like it.
pub(super) async fn parse(
    app: &App,
    caller: &Caller,
    kept: &Kept,
) -> Result<Result<Parsed, FileError>> {
    let hints = hints(app, caller, &kept.choices).await?;
    let pair = |row: &db::Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
    let known = app.db.all(MAPPINGS, params![caller.user], pair).await?;
    let (content, choices) = (Arc::clone(&kept.content), kept.choices.clone());
    let work = move || read(&content, &choices, &hints, &known);
    match in_background(&kept.slot, work).await {
        Ok(read) => Ok(read),
        // The file must not take its page with it: the person sees that it cannot be read, and can discard it.
        Err(error) => {
            tracing::error!(%error, file = %kept.held.id, "a staged file could not be read");
            Ok(Err(FileError::Unknown))
        }
    }
}

/// A large file takes longer than others should have to wait. The slot is kept until the work ends, even when the request
/// that wanted it is gone.
async fn in_background<T: Send + 'static>(
    slot: &ReadingSlot,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let slot = slot.clone();
    let done = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(slot);
        done
    });
    done.await.map_err(|error| Error::internal(format!("a file could not be read: {error}")))
}

async fn hints(app: &App, caller: &Caller, choices: &Choices) -> Result<Hints> {
    Ok(Hints {
        today: app.clock.today(),
        currency: users::get(app, caller).await?.base_currency,
        dates: choices.dates,
        charges: choices.charges,
        limits: app.import_limits.reading,
    })
}

/// How a table is read if it is one of that bank's; none for a bank that is not known.
pub async fn preset(
    app: &App,
    caller: &Caller,
    id: FileId,
    name: &str,
) -> Result<Option<csv::Mapping>> {
    let kept = load(app, caller, id).await?;
    let hints = hints(app, caller, &kept.choices).await?;
    let name = name.to_owned();
    let content = Arc::clone(&kept.content);
    let work = move || csv::mapping_of_preset(&name, &content, &hints);
    in_background(&kept.slot, work).await
}

fn read(
    content: &[u8],
    choices: &Choices,
    hints: &Hints,
    known: &[(String, String)],
) -> Result<Parsed, FileError> {
    let mut reading = files::read(content, hints)?;
    let mut giver = reading.format.giver();
    let mut table = Table::default();
    if reading.format == Format::Csv {
        let found = csv::detect(content, hints)?;
        if found.preset.is_some_and(|it| it.starts_with(OWN_PRESET)) {
            giver = OWN_EXPORT;
        }
        table = Table { columns: columns_of(&found), ..Table::default() };
        let known = known.iter().find(|(columns, _)| *columns == table.columns);
        let known = known.and_then(|(_, mapping)| serde_json::from_str(mapping).ok());
        table.remembered = choices.mapping.is_none() && known.is_some();
        table.found = Some(found);
        if let Some(mapping) = choices.mapping.clone().or(known) {
            table.read(content, mapping, hints, &mut reading)?;
        }
    }
    let is_open = |doubt: &Doubt| match doubt {
        Doubt::Dates { .. } => choices.dates.is_none(),
        Doubt::Charges { .. } => choices.charges.is_none(),
        Doubt::CardBalance { account } => {
            choices.accounts.get(account).is_none_or(|it| it.owed.is_none())
        }
    };
    reading.doubts.retain(is_open);
    let columns = table.found.is_some().then_some(table.columns.as_str());
    let names = reading.accounts.iter().map(|it| known_as(it, columns)).collect();
    for (place, account) in reading.accounts.iter_mut().enumerate() {
        name_ids(&mut account.draft, giver);
        if let Some(choice) = choices.accounts.get(&place) {
            apply(&mut account.draft, choice);
        }
        // As it will be written, so that the preview matches what the commit does.
        text::bound(&mut account.draft);
    }
    Ok(Parsed {
        names,
        format: reading.format,
        giver: giver.into(),
        accounts: reading.accounts,
        rejected: reading.rejected,
        doubts: reading.doubts,
        table: table.found,
        columns: table.columns,
        complaints: table.complaints,
        remembered: table.remembered,
    })
}

/// What is known of a file that is a table.
#[derive(Default)]
struct Table {
    found: Option<csv::Detection>,
    columns: String,
    complaints: Vec<csv::Complaint>,
    remembered: bool,
}

impl Table {
    /// Reads it by a mapping. One that does not fit is complained of, and nothing is read; a remembered one is left.
    fn read(
        &mut self,
        content: &[u8],
        mapping: csv::Mapping,
        hints: &Hints,
        reading: &mut Reading,
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
                reading.doubts.clear();
                reading.rejected = Rejections::default();
            }
        }
        self.found = self.found.take().map(|found| csv::Detection { mapping, sheet, ..found });
        Ok(())
    }
}

/// What tells files of one kind from others: their titles, or what they are known as.
fn columns_of(table: &csv::Detection) -> String {
    let titles = table.sheet.titles().join("\u{1f}").to_lowercase();
    let named = table.preset.unwrap_or_default();
    let columns: String = format!("{named}\u{1f}{titles}").chars().take(1_000).collect();
    columns[..columns.floor_char_boundary(COLUMNS_BYTES_MAX)].to_owned()
}

/// Says whose ids these are.
fn name_ids(draft: &mut AccountDraft, giver: &str) {
    for row in &mut draft.transactions {
        for id in [&mut row.external_id, &mut row.settles].into_iter().flatten() {
            *id = format!("{giver} {id}");
        }
    }
    draft.removed.iter_mut().for_each(|id| *id = format!("{giver} {id}"));
}

fn apply(draft: &mut AccountDraft, choice: &AccountChoice) {
    if let Some(name) = choice.name.as_deref().map(str::trim).filter(|it| !it.is_empty()) {
        draft.name = name.chars().take(100).collect();
    }
    if let Some(kind) = choice.kind.filter(|it| *it != draft.kind) {
        turn_balances(draft, kind);
        draft.kind = kind;
        draft.subtype = None;
    }
    if choice.owed == Some(false) {
        negate_balances(draft);
    }
}

/// What is owed is kept as a positive, so a balance changes its sign with the kind of account.
pub(super) fn turn_balances(draft: &mut AccountDraft, kind: AccountKind) {
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

/// What the looks at the accounts of one file share.
struct Looking<'a> {
    app: &'a App,
    caller: &'a Caller,
    kept: &'a Kept,
    parsed: &'a Parsed,
    /// The person's accounts.
    all: &'a [accounts::Account],
    /// How many rows of each are shown.
    shown: usize,
}

impl Looking<'_> {
    async fn at(&self, place: usize, account: FileAccount) -> Result<AccountPreview> {
        let Looking { app, caller, kept, parsed, shown, .. } = *self;
        let (name, choice) = (parsed.names[place].as_ref(), kept.choices.accounts.get(&place));
        let draft = &account.draft;
        let candidates: Vec<&accounts::Account> =
            self.all.iter().filter(|it| it.currency == draft.currency).collect();
        let destination =
            destination(app, caller, parsed, &account, (name, choice, &candidates)).await?;
        let rows = &draft.transactions;
        let known = match destination {
            Destination::Existing(id) => transactions::look(app, caller.user, id, rows).await?,
            _ => Vec::new(),
        };
        let candidates: Vec<(AccountId, String)> =
            candidates.iter().map(|it| (it.id, it.name.clone())).collect();
        let giver = Arc::clone(&parsed.giver);
        in_background(&kept.slot, move || {
            let verdicts = match_drafts(&known, &account.draft.transactions, &giver);
            summed(account.draft, (destination, candidates), &verdicts, shown)
        })
        .await
    }
}

fn summed(
    draft: AccountDraft,
    (destination, candidates): (Destination, Vec<(AccountId, String)>),
    verdicts: &[Verdict],
    shown: usize,
) -> AccountPreview {
    let money = |minor: i64| Money::new(minor, draft.currency);
    let sum: i128 = draft.transactions.iter().map(|it| i128::from(it.amount.minor())).sum();
    let days = || draft.transactions.iter().map(|it| it.posted_on);
    AccountPreview {
        destination,
        candidates,
        kind: draft.kind,
        currency: draft.currency,
        balance: draft.balance.map(|it| money(it.current_minor)),
        positions: draft.holdings.as_ref().map_or(0, Vec::len),
        tally: Tally::of(verdicts),
        sum: i64::try_from(sum).ok().map(money),
        first_on: days().min(),
        last_on: days().max(),
        rows: rows(&draft, verdicts, shown),
        number: draft.external_id,
        name: draft.name,
    }
}

/// The newest rows, as many as are shown.
fn rows(draft: &AccountDraft, verdicts: &[Verdict], shown: usize) -> Vec<RowPreview> {
    let mut newest: Vec<usize> = (0..draft.transactions.len().min(verdicts.len())).collect();
    newest.sort_by_key(|it| std::cmp::Reverse(draft.transactions[*it].posted_on));
    newest.truncate(shown);
    let row = |place: usize| {
        let row = &draft.transactions[place];
        RowPreview {
            on: row.posted_on,
            amount: row.amount,
            description: text::head(&row.description, SHOWN_CHARS).to_owned(),
            pending: row.pending,
            status: match verdicts[place] {
                Verdict::New => RowStatus::New,
                Verdict::Changed(_) => RowStatus::Changed,
                Verdict::Seen(_) | Verdict::Repeated(_) => RowStatus::Known,
            },
        }
    };
    newest.into_iter().map(row).collect()
}

const CHOICES: &str = "select choices from import_files where user_id = $1 and id = $2";
const MAPPINGS: &str = "select columns, mapping from file_mappings where user_id = $1";
pub(super) const STATEMENTS: &[&str] = &[CHOICES, MAPPINGS];
