//! Which of the person's accounts an account of a file belongs to.

use base::AccountId;
use calc::matching::OWN_EXPORT;
use db::params;
use sources::files::FileAccount;

use super::look::Parsed;
use super::{AccountChoice, DestinationChoice};
use crate::ingest::imports::{KnownAs, text};
use crate::ledger::accounts;
use crate::{App, Caller, Result};

/// Where an account of a file would go now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    New,
    Existing(AccountId),
    Skip,
    /// The person has to say.
    Unknown,
}

/// What the file calls an account, what the person said of it, and the accounts that it could be.
pub(super) type Clues<'a> =
    (Option<&'a KnownAs>, Option<&'a AccountChoice>, &'a [&'a accounts::Account]);

/// The person's word first, then what such an account was said to be before, then its last digits.
pub(super) async fn destination(
    app: &App,
    caller: &Caller,
    parsed: &Parsed,
    account: &FileAccount,
    (name, choice, candidates): Clues<'_>,
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
    if let Some(own) = candidates.iter().find(own).filter(|_| &*parsed.giver == OWN_EXPORT) {
        return Ok(Destination::Existing(own.id));
    }
    if let Some(name) = name {
        let key = params![caller.user, name.giver, &name.external_id];
        let known: Option<AccountId> = app.db.first(LINKED, key, |row| row.get(0)).await?;
        if let Some(id) = known.filter(|id| candidates.iter().any(|it| it.id == *id)) {
            return Ok(Destination::Existing(id));
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
        (Some(one), None) => Destination::Existing(one.id),
        (None, _) if !draft.external_id.is_empty() || candidates.is_empty() => Destination::New,
        _ => Destination::Unknown,
    })
}

/// What the file calls the account. Tables that do not are taken to be of one account when they have the same columns;
/// of other files that do not, nothing is remembered.
pub(super) fn known_as(account: &FileAccount, columns: Option<&str>) -> Option<KnownAs> {
    let draft = &account.draft;
    if draft.external_id.is_empty() {
        let mut external_id = columns?.to_owned();
        text::bound_id(&mut external_id);
        return Some(KnownAs { giver: "csv", external_id });
    }
    // A bank may give one number to a checking and a savings account.
    let parts = [account.bank.as_deref(), Some(&draft.external_id), draft.subtype.as_deref()];
    let mut external_id = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    text::bound_id(&mut external_id);
    Some(KnownAs { giver: "file", external_id })
}

const LINKED: &str = "select account_id from account_links
    where user_id = $1 and giver = $2 and external_id = $3";

pub(super) const STATEMENTS: &[&str] = &[LINKED];
