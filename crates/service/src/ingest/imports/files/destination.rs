//! Finds the person's account that an account of a file belongs to.

use base::AccountId;
use calc::matching::EVENKEEL_EXPORT;
use db::params;
use sources::files::FileAccount;

use super::choices::{AccountChoice, DestinationChoice};
use crate::ingest::imports::request::AccountLink;
use crate::ingest::imports::text;
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

/// The file's name for an account, the person's choice for it, and the accounts of its currency.
pub(super) type Evidence<'a> =
    (Option<&'a AccountLink>, Option<&'a AccountChoice>, &'a [&'a accounts::Account]);

/// Finds the destination by the person's choice, then by earlier imports of such an account, then by its last digits.
pub(super) async fn find(
    app: &App,
    caller: &Caller,
    provenance: &str,
    account: &FileAccount,
    (link, choice, candidates): Evidence<'_>,
) -> Result<Destination> {
    match choice.and_then(|it| it.destination) {
        Some(DestinationChoice::New) => return Ok(Destination::New),
        Some(DestinationChoice::Skip) => return Ok(Destination::Skip),
        Some(DestinationChoice::Existing(id)) if candidates.iter().any(|it| it.id == id) => {
            return Ok(Destination::Existing(id));
        }
        _ => {}
    }
    let draft = &account.draft;
    let own = |it: &&&accounts::Account| {
        it.id.to_string() == draft.external_id
            || (draft.external_id.is_empty() && it.name == draft.name)
    };
    if let Some(own) = candidates.iter().find(own).filter(|_| provenance == EVENKEEL_EXPORT) {
        return Ok(Destination::Existing(own.id));
    }
    if let Some(link) = link {
        let key = params![caller.user, link.provenance, &link.external_id];
        let linked: Option<AccountId> = app.db.first(LINKED, key, |row| row.get(0)).await?;
        if let Some(id) = linked.filter(|id| candidates.iter().any(|it| it.id == *id)) {
            return Ok(Destination::Existing(id));
        }
    }
    let is_compatible = |one: &Option<String>, other: &Option<String>| {
        one.is_none() || other.is_none() || one == other
    };
    let matching = |it: &&&accounts::Account| {
        draft.mask.is_some()
            && it.mask == draft.mask
            && it.kind.is_debt() == draft.kind.is_debt()
            && is_compatible(&it.subtype, &draft.subtype)
            && is_compatible(&it.institution_name, &draft.institution_name)
    };
    let mut matching = candidates.iter().filter(matching);
    Ok(match (matching.next(), matching.next()) {
        (Some(one), None) => Destination::Existing(one.id),
        (None, _) if !draft.external_id.is_empty() || candidates.is_empty() => Destination::New,
        _ => Destination::Unknown,
    })
}

/// The file's name for an account, to be recognized in the next file. CSV files without one are linked by their columns;
/// other files without one are not linked.
pub(super) fn account_link(account: &FileAccount, columns: Option<&str>) -> Option<AccountLink> {
    let draft = &account.draft;
    if draft.external_id.is_empty() {
        let mut external_id = columns?.to_owned();
        text::truncate_id(&mut external_id);
        return Some(AccountLink { provenance: "csv", external_id });
    }
    // A bank may use the same number for a checking and a savings account.
    let parts = [account.bank.as_deref(), Some(&draft.external_id), draft.subtype.as_deref()];
    let mut external_id = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    text::truncate_id(&mut external_id);
    Some(AccountLink { provenance: "file", external_id })
}

const LINKED: &str = "select account_id from account_links
    where user_id = $1 and giver = $2 and external_id = $3";

pub(super) const STATEMENTS: &[&str] = &[LINKED];
