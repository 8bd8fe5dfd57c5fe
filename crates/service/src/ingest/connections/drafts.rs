//! Turns a provider's response into an import of the selected accounts.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use base::draft::{AccountDraft, TransactionDraft, id_source};
use base::{AccountId, Currency, Date, Timestamp, date_from_days, days_from_date};
use db::{Row, Tx, params};
use sources::provider::{AccountChoice, AccountProblem, Provider, Response};

use super::OwedSign;
use super::lease::SyncLease;
use super::notices::ServerAccount;
use crate::Result;
use crate::classify::cleaned_descriptions::CleanedDescriptions;
use crate::ingest::imports::{self, FileInfo, ImportRequest, IncomingAccount, Progress};

/// A pending transaction that is no longer listed is kept this long: it may post under another id.
const PENDING_DAYS: i64 = 8;

/// An account that the person selected for syncing.
pub(super) struct SelectedAccount {
    pub(super) external_id: String,
    pub(super) login: Option<String>,
    /// Its id at the server, which may repeat across logins.
    pub(super) server_id: String,
    pub(super) institution: Option<String>,
    pub(super) own_name: Option<String>,
    pub(super) seen_at: Timestamp,
    /// When a response last had all of it.
    pub(super) complete_at: Option<Timestamp>,
    /// The account it is synced into; none before its first sync.
    pub(super) account: Option<AccountId>,
    currency: Option<Currency>,
    choice: AccountChoice,
}

impl SelectedAccount {
    pub(super) fn at_server(&self) -> ServerAccount<'_> {
        let (login, institution) = (self.login.as_deref(), self.institution.as_deref());
        ServerAccount { login, id: &self.server_id, institution }
    }

    /// The provenance of its transactions. It has no space, because a space ends it in their ids.
    fn provenance(&self, provider: &dyn Provider) -> Arc<str> {
        let name = self.external_id.replace(char::is_whitespace, "_");
        format!("{}{name}", provider.id_prefix()).into()
    }
}

/// The selected accounts of a connection. An account whose import was undone becomes undecided again.
pub(super) fn list_selected(tx: &mut Tx<'_>, lease: &SyncLease) -> Result<Vec<SelectedAccount>> {
    let key = params![lease.user, lease.id];
    tx.execute(REOPEN, key)?;
    Ok(tx.all(SELECTED, key, read)?)
}

/// The import of a response, and the selected accounts whose data is invalid.
pub(super) struct DraftedImport {
    pub(super) request: ImportRequest,
    /// For each account of the request its index among the selected accounts.
    pub(super) indexes: Vec<usize>,
    pub(super) unusable: HashSet<usize>,
}

/// Drafts the selected accounts that the response lists. If it lists all pending transactions, others are removed.
pub(super) fn draft(
    tx: &mut Tx<'_>,
    lease: &SyncLease,
    selected: &[SelectedAccount],
    response: &Response,
    now: Timestamp,
) -> Result<DraftedImport> {
    let choices: BTreeMap<String, AccountChoice> =
        selected.iter().map(|it| (it.external_id.clone(), it.choice.clone())).collect();
    let request = |accounts| ImportRequest {
        source: lease.provider.source(),
        connection: lease.id.to_string(),
        institution: None,
        as_of: now,
        accounts,
        rates: Vec::new(),
        file: FileInfo { rejected: response.rejected, ..FileInfo::default() },
        progress: Progress::default(),
        cleaned: CleanedDescriptions::default(),
    };
    let (mut accounts, mut indexes, mut unusable) = (Vec::new(), Vec::new(), HashSet::new());
    for draft in response.data.drafts(&choices, now) {
        let is_drafted = |it: &SelectedAccount| it.external_id == draft.external_id;
        let Some(index) = selected.iter().position(is_drafted) else { continue };
        let account = &selected[index];
        if account.currency.is_some_and(|it| it != draft.currency) {
            unusable.insert(index);
            continue;
        }
        let mut incoming = incoming_account(lease.provider, account, draft);
        incoming.names_pending = !response.lists_all_pending;
        if response.lists_all_pending && account.at_server().problem(response).is_none() {
            let listed = &incoming.draft.transactions;
            let vanished = vanished_pending(tx, lease, account, listed, now)?;
            incoming.draft.removed.extend(vanished);
        }
        // One account with invalid data must not keep the others from being imported.
        match imports::prepare(request(vec![incoming])) {
            Ok(mut prepared) => {
                accounts.append(&mut prepared.accounts);
                indexes.push(index);
            }
            Err(_) => {
                unusable.insert(index);
            }
        }
    }
    Ok(DraftedImport { request: request(accounts), indexes, unusable })
}

fn incoming_account(
    provider: &dyn Provider,
    account: &SelectedAccount,
    mut draft: AccountDraft,
) -> IncomingAccount {
    let provenance = account.provenance(provider);
    let full_id = |id: String| format!("{provenance} {id}");
    for row in &mut draft.transactions {
        row.external_id = row.external_id.take().map(full_id);
        row.settles = row.settles.take().map(full_id);
    }
    draft.removed = std::mem::take(&mut draft.removed).into_iter().map(full_id).collect();
    IncomingAccount { draft, provenance, into: None, names_pending: false, link: None }
}

/// Stored pending transactions that the response no longer lists and that are old enough to be removed.
fn vanished_pending(
    tx: &mut Tx<'_>,
    lease: &SyncLease,
    account: &SelectedAccount,
    listed: &[TransactionDraft],
    now: Timestamp,
) -> Result<Vec<String>> {
    let Some(id) = account.account else { return Ok(Vec::new()) };
    let today = now.as_second().div_euclid(86_400);
    let before: Date = date_from_days(today - PENDING_DAYS);
    let values = params![lease.user, id, days_from_date(before)];
    let mut pending: Vec<(String, i64)> =
        tx.all(PENDING, values, |row| Ok((row.get(0)?, row.get(1)?)))?;
    // A transaction imported under the account's former id keeps that id, and is recognized by its amount.
    pending.retain(|(id, minor)| {
        let is_listed = |it: &TransactionDraft| {
            it.external_id.as_ref() == Some(id) || it.pending && it.amount.minor() == *minor
        };
        id_source(id).starts_with(lease.provider.id_prefix()) && !listed.iter().any(is_listed)
    });
    Ok(pending.into_iter().map(|(id, _)| id).collect())
}

/// Moves accounts that the response was merged into to this connection, which names them from now on.
pub(super) fn adopt(
    tx: &mut Tx<'_>,
    lease: &SyncLease,
    selected: &[SelectedAccount],
    now: Timestamp,
) -> Result<()> {
    for account in selected {
        let values = params![lease.user, account.account, lease.id, &account.external_id, now];
        tx.execute(ADOPT, values)?;
    }
    Ok(())
}

/// The problem of a selected account after a response, if it has one.
pub(super) fn problem_of(
    account: &SelectedAccount,
    response: &Response,
    is_unusable: bool,
    now: Timestamp,
) -> Option<AccountProblem> {
    const UNLISTED_SECONDS: i64 = 2 * 86_400;
    let unseen = now.as_second() - account.seen_at.as_second();
    match account.at_server().problem(response) {
        _ if is_unusable => Some(AccountProblem::Unusable),
        None if unseen > UNLISTED_SECONDS => Some(AccountProblem::Unlisted),
        problem => problem,
    }
}

fn read(row: &Row<'_>) -> db::Result<SelectedAccount> {
    Ok(SelectedAccount {
        external_id: row.get(0)?,
        login: row.get(1)?,
        server_id: row.get(2)?,
        institution: row.get(3)?,
        own_name: row.get(4)?,
        seen_at: row.get(5)?,
        complete_at: row.get(6)?,
        choice: AccountChoice {
            kind: row.get(7)?,
            subtype: row.get(8)?,
            owed: row.word(9, "OwedSign", OwedSign::parse)?,
        },
        account: row.get(10)?,
        currency: row.get(11)?,
    })
}

const REOPEN: &str =
    "update offered_accounts set choice = 'open', account_id = null, good_at = null
    where user_id = $1 and connection_id = $2 and choice = 'taken' and account_id is not null
    and not exists (select 1 from accounts a
        where a.user_id = $1 and a.id = offered_accounts.account_id)";
// The kind of an account is fixed when it is created, so the stored one wins.
const SELECTED: &str = "select o.external_id, o.login, o.asked_as, o.institution_name, o.own_name,
    o.seen_at, o.good_at, coalesce(a.kind, o.kind), coalesce(a.subtype, o.subtype), o.owed, a.id,
    a.currency
    from offered_accounts o left join accounts a on a.user_id = o.user_id and a.id = o.account_id
    where o.user_id = $1 and o.connection_id = $2 and o.choice = 'taken' order by o.external_id";
const PENDING: &str = "select external_id, amount_minor from transactions
    where user_id = $1 and account_id = $2 and state = 'pending' and posted_on < $3
    and external_id is not null";
const ADOPT: &str = "update accounts set connection_id = $3, external_id = $4, updated_at = $5
    where user_id = $1 and id = $2 and (connection_id <> $3 or external_id <> $4)";

pub(super) const STATEMENTS: &[&str] = &[REOPEN, SELECTED, PENDING, ADOPT];
