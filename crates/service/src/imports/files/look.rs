//! A look at a file before anything is written: what it holds, where it goes, and what of it is new.

use std::sync::Arc;

use base::draft::{AccountDraft, AccountKind};
use base::{AccountId, Currency, Date, FileId, Money};
use calc::matching::{OWN_EXPORT, Tally, Verdict, match_drafts};
use db::params;
use sources::files::{
    self, Doubt, FileAccount, FileError, Format, Hints, Reading, Rejections, csv,
};

use super::{AccountChoice, Choices, Goes, Held};
use crate::imports::{KnownAs, transactions};
use crate::{App, Caller, Error, Result, accounts, users};

/// Rows of an account that a look shows; the rest is counted.
const ROWS_SHOWN: usize = 200;
/// What the presets of our own exports begin with.
const OWN_PRESET: &str = "Evenkeel";

/// Everything that a person needs to see before they agree.
#[derive(Debug, Clone)]
pub struct Look {
    pub file: Held,
    pub choices: Choices,
    /// Why nothing can be read; the rest is empty then.
    pub trouble: Option<String>,
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
    pub accounts: Vec<AccountLook>,
}

#[derive(Debug, Clone)]
pub struct AccountLook {
    /// As the file names it; may be empty.
    pub number: String,
    pub name: String,
    pub kind: AccountKind,
    pub currency: Currency,
    pub landing: Landing,
    /// The person's accounts that it could be.
    pub candidates: Vec<(AccountId, String)>,
    pub balance: Option<Money>,
    pub positions: usize,
    pub tally: Tally,
    pub sum: Option<Money>,
    pub first_on: Option<Date>,
    pub last_on: Option<Date>,
    /// The first of them, newest first.
    pub rows: Vec<RowLook>,
}

/// Where an account of a file would go now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landing {
    New,
    Into(AccountId),
    Nowhere,
    /// The person has to say.
    Unclear,
}

#[derive(Debug, Clone)]
pub struct RowLook {
    pub on: Date,
    pub amount: Money,
    pub description: String,
    pub pending: bool,
    pub news: News,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    New,
    /// Known, and the file says more or better.
    Changed,
    /// There already.
    Known,
}

impl Look {
    /// Whether there is nothing left to say before it can be taken in.
    pub fn is_ready(&self) -> bool {
        self.trouble.is_none()
            && self.complaints.is_empty()
            && self.doubts.is_empty()
            && !self.accounts.is_empty()
            && self.accounts.iter().all(|it| it.landing != Landing::Unclear)
            && self.accounts.iter().any(|it| it.landing != Landing::Nowhere)
    }

    /// All accounts together.
    pub fn tally(&self) -> Tally {
        let taken = self.accounts.iter().filter(|it| it.landing != Landing::Nowhere);
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
    pub(super) held: Held,
    pub(super) content: Arc<Vec<u8>>,
    pub(super) choices: Choices,
}

/// Looks at a file. Nothing is changed.
pub async fn look(app: &App, caller: &Caller, id: FileId) -> Result<Look> {
    let kept = load(app, caller, id).await?;
    let mut look = Look {
        file: kept.held.clone(),
        choices: kept.choices.clone(),
        trouble: None,
        format: None,
        table: None,
        complaints: Vec::new(),
        remembered: false,
        doubts: Vec::new(),
        rejected: Rejections::default(),
        accounts: Vec::new(),
    };
    match parse(app, caller, &kept).await? {
        Err(error) => look.trouble = Some(error.to_string()),
        Ok(parsed) => {
            look.format = Some(parsed.format);
            for place in 0..parsed.accounts.len() {
                let choice = kept.choices.accounts.get(&place);
                look.accounts.push(look_at(app, caller, &parsed, place, choice).await?);
            }
            look.doubts = parsed.doubts;
            look.rejected = parsed.rejected;
            look.table = parsed.table;
            look.complaints = parsed.complaints;
            look.remembered = parsed.remembered;
        }
    }
    Ok(look)
}

pub(super) async fn load(app: &App, caller: &Caller, id: FileId) -> Result<Kept> {
    let held = super::get(app, caller, id).await?;
    let read = |row: &db::Row<'_>| Ok((row.get::<Option<Vec<u8>>>(0)?, row.get::<String>(1)?));
    let found = app.db.first(CONTENT, params![caller.user, id], read).await?;
    let (content, choices) = found.ok_or(Error::NotFound("file"))?;
    let content = Arc::new(content.ok_or(Error::NotFound("file"))?);
    let choices = serde_json::from_str(&choices).unwrap_or_default();
    Ok(Kept { held, content, choices })
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
    in_background(work).await
}

/// A large file takes longer than others should have to wait.
async fn in_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Error::internal(format!("a file could not be read: {error}")))
}

async fn hints(app: &App, caller: &Caller, choices: &Choices) -> Result<Hints> {
    Ok(Hints {
        today: app.clock.today(),
        currency: users::get(app, caller).await?.base_currency,
        dates: choices.dates,
        charges: choices.charges,
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
    let work = move || csv::mapping_of_preset(&name, &kept.content, &hints);
    in_background(work).await
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
    format!("{named}\u{1f}{titles}").chars().take(1_000).collect()
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

async fn look_at(
    app: &App,
    caller: &Caller,
    parsed: &Parsed,
    place: usize,
    choice: Option<&AccountChoice>,
) -> Result<AccountLook> {
    let (account, name) = (&parsed.accounts[place], parsed.names[place].as_ref());
    let draft = &account.draft;
    let all = accounts::all(app, caller).await?;
    let candidates: Vec<&accounts::Account> =
        all.iter().filter(|it| it.currency == draft.currency).collect();
    let landing = landing(app, caller, parsed, account, (name, choice, &candidates)).await?;
    let known = match landing {
        Landing::Into(id) => transactions::look(app, caller.user, id, &draft.transactions).await?,
        _ => Vec::new(),
    };
    let verdicts = match_drafts(&known, &draft.transactions, &parsed.giver);
    let money = |minor: i64| Money::new(minor, draft.currency);
    let sum: i128 = draft.transactions.iter().map(|it| i128::from(it.amount.minor())).sum();
    let days = || draft.transactions.iter().map(|it| it.posted_on);
    Ok(AccountLook {
        number: draft.external_id.clone(),
        name: draft.name.clone(),
        kind: draft.kind,
        currency: draft.currency,
        landing,
        candidates: candidates.iter().map(|it| (it.id, it.name.clone())).collect(),
        balance: draft.balance.map(|it| money(it.current_minor)),
        positions: draft.holdings.as_ref().map_or(0, Vec::len),
        tally: Tally::of(&verdicts),
        sum: i64::try_from(sum).ok().map(money),
        first_on: days().min(),
        last_on: days().max(),
        rows: rows(draft, &verdicts),
    })
}

fn rows(draft: &AccountDraft, verdicts: &[Verdict]) -> Vec<RowLook> {
    let mut rows: Vec<RowLook> = draft
        .transactions
        .iter()
        .zip(verdicts)
        .map(|(row, verdict)| RowLook {
            on: row.posted_on,
            amount: row.amount,
            description: row.description.clone(),
            pending: row.pending,
            news: match verdict {
                Verdict::New => News::New,
                Verdict::Changed(_) => News::Changed,
                Verdict::Seen(_) | Verdict::Repeated(_) => News::Known,
            },
        })
        .collect();
    rows.sort_by_key(|it| std::cmp::Reverse(it.on));
    rows.truncate(ROWS_SHOWN);
    rows
}

/// What the file calls an account, what the person said of it, and the accounts that it could be.
pub(super) type Clues<'a> =
    (Option<&'a KnownAs>, Option<&'a AccountChoice>, &'a [&'a accounts::Account]);

/// The person's word first, then what such an account was said to be before, then its last digits.
pub(super) async fn landing(
    app: &App,
    caller: &Caller,
    parsed: &Parsed,
    account: &FileAccount,
    (name, choice, candidates): Clues<'_>,
) -> Result<Landing> {
    match choice.and_then(|it| it.goes) {
        Some(Goes::New) => return Ok(Landing::New),
        Some(Goes::Nowhere) => return Ok(Landing::Nowhere),
        Some(Goes::Into(id)) if candidates.iter().any(|it| it.id == id) => {
            return Ok(Landing::Into(id));
        }
        _ => {}
    }
    let draft = &account.draft;
    let own = |it: &&&accounts::Account| {
        it.id.to_string() == draft.external_id
            || (draft.external_id.is_empty() && it.name == draft.name)
    };
    if let Some(own) = candidates.iter().find(own).filter(|_| &*parsed.giver == OWN_EXPORT) {
        return Ok(Landing::Into(own.id));
    }
    if let Some(name) = name {
        let key = params![caller.user, name.giver, &name.external_id];
        let known: Option<AccountId> = app.db.first(LINKED, key, |row| row.get(0)).await?;
        if let Some(id) = known.filter(|id| candidates.iter().any(|it| it.id == *id)) {
            return Ok(Landing::Into(id));
        }
    }
    let agree = |one: &Option<String>, other: &Option<String>| {
        one.is_none() || other.is_none() || one == other
    };
    let alike = |it: &&&accounts::Account| {
        draft.mask.is_some()
            && it.mask == draft.mask
            && it.kind.is_debt() == draft.kind.is_debt()
            && agree(&it.subtype, &draft.subtype)
            && agree(&it.institution_name, &draft.institution_name)
    };
    let mut alike = candidates.iter().filter(alike);
    Ok(match (alike.next(), alike.next()) {
        (Some(one), None) => Landing::Into(one.id),
        (None, _) if !draft.external_id.is_empty() || candidates.is_empty() => Landing::New,
        _ => Landing::Unclear,
    })
}

/// What the file calls the account. Tables that do not are taken to be of one account when they have the same columns;
/// of other files that do not, nothing is remembered.
fn known_as(account: &FileAccount, columns: Option<&str>) -> Option<KnownAs> {
    let draft = &account.draft;
    if draft.external_id.is_empty() {
        let external_id = columns?.to_owned();
        return Some(KnownAs { giver: "csv", external_id });
    }
    // A bank may give one number to a checking and a savings account.
    let parts = [account.bank.as_deref(), Some(&draft.external_id), draft.subtype.as_deref()];
    let external_id = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    Some(KnownAs { giver: "file", external_id })
}

const CONTENT: &str = "select content, choices from import_files where user_id = $1 and id = $2";
const MAPPINGS: &str = "select columns, mapping from file_mappings where user_id = $1";
const LINKED: &str = "select account_id from account_links
    where user_id = $1 and giver = $2 and external_id = $3";

pub(super) const STATEMENTS: &[&str] = &[CONTENT, MAPPINGS, LINKED];
