//! Finds the person's account that an account of a file belongs to.

use base::AccountId;
use base::draft::AccountDraft;
use calc::matching::{DraftMatch, EVENKEEL_EXPORT, KnownTransaction, match_drafts};
use db::params;
use sources::files::FileAccount;

use super::choices::{AccountChoice, DestinationChoice};
use super::identity;
use crate::ingest::imports::request::AccountLink;
use crate::ingest::imports::{text, transactions};
use crate::ledger::accounts;
use crate::{App, Caller, Result};

/// The account that an account of a file would be imported into now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    New,
    Existing(AccountId),
    Skip,
    /// The person has to choose.
    Unknown,
}

/// A destination, and the account to suggest if the person has to choose.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundDestination {
    pub(super) destination: Destination,
    pub(super) suggested: Option<AccountId>,
}

impl From<Destination> for FoundDestination {
    fn from(destination: Destination) -> FoundDestination {
        FoundDestination { destination, suggested: None }
    }
}

fn ask(suggested: Option<AccountId>) -> FoundDestination {
    FoundDestination { destination: Destination::Unknown, suggested }
}

/// The file's name for an account, the person's choice for it, and the accounts of its currency.
pub(super) type Evidence<'a> =
    (Option<&'a AccountLink>, Option<&'a AccountChoice>, &'a [&'a accounts::Account]);

/// Finds the destination by the person's choice, then by the full identifier of the account. An account that is only
/// similar, by its last digits or by the columns of the file, is suggested, never taken.
pub(super) async fn find(
    app: &App,
    caller: &Caller,
    provenance: &str,
    account: &FileAccount,
    (link, choice, candidates): Evidence<'_>,
) -> Result<FoundDestination> {
    match choice.and_then(|it| it.destination) {
        Some(DestinationChoice::New) => return Ok(Destination::New.into()),
        Some(DestinationChoice::Skip) => return Ok(Destination::Skip.into()),
        Some(DestinationChoice::Existing(id)) if candidates.iter().any(|it| it.id == id) => {
            return Ok(Destination::Existing(id).into());
        }
        _ => {}
    }
    let draft = &account.draft;
    let own = |it: &&&accounts::Account| {
        it.id.to_string() == draft.external_id
            || (draft.external_id.is_empty() && it.name == draft.name)
    };
    if let Some(own) = candidates.iter().find(own).filter(|_| provenance == EVENKEEL_EXPORT) {
        return Ok(Destination::Existing(own.id).into());
    }
    if let Some(link) = link {
        let key = params![caller.user, link.provenance, &link.external_id];
        let linked: Option<AccountId> = app.db.first(LINKED, key, |row| row.get(0)).await?;
        if let Some(id) = linked.filter(|id| candidates.iter().any(|it| it.id == *id)) {
            // Two accounts of a bank may have the same columns or last digits, but not the same transactions.
            let is_same = link.is_full || has_rows_of(app, caller, id, draft, provenance).await?;
            return Ok(if is_same { Destination::Existing(id).into() } else { ask(Some(id)) });
        }
    }
    let mut similar = Vec::new();
    for candidate in candidates.iter().filter(|it| is_similar(it, draft)) {
        if !is_known_as_other(app, caller, candidate.id, account).await? {
            similar.push(candidate.id);
        }
    }
    Ok(match similar.as_slice() {
        [] if !draft.external_id.is_empty() || candidates.is_empty() => Destination::New.into(),
        [one] => ask(Some(*one)),
        _ => ask(None),
    })
}

/// Whether an account may be the one in the file: the same last digits, and nothing that contradicts.
fn is_similar(candidate: &accounts::Account, draft: &AccountDraft) -> bool {
    let is_compatible = |one: &Option<String>, other: &Option<String>| {
        one.is_none() || other.is_none() || one == other
    };
    draft.mask.is_some()
        && candidate.mask == draft.mask
        && candidate.kind.is_debt() == draft.kind.is_debt()
        && is_compatible(&candidate.subtype, &draft.subtype)
        && is_compatible(&candidate.institution_name, &draft.institution_name)
}

/// Whether earlier files named the account by a full identifier that differs from this one's.
async fn is_known_as_other(
    app: &App,
    caller: &Caller,
    candidate: AccountId,
    account: &FileAccount,
) -> Result<bool> {
    let key = params![caller.user, candidate];
    let known: Vec<String> = app.db.all(IDENTIFIERS, key, |row| row.get(0)).await?;
    Ok(identity::is_other(&known, account))
}

/// Whether the rows of the file are those of the account, where both cover the same days.
async fn has_rows_of(
    app: &App,
    caller: &Caller,
    account: AccountId,
    draft: &AccountDraft,
    provenance: &str,
) -> Result<bool> {
    let rows = &draft.transactions;
    let known = transactions::find_candidates_for_preview(app, caller.user, account, rows).await?;
    let days = || known.iter().map(|it: &KnownTransaction| it.content.posted_on);
    let (Some(first), Some(last)) = (days().min(), days().max()) else { return Ok(false) };
    let verdicts = match_drafts(&known, rows, provenance);
    let matched = verdicts.iter().filter(|it| !matches!(it, DraftMatch::New)).count();
    let shared = rows.iter().filter(|it| (first..=last).contains(&it.posted_on)).count();
    let is_enough = matched >= ROWS_TO_RECOGNIZE || matched == rows.len();
    Ok(matched > 0 && is_enough && matched * 10 >= shared * 8)
}

/// Fewer rows may be the same in two accounts, such as interest of a cent.
const ROWS_TO_RECOGNIZE: usize = 3;

/// The file's name for an account, to be recognized in the next file. CSV files without one are linked by their columns;
/// other files without one are not linked.
pub(super) fn account_link(account: &FileAccount, columns: Option<&str>) -> Option<AccountLink> {
    let draft = &account.draft;
    let is_full = identity::is_full(account);
    let (provenance, mut external_id) = match (columns, draft.external_id.as_str()) {
        (None, "") => return None,
        (Some(columns), "") => ("csv", columns.to_owned()),
        // The name that an app gives to an account is unique in its own files only.
        (Some(columns), name) if !is_full => ("csv", format!("{name}\u{1f}{columns}")),
        (_, number) => ("file", identity::iban(number).unwrap_or_else(|| number_in_full(account))),
    };
    text::truncate_id(&mut external_id);
    let is_named = columns.is_some() && identity::is_own_name(&draft.external_id);
    Some(AccountLink { provenance, external_id, is_full: is_full || is_named })
}

/// The number of an account with its bank and type: a bank may use the same number for a checking and a savings account.
fn number_in_full(account: &FileAccount) -> String {
    let draft = &account.draft;
    let parts = [account.bank.as_deref(), Some(&draft.external_id), draft.subtype.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

const LINKED: &str = "select account_id from account_links
    where user_id = $1 and giver = $2 and external_id = $3";
const IDENTIFIERS: &str = "select external_id from account_links
    where user_id = $1 and account_id = $2 and giver = 'file' order by external_id limit 100";

pub(super) const STATEMENTS: &[&str] = &[LINKED, IDENTIFIERS];
