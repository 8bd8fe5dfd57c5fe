//! Previews a staged file: its accounts, where they would be imported, and which rows are new. Nothing is written but a
//! summary for the list of files.

use std::sync::Arc;

use base::draft::{AccountDraft, AccountKind};
use base::{AccountId, Currency, Date, FileId, Money};
use calc::matching::{DraftMatch, MatchCounts, match_drafts};
use sources::files::{FileAccount, FileQuestion, Format, Notes, Rejections, csv};

use super::choices::Choices;
use super::destination::{self, Destination, FoundDestination};
use super::parse::{LoadedFile, ParseError, ParsedFile, in_background, load, parse};
use super::preview_summary::{self, PreviewOutcome, PreviewSummary};
use super::staged::{StagedFile, State, list};
use crate::ingest::imports::{text, transactions};
use crate::ledger::accounts;
use crate::{App, Caller, Error, Result};

/// Rows that a preview shows of all accounts together, and at least of each.
const ROWS_SHOWN: usize = 200;
const ROWS_SHOWN_LEAST: usize = 10;
/// Longer text is truncated in a preview.
const SHOWN_CHARS: usize = 200;
/// Bytes of small files that are previewed for a list; larger files are previewed when their own page is opened.
const REFRESHED_BYTES_MAX: i64 = 8 * 1_024 * 1_024;

/// Everything that a person needs to see before committing a file.
#[derive(Debug, Clone)]
pub struct Preview {
    pub file: StagedFile,
    pub choices: Choices,
    /// Why the file cannot be read; the rest is empty then.
    pub error: Option<String>,
    pub format: Option<Format>,
    /// How a CSV file was read.
    pub table: Option<csv::Detection>,
    /// Problems of the columns that the person chose.
    pub complaints: Vec<csv::Complaint>,
    /// Whether the columns are those that the person chose for an earlier file.
    pub remembered: bool,
    /// Questions that the person has to answer.
    pub doubts: Vec<FileQuestion>,
    /// The currency in which amounts are read for which the file names none. The person may choose another.
    pub assumed_currency: Option<Currency>,
    pub rejected: Rejections,
    /// What the person should know about rows that are kept.
    pub notes: Notes,
    pub accounts: Vec<AccountPreview>,
}

#[derive(Debug, Clone)]
pub struct AccountPreview {
    /// The account number in the file; may be empty.
    pub number: String,
    pub name: String,
    pub kind: AccountKind,
    /// Plaid's subtype, such as savings.
    pub subtype: Option<String>,
    pub currency: Currency,
    pub destination: Destination,
    /// The account to suggest if the person has to choose.
    pub suggested: Option<AccountId>,
    /// The person's accounts that it could be imported into.
    pub candidates: Vec<(AccountId, String)>,
    pub balance: Option<Money>,
    pub positions: usize,
    pub tally: MatchCounts,
    pub sum: Option<Money>,
    pub first_on: Option<Date>,
    pub last_on: Option<Date>,
    /// The newest rows.
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
    /// Stored, with other or fewer details.
    Changed,
    /// Stored already.
    Known,
}

impl Preview {
    /// Whether the file can be committed.
    pub fn is_ready(&self) -> bool {
        self.error.is_none()
            && self.complaints.is_empty()
            && self.doubts.is_empty()
            && !self.accounts.is_empty()
            && self.accounts.iter().all(|it| it.destination != Destination::Unknown)
            && self.accounts.iter().any(|it| it.destination != Destination::Skip)
    }

    /// Whether every row is stored already.
    pub fn is_nothing_new(&self) -> bool {
        let tally = self.tally();
        self.is_ready() && tally.new == 0 && tally.changed == 0 && tally.seen > 0
    }

    /// Counts of all accounts together.
    pub fn tally(&self) -> MatchCounts {
        let included = self.accounts.iter().filter(|it| it.destination != Destination::Skip);
        included.fold(MatchCounts::default(), |sum, it| MatchCounts {
            new: sum.new + it.tally.new,
            changed: sum.changed + it.tally.changed,
            seen: sum.seen + it.tally.seen,
        })
    }
}

/// Previews a file.
pub async fn preview(app: &App, caller: &Caller, id: FileId) -> Result<Preview> {
    let loaded = load(app, caller, id).await?;
    let mut preview = Preview {
        file: loaded.file.clone(),
        choices: loaded.choices.clone(),
        error: None,
        format: None,
        table: None,
        complaints: Vec::new(),
        remembered: false,
        doubts: Vec::new(),
        assumed_currency: None,
        rejected: Rejections::default(),
        notes: Notes::default(),
        accounts: Vec::new(),
    };
    match parse(app, caller, &loaded).await {
        Err(ParseError::Unreadable(error)) => preview.error = Some(error.to_string()),
        Err(ParseError::Failed(error)) => return Err(error),
        Ok(mut parsed) => {
            preview.format = Some(parsed.format);
            let drafts = std::mem::take(&mut parsed.accounts);
            let shown = (ROWS_SHOWN / drafts.len().max(1)).max(ROWS_SHOWN_LEAST);
            let all = accounts::list_all(app, caller).await?;
            let previewer =
                Previewer { app, caller, loaded: &loaded, parsed: &parsed, all: &all, shown };
            for (index, account) in drafts.into_iter().enumerate() {
                preview.accounts.push(previewer.preview(index, account).await?);
            }
            preview.doubts = parsed.doubts;
            preview.assumed_currency = parsed.assumed_currency;
            // The kind is known if the account is.
            preview.doubts.retain(|it| match it {
                FileQuestion::AccountKind { account, .. } => {
                    let account = preview.accounts.get(*account);
                    account.is_some_and(|it| it.destination == Destination::New)
                }
                _ => true,
            });
            preview.rejected = parsed.rejected;
            preview.notes = parsed.notes;
            preview.table = parsed.table;
            preview.complaints = parsed.complaints;
            preview.remembered = parsed.remembered;
        }
    }
    let summary = PreviewSummary::from(&preview);
    if preview.file.preview.as_ref() != Some(&summary) {
        preview_summary::save(app, caller, id, &summary).await;
    }
    Ok(preview)
}

impl From<&Preview> for PreviewSummary {
    fn from(preview: &Preview) -> PreviewSummary {
        let tally = preview.tally();
        PreviewSummary {
            outcome: match preview {
                _ if preview.error.is_some() => PreviewOutcome::Unreadable,
                _ if preview.is_nothing_new() => PreviewOutcome::NothingNew,
                _ if preview.is_ready() => PreviewOutcome::Ready,
                _ => PreviewOutcome::NeedsAnswer,
            },
            error: preview.error.clone(),
            format: preview.format.map(|it| it.as_str().to_owned()),
            accounts: preview.accounts.len(),
            new: tally.new,
            seen: tally.seen,
        }
    }
}

/// Previews the small files that wait for the person, so that a list of files is up to date. Files that cannot be read at
/// the moment stay as they are.
pub async fn refresh(app: &App, caller: &Caller) -> Result<()> {
    let mut left = REFRESHED_BYTES_MAX;
    let open = |it: &StagedFile| it.state == State::Open;
    for file in list(app, caller).await?.into_iter().filter(open) {
        left -= file.size;
        if left < 0 {
            break;
        }
        match preview(app, caller, file.id).await {
            Ok(_) | Err(Error::NotFound(_) | Error::Conflict { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Previews the accounts of one file.
struct Previewer<'a> {
    app: &'a App,
    caller: &'a Caller,
    loaded: &'a LoadedFile,
    parsed: &'a ParsedFile,
    /// The person's accounts.
    all: &'a [accounts::Account],
    /// How many rows of each account are shown.
    shown: usize,
}

impl Previewer<'_> {
    async fn preview(&self, index: usize, account: FileAccount) -> Result<AccountPreview> {
        let Previewer { app, caller, loaded, parsed, shown, .. } = *self;
        let (link, choice) = (parsed.links[index].as_ref(), loaded.choices.accounts.get(&index));
        let draft = &account.draft;
        let candidates: Vec<&accounts::Account> =
            self.all.iter().filter(|it| it.currency == draft.currency).collect();
        let evidence = (link, choice, &candidates[..]);
        let found = destination::find(app, caller, &parsed.provenance, &account, evidence).await?;
        let rows = &draft.transactions;
        let known = match found.destination {
            Destination::Existing(id) => {
                transactions::find_candidates_for_preview(app, caller.user, id, rows).await?
            }
            _ => Vec::new(),
        };
        let candidates: Vec<(AccountId, String)> =
            candidates.iter().map(|it| (it.id, it.name.clone())).collect();
        let provenance = Arc::clone(&parsed.provenance);
        in_background(&loaded.slot, move || {
            let verdicts = match_drafts(&known, &account.draft.transactions, &provenance);
            account_preview(account.draft, (found, candidates), &verdicts, shown)
        })
        .await
    }
}

fn account_preview(
    draft: AccountDraft,
    (found, candidates): (FoundDestination, Vec<(AccountId, String)>),
    verdicts: &[DraftMatch],
    shown: usize,
) -> AccountPreview {
    let money = |minor: i64| Money::new(minor, draft.currency);
    let sum: i128 = draft.transactions.iter().map(|it| i128::from(it.amount.minor())).sum();
    let days = || draft.transactions.iter().map(|it| it.posted_on);
    AccountPreview {
        destination: found.destination,
        suggested: found.suggested,
        candidates,
        kind: draft.kind,
        subtype: draft.subtype.clone(),
        currency: draft.currency,
        balance: draft.balance.map(|it| money(it.current_minor)),
        positions: draft.holdings.as_ref().map_or(0, Vec::len),
        tally: MatchCounts::of(verdicts),
        sum: i64::try_from(sum).ok().map(money),
        first_on: days().min(),
        last_on: days().max(),
        rows: rows(&draft, verdicts, shown),
        number: draft.external_id,
        name: draft.name,
    }
}

/// The newest rows, at most `shown`.
fn rows(draft: &AccountDraft, verdicts: &[DraftMatch], shown: usize) -> Vec<RowPreview> {
    let mut newest: Vec<usize> = (0..draft.transactions.len().min(verdicts.len())).collect();
    newest.sort_by_key(|it| std::cmp::Reverse(draft.transactions[*it].posted_on));
    newest.truncate(shown);
    let row = |index: usize| {
        let row = &draft.transactions[index];
        RowPreview {
            on: row.posted_on,
            amount: row.amount,
            description: text::head(&row.description, SHOWN_CHARS).to_owned(),
            pending: row.pending,
            status: match verdicts[index] {
                DraftMatch::New => RowStatus::New,
                DraftMatch::Changed(_) => RowStatus::Changed,
                DraftMatch::Seen(_) | DraftMatch::Repeated(_) => RowStatus::Known,
            },
        }
    };
    newest.into_iter().map(row).collect()
}
